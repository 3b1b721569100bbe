"""Robot bodies of the safety filter, and the guard of velocity-controlled robots.

The dimensions of an arm come from the arm's URDF by a reader of the filter's own (`urdf`), or from a file for the
filter alone, which a `robot.yaml` names with the key `safety`, because the filter reads no MJCF:

    joints: [[0.0, 0.333, 0.0], ...]  # a [m], d [m], alpha [rad] of each, from the base, in Craig's convention
    rods:                             # capsules that cover the solids of each link; the first link is 0, the base -1
      - {link: 1, start: [0.0, 0.0, -0.06], end: [0.0, 0.0, 0.06], radius: 0.065}
    hand: {turn: 0.0, offset: 0.107}  # mounting of the hand, about [rad] and along [m] the last joint's axis

A gripper is covered by capsules from the data that the controller and the simulator read, without code of theirs. A
carried object becomes spheres on the last link of the arm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.bodies import FlatBase, Rod, SerialArm, craig
from llm_planner.control.safety_filter.covering import Capsule
from llm_planner.control.safety_filter.distances import rotation
from llm_planner.control.safety_filter.safety_filter import Filtered, FilterSettings, SafetyFilter
from llm_planner.control.safety_filter.urdf import Chain, placed, read_chain
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, Description, resolve
from llm_planner.robots.carried import Carried
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.mobile_base import BASE_HEIGHT, BASE_LIMITS, BASE_RADIUS, MOTOR_LAG
from llm_planner.robots.motion import Array, JointState
from llm_planner.scene.zones import Zone, half_sides
from llm_planner.strict_yaml import FileModel, LocatedError, Positive, read_file


class RodEntry(FileModel):
    """Capsule on a link: ends of its axis in the frame of the link, and radius [m]."""

    link: int
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: Positive


class MountEntry(FileModel):
    """How the hand is mounted on the last link: turned about its z axis [rad], and shifted along it [m]."""

    turn: float
    offset: float


class SafetyFile(FileModel):
    """Content of the file."""

    joints: tuple[tuple[float, float, float], ...]
    rods: tuple[RodEntry, ...]
    hand: MountEntry


@cache
def read_safety_file(path: Path, nq: int) -> SafetyFile:
    """Read the description of an arm with `nq` joints.

    Raises:
        InputError: The file is missing or invalid; the message names file, line, key and what is expected.
    """
    return read_file(path, SafetyFile, lambda content: _checked(content, nq))


def _checked(content: SafetyFile, nq: int) -> SafetyFile:
    if len(content.joints) != nq:
        raise LocatedError(f"lists {len(content.joints)} joints, but the robot has {nq}", "joints")
    for index, rod in enumerate(content.rods):
        if not -1 <= rod.link < nq:
            raise LocatedError(f"is {rod.link}; the links are 0 to {nq - 1}, and -1 is the base", "rods", index, "link")
    return content


WIDER = 1.06  # radius of a capsule in that of the cylinder around its box; more makes the capsule shorter


@dataclass(frozen=True)
class Hand:
    """Gripper in the frame of its mounting: distance to the grip point [m], and capsules around palm and fingers."""

    length: float
    capsules: tuple[Capsule, ...]


# The capsules contain a box of 6 x 20 x 6.6 cm for the palm, and the range of fingers of 2 x 5.5 cm; heights above the
# mounting, half lengths across the hand, and radii [m].
DEFAULT_HAND = Hand(
    0.1034,
    tuple(
        (np.array([0.0, -half, height]), np.array([0.0, half, height]), radius)
        for height, half, radius in ((0.033, 0.0803, 0.0485), (0.0857, 0.052, 0.0325))
    ),
)


@cache
def read_hand(path: Path) -> Hand:
    """Read the gripper of a `robot.yaml`, or a file of a gripper; raises InputError if a value is missing or no size.

    The palm reaches from the mounting to its lower end, the fingers from there to their ends.
    """
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        data = found.get("gripper", found)
        length, (palm_x, palm_y, height) = data["length"], data["palm"]
        if data["kind"] == "suction":
            half = across = data["cup"]
            end = 0.0
        else:
            half, end = max(part[1] for part in data["fingers"]), max(-part[2] for part in data["fingers"])
            across = data["opening"][1] / 2 + max(part[0] for part in data["fingers"])
        sizes = [float(one) for one in (length, palm_x, palm_y, height, across, half)]
    except (OSError, yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the safety filter cannot read the gripper in {path}: {type(error).__name__} {error}"
        ) from error
    if not all(math.isfinite(one) and one > 0.0 for one in sizes) or not 0.0 <= end < length or height >= length:
        raise InputError(
            f"the gripper in {path} has sizes that are not positive, or a palm above its mounting: {sizes}"
        )
    palm = _capsule(palm_x, palm_y, 0.0, length - height)
    return Hand(length, (palm, _capsule(half, across, length - height, length + end)))


def _capsule(half_x: float, half_y: float, low: float, high: float) -> Capsule:
    """Return a capsule that contains a box between two distances from the mounting [m].

    Its axis lies along the longer of y and z. The corners of the box are `corner` away from the axis and `along` from
    the middle, so a sphere of `radius` around an end at `half` contains them, as it reaches `cap` further there.
    """
    half_z = (high - low) / 2
    across, along = min(half_y, half_z), max(half_y, half_z)
    corner = math.hypot(half_x, across)
    radius = WIDER * corner
    cap = math.sqrt(radius**2 - corner**2)
    half = max(0.0, along - cap)
    axis = np.array([0.0, half, 0.0] if half_y > half_z else [0.0, 0.0, half])
    middle = np.array([0.0, 0.0, (low + high) / 2])
    return middle - axis, middle + axis, radius


FITTED = 0.015  # [m] gap at home up to which links count as neighbours if their capsules were fitted automatically
CELL = 0.015  # [m] half edge of the cells that divide a solid; a sphere protrudes by three quarters of it
MOST_CELLS = 6  # along each edge; a larger object has larger cells


def rods_of(carried: Carried, link: int, hand: Array) -> tuple[Rod, ...]:
    """Cover the surface of the carried object with spheres on `link`, as rods of zero length.

    `hand` (4, 4) is the frame of the gripper point in that of the link.
    """
    half = np.array(half_sides(carried.shape, carried.size))
    counts = np.clip(np.ceil(half / CELL - 1e-9), 1, MOST_CELLS).astype(int)
    cell, index = half / counts, np.array(list(np.ndindex(*counts.tolist())))
    index = index[((index == 0) | (index == counts - 1)).any(axis=1)]
    inside = (cell * (2 * index + 1) - half) @ rotation(carried.pose.orientation).T
    places = (inside + np.array(carried.pose.position)) @ hand[:3, :3].T + hand[:3, 3]
    radius = float(np.linalg.norm(cell))
    return tuple(Rod(link, (x, y, z), (x, y, z), radius) for x, y, z in places.tolist())


def _about_z(turn: float, along: float, aside: tuple[float, float] = (0.0, 0.0)) -> Array:
    """Return the frame (4, 4) turned by `turn` [rad] about z, and shifted `along` it and `aside` along x and y [m]."""
    (c, s), (x, y) = (math.cos(turn), math.sin(turn)), aside
    return np.array([[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, along], [0.0, 0.0, 0.0, 1.0]])


def arm_body(arm: ArmModel, carried: Carried | None = None) -> SerialArm:
    """Return an arm with its hand and a `carried` object, in the frame of scenes.

    It is read from the arm's file for the filter, if it has one, otherwise from its URDF. Raises InputError if that
    cannot be read.
    """
    hand = DEFAULT_HAND if arm.gripper.file is None else read_hand(arm.gripper.file)
    if arm.safety is not None:
        written = read_safety_file(arm.safety, arm.nq)
        rods = [Rod(one.link, one.start, one.end, one.radius) for one in written.rods]
        mounted = _about_z(written.hand.turn, written.hand.offset)
        return _with_hand(arm, craig(written.joints), rods, mounted, hand, carried)
    assert arm.description is not None  # the reader of `robot.yaml` asks for one of the two
    chain = chain_of(arm.description)
    if len(chain.joints) != arm.nq:  # their names may differ in a file that is like another
        raise InputError(
            f"between {arm.description.base} and {arm.description.tool} of {arm.description.path} the joints "
            f"{', '.join(chain.joints)} turn, but the arm's are {', '.join(arm.joints)}: name all of them in "
            "robot.yaml, or make the others fixed in the URDF"
        )
    mounted = chain.tool @ _about_z(arm.description.turn, arm.description.offset, arm.description.shift)
    return _with_hand(arm, chain.frames, chain.rods, mounted, hand, carried)


@cache
def chain_of(description: Description) -> Chain:
    """Read the joints and capsules of an arm from its URDF; raises InputError if it cannot be read."""
    try:
        text = description.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the robot description {description.path} cannot be read: {error}") from error
    folder = description.path.parent
    return read_chain(text, description.base, description.tool, lambda name: resolve(name, folder), description.bare)


def _with_hand(
    arm: ArmModel, frames: Sequence[Array], rods: Sequence[Rod], mounted: Array, hand: Hand, carried: Carried | None
) -> SerialArm:
    """Return an arm, mounted as `arm` is, whose `hand` is `mounted` (4, 4) in the frame of the last joint."""
    base = placed(arm.mounting.position, arm.mounting.rpy)
    frames = (base @ frames[0], *frames[1:])
    rods = [_moved(rod, base) if rod.link < 0 else rod for rod in rods]
    last = len(frames) - 1

    def at(point: Array) -> tuple[float, float, float]:
        x, y, z = (mounted @ (*point, 1.0))[:3].tolist()
        return x, y, z

    solids = [Rod(last, at(start), at(end), radius) for start, end, radius in hand.capsules]
    gripper = mounted @ _about_z(0.0, hand.length)
    held = () if carried is None else rods_of(carried, last, gripper)
    x, y, z = gripper[:3, 3].tolist()
    close = FITTED if arm.safety is None else 0.0
    return SerialArm(
        frames, (*rods, *solids), (x, y, z), excess=0.006, carried=held, home=np.array(arm.home), close=close
    )


def _moved(rod: Rod, frame: Array) -> Rod:
    """Return a rod whose ends are given in `frame` (4, 4)."""
    start, end = ((frame @ (*point, 1.0))[:3].tolist() for point in (rod.start, rod.end))
    return replace(rod, start=(start[0], start[1], start[2]), end=(end[0], end[1], end[2]))


def base_body() -> FlatBase:
    """Return the mobile base, in the map frame."""
    return FlatBase(BASE_RADIUS, BASE_HEIGHT)


HOLD = 0.02  # [s] longest interval between two commands
AHEAD = 8  # points on the way that the robot makes before it brakes


class VelocityGuard:
    """Guard of a velocity-controlled robot, such as a mobile base. It has no thread and reads no clock."""

    def __init__(self, safety: SafetyFilter, lag: float = 0.0, silence: float = 0.25, timeout: float = 0.0) -> None:
        """Create a guard.

        Args:
            safety: Filter of the robot's accelerations.
            lag: Time constant of the robot's velocity control [s].
            silence: Age at which a wanted velocity expires [s].
            timeout: Time for which the robot keeps its last velocity without a new command, before it brakes [s].
        """
        nq = safety.limits.nq
        self.filtered = Filtered(np.zeros(nq))
        self._safety, self._lag, self._silence, self._timeout = safety, lag, silence, timeout
        self._wanted, self._heard = np.zeros(nq), -np.inf
        self._velocity, self._last = np.zeros(nq), -np.inf
        self._measured: JointState | None = None
        self._way: Array | None = None  # from there to rest, (n, nq), once it is needed

    def hear(self, velocity: Array, now: float) -> None:
        """Set the wanted velocity (nq,) from `now` [s]; a velocity that is not finite means rest."""
        self._wanted, self._heard = (velocity if np.isfinite(velocity).all() else 0.0 * self._velocity), now

    def measured(self, state: JointState) -> None:
        """Take in the measured `state`; raise InputError if it has a wrong shape or a number that is not finite."""
        self._safety.check(state.qpos, state.qvel)
        self._measured, self._way = state, None

    def keeps_out(self, zone: Zone, now: float) -> bool:
        """Return whether the robot as measured, and its motion from `now` [s] to rest, are proved outside of `zone`.

        The motion is the one that the filter proves: on by the lag and the timeout, then braking.
        """
        if self._measured is None:
            return False
        if self._way is None:
            self._way = self._way_to_rest(self._measured)
        gap = float(np.linalg.norm(np.diff(self._way[:, :2], axis=0), axis=1).max())
        return self._safety.clearance(zone, self._way) >= gap / 2.0

    def _way_to_rest(self, state: JointState) -> Array:
        """Return positions (n, nq) from the measured `state` to rest."""
        on = state.qpos + self._lag * state.qvel + self._timeout * self._velocity
        brake = formulation.brake(StartState(on, self._velocity, on), self._safety.stopping, state.time, HOLD, 0.0)
        return np.concatenate([np.linspace(state.qpos, on, AHEAD, endpoint=False), brake.qpos])

    def forget(self) -> None:
        """Forget all velocities, after a restart of the robot, which then stands still."""
        self._wanted, self._heard = 0.0 * self._wanted, -np.inf
        self._velocity, self._last, self._measured = 0.0 * self._velocity, -np.inf, None

    def brake(self) -> None:
        """Drop the wanted velocity, so that the next steps bring the robot to rest."""
        self._wanted, self._heard = 0.0 * self._wanted, -np.inf

    def rests(self, now: float) -> bool:
        """Return whether the robot is at rest at `now` [s] and commanded to stay there."""
        return not self._velocity.any() and (now > self._heard + self._silence or not self._wanted.any())

    def step(self, state: JointState, now: float, constraints: MotionConstraints) -> Array:
        """Compute the velocity (nq,) to command at `now` [s].

        The filter starts from the position that the robot reaches by its lag, and by keeping its velocity until
        `timeout` without a new command.

        Raises:
            InputError: The state has a wrong shape or a number that is not finite.
        """
        self._safety.check(state.qpos, state.qvel)
        wanted = self._wanted if now <= self._heard + self._silence else np.zeros_like(self._wanted)
        elapsed = min(max(now - self._last, 1e-3), HOLD)
        ahead = state.qpos + self._lag * state.qvel
        change = (wanted - self._velocity) / elapsed
        self.filtered = self._safety.filter(
            ahead + self._timeout * self._velocity, self._velocity, change, constraints, HOLD
        )
        faster = self._velocity + elapsed * self.filtered.qacc
        if self._timeout > 0.0 and (np.abs(faster) > np.abs(self._velocity)).any():
            self.filtered = self._safety.filter(
                ahead + self._timeout * faster, self._velocity, change, constraints, HOLD
            )
        kept = not self.filtered.changed
        self._velocity = np.array(wanted) if kept else self._velocity + elapsed * self.filtered.qacc
        self._velocity[np.abs(self._velocity) < 1e-6] = 0.0
        self._last = now
        return np.array(self._velocity)


def base_guard(timeout: float = 0.0) -> VelocityGuard:
    """Create the guard of the mobile base, which brakes `timeout` [s] after its last command."""
    share = LimitShare(velocity=1.0, acceleration=1.0, braking=0.8, position_margin=0.0)
    settings = FilterSettings(share=share, top_speed=float(BASE_LIMITS.qvel_max[0]))
    return VelocityGuard(SafetyFilter(base_body(), BASE_LIMITS, settings), MOTOR_LAG, timeout=timeout)
