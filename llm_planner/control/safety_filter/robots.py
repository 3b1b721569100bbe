"""The robots that come with the package, as the filter sees them: from their makers' drawings, not a simulation.

What the hand holds as spheres of the filter's own, on the last link of the arm.

Between wanted velocities and a robot that is told velocities, such as a mobile base.
"""

from __future__ import annotations

import math

import numpy as np

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.bodies import FlatBase, Rod, SerialArm
from llm_planner.control.safety_filter.distances import rotation
from llm_planner.control.safety_filter.safety_filter import Filtered, FilterSettings, SafetyFilter
from llm_planner.robots.carried import Carried
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.motion import Array, JointState
from llm_planner.robots.robots import BASE_HEIGHT, BASE_LIMITS, BASE_RADIUS, MOTOR_LAG
from llm_planner.scene.zones import half_sides

CELL = 0.015  # [m] half the edge of the cells that a solid is cut into; a sphere sticks out by three quarters of it
MOST_CELLS = 6  # along each edge; what is larger is covered by larger spheres


def rods_of(carried: Carried, link: int, hand: Array) -> tuple[Rod, ...]:
    """Spheres that cover it, rods of no length on the link; `hand` (4, 4) is the gripper point's frame in it.

    Only cells at the surface are covered: what lies deeper touches nothing that these do not.
    """
    half = np.array(half_sides(carried.shape, carried.size))
    counts = np.clip(np.ceil(half / CELL - 1e-9), 1, MOST_CELLS).astype(int)
    cell, index = half / counts, np.array(list(np.ndindex(*counts.tolist())))
    index = index[((index == 0) | (index == counts - 1)).any(axis=1)]
    inside = (cell * (2 * index + 1) - half) @ rotation(carried.pose.orientation).T
    places = (inside + np.array(carried.pose.position)) @ hand[:3, :3].T + hand[:3, 3]
    radius = float(np.linalg.norm(cell))
    return tuple(Rod(link, (x, y, z), (x, y, z), radius) for x, y, z in places.tolist())


QUARTER = math.pi / 2
# a [m], d [m], alpha [rad] of each joint: Franka Emika, "Denavit-Hartenberg parameters", Craig's convention.
PANDA_LINKS = (
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -QUARTER),
    (0.0, 0.316, QUARTER),
    (0.0825, 0.0, QUARTER),
    (-0.0825, 0.384, -QUARTER),
    (0.0, 0.0, QUARTER),
    (0.088, 0.0, QUARTER),
)
FLANGE = 0.107  # [m] beyond the last joint, where the hand begins
PANDA_TIP = (0.0, 0.0, FLANGE + 0.1034)
# Everything that can move: the pedestal and the first link only turn about their own axis.
PANDA_RODS = (
    Rod(1, (0.0, 0.0, -0.06), (0.0, 0.0, 0.06), 0.065),
    Rod(1, (0.0, -0.06, 0.0), (0.0, -0.14, 0.0), 0.06),
    Rod(2, (0.0, 0.0, -0.14), (0.0, 0.0, -0.03), 0.06),
    Rod(2, (0.06, 0.02, 0.0), (0.0825, 0.06, 0.0), 0.055),
    Rod(3, (0.0, 0.0, -0.05), (0.0, 0.0, 0.05), 0.06),
    Rod(3, (-0.07, 0.04, 0.0), (-0.0825, 0.12, 0.0), 0.058),
    Rod(4, (0.0, 0.0, -0.24), (0.0, 0.01, -0.16), 0.058),
    Rod(4, (0.0, 0.075, -0.17), (0.0, 0.075, 0.0), 0.028),
    Rod(4, (0.0, 0.01, -0.05), (0.0, 0.05, 0.0), 0.05),
    Rod(5, (0.0, 0.0, -0.05), (0.0, 0.0, 0.02), 0.05),
    Rod(5, (0.088, 0.01, 0.0), (0.088, 0.03, 0.0), 0.05),
    Rod(6, (0.0, 0.0, 0.05), (0.0, 0.0, 0.08), 0.045),
)
# The hand and its fingers lie across: along y of a frame turned by an eighth about the axis of the last joint.
_ACROSS = (math.sin(math.pi / 4), math.cos(math.pi / 4))


# The gripper point's frame in that of the last link: x along the palm, y across the hand, z out of it.
_GRIPPER = np.array(
    [
        [_ACROSS[1], _ACROSS[0], 0.0, PANDA_TIP[0]],
        [-_ACROSS[0], _ACROSS[1], 0.0, PANDA_TIP[1]],
        [0.0, 0.0, 1.0, PANDA_TIP[2]],
        [0.0, 0.0, 0.0, 1.0],
    ]
)


def _crosswise(z: float, half: float, radius: float) -> Rod:
    """A rod across the hand, `z` [m] beyond the flange, its axis `half` [m] to both sides."""
    x, y = half * _ACROSS[0], half * _ACROSS[1]
    return Rod(6, (-x, -y, FLANGE + z), (x, y, FLANGE + z), radius)


# A box of 6 x 20 x 6.6 cm, and all that open fingers of 2 x 5.5 cm fill on their way: corners lie within the rods.
PANDA_HAND = (_crosswise(0.033, 0.0803, 0.0485), _crosswise(0.0857, 0.052, 0.0325))


def panda_body(carried: Carried | None = None) -> SerialArm:
    """The Franka Panda with its hand, and what that holds; frames are those of `panda_link0`."""
    held = () if carried is None else rods_of(carried, len(PANDA_LINKS) - 1, _GRIPPER)
    return SerialArm(PANDA_LINKS, (*PANDA_RODS, *PANDA_HAND, *held), PANDA_TIP, excess=0.006)


def base_body() -> FlatBase:
    """The mobile robot, in the map."""
    return FlatBase(BASE_RADIUS, BASE_HEIGHT)


HOLD = 0.02  # [s] at the longest between two commands that count on each other


class VelocityGuard:
    """Makes velocities safe by bounding how they change. Owns no thread and reads no clock."""

    def __init__(self, safety: SafetyFilter, lag: float = 0.0, silence: float = 0.25, timeout: float = 0.0) -> None:
        """`lag` [s] in which the robot does about two thirds of a change; `silence` [s] that ends what is wanted;
        `timeout` [s] for which the robot goes on with the last velocity when no other comes, before it brakes.
        """
        nq = safety.limits.nq
        self.filtered = Filtered(np.zeros(nq))
        self._safety, self._lag, self._silence, self._timeout = safety, lag, silence, timeout
        self._wanted, self._heard = np.zeros(nq), -np.inf
        self._velocity, self._last = np.zeros(nq), -np.inf

    def hear(self, velocity: Array, now: float) -> None:
        """What is wanted (nq,) from `now` [s] on; a number that is not finite wants rest."""
        self._wanted, self._heard = (velocity if np.isfinite(velocity).all() else 0.0 * self._velocity), now

    def forget(self) -> None:
        """The robot was restarted: it stands still, and nothing is wanted of it."""
        self._wanted, self._heard = 0.0 * self._wanted, -np.inf
        self._velocity, self._last = 0.0 * self._velocity, -np.inf

    def brake(self) -> None:
        """Nothing is wanted any more: the coming steps bring the robot to rest."""
        self._wanted, self._heard = 0.0 * self._wanted, -np.inf

    def rests(self, now: float) -> bool:
        """Whether the robot stands still, and is to."""
        return not self._velocity.any() and (now > self._heard + self._silence or not self._wanted.any())

    def step(self, state: JointState, now: float, constraints: MotionConstraints) -> Array:
        """The velocity to command at `now` [s] (nq,). Raises InputError for a state that is not finite.

        What the robot was told and has not done yet counts as done: it ends up `lag` times its velocity farther on. So
        does what it does until `timeout`, if no other velocity comes.
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
    """That of the mobile robot that comes with the package, which brakes `timeout` [s] after the last velocity."""
    share = LimitShare(velocity=1.0, acceleration=1.0, braking=0.8, position_margin=0.0)
    settings = FilterSettings(share=share, top_speed=float(BASE_LIMITS.qvel_max[0]))
    return VelocityGuard(SafetyFilter(base_body(), BASE_LIMITS, settings), MOTOR_LAG, timeout=timeout)
