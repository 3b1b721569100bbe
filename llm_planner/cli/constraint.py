"""`llm-planner constraint SENTENCE`: show the robot's reading as formulas, plain words, JSON and a picture.

The JSON format is that of docs/reference/json_format.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from llm_planner.cli.answers import add_batch_argument, answer, answer_batch, check_alone, check_output, failure
from llm_planner.cli.planning_options import (
    add_model_arguments,
    add_world_arguments,
    open_requested_world,
    requested_model,
)
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.language.model import Usage
from llm_planner.language.program_synthesis import clean_command
from llm_planner.language.understanding.grounding import Vote
from llm_planner.language.understanding.understand import Understood, understand
from llm_planner.ltl.alphabet import Alphabet, Letter, Trace
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.automaton_picture import automaton_svg
from llm_planner.ltl.decision import violation, witness
from llm_planner.ltl.formula import TRUE, Constraint, Formula, conj, normal_name, prefix
from llm_planner.ltl.monitor import untimed
from llm_planner.ltl.phrases import phrase_of
from llm_planner.ltl.scene_letters import alphabet_of
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.report import FORMAT_VERSION
from llm_planner.plans.plan import Outcome
from llm_planner.scene.scene import Scene

MAX_SAMPLES = 50
_NO_USAGE, _NO_LETTERS = Usage(), Alphabet(())


def add_constraint_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help='the sentence, e.g. "visit the lab, but never enter the kitchen"')
    add_world_arguments(parser)
    parser.add_argument("--propositions", metavar="LIST", help='speak of these instead of a scene, e.g. "a, b, c"')
    add_model_arguments(parser)
    parser.add_argument("--samples", type=int, default=5, help="readings that vote (default: 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object (see docs/reference/json_format.md)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the automaton of all constraints (.svg)")
    add_batch_argument(parser)


def run_constraint(args: argparse.Namespace) -> int:
    """Print the reading; return exit status 0 if no question is left."""
    failed = failure(ConstraintReport)
    if args.batch is not None:
        check_alone(args, "--picture")
        return answer_batch(args.batch, _reader(args), failed)

    def made(sentence: str) -> ConstraintReport:
        if args.picture is not None:
            check_output("--picture", args.picture, ".svg")
        report = _reader(args)(sentence)
        if args.picture is not None:
            _draw(report, args.picture)
        return report

    return answer(" ".join(args.text), made, failed, show_constraints, args.json)


def _reader(args: argparse.Namespace) -> Callable[[str], ConstraintReport]:
    """Return a function that reads sentences; it opens the model at the first one."""
    if not 1 <= args.samples <= MAX_SAMPLES:
        raise InputError(f"--samples must be 1 to {MAX_SAMPLES}, not {args.samples}")
    propositions = requested_propositions(args.propositions)
    if args.propositions is None:
        scene = open_requested_world(args).scene()
    elif described := [option for option in ("world", "seed", "objects") if getattr(args, option) is not None]:
        raise InputError(
            f"--propositions stands in place of a scene, and --{described[0]} describes one: leave out one of the two"
        )
    else:
        scene = Scene(0.0, ())
    opened = requested_model(args)

    def read(sentence: str) -> ConstraintReport:
        words = clean_command(sentence)  # before a model is opened
        found = understand(words, scene, opened(), args.samples, propositions=propositions)
        names = {name for constraint in found.constraints for name in constraint.formula.propositions}
        return report_of(sentence, found, alphabet_of(names, scene))

    return read


def requested_propositions(text: str | None) -> tuple[str, ...]:
    """Parse a list of propositions such as "a, b, in(robot, lab)"; raise InputError for an invalid name."""
    if text is None:
        return ()
    listed = [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]
    if not listed:
        raise InputError(f"--propositions names nothing in {text!r}; name some, for instance: a, b, c")
    return tuple(dict.fromkeys(map(normal_name, listed)))


def _draw(report: ConstraintReport, path: Path) -> None:
    """Draw the automaton without time bounds; a failure is only printed, since the answer is already known."""
    if report.together is None:
        return
    try:
        drawn = automaton(untimed(report.together.formula), report.alphabet)
        path.write_text(automaton_svg(drawn, report.sentence), encoding="utf-8")
    except (LlmPlannerError, OSError) as error:
        print(f"llm-planner: the picture could not be drawn: {error}", file=sys.stderr)


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
    least = min(broken, key=lambda trace: (len(trace), sum(map(len, trace))), default=())
    return Explained(formula, words, _found(witness, satisfied, alphabet), least)


def _found(search: Callable[[Formula, Alphabet], Trace | None], formula: Formula, alphabet: Alphabet) -> Trace:
    try:
        return search(formula, alphabet) or ()
    except InputError:
        return ()


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
    phrases = map(phrase_of, sorted(letter))
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
