"""The arm in MuJoCo as its nodes drive it, in one process: board of patches, ladder, controller, filter, and a referee.

The referee shares nothing with controller and filter: distances are MuJoCo's, between the robot's real solids and the
zones, every 5 ms; speeds are those of the hand in the simulation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np

from llm_planner.control import formulation
from llm_planner.control.constraint_arbiter import ConstraintArbiter
from llm_planner.control.controlled_robot import arm as controlled_arm
from llm_planner.control.fallback_supervisor import FallbackLevel, FallbackSupervisor
from llm_planner.control.input_validation import Expected, InputValidator
from llm_planner.control.motion_constraints import MotionConstraints, Patch
from llm_planner.control.mpc import MpcController
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.simulation.arm_drive import CommandQueue, RateLimiter
from llm_planner.simulation.world import World

PANDA = arm_model("panda")

Array = np.ndarray
PERIOD, FILTER_PERIOD = 0.01, 0.005  # [s] of controller and filter; the simulation is looked at every FILTER_PERIOD
LEAD, LATER = 0.02, 0.05  # [s] as the nodes have them: commands begin that much later, the filter's limits change later
WIDTH = 0.08
_GEOMS = {Shape.SPHERE: 2, Shape.CAPSULE: 3, Shape.CYLINDER: 5, Shape.BOX: 6}
_ON_AXIS = 0.02  # [m] a solid of the first link whose middle is nearer to its axis only turns about itself


class Referee:
    """Exact distances of the robot's solids, fingers included, from solids that may be zones."""

    def __init__(self, zones: Sequence[Zone], arm: ArmModel = PANDA) -> None:
        spec, self._nq = arm.make(), arm.nq
        for k, zone in enumerate(zones):
            x, y, z, w = zone.pose.orientation
            spec.worldbody.add_geom(
                name=f"zone {k}", type=mujoco.mjtGeom(_GEOMS[zone.shape]), size=[*zone.size, 0, 0][:3],
                pos=zone.pose.position, quat=[w, x, y, z],
            )  # fmt: skip
        hand = spec.site("gripper")
        hand.parent.add_geom(name="point", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[_POINT, 0, 0], pos=hand.pos, mass=0)
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._point = self._model.geom("point").id
        self._zones = {_solid(zone): self._model.geom(f"zone {k}").id for k, zone in enumerate(zones)}
        mujoco.mj_kinematics(self._model, self._data)
        self._robot = [geom for geom in range(self._model.ngeom) if self._travels(geom)]

    def _travels(self, geom: int) -> bool:
        moved_with = self._model.body_weldid[self._model.geom_bodyid[geom]]
        if moved_with != self._model.jnt_bodyid[0]:
            return moved_with > 0 and geom != self._point
        beside = np.cross(self._data.geom_xpos[geom] - self._data.xanchor[0], self._data.xaxis[0])
        return bool(np.linalg.norm(beside) > _ON_AXIS)

    def distance(self, qpos: Array, zone: Zone) -> float:
        """[m] from the solid of `zone`, below zero inside; joints (nq,), or (nq + 2,) with the fingers."""
        self._data.qpos[: len(qpos)] = qpos
        if len(qpos) == self._nq:
            self._data.qpos[self._nq :] = WIDTH / 2
        mujoco.mj_kinematics(self._model, self._data)
        return self.distance_here(zone)

    def distance_here(self, zone: Zone) -> float:
        """As `distance`, in the posture asked of last."""
        solid = self._zones[_solid(zone)]
        if zone.subject is Subject.GRIPPER:
            return _POINT + float(mujoco.mj_geomDistance(self._model, self._data, self._point, solid, 10.0, None))
        measure = mujoco.mj_geomDistance
        return min(float(measure(self._model, self._data, geom, solid, 10.0, None)) for geom in self._robot)


_POINT = 1e-4  # [m] radius of the solid that stands for the gripper point


def _solid(zone: Zone) -> tuple[object, ...]:
    return zone.shape, zone.size, zone.pose, zone.subject


@dataclass
class Log:
    """What happened, every FILTER_PERIOD."""

    times: list[float] = field(default_factory=list)
    distances: list[dict[str, float]] = field(default_factory=list)  # of each zone in force [m]
    clearances: list[dict[str, float]] = field(default_factory=list)  # that is in force [m]
    speeds: list[float] = field(default_factory=list)  # of the gripper point [m/s]
    limits: list[float] = field(default_factory=list)  # in force [m/s]
    commanded: list[float] = field(default_factory=list)  # what the commanded posture leaves of the clearances [m]
    qvel: list[Array] = field(default_factory=list)  # (nq,) [rad/s]
    outside: float = -np.inf  # farthest beyond the range of a joint [rad]
    off: float = 0.0  # largest distance of a joint from its command [rad]
    touched: list[bool] = field(default_factory=list)  # whether the robot touches the table
    shares: tuple[float, float] = (0.0, 0.0)  # largest of the joints' velocity and acceleration limits
    refused: int = 0  # references
    rungs: list[FallbackLevel] = field(default_factory=list)  # every PERIOD
    controller_ms: list[float] = field(default_factory=list)
    solve_ms: list[float] = field(default_factory=list)  # of it, the programs
    proof_ms: list[float] = field(default_factory=list)  # of the filter, when a plan arrives
    filter_ms: list[float] = field(default_factory=list)  # of the filter, when it steps by itself
    looks: int = 0  # of the filter
    stepping: int = 0  # those at which the plan did not pass
    infeasible: int = 0  # of these, at which not even braking kept everything


class GuardedArm:
    """One robot, its nodes' leads and its driver. `offset` [s] is how far its clock is from the simulation's."""

    def __init__(self, world: World, zones: Sequence[Zone], filtered: bool = True) -> None:
        """`zones`: every solid that is ever to be kept out of."""
        self.world, self.log = world, Log()
        self.offset = 0.0
        self.late = 0.0  # [s] that a plan takes to the filter
        robot = world.arm
        self.referee = Referee(zones, robot)
        self._controller = MpcController(robot=controlled_arm(robot), clock=time.thread_time)
        self._controller.prepare()  # as its node does before the robot moves
        self.ladder = FallbackSupervisor(self._controller, InputValidator(Expected(velocity=robot.limits.qvel_max)))
        self._boards = ConstraintArbiter(), ConstraintArbiter()  # of the controller, and of the filter
        self._guard = Guard(SafetyFilter(arm_body(robot), robot.limits)) if filtered else None
        self._under_way: list[tuple[float, JointTrajectory]] = []  # plans, and when they arrive
        qpos = world.joint_state().qpos
        self._commands = CommandQueue(formulation.hold(qpos, 0.0, 0.1, WIDTH))
        self._driver = RateLimiter(world.limits, qpos)
        self._robot_geoms = {g for g in range(world.model.ngeom) if world.model.geom_contype[g] == 1}

    def offered(self, patch: Patch) -> None:
        for board in self._boards:
            board.offered(patch, self.now)

    @property
    def now(self) -> float:
        """By the robot's clock [s]."""
        return self.world.time + self.offset

    def state(self) -> JointState:
        return replace(self.world.joint_state(), time=self.now)

    def constraints(self) -> MotionConstraints:
        return self._boards[0].at(self.now, self.hand_speed())

    def hand_speed(self) -> float:
        """[m/s] of the gripper point, in the simulation."""
        velocity = np.zeros(6)
        model, data = self.world.model, self.world.data
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, model.site("gripper").id, velocity, 0)
        return math.sqrt(float(velocity[3:] @ velocity[3:]))

    def leap(self, seconds: float) -> None:
        """The robot's clock leaps."""
        self.offset += seconds
        for board in self._boards:
            board.started_over(self.now)
        if self._guard is not None and seconds < 0:
            self._guard.forget()
        self._under_way.clear()

    def step(self, reference: MotionReference | None, state: JointState | None = None) -> None:
        """One tick: plan from `state` (else as it is), and follow until the next."""
        self.constraints()
        self.hear(reference)
        began = time.thread_time()
        foreseen = self._boards[0].foreseen()
        plan = self.ladder.step(state or self.state(), self.now + LEAD, self.world.time, foreseen)
        self.log.controller_ms.append(1e3 * (time.thread_time() - began))
        self.log.solve_ms.append(1e3 * self._controller.statistics.solve_time)
        self._under_way.append((self.world.time + self.late, plan))
        self.drift()

    def hear(self, reference: MotionReference | None) -> None:
        if reference is not None:
            self.log.refused += bool(self.ladder.follow(reference))

    def drift(self) -> None:
        """One tick without the controller: what was planned is followed, under the filter."""
        self.log.rungs.append(self.ladder.status.level)
        constraints = self.constraints()
        for _ in range(round(PERIOD / FILTER_PERIOD)):
            self._filter()
            self._look(constraints)
            now = self.world.time
            self.world.follow(self._driver.advance(self._commands.at, now, FILTER_PERIOD), FILTER_PERIOD)

    def _filter(self) -> None:
        """Sends what the robot is to follow from now on: the plan where it passes, else what the filter makes of it."""
        arrived = [plan for due, plan in self._under_way if due <= self.world.time + 1e-9]
        del self._under_way[: len(arrived)]
        command, began = (arrived[-1] if arrived else None), time.thread_time()
        if self._guard is not None:
            heard, command = command is not None, self._guarded(self._guard, command)
            spent = 1e3 * (time.thread_time() - began)
            if heard:
                self.log.proof_ms.append(spent)
            elif self._guard.is_stepping:
                self.log.filter_ms.append(spent)
        if command is not None:
            now = self.world.time
            command = replace(command, start_time=command.start_time - self.offset, gripper_width=WIDTH)
            if not self._commands.refusal(command, now, self.world.joint_state().qpos):
                self._commands.add(command, now)

    def _guarded(self, guard: Guard, plan: JointTrajectory | None) -> JointTrajectory | None:
        constraints = self._boards[1].at(self.now - LATER, self.hand_speed())
        begins = self.now + LEAD
        guard.measured(self.state())
        heard = guard.hear(plan, max(plan.start_time, begins), constraints) if plan is not None else None
        command = heard or guard.step(begins, constraints)
        self.log.looks += 1
        self.log.stepping += guard.is_stepping
        self.log.infeasible += guard.is_stepping and guard.filtered.infeasible
        return command

    def _look(self, constraints: MotionConstraints) -> None:
        log, data, nq = self.log, self.world.data, self.world.arm.nq
        commanded = np.concatenate([self._driver.qpos, data.qpos[nq : nq + 2]])
        log.commanded.append(
            min((self.referee.distance(commanded, zone) - zone.clearance for zone in constraints.zones), default=np.inf)
        )
        qpos, limits = data.qpos[:nq], self.world.limits
        log.outside = max(log.outside, float(np.maximum(limits.qpos_min - qpos, qpos - limits.qpos_max).max()))
        log.off = max(log.off, float(np.abs(self._driver.qpos - qpos).max()))
        distances = {}
        for k, zone in enumerate(constraints.zones):
            distances[zone.name] = (
                self.referee.distance_here(zone) if k else self.referee.distance(data.qpos[: nq + 2], zone)
            )
        log.times.append(self.world.time)
        log.distances.append(distances)
        log.clearances.append({zone.name: zone.clearance for zone in constraints.zones})
        log.speeds.append(self.hand_speed())
        log.limits.append(constraints.speed)
        log.qvel.append(data.qvel[:nq].copy())
        log.touched.append(any(not self._robot_geoms.isdisjoint(pair) for pair in data.contact.geom.tolist()))


def piece(poses: Sequence[Pose], dt: float, since: float, now: float, epoch: int = 1) -> MotionReference:
    """What a skill sends at `now` [s] of a path that began at `since`."""
    first = min(max(round((now - since) / dt), 0), len(poses) - 1)
    return MotionReference(now, dt, tuple(poses[first : first + 21]), WIDTH, epoch=epoch)
