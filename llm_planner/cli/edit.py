"""`llm-planner edit TEXT --plan FILE`: show what a correction would change in a plan; nothing moves."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.cli.batch import add_batch_argument, answer_batch, check_alone, told
from llm_planner.cli.planning_options import requested_viewpoint
from llm_planner.errors import InputError

if TYPE_CHECKING:
    from llm_planner.corrections.edit_preview import EditAnswer


VIEWPOINTS = ("behind", "facing", "left", "right")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="what is said while the plan runs: no, the blue one")
    parser.add_argument(
        "--plan", type=Path, required=True, metavar="FILE", help="as `llm-planner plan --json` prints it"
    )
    parser.add_argument("--running-step", default="", metavar="N", help="id of the step under way (default: none yet)")
    parser.add_argument("--holding", default="", metavar="OBJECT", help="what that step has in the gripper already")
    parser.add_argument("--viewpoint", choices=VIEWPOINTS, default="behind", help="where the speaker stands")
    parser.add_argument("--model", choices=("embedded", "openai"), default="embedded", help="who reads the words")
    add_batch_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print edit, difference and verdict as JSON; return exit status 0 if the edit is accepted."""
    if args.batch is None:
        from llm_planner.cli.answer import json_line

        words = _words(args)
        answer = _reader(args)(words)
        print(json_line(answer.to_json()))
        return 0 if answer.outcome.value == "done" else 1
    check_alone(args)
    return answer_batch(args.batch, _reader(args), _failed)


def _words(args: argparse.Namespace) -> str:
    """Return the words of the correction; raise InputError if there are none."""
    words = " ".join(args.text).strip()
    if not words:
        raise InputError('nothing is said: write the words, as in llm-planner edit "no, the blue one" --plan FILE')
    return words


def _reader(args: argparse.Namespace) -> Callable[[str], EditAnswer]:
    """Return a function that answers corrections of the plan in the file, at the given step."""
    from llm_planner.corrections.edit_preview import answer_words, midway
    from llm_planner.corrections.reading import open_reader
    from llm_planner.corrections.situation import situation_of
    from llm_planner.planning.report import read_plan
    from llm_planner.skills.library import load_skills

    plan, scene = read_plan(args.plan)
    skills = load_skills(learned=False).for_scene(scene).signatures
    state = midway(plan, scene, skills, requested_viewpoint(args), args.running_step, args.holding)
    situation, reader = situation_of(state).past_the_grasp(), open_reader(args.model)
    return lambda words: answer_words(words, state, situation, reader.read)


def _failed(words: str, error: Exception) -> EditAnswer:
    from llm_planner.corrections.edit_preview import EditAnswer

    outcome, message = told(error)
    return EditAnswer(words, outcome, message)
