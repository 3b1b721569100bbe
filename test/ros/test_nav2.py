"""A mobile base that nav2 drives: the skill server beside an action server with the semantics of nav2's."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import Twist
from llm_planner_interfaces.action import ExecuteSkill
from llm_planner_interfaces.msg import MotionConstraints, MotionReference, PlanStatus, SkillArgument
from llm_planner_interfaces.msg import Scene as SceneMsg
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.parameter import Parameter
from rclpy.task import Future

from llm_planner.robots.motion import JointState
from llm_planner.ros.base_node import LATCHED, SENSOR_DATA
from llm_planner.ros.conversions.geometry_messages import pose_from_msg
from llm_planner.ros.conversions.motion_messages import zone_to_msg
from llm_planner.ros.conversions.robot_messages import odometry_to_msg
from llm_planner.ros.conversions.scene_messages import scene_to_msg
from llm_planner.ros.nodes.skill_server_node import SkillServerNode
from llm_planner.scene.geometry import upright_pose, yaw_of
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.simulation.worlds import open_world

actions = pytest.importorskip("nav2_msgs.action", reason="nav2_msgs is not installed; make setup-dev builds a stand-in")
import nav2_msgs.msg  # noqa: E402
from nav2_msgs.msg import SpeedLimit  # noqa: E402

if not hasattr(nav2_msgs.msg, "CostmapFilterInfo"):
    pytest.skip("the stand-in for nav2_msgs is an old one; make setup-dev builds it anew", allow_module_level=True)

ACTION = "navigate_to_pose"
PATIENCE = 60.0  # [s] of wall time: generous, because the machine may be busy
PERIOD, SPEED = 0.05, 2.0  # [s], [m/s]


class Nav2:
    """Drives a base straight to the newest goal; a goal preempts the one before it, which is aborted."""

    def __init__(self, node) -> None:
        self.scene = open_world("rooms", 1).scene()
        self.pose, self.goals, self.ended, self.limits = self.scene.robot, [], [], []
        self.error, self._done = "", Future()
        self._velocity = np.zeros(3)
        self.infos, self.masks = [], []
        node.create_subscription(SpeedLimit, "speed_limit", lambda m: self.limits.append(m.speed_limit), 10)
        node.create_subscription(nav2_msgs.msg.CostmapFilterInfo, "keepout_filter_info", self.infos.append, LATCHED)
        node.create_subscription(OccupancyGrid, "keepout_filter_mask", self.masks.append, LATCHED)
        ActionServer(
            node,
            actions.NavigateToPose,
            ACTION,
            self._execute,
            goal_callback=lambda goal: GoalResponse.ACCEPT,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )
        self._odom = node.create_publisher(Odometry, "odom", SENSOR_DATA)
        self._scenes = node.create_publisher(SceneMsg, "scene", SENSOR_DATA)
        node.create_timer(PERIOD, self._on_cycle)
        self._handle = None

    async def _execute(self, handle):
        self._done.set_result(False)
        self._done, self._handle = Future(), handle
        done = self._done
        self.goals.append(pose_from_msg(handle.request.pose.pose))
        arrived = await done
        self.ended.append(arrived)
        result = actions.NavigateToPose.Result()
        if handle.is_cancel_requested:
            handle.canceled()
        elif arrived:
            handle.succeed()
        else:
            result.error_code, result.error_msg = 9003, self.error
            handle.abort()
        return result

    def _on_cycle(self) -> None:
        now, before = time.time(), self.pose
        if not self._done.done() and self.goals:
            self._drive()
        moved = (np.array(self.pose.position[:2]) - before.position[:2]) / PERIOD
        qpos = np.array([*self.pose.position[:2], yaw_of(self.pose)])
        self._odom.publish(odometry_to_msg(JointState(now, qpos, np.array([*moved, 0.0]))))
        self.scene = replace(self.scene, robot=self.pose, time=now)
        self._scenes.publish(scene_to_msg(self.scene, "map", "rooms", 1))

    def _drive(self) -> None:
        if self._handle.is_cancel_requested or self.error:
            self._done.set_result(False)
            return
        (x, y, _), (gx, gy, _) = self.pose.position, self.goals[-1].position
        left = math.dist((x, y), (gx, gy))
        share = min(1.0, SPEED * PERIOD / left) if left else 1.0
        self.pose = upright_pose(x + share * (gx - x), y + share * (gy - y), yaw_of(self.goals[-1]))
        if share == 1.0:
            self._done.set_result(True)


class Bench:
    """The skill server, nav2, and the executor of a plan whose lease names the goal."""

    def __init__(self, here) -> None:
        parameters = {"robot": "mobile", "simulator": False, "navigate_action": ACTION, "state_timeout": 10.0}
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        self._here = here
        self.server = SkillServerNode("skill_server", context=here.context, parameter_overrides=overrides)
        self.server.trigger_configure()
        self.server.trigger_activate()
        executor = rclpy.create_node("plan_executor", context=here.context)
        driver = rclpy.create_node("driver", context=here.context)
        self.nav2 = Nav2(driver)
        self.lease, self.references, self.velocities = "", [], []
        self._status = executor.create_publisher(PlanStatus, "plan_status", LATCHED)
        self._limits = rclpy.create_node("mpc_controller", context=here.context).create_publisher(
            MotionConstraints, "motion_constraints", LATCHED
        )
        driver.create_subscription(MotionReference, "motion_reference", self.references.append, 10)
        driver.create_subscription(Twist, "cmd_vel", self.velocities.append, 10)
        executor.create_timer(0.1, lambda: self._status.publish(PlanStatus(executor=1, lease=self.lease)))
        self._client = ActionClient(executor, ExecuteSkill, "execute_skill")
        here.add(self.server, executor, driver)
        assert self.spin(self._client.server_is_ready)

    def spin(self, until) -> bool:
        return self._here.spin(until, PATIENCE)

    def go_to(self, room: str) -> list[ExecuteSkill.Result]:
        """Start the skill; the list gets its result."""
        self.lease, results = f"to {room}", []
        argument = SkillArgument(name="destination", type=SkillArgument.WORD, word=room)
        goal = ExecuteSkill.Goal(id=self.lease, step_id="1", skill="go_to", arguments=[argument])

        def on_answer(done) -> None:
            done.result().get_result_async().add_done_callback(lambda ended: results.append(ended.result().result))

        self._client.send_goal_async(goal).add_done_callback(on_answer)
        return results

    def limit(self, speed: float, *zones: Zone) -> None:
        nan = float("nan")
        self._limits.publish(MotionConstraints(speed=speed, joint_share=nan, zones=list(map(zone_to_msg, zones))))

    def room(self, name: str) -> Zone:
        """The zone of a rule that closes a room."""
        area = self.nav2.scene.building.find(name).area
        half = (area.x_max - area.x_min) / 2, (area.y_max - area.y_min) / 2, 5.0
        return Zone(f"the {name}", Shape.BOX, half, Pose((*area.center, 0.0)), 0.0, Subject.GRIPPER)

    def far_room(self) -> str:
        here = self.nav2.pose.position
        rooms = self.nav2.scene.building.rooms
        return max(rooms, key=lambda room: math.dist(room.area.center, here[:2])).name


@pytest.fixture
def bench(here) -> Bench:
    return Bench(here)


def test_a_skill_drives_by_goals_of_nav2_and_nothing_else_moves_the_base(bench):
    room = bench.far_room()
    results = bench.go_to(room)
    assert bench.spin(lambda: bool(results))
    assert results[0].error_code == ExecuteSkill.Result.SUCCEEDED, results[0].error_msg
    assert bench.nav2.scene.robot_room == room
    assert len(bench.nav2.goals) > 1, "one for each corner of the way"
    assert all(not reference.poses for reference in bench.references), "none but the end of a motion"
    assert bench.velocities == []


def test_when_the_plan_drops_the_skill_the_goal_is_cancelled(bench):
    results = bench.go_to(bench.far_room())
    assert bench.spin(lambda: bool(bench.nav2.goals))
    bench.lease = ""
    assert bench.spin(lambda: bool(results))
    assert results[0].error_code == ExecuteSkill.Result.CANCELED
    assert bench.spin(lambda: bench.nav2.ended[-1:] == [False])
    stands = bench.nav2.pose
    assert not bench._here.spin(lambda: bench.nav2.pose != stands, 1.0)


def test_what_nav2_says_when_it_gives_up_reaches_the_person(bench):
    bench.nav2.error = "no path to the goal"
    results = bench.go_to(bench.far_room())
    assert bench.spin(lambda: bool(results))
    assert results[0].error_code == ExecuteSkill.Result.UNREACHABLE
    assert "nav2 gave up (error code 9003): no path to the goal" in results[0].error_msg
    assert len(bench.nav2.goals) == 1, "nav2 has tried its recoveries; the goal is not sent again"


def test_a_speed_limit_reaches_nav2(bench):
    results = bench.go_to(bench.far_room())
    assert bench.spin(lambda: bool(bench.nav2.goals))
    bench.limit(0.25)
    assert bench.spin(lambda: 0.25 in bench.nav2.limits or bool(results))
    assert 0.25 in bench.nav2.limits


def test_what_rules_close_is_a_keepout_mask_of_nav2_and_is_open_again_when_they_are_over(bench):
    def is_closed(room: str) -> bool:
        mask, (x, y) = bench.nav2.masks[-1], bench.nav2.scene.building.find(room).area.center
        at = mask.info.origin.position
        column, row = int((x - at.x) / mask.info.resolution), int((y - at.y) / mask.info.resolution)
        return mask.data[row * mask.info.width + column] == 100

    room = bench.far_room()
    assert bench.spin(lambda: bool(bench.nav2.infos) and bool(bench.nav2.masks))
    (info,) = bench.nav2.infos
    assert (info.type, info.filter_mask_topic) == (0, "/keepout_filter_mask")
    assert bench.nav2.masks[-1].header.frame_id == "map"
    assert not any(bench.nav2.masks[-1].data)
    bench.limit(math.inf, bench.room(room))
    assert bench.spin(lambda: is_closed(room))
    assert not is_closed(bench.nav2.scene.robot_room)
    bench.limit(math.inf)
    assert bench.spin(lambda: not is_closed(room))


def test_a_base_on_its_way_into_a_closed_room_is_stopped_before(bench):
    here = bench.nav2.scene.robot_room
    results = bench.go_to(bench.far_room())
    assert bench.spin(lambda: bool(bench.nav2.goals))
    bench.limit(math.inf, *(bench.room(name) for name in bench.nav2.scene.building.names if name != here))
    assert bench.spin(lambda: bool(results))
    assert results[0].error_code == ExecuteSkill.Result.UNREACHABLE
    assert "was stopped on its way into the" in results[0].error_msg
    assert bench.spin(lambda: bench.nav2.ended[-1:] == [False])


def test_an_arm_is_refused(here):
    overrides = [Parameter("robot", value="panda"), Parameter("navigate_action", value="navigate_to_pose")]
    node = SkillServerNode("skill_server", context=here.context, parameter_overrides=overrides)
    here.add(node)
    node.trigger_configure()
    assert "the parameter navigate_action is 'navigate_to_pose', but robot is 'panda'" in str(node.start_error)
