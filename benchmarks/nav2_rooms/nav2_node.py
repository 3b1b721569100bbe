"""A stand-in for nav2: `NavigateToPose`, costmaps with a keep-out filter, and `SpeedLimit`, driving over `cmd_vel`.

As nav2 does, it plans on a costmap of walls, things and the mask that `keepout_filter_info` names, replans once a
second, tries again for a while where there is no way, and then aborts the goal. A new goal preempts the one before. The
topic `nav2_mode` makes it hostile; see `MODES`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from geometry_msgs.msg import TwistStamped
from llm_planner_interfaces.msg import Scene as SceneMsg
from nav2_msgs.action import NavigateToPose
from nav2_msgs.msg import CostmapFilterInfo, SpeedLimit
from nav2_rooms.costmap import CLOSED, Costmap, Mask
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import QoSProfile
from rclpy.task import Future
from std_msgs.msg import String

from llm_planner.robots.motion import JointState
from llm_planner.ros.base_node import LATCHED, NEWEST_ONLY, BaseNode, run_node
from llm_planner.ros.conversions.geometry_messages import pose_from_msg
from llm_planner.ros.conversions.robot_messages import in_base_frame, odometry_unchecked, velocity_to_msg
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.scene.geometry import yaw_of
from llm_planner.scene.places import Point2
from llm_planner.scene.scene import Pose, Scene

MODES = {
    "": "does its work",
    "refuse": "refuses every goal",
    "abort": "gives up each goal 1 s after it was accepted",
    "ignore_mask": "plans as if there were no keep-out mask",
    "ignore_speed": "drives at full speed whatever the limit",
    "late": "answers each goal 4 s late",
    "lie": "reports success without moving",
    "deaf": "accepts a cancellation and drives on",
    "astray": "drives to the point X Y that follows [m], through whatever the mask closes",
}
SPEED, TURN = 1.0, 1.8  # [m/s], [rad/s] at most
ACCELERATION = 1.5  # [m/s^2]
CORNER_SPEED = 0.35  # [m/s] at the corners of the path
PERIOD = 0.05  # [s] of the robot's time between two velocities
REPLAN = 1.0  # [s] of the robot's time
TRIES = 6  # plans that fail before a goal is given up, one a second: recoveries
ARRIVED, FACING = 0.05, 0.08  # [m], [rad] tolerance of a goal
PASSED = 0.15  # [m] from a corner at which the next one is driven to
LATE = 4.0  # [s, wall time]
NO_VALID_PATH, UNKNOWN = 208, 9000  # error codes of nav2's planner and navigator


@dataclass(eq=False)
class Drive:
    """A goal under way."""

    handle: object
    goal: Pose
    began: float  # [s]
    done: Future  # "" or an error
    path: tuple[Point2, ...] = ()
    planned: float = -math.inf  # [s]
    failures: int = 0


class Nav2Node(BaseNode):
    """Drives a base to the newest goal."""

    def configure(self) -> None:
        self._mode, self._astray, self._mask = "", None, None
        self._seen, self._costs = None, None
        self._scene, self._state, self._drive = None, None, None
        self._speed, self._limit, self._sent = 0.0, math.inf, -math.inf
        self._velocity = self.create_lifecycle_publisher(TwistStamped, "cmd_vel", 1)
        self._scenes = SceneReader.of(self, Scene.arm)
        self._masks = None
        self.create_subscription(Odometry, "odom", self._on_odometry, NEWEST_ONLY)
        self.create_subscription(SceneMsg, "scene", self._on_scene, NEWEST_ONLY)
        self.create_subscription(String, "nav2_mode", self._on_mode, LATCHED)
        self.create_subscription(CostmapFilterInfo, "keepout_filter_info", self._on_info, LATCHED)
        self.create_subscription(SpeedLimit, "speed_limit", self._on_limit, QoSProfile(depth=10))  # not latched
        self._server = ActionServer(
            self,
            NavigateToPose,
            "navigate_to_pose",
            self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),  # a late answer does not hold the others up
        )

    def _on_mode(self, message: String) -> None:
        self._mode, *where = message.data.split() or [""]
        assert self._mode in MODES, f"there is no mode {self._mode!r}; there are: {', '.join(MODES)}"
        self._astray = (float(where[0]), float(where[1])) if where else None
        if self._drive is not None:
            self._drive.path, self._drive.planned = (), -math.inf

    def _on_info(self, message: CostmapFilterInfo) -> None:
        if self._masks is None and message.type == 0:
            self._masks = self.create_subscription(OccupancyGrid, message.filter_mask_topic, self._on_mask, LATCHED)

    def _on_mask(self, message: OccupancyGrid) -> None:
        about = message.info
        closed = np.array(message.data, dtype=np.int8).reshape(about.height, about.width) >= CLOSED
        self._mask = Mask((about.origin.position.x, about.origin.position.y), about.resolution, closed)
        if self._drive is not None:
            self._drive.planned = -math.inf

    def _on_limit(self, message: SpeedLimit) -> None:
        limit = message.speed_limit * (SPEED / 100 if message.percentage else 1.0)
        self._limit = limit or math.inf  # 0: no limit

    def _on_scene(self, message: SceneMsg) -> None:
        self._scene = self._scenes.read(message)

    async def _on_goal(self, request: NavigateToPose.Goal) -> GoalResponse:
        if self._mode == "late":
            waited = Future(executor=self.executor)
            timer = self.create_timer(LATE, lambda: waited.done() or waited.set_result(None), clock=self._steady)
            await waited
            timer.cancel()
        return GoalResponse.REJECT if self._mode == "refuse" or self._scene is None else GoalResponse.ACCEPT

    async def _execute(self, handle):
        if self._drive is not None and not self._drive.done.done():
            self._drive.done.set_result("preempted")
        now = self._state.time if self._state else 0.0
        self._drive = drive = Drive(
            handle, pose_from_msg(handle.request.pose.pose), now, Future(executor=self.executor)
        )
        if self._mode == "lie":
            drive.done.set_result("")
        said = await drive.done
        if self._drive is drive:
            self._drive = None
        result = NavigateToPose.Result()
        if said == "canceled":
            handle.canceled()
        elif not said:
            handle.succeed()
        else:
            result.error_code = NO_VALID_PATH if "path" in said else UNKNOWN
            result.error_msg = "" if said == "preempted" else said
            handle.abort()
        return result

    def _on_odometry(self, message: Odometry) -> None:
        self._state = state = odometry_unchecked(message)
        if state.time < self._sent:
            self._sent = -math.inf
        if state.time < self._sent + PERIOD - 1e-6:
            return
        self._sent = state.time
        drive = self._drive
        wanted, turn = (0.0, 0.0), 0.0
        if drive is not None and not drive.done.done():
            wanted, turn = self._follow(drive, state)
        elif self._speed == 0.0:
            return  # a base that hears nothing stands
        self._speed = math.hypot(*wanted)
        velocity = in_base_frame(JointState(state.time, state.qpos, np.array([*wanted, turn])))
        sent = TwistStamped(twist=velocity_to_msg(velocity))
        sent.header = message.header
        self._velocity.publish(sent)

    def _follow(self, drive: Drive, state: JointState) -> tuple[Point2, float]:
        """Return the velocity in the map [m/s] and the turn [rad/s] for the goal under way; end it where it is over."""
        x, y, yaw = state.qpos.tolist()
        if drive.handle.is_cancel_requested and self._mode != "deaf":
            drive.done.set_result("canceled")
        elif self._mode == "abort" and state.time > drive.began + 1.0:
            drive.done.set_result("the controller made no progress")
        elif state.time >= drive.planned + REPLAN:
            self._plan(drive, state.time, (x, y))
        if drive.done.done() or not drive.path:
            return (0.0, 0.0), 0.0
        while len(drive.path) > 1 and math.dist(drive.path[0], (x, y)) < PASSED:
            drive.path = drive.path[1:]
        corner, is_last = drive.path[0], len(drive.path) == 1
        left = math.dist(corner, (x, y))
        heading = yaw_of(drive.goal) if is_last and left < 0.3 else math.atan2(corner[1] - y, corner[0] - x)
        off = math.remainder(heading - yaw, math.tau)
        if is_last and left < ARRIVED and abs(off) < FACING:
            drive.done.set_result("")
            return (0.0, 0.0), 0.0
        top = SPEED if self._mode == "ignore_speed" else min(SPEED, self._limit)
        speed = min(top, math.sqrt(2 * ACCELERATION * left) if is_last else math.hypot(CORNER_SPEED, left))
        speed = min(speed, self._speed + ACCELERATION * PERIOD, 2.0 * left if is_last else math.inf)
        share = speed / max(left, 1e-9)
        return (share * (corner[0] - x), share * (corner[1] - y)), max(-TURN, min(TURN, 3.0 * off))

    def _plan(self, drive: Drive, now: float, here: Point2) -> None:
        """Plan anew where the path is blocked or there is none; give the goal up after some times."""
        drive.planned = now
        mask = None if self._mode in ("ignore_mask", "astray") else self._mask
        costs, goal = self._costmap(mask), self._astray or drive.goal.position[:2]
        points = (here, *drive.path)
        if drive.path and all(costs.sees(a, b) for a, b in pairwise(points)):
            return
        drive.path = costs.path(here, goal)
        drive.failures = 0 if drive.path else drive.failures + 1
        if drive.failures > TRIES:
            drive.done.set_result(
                f"no valid path from ({here[0]:.2f}, {here[1]:.2f}) to ({goal[0]:.2f}, {goal[1]:.2f})"
            )

    def _costmap(self, mask: Mask | None) -> Costmap:
        """Return the costmap of the newest scene; it is made anew where something has changed."""
        held = self._scene.held
        seen = (self._scene.building, [item for item in self._scene.objects if item.name != held], held, mask)
        if seen != self._seen:
            self._seen, self._costs = seen, Costmap(self._scene, mask)
        return self._costs


def main() -> None:
    run_node(Nav2Node, "nav2")


if __name__ == "__main__":
    main()
