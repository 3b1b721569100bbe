"""Commands and corrections with words of order, condition, amount and state: right, asked and wrong.

Half of them must not be asked about. A row of `data/asking.jsonl` holds the results that are right, the formulas of
rules that are right, the height of a right tower, and whether a question is right (`ask`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.bench_gold import DATA, Dictated
from benchmarks.correction_cases import read_situations
from benchmarks.reports import print_report, report_parser
from llm_planner.corrections.building import build
from llm_planner.corrections.edits import AddRule, Insert
from llm_planner.corrections.reading import CorrectionReader, what_it_does
from llm_planner.corrections.situation import Situation, sources_with
from llm_planner.errors import LlmPlannerError
from llm_planner.language.correction_requests import requests_of
from llm_planner.language.embedded.model import EmbeddedModel
from llm_planner.language.embedded.reader import load_reader, plain
from llm_planner.language.model import LanguageModel
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.ltl.formula import Constraint, conj
from llm_planner.ltl.parser import parse
from llm_planner.planning.planned import Planned
from llm_planner.planning.planning import plan_command
from llm_planner.scene.scene import Scene
from llm_planner.simulation.worlds import open_world, read_objects
from llm_planner.skills.library import load_skills
from training.results import parse_result

Row = dict[str, Any]


class Judge:
    """Reads the rows with the embedded model."""

    def __init__(self) -> None:
        self._library, self._model, self._situations = (
            load_skills(learned=False),
            EmbeddedModel(load_reader()),
            read_situations(),
        )

    def verdict(self, row: Row) -> tuple[str, str]:
        """Return "right", "asked" or "wrong", and what was made of the words."""
        right, said = self._correction(row) if "situation" in row else self._command(row)
        if right is None:
            return ("right" if row.get("ask") else "asked"), said
        return ("right" if right else "wrong"), said

    def _command(self, row: Row) -> tuple[bool | None, str]:
        rooms = 10 if row["world"] == "rooms" else None
        scene = open_world(row["world"], 13, read_objects(row["world"], row["objects"]), rooms).scene()

        def planned(model: LanguageModel) -> Planned:
            return plan_command(row["words"], scene, self._library.for_scene(scene).signatures, model)

        try:
            found = planned(self._model)
        except LlmPlannerError as error:
            return None, str(error)
        said = f"{found.plan.listing} | {'; '.join(str(one.formula) for one in found.plan.constraints)}"
        if "tower" in row:
            return _height(found.plan.steps) == row["tower"], said
        for result in row["right"]:
            try:
                meant = planned(EmbeddedModel(Dictated(parse_result(result)), guesses=True))
            except LlmPlannerError as error:
                said += f" [{result}: {error}]"
                continue
            if _steps(meant) == _steps(found) and _same(meant.plan.constraints, found.plan.constraints, scene):
                return True, said
        return False, said

    def _correction(self, row: Row) -> tuple[bool | None, str]:
        situation = self._situations[row["situation"]]
        sources = sources_with(None, tuple(situation.skills.values()), situation.viewpoint)
        edit = CorrectionReader(sources).read(row["words"], situation)
        said = "; ".join(map(str, edit.operations)) or "nothing"
        if edit.asks:
            return None, said
        if "tower" in row:
            return _height([one for one in edit.operations if isinstance(one, Insert)]) == row["tower"], said
        rules = [Constraint(parse(one.formula), one.words) for one in edit.operations if isinstance(one, AddRule)]
        for formula in row.get("rules", ()):
            if len(rules) == len(edit.operations) and _same(rules, [Constraint(parse(formula), "")], situation.scene):
                return True, said
        return any(what_it_does(edit) == what_it_does(self._built(one, row, situation)) for one in row["right"]), said

    def _built(self, result: str, row: Row, situation: Situation) -> Any:
        sources = sources_with(None, tuple(situation.skills.values()), situation.viewpoint)
        return build(requests_of(parse_result(result), plain(row["words"])), row["words"], situation, sources)


def _steps(planned: Planned) -> str:
    return repr([(step.skill, dict(step.arguments)) for step in planned.plan.steps])


def _same(some: Sequence[Constraint], others: Sequence[Constraint], scene: Scene) -> bool:
    """Compare rules; a goal is judged by the steps."""
    first, second = (conj(*(one.formula for one in rules if not one.goal)) for rules in (some, others))
    return first is second or Meanings(scene).same(first, second)


def _height(steps: Sequence[Any]) -> int:
    """Return how many things the steps put on each other."""
    return len({value for step in steps for value in step.arguments.values() if "block" in str(value)})


def rows() -> Iterator[Row]:
    """The rows of the set."""
    yield from map(json.loads, (DATA / "asking.jsonl").read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Count."""
    parser = report_parser(__doc__)
    parser.add_argument("--about", help="only rows about this: order, state, condition, clear, tower")
    parser.add_argument("--shown", action="store_true", help="show every row")
    options = parser.parse_args()
    judge = Judge()
    counted: dict[str, Counter[str]] = {"commands": Counter(), "corrections": Counter()}
    for row in rows():
        if options.about in (None, row["about"]):
            verdict, said = judge.verdict(row)
            counted["corrections" if "situation" in row else "commands"][verdict] += 1
            if options.shown:
                print(f"{verdict:6} {row['words']}\n         {said}")
    print_report(counted, options.json)


if __name__ == "__main__":
    main()
