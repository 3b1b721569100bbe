"""One arm of a shared table as its nodes drive it, in one process, and a judge of where it was.

The arm has its own reservation, controller and safety filter; it knows the other arms only by what they tell about the
strips. The judge shares nothing with them: distances are MuJoCo's, between the arm's real solids and the half spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from guarded_arm import Referee

from llm_planner.control.constraint_arbiter import ConstraintArbiter
from llm_planner.control.controlled_robot import arm as controlled_arm
from llm_planner.control.motion_constraints import FREE
from llm_planner.control.mpc import MpcController
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.control.zone_reservation import ArmState, ZoneReservation
from llm_planner.programs.values import Argument
from llm_planner.robots.carried import Grip
from llm_planner.robots.motion import MotionReference, sample
from llm_planner.scene.geometry import rotation_matrix
from llm_planner.scene.scene import SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.simulation.table_world import ArmAtTable, TableWorld
from llm_planner.skills.contract import OriginTracker, SkillError, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.library import SkillLibrary
from llm_planner.skills.reserved import ReservedSkill

PERIOD = 0.1  # [s] of controller, filter and skills, as in `skills.episode`
TOLERATED = 0.001  # [m] into a zone; the filter's own margin is larger
Job = tuple[str, Mapping[str, Argument]]


@dataclass
class Tally:
    """What happened to one arm."""

    commanded: int = 0  # periods in which the commanded posture was in a zone
    measured: int = 0  # periods in which the measured one was, what it carries included
    nearest: float = np.inf  # [m] least distance of the measured arm from its zones
    worked: int = 0  # periods with a skill
    waited: int = 0  # of these, periods spent waiting for a strip
    reserved: int = 0  # times that a strip was got
    results: list[SkillResult] = field(default_factory=list)


class WorkingArm:
    """Does its jobs, each a pair of skill calls, one after the other.

    Skills and controller of a `careless` arm know no sides; only its safety filter keeps it on its own.
    """

    def __init__(self, world: TableWorld, name: str, library: SkillLibrary, careless: bool = False) -> None:
        self.name, self.tally, self._careless = name, Tally(), careless
        self.arm: ArmAtTable = world.robots[name]
        self.reservation = ZoneReservation(name, world.table.boundaries(name))
        model = self.arm.arm
        self._controller = MpcController(robot=controlled_arm(model=model))
        self._guard = Guard(SafetyFilter(arm_body(model), model.limits))
        self._board, self._grip, self._origins = ConstraintArbiter(), Grip(), OriginTracker()
        self._library = library
        zones = [zone for one in self.reservation.boundaries for zone in (one.near, one.far)]
        self._referee = Referee(zones, model)
        self._jobs: list[Job] = []
        self._run: SkillRun | None = None

    def give(self, jobs: list[Job]) -> None:
        """Add jobs."""
        self._jobs += jobs

    @property
    def is_done(self) -> bool:
        return not self._jobs and self._run is None

    def tell(self) -> ArmState:
        """What the other arms hear."""
        return self.reservation.state()

    def plan(self, told: list[ArmState]) -> None:
        """Decide on the motion of the coming period, and let the arm follow it."""
        now = self.arm.time
        self._guard.measured(self.arm.joint_state())
        for state in told:
            self.reservation.heard(state)
        before = self.reservation.held
        self.reservation.update(lambda zone: self._guard.keeps_out(zone, now))
        self.tally.reserved += len(self.reservation.held - before)
        self._board.keep_out(self.reservation.zones)
        keep = self._board.at(now)
        scene = self.arm.scene()
        if self._grip.see(scene):
            self._guard.judged_by(SafetyFilter(arm_body(self.arm.arm, self._grip.carried), self.arm.limits))
            self._controller.carry(self._grip.carried)
        plan = self._controller.step(self.arm.joint_state(), self._work(), now, FREE if self._careless else keep)
        self.commanded = self._guard.hear(plan, now, keep) or self._guard.steps(now, PERIOD, keep)
        self.arm.follow(self.commanded, PERIOD)

    def judge(self) -> None:
        """Look where the arm is commanded to be and is, after the period."""
        tally, fingers = self.tally, self.arm.gripper_width() / 2
        name = self.arm.held()
        held = self.arm.scene().find(name) if name else None
        qpos = sample(self.commanded, np.array([self.arm.time]))[0][0]
        measured = self.arm.joint_state().qpos
        for zone in self.reservation.zones:
            commanded = self._referee.distance(np.concatenate([qpos, [fingers, fingers]]), zone)
            distance = self._referee.distance(np.concatenate([measured, [fingers, fingers]]), zone)
            distance = min(distance, _corners_from(held, zone) if held else np.inf)
            tally.commanded += commanded < -TOLERATED
            tally.measured += distance < -TOLERATED
            tally.nearest = min(tally.nearest, distance)
        tally.worked += self._run is not None
        tally.waited += self._run is not None and self._run.phase == "wait for the strip"

    def _work(self) -> MotionReference | None:
        observation = self.arm.observation()
        observation = replace(observation, origins=self._origins.update(observation.scene))
        while self._run is None and self._jobs:
            skill, arguments = self._jobs.pop(0)
            try:
                known = self._library.find(skill)
                wrapped = known if self._careless else ReservedSkill(known, self.reservation)
                self._run = wrapped.start(arguments, observation)
            except SkillError as error:
                self._ended(SkillResult(error.code, str(error)))
        if self._run is None:
            return None
        outcome = self._run.step(observation)
        if isinstance(outcome, SkillResult):
            self._ended(outcome)
            self._run = None
            return None
        return outcome

    def _ended(self, result: SkillResult) -> None:
        self.tally.results.append(result)
        if result.code is not SkillErrorCode.SUCCEEDED and len(self.tally.results) % 2 and self._jobs:
            self._jobs.pop(0)  # nothing was picked, so there is nothing to put down
            self.tally.results.append(result)


def _corners_from(item: SceneObject, zone: Zone) -> float:
    """Distance [m] of the corners of a box from a half space, which is a huge box with its face towards -x."""
    half = np.array(item.size) / 2
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    corners = np.array(item.position) + (signs * half) @ np.array(rotation_matrix(item.orientation)).T
    local = (corners - zone.pose.position) @ np.array(rotation_matrix(zone.pose.orientation))
    return float((-zone.size[0] - local[:, 0]).min())
