"""Report page of a skill (report.md), with the training curve as SVG and a picture of trials.

The picture has one row per trial, of successes and failures, with a few moments each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.learning.command_tally import command_rows, why
from llm_planner.learning.evaluating import try_one
from llm_planner.learning.report import Evaluated, Failure, SkillReport, Tally, Trained, told
from llm_planner.learning.training_task import TrainingTask
from llm_planner.robots.motion import Observation
from llm_planner.robots.robot_folders import DEFAULT, default_name
from llm_planner.skills.learned.loading import POLICY, SCRIPT
from llm_planner.skills.learned.weights_file import write_whole

if TYPE_CHECKING:
    from llm_planner.simulation.offscreen import Image


PICTURE_FILE = "report.png"
WIDTH, HEIGHT = 216, 162  # [px] of one picture
MOMENTS = 4
FAILURES = 4  # largest number of failed trials in the picture
Choice = tuple[bool, int, str]  # whether disturbed, seed, result


@dataclass(frozen=True)
class Shown:
    """Trial to draw: its observations and its caption."""

    caption: str
    seen: tuple[Observation, ...]


def scenes_of(lesson: TrainingTask, report: SkillReport) -> Iterator[Shown]:
    """Run the trials of the picture again, which their seeds determine."""
    if report.evaluated is None:
        return
    for perturbed, seed, words in chosen(report.evaluated):
        seen: list[Observation] = []
        try_one(lesson, seed, perturbed, watch=seen.append)
        yield Shown(f"{seed}\n{words}", tuple(seen))


def chosen(evaluated: Evaluated) -> list[Choice]:
    """Choose a success of each condition, and failures with different reasons."""
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
    """Draw the picture; raise SimulationError without off-screen OpenGL."""
    from llm_planner.simulation.renderers import write_picture

    rows = [_strip_row(trial) for trial in shown]
    if rows:
        write_picture(path, np.concatenate(rows, axis=0))


def _strip_row(trial: Shown) -> Image:
    from llm_planner.robots.arm_model import arm_model
    from llm_planner.simulation.camera import SceneRenderer
    from llm_planner.simulation.renderers import drawn

    _, things, arm = drawn(trial.seen[0].scene)
    with SceneRenderer(things, WIDTH, HEIGHT, arm_model(arm)) as renderer:
        pictures = [
            renderer.render(one.qpos, one.gripper_width, one.scene, caption="" if number else trial.caption)
            for number, one in enumerate(moments(trial.seen))
        ]
    return np.concatenate(pictures, axis=1)


def moments(seen: Sequence[Observation]) -> list[Observation]:
    """Pick `MOMENTS` observations evenly over the trial, including the last."""
    return [seen[round(k * (len(seen) - 1) / (MOMENTS - 1))] for k in range(MOMENTS)]


CHART_WIDTH, CHART_HEIGHT = 760.0, 320.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 20.0, 62.0, 46.0
_INK, _GRID = "#1f2933", "#e4e7eb"
_COLOURS = ("#0b69a3", "#c52707", "#1b7f4d", "#54399e", "#b44d12", "#616e7c")
_STYLE = f"""
  text {{ font: 12px "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; fill: {_INK}; }}
  .title {{ font-weight: 600; font-size: 15px; }}
  .grid {{ stroke: {_GRID}; stroke-width: 1; }}
  .mark {{ stroke: #9aa5b1; stroke-width: 1.2; stroke-dasharray: 3 3; }}
  .curve {{ fill: none; stroke-width: 1.8; stroke-linejoin: round; }}
"""


@dataclass(frozen=True)
class Curve:
    """Polyline through (`x`[k], `y`[k]), interrupted at non-finite values."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Mark:
    """Vertical line at `x` with a label."""

    x: float
    name: str


@dataclass(frozen=True)
class _Frame:
    """Transformation from data to picture coordinates."""

    left: float
    right: float
    low: float
    high: float

    def place(self, x: float, y: float) -> str:
        return f"{self.across(x):.1f} {self.up(y):.1f}"

    def across(self, x: float) -> float:
        return _LEFT + (x - self.left) / (self.right - self.left) * (CHART_WIDTH - _LEFT - _RIGHT)

    def up(self, y: float) -> float:
        return CHART_HEIGHT - _BOTTOM - (y - self.low) / (self.high - self.low) * (CHART_HEIGHT - _TOP - _BOTTOM)


def chart_svg(title: str, across: str, up: str, curves: Sequence[Curve], marks: Sequence[Mark] = ()) -> str:
    """Draw curves as SVG text; `across` and `up` label the axes, and the y axis always includes 0."""
    xs = [x for curve in curves for x in curve.x if math.isfinite(x)] or [0.0, 1.0]
    ys = [y for curve in curves for y in curve.y if math.isfinite(y)] or [0.0, 1.0]
    rises = _ticks(min(0.0, *ys), max(0.0, *ys))
    frame = _Frame(min(xs), max(max(xs), min(xs) + 1e-9), min(rises[0], *ys), max(rises[-1], *ys))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{CHART_WIDTH:.0f}" height="{CHART_HEIGHT:.0f}" '
        f'viewBox="0 0 {CHART_WIDTH:.0f} {CHART_HEIGHT:.0f}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text class="title" x="{_LEFT:.0f}" y="22">{escape(title)}</text>',
        *_axes(frame, rises, across, up),
        *_marked(frame, marks),
        *_drawn(frame, curves),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _axes(frame: _Frame, rises: Sequence[float], across: str, up: str) -> Iterator[str]:
    right, floor = CHART_WIDTH - _RIGHT, CHART_HEIGHT - _BOTTOM
    for y in rises:
        place = frame.up(y)
        yield f'<line class="grid" x1="{_LEFT:.0f}" y1="{place:.1f}" x2="{right:.0f}" y2="{place:.1f}"/>'
        yield f'<text x="{_LEFT - 8:.0f}" y="{place + 4:.1f}" text-anchor="end">{y:g}</text>'
    for x in _ticks(frame.left, frame.right):
        if frame.left <= x <= frame.right:
            yield f'<text x="{frame.across(x):.1f}" y="{floor + 18:.0f}" text-anchor="middle">{x:g}</text>'
    yield f'<text x="{right:.0f}" y="{CHART_HEIGHT - 8:.0f}" text-anchor="end">{escape(across)}</text>'
    yield f'<text x="{_LEFT:.0f}" y="{_TOP - 22:.0f}">{escape(up)}</text>'


def _marked(frame: _Frame, marks: Sequence[Mark]) -> Iterator[str]:
    for mark in marks:
        x = frame.across(mark.x)
        yield f'<line class="mark" x1="{x:.1f}" y1="{_TOP:.0f}" x2="{x:.1f}" y2="{CHART_HEIGHT - _BOTTOM:.0f}"/>'
        yield f'<text x="{x + 4:.1f}" y="{_TOP + 10:.0f}">{escape(mark.name)}</text>'


def _drawn(frame: _Frame, curves: Sequence[Curve]) -> Iterator[str]:
    legend = CHART_WIDTH - _RIGHT
    for number, curve in reversed(list(enumerate(curves))):
        colour = _COLOURS[number % len(_COLOURS)]
        dashes = ' stroke-dasharray="6 4"' if curve.dashed else ""
        yield f'<path class="curve" stroke="{colour}"{dashes} d="{_path(frame, curve)}"/>'
        start = legend - 6.6 * len(curve.name) - 26.0
        yield f'<text x="{start + 26:.0f}" y="{_TOP - 22:.0f}">{escape(curve.name)}</text>'
        line = f'x1="{start:.0f}" y1="{_TOP - 26:.0f}" x2="{start + 20:.0f}" y2="{_TOP - 26:.0f}"'
        yield f'<line class="curve" stroke="{colour}"{dashes} {line}/>'
        legend = start - 18.0


def _path(frame: _Frame, curve: Curve) -> str:
    steps, pen = [], "M"
    for x, y in zip(curve.x, curve.y, strict=True):
        if math.isfinite(x) and math.isfinite(y):
            steps.append(f"{pen} {frame.place(x, y)}")
            pen = "L"
        else:
            pen = "M"
    return " ".join(steps)


def _ticks(low: float, high: float) -> list[float]:
    """Return about six round tick values that cover `low` to `high`."""
    span = max(high - low, 1e-9) / 6
    power = 10.0 ** math.floor(math.log10(span))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= span)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]


PAGE_FILE, CURVE_FILE = "report.md", "report.svg"
_LOSS = {False: "mean square error", True: "log likelihood, and errors of numbers"}  # by `PolicyContract.by_sight`
MISSED = 12  # largest number of missed commands on the page
NAMED = 8  # largest number of seeds per reason of failure


def write_page(folder: Path, report: SkillReport, no_picture: str = "") -> None:
    """Write report.md and the training curve; `no_picture` says why there is no picture of trials."""
    if report.trained is not None:
        write_whole(folder / CURVE_FILE, curve_svg(report.skill, report.trained).encode())
    write_whole(folder / PAGE_FILE, page(report, no_picture).encode())


def curve_svg(skill: str, trained: Trained) -> str:
    """Draw the training loss over the steps."""
    steps, losses = [step for step, _ in trained.curve], [loss for _, loss in trained.curve]
    return chart_svg(f"Training of {skill}", "steps", "loss", [Curve(_LOSS[trained.contract.by_sight], steps, losses)])


def page(report: SkillReport, no_picture: str = "") -> str:
    """Render the report page as Markdown."""
    title = f"# {report.skill}{_on(report)}"
    return "\n".join([title, "", *_commands(report), *_evaluated(report, no_picture), *_trained(report), ""])


def _on(report: SkillReport, before: str = " on ") -> str:
    return "" if report.robot in (DEFAULT, default_name()) else before + report.robot


def _commands(report: SkillReport) -> Iterator[str]:
    tally = report.commands
    if tally is None:
        return
    (first, last), told = tally.seeds, why(tally)
    yield "## On commands\n"
    yield "Drawn commands on the table of `llm-planner run --seed`, carried out as that does but for the language"
    yield f"model: by policy and by script in the same scenes (seeds {first} to {last}). {told[0].upper()}{told[1:]}.\n"
    yield f"| | commands | {POLICY} [95 %] | {SCRIPT} [95 %] | difference [95 %] |"
    yield "|---|---|---|---|---|"
    yield from (f"| {row} |" for row in command_rows(tally))
    yield ""
    if tally.refused:
        yield f"In {tally.refused} more scenes no command was found that the script does not refuse at once.\n"
    for one in tally.missed[:MISSED]:
        shoved = f", {one.shoved} shoved" if one.shoved else ""
        yield f"- {one.mover}, seed {one.seed}{shoved}, “{one.words}”: {one.message}"
    if len(tally.missed) > MISSED:
        yield f"- and {len(tally.missed) - MISSED} more"
    yield ""
    yield "## In training cases\n"
    yield "The policy alone, with no script behind it, from anywhere over the table:\n"


def _evaluated(report: SkillReport, no_picture: str) -> Iterator[str]:
    if report.evaluated is None:
        yield f"Not evaluated yet: `llm-planner evaluate {report.skill}{_on(report, ' --robot ')}`.\n"
        return
    evaluated = report.evaluated
    yield "| trials | success | 95 % interval | of | seeds |"
    yield "|---|---|---|---|---|"
    yield _row("left alone", evaluated.plain)
    yield _row("shoved in the middle", evaluated.perturbed)
    yield ""
    latency = evaluated.latency
    yield f"A {report.answer} takes {latency.median:.2f} ms on the CPU, 99 % of them at most {latency.p99:.2f} ms."
    yield f"The policy is {report.size / 1000:.0f} kB.\n"
    plain, perturbed = evaluated.plain, evaluated.perturbed
    yield from _grouped("Failures", (*plain.failures, *perturbed.failures))
    yield from _grouped("Left out: no skill could have done these", (*plain.left_out, *perturbed.left_out))
    if no_picture:
        yield f"No picture of the trials: {no_picture}.\n"
    else:
        yield f"![Moments of trials that succeeded and that failed, with their seeds]({PICTURE_FILE})\n"


def _row(words: str, tally: Tally) -> str:
    low, high = tally.interval
    first, last = tally.seeds
    return f"| {words} | {tally.rate:.1%} | {low:.1%} to {high:.1%} | {tally.trials} | {first} to {last} |"


def _grouped(title: str, failures: Sequence[Failure]) -> Iterator[str]:
    groups = by_reason(failures)
    if groups:
        yield f"## {title}\n"
        for reason, group in groups:
            yield f"- **{told(reason)}** ({len(group)}): {group[0].message or told(reason)}. {named(group)}"
        yield ""


def by_reason(failures: Sequence[Failure]) -> list[tuple[str, list[Failure]]]:
    """Group failures by reason, the most frequent first."""
    groups: dict[str, list[Failure]] = {}
    for failure in failures:
        groups.setdefault(failure.reason, []).append(failure)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def named(failures: Sequence[Failure]) -> str:
    """List the seeds of failures, and what was disturbed."""
    seeds = [f"{one.seed} ({one.shoved} shoved)" if one.shoved else str(one.seed) for one in failures[:NAMED]]
    more = f" and {len(failures) - NAMED} more" if len(failures) > NAMED else ""
    return f"Seeds: {', '.join(seeds)}{more}."


def _trained(report: SkillReport) -> Iterator[str]:
    trained = report.trained
    if trained is None:
        yield "Where the policy comes from is not known: it was not trained by `llm-planner train`."
        return
    contract = trained.contract
    yield "## Training\n"
    if contract.by_sight:
        yield f"- Learned from {trained.recordings} pictures of {trained.episodes} cases of the world"
        yield f"  `{contract.world}`, with {trained.moments} grasps of the script `{trained.demonstrator}`."
    else:
        yield f"- Demonstrated by the script `{trained.demonstrator}` in the world `{contract.world}`:"
        yield f"  {trained.episodes} of {contract.episodes} episodes succeeded, {trained.recordings} undisturbed"
        yield f"  pieces, {trained.moments} moments."
    if trained.corrections:
        yield f"- {trained.corrections} of the pieces are corrections."
    yield f"- Objective: {trained.objective}; {contract.steps} steps in {trained.seconds:.0f} s, seed {trained.seed};"
    yield f"  {trained.parameters} parameters."
    yield f"- Sees {', '.join(contract.observe)}; is given {', '.join(contract.goal) or 'nothing'}."
    yield f"- Made with {', '.join(f'{name} {version}' for name, version in trained.versions.items())}.\n"
    yield f"![The loss over the steps of training]({CURVE_FILE})"
