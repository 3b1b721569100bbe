"""How many fresh wordings of reward goals the embedded model reads right, asks about, or reads otherwise.

`data/reward_wordings.json` holds four sets of 17 sentences with what they ask for; none of them is among the sentences
that the model learns from.

Usage: bench_reward_wordings.py [--set fourth] [--all]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from rewards_tasks import Task, rooms_world, table_world

from llm_planner.errors import LlmPlannerError
from llm_planner.language.factory import open_model
from llm_planner.planning.planning import plan_command
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import load_skills

SETS = ("first", "second", "third", "fourth")
_CONDITION = re.compile(r"(\w+)\(([^()]*(?:\([^()]*\))?[^()]*)\) (==|<=|>=) (-?[\d.]+)")
_CALL = re.compile(r"(?:^|; )(\w+)\('([^']*)'\)(?= *(?:;|$))")
SLACK = {"tilt": 12.0, "facing": 15.0, "turned": 6.0, "circled": 10.0, "distance": 0.3}  # else 0.02 m
Wish = tuple[str, frozenset[str], float]


def scene_of(things: str) -> Scene:
    task = Task("", "", things, "", "", lambda shown: False)
    return table_world(task, 0).scene() if "parcel" not in things else rooms_world(task, 0)[0].scene()


def wishes(text: str) -> list[Wish]:
    """Term, names and number of each condition; a point of the scene has no name."""
    found = []
    for term, arguments, _, number in _CONDITION.findall(text):
        found.append((term, frozenset(re.findall(r"'([^']+)'", arguments)), float(number)))
    return found


def is_met(wanted: Wish, read: list[Wish]) -> bool:
    term, names, number = wanted
    return any(
        (term, names) == (other, those) and abs(number - value) <= SLACK.get(term, 0.02) for other, those, value in read
    )


def judged(words: str, means: str, scene: Scene) -> tuple[str, str]:
    """ "right", "asked" or "other", and what was understood."""
    library = load_skills().for_scene(scene)
    try:
        planned = plan_command(words, scene, library.signatures, open_model("embedded"))
    except LlmPlannerError as question:
        return "asked", str(question)
    steps = planned.plan.steps
    told = "; ".join(f"{step.skill} {dict(step.arguments)}" for step in steps)
    read = wishes(" ".join(str(step.arguments.get("rewards", "")) for step in steps))
    calls = {(step.skill, str(value)) for step in steps for value in step.arguments.values()}
    right = all(is_met(one, read) for one in wishes(means)) and set(_CALL.findall(means)) <= calls
    return "right" if right else "other", told


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--all", action="store_true", help="show every sentence, not those alone that are not right")
    options = parser.parse_args(argv)
    data = json.loads((Path(__file__).parent / "data" / "reward_wordings.json").read_text())
    for name in options.set or SETS:
        counts: Counter[str] = Counter()
        for things, words, means in data[name]:
            verdict, told = judged(words, means, scene_of(things))
            counts[verdict] += 1
            if options.all or verdict != "right":
                print(f"  {verdict}: {words}\n         {told[:150]}")
        print(f"{name}: {dict(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
