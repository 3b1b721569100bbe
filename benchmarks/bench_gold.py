"""Sentences with the right result of the embedded model beside each: right, offered, asked and wrong.

Corrections and commands of sixteen persons, seen by those who write code; those of the first twelve were paraphrased
into training sentences: a regression set, no measure of what is fresh.
An edit is right where it does what one of the right results comes to in the situation, a command where its steps are
the same; rules are not compared. What is asked about is offered where the question proposes what is right. Sentences
for which no right result works in their scene are left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.correction_cases import read_situations
from benchmarks.reports import print_report, report_parser
from llm_planner.corrections.building import build
from llm_planner.corrections.edits import Clarify
from llm_planner.corrections.reading import CorrectionReader, EmbeddedCorrections, what_it_does
from llm_planner.corrections.situation import sources_with
from llm_planner.errors import LlmPlannerError
from llm_planner.language.correction_requests import requests_of
from llm_planner.language.embedded.forms import Term
from llm_planner.language.embedded.model import EmbeddedModel
from llm_planner.language.embedded.reader import Situation, Task, TermReading, load_reader, plain
from llm_planner.planning.planning import plan_command
from llm_planner.simulation.worlds import open_world, read_objects
from llm_planner.skills.library import load_skills
from training.results import parse_result

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Dictated:
    """Reads any words as one command."""

    terms: tuple[Term, ...]

    def read(self, task: Task, situation: Situation, words: str) -> tuple[TermReading, ...]:
        return (TermReading(self.terms, 1.0, ((0, len(words)),)),) if task is Task.COMMAND else ()


def corrections() -> Iterator[tuple[str, str]]:
    """The words and the verdict of each correction."""
    situations = read_situations()
    for row in _rows("corrections_gold.jsonl"):
        situation = situations[row["situation"]]
        sources = sources_with(None, tuple(situation.skills.values()), situation.viewpoint)
        right = set()
        for result in row["gold"]:
            edit = build(requests_of(parse_result(result), plain(row["words"])), row["words"], situation, sources)
            right |= set() if edit.asks else {what_it_does(edit)}
        if right:
            reader = CorrectionReader(sources, EmbeddedCorrections(load_reader(), sources).read)
            edit = reader.read(row["words"], situation)
            asked = edit.asks or (not edit.operations and what_it_does(edit) not in right)
            choices = [one.pending.choices for one in edit.operations if isinstance(one, Clarify) and one.pending]
            made = {what_it_does(build(one, row["words"], situation, sources)) for some in choices for one in some}
            verdict = "right" if what_it_does(edit) in right else "wrong"
            yield row["words"], ("offered" if made & right else "asked") if asked else verdict


def commands() -> Iterator[tuple[str, str]]:
    """The words and the verdict of each command."""
    library, reader = load_skills(learned=False), load_reader()
    for row in _rows("commands_gold.jsonl"):
        try:
            things, rooms = read_objects(row["world"], row["objects"]), 10 if row["world"] == "rooms" else None
        except LlmPlannerError:
            continue
        scene = open_world(row["world"], 13, things, rooms).scene()
        skills = library.for_scene(scene).signatures

        def steps(model: Any, words: str = row["words"], scene: Any = scene, skills: Any = skills) -> str:
            try:
                planned = plan_command(words, scene, skills, model)
            except LlmPlannerError:
                return ""
            return repr([(step.skill, dict(step.arguments)) for step in planned.plan.steps])

        right = {steps(EmbeddedModel(Dictated(parse_result(result)))) for result in row["gold"]} - {""}
        if right:
            found = steps(EmbeddedModel(reader))
            proposed = "" if found else steps(EmbeddedModel(reader).guess)
            verdict = "right" if found in right else "wrong"
            yield row["words"], verdict if found else "offered" if proposed in right else "asked"


def _rows(name: str) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, (DATA / name).read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Count."""
    parser = report_parser(__doc__)
    parser.add_argument("--task", choices=("corrections", "commands"))
    parser.add_argument("--shown", action="store_true", help="show what is not right")
    options = parser.parse_args()
    tasks = {"corrections": corrections, "commands": commands}
    counted = {}
    for name in [options.task] if options.task else tasks:
        verdicts = list(tasks[name]())
        counted[name] = Counter(verdict for _, verdict in verdicts)
        for words, verdict in verdicts if options.shown else ():
            if verdict != "right":
                print(f"{verdict}: {words}")
    print_report(counted, options.json)


if __name__ == "__main__":
    main()
