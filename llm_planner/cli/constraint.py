"""`llm-planner constraint SENTENCE`: show the robot's reading as formulas, plain words and a picture."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.cli.answer import check_output, tell
from llm_planner.cli.batch import add_batch_argument, answer_batch, check_alone, told
from llm_planner.cli.planning_options import (
    add_model_arguments,
    add_world_arguments,
    open_requested_world,
    requested_model,
)
from llm_planner.errors import InputError, LlmPlannerError

if TYPE_CHECKING:
    from llm_planner.cli.constraint_report import ConstraintReport
    from llm_planner.scene.scene import Scene


MAX_SAMPLES = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help='the sentence, e.g. "visit the lab, but never enter the kitchen"')
    add_world_arguments(parser)
    parser.add_argument("--propositions", metavar="LIST", help='speak of these instead of a scene, e.g. "a, b, c"')
    add_model_arguments(parser)
    parser.add_argument("--samples", type=int, default=5, help="readings that vote (default: 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object (see docs/reference/json_format.md)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the automaton of all constraints (.svg)")
    add_batch_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the reading; return exit status 0 if no question is left."""
    from llm_planner.cli.constraint_report import ConstraintReport
    from llm_planner.plans.plan import Outcome

    if args.batch is not None:
        check_alone(args, "--picture")
        return answer_batch(args.batch, _reader(args), _failed)

    from llm_planner.cli.constraint_report import show_constraints

    sentence = " ".join(args.text)
    interrupted = ConstraintReport(sentence, Outcome.FAILED, "interrupted")
    return tell(lambda: _single(args, sentence), lambda: interrupted, show_constraints, args.json)


def _single(args: argparse.Namespace, sentence: str) -> ConstraintReport:
    try:
        if args.picture is not None:
            check_output("--picture", args.picture, ".svg")
        report = _reader(args)(sentence)
        if args.picture is not None:
            _draw(report, args.picture)
    except LlmPlannerError as error:
        return _failed(sentence, error)
    return report


def _reader(args: argparse.Namespace) -> Callable[[str], ConstraintReport]:
    """Return a function that reads sentences; it opens the model at the first one."""
    from llm_planner.cli.constraint_report import report_of
    from llm_planner.language.program_synthesis import clean_command
    from llm_planner.language.understanding.understand import understand
    from llm_planner.ltl.scene_letters import alphabet_of

    if not 1 <= args.samples <= MAX_SAMPLES:
        raise InputError(f"--samples must be 1 to {MAX_SAMPLES}, not {args.samples}")
    propositions = requested_propositions(args.propositions)
    scene = _scene(args)
    opened = requested_model(args)

    def read(sentence: str) -> ConstraintReport:
        words = clean_command(sentence)  # before a model is opened
        found = understand(words, scene, opened(), args.samples, propositions=propositions)
        names = {name for constraint in found.constraints for name in constraint.formula.propositions}
        return report_of(sentence, found, alphabet_of(names, scene))

    return read


def _scene(args: argparse.Namespace) -> Scene:
    from llm_planner.scene.scene import Scene

    if args.propositions is None:
        return open_requested_world(args).scene()
    described = [option for option in ("world", "seed", "objects") if getattr(args, option) is not None]
    if described:
        raise InputError(
            f"--propositions stands in place of a scene, and --{described[0]} describes one: leave out one of the two"
        )
    return Scene(0.0, ())


def requested_propositions(text: str | None) -> tuple[str, ...]:
    """Parse a list of propositions such as "a, b, in(robot, lab)"; raise InputError for an invalid name."""
    from llm_planner.ltl.formula import normal_name

    if text is None:
        return ()
    listed = [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]
    if not listed:
        raise InputError(f"--propositions names nothing in {text!r}; name some, for instance: a, b, c")
    return tuple(dict.fromkeys(map(normal_name, listed)))


def _draw(report: ConstraintReport, path: Path) -> None:
    """Draw the automaton without time bounds; a failure is only printed, since the answer is already known."""
    from llm_planner.ltl.automaton import automaton
    from llm_planner.ltl.automaton_picture import automaton_svg
    from llm_planner.ltl.monitor import untimed

    if report.together is None:
        return
    try:
        drawn = automaton(untimed(report.together.formula), report.alphabet)
        path.write_text(automaton_svg(drawn, report.sentence), encoding="utf-8")
    except (LlmPlannerError, OSError) as error:
        print(f"llm-planner: the picture could not be drawn: {error}", file=sys.stderr)


def _failed(sentence: str, error: Exception) -> ConstraintReport:
    from llm_planner.cli.constraint_report import ConstraintReport

    outcome, message = told(error)
    return ConstraintReport(sentence, outcome, message)
