"""How often a language model reads everyday sentences with constraints rightly: proved, not compared as text.

A reading is right when its constraints, together, are proved equivalent to an accepted formula over all letters, and so
over those that can occur in the scene, and when the words of its task are right. What is right over the letters that
can occur only is told apart. Where it is not right, asking is better than acting wrongly, so the two are counted apart.

    python benchmarks/bench_constraints.py [--model embedded] [--samples 5] [--file FILE] [--limit N] [--json] [--show]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from llm_planner.errors import LanguageModelError, LlmPlannerError, QuestionError
from llm_planner.language.embedded.model import EmbeddedModel
from llm_planner.language.embedded.reader import load_reader
from llm_planner.language.factory import open_model
from llm_planner.language.model import LanguageModel
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.language.understanding.understand import SAMPLES, Understood, understand
from llm_planner.language.understanding.wording import same_task
from llm_planner.ltl.formula import Formula, conj
from llm_planner.ltl.parser import parse
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Door, Pose, Room, Scene, SceneObject

SENTENCES = Path(__file__).parent / "data" / "everyday_constraints.yaml"
COLORS = ("red", "blue", "green", "yellow")
SIZES = {"bowl": 0.13, "basket": 0.2, "plate": 0.16, "mug": 0.08, "vase": 0.07, "block": 0.04, "person": 0.44}  # [m]
ROOM_SIZE = 4.0  # [m] along each wall
OUTCOMES = ("right", "right where it can occur", "question", "wrong")


@dataclass(frozen=True)
class Sentence:
    """What somebody says in a scene, and what it means: accepted formulas, and the words of the task.

    `means` is empty where the right answer is a question.
    """

    say: str
    world: str
    scene: Scene
    means: tuple[Formula, ...]
    task: str


@dataclass(frozen=True)
class Verdict:
    """What became of one sentence: one of OUTCOMES, what was understood or asked, and how long it took [s CPU]."""

    sentence: Sentence
    outcome: str
    answer: str
    seconds: float


def read_sentences(path: Path) -> list[Sentence]:
    """All sentences of a file; raises FormulaError for a formula that cannot be read."""
    found = []
    for group in yaml.safe_load(path.read_text(encoding="utf-8")):
        scene = building_scene(group) if group["world"] == "rooms" else table_scene(group)
        for row in group["sentences"]:
            means = tuple(parse(str(text)) for text in row.get("means", []))
            found.append(Sentence(row["say"], group["world"], scene, means, row.get("task", "")))
    return found


def table_scene(group: dict[str, Any]) -> Scene:
    """Objects where the file says [m], an arm that holds nothing."""
    return Scene(0.0, tuple(_thing(name, *where) for name, where in group["objects"].items()))


def building_scene(group: dict[str, Any]) -> Scene:
    """Rooms in a grid with doors between neighbours, things spread over their rooms, the robot in its room."""
    spots = {name: (column, row) for row, names in enumerate(group["rooms"]) for column, name in enumerate(names)}
    rooms = tuple(Room(name, _square(*spot)) for name, spot in spots.items())
    doors = tuple(
        Door((a, b), tuple(np.mean([_square(*spots[a]).center, _square(*spots[b]).center], axis=0).tolist()))
        for a in spots
        for b in spots
        if np.subtract(spots[b], spots[a]).tolist() in ([0, 1], [1, 0])
    )
    things = [(name, name.split()[-1], room) for name, room in group["objects"].items()]
    things += [(name, "person", room) for name, room in group["people"].items()]
    objects = tuple(
        _thing(name, *np.add(_square(*spots[room]).center, (0.9 * (k % 3 - 1), 0.9)), kind)
        for k, (name, kind, room) in enumerate(things)
    )
    robot = Pose((*_square(*spots[group["robot"]]).center, 0.0))
    return Scene(0.0, objects, robot=robot, building=Building(rooms, doors))


def _square(column: int, row: int) -> Rectangle:
    x, y = ROOM_SIZE * column, ROOM_SIZE * row
    return Rectangle(x, x + ROOM_SIZE, y, y + ROOM_SIZE)


def _thing(name: str, x: float, y: float, kind: str = "") -> SceneObject:
    kind = kind or name.split()[-1]
    color, size = name.split()[0], SIZES.get(kind, 0.2)
    return SceneObject(
        name, kind, color if color in COLORS else "", (float(x), float(y), size / 2), IDENTITY, (size, size, size)
    )


def judge(sentence: Sentence, model: LanguageModel, samples: int) -> Verdict:
    """The verdict on one sentence."""
    began = time.process_time()
    try:
        understood = understand(sentence.say, sentence.scene, model, samples)
    except LanguageModelError:
        raise
    except LlmPlannerError as error:
        asked = "question" if sentence.means or not isinstance(error, QuestionError) else "right"
        return Verdict(sentence, asked, str(error), time.process_time() - began)
    seconds = time.process_time() - began
    return Verdict(sentence, _outcome(sentence, understood), _shown(understood), seconds)


def _outcome(sentence: Sentence, understood: Understood) -> str:
    if sentence.task and same_task(sentence.task) != same_task(understood.task):
        return "wrong"
    meaning = conj(*(constraint.formula for constraint in understood.constraints))
    meanings, over_all_letters = Meanings(sentence.scene), Meanings(sentence.scene, bare=True)
    if any(over_all_letters.same(meaning, accepted) for accepted in sentence.means):
        return "right"
    if any(meanings.same(meaning, accepted) for accepted in sentence.means):
        return "right where it can occur"
    return "wrong"


def _shown(understood: Understood) -> str:
    rules = [f"{constraint.formula}   “{constraint.words}”" for constraint in understood.constraints]
    return "\n    ".join([f"task: {understood.task or '-'}   ({understood.vote})", *rules])


def summary(verdicts: list[Verdict]) -> dict[str, Any]:
    count = Counter(verdict.outcome for verdict in verdicts)
    equivalent = count["right"] + count["right where it can occur"]
    missed = len(verdicts) - equivalent
    milliseconds = [1e3 * verdict.seconds for verdict in verdicts]
    worlds = {world: [v for v in verdicts if v.sentence.world == world] for world in ("tabletop", "rooms")}
    return {
        "sentences": len(verdicts),
        "right share": _share(count["right"], len(verdicts)),
        "right share over the letters that can occur": _share(equivalent, len(verdicts)),
        **{f"right share, {world}": _share(_right(part), len(part)) for world, part in worlds.items()},
        "not right, asked": count["question"],
        "not right, understood wrongly": count["wrong"],
        "share of misses that are questions": _share(count["question"], missed),
        "CPU ms a sentence, median": round(statistics.median(milliseconds), 1),
        "CPU ms a sentence, 99 %": round(float(np.quantile(milliseconds, 0.99)), 1),
    }


def _right(verdicts: list[Verdict]) -> int:
    return sum(verdict.outcome == "right" for verdict in verdicts)


def _share(count: int, of: int) -> float:
    return round(count / of, 3) if of else 1.0


def main(arguments: list[str] | None = None, model: LanguageModel | None = None) -> dict[str, Any]:
    """Run and print; returns the figures. A `model` that is handed in is measured in place of the named one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--weights", type=Path, help="a folder of embedded weights in place of the shipped ones")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="readings that may vote")
    parser.add_argument("--file", type=Path, default=SENTENCES)
    parser.add_argument("--limit", type=int, default=0, help="only the first so many sentences of each world")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--show", action="store_true", help="print what was not right")
    args = parser.parse_args(arguments)
    model = model or (EmbeddedModel(load_reader(args.weights)) if args.weights else open_model(args.model))
    sentences = read_sentences(args.file)
    chosen = [
        s for world in ("tabletop", "rooms") for s in [s for s in sentences if s.world == world][: args.limit or None]
    ]
    verdicts = [judge(sentence, model, args.samples) for sentence in chosen]
    if args.show:
        for verdict in verdicts:
            if verdict.outcome != "right":
                print(f"{verdict.outcome.upper():9} {verdict.sentence.say}\n    {verdict.answer}")
    figures = summary(verdicts)
    print(json.dumps(figures) if args.json else "\n".join(f"{name:44} {value}" for name, value in figures.items()))
    return figures


if __name__ == "__main__":
    main()
