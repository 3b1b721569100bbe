"""The arm in MuJoCo as its nodes drive it, in one process: board of patches, ladder, controller, filter, and a referee.

The referee shares nothing with controller and filter: distances are MuJoCo's, between the robot's real solids and the
zones, every 4 ms; speeds are those of the hand in the simulation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np

from llm_planner.control.ladder import FallbackLadder, Rung
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.mpc import MpcController
from llm_planner.control.patch_board import PatchBoard
from llm_planner.control.reference import JointState, JointTrajectory, MotionReference
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import panda_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.control.vigilance import Expected, Vigilance
from llm_planner.control.zones import Shape, Subject, Zone
from llm_planner.simulation.panda import PANDA_LIMITS, panda_spec
from llm_planner.simulation.world import NQ, World
from llm_planner.world.scene import Pose

Array = np.ndarray
PERIOD, FILTER_PERIOD = 0.01, 0.004  # [s] of controller and filter; the simulation is looked at every FILTER_PERIOD
STEP = 0.002  # [s] that divides both
WIDTH = 0.08
_GEOMS = {Shape.SPHERE: 2, Shape.CAPSULE: 3, Shape.CYLINDER: 5, Shape.BOX: 6}
_FIXED = ("link0", "link1")  # they stand or turn about their own axis


class Referee:
    """Exact distances of the robot's solids, fingers included, from solids that may be zones."""

    def __init__(self, zones: Sequence[Zone]) -> None:
        spec = panda_spec()
        names = [geom.name for geom in spec.geoms if geom.name not in _FIXED]
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
        self._robot = [self._model.geom(name).id for name in names]
        self._point = self._model.geom("point").id
        self._zones = {_solid(zone): self._model.geom(f"zone {k}").id for k, zone in enumerate(zones)}

    def distance(self, qpos: Array, zone: Zone) -> float:
        """[m] from the solid of `zone`, below zero inside; joints (7,), or (9,) with the fingers."""
        self._data.qpos[: len(qpos)] = qpos
        if len(qpos) == NQ:
            self._data.qpos[NQ:] = WIDTH / 2
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
    touched: int = 0  # looks at which the robot touched the table
    rungs: list[Rung] = field(default_factory=list)  # every PERIOD
    controller_ms: list[float] = field(default_factory=list)
    filter_ms: list[float] = field(default_factory=list)
    stepping: int = 0  # looks of the filter at which the plan did not pass
    infeasible: int = 0  # of these, at which not even braking kept everything


class GuardedArm:
    """One robot. `step` is one tick of the controller; nothing is said about what it is told in between."""

    def __init__(
        self, world: World, zones: Sequence[Zone], board: PatchBoard | None = None, filtered: bool = True
    ) -> None:
        """`zones`: every solid that is ever to be kept out of."""
        self.world, self.board, self.log = world, board or PatchBoard(), Log()
        self.referee = Referee(zones)
        self.ladder = FallbackLadder(MpcController(), Vigilance(Expected(velocity=PANDA_LIMITS.qvel_max)))
        self._guard = Guard(SafetyFilter(panda_body(), PANDA_LIMITS)) if filtered else None
        self._plan: JointTrajectory | None = None
        self._command: JointTrajectory | None = None  # of the filter
        self._due = 0.0
        self._robot_geoms = {g for g in range(world.model.ngeom) if world.model.geom_contype[g] == 1}

    def constraints(self) -> MotionConstraints:
        return self.board.at(self.world.time, self.hand_speed())

    def hand_speed(self) -> float:
        """[m/s] of the gripper point, in the simulation."""
        velocity = np.zeros(6)
        model, data = self.world.model, self.world.data
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, model.site("gripper").id, velocity, 0)
        return math.sqrt(float(velocity[3:] @ velocity[3:]))

    def step(
        self, reference: MotionReference | None, state: JointState | None = None, wall: float | None = None
    ) -> None:
        """One tick: plan from `state` (else as it is), and follow until the next."""
        now = self.world.time
        constraints = self.constraints()
        if reference is not None:
            self.ladder.follow(reference)
        began = time.thread_time()
        self._plan = self.ladder.step(
            state or self.world.joint_state(), now, now if wall is None else wall, constraints
        )
        self.log.controller_ms.append(1e3 * (time.thread_time() - began))
        self.log.rungs.append(self.ladder.standing.rung)
        self.drift(constraints)

    def drift(self, constraints: MotionConstraints | None = None) -> None:
        """One tick without the controller: what was planned is followed, under the filter."""
        constraints = constraints or self.constraints()
        for _ in range(round(PERIOD / STEP)):
            if self.world.time >= self._due - 1e-9:
                self._due = self.world.time + FILTER_PERIOD
                self._filter(constraints)
                self._look(constraints)
            if self._command is not None:
                self.world.follow(self._command, STEP)

    def _filter(self, constraints: MotionConstraints) -> None:
        """What the robot follows from now on: the plan where it passes, else what the filter makes of it."""
        plan, self._plan = self._plan, None
        if self._guard is None:
            self._command = plan or self._command
            return
        now, began = self.world.time, time.thread_time()
        self._guard.measured(self.world.joint_state())
        command = plan and self._guard.hear(plan, now, constraints)
        command = command or self._guard.step(now, constraints)
        self._command = command or self._command
        self.log.filter_ms.append(1e3 * (time.thread_time() - began))
        self.log.stepping += self._guard.is_stepping
        self.log.infeasible += self._guard.is_stepping and self._guard.filtered.infeasible

    def _look(self, constraints: MotionConstraints) -> None:
        log, data = self.log, self.world.data
        distances = {}
        for k, zone in enumerate(constraints.zones):
            distances[zone.name] = (
                self.referee.distance_here(zone) if k else self.referee.distance(data.qpos[: NQ + 2], zone)
            )
        log.times.append(self.world.time)
        log.distances.append(distances)
        log.clearances.append({zone.name: zone.clearance for zone in constraints.zones})
        log.speeds.append(self.hand_speed())
        log.limits.append(constraints.speed)
        log.touched += any(not self._robot_geoms.isdisjoint(pair) for pair in data.contact.geom.tolist())


def piece(poses: Sequence[Pose], dt: float, since: float, now: float, epoch: int = 1) -> MotionReference:
    """What a skill sends at `now` [s] of a path that began at `since`."""
    first = min(max(round((now - since) / dt), 0), len(poses) - 1)
    return MotionReference(now, dt, tuple(poses[first : first + 21]), WIDTH, epoch=epoch)
