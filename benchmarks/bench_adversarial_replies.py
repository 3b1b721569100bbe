"""Well-formed replies of a large model that add, leave out or invert something, and good replies beside them.

A reply passes where the product would act on it: a program becomes a plan, a reading becomes task and constraints, an
edit may be made. The model gives the same reply again whenever it is asked for a repair. No wrong reply may pass, and
every good one must.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import correction_cases
from reports import print_report, report_parser

from llm_planner.corrections.large_model_reader import LanguageReader
from llm_planner.corrections.situation import Situation
from llm_planner.errors import LlmPlannerError
from llm_planner.language.factory import Script, ScriptedLanguageModel
from llm_planner.language.model import ProgramReply, ReadConstraint, Reading, Usage
from llm_planner.language.server.answers import Choice, Completion
from llm_planner.language.server.connection import Answer, Connection, Part, ServerSettings
from llm_planner.language.understanding.understand import understand
from llm_planner.planning.planning import plan_command

SERVER = ServerSettings("adversary", "http://localhost:9", "key", 1.0, 0, 700)
CASES = Path(__file__).parent / "data" / "adversarial_replies.jsonl"


@dataclass(frozen=True)
class Case:
    """What a person says in a situation (its name), what the model answers, and what is `wrong` with it ("": good).

    `task`, `goals` and `rules` are the reading that a program comes after.
    """

    kind: str
    situation: str
    words: str
    replies: tuple[Any, ...]
    wrong: str
    task: str = ""
    goals: tuple[str, ...] = ()
    rules: tuple[tuple[str, str, bool], ...] = ()


@dataclass(frozen=True)
class Verdict:
    """Whether the product would act on the reply, or what it says instead."""

    case: Case
    passed: bool
    message: str

    @property
    def is_right(self) -> bool:
        return self.passed is not bool(self.case.wrong)


class FixedConnection(Connection):
    """Gives these texts in turn in place of a server's answers, the last one again and again."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__(SERVER)
        self._texts = texts

    def ask(self, messages: list[Any], parts: Sequence[Part]) -> Answer:
        text = self._texts.pop(0) if len(self._texts) > 1 else self._texts[0]
        return Answer(Completion((Choice(text, "stop"),)), Usage(), frozenset())


def read_cases(path: Path = CASES) -> list[Case]:
    """All cases of a file of one JSON object a line."""
    return [_case(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _case(row: Mapping[str, Any]) -> Case:
    rules = tuple((formula, words, goal) for formula, words, goal in row.get("rules", ()))
    listed = {"replies": tuple(row["replies"]), "goals": tuple(row.get("goals", ())), "rules": rules}
    return Case(**{**row, **listed})


def judged(case: Case, situations: Mapping[str, Situation]) -> Verdict:
    """What becomes of the case's replies; nothing moves."""
    try:
        _TRIED[case.kind](case, situations[case.situation])
    except LlmPlannerError as error:
        return Verdict(case, False, str(error))
    return Verdict(case, True, "")


def _plan(case: Case, situation: Situation) -> None:
    rules = tuple(ReadConstraint(*rule) for rule in case.rules)
    script = Script(
        tuple(ProgramReply(text) for text in case.replies),
        readings=((Reading(case.task, rules, goals=case.goals, sure=True),),),
    )
    model = ScriptedLanguageModel({case.words: script, case.task: script}, is_large=True)
    plan_command(case.words, situation.scene, tuple(situation.skills.values()), model, situation.viewpoint)


def _understand(case: Case, situation: Situation) -> None:
    model = ScriptedLanguageModel({case.words: Script(readings=tuple((_reading(one),) for one in case.replies))}, True)
    understand(case.words, situation.scene, model)


def _reading(values: Mapping[str, Any]) -> Reading:
    rules = tuple(ReadConstraint(**rule) for rule in values["constraints"])
    return Reading(values["task"], rules, goals=tuple(values["goals"]), sure=values["sure"])


def _edit(case: Case, situation: Situation) -> None:
    texts = [json.dumps(reply) for reply in case.replies]
    LanguageReader(FixedConnection(texts)).read(case.words, situation)


_TRIED = {"program": _plan, "reading": _understand, "edit": _edit}


def summary(verdicts: list[Verdict]) -> dict[str, dict[str, int]]:
    """By kind: how many wrong replies there are and how many of them pass, how many good ones and how many do not."""
    found = {}
    for kind in _TRIED:
        wrong = [one for one in verdicts if one.case.kind == kind and one.case.wrong]
        good = [one for one in verdicts if one.case.kind == kind and not one.case.wrong]
        found[kind] = {
            "wrong": len(wrong),
            "wrong passed": sum(one.passed for one in wrong),
            "good": len(good),
            "good refused": sum(not one.passed for one in good),
        }
    return found


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--kind", choices=tuple(_TRIED), help="only these")
    parser.add_argument("--show", action="store_true", help="what became of every reply")
    options = parser.parse_args()
    situations = correction_cases.read_situations()
    cases = [case for case in read_cases() if options.kind in (None, case.kind)]
    verdicts = [judged(case, situations) for case in cases]
    for one in verdicts:
        if options.show or not (one.is_right or options.json):
            mark = "ok  " if one.is_right else "FAIL"
            print(f"{mark} {one.case.kind}: {one.case.words!r} ({one.case.wrong or 'good'}): {one.message or 'passed'}")
    found = summary(verdicts)
    print_report(found, options.json)


if __name__ == "__main__":
    main()
