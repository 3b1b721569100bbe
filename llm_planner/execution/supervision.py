"""Which step of a plan under way may start, by privileges and by constraints, and how a plan ends for them.

By when something has to change: the time that a rule with windows in seconds leaves, read off its monitor.

Whether somebody still stands behind a plan: a robot must not go on for a command that is over or forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from llm_planner.errors import InputError
from llm_planner.execution.execution_state import EndReason, Finish
from llm_planner.execution.motion_rules import bindings, limit_of
from llm_planner.execution.watch import Watch, Watched
from llm_planner.ltl.formula import Constraint, Formula
from llm_planner.plans.plan import PlanStep
from llm_planner.plans.privileges.decision import Decision
from llm_planner.plans.privileges.policy import Verdict
from llm_planner.plans.trace import letter, pass_through
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.names import the
from llm_planner.scene.propositions import Moment
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.scene.zones import Zone
from llm_planner.skills.contract import SkillError

EXACT = 0.01  # [s]


def deadline(one: Watched, now: float) -> float:
    """Until when [s] everything that the rule speaks of may stay as it is; infinite where it may for ever.

    Reckoned as if no scene came in between: of windows within windows, the earliest time that may be meant.
    `now` [s] is not before the last scene that the rule has read.
    """
    if one.seen is None or not one.constraint.formula.timed:
        return inf
    open_, lost = now, now + _longest(one.constraint.formula) + 1.0
    if not one.monitor.doomed_by(one.seen, lost):
        return inf
    while lost - open_ > EXACT:
        middle = (open_ + lost) / 2
        open_, lost = (open_, middle) if one.monitor.doomed_by(one.seen, middle) else (middle, lost)
    return open_


def _longest(formula: Formula) -> float:
    """More seconds than its windows reach, one within the other [s]."""
    return (formula.window[1] if formula.window else 0.0) + sum(map(_longest, formula.operands))


_ENDS = {Verdict.ASK: EndReason.QUESTION, Verdict.REFUSE: EndReason.FAILED, Verdict.STOP: EndReason.STOPPED}


def not_permitted(decision: Decision, step: PlanStep) -> Finish | None:
    """The end of a plan whose next step its source may not have done; None where it may."""
    if decision.verdict is Verdict.ALLOW:
        return None
    return Finish(_ENDS[decision.verdict], f"Step {step.id}, {step}, may not start. {decision.reason}")


def zones_of_step(watch: Watch, scene: Scene, promised: Scene) -> tuple[Zone, ...]:
    """What the rules forbid the robot in a step from `scene`, the last that was seen, to the scene `promised`.

    Whole rooms are none of it: which of them a plan leads through is decided by its steps.
    """
    if not watch.needs_every_point:
        return ()
    ahead = letter(Moment(promised, watch.origins), watch.propositions)
    rooms = {the(name) for name in scene.building.names} if scene.building else set[str]()
    zones = (zone for one in bindings(watch, scene, (ahead,), rather_slow=True) for zone in one.zones)
    return tuple(dict.fromkeys(zone for zone in zones if zone.name not in rooms))


def foreseen_trouble(
    watch: Watch,
    skill: Signature,
    step: PlanStep,
    values: Mapping[str, Argument],
    scene: Scene,
    origins: Mapping[str, Vector3],
    zones: tuple[Zone, ...] = (),
) -> Finish | None:
    """Why the step must not start: what it should lead through breaks a constraint, or no way leads there around the
    `zones` that the constraints forbid. None where it may.

    `values` are in base words; `origins` is where each object last lay on its own [m].
    """
    if not watch.watched:
        return None
    try:
        every_point, limit = watch.needs_every_point, limit_of(watch, scene)
        passage = pass_through(skill, values, scene, origins, every_point, zones, limit)
    except InputError as error:
        return Finish(EndReason.FAILED, f"Step {step.id}, {step}, cannot start: {error}.")
    except SkillError as error:
        return Finish(EndReason.REPLAN, f"Step {step.id}, {step}, may not start: {error}.", watch.trace)
    ahead = watch.foresee(passage.moments(watch.origins))
    if not ahead.broken:
        return None
    late = _too_late(watch, ahead, scene.time, passage.seconds)
    told = late or f"it would break {_quoted(ahead.broken)}{_shown_by(ahead)}"
    message = f"Step {step.id}, {step}, may not start: {told}."
    return Finish(EndReason.REPLAN, message, ahead.trace)


def _too_late(watch: Watch, ahead: Watch, now: float, seconds: float) -> str:
    """What there is too little time for, in words; "" where what breaks is not a matter of time."""
    broken = [before for before, after in zip(watch.watched, ahead.watched, strict=True) if after.verdict.lost]
    left = {one.constraint.words: deadline(one, now) - now for one in broken}
    if any(time > seconds for time in left.values()):
        return ""
    told = " and ".join(f"only {time:.1f} s are left for “{words}”" for words, time in left.items())
    return f"{told}, and the step takes about {seconds:.1f} s"


def told_broken(watch: Watch) -> Finish:
    """The end of a plan under which a constraint broke."""
    message = f"I stop here, because this is broken: {_quoted(watch.broken)}{_shown_by(watch)}."
    return Finish(EndReason.BROKEN, message)


def told_unmet(watch: Watch) -> Finish:
    """The end of a plan whose steps are done and that leaves a constraint unmet."""
    return Finish(EndReason.REPLAN, f"After every step this is still not so: {_quoted(watch.unmet)}.", watch.trace)


def _shown_by(watch: Watch) -> str:
    """What came about in brackets; nothing where nothing did: time ran out, or it was so from the start."""
    return f" ({watch.last_change})" if watch.last_change else ""


def _quoted(constraints: Iterable[Constraint]) -> str:
    return ", ".join(f"“{constraint.words}”" for constraint in constraints)


REMEMBERED = 32  # commands; those heard of longest ago are forgotten first


@dataclass(frozen=True)
class Heard:
    """The last that was heard of a command, at `time` [s], and whether it had ended by then."""

    time: float
    ended: bool


@dataclass(frozen=True)
class Commander:
    """What is heard of commands. Whoever gives them speaks of each at least once a second until it has ended.

    A command that was never spoken of is nobody's to give up: its plan was sent by other means.
    """

    patience: float  # [s] of silence after which a command counts as forgotten
    commands: Mapping[str, Heard] = field(default_factory=dict)

    def heard(self, command_id: str, time: float, ended: bool) -> Commander:
        """The same after a word about that command. One that has ended does not begin again."""
        others = {name: heard for name, heard in self.commands.items() if name != command_id}
        before = self.commands.get(command_id)
        kept = dict(list(others.items())[-(REMEMBERED - 1) :])
        return replace(self, commands={**kept, command_id: Heard(time, ended or (before is not None and before.ended))})

    def why_stop(self, command_id: str, time: float) -> str:
        """Why the plan of that command must not go on at `time` [s], for a person; "" where it may."""
        heard = self.commands.get(command_id)
        if heard is None:
            return ""
        if heard.ended:
            return "its command is over"
        if time - heard.time > self.patience:
            return "the language planner fell silent"
        return ""
