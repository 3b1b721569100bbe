"""Report page of a skill (report.md), with the training curve as SVG and a picture of trials.

The picture has one row per trial, of successes and failures, with a few moments each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.learning.command_trials import CONDITIONS
from llm_planner.learning.evaluating import try_one
from llm_planner.learning.report import (
    MARGIN,
    PAIRS_LEAST,
    CommandTally,
    Evaluated,
    Failure,
    Paired,
    SkillReport,
    Tally,
    Trained,
)
from llm_planner.learning.training_task import TrainingTask
from llm_planner.robots.motion import Observation
from llm_planner.robots.robot_folders import DEFAULT, default_name
from llm_planner.skills.learned.loading import POLICY, SCRIPT
from llm_planner.skills.learned.weights_file import write_atomically

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


def scenes_of(task: TrainingTask, report: SkillReport) -> Iterator[Shown]:
    """Run the trials of the picture again, which their seeds determine."""
    if report.evaluated is None:
        return
    for perturbed, seed, words in chosen(report.evaluated):
        seen: list[Observation] = []
        try_one(task, seed, perturbed, watch=seen.append)
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
    failed = [
        (perturbed, one.seed, one.reason_in_words + (f", {one.shoved} shoved" if one.shoved else ""))
        for perturbed, one in spread[:FAILURES]
    ]
    return [*plain[:1], *shoved[-1:], *failed]


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
    from llm_planner.simulation.renderers import SceneRenderer, drawn

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


PAGE_FILE, CURVE_FILE = "report.md", "report.svg"
LEFT, TOP, FLOOR, WIDE = 64, 40, 274, 740  # [px] edges of the curve
_LOSS = {False: "mean square error", True: "log likelihood, and errors of numbers"}  # by `PolicyContract.by_sight`
MISSED = 12  # largest number of missed commands on the page
NAMED = 8  # largest number of seeds per reason of failure


def write_page(folder: Path, report: SkillReport, no_picture: str = "") -> None:
    """Write report.md and the training curve; `no_picture` says why there is no picture of trials."""
    if report.trained is not None:
        write_atomically(folder / CURVE_FILE, curve_svg(report.skill, report.trained).encode())
    write_atomically(folder / PAGE_FILE, page(report, no_picture).encode())


def curve_svg(skill: str, trained: Trained) -> str:
    """Draw the training loss over the steps; the axis of the loss begins at 0, or below a negative loss."""
    steps, losses = [step for step, _ in trained.curve] or [0], [loss for _, loss in trained.curve] or [0.0]
    low, high = min(0.0, *losses), max(0.0, *losses) or 1.0
    x = [LEFT + (WIDE - LEFT) * step / max(*steps, 1) for step in steps]
    y = [TOP + (FLOOR - TOP) * (high - loss) / (high - low) for loss in losses]
    points = " ".join(f"{across:.1f},{down:.1f}" for across, down in zip(x, y, strict=True))
    words = [
        (LEFT, 22, "start", f"Training of {skill}: {_LOSS[trained.contract.by_sight]}"),
        (LEFT - 8, TOP + 4, "end", f"{high:.3g}"),
        (LEFT - 8, FLOOR + 4, "end", f"{low:.3g}"),
        (LEFT, FLOOR + 18, "middle", "0"),
        (WIDE, FLOOR + 18, "end", f"{steps[-1]} steps"),
    ]
    texts = (f'<text x="{x}" y="{y}" text-anchor="{side}">{escape(word)}</text>' for x, y, side, word in words)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE + 20} {FLOOR + 30}" role="img">',
            '<g font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            f'<path fill="none" stroke="#9aa5b1" d="M {LEFT} {TOP} V {FLOOR} H {WIDE}"/>',
            f'<polyline fill="none" stroke="#0b69a3" stroke-width="1.8" points="{points}"/>',
            *texts,
            "</g>",
            "</svg>\n",
        ]
    )


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


def why(tally: CommandTally) -> str:
    """Explain why the policy or the script moves the skill."""
    if tally.mover == POLICY:
        return "its policy moves it, which is no worse than its script, left alone and shoved"
    if min(tally.alone.pairs, tally.shoved.pairs) < PAIRS_LEAST:
        return f"its script moves it, since fewer than {PAIRS_LEAST} commands say too little of its policy"
    worse = [name for name in CONDITIONS if not getattr(tally, name).is_no_worse]
    told = [f"{_difference(getattr(tally, name))} {'left alone' if name == 'alone' else name}" for name in worse]
    return f"its script moves it, since its policy may be worse by {100 * MARGIN:.0f} points: {' and '.join(told)}"


def _difference(paired: Paired) -> str:
    low, high = paired.difference_interval
    return f"{100 * paired.difference:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"


def command_rows(tally: CommandTally) -> Iterator[str]:
    """Yield the table rows of the tally, one per condition: condition, commands, policy, script, difference."""
    for name, words in zip(CONDITIONS, ("left alone", "shoved in the middle"), strict=True):
        paired: Paired = getattr(tally, name)
        yield (
            f"{words} | {paired.pairs} | {_share(paired.policy, paired.policy_interval)} | "
            f"{_share(paired.script, paired.script_interval)} | {_difference(paired)}"
        )


def _share(successes: int, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{successes} [{100 * low:.0f}, {100 * high:.0f} %]"


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
        for group in groups:
            reason = group[0].reason_in_words
            yield f"- **{reason}** ({len(group)}): {group[0].message or reason}. {named(group)}"
        yield ""


def by_reason(failures: Sequence[Failure]) -> list[list[Failure]]:
    """Group failures by reason, the most frequent first."""
    groups: dict[str, list[Failure]] = {}
    for failure in failures:
        groups.setdefault(failure.reason, []).append(failure)
    return sorted(groups.values(), key=len, reverse=True)


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
