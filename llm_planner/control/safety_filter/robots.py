"""Robot bodies of the safety filter, and the guard of velocity-controlled robots.

The dimensions of an arm come from a file for the filter alone, or from the arm's URDF by a reader of the filter's own.
A carried object becomes spheres on the last link of the arm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.bodies import FlatBase, Rod, SerialArm
from llm_planner.control.safety_filter.distances import rotation
from llm_planner.control.safety_filter.safety_file import DEFAULT_HAND, Hand, read_hand, read_safety_file
from llm_planner.control.safety_filter.safety_filter import Filtered, FilterSettings, SafetyFilter
from llm_planner.control.safety_filter.urdf import Chain, placed, read_chain
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, Description, resolve
from llm_planner.robots.carried import Carried
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.mobile_base import BASE_HEIGHT, BASE_LIMITS, BASE_RADIUS, MOTOR_LAG
from llm_planner.robots.motion import Array, JointState
from llm_planner.scene.zones import half_sides

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
        return _with_hand(arm, written.frames, written.rods, _about_z(written.turn, written.offset), hand, carried)
    assert arm.description is not None  # the reader of `robot.yaml` asks for one of the two
    chain = chain_of(arm.description)
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

    def hear(self, velocity: Array, now: float) -> None:
        """Set the wanted velocity (nq,) from `now` [s]; a velocity that is not finite means rest."""
        self._wanted, self._heard = (velocity if np.isfinite(velocity).all() else 0.0 * self._velocity), now

    def forget(self) -> None:
        """Forget all velocities, after a restart of the robot, which then stands still."""
        self._wanted, self._heard = 0.0 * self._wanted, -np.inf
        self._velocity, self._last = 0.0 * self._velocity, -np.inf

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
