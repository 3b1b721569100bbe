"""One picture of what a skill does: a few moments of trials that succeeded and of trials that failed, one in a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.skills.contract import Observation
from llm_planner.skills.learning.lesson import Lesson
from llm_planner.skills.learning.report import Evaluated, Failure, SkillReport, Tally, told
from llm_planner.skills.learning.trials import try_one

if TYPE_CHECKING:
    from llm_planner.simulation.offscreen import Image

PICTURE_FILE = "report.png"
WIDTH, HEIGHT = 216, 162  # of a moment
MOMENTS = 4
FAILURES = 4  # at most
Choice = tuple[bool, int, str]  # whether shoved, the seed, what became of it


@dataclass(frozen=True)
class Shown:
    """A trial to be drawn: what was seen in it, and what is written over it."""

    caption: str
    seen: tuple[Observation, ...]


def scenes_of(lesson: Lesson, report: SkillReport) -> Iterator[Shown]:
    """The trials that the strip shows, run once more: their seeds decide them."""
    if report.evaluated is None:
        return
    for perturbed, seed, words in chosen(report.evaluated):
        seen: list[Observation] = []
        try_one(lesson, seed, perturbed, watch=seen.append)
        yield Shown(f"{seed}\n{words}", tuple(seen))


def chosen(evaluated: Evaluated) -> list[Choice]:
    """A success of either kind, then failures of different reasons."""
    plain = [(False, seed, "succeeded") for seed in _succeeded(evaluated.plain)]
    shoved = [(True, seed, "succeeded, shoved") for seed in _succeeded(evaluated.perturbed)]
    failures = [(False, failure) for failure in evaluated.plain.failures]
    failures += [(True, failure) for failure in evaluated.perturbed.failures]
    reasons: dict[str, list[tuple[bool, Failure]]] = {}
    for perturbed, failure in failures:
        reasons.setdefault(failure.reason, []).append((perturbed, failure))
    rounds = max(map(len, reasons.values()), default=0)
    spread = [group[turn] for turn in range(rounds) for group in reasons.values() if turn < len(group)]
    failed = [(perturbed, one.seed, _words(one)) for perturbed, one in spread[:FAILURES]]
    return [*plain[:1], *shoved[-1:], *failed]


def _words(failure: Failure) -> str:
    return told(failure.reason) + (f", {failure.shoved} shoved" if failure.shoved else "")


def _succeeded(tally: Tally) -> list[int]:
    others, (first, last) = {one.seed for one in (*tally.failures, *tally.left_out)}, tally.seeds
    return [seed for seed in range(first, last + 1) if seed not in others]


def draw_strip(shown: Iterator[Shown], path: Path) -> None:
    """Write the picture; raises SimulationError where no off-screen OpenGL works."""
    from llm_planner.simulation.recording import write_picture

    rows = [_row(trial) for trial in shown]
    if rows:
        write_picture(path, np.concatenate(rows, axis=0))


def _row(trial: Shown) -> Image:
    from llm_planner.simulation.camera import SceneRenderer
    from llm_planner.simulation.renderers import drawn

    _, things = drawn(trial.seen[0].scene)
    with SceneRenderer(things, WIDTH, HEIGHT) as renderer:
        pictures = [
            renderer.render(one.qpos, one.gripper_width, one.scene, caption="" if number else trial.caption)
            for number, one in enumerate(moments(trial.seen))
        ]
    return np.concatenate(pictures, axis=1)


def moments(seen: Sequence[Observation]) -> list[Observation]:
    """As many as a row shows, evenly over the trial, its end among them."""
    return [seen[round(k * (len(seen) - 1) / (MOMENTS - 1))] for k in range(MOMENTS)]
