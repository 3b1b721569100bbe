"""What a skill call leads the robot through, before anything moves: scenes along the way, and their letters.

A forecast of the motion, as the shipped skills move: an arm rises, swings over at its travelling height, goes down and
rises again; a mobile robot drives the shortest way through the doors. Speeds are not forecast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import dist, inf

from llm_planner.ltl.alphabet import Letter, Trace
from llm_planner.plans.motion_forecast import Way, Waypoint, arm_way, base_way, densify
from llm_planner.plans.plan import goals_of
from llm_planner.plans.prediction import predict
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.propositions import Moment, Proposition, holds
from llm_planner.scene.scene import Pose, Scene, SceneObject, Vector3
from llm_planner.scene.zones import Zone

ARM_SPEED = 0.18  # [m/s] of the hand, on average over a movement that begins and ends at rest
BASE_SPEED = 0.85  # [m/s] of a mobile robot, likewise
ARM_SHARE, BASE_SHARE = 0.5, 0.85  # of a speed limit, on average: a hand has many short ways from rest to rest
FINGERS_TIME = 0.6  # [s] to close or open them
ARM_SPACING, BASE_SPACING = 0.02, 0.1  # [m] between the points at which distances are judged
_GEOMETRIC = frozenset({"near", "over", "distance"})


@dataclass(frozen=True)
class Passage:
    """The scenes that a call leads through, in order; the last is the one after it. `event` is that it ended well.

    The robot travels `metres` (the hand of an arm) and takes `seconds`, roughly.
    """

    scenes: tuple[Scene, ...]
    event: tuple[str, ...]
    metres: float
    seconds: float

    def moments(self, origins: Mapping[str, Vector3]) -> tuple[Moment, ...]:
        """`origins`: where each object lay when the plan began [m]. The event shows for one moment, at the end."""
        *way, after = (Moment(scene, origins) for scene in self.scenes)
        return (*way, replace(after, events=frozenset([self.event])), after)


def letter(moment: Moment, propositions: Sequence[Proposition]) -> Letter:
    """Those of the propositions that the moment shows."""
    return frozenset(str(item) for item in propositions if holds(item, moment))


def without_repeats(letters: Sequence[Letter]) -> Trace:
    """The trace of a run: one letter for every change."""
    return tuple(a for k, a in enumerate(letters) if k == 0 or a != letters[k - 1])


def needs_every_point(propositions: Sequence[Proposition]) -> bool:
    """Whether any of them speaks of how far the robot is from something, which changes along every line."""
    return any(item.predicate in _GEOMETRIC for item in propositions)


def event_of(skill: Signature, values: Mapping[str, Argument], after: Scene) -> tuple[str, ...]:
    """What `did(...)` says of a call: the skill and its first argument, or the room where one without any was done."""
    arguments = [str(values[parameter.name]) for parameter in skill.parameters if parameter.name in values]
    return (skill.name, *(arguments or filter(None, [after.robot_room])))


@dataclass(frozen=True)
class Foreseen:
    """What a call promises and the way that it takes there, in `seconds`, roughly."""

    before: Scene
    promised: Scene
    way: Way
    seconds: float

    def lying(self, done: float) -> Scene:
        """The scene but for the robot when that share of what is promised has happened, from 0 to 1."""
        if done in (0.0, 1.0):
            return self.promised if done else self.before
        pairs = zip(self.before.objects, self.promised.objects, strict=True)
        return replace(self.before, objects=tuple(_part_way(a, b, done) for a, b in pairs))

    def times(self) -> tuple[float, ...]:
        """When each point of the way is reached [s after the start], at a steady speed; never after `seconds`."""
        legs = [dist(a.position, b.position) for a, b in pairwise(self.way.points)]
        *_, total = gone = tuple(accumulate(legs, initial=0.0))
        return tuple(self.seconds * (done / total) if total else 0.0 for done in gone)


def foresee(
    skill: Signature,
    values: Mapping[str, Argument],
    before: Scene,
    origins: Mapping[str, Vector3],
    every_point: bool = True,
    zones: tuple[Zone, ...] = (),
    limit: float = inf,
) -> Foreseen:
    """The corners of the way that calling `skill` in `before` should take. `values` are in base words.

    Without `every_point` a mobile robot's way is right as to rooms only. `origins` says where each object last lay on
    its own [m]; `zones` what the robot keeps out of; `limit` how fast the robot may move [m/s]. Raises InputError
    when no way leads there, and SkillError when none does around the zones.
    """
    promised = predict(before, goals_of(skill, "", values, before, origins), zones)
    if before.building:
        way = base_way(before, promised, every_point, zones)
    else:
        way = arm_way(skill, values, before, promised, zones)
    return Foreseen(before, promised, way, _seconds(values, before, promised, way.metres, limit))


def pass_through(
    skill: Signature,
    values: Mapping[str, Argument],
    before: Scene,
    origins: Mapping[str, Vector3],
    every_point: bool = True,
    zones: tuple[Zone, ...] = (),
    limit: float = inf,
) -> Passage:
    """The scenes that the call should lead through; raises as `foresee`, whose arguments these are.

    Without `every_point` only the corners of the way are given, among them one point in each room.
    """
    foreseen = foresee(skill, values, before, origins, every_point, zones, limit)
    if every_point:
        foreseen = replace(foreseen, way=densify(foreseen.way, BASE_SPACING if before.building else ARM_SPACING))
    scenes = _scenes(foreseen)
    return Passage(scenes, event_of(skill, values, scenes[-1]), foreseen.way.metres, foreseen.seconds)


def _seconds(values: Mapping[str, Argument], before: Scene, after: Scene, metres: float, limit: float) -> float:
    waiting = values.get("seconds", 0.0)
    fingers = FINGERS_TIME if before.held != after.held else 0.0
    usual, share = (BASE_SPEED, BASE_SHARE) if before.building else (ARM_SPEED, ARM_SHARE)
    speed = min(usual, share * limit)
    return metres / speed + fingers + (float(waiting) if isinstance(waiting, int | float) else 0.0)


def _scenes(foreseen: Foreseen) -> tuple[Scene, ...]:
    """The robot at each point with what it carries there; things lie where they are promised once it let go."""
    began = foreseen.before.time
    times = foreseen.times()[:-1]
    way = zip(foreseen.way.points[:-1], times, strict=True) if foreseen.way.points else ()
    return (*(scene_at(foreseen, point, began + after) for point, after in way), last_scene(foreseen))


def last_scene(foreseen: Foreseen) -> Scene:
    """The scene after the call."""
    ended = foreseen.before.time + foreseen.seconds
    if not foreseen.way.points:  # nobody knows where the robot is
        return replace(foreseen.promised, time=ended)
    scene = scene_at(foreseen, foreseen.way.points[-1], ended)
    return replace(scene, robot=foreseen.promised.robot) if scene.building else scene  # a base faces as is promised


def scene_at(foreseen: Foreseen, point: Waypoint, time: float) -> Scene:
    """The scene at one point of the way, at `time` [s]."""
    base = foreseen.lying(point.done)
    scene = replace(base, time=time, robot=Pose(point.position), held=point.holds or base.held)
    return _carried(scene, base, point) if scene.held else scene


def _part_way(before: SceneObject, after: SceneObject, share: float) -> SceneObject:
    if before.position == after.position:
        return before
    (ax, ay, az), (bx, by, bz) = before.position, after.position
    return replace(before, position=(ax + share * (bx - ax), ay + share * (by - ay), az + share * (bz - az)))


def _carried(scene: Scene, base: Scene, point: Waypoint) -> Scene:
    item = base.find(scene.held)
    x, y, z = point.position
    dx, dy, dz = point.carries
    return scene.with_object(replace(item, position=(x + dx, y + dy, z + dz)))
