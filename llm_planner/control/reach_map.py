"""Where an arm rests and how far it reaches with the hand straight down, measured by the controller's kinematics.

`find_home` finds a rest posture with the hand in front of the base; `measure_reach` walks from it inwards and outwards,
at several heights, azimuths and yaws of the hand, as far as inverse kinematics converges, no link touches another, and
the safety filter, which knows links by their covers, lets the arm go.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from llm_planner.control.inverse_kinematics import IkSettings, IkSolution, InverseKinematics
from llm_planner.control.safety_filter.distances import surroundings
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmKinematics, ArmModel
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.motion import Array
from llm_planner.scene.geometry import straight_down, wxyz
from llm_planner.scene.places import WORKSPACE
from llm_planner.scene.scene import Pose, Vector3

HEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)  # [m] of the grip point
AZIMUTHS = (-1.2, 0.0, 1.2)  # [rad] of the grip point, seen from the base axis, from the middle of the workspace
ALL_AROUND = (0.0, 1.05, 2.09, 3.14, -2.09, -1.05)  # [rad] of an axis in the workspace
YAWS = (-1.57, 0.0, 1.57)  # [rad] of the hand, from the azimuth
STEP = 0.01  # [m] of the walk
COARSE = 0.05  # [m] between the places from which a reach is searched
MARGIN = 0.015  # [m] kept from the measured reach
NEAREST, FARTHEST = 0.1, 1.5  # [m] where walks end
PLACED = 1e-3  # [m] error of the position of a hand that leans
APART = 0.005  # [m] between the filter's covers of links; it brakes before they are nearer than 2 mm
TABLE = -0.002  # [m] height below which a link touches the table
SETTLING, SETTLED = 20, 1e-3  # most steps towards the posture, and the distance [rad] that counts as none
LEANS, LEANING = 0.06, 0.4  # [m] height from which, and angle by which [rad] the hand of an arm of 5 joints may lean
ALWAYS = 0.8  # share of random postures from which two links count as built into each other


def pointing(kinematics: ArmKinematics, qpos: Array) -> tuple[float, float]:
    """Return the angle [rad] between the gripper's z axis and straight down at `qpos`, and the yaw [rad]."""
    rotation = kinematics.forward(qpos)[1]
    return math.acos(min(1.0, max(-1.0, -rotation[2, 2]))), math.atan2(rotation[1, 0], rotation[0, 0])


def directions(arm: ArmModel) -> tuple[float, ...]:
    """Return the directions from the base axis [rad, frame of scenes] in which the reach of `arm` counts."""
    x, y = arm.shape.axis
    if WORKSPACE.contains(x, y):
        return ALL_AROUND
    return tuple(_heading(arm) + azimuth for azimuth in AZIMUTHS)


def _heading(arm: ArmModel) -> float:
    """Return the direction from the base axis to the middle of the workspace [rad]."""
    (x, y), (middle_x, middle_y) = arm.shape.axis, WORKSPACE.center
    return 0.0 if WORKSPACE.contains(x, y) else math.atan2(middle_y - y, middle_x - x)


def _beside(arm: ArmModel, radius: float, azimuth: float, z: float, yaw: float) -> Pose:
    x, y = arm.shape.axis
    return straight_down(x + radius * math.cos(azimuth), y + radius * math.sin(azimuth), z, yaw)


SolidBox = tuple[Pose, Vector3]  # a box: its pose in the frame of scenes, and its half extents [m]


class Touches:
    """Contacts of the links of an arm with each other, the table and boxes on it, in the model for planning.

    The hand works close to these, so that it meets only links.
    """

    def __init__(self, arm: ArmModel, boxes: Sequence[SolidBox] = ()) -> None:
        import mujoco

        spec = arm.collision_spec()
        for geom in spec.geoms:
            geom.contype, geom.conaffinity = 1, 1
        hand = spec.body(arm.hand)
        for geom in [*hand.geoms, *(geom for body in hand.bodies for geom in body.geoms)]:
            geom.contype, geom.conaffinity = 2, 1  # it works close to the table, which does not meet it
        table = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": [2.0, 2.0, 0.1], "pos": [0.0, 0.0, TABLE]}
        spec.worldbody.add_geom(name="the table", contype=4, conaffinity=1, **table)
        for pose, half in boxes:
            box = {"type": mujoco.mjtGeom.mjGEOM_BOX, "size": half, "pos": pose.position}
            spec.worldbody.add_geom(contype=4, conaffinity=1, quat=wxyz(pose.orientation), **box)
        self._mujoco, self.model = mujoco, spec.compile()
        self._data = mujoco.MjData(self.model)
        rng, limits = np.random.default_rng(0), arm.limits
        drawn = rng.uniform(limits.qpos_min, limits.qpos_max, (40, arm.nq))
        seen = [pair for qpos in drawn for pair in set(self._pairs(qpos))]
        self._built = {pair for pair in seen if seen.count(pair) >= ALWAYS * len(drawn)}

    def at(self, qpos: Array) -> list[tuple[str, str]]:
        """Return the pairs of links (or link and table) that touch at `qpos` (nq,) [rad]."""
        return sorted(set(self._pairs(qpos)) - self._built)

    def _pairs(self, qpos: Array) -> Iterator[tuple[str, str]]:
        self._data.qpos[:] = qpos
        self._mujoco.mj_kinematics(self.model, self._data)
        self._mujoco.mj_collision(self.model, self._data)
        for contact in self._data.contact[: self._data.ncon]:
            first, second = self.model.geom_bodyid[contact.geom]
            if contact.dist < 0.0 and not self._are_joined(first, second):
                yield self._name(first), self._name(second)

    def _are_joined(self, first: int, second: int) -> bool:
        """Return whether two links are one solid, or a joint is between them: MuJoCo sees that of moving ones only."""
        weld, parent = self.model.body_weldid, self.model.body_parentid
        above = (weld[parent[weld[second]]] == weld[first], weld[parent[weld[first]]] == weld[second])
        return bool(weld[first] == weld[second] or (first and second and any(above)))

    def _name(self, body: int) -> str:
        return str(self.model.body(body).name) if body else "the table"


class DownwardReach:
    """Inverse kinematics of one arm for a hand that points down."""

    def __init__(self, arm: ArmModel) -> None:
        self.arm, self.touches = arm, Touches(arm)
        self._covers = surroundings(arm_body(arm), ())
        self.kinematics = arm.kinematics()
        self.limits = LimitShare().tracking(arm.limits)
        self._ik = InverseKinematics(self.kinematics, self.limits, IkSettings.of(arm))
        self._searches = self._found = 0
        self._blocked = Counter[str]()  # what was in the way of those that were found

    def solve(self, pose: Pose, start: Array) -> Array | None:
        """Return joint positions (nq,) [rad] for `pose`, near `start`; None if links are too close there."""
        qpos = self._converged(pose, start, 1)
        return None if qpos is None or self._is_blocked(qpos) else qpos

    def settle(self, pose: Pose, start: Array) -> Array | None:
        """Return the same from a distant `start`, with joints that have a posture weight brought towards home."""
        qpos, home, weight = self._converged(pose, start, 4), np.array(self.arm.home), np.array(self.arm.posture)
        for _ in range(SETTLING):
            if qpos is None or float(np.abs(weight * (home - qpos)).max()) < SETTLED:
                break
            before = qpos
            qpos = self._converged(pose, before + 0.4 * weight * (home - before), 1)
            if qpos is None or np.abs(qpos - before).max() < SETTLED:
                qpos = before
                break
        return None if qpos is None or self._is_blocked(qpos) else qpos

    def _is_blocked(self, qpos: Array) -> bool:
        touching = self.touches.at(qpos)
        self._blocked.update(f"{first} touches {second}" for first, second in touching)
        if touching:
            return True
        is_close = self._covers.clearance(qpos) < APART
        self._blocked.update(["two links are too close for the safety filter, whose covers are wider"] * is_close)
        return is_close

    def obstacle(self) -> str:
        """Describe what was in the way of most postures that were tried: they are not reached, or links touch."""
        if not self._blocked:
            return f"inverse kinematics found none of {self._searches} postures there"
        ((what, count),) = self._blocked.most_common(1)
        return f"of {self._found} postures that reach there {count} are refused, because {what}"

    def _converged(self, pose: Pose, start: Array, tries: int) -> Array | None:
        self._searches += 1
        for _ in range(tries):
            solution = self._ik.solve(pose, start)
            if solution.converged or self._leans(pose, solution):
                self._found += 1
                return solution.qpos
            start = solution.qpos
        return None

    def _leans(self, pose: Pose, solution: IkSolution) -> bool:
        """Return whether an arm without a sixth joint is there and leans no more than is allowed at this height."""
        placed = solution.position_error < PLACED and pose.position[2] >= LEANS
        return self.arm.nq < 6 and placed and solution.rotation_error <= LEANING

    def interval(self, height: float, azimuths: Sequence[float], yaws: Sequence[float]) -> tuple[float, float] | None:
        """Return the least and largest distance [m] that the hand reaches at `height` [m], in all directions."""
        rest = self.kinematics.forward(np.array(self.arm.home))[0]
        low, far, neutral = NEAREST, FARTHEST, self.arm.shape.neutral
        middle = self._reached_near(self.arm.shape.radius(rest[0], rest[1]), height, azimuths[0], yaws[0])
        for azimuth in azimuths:
            begin = self._wrist_in_middle(height, azimuth, middle)
            if begin is None:
                return None
            for yaw in yaws:
                found = self._walks(height, azimuth, azimuth + neutral + yaw, middle, begin)
                if found is None:
                    return None
                low, far = max(low, found[0]), min(far, found[1])
                if low >= far:
                    return None
                middle = (low + far) / 2
        return low, far

    def _reached_near(self, radius: float, height: float, azimuth: float, yaw: float) -> float:
        """Return the distance nearest to `radius` [m] at which the hand is reached from home; `radius` if none is."""
        home, turned = np.array(self.arm.home), azimuth + self.arm.shape.neutral + yaw
        others = sorted(np.arange(NEAREST, FARTHEST, COARSE).tolist(), key=lambda other: abs(other - radius))
        reached = (
            r for r in (radius, *others) if self.settle(_beside(self.arm, r, azimuth, height, turned), home) is not None
        )
        return next(reached, radius)

    def _wrist_in_middle(self, height: float, azimuth: float, radius: float) -> Array | None:
        """Return joint positions from which both ends of the wrist's range are near: home, if its yaw of 0 is."""
        home, neutral = np.array(self.arm.home), self.arm.shape.neutral
        if not neutral:
            return home
        return self.settle(_beside(self.arm, radius, azimuth, height, azimuth + neutral), home)

    def _walks(self, z: float, azimuth: float, yaw: float, start: float, home: Array) -> tuple[float, float] | None:
        def at(radius: float) -> Pose:
            return _beside(self.arm, radius, azimuth, z, yaw)

        first = self.settle(at(start), home)
        if first is None:
            return None
        ends = []
        for step in (-STEP, STEP):
            radius, qpos = start, first
            while NEAREST < radius + step < FARTHEST:
                found = self.solve(at(radius + step), qpos)
                found = self.settle(at(radius + step), home) if found is None else found
                if found is None:
                    break
                radius, qpos = radius + step, found
            ends.append(radius)
        return ends[0], ends[1]


def measure_reach(
    arm: ArmModel,
    heights: Sequence[float] = HEIGHTS,
    azimuths: Sequence[float] = (),
    yaws: Sequence[float] = YAWS,
    margin: float = 0.0,
    reach: DownwardReach | None = None,
) -> tuple[Vector3, ...]:
    """Measure the reach of an arm whose home is set, with the hand straight down.

    Args:
        arm: Arm whose `home` has the hand straight down, in front of the base.
        heights: Heights of the grip point [m], rising.
        azimuths: Directions of the grip point [rad], seen from the base axis; by default `directions`.
        yaws: Yaws of the hand [rad], from the azimuth.
        margin: Distance [m] kept from both ends.
        reach: Kinematics of this arm, if they are there already.

    Returns:
        Rows of height, least and largest distance from the base axis [m]; heights without reach are left out.
    """
    reach, rows = reach or DownwardReach(arm), []
    for height in heights:
        found = reach.interval(height, azimuths or directions(arm), yaws)
        if found is not None and found[0] + margin < found[1] - margin:
            rows.append((height, round(found[0] + margin, 3), round(found[1] - margin, 3)))
    return tuple(rows)


@dataclass(frozen=True)
class Home:
    """Rest posture `qpos` (nq,) [rad] with the hand mounted at `turn` [rad] about the tool's z axis."""

    qpos: tuple[float, ...]
    turn: float
    rest: Vector3  # of the gripper [m]


def find_home(arm: ArmModel, draws: int = 60) -> Home:
    """Find a rest posture: hand between base and workspace, straight down, yaw 0, links high and clear of each other.

    Postures are found by inverse kinematics from `draws` random ones and ordered by manipulability, height of the
    links and turns of the joints; of the best three, that with the farthest reach is taken.

    Args:
        arm: Arm with its hand at turn 0; its home is not used.
        draws: Number of random postures for each candidate of the rest position.

    Raises:
        InputError: The hand cannot point down in front of the base.
    """
    middle = (arm.limits.qpos_min + arm.limits.qpos_max) / 2
    reach = DownwardReach(replace(arm, home=tuple(middle.tolist())))
    length = _length(reach.kinematics, arm)
    for high, far in product((1.0, 0.75, 0.5), (1.0, 0.75)):
        x, z = round(far * max(0.3, min(0.45, 0.45 * length)), 2), round(high * min(0.5, 0.5 * length), 2)
        pose = _beside(arm, x, _heading(arm), z, 0.0)
        rest = (round(pose.position[0], 3), round(pose.position[1], 3), z)
        ranked = sorted(_postures(reach, straight_down(*rest, 0.0), draws), key=lambda one: -one[0])
        homes = [_mounted(reach, one, rest) for _, one in _different(ranked)[:3]]
        rated = [(_spread(arm, home), -place, home) for place, home in enumerate(homes)]
        if rated and max(rated)[0] > 0.0:
            return max(rated)[2]
    raise InputError(
        f"no posture has the hand straight down in front of the base, 0.2 to 0.5 m away: {reach.obstacle()}; look at "
        "the base (x forward, z up; --mounting lifts, lowers or tilts it), the tool (z out of the arm), the ranges of "
        "the joints and the solids of the links"
    )


def _length(kinematics: ArmKinematics, arm: ArmModel) -> float:
    """Return the length of the stretched arm, from the second joint to the last [m]."""
    import mujoco

    data = mujoco.MjData(kinematics.model)
    mujoco.mj_kinematics(kinematics.model, data)
    places = [data.joint(name).xanchor for name in arm.joints[1:]]
    return sum(math.dist(a, b) for a, b in pairwise(places))


def _postures(reach: DownwardReach, pose: Pose, draws: int) -> Iterator[tuple[float, Array]]:
    """Yield scored postures with the hand at `pose` or turned about the vertical there."""
    rng, limits = np.random.default_rng(0), reach.limits
    x, y, z = pose.position
    wide = limits.upper - limits.lower > 2 * math.pi
    low, high = np.where(wide, -3.0, limits.lower), np.where(wide, 3.0, limits.upper)
    for _ in range(draws):
        start = rng.uniform(low, high)
        found = reach.settle(straight_down(x, y, z, rng.choice((-1.57, 0.0, 1.57))), start)
        if found is not None:
            yield _score(reach, found), found


def _score(reach: DownwardReach, qpos: Array) -> float:
    """Rate a posture: manipulability, height of the lowest elbow, little turning of joints."""
    import mujoco

    model = reach.kinematics.model
    jacobian = reach.kinematics.jacobian(qpos)[2] * np.array([1.0, 1.0, 1.0, 0.3, 0.3, 0.3])[:, None]
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    heights = np.array([data.joint(name).xanchor[2] for name in reach.arm.joints[2:-1]])
    least = float(np.linalg.svd(jacobian, compute_uv=False)[-1])
    turned = qpos[:-1] - np.clip(0.0, reach.limits.lower, reach.limits.upper)[:-1]
    return 2.0 * least + float(heights.max()) - 0.05 * float(np.abs(turned).sum())


def _different(ranked: list[tuple[float, Array]]) -> list[tuple[float, Array]]:
    """Return the ranked postures without those that differ from a better one in the last joint alone."""
    kept: list[tuple[float, Array]] = []
    for score, qpos in ranked:
        if all(np.abs(qpos - other)[:-1].max() > 0.2 for _, other in kept):
            kept.append((score, qpos))
    return kept


def _mounted(reach: DownwardReach, qpos: Array, rest: Vector3) -> Home:
    """Turn the hand on the tool such that the yaw is 0 with the last joint near the middle of its range."""
    limits, last = reach.arm.limits, qpos.copy()
    last[-1] = (limits.qpos_min[-1] + limits.qpos_max[-1]) / 2
    tilt, yaw = pointing(reach.kinematics, last)
    tilted = tilt > 1e-2  # the last joint does not turn about the axis of the tool
    turn = 0.0 if tilted else math.remainder(round(yaw / (math.pi / 4)) * math.pi / 4, math.pi)
    return Home(tuple(qpos.tolist()), turn, rest) if tilted else _aligned(reach, last, turn, rest)


def _aligned(reach: DownwardReach, qpos: Array, turn: float, rest: Vector3) -> Home:
    """Solve for the yaw that the hand at turn 0 has where the hand at `turn` has the yaw 0."""
    for yaw in (turn, turn + math.pi):
        solved = reach.settle(straight_down(*rest, yaw), qpos)
        if solved is not None and abs(solved[-1] - qpos[-1]) < math.pi / 2:
            return Home(tuple(solved.tolist()), math.remainder(yaw, math.tau), rest)
    return Home(tuple(qpos.tolist()), turn, rest)


def _spread(arm: ArmModel, home: Home) -> float:
    """Return the sum of the widths of the reach [m] near the table and at the height of `home`."""
    reach = DownwardReach(replace(arm, home=home.qpos))
    # The hand of `arm` has the turn 0, so its yaw is that of the mounted hand plus the turn.
    yaws = [home.turn + yaw for yaw in YAWS]
    rows = measure_reach(arm, (0.02, 0.6 * home.rest[2]), yaws=yaws, reach=reach)
    return sum(far - low for _, low, far in rows) if len(rows) == 2 else 0.0
