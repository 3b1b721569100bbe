"""Run sentences that others have written, and write down what the product makes of each.

    python -m benchmarks.fresh_sentences SET.jsonl OUT.jsonl [--model NAME]

A line of a set is a correction said in a situation of `data/correction_situations.json`, a command to a robot that has
nothing to do, a constraint in a world, or a rule over propositions with its formula. The outcome of a rule is judged
here (proved equivalent or not); that of the others is judged by who reads words, expectation and outcome.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.correction_cases import read_situations
from llm_planner.corrections.edit_json import operation_json
from llm_planner.corrections.reading import open_reader
from llm_planner.errors import LlmPlannerError
from llm_planner.language.factory import open_model
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.language.understanding.understand import understand
from llm_planner.ltl.formula import conj
from llm_planner.ltl.parser import parse
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.planning import plan_command
from llm_planner.scene.scene import Scene
from llm_planner.simulation.worlds import open_world, read_objects
from llm_planner.skills.library import load_skills


class Runner:
    """Runs rows with one model."""

    def __init__(self, model: str) -> None:
        self.model = open_model(model)
        self.reader = open_reader(model)
        self.situations = read_situations()
        self.library = load_skills(learned=False)

    def run(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row with its `outcome` and the seconds of CPU."""
        began = time.process_time()
        try:
            tasks = {"correction": self._correction, "command": self._command, "constraint": self._constraint}
            outcome = {**tasks, "rule": self._rule}[row["task"]](row)
        except LlmPlannerError as error:
            outcome = {"asked": str(error)}
        return {**row, "outcome": outcome, "seconds": round(time.process_time() - began, 3)}

    def _correction(self, row: dict[str, Any]) -> dict[str, Any]:
        edit = self.reader.read(row["words"], self.situations[row["situation"]])
        return {
            "operations": [operation_json(one) for one in edit.operations],
            "scope": edit.scope.value,
            "about": edit.about,
        }

    def _command(self, row: dict[str, Any]) -> dict[str, Any]:
        scene = _scene(row)
        skills = self.library.for_scene(scene).signatures
        planned = plan_command(row["words"], scene, skills, self.model)
        return {
            "program": planned.plan.program,
            "steps": [f"{step.skill}{tuple(step.arguments.values())}" for step in planned.plan.steps],
            "rules and goals": [read_back(one.formula) for one in planned.plan.constraints],
            "confidence": planned.confidence,
        }

    def _constraint(self, row: dict[str, Any]) -> dict[str, Any]:
        understood = understand(row["words"], _scene(row), self.model)
        formulas = [str(one.formula) for one in understood.constraints]
        return {"task": understood.task, "formulas": formulas, "in words": [read_back(parse(one)) for one in formulas]}

    def _rule(self, row: dict[str, Any]) -> dict[str, Any]:
        names = tuple(name.strip() for name in row["propositions"].split(","))
        understood = understand(row["words"], Scene(0.0, ()), self.model, propositions=names)
        formula = conj(*(one.formula for one in understood.constraints))
        accepted = [parse(text) for text in (row.get("any_of") or [row["formula"]])]
        return {
            "formula": str(formula),
            "right": any(map(partial(Meanings(Scene(0.0, ()), True).same, formula), accepted)),
        }


def _scene(row: dict[str, Any]) -> Scene:
    things, rooms = read_objects(row["world"], row["objects"]), 10 if row["world"] == "rooms" else None
    return open_world(row["world"], 13, things, rooms).scene()


def main() -> None:
    """Run a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--jobs", type=int, default=1, help="sentences at once, for a server that thinks long")
    options = parser.parse_args()
    runner = Runner(options.model)
    lines = [json.loads(line) for line in options.set.read_text(encoding="utf-8").splitlines() if line]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(runner.run, lines))
    options.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    judged = Counter(
        "asked" if "asked" in row["outcome"] else "right" if row["outcome"]["right"] else "wrong"
        for row in rows
        if row["task"] == "rule"
    )
    print(f"{len(rows)} sentences; rules: {dict(judged)}")


if __name__ == "__main__":
    main()
