"""Limits of the motion for the constraints of a running plan: from monitor states to zones, speed limits and patches.

Some propositions of a letter follow from the robot's motion: its position and speed. For each state of a monitor some
choices of them kill the automaton. An obligation is a choice that leaves every other choice free as long as it holds:
`G !near(robot, vase)` obliges to stay away, `speed(robot) < 0.1 U holding(mug)` to be slow until the mug is held,
`near(robot, person) -> speed(robot) < 0.1` to one of the two. Obligations follow from the sets of choices without a
fatal one, whatever the shape of the formula (states from which a monitor can still accept: Bauer, Leucker and
Schallhart 2011; safety shields: Alshiekh et al., arXiv:1708.08611).

A rule such as `moved(block) -> speed(robot) < 0.1` requires that the robot has slowed down before the block moves. The
letters that the current step is about to cause therefore count in advance. `bindings` turns obligations into limits in
the current scene, and `MotionRules` issues, renews and withdraws them as patches, with the manner of the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import dist, inf

from llm_planner.control.motion_constraints import MOST_ZONES, Patch
from llm_planner.errors import InputError
from llm_planner.execution.execution_state import Execution, Phase
from llm_planner.execution.watch import Watch, Watched
from llm_planner.ltl.alphabet import Letter
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.monitor import Monitor, Verdict
from llm_planner.ltl.scene_letters import as_measure, margin_of
from llm_planner.plans.plan import in_base_words
from llm_planner.plans.trace import foresee_motion, letter
from llm_planner.scene.driven_base import arm_frame, zones_seen_from
from llm_planner.scene.geometry import half_extents
from llm_planner.scene.names import the
from llm_planner.scene.propositions import ROBOT, Moment, Proposition, parse_proposition
from llm_planner.scene.scene import Pose, Scene, Vector3
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.skills.contract import SkillError

SOON_ARM, SOON_BASE = 0.12, 0.8  # [m] look-ahead distance: enough to brake from full speed


@dataclass(frozen=True)
class Turn:
    """A predicted change of letters: the robot is near `position` [m] when a scene first shows `letter`."""

    position: Vector3
    letter: Letter


def turns_of(state: Execution) -> tuple[Turn, ...]:
    """Forecast the changes of letters in the step that has just started; empty if there is no forecast."""
    if state.run is None or state.scene is None or not state.watch.watched:
        return ()
    skill, step = state.interpreter.program.skills[state.run.step.skill], state.run.step
    values = in_base_words(skill, step.arguments, state.viewpoint)
    try:
        every_point, zones = state.watch.needs_every_point, state.run.zones
        foreseen = foresee_motion(skill, values, state.scene, state.origins, every_point, zones)
    except (InputError, SkillError):
        return ()
    found, before = list[Turn](), state.watch.trace[-1:]
    for moment in foreseen.moments(state.watch.origins):
        shown = letter(moment, state.watch.propositions)
        if (shown,) != before and moment.scene.robot is not None:
            found.append(Turn(moment.scene.robot.position, shown))
        before = (shown,)
    return tuple(found)


def imminent(turns: tuple[Turn, ...], scene: Scene) -> tuple[Letter, ...]:
    """Return the letters of the turns that the robot is close to in `scene`."""
    if scene.robot is None:
        return ()
    soon = SOON_BASE if scene.building else SOON_ARM
    return tuple(turn.letter for turn in turns if dist(turn.position, scene.robot.position) <= soon)


MOST_CHOICES = 256  # choices that are tried before a proposition counts as relevant


@dataclass(frozen=True)
class Lever:
    """Proposition that the controller can keep at `value`; `price` ranks alternatives by their cost to the motion."""

    proposition: str
    value: bool
    price: float


@dataclass(frozen=True)
class Obligation:
    """Value that a proposition must keep while nothing else changes, and whether the controller can ensure it."""

    proposition: str
    value: bool
    kept_by_motion: bool = True


def obligations(
    monitor: Monitor, seen: Letter, levers: Iterable[Lever], ahead: Iterable[Letter] = ()
) -> tuple[Obligation, ...]:
    """Return what the motion must keep after a letter; empty if the rule is lost or can no longer be broken.

    Args:
        monitor: Monitor of the rule.
        seen: Last letter that the monitor has read.
        levers: Propositions that the controller can influence.
        ahead: Letters that the robot is about to cause. Any of them may come first, and obligations cover them if
            possible.
    """
    own = tuple(lever for lever in levers if lever.proposition in monitor.formula.propositions)
    if not own or monitor.verdict is not Verdict.PENDING:
        return ()
    names = frozenset(lever.proposition for lever in own)
    best, present = frozenset(lever.proposition for lever in own if lever.value), seen & names
    now = _Choices(monitor, (seen - names,))
    soon = _Choices(monitor, tuple(dict.fromkeys((seen - names, *(letter - names for letter in ahead)))))
    if not soon.lead_on(best):
        soon = now
    if not soon.lead_on(best):
        return now.cover(present, own)
    aims = soon.cover(best, own)
    if all((one.proposition in present) == one.value for one in aims):
        return aims
    # The aims do not hold yet: until they do, keep what has kept the rule so far.
    kept = (one for one in now.cover(present, own) if one.kept_by_motion)
    return tuple(dict.fromkeys((*aims, *kept)))


class _Choices:
    """Decides which choices of the levers are safe from the monitor's state, for all given remaining letters."""

    def __init__(self, monitor: Monitor, rests: Sequence[Letter]) -> None:
        self._monitor, self._rests = monitor, rests
        self._known: dict[Letter, bool] = {}

    def lead_on(self, choice: Letter) -> bool:
        """Return whether no remaining letter makes the choice fatal; impossible letters do not count."""
        if choice not in self._known:
            possible = (letter for rest in self._rests if self._monitor.can_occur(letter := rest | choice))
            self._known[choice] = not any(map(self._monitor.doomed_by, possible))
        return self._known[choice]

    def cover(self, choice: Letter, levers: Sequence[Lever]) -> tuple[Obligation, ...]:
        """Return a smallest sufficient part of `choice`, without the most expensive levers where possible."""
        able = {lever.proposition: lever.value == (lever.proposition in choice) for lever in levers}
        dearest = sorted(levers, key=lambda lever: lever.price if able[lever.proposition] else inf, reverse=True)
        free: tuple[str, ...] = ()
        for name in (lever.proposition for lever in dearest):
            if 2 ** (len(free) + 1) <= MOST_CHOICES and all(map(self.lead_on, _choices(choice, (*free, name)))):
                free = (*free, name)
        fixed = sorted(able.keys() - free)
        return tuple(Obligation(name, name in choice, able[name]) for name in fixed)


def _choices(choice: Letter, free: Sequence[str]) -> Iterator[Letter]:
    """Iterate over the choices that differ from `choice` in the free propositions only."""
    rest = choice.difference(free)
    for values in product((False, True), repeat=len(free)):
        yield rest.union(name for name, value in zip(free, values, strict=True) if value)


SPEED_SHARE = 0.9  # fraction of a rule's bound sent to the controller, which may overshoot briefly
LEAST_SPEED = 0.03  # [m/s] below this speed a skill considers the robot stuck
WIDE_ARM, WIDE_BASE = 0.2, 1.2  # [m] distance to a zone at which a robot at full speed must start to brake
TALL = 5.0  # [m] half height of a zone that nothing passes over or under
THIN = 1e-3  # [m] least half size of a zone
# Prices: preferred speed limit, distant zone, speed limit, close zone, zone that the robot is in.
_LEAST, _FREE, _SLOW, _BLOCKED, _INSIDE = -1.0, 0.0, 1.0, 2.0, 3.0


@dataclass(frozen=True)
class Binding:
    """Limits that one rule puts on the motion now; `speed` is the bound of the rule itself [m/s].

    `beyond` are the obligations that no limit can keep: "in(robot, lab)", "not speed(robot) < 0.2".
    """

    constraint: Constraint
    speed: float = inf
    zones: tuple[Zone, ...] = ()
    beyond: tuple[str, ...] = ()

    @property
    def limit(self) -> float:
        """Speed limit for the controller [m/s], below the rule's bound so that the rule holds."""
        return SPEED_SHARE * self.speed


def bindings(
    watch: Watch, scene: Scene, ahead: Iterable[Letter] = (), rather_slow: bool = False
) -> tuple[Binding, ...]:
    """Return the limits of each rule.

    Args:
        watch: Monitors, which have read all scenes so far.
        scene: The last scene that `watch` has read.
        ahead: Letters that the robot is about to cause; see `obligations`.
        rather_slow: Prefer a speed limit wherever either a low speed or a distance keeps a rule, so that the zones are
            those to avoid at any speed. Otherwise such a rule gives a zone far away from it and a speed limit close by.
    """
    soon, levers = tuple(ahead), levers_of(watch, scene)
    if rather_slow:
        levers = tuple(replace(lever, price=_LEAST) if lever.price == _SLOW else lever for lever in levers)
    return tuple(_binding(one, levers, scene, soon) for one in watch.watched)


def limit_of(watch: Watch, scene: Scene) -> float:
    """Return the speed limit of all rules [m/s], infinite if there is none."""
    return min((one.limit for one in bindings(watch, scene)), default=inf)


def levers_of(watch: Watch, scene: Scene) -> tuple[Lever, ...]:
    """Return the propositions that the controller can influence, with their values and prices."""
    moment = Moment(scene, watch.origins)
    return tuple(lever for item in watch.propositions if (lever := _lever(item, moment)) is not None)


def _lever(item: Proposition, moment: Moment) -> Lever | None:
    if item.predicate == "speed":
        return Lever(str(item), item.comparison == "<", _SLOW)
    if not _is_of_place(item, moment.scene):
        return None
    inside = margin_of(item, moment)  # of the zone or of its outside
    outside = as_measure(item, moment.scene).comparison == ">"
    gap = inside if outside else -inside
    wide = WIDE_BASE if moment.scene.building else WIDE_ARM
    return Lever(str(item), outside, _INSIDE if gap < 0 else _BLOCKED if gap < wide else _FREE)


def _is_of_place(item: Proposition, scene: Scene) -> bool:
    """Return whether it relates the robot's position to a room or to a visible object that is not held."""
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
    for obligation in obligations(one.monitor, one.seen, levers, (one_ahead & own for one_ahead in ahead)):
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
    """Iterate over solids whose avoidance keeps the proposition at `value`; empty if no solid does."""
    measure = as_measure(item, scene)
    if item.predicate == "in" and scene.building:
        for room in scene.building.rooms:
            if (room.name == item.arguments[1]) != value:
                area = room.area
                half = (area.x_max - area.x_min) / 2, (area.y_max - area.y_min) / 2, TALL
                yield Zone(the(room.name), Shape.BOX, half, Pose((*area.center, 0.0)), 0.0, Subject.GRIPPER)
    elif item.predicate == "over" and not value:
        yield _box(item.arguments[1], scene, 0.0, is_tall=True)
    elif measure.predicate == "distance" and (measure.comparison == ">") == value:
        yield _box(item.arguments[1], scene, measure.bound, is_tall=scene.building is not None)


def _box(name: str, scene: Scene, clearance: float, is_tall: bool) -> Zone:
    """Return the box to which `near`, `over` and `distance` measure: upright, along the axes of the scene."""
    thing = scene.find(name)
    x, y, z = half_extents(thing)
    size = max(x, THIN), max(y, THIN), TALL if is_tall else max(z, THIN)
    return Zone(the(name), Shape.BOX, size, Pose(thing.position), clearance, Subject.GRIPPER)


VALID_FOR = 4.0  # [s] lifetime of a patch: longer than a skill continues after its executor is gone
RENEWED_AFTER = 0.4  # [s]
STILL = 0.002  # [m] motion of an object below which its zone stays
SHOWN = 200  # longest quoted text of a rule [characters]
FASTEST = 5.0  # [m/s] a higher limit has no effect on any supported robot


class MotionRules:
    """Patches of one plan for its whole run; not thread-safe. `epoch` increases with each run."""

    def __init__(self, epoch: int = 0) -> None:
        self._epoch = epoch
        self._step = ""
        self._turns: tuple[Turn, ...] = ()
        self._offered: dict[str, Patch] = {}

    def patches(self, state: Execution, now: float) -> tuple[Patch, ...]:
        """Return the patches to publish at `now` [s, robot time]: those new, due for renewal, or withdrawn."""
        wanted = dict(self._wanted(state, now))
        over = [source for source in self._offered if source not in wanted]
        due = [patch for source, patch in wanted.items() if self._is_due(self._offered.get(source), patch)]
        self._offered = {source: patch for source, patch in self._offered.items() if source in wanted}
        self._offered |= {patch.source: patch for patch in due}
        return (*due, *(Patch(source, now, now + VALID_FOR, self._epoch) for source in over))

    def _wanted(self, state: Execution, now: float) -> Iterator[tuple[str, Patch]]:
        if state.scene is None or state.phase is Phase.ENDED:
            return
        step = state.run.step.id if state.run else ""
        manner = state.manner.patch(state.scene.robot_kind, step, now, now + VALID_FOR, self._epoch)
        if not manner.says_nothing:
            yield manner.source, manner
        running = step if state.phase is Phase.RUNNING else ""
        if running != self._step:  # a step is forecast once, at its start
            self._step, self._turns = running, turns_of(state) if running else ()
        ahead = imminent(self._turns, state.scene)
        for number, binding in enumerate(bindings(state.watch, state.scene, ahead), start=1):
            for patch in self._patches(f"rule {number}", binding, now):
                yield patch.source, patch

    def _patches(self, rule: str, binding: Binding, now: float) -> Iterator[Patch]:
        """Split a binding into patches of at most `MOST_ZONES` zones."""
        speed, words = binding.limit if binding.limit < FASTEST else None, binding.constraint.words[:SHOWN]
        if speed is None and not binding.zones:
            return
        for k in range(0, max(1, len(binding.zones)), MOST_ZONES):
            source = f"{rule}, {k // MOST_ZONES + 1}: {words}" if k else f"{rule}: {words}"
            zones = binding.zones[k : k + MOST_ZONES]
            yield Patch(source, now, now + VALID_FOR, self._epoch, speed, zones=zones)

    def _is_due(self, said: Patch | None, patch: Patch) -> bool:
        if said is None or patch.stamp - said.stamp >= RENEWED_AFTER:
            return True
        if (said.speed, said.clearance) != (patch.speed, patch.clearance):
            return True
        return len(said.zones) != len(patch.zones) or any(map(_has_moved, said.zones, patch.zones))


def in_fixed_frame(patch: Patch, scene: Scene) -> Patch:
    """Return a patch in a frame that stays: the map, if a base drives the arm of `scene`, else that of the scene."""
    if scene.base is None:
        return patch
    return replace(patch, zones=zones_seen_from(patch.zones, arm_frame(scene.base)))


def _has_moved(a: Zone, b: Zone) -> bool:
    is_still = dist(a.pose.position, b.pose.position) <= STILL and dist(a.size, b.size) <= STILL
    return not (is_still and replace(a, size=b.size, pose=b.pose) == b)
