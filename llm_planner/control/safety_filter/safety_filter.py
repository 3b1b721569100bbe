"""Safety filter that returns the acceleration nearest to the wanted one after which the robot can still stop safely.

The barrier h(q, v) of a zone is the clearance along the path on which the joints brake to rest, at its end and at half
of its time. Each tick requires of every relevant zone and sphere

    h(q', v') - m >= (1 - GAMMA) (h(q, v) - m)

with (q', v') after one hold of the acceleration and a small margin m: a discrete-time control barrier function (Ames et
al., arXiv:1903.11199) on a backup trajectory (Chen et al., arXiv:2104.11332). Sequential quadratic programming finds
the least change: the rows are linearised about the wanted acceleration, then about each solution that violates a
barrier. A robot that is pushed against a zone thus glides along it instead of bouncing off.

The filter proves each solution, hold and braking together and between samples too (`proof`, as predictive safety
filters do, arXiv:1812.05506). Without a proof the robot brakes. If the robot follows the commands, a clearance that
holds at one tick therefore holds at the next while the zones do not change. If a zone appears too close to stop, or a
clearance grows, the filter brakes at once, goes no deeper, and reports `infeasible`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.barriers import (
    NO_ROWS,
    Barrier,
    FilterProgram,
    Rows,
    barrier_room,
    barrier_rows,
    speed_rows,
)
from llm_planner.control.safety_filter.bodies import Body
from llm_planner.control.safety_filter.distances import Surroundings, surroundings
from llm_planner.control.safety_filter.kernel import Ahead
from llm_planner.control.safety_filter.proof import (
    CLEAR,
    Move,
    Proof,
    acceleration_bounds,
    ahead_proof,
    joints_proof,
    motion_proof,
    travel,
)
from llm_planner.errors import InputError
from llm_planner.robots.limits import LimitShare, RobotLimits
from llm_planner.robots.motion import Array, JointTrajectory
from llm_planner.scene.zones import Zone

FIRST = np.zeros(3, dtype=np.intp)
UNTOUCHED = 1e-6  # share of the acceleration limits below which a change is negligible
FASTER = 0.01  # share of a speed limit by which it may be exceeded
SLOW = 0.9  # share of a speed limit below which no speed rows are needed
COARSE, FINE = 2, 12  # samples of a braking motion, sufficient for a proof far from zones and near them
EXTRA = (0.0, 0.0, 0.001, 0.003)  # [m] added to the barriers in successive linearisations
NEAR_ENOUGH = 0.0001  # [m] tolerated shortfall of the barriers
MARGIN_STEP = 0.0005  # [m] resolution of the margin
SKIN = 0.05  # [rad, m] motion of a joint after which nearby zones are searched again


@dataclass(frozen=True)
class FilterSettings:
    """Settings of the filter.

    `share` of the robot's limits exceeds that of the controller's plans, and stays within what the driver accepts.
    """

    share: LimitShare = field(
        default_factory=lambda: LimitShare(velocity=0.8, acceleration=0.8, braking=0.75, position_margin=0.01)
    )
    barrier: Barrier = field(default_factory=lambda: Barrier(gamma=0.1, margin=0.002))
    speed_margin: float = 0.98  # share of a speed limit to use
    top_speed: float = np.inf  # [m/s] limit of point 0 in addition to the constraints


@dataclass(frozen=True)
class Filtered:
    """Filtered acceleration.

    Attributes:
        qacc: Acceleration to hold, (nq,) [rad/s^2].
        changed: Whether it differs from the wanted one.
        binding: Causes of the change: names of zones, "speed" and joints.
        infeasible: Whether even braking violates a constraint.
        slack: Shortfall of the worst clearance [m].
        refused: Whether the robot brakes because no solution near the wanted one has a proof.
    """

    qacc: Array
    changed: bool = False
    binding: tuple[str, ...] = ()
    infeasible: bool = False
    slack: float = 0.0
    refused: bool = False


@dataclass(frozen=True)
class _Seen:
    """Surroundings within reach while the joints move by at most `way` (nq,) [rad, m] from `qpos` (nq,)."""

    around: Surroundings
    qpos: Array
    way: Array


class SafetyFilter:
    """Safety filter of one robot. It has no thread and reads no clock; its state between ticks is only a cache."""

    def __init__(self, body: Body, robot: RobotLimits, settings: FilterSettings | None = None) -> None:
        self.settings = settings or FilterSettings()
        self.limits = self.settings.share.tracking(robot)
        self.stopping = self.settings.share.stopping(robot)
        self._proved_limits = LimitShare(velocity=1.0, acceleration=1.0, position_margin=0.0).tracking(robot)
        self._body = body
        self._program = FilterProgram(self.limits.nq)
        self._promised = self._all = surroundings(body, ())  # only `_all` includes the margin
        self._margin_steps = 0
        self._seen: _Seen | None = None
        self._alone: dict[Zone, Surroundings] = {}

    def filter(
        self, qpos: Array, qvel: Array, wanted_qacc: Array, constraints: MotionConstraints, dt: float
    ) -> Filtered:
        """Compute the safe acceleration nearest to the wanted one.

        Args:
            qpos: Joint positions, (nq,) [rad].
            qvel: Joint velocities, (nq,) [rad/s].
            wanted_qacc: Wanted accelerations, (nq,) [rad/s^2]; if they are not finite, the filter brakes.
            constraints: Zones, speed limit and joint share in force.
            dt: Duration of the hold [s].

        Raises:
            InputError: The state is not finite, so that only the robot's own brake is safe.
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
        if not len(around) and not np.isfinite(speed):
            return within
        ahead = self._ahead(start, within.qacc, around, COARSE)
        present = ahead.speed(np.empty((3, len(qpos)))) if np.isfinite(speed) else 0.0
        if present <= SLOW * speed and ahead.lowest(0.0, CLEAR)[0] >= CLEAR:
            return within
        barrier = self._barrier(ahead)
        is_kept = present <= self.settings.speed_margin * speed and barrier_room(ahead, barrier) >= 0.0
        if is_kept and ahead_proof(self._ahead(start, within.qacc, around), around).safe:
            return within
        return self._changed(start, ahead, within, bounds, around, barrier, speed)

    def prove(
        self, motion: JointTrajectory, now: float, constraints: MotionConstraints, promised: bool = False
    ) -> Proof:  # fmt: skip
        """Prove that `motion` is safe from `now` [s] to its end at rest; `promised` leaves out the margin."""
        proof = joints_proof(motion, self._proved_limits.slower(constraints.joint_share))
        speed = min(constraints.speed, self.settings.top_speed)
        if not proof.safe:
            return proof
        around = self._among(constraints)
        return motion_proof(motion, now, self._promised if promised else around, speed)

    def keep_off(self, margin: float) -> bool:
        """Set the `margin` [m] beyond every clearance, and return whether it has grown."""
        steps, before = int(np.ceil(margin / MARGIN_STEP - 1e-9)), self._margin_steps
        if steps > before or steps < before - 1:
            self._margin_steps, self._seen = steps, None
            self._all = self._promised.widened(self.margin)
        return steps > before

    @property
    def margin(self) -> float:
        """Margin beyond every clearance [m]."""
        return self._margin_steps * MARGIN_STEP

    def check(self, qpos: Array, qvel: Array) -> None:
        """Raise InputError if positions or velocities have a wrong shape or are not finite."""
        for name, values in (("positions", qpos), ("velocities", qvel)):
            if np.shape(values) != (self.limits.nq,) or not np.isfinite(values).all():
                raise InputError(f"the filter needs {self.limits.nq} finite joint {name}, not {values}")

    def point_speed(self, qpos: Array, qvel: Array) -> float:
        """Return the speed of point 0 [m/s]."""
        jacobian = self._body.place(qpos[None]).slopes(FIRST, FIRST, np.eye(3))
        return float(np.linalg.norm(jacobian @ qvel))

    def point(self, qpos: Array) -> tuple[float, float, float]:
        """Return the position of point 0 [m], the gripper point of an arm."""
        x, y, z = self._body.place(qpos[None]).points[:, 0, 0].tolist()
        return x, y, z

    def clearance(self, zone: Zone, qpos: Array) -> float:
        """Return the smallest clearance of a body without pairs from `zone` alone at `qpos` (n, nq) [m]."""
        if zone not in self._alone:
            self._alone[zone] = surroundings(self._body, (zone,))
        return self._alone[zone].clearance(qpos)

    def apart(self, qpos: Array, others: Array) -> Array:
        """Return the largest displacement of a point of the body from `qpos` (nq,) to each of `others` (n, nq) [m]."""
        points = self._body.place(np.concatenate([qpos[None], others])).points
        away = points[:, 1:] - points[:, :1]
        return np.asarray(np.sqrt((away * away).sum(axis=0)).max(axis=1))

    def _among(self, constraints: MotionConstraints) -> Surroundings:
        if constraints.zones != self._all.zones:
            self._promised = surroundings(self._body, constraints.zones)
            self._all, self._seen = self._promised.widened(self.margin), None
        return self._all

    def _near(self, start: Move, constraints: MotionConstraints) -> Surroundings:
        """Return the surroundings that the robot can reach before it rests, whatever its next acceleration."""
        everything = self._among(constraints)
        if not len(everything):
            return everything
        fastest = np.abs(start.qvel) + start.dt * self.limits.acceleration
        way = start.dt * fastest + travel(fastest, self.stopping.acceleration, start.dt)
        seen = self._seen
        if seen is None or (way + np.abs(start.qpos - seen.qpos) > seen.way).any():
            way += SKIN
            seen = self._seen = _Seen(everything.near(start.qpos, way, CLEAR), start.qpos, way)
        return seen.around

    def _within(self, wanted: Array, bounds: tuple[Array, Array]) -> Filtered:
        """Clip the wanted accelerations to `bounds`, after which each joint can stop within its limits."""
        qacc = np.minimum(np.maximum(wanted, bounds[0]), bounds[1])
        cut = np.abs(qacc - wanted) > UNTOUCHED * self.limits.acceleration
        joints = tuple(f"joint {joint + 1}" for joint in cut.nonzero()[0].tolist())
        return Filtered(qacc, bool(joints), joints)

    def _barrier(self, ahead: Ahead) -> Barrier:
        """Add to the margin what the chords of a fine look ahead leave out, which is quadratic in their length."""
        hold, braking = ahead.unseen()
        unseen = max(hold, braking * (COARSE / FINE) ** 2)
        return replace(self.settings.barrier, margin=self.settings.barrier.margin + unseen)

    def _ahead(self, start: Move, qacc: Array, around: Surroundings, samples: int = FINE) -> Ahead:
        """Look ahead over a hold of `qacc` (nq,) and at most `samples` samples of the braking after it."""
        return around.model.look_ahead(start.qpos, start.qvel, qacc, self.stopping.acceleration, start.dt, samples)

    def _changed(
        self, start: Move, ahead: Ahead, cut: Filtered, bounds: tuple[Array, Array], around: Surroundings,
        barrier: Barrier, speed: float,
    ) -> Filtered:  # fmt: skip
        """Return the proved solution nearest to `cut`, by repeated linearisation, or braking if there is none."""
        scale, qacc, change = self.limits.acceleration, cut.qacc, np.zeros(self.limits.nq)
        lower, upper = (bounds[0] - cut.qacc) / scale, (bounds[1] - cut.qacc) / scale
        proved, why, speeds, gave_way = None, cut.binding, NO_ROWS, False
        for extra in EXTRA:
            zones = barrier_rows(ahead, around, barrier, scale).about(change)
            if np.isfinite(speed):
                speeds = self._speeds(start, ahead, qacc, speed).about(change)
            solved = self._program.solve(lower, upper, (replace(zones, needs=zones.needs + extra), speeds))
            if solved is None:
                why = (*why, "no solution")
                break
            change, binding = solved
            qacc, why = cut.qacc + scale * change, tuple(dict.fromkeys((*cut.binding, *binding)))
            ahead = self._ahead(start, qacc, around)
            proof = ahead_proof(ahead, around)
            if proof.safe:
                slack = zones.short(change)
                is_changed = cut.changed or bool(np.abs(change).max() > UNTOUCHED)
                proved = Filtered(qacc, is_changed, why, slack=slack)
                gave_way = self._speeds_up(start, ahead, speed)
                if barrier_room(ahead, barrier) >= -NEAR_ENOUGH - slack and not gave_way:
                    break
            else:
                why = tuple(dict.fromkeys((*why, proof.why)))
        if proved is not None and not gave_way:
            return proved
        # Zones come before the speed, but their linearisation does not where braking keeps every clearance.
        brake = self._brake(start, around, why)
        keeps_all = not brake.infeasible and brake.slack == 0.0
        return brake if proved is None or keeps_all else proved

    def _speeds_up(self, start: Move, ahead: Ahead, speed: float) -> bool:
        """Return whether point 0 is faster after the hold than before it, and than its limit `speed` [m/s]."""
        if not np.isfinite(speed):
            return False
        after = ahead.speed(np.empty((3, len(start.qpos))))
        return after > (1.0 + FASTER) * speed and after > self.point_speed(start.qpos, start.qvel)

    def _speeds(self, start: Move, ahead: Ahead, qacc: Array, speed: float) -> Rows:
        """Build the rows of a speed limit [m/s], linearised about `qacc` (nq,), unless `ahead` is far below it."""
        jacobian = np.empty((3, len(qacc)))
        if ahead.speed(jacobian) <= SLOW * speed:
            return NO_ROWS
        reach = start.dt * self.limits.acceleration
        return speed_rows(jacobian, start.qvel + start.dt * qacc, speed, self.settings.speed_margin, reach)

    def _brake(self, start: Move, around: Surroundings, why: tuple[str, ...]) -> Filtered:
        brake = formulation.brake(StartState(start.qpos, start.qvel, start.qvel), self.stopping, 0.0, start.dt, 0.0)
        proof = ahead_proof(self._ahead(start, brake.qacc[0], around), around)
        return Filtered(brake.qacc[0], True, why, not proof.safe, -min(proof.clearance, 0.0), refused=True)
