"""The filter: of the accelerations after which the robot can still stop safely, the one nearest to the wanted one.

The barrier of a zone is h(q, v), the clearance along the way on which the joints, braking with what they have, come to
rest: at the end of that way and half of the time before. One tick asks, of every zone and sphere that can matter,

    h(q', v') - m >= (1 - GAMMA) (h(q, v) - m)

with (q', v') after one hold of the acceleration and m a small margin: a discrete-time control barrier function (Ames et
al., arXiv:1903.11199) on a backup trajectory (Chen et al., arXiv:2104.11332). The rows are linearised about the wanted
acceleration, then about each answer that lacks something, and a small quadratic program finds the least change
(sequential quadratic programming). So a robot that is pushed against a zone glides along it instead of bouncing off.
Every answer is proved: hold and braking together, between samples too (`proof`, as predictive safety filters do,
arXiv:1812.05506). What cannot be proved is not passed on: the robot brakes instead. So for commands as they are
followed, every clearance kept at one tick is kept at the next as long as the zones stay as they are; where a zone
appears too near to stop, or a clearance grows, the filter brakes at once, goes no deeper, and says that it is
`infeasible`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.barriers import (
    Ahead,
    Barrier,
    FilterProgram,
    Rows,
    look_ahead,
    speed_rows,
    zone_room,
    zone_rows,
)
from llm_planner.control.safety_filter.bodies import Body
from llm_planner.control.safety_filter.distances import Surroundings, surroundings
from llm_planner.control.safety_filter.proof import (
    CLEAR,
    Move,
    Proof,
    acceleration_bounds,
    joints_proof,
    motion_proof,
    travel,
)
from llm_planner.errors import InputError
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.motion import Array, JointTrajectory
from llm_planner.robots.robots import RobotLimits

NOTHING, FIRST = np.zeros((3, 0)), np.zeros(3, dtype=np.intp)
UNTOUCHED = 1e-6  # of the acceleration limits: a smaller change is none
SLOW = 0.9  # of a speed limit: below, it needs no rows
COARSE, FINE = 2, 12  # pieces of a braking: enough to be proved far from zones, and near them
EXTRA = (0.0, 0.0, 0.001, 0.003)  # [m] that barriers ask beyond what they should, in each linearisation of an answer
NEAR_ENOUGH = 0.0001  # [m] that an answer may lack of its barriers
MARGIN_STEP = 0.0005  # [m] in which the margin grows
SKIN = 0.05  # [rad, m] that each joint may move before it is looked anew which zones are near


@dataclass(frozen=True)
class FilterSettings:
    """The shares are of the robot's own limits: more than a controller plans with, no more than its driver takes."""

    share: LimitShare = field(
        default_factory=lambda: LimitShare(velocity=0.8, acceleration=0.8, braking=0.75, position_margin=0.01)
    )
    barrier: Barrier = field(default_factory=lambda: Barrier(gamma=0.1, margin=0.002))
    speed_margin: float = 0.98  # of a speed limit
    top_speed: float = np.inf  # [m/s] of point 0, whatever the constraints say


@dataclass(frozen=True)
class Filtered:
    """The acceleration to hold (nq,) [rad/s^2] and why it is not the wanted one.

    `binding` names zones, "speed" and joints. `refused`: no answer near the wanted one could be proved, so it brakes.
    `infeasible`: not even braking keeps everything; `slack` [m] is what the worst clearance lacks.
    """

    qacc: Array
    changed: bool = False
    binding: tuple[str, ...] = ()
    infeasible: bool = False
    slack: float = 0.0
    refused: bool = False


@dataclass(frozen=True)
class _Seen:
    """What the robot could touch while its joints move by `way` (nq,) [rad, m] from `qpos` (nq,) on."""

    around: Surroundings
    qpos: Array
    way: Array


class SafetyFilter:
    """For one robot. Owns no thread and reads no clock; what it keeps from tick to tick only saves time."""

    def __init__(self, body: Body, robot: RobotLimits, settings: FilterSettings | None = None) -> None:
        self.settings = settings or FilterSettings()
        self.limits = self.settings.share.tracking(robot)
        self.stopping = self.settings.share.stopping(robot)
        self._proved_limits = LimitShare(velocity=1.0, acceleration=1.0, position_margin=0.0).tracking(robot)
        self._body = body
        self._program = FilterProgram(self.limits.nq)
        self._promised = self._all = surroundings(body, ())  # `_all` with the margin
        self._margin_steps = 0
        self._seen: _Seen | None = None

    def filter(
        self, qpos: Array, qvel: Array, wanted_qacc: Array, constraints: MotionConstraints, dt: float
    ) -> Filtered:
        """What to hold for `dt` [s] from joint positions and velocities (nq,) on, when `wanted_qacc` (nq,) is wanted.

        Raises InputError for a state that is not finite: nothing is safe then but the robot's own brake. Instead of
        wanted accelerations that are not finite, braking is wanted.
        """
        self.check(qpos, qvel)
        braking, limits = self.stopping.acceleration, self.limits.slower(constraints.joint_share)
        if not np.isfinite(wanted_qacc).all():
            rest = self.filter(qpos, qvel, np.minimum(np.maximum(-qvel / dt, -braking), braking), constraints, dt)
            return replace(rest, changed=True, binding=("no finite command", *rest.binding))
        bounds = acceleration_bounds(qpos, qvel, limits, braking, dt)
        within = self._within(wanted_qacc, bounds)
        start = Move(qpos, qvel, dt)
        around, speed = self._near(start, constraints), min(constraints.speed, self.settings.top_speed)
        if not len(around.zones) and not np.isfinite(speed):
            return within
        ahead = look_ahead(start, within.qacc, around, braking, COARSE)
        jacobian, present = self._speed(ahead, speed)
        if present <= SLOW * speed and ahead.clearance() >= CLEAR:
            return within
        barrier, margin = self._barrier(ahead), self.settings.speed_margin
        is_kept = present <= margin * speed and zone_room(ahead, barrier).min(initial=0.0) >= 0.0
        if is_kept and self._ahead(start, within.qacc, around).proof().safe:
            return within
        speeds = []
        if present > SLOW * speed:
            speeds.append(speed_rows(jacobian, ahead.velocity, speed, margin, dt * limits.acceleration))
        return self._changed(ahead, within, bounds, around, barrier, speeds)

    def prove(
        self, motion: JointTrajectory, now: float, constraints: MotionConstraints, promised: bool = False
    ) -> Proof:  # fmt: skip
        """Whether all of `motion` from `now` [s] on is safe, to its end at rest; `promised`: without the margin."""
        proof = joints_proof(motion, self._proved_limits.slower(constraints.joint_share))
        speed = min(constraints.speed, self.settings.top_speed)
        if not proof.safe or not (constraints.zones or np.isfinite(speed)):
            return proof
        around = self._among(constraints)
        return motion_proof(motion, now, self._promised if promised else around, speed)

    def keep_off(self, margin: float) -> bool:
        """Keep `margin` [m] more than every clearance from now on; whether that is more than so far."""
        steps, before = int(np.ceil(margin / MARGIN_STEP - 1e-9)), self._margin_steps
        if steps > before or steps < before - 1:
            self._margin_steps, self._seen = steps, None
            self._all = replace(self._promised, zones=self._promised.zones.widened(self.margin))
        return steps > before

    @property
    def margin(self) -> float:
        """Kept beyond every clearance [m]."""
        return self._margin_steps * MARGIN_STEP

    def check(self, qpos: Array, qvel: Array) -> None:
        """Raises InputError for a state that the filter cannot start from."""
        for name, values in (("positions", qpos), ("velocities", qvel)):
            if np.shape(values) != (self.limits.nq,) or not np.isfinite(values).all():
                raise InputError(f"the filter needs {self.limits.nq} finite joint {name}, not {values}")

    def point_speed(self, qpos: Array, qvel: Array) -> float:
        """Of point 0 [m/s]."""
        jacobian = self._body.place(qpos[None]).slopes(FIRST, FIRST, np.eye(3))
        return float(np.linalg.norm(jacobian @ qvel))

    def apart(self, qpos: Array, others: Array) -> Array:
        """How far points of the body at `qpos` (nq,) are at most from those at `others` (n, nq): (n,) [m]."""
        points = self._body.place(np.concatenate([qpos[None], others])).points
        away = points[:, 1:] - points[:, :1]
        return np.asarray(np.sqrt((away * away).sum(axis=0)).max(axis=1))

    def _among(self, constraints: MotionConstraints) -> Surroundings:
        if constraints.zones != self._all.zones.zones:
            self._promised = surroundings(self._body, constraints.zones)
            self._all, self._seen = replace(self._promised, zones=self._promised.zones.widened(self.margin)), None
        return self._all

    def _near(self, start: Move, constraints: MotionConstraints) -> Surroundings:
        """What the robot could touch before it rests, whatever it does next."""
        everything = self._among(constraints)
        if not len(everything.zones):
            return everything
        fastest = np.abs(start.qvel) + start.dt * self.limits.acceleration
        way = start.dt * fastest + travel(fastest, self.stopping.acceleration, start.dt)
        seen = self._seen
        if seen is None or (way + np.abs(start.qpos - seen.qpos) > seen.way).any():
            way += SKIN
            seen = self._seen = _Seen(everything.near(start.qpos, self._body.reach @ way + CLEAR), start.qpos, way)
        return seen.around

    def _within(self, wanted: Array, bounds: tuple[Array, Array]) -> Filtered:
        """What is wanted, as far as each joint can stop inside its own limits after it."""
        qacc = np.minimum(np.maximum(wanted, bounds[0]), bounds[1])
        cut = np.abs(qacc - wanted) > UNTOUCHED * self.limits.acceleration
        joints = tuple(f"joint {joint + 1}" for joint in cut.nonzero()[0].tolist())
        return Filtered(qacc, bool(joints), joints)

    def _barrier(self, ahead: Ahead) -> Barrier:
        """With a margin for what the chords of a fine look ahead leave out: the square of their length counts."""
        unseen = max(float(ahead.between[0]), float(ahead.between[1:].max()) * (COARSE / FINE) ** 2)
        return replace(self.settings.barrier, margin=self.settings.barrier.margin + unseen)

    def _ahead(self, start: Move, qacc: Array, around: Surroundings) -> Ahead:
        return look_ahead(start, qacc, around, self.stopping.acceleration, FINE)

    def _speed(self, ahead: Ahead, speed: float) -> tuple[Array, float]:
        """How joints move point 0 after the hold (3, nq), and how fast that is [m/s]; nothing where none is asked."""
        if not np.isfinite(speed):
            return NOTHING, 0.0
        jacobian = ahead.placed.slopes(FIRST + 1, FIRST, np.eye(3))
        return jacobian, float(np.linalg.norm(jacobian @ ahead.velocity))

    def _changed(
        self, ahead: Ahead, cut: Filtered, bounds: tuple[Array, Array], around: Surroundings, barrier: Barrier,
        speeds: list[Rows],
    ) -> Filtered:  # fmt: skip
        """The proved answer nearest to `cut`, linearised anew about each that lacks something; else braking."""
        scale, start, change = self.limits.acceleration, ahead.start, np.zeros(self.limits.nq)
        lower, upper = (bounds[0] - cut.qacc) / scale, (bounds[1] - cut.qacc) / scale
        proved, why = None, cut.binding
        for extra in EXTRA:
            room = zone_room(ahead, barrier)
            zones = zone_rows(ahead, room, around.body.reach, self.limits, self.stopping.acceleration)
            needs = zones.needs + zones.slopes @ change
            solved = self._program.solve(lower, upper, [replace(zones, needs=needs + extra), *speeds])
            if solved is None:
                why = (*why, "no solution")
                break
            change, binding = solved
            why = tuple(dict.fromkeys((*cut.binding, *binding)))
            ahead = self._ahead(start, cut.qacc + scale * change, around)
            proof = ahead.proof()
            if proof.safe:
                slack = float((needs - zones.slopes @ change).max(initial=0.0))
                is_changed = cut.changed or bool(np.abs(change).max() > UNTOUCHED)
                proved = Filtered(cut.qacc + scale * change, is_changed, why, slack=slack)
                if zone_room(ahead, barrier).min(initial=0.0) >= -NEAR_ENOUGH - slack:
                    break
            else:
                why = tuple(dict.fromkeys((*why, proof.why)))
        return proved or self._brake(start, around, why)

    def _brake(self, start: Move, around: Surroundings, why: tuple[str, ...]) -> Filtered:
        brake = formulation.brake(StartState(start.qpos, start.qvel, start.qvel), self.stopping, 0.0, start.dt, 0.0)
        proof = self._ahead(start, brake.qacc[0], around).proof()
        return Filtered(brake.qacc[0], True, why, not proof.safe, -min(proof.clearance, 0.0), refused=True)
