"""The rules of a plan under way, and the manner that the person wants, as patches of what its motion has to keep:
offered, renewed and withdrawn.

What the step under way is about to bring about: the letters on its way, each with where the robot is by then.

A rule such as `moved(block) -> speed(robot) < 0.1` binds a robot that has slowed down when the block begins to move; by
then it is too late to begin.

What the controller has to keep now for the rules of a plan: zones, speed limits, and what no limit of it can keep.

Which propositions a rule obliges to is the business of `obligations`; here each of them becomes a limit of the motion,
in the scene as it is.

What a rule asks of the motion at this moment, read off its automaton and nothing else.

Some propositions of a letter follow from how the robot moves: where it is, how fast. For each state of a monitor some
ways to choose them lead on and others kill the automaton. An obligation is a choice that, as long as it is kept, leaves
every other choice free: `G !near(robot, vase)` obliges to stay away, `speed(robot) < 0.1 U holding(mug)` to be slow
until the mug is held, `near(robot, person) -> speed(robot) < 0.1` to one of the two. No shape of a formula is known
here: sets of choices without a fatal one are all that counts (the states from which a monitor can still accept; Bauer,
Leucker and Schallhart 2011, and the safety shields of Alshiekh et al., arXiv 1708.08611).
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
from llm_planner.plans.trace import letter, pass_through
from llm_planner.scene.geometry import half_extents
from llm_planner.scene.names import the
from llm_planner.scene.propositions import ROBOT, Moment, Proposition, parse_proposition
from llm_planner.scene.scene import Pose, Room, Scene, Vector3
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.skills.contract import SkillError

SOON_ARM, SOON_BASE = 0.12, 0.8  # [m] before the robot is there: enough to brake from full speed


@dataclass(frozen=True)
class Turn:
    """The robot should be at `position` [m] when a scene first shows `letter`."""

    position: Vector3
    letter: Letter


def turns_of(state: Execution) -> tuple[Turn, ...]:
    """The changes of letters on the way of the step that has just been started; none where no way is foreseen."""
    if state.run is None or state.scene is None or not state.watch.watched:
        return ()
    skill, step = state.interpreter.program.skills[state.run.step.skill], state.run.step
    values = in_base_words(skill, step.arguments, state.viewpoint)
    try:
        every_point, zones = state.watch.needs_every_point, state.run.zones
        passage = pass_through(skill, values, state.scene, state.origins, every_point, zones)
    except (InputError, SkillError):
        return ()
    found, before = list[Turn](), state.watch.trace[-1:]
    for moment in passage.moments(state.watch.origins):
        shown = letter(moment, state.watch.propositions)
        if (shown,) != before and moment.scene.robot is not None:
            found.append(Turn(moment.scene.robot.position, shown))
        before = (shown,)
    return tuple(found)


def imminent(turns: tuple[Turn, ...], scene: Scene) -> tuple[Letter, ...]:
    """The letters of those turns that the robot is close to in `scene`."""
    if scene.robot is None:
        return ()
    soon = SOON_BASE if scene.building else SOON_ARM
    return tuple(turn.letter for turn in turns if dist(turn.position, scene.robot.position) <= soon)


MOST_CHOICES = 256  # that are tried before a proposition counts as one that matters


@dataclass(frozen=True)
class Lever:
    """A proposition that the controller has a hand in: it can be kept at `value`, at a `price` (what it costs the
    motion; of two ways to keep a rule the cheaper one is taken)."""

    proposition: str
    value: bool
    price: float


@dataclass(frozen=True)
class Obligation:
    """The proposition has to have this value as long as nothing else changes; `kept_by_motion` says whether the
    controller can see to it."""

    proposition: str
    value: bool
    kept_by_motion: bool = True


def obligations(
    monitor: Monitor, seen: Letter, levers: Iterable[Lever], ahead: Iterable[Letter] = ()
) -> tuple[Obligation, ...]:
    """What the motion has to keep after the letter `seen`, the last that `monitor` has read.

    `ahead` are letters that the robot is about to bring about: whichever of them comes first is reckoned with, too,
    where something can be done about it. Empty where the rule is lost, or kept whatever comes.
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
    # What the aims rest on has yet to come true: what has kept the rule up to now is kept until then.
    kept = (one for one in now.cover(present, own) if one.kept_by_motion)
    return tuple(dict.fromkeys((*aims, *kept)))


class _Choices:
    """Which choices of the levers lead on from the monitor's state, whichever of the other letters comes."""

    def __init__(self, monitor: Monitor, rests: Sequence[Letter]) -> None:
        self._monitor, self._rests = monitor, rests
        self._known: dict[Letter, bool] = {}

    def lead_on(self, choice: Letter) -> bool:
        """Whether none of them is fatal; what cannot occur does no harm."""
        if choice not in self._known:
            self._known[choice] = not any(map(self._fatal, (rest | choice for rest in self._rests)))
        return self._known[choice]

    def _fatal(self, letter: Letter) -> bool:
        return self._monitor.can_occur(letter) and self._monitor.doomed_by(letter)

    def cover(self, choice: Letter, levers: Sequence[Lever]) -> tuple[Obligation, ...]:
        """A smallest part of `choice` that is enough, the dearest left out first."""
        able = {lever.proposition: lever.value == (lever.proposition in choice) for lever in levers}
        dearest = sorted(levers, key=lambda lever: lever.price if able[lever.proposition] else inf, reverse=True)
        free: tuple[str, ...] = ()
        for name in (lever.proposition for lever in dearest):
            if 2 ** (len(free) + 1) <= MOST_CHOICES and all(map(self.lead_on, _choices(choice, (*free, name)))):
                free = (*free, name)
        fixed = sorted(able.keys() - free)
        return tuple(Obligation(name, name in choice, able[name]) for name in fixed)


def _choices(choice: Letter, free: Sequence[str]) -> Iterator[Letter]:
    """Those that differ from `choice` in the free ones only."""
    rest = choice.difference(free)
    for values in product((False, True), repeat=len(free)):
        yield rest.union(name for name, value in zip(free, values, strict=True) if value)


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


VALID_FOR = 4.0  # [s] of a patch: longer than a skill goes on when the executor that asked for it is gone
RENEWED_AFTER = 0.4  # [s]
STILL = 0.002  # [m] that a thing may move before its zone does
SHOWN = 200  # letters of a rule's words
FASTEST = 5.0  # [m/s] a limit above it binds no robot of ours


class MotionRules:
    """Of one plan, for its whole run; single-owner. `epoch` rises with each run."""

    def __init__(self, epoch: int = 0) -> None:
        self._epoch = epoch
        self._step = ""
        self._turns: tuple[Turn, ...] = ()
        self._offered: dict[str, Patch] = {}

    def patches(self, state: Execution, now: float) -> tuple[Patch, ...]:
        """What has to be said at `now` [s, robot time], one patch a rule: what is new, what runs out, what is over."""
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
        for number, binding in enumerate(bindings(state.watch, state.scene, self._ahead(state, state.scene)), start=1):
            for patch in self._patches(f"rule {number}", binding, now):
                yield patch.source, patch

    def _ahead(self, state: Execution, scene: Scene) -> tuple[frozenset[str], ...]:
        """What the step under way is about to bring about; its way is foreseen once, when it has just begun."""
        step = state.run.step.id if state.run and state.phase is Phase.RUNNING else ""
        if step != self._step:
            self._step, self._turns = step, turns_of(state) if step else ()
        return imminent(self._turns, scene)

    def _patches(self, rule: str, binding: Binding, now: float) -> Iterator[Patch]:
        """One, but for zones that are too many for it."""
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
        return len(said.zones) != len(patch.zones) or not all(map(_same, said.zones, patch.zones))


def _same(a: Zone, b: Zone) -> bool:
    """Whether the zone is where it was."""
    moved = dist(a.pose.position, b.pose.position) > STILL or dist(a.size, b.size) > STILL
    return not moved and replace(a, size=b.size, pose=b.pose) == b
