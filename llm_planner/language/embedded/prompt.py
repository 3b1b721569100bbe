"""What the embedded model is shown: the task, a line about the scene, and the words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from llm_planner.world.scene import Scene

MOST_NAMES = 6  # of things and of rooms that are listed
LIKE = 4  # letters at the beginning by which a word may stand for a name
END = "<|im_end|>"  # that the model writes behind a result


class Task(str, Enum):
    """What the words are read as."""

    COMMAND = "command"
    RULE = "rule"
    CORRECTION = "correction"


@dataclass(frozen=True)
class Situation:
    """What the model is told of the scene: names of `things` and `rooms`, what is `held`, the step under way.

    Where sentences speak of `propositions` that are known by their names only there is no scene.
    """

    things: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    held: str = ""
    step: str = ""
    propositions: tuple[str, ...] = ()

    def line(self, words: str) -> str:
        """The line about the scene: whether it is a table or a building, and the names that the words may speak of.

        Names are copied from the words, so those that nobody speaks of would only make the prompt longer.
        """
        if self.propositions:
            return f"letters: {', '.join(self.propositions[:MOST_NAMES])}"
        parts = [
            "building" if self.rooms else "table",
            _spoken("rooms", self.rooms, words),
            _spoken("things", self.things, words),
            f"held: {self.held}" if self.held else "",
            f"now: {self.step}" if self.step else "",
        ]
        return "; ".join(filter(None, parts))


def _spoken(title: str, names: tuple[str, ...], words: str) -> str:
    """The names that share the beginning of a word with what was said."""
    said = {word[:LIKE] for word in re.findall(r"\w+", words)}
    found = [name for name in names if any(part[:LIKE] in said for part in re.findall(r"\w+", name))]
    return f"{title}: {', '.join(found[:MOST_NAMES])}" if found else ""


def situation_of(scene: Scene, step: str = "") -> Situation:
    """What the model is told of this scene; `step` is the skill call under way."""
    rooms = tuple(scene.building.names) if scene.building else ()
    return Situation(tuple(map(plain, scene.names)), tuple(map(plain, rooms)), plain(scene.held), plain(step))


def prompt(task: Task, situation: Situation, words: str) -> str:
    """The text that the model completes with a result; `words` are `plain` already."""
    return f"{task.value}\nscene: {situation.line(words)}\nwords: {words}\nmeans:"


def plain(text: str) -> str:
    """The words as the model sees them: in lower case, without double quotes, one space between two of them."""
    return re.sub(r"\s+", " ", text.replace('"', " ").replace("’", "'")).strip().lower()
