"""Report of `llm-planner constraint`, its terminal view, and its JSON format (docs/reference/json_format.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from llm_planner.errors import InputError
from llm_planner.language.model import Usage
from llm_planner.language.understanding.grounding import Vote
from llm_planner.language.understanding.understand import Understood
from llm_planner.ltl.alphabet import Alphabet, Letter, Trace
from llm_planner.ltl.decision import violation, witness
from llm_planner.ltl.formula import TRUE, Constraint, Formula, conj, prefix
from llm_planner.ltl.monitor import untimed
from llm_planner.ltl.phrases import default_phrase
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.report import FORMAT_VERSION
from llm_planner.plans.plan import Outcome

_NO_USAGE, _NO_LETTERS = Usage(), Alphabet(())


@dataclass(frozen=True)
class Explained:
    """Formula in words, with the shortest traces that satisfy and violate it; () if there is none.

    The traces ignore time bounds: the first satisfies the formula and the second violates it, for any duration of the
    moments.
    """

    formula: Formula
    read_back: str
    satisfying: Trace
    violating: Trace

    def to_json(self) -> dict[str, Any]:
        return {
            "formula": str(self.formula),
            "prefix": prefix_text(self.formula),
            "read_back": self.read_back,
            "satisfying": [sorted(letter) for letter in self.satisfying],
            "violating": [sorted(letter) for letter in self.violating],
        }


@dataclass(frozen=True)
class ConstraintReport:
    """Reading of one sentence: task, constraints with explanations, and their conjunction `together`.

    `alphabet` has the letters that can occur.
    """

    sentence: str
    outcome: Outcome
    message: str
    task: str = ""
    constraints: tuple[tuple[Constraint, Explained], ...] = ()
    together: Explained | None = None
    vote: Vote | None = None
    usage: Usage = _NO_USAGE
    alphabet: Alphabet = _NO_LETTERS

    @property
    def confidence(self) -> float | None:
        """Share of the model's readings that agree with this one."""
        return None if self.vote is None else self.vote.groups[0].count / self.vote.asked

    def to_json(self) -> dict[str, Any]:
        """Convert to plain values; all keys are always present."""
        together = self.together.to_json() if self.together else dict.fromkeys(_TOGETHER)
        return {
            "version": FORMAT_VERSION,
            "sentence": self.sentence,
            "outcome": self.outcome.value,
            "message": self.message,
            "question": self.message if self.outcome is Outcome.QUESTION else "",
            "task": self.task,
            **together,
            "constraints": [
                {"words": constraint.words, "goal": constraint.goal, **explained.to_json()}
                for constraint, explained in self.constraints
            ],
            "vote": None if self.vote is None else _vote_json(self.vote),
            "confidence": None if self.confidence is None else round(self.confidence, 4),
            "usage": {
                "prompt_tokens": self.usage.prompt_tokens,
                "completion_tokens": self.usage.completion_tokens,
                "requests": self.usage.requests,
            },
        }


_TOGETHER = ("formula", "prefix", "read_back", "satisfying", "violating")


def report_of(sentence: str, understood: Understood, alphabet: Alphabet) -> ConstraintReport:
    """Build the report of an understood sentence; `alphabet` has the letters that can occur."""
    formulas = [constraint.formula for constraint in understood.constraints]
    together = conj(*formulas)
    explained = {formula: explain(formula, alphabet) for formula in [*formulas, together]}
    return ConstraintReport(
        sentence,
        Outcome.DONE,
        "Understood." if formulas else "Nothing in this is a constraint.",
        understood.task,
        tuple((constraint, explained[constraint.formula]) for constraint in understood.constraints),
        explained[together],
        understood.vote,
        understood.usage,
        alphabet,
    )


def explain(formula: Formula, alphabet: Alphabet) -> Explained:
    """Explain a formula by words and traces; omit a trace that is too long to find."""
    satisfied, violated = untimed(formula, necessary=False), untimed(formula)
    parts = violated.operands if violated.operator == "&" else (violated,)  # violating one conjunct violates all
    broken = [trace for part in parts if (trace := _found(violation, part, alphabet))]
    words = "" if formula is TRUE else read_back(formula)
    return Explained(formula, words, _found(witness, satisfied, alphabet), min(broken, key=_effort, default=()))


def _found(search: Callable[[Formula, Alphabet], Trace | None], formula: Formula, alphabet: Alphabet) -> Trace:
    try:
        return search(formula, alphabet) or ()
    except InputError:
        return ()


def _effort(trace: Trace) -> tuple[int, int]:
    return len(trace), sum(map(len, trace))


def prefix_text(formula: Formula) -> str:
    """Return the formula in prefix notation, "" if a proposition has the name of an operator."""
    try:
        return prefix(formula)
    except InputError:
        return ""


def story(trace: Trace) -> str:
    """Describe a trace in words: "1. the robot is in the kitchen; 2. nothing of this is so"."""
    return "; ".join(f"{number}. {_moment(letter)}" for number, letter in enumerate(trace, start=1))


def _moment(letter: Letter) -> str:
    phrases = map(default_phrase, sorted(letter))
    return " and ".join(f"{phrase.subject} {phrase.state.affirmed}" for phrase in phrases) or "nothing of this is so"


def _vote_json(vote: Vote) -> dict[str, Any]:
    return {
        "wanted": vote.wanted,
        "asked": vote.asked,
        "without_meaning": len(vote.failed),
        "readings": [
            {"count": group.count, "task": group.reading.task, "formula": str(group.reading.formula)}
            for group in vote.groups
        ],
    }


def show_constraints(report: ConstraintReport, console: Console) -> None:
    """Print task, constraints with formula, words and examples, their conjunction, and the vote."""
    if report.outcome is not Outcome.DONE:
        style = "bold yellow" if report.outcome is Outcome.QUESTION else "bold red"
        console.print(Text(f"{report.outcome.value}: ", style) + Text(report.message), soft_wrap=True)
        return
    if report.task:
        console.print(Text("task  ", "bold") + Text(report.task), soft_wrap=True)
    for number, (constraint, explained) in enumerate(report.constraints, start=1):
        kind = "goal" if constraint.goal else "rule"
        console.print(Text(f"{kind} {number}  ", "bold") + Text(f"“{constraint.words}”"), soft_wrap=True)
        console.print(Padding(_rows(explained), (0, 0, 1, 2)))
    if len(report.constraints) > 1 and report.together is not None:
        console.print(Text("all together", "bold"))
        console.print(Padding(_rows(report.together), (0, 0, 1, 2)))
    if not report.constraints:
        console.print(Text(report.message))
    if report.vote is not None:
        console.print(Text(str(report.vote), "dim"))


def _rows(explained: Explained) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("formula", Text(str(explained.formula), "cyan"))
    table.add_row("that is", Text(explained.read_back, "bold"))
    table.add_row("kept by", Text(story(explained.satisfying) or "nothing that can happen", "green"))
    table.add_row("broken by", Text(story(explained.violating) or "nothing that can happen", "red"))
    return table
