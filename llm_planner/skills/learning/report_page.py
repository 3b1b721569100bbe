"""A skill's report for people: report.md, with the curve of its training, and a picture of its trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from llm_planner.drawing.chart import Curve, chart_svg
from llm_planner.skills.learned.standing import POLICY, SCRIPT
from llm_planner.skills.learning.command_tally import command_rows, why
from llm_planner.skills.learning.report import Failure, SkillReport, Tally, Trained, told
from llm_planner.skills.learning.strip import PICTURE_FILE
from llm_planner.skills.policies.weights_file import write_whole

PAGE_FILE, CURVE_FILE = "report.md", "report.svg"
_LOSS = {False: "mean square error", True: "log likelihood, and errors of numbers"}  # by sight
MISSED = 12  # commands not carried out that are told
NAMED = 8  # seeds of one kind of failure that are named


def write_page(folder: Path, report: SkillReport, no_picture: str = "") -> None:
    """Write report.md and the curve; `no_picture` says why there is no picture of trials."""
    if report.trained is not None:
        write_whole(folder / CURVE_FILE, curve_svg(report.skill, report.trained).encode())
    write_whole(folder / PAGE_FILE, page(report, no_picture).encode())


def curve_svg(skill: str, trained: Trained) -> str:
    """The loss over the steps."""
    steps, losses = [step for step, _ in trained.curve], [loss for _, loss in trained.curve]
    return chart_svg(f"Training of {skill}", "steps", "loss", [Curve(_LOSS[trained.contract.by_sight], steps, losses)])


def page(report: SkillReport, no_picture: str = "") -> str:
    """The page as text."""
    return "\n".join(
        [f"# {report.skill}", "", *_commands(report), *_evaluated(report, no_picture), *_trained(report), ""]
    )


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
        yield f"Not evaluated yet: `llm-planner evaluate {report.skill}`.\n"
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
    """The commonest reason first."""
    groups: dict[str, list[Failure]] = {}
    for failure in failures:
        groups.setdefault(failure.reason, []).append(failure)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def named(failures: Sequence[Failure]) -> str:
    """Their seeds, those of shoved trials with what was shoved."""
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
    yield f"- Sees {', '.join(contract.observe)}; is told {', '.join(contract.goal) or 'nothing'}."
    yield f"- Made with {', '.join(f'{name} {version}' for name, version in trained.versions.items())}.\n"
    yield f"![The loss over the steps of training]({CURVE_FILE})"
