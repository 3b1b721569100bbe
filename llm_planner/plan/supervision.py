"""Which step of a plan under way may start, by privileges and by constraints, and how a plan ends for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llm_planner.control.zones import Zone
from llm_planner.errors import InputError
from llm_planner.plan.deadlines import deadline
from llm_planner.plan.events import EndReason, Finish
from llm_planner.plan.motion_binding import bindings, limit_of
from llm_planner.plan.plan import PlanStep
from llm_planner.plan.trace import letter, pass_through
from llm_planner.plan.watch import Watch
from llm_planner.privileges.decision import Decision
from llm_planner.privileges.policy import Verdict
from llm_planner.program.signatures import Signature
from llm_planner.skills.contract import Argument
from llm_planner.skills.errors import SkillError
from llm_planner.temporal.constraint import Constraint
from llm_planner.world.names import the
from llm_planner.world.propositions import Moment
from llm_planner.world.scene import Scene, Vector3

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
