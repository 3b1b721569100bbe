"""A base that a navigation system drives: skills give it the corners of their way, one after another."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import pytest

from llm_planner.robots.mobile_base import CLOSED_WIDTH, OPEN_WIDTH
from llm_planner.robots.motion import Observation
from llm_planner.scene.geometry import upright_pose, yaw_of
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.library import load_skills
from llm_planner.skills.navigated_base import NavigatedBase

PERIOD = 0.1  # [s]
SPEED = 0.5  # [m/s]


@dataclass
class StraightNavigator:
    """Drives straight to the newest target; `refuses` is its reason to give one up."""

    pose: Pose
    refuses: str = ""
    failure: str | None = ""
    speed: float = math.inf
    targets: list[Pose] = field(default_factory=list)
    canceled: int = 0
    zones: tuple[Zone, ...] = ()
    has_gripper: bool = False
    widths: list[float] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def go(self, pose: Pose) -> None:
        self.targets.append(pose)
        self.log.append("go")
        self.failure = self.refuses or None

    def cancel(self) -> None:
        self.canceled += 1
        self.failure = ""

    def limit_speed(self, speed: float) -> None:
        self.speed = speed
        self.log.append(f"at most {speed:g} m/s")

    def grip(self, width: float) -> bool:
        self.widths.append(width)
        return self.has_gripper

    def drive(self) -> None:
        if self.failure is not None:
            return
        target, step = self.targets[-1], min(SPEED, self.speed) * PERIOD
        (x, y, _), (gx, gy, _) = self.pose.position, target.position
        left = math.dist((x, y), (gx, gy))
        share = min(1.0, step / left) if left else 1.0
        yaw = yaw_of(target) if share == 1.0 else math.atan2(gy - y, gx - x)
        self.pose = upright_pose(x + share * (gx - x), y + share * (gy - y), yaw)
        if share == 1.0:
            self.failure = ""


class Drive:
    """A skill run by a navigator in the world of rooms."""

    def __init__(self, refuses: str = "") -> None:
        self.scene = open_world("rooms", 1).scene()
        self.navigator = StraightNavigator(self.scene.robot, refuses)
        self.skills = load_skills(make_base=lambda seen: NavigatedBase(seen, self.navigator))
        self.time, self.limit = self.scene.time, math.inf
        self.rooms: list[str] = []

    def observation(self) -> Observation:
        pose = self.navigator.pose
        self.scene = replace(self.scene, robot=pose, time=self.time)
        if self.rooms[-1:] != [self.scene.robot_room]:
            self.rooms.append(self.scene.robot_room)
        qpos = (*pose.position[:2], yaw_of(pose))
        return Observation(self.time, self.scene, qpos, pose, 0.0, speed_limit=self.limit)

    def start(self, skill: str, **arguments: object) -> None:
        self.run = self.skills.find(skill).start(arguments, self.observation())

    def steps(self, most: int = 2000) -> SkillResult | None:
        """What the skill ends with within `most` steps."""
        for _ in range(most):
            outcome = self.run.step(self.observation())
            if isinstance(outcome, SkillResult):
                return outcome
            assert len(outcome.poses) == 1
            assert outcome.poses[0] == self.navigator.pose, "a reference never moves the base"
            self.navigator.drive()
            self.time += PERIOD
        return None


@pytest.fixture
def drive() -> Drive:
    return Drive()


def farthest_room(drive: Drive) -> str:
    here = drive.scene.robot.position
    return max(drive.scene.building.rooms, key=lambda room: math.dist(room.area.center, here[:2])).name


def test_it_goes_through_the_rooms_of_the_plan_to_the_goal(drive):
    room = farthest_room(drive)
    drive.start("go_to", destination=room)
    result = drive.steps()
    assert result.code is SkillErrorCode.SUCCEEDED, result.message
    assert drive.rooms[-1] == room
    assert "" not in drive.rooms, "never through a wall: the way leads through doors"
    assert len(drive.navigator.targets) > 1


def test_a_target_that_is_given_up_fails_the_skill_with_the_reason():
    drive = Drive(refuses="nav2 gave up (error code 9003): no path")
    drive.start("go_to", destination=farthest_room(drive))
    result = drive.steps()
    assert result.code is SkillErrorCode.UNREACHABLE
    assert "did not arrive during 'drive': nav2 gave up (error code 9003): no path" in result.message


def test_a_speed_limit_is_handed_on(drive):
    drive.start("go_to", destination=farthest_room(drive))
    drive.limit = 0.2
    drive.steps(3)
    assert drive.navigator.speed == 0.2


def test_at_no_speed_it_stands_and_then_goes_on(drive):
    drive.start("go_to", destination=farthest_room(drive))
    drive.steps(5)
    drive.limit = 0.0
    drive.steps(2)
    stood, canceled = drive.navigator.pose, drive.navigator.canceled
    assert canceled == 1
    assert drive.steps(20) is None
    assert drive.navigator.pose == stood
    drive.limit = math.inf
    assert drive.steps().code is SkillErrorCode.SUCCEEDED


def test_a_limit_is_known_before_the_base_sets_out_and_0_which_means_none_to_nav2_is_never_told(drive):
    drive.limit = 0.0
    drive.start("go_to", destination=farthest_room(drive))
    drive.steps(5)
    assert drive.navigator.log == []
    drive.limit = 0.2
    drive.steps(1)
    assert drive.navigator.log == ["at most 0.2 m/s", "go", "at most 0.2 m/s"]


def closed(drive: Drive, room: str) -> Zone:
    area = drive.scene.building.find(room).area
    half = (area.x_max - area.x_min) / 2, (area.y_max - area.y_min) / 2, 5.0
    return Zone(f"the {room}", Shape.BOX, half, Pose((*area.center, 0.0)), 0.0, Subject.GRIPPER)


def test_it_is_stopped_before_it_enters_a_room_that_a_rule_closes_while_it_drives(drive):
    drive.start("go_to", destination=farthest_room(drive))
    drive.steps(3)
    assert len(drive.rooms) == 1
    drive.navigator.zones = tuple(closed(drive, room) for room in drive.scene.building.names if room != drive.rooms[0])
    result = drive.steps()
    assert result.code is SkillErrorCode.UNREACHABLE
    assert "was stopped on its way into the" in result.message
    assert "keepout_filter_mask" in result.message
    assert drive.navigator.failure == "", "the goal is cancelled"
    assert len(drive.rooms) == 1, "it never was in another room"


def test_a_base_that_stands_beside_a_closed_room_may_drive_away(drive):
    drive.start("go_to", destination=farthest_room(drive))
    drive.steps(3)
    around = set(drive.scene.building.names) - {drive.rooms[0]}
    route = Drive()
    route.start("go_to", destination=farthest_room(route))
    assert route.steps().code is SkillErrorCode.SUCCEEDED
    drive.navigator.zones = tuple(closed(drive, room) for room in around - set(route.rooms))
    assert drive.navigator.zones
    assert drive.steps().code is SkillErrorCode.SUCCEEDED


def test_its_fingers_move_where_it_has_some(drive):
    drive.navigator.has_gripper = True
    thing = next(item.name for item in drive.scene.objects if item.kind not in ("person", "dock"))
    drive.start("go_to", destination=drive.scene.building.room_at(*drive.scene.find(thing).position[:2]))
    assert drive.steps().code is SkillErrorCode.SUCCEEDED
    drive.start("pick_up", object=thing)
    result = drive.steps()
    assert result.code is SkillErrorCode.NO_GRASP, "here nothing takes hold of it"
    assert drive.navigator.widths == [OPEN_WIDTH, CLOSED_WIDTH]


def test_it_has_no_gripper_unless_a_parameter_says_so(drive):
    thing = next(item.name for item in drive.scene.objects if item.kind not in ("person", "dock"))
    room = drive.scene.building.room_at(*drive.scene.find(thing).position[:2])
    drive.start("go_to", destination=room)
    assert drive.steps().code is SkillErrorCode.SUCCEEDED
    drive.start("pick_up", object=thing)
    result = drive.steps()
    assert result.code is SkillErrorCode.PRECONDITION_FAILED
    assert "has no gripper, unless the parameter navigate_gripper says so" in result.message
