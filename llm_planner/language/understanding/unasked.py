"""What a model has put in that nobody asked for: things that are moved, or kept to, which the words do not name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llm_planner.language.grounding.lifting import lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.language.understanding.mentions import arguments_of
from llm_planner.language.understanding.wording import is_english, words_of
from llm_planner.temporal.constraint import Constraint
from llm_planner.world.scene import Scene

QUOTED = 0.5  # share of the words of a constraint that are the command's own
_ANY = frozenset((  # with one of these the words may mean any thing
    "all", "every", "everything", "everyone", "everybody", "each", "any", "anything", "anyone", "anybody", "nothing",
    "nobody", "things", "objects", "items", "stuff", "other", "others", "rest", "else", "both", "whatever", "whichever",
    "which", "what", "them", "they", "these", "those", "same", "people",
    "somebody", "someone", "table", "rooms",
))  # fmt: skip


def unnamed(names: Iterable[str], words: Sequence[str], scene: Scene) -> tuple[str, ...]:
    """Those of the `names` of things, people and rooms that none of these sentences speaks of, by name, kind or colour.

    () where a word may mean any of them, and for languages other than English, whose words are not known here.
    """
    text = " . ".join(words)
    if not is_english(text) or not _ANY.isdisjoint(words_of(text)):
        return ()
    named = {(word.segment, word.name) for word in lift(text, scene_phrases(scene))}
    known = {name for entry, name in named if entry in ("object", "person", "room")}
    known |= {item.name for item in scene.objects if {("kind", item.kind), ("color", item.color)} & named}
    return tuple(name for name in dict.fromkeys(names) if name not in known)


def is_quoted(constraint: Constraint, command: str) -> bool:
    """Whether the words that a constraint is said to stand for are words of the command."""
    said, command = words_of(constraint.words), command.lower()
    return sum(word in command for word in said) >= QUOTED * len(said)


def named_by(constraint: Constraint, scene: Scene) -> tuple[str, ...]:
    """The things, people and rooms of the scene that its formula names."""
    here = {*scene.names, *(scene.building.names if scene.building else ())}
    return tuple(one for one in arguments_of(constraint) if one in here)
