"""Two robots at work in one simulation: their jobs, and many scenes in several processes, for `bench_two_*`."""

from __future__ import annotations

import argparse
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from typing import Any

from reports import report_parser

from llm_planner.control.zone_reservation import ArmState, ZoneReservation
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.skills.contract import Skill, SkillError, SkillErrorCode, SkillResult, SkillRun

PERIOD = 0.1  # [s] of controller, filter and skills, as in `skills.episode`
Call = tuple[str, Mapping[str, Argument]]


class WorkingRobot(ABC):
    """Runs the jobs of one robot in order. A job is a list of skill calls; a failed call ends its job."""

    def __init__(self, name: str, reservation: ZoneReservation) -> None:
        self.name, self.reservation = name, reservation
        self.results: list[SkillResult] = []  # of all calls but those left out
        self.run: SkillRun | None = None
        self._jobs: list[list[Call]] = []

    def give(self, jobs: Sequence[Sequence[Call]]) -> None:
        """Add jobs."""
        self._jobs += map(list, jobs)

    @property
    def is_done(self) -> bool:
        return not self._jobs and self.run is None

    def tell(self) -> ArmState:
        """What the other robot hears."""
        return self.reservation.state()

    @abstractmethod
    def skill(self, name: str) -> Skill: ...

    def work(self, observation: Observation) -> MotionReference | None:
        """Return what the present skill wants, None between skills."""
        while self.run is None and self._jobs:
            if not self._jobs[0]:
                self._jobs.pop(0)
                continue
            name, arguments = self._jobs[0].pop(0)
            try:
                self.run = self.skill(name).start(arguments, observation)
            except SkillError as error:
                self._take(SkillResult(error.code, str(error)))
        if self.run is None:
            return None
        outcome = self.run.step(observation)
        if isinstance(outcome, SkillResult):
            self._take(outcome)
            return None
        return outcome

    def _take(self, result: SkillResult) -> None:
        self.run = None
        self.results.append(result)
        if result.code is not SkillErrorCode.SUCCEEDED:
            self._jobs.pop(0)
        self.reservation.want(())  # as the skill server does

    @property
    def failures(self) -> list[str]:
        return [one.message for one in self.results if one.code is not SkillErrorCode.SUCCEEDED]


def scenes_parser(description: str | None, scenes: int = 200) -> argparse.ArgumentParser:
    """Return the parser of a benchmark over many scenes."""
    parser = report_parser(description)
    parser.add_argument("--scenes", type=int, default=scenes)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    return parser


def run_scenes(run: Callable[..., Any], args: argparse.Namespace, *settings: object) -> tuple[list[Any], float]:
    """Run scenes by `run(seed, *settings)`, tell each outcome, and return them all and the wall time [s]."""
    seeds, began, outcomes = range(args.seed, args.seed + args.scenes), time.monotonic(), []
    with ExitStack() as stack:
        run_all = map if args.workers == 1 else stack.enter_context(ProcessPoolExecutor(args.workers)).map
        for outcome in run_all(run, seeds, *([one] * args.scenes for one in settings)):
            outcomes.append(outcome)
            print(outcome, file=sys.stderr, flush=True)
    return outcomes, time.monotonic() - began
