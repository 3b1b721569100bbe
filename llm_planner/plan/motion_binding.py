"""What the controller has to keep now for the rules of a plan: zones, speed limits, and what no limit of it can keep.

Which propositions a rule obliges to is the business of `obligations`; here each of them becomes a limit of the motion,
in the scene as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf

from llm_planner.control.zones import Shape, Subject, Zone
from llm_planner.plan.obligations import Lever, Obligation, obligations
from llm_planner.plan.watch import Watch, Watched
from llm_planner.temporal.alphabet import Letter
from llm_planner.temporal.constraint import Constraint
from llm_planner.world.building import Room
from llm_planner.world.geometry import half_extents
from llm_planner.world.margins import margin_of
from llm_planner.world.names import the
from llm_planner.world.occurring import as_measure
from llm_planner.world.propositions import ROBOT, Moment, Proposition, parse_proposition
from llm_planner.world.scene import Pose, Scene

SPEED_SHARE = 0.9  # of a rule's bound is told to the controller, which may exceed what it is told for moments
LEAST_SPEED = 0.03  # [m/s] slower than this a skill takes a moving robot for a stuck one
WIDE_ARM, WIDE_BASE = 0.2, 1.2  # [m] from a zone's edge to where a robot at full speed has to begin to slow down
TALL = 5.0  # [m] above and below: nothing passes over or under
THIN = 1e-3  # [m] the least half size of a zone
# Prices: of a limit where that is preferred, a zone far away, a limit, a zone close by, one to leave.
_LEAST, _FREE, _SLOW, _BLOCKED, _INSIDE = -1.0, 0.0, 1.0, 2.0, 3.0


@dataclass(frozen=True)
class Binding:
    """What one rule asks of the motion now.

    `speed` [m/s] is the rule's own bound. `beyond` are the obligations that no limit of the controller can keep, in
    words: "in(robot, lab)", "not speed(robot) < 0.2".
    """

    constraint: Constraint
    speed: float = inf
    zones: tuple[Zone, ...] = ()
    beyond: tuple[str, ...] = ()

    @property
    def limit(self) -> float:
        """What the controller is told [m/s]: less than the rule says, so that the rule is kept."""
        return SPEED_SHARE * self.speed

    @property
    def too_slow(self) -> bool:
        """Whether no skill gets anywhere at that speed."""
        return self.limit < LEAST_SPEED


def bindings(
    watch: Watch, scene: Scene, ahead: Iterable[Letter] = (), rather_slow: bool = False
) -> tuple[Binding, ...]:
    """What each rule asks for after the scenes that `watch` has seen, the last of which is `scene`.

    `ahead` are letters that the robot is about to bring about, see `obligations`. A rule that slowness keeps as well as
    distance asks for distance while the robot is far, and for slowness close by; `rather_slow`, for slowness always, so
    that the zones are what a way has to go round at any speed.
    """
    soon, levers = tuple(ahead), levers_of(watch, scene)
    if rather_slow:
        levers = tuple(replace(lever, price=_LEAST) if lever.price == _SLOW else lever for lever in levers)
    return tuple(_binding(one, levers, scene, soon) for one in watch.watched)


def limit_of(watch: Watch, scene: Scene) -> float:
    """How fast the robot may move now by all rules [m/s], infinite where none says."""
    return min((one.limit for one in bindings(watch, scene)), default=inf)


def levers_of(watch: Watch, scene: Scene) -> tuple[Lever, ...]:
    """The propositions that the controller has a hand in, at which value, and at what price."""
    moment = Moment(scene, watch.origins)
    return tuple(lever for item in watch.propositions if (lever := _lever(item, moment)) is not None)


def _lever(item: Proposition, moment: Moment) -> Lever | None:
    if item.predicate == "speed":
        return Lever(str(item), item.comparison == "<", _SLOW)
    if not _is_of_place(item, moment.scene):
        return None
    inside = margin_of(item, moment)  # of the zone, or of what is outside it
    outside = as_measure(item, moment.scene).comparison == ">"
    gap = inside if outside else -inside
    wide = WIDE_BASE if moment.scene.building else WIDE_ARM
    return Lever(str(item), outside, _INSIDE if gap < 0 else _BLOCKED if gap < wide else _FREE)


def _is_of_place(item: Proposition, scene: Scene) -> bool:
    """Whether it says where the robot is, of a thing that is here and not in its own hand, or of a room."""
    if scene.robot is None or item.arguments[0] != ROBOT:
        return False
    if item.predicate == "in":
        return scene.building is not None and item.arguments[1] in scene.building.names
    return item.predicate in ("near", "over", "distance") and item.arguments[1] in set(scene.names) - {scene.held}


def _binding(one: Watched, levers: tuple[Lever, ...], scene: Scene, ahead: tuple[Letter, ...]) -> Binding:
    binding = Binding(one.constraint)
    if one.seen is None:
        return binding
    own = frozenset(one.constraint.formula.propositions)
    for obligation in obligations(one.monitor, one.seen, levers, (letter & own for letter in ahead)):
        binding = _with(binding, obligation, scene)
    return binding


def _with(binding: Binding, obligation: Obligation, scene: Scene) -> Binding:
    item = parse_proposition(obligation.proposition)
    if item.predicate == "speed" and obligation.kept_by_motion:
        return replace(binding, speed=min(binding.speed, item.bound))
    zones = tuple(zones_for(item, obligation.value, scene)) if item.predicate != "speed" else ()
    if not zones:
        told = obligation.proposition if obligation.value else f"not {obligation.proposition}"
        return replace(binding, beyond=(*binding.beyond, told))
    return replace(binding, zones=tuple(dict.fromkeys((*binding.zones, *zones))))


def zones_for(item: Proposition, value: bool, scene: Scene) -> Iterator[Zone]:
    """Solids around which the proposition keeps that value; none where no solid does."""
    measure = as_measure(item, scene)
    if item.predicate == "in" and scene.building:
        forbidden = [room for room in scene.building.rooms if (room.name == item.arguments[1]) != value]
        yield from map(_room_zone, forbidden)
    elif item.predicate == "over" and not value:
        yield replace(_box(item.arguments[1], scene, 0.0), size=_tall(item.arguments[1], scene))
    elif measure.predicate == "distance" and (measure.comparison == ">") == value:
        zone = _box(item.arguments[1], scene, measure.bound)
        yield replace(zone, size=_tall(item.arguments[1], scene)) if scene.building else zone


def _box(name: str, scene: Scene, clearance: float) -> Zone:
    """The box by which `near`, `over` and `distance` measure: upright, along the axes of the scene."""
    thing = scene.find(name)
    x, y, z = half_extents(thing)
    size = max(x, THIN), max(y, THIN), max(z, THIN)
    return Zone(the(name), Shape.BOX, size, Pose(thing.position), clearance, Subject.GRIPPER)


def _tall(name: str, scene: Scene) -> tuple[float, float, float]:
    x, y, _ = half_extents(scene.find(name))
    return max(x, THIN), max(y, THIN), TALL


def _room_zone(room: Room) -> Zone:
    area = room.area
    half = (area.x_max - area.x_min) / 2, (area.y_max - area.y_min) / 2, TALL
    return Zone(the(room.name), Shape.BOX, half, Pose((*area.center, 0.0)), 0.0, Subject.GRIPPER)
