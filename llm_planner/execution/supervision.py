"""Supervision of a running plan: decide whether a step may start, and how a plan ends if it may not.

Privileges and constraints decide on a step. `deadline` is the time that a rule with time windows leaves.
`CommandHeartbeat` decides whether the command behind a plan is still alive: a robot must not continue for one that is
over or forgotten.
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
from llm_planner.plans.trace import foresee_motion, letter
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.names import the
from llm_planner.scene.propositions import Moment
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.scene.zones import Zone
from llm_planner.skills.contract import SkillError

EXACT = 0.01  # [s]


def deadline(one: Watched, now: float) -> float:
    """Return until when everything that the rule mentions may stay unchanged [s], infinite if forever.

    The result assumes that no scene arrives in between. For nested windows it is the earliest deadline that may apply.
    `now` [s] must not precede the last scene that the rule has read.
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
    """Return an upper bound of the reach of nested windows [s]."""
    return (formula.window[1] if formula.window else 0.0) + sum(map(_longest, formula.operands))


_ENDS = {Verdict.ASK: EndReason.QUESTION, Verdict.REFUSE: EndReason.FAILED, Verdict.STOP: EndReason.STOPPED}


def not_permitted(decision: Decision, step: PlanStep) -> Finish | None:
    """Return the end of a plan whose next step its source may not call, or None if it may."""
    message = f"Step {step.id}, {step}, may not start. {decision.reason}"
    return None if decision.verdict is Verdict.ALLOW else Finish(_ENDS[decision.verdict], message)


def zones_of_step(watch: Watch, scene: Scene, promised: Scene) -> tuple[Zone, ...]:
    """Return the zones that the rules forbid in a step from `scene`, the last one seen, to the scene `promised`.

    Rooms are excluded: the steps of the plan decide which rooms it passes through.
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
    """Return why the step must not start, or None if it may.

    A step must not start if its forecast breaks a constraint or finds no way around the `zones`.

    Args:
        values: Arguments of the step, in base words.
        origins: Position of each object when it last lay on its own [m].
        zones: Zones that the constraints forbid.
    """
    if not watch.watched:
        return None
    try:
        every_point, limit = watch.needs_every_point, limit_of(watch, scene)
        foreseen = foresee_motion(skill, values, scene, origins, every_point, zones, limit)
    except InputError as error:
        return Finish(EndReason.FAILED, f"Step {step.id}, {step}, cannot start: {error}.")
    except SkillError as error:
        return Finish(EndReason.REPLAN, f"Step {step.id}, {step}, may not start: {error}.", watch.trace)
    ahead = watch.foresee(foreseen.moments(watch.origins))
    if not ahead.broken:
        return None
    late = _too_late(watch, ahead, scene.time, foreseen.seconds)
    told = late or f"it would break {_quoted(ahead.broken)}{_shown_by(ahead)}"
    message = f"Step {step.id}, {step}, may not start: {told}."
    return Finish(EndReason.REPLAN, message, ahead.trace)


def _too_late(watch: Watch, ahead: Watch, now: float, seconds: float) -> str:
    """Explain which rules leave too little time, "" if time is not the reason."""
    broken = [before for before, after in zip(watch.watched, ahead.watched, strict=True) if after.verdict.lost]
    left = {one.constraint.words: deadline(one, now) - now for one in broken}
    if any(time > seconds for time in left.values()):
        return ""
    told = " and ".join(f"only {time:.1f} s are left for “{words}”" for words, time in left.items())
    return f"{told}, and the step takes about {seconds:.1f} s"


def told_broken(watch: Watch) -> Finish:
    """Return the end of a plan after a constraint broke."""
    message = f"I stop here, because this is broken: {_quoted(watch.broken)}{_shown_by(watch)}."
    return Finish(EndReason.BROKEN, message)


def told_unmet(watch: Watch) -> Finish:
    """Return the end of a plan that finished its steps but leaves a constraint unmet."""
    return Finish(EndReason.REPLAN, f"After every step this is still not so: {_quoted(watch.unmet)}.", watch.trace)


def _shown_by(watch: Watch) -> str:
    """Return the last change in brackets; "" without one: time ran out, or the scene was so from the start."""
    return f" ({watch.last_change})" if watch.last_change else ""


def _quoted(constraints: Iterable[Constraint]) -> str:
    return ", ".join(f"“{constraint.words}”" for constraint in constraints)


REMEMBERED = 32  # commands; the one heard of longest ago is forgotten first


@dataclass(frozen=True)
class Heard:
    """Last message about a command: its time [s] and whether the command had ended."""

    time: float
    ended: bool


@dataclass(frozen=True)
class CommandHeartbeat:
    """Messages about commands. The sender of a command reports on it at least once a second until it ends.

    A plan whose command was never reported came by other means and continues.
    """

    patience: float  # [s] of silence after which a command counts as abandoned
    commands: Mapping[str, Heard] = field(default_factory=dict)

    def heard(self, command_id: str, time: float, ended: bool) -> CommandHeartbeat:
        """Record a message about a command; an ended command does not start again."""
        others = {name: heard for name, heard in self.commands.items() if name != command_id}
        before = self.commands.get(command_id)
        kept = dict(list(others.items())[-(REMEMBERED - 1) :])
        return replace(self, commands={**kept, command_id: Heard(time, ended or (before is not None and before.ended))})

    def why_stop(self, command_id: str, time: float) -> str:
        """Return why the plan of a command must stop at `time` [s], for a person; "" if it may continue."""
        heard = self.commands.get(command_id)
        if heard is None:
            return ""
        if heard.ended:
            return "its command is over"
        if time - heard.time > self.patience:
            return "the language planner fell silent"
        return ""
