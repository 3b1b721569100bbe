"""Forecast of the scenes that a skill call passes through, and their letters, before anything moves.

The forecast follows the motion of the shipped skills: an arm rises, swings over at its travel height, goes down and
rises again; a mobile robot drives the shortest way through the doors. It does not predict speeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from math import dist, inf

from llm_planner.errors import LlmPlannerError
from llm_planner.ltl.alphabet import Letter
from llm_planner.plans.plan import PlanStep, goals_of, in_base_words
from llm_planner.plans.prediction import predict
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.driven_base import driven_to
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.propositions import Moment, Proposition, holds
from llm_planner.scene.scene import Pose, Scene, SceneObject, Vector3
from llm_planner.scene.zones import Zone
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.paths import MotionPath, SkillCall, Waypoint, densify

ARM_SPEED = 0.18  # [m/s] average speed of the end effector from rest to rest
BASE_SPEED = 0.85  # [m/s] average speed of a mobile robot
ARM_SHARE, BASE_SHARE = 0.5, 0.85  # average fraction of a speed limit: an arm makes many short motions
FINGERS_TIME = 0.6  # [s] to close or open the gripper
ARM_APART, BASE_APART = 0.03, 0.2  # [m] between the points by which a way is drawn; a hand swings about its base
ARM_SPACING, BASE_SPACING = 0.02, 0.1  # [m] between the points at which distances are evaluated
_GEOMETRIC = frozenset({"near", "over", "distance"})


def letter(moment: Moment, propositions: Sequence[Proposition]) -> Letter:
    """Return the propositions that hold at the moment."""
    return frozenset(str(item) for item in propositions if holds(item, moment))


def needs_every_point(propositions: Sequence[Proposition]) -> bool:
    """Return whether a proposition depends on the robot's distance to something, which changes along every line."""
    return any(item.predicate in _GEOMETRIC for item in propositions)


def event_of(skill: Signature, values: Mapping[str, Argument], after: Scene) -> tuple[str, ...]:
    """Return the event of a call for `did(...)`: the skill and its arguments, or the room if it has none."""
    arguments = [str(values[parameter.name]) for parameter in skill.parameters if parameter.name in values]
    return (skill.name, *(arguments or filter(None, [after.robot_room])))


@dataclass(frozen=True)
class MotionForecast:
    """Forecast of a call: the scene before, the promised scene, the way between them, and its duration [s].

    `doubt` is why the motion is not foreseen, in which case the robot stays where it is; "" if it is. `event` says that
    the call ended well (`event_of`).
    """

    before: Scene
    promised: Scene
    way: MotionPath
    seconds: float
    doubt: str = ""
    event: tuple[str, ...] = ()

    def lying(self, done: float) -> Scene:
        """Return the scene, with the robot as before, when the fraction `done` (0 to 1) of the effects has happened."""
        if done in (0.0, 1.0):
            return self.promised if done else self.before
        pairs = zip(self.before.objects, self.promised.objects, strict=True)
        return replace(self.before, objects=tuple(_part_way(a, b, done) for a, b in pairs))

    def times(self) -> tuple[float, ...]:
        """Return when the robot reaches each point of the way at a steady speed [s after the start]."""
        legs = [dist(a.position, b.position) for a, b in pairwise(self.way.points)]
        *_, total = gone = tuple(accumulate(legs, initial=0.0))
        return tuple(self.seconds * (done / total) if total else 0.0 for done in gone)

    def at(self, point: Waypoint, time: float) -> Scene:
        """Return the scene at one point of the way, at `time` [s], with what the robot carries."""
        base = self.lying(point.done) if point.base is None else driven_to(self.before, point.base)
        scene = replace(base, time=time, robot=Pose(point.position), held=point.holds or base.held)
        if not scene.held:
            return scene
        (x, y, z), (dx, dy, dz) = point.position, point.carries
        return scene.with_object(replace(base.find(scene.held), position=(x + dx, y + dy, z + dz)))

    @cached_property
    def after(self) -> Scene:
        """Scene after the call."""
        ended = self.before.time + self.seconds
        if not self.way.points:  # the robot's position is unknown
            return replace(self.promised, time=ended)
        scene = self.at(self.way.points[-1], ended)
        return replace(scene, robot=self.promised.robot) if scene.building else scene  # with the promised heading

    @cached_property
    def scenes(self) -> tuple[Scene, ...]:
        """Scenes at the points of the way, the last one after the call."""
        way = zip(self.way.points[:-1], self.times()[:-1], strict=True) if self.way.points else ()
        return (*(self.at(point, self.before.time + gone) for point, gone in way), self.after)

    def moments(self, origins: Mapping[str, Vector3]) -> tuple[Moment, ...]:
        """Return the moments of the call, with the event in one moment at the end.

        `origins` are the positions of objects when the plan began [m].
        """
        *way, after = (Moment(scene, origins) for scene in self.scenes)
        return (*way, replace(after, events=frozenset([self.event])), after)


def foresee_motion(
    skill: Signature,
    values: Mapping[str, Argument],
    before: Scene,
    origins: Mapping[str, Vector3],
    every_point: bool = True,
    zones: tuple[Zone, ...] = (),
    limit: float = inf,
    dense: bool = True,
) -> MotionForecast:
    """Forecast the way that a call of `skill` takes.

    Args:
        values: Arguments of the call, in base words.
        before: Scene in which the call starts.
        origins: Position of each object when it last lay on its own [m].
        every_point: Whether the way must be exact; otherwise it has only its corners, and a mobile robot's sequence of
            rooms is right.
        zones: Regions that the robot avoids, besides those off limits in the scene.
        limit: Speed limit of the robot [m/s].
        dense: Whether an exact way has a point for every few centimetres instead of only its corners.

    Raises:
        InputError: No way leads to the target.
        SkillError: No way leads around the zones.
    """
    zones = (*before.off_limits, *zones)
    promised = predict(before, goals_of(skill, "", values, before, origins), zones)
    way, doubt = _way(skill, SkillCall(values, before, promised, zones, every_point))
    if every_point and dense:
        way = densify(way, BASE_SPACING if before.building else ARM_SPACING)
    waiting = values.get("seconds", 0.0)
    usual, share = (BASE_SPEED, BASE_SHARE) if before.building else (ARM_SPEED, ARM_SHARE)
    seconds = way.metres / min(usual, share * limit) + (FINGERS_TIME if before.held != promised.held else 0.0)
    seconds += float(waiting) if isinstance(waiting, int | float) else 0.0
    return MotionForecast(before, promised, way, seconds, doubt, event_of(skill, values, promised))


def _way(skill: Signature, call: SkillCall) -> tuple[MotionPath, str]:
    """Return the way of a call; without a forecast, or with a faulty one, an empty way and the reason."""
    try:
        way = skill.forecast(call) if skill.forecast is not None else None
    except SkillError as error:
        if error.code is not SkillErrorCode.SKILL_FAULT:
            raise
        return MotionPath((), 0.0), str(error)
    return (MotionPath((), 0.0), no_forecast(skill)) if way is None else (way, "")


def no_forecast(skill: Signature) -> str:
    """Return the doubt about the motion of a skill that does not predict it."""
    return f"how {skill.name} moves is found as it runs"


def drawn_ways(
    steps: Iterable[PlanStep],
    skills: Mapping[str, Signature],
    scene: Scene,
    origins: Mapping[str, Vector3],
    viewpoint: Viewpoint = BEHIND,
) -> Iterator[tuple[PlanStep, tuple[Vector3, ...]]]:
    """Yield each step with the points [m] by which its way is drawn; arguments as `forecasts_of`."""
    apart = BASE_APART if scene.building else ARM_APART
    for step, foreseen in forecasts_of(steps, skills, scene, origins, viewpoint):
        yield step, tuple(point.position for point in densify(foreseen.way, apart).points)


def forecasts_of(
    steps: Iterable[PlanStep],
    skills: Mapping[str, Signature],
    scene: Scene,
    origins: Mapping[str, Vector3],
    viewpoint: Viewpoint = BEHIND,
) -> Iterator[tuple[PlanStep, MotionForecast]]:
    """Yield each step with its forecast, up to the first one that cannot be foreseen.

    Args:
        steps: Steps to come, from `scene` on.
        skills: Skills by name.
        scene: Scene before the first step.
        origins: Position of each object when it last lay on its own [m].
        viewpoint: Viewpoint of the arguments.
    """
    for step in steps:
        try:
            values = in_base_words(skills[step.skill], step.arguments, viewpoint)
            foreseen = foresee_motion(skills[step.skill], values, scene, origins, dense=False)
        except (KeyError, LlmPlannerError):
            return
        yield step, foreseen
        scene = foreseen.after


def _part_way(before: SceneObject, after: SceneObject, share: float) -> SceneObject:
    if before.position == after.position:
        return before
    (ax, ay, az), (bx, by, bz) = before.position, after.position
    return replace(before, position=(ax + share * (bx - ax), ay + share * (by - ay), az + share * (bz - az)))
