"""The simulated robot and table as a node: takes `joint_command`, gives `joint_states`, `scene`, `clock` and `tf`.

Stamps count on from the time of day at which the node was started, through every reset, so that nothing of an earlier
run can be taken for something of this one.
"""

from __future__ import annotations

import time
from dataclasses import replace

from llm_planner_interfaces.msg import Scene
from llm_planner_interfaces.srv import ResetWorld
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from llm_planner.control.fallback import hold
from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.message_conversions import (
    joint_state_to_msg,
    scene_to_msg,
    stamp,
    trajectory_from_msg,
    transform_to_msg,
)
from llm_planner.nodes.settings import Setting
from llm_planner.nodes.shell import ERROR, NEWEST_ONLY, OK, SENSOR_DATA, WARN, ShellNode, run_node
from llm_planner.simulation.command_queue import CommandQueue
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.rate_limiter import RateLimiter
from llm_planner.simulation.world import open_world
from llm_planner.world.scene import Pose

PERIOD = 0.01  # [s] simulated between two joint states
DISTANCE_MAX = 0.3  # [rad] from the present command at which a new one may begin
RESET_GAP = 1.0  # [s] that stamps leap at a reset: longer than any motion reference is valid
CATCH_UP = 4  # periods stepped at once after a hold-up; what is behind by more is dropped
GRIPPER_FRAME = "gripper"


class SimulatorNode(ShellNode):
    """Steps a world in step with the wall clock and follows the joint trajectories that it hears."""

    SETTINGS = (
        Setting("world", "tabletop", "name of the world"),
        Setting("seed", 0, "lays the objects out", 0, 2**31 - 1),
        Setting("objects", "", "what is in the scene, e.g. 'red block, green bowl'; empty: drawn from the seed"),
        Setting("real_time_factor", 1.0, "simulated seconds a wall second", 0.05, 20.0),
        Setting("scene_rate", 20.0, "scenes a simulated second [Hz]", 1.0, 100.0),
    )

    def configure(self) -> None:
        text = self.setting("objects")
        self._world = open_world(self.setting("world"), self.setting("seed"), parse_objects(text) if text else None)
        self._factor = self.setting("real_time_factor")
        self._scene_every = max(1, round(1.0 / (self.setting("scene_rate") * PERIOD)))
        self._joint_states = self.create_lifecycle_publisher(JointState, "joint_states", SENSOR_DATA)
        self._scene = self.create_lifecycle_publisher(Scene, "scene", SENSOR_DATA)
        self._clock_topic = self.create_lifecycle_publisher(Clock, "/clock", SENSOR_DATA)
        self._tf = self._transform_publisher()
        self.create_subscription(JointTrajectory, "joint_command", self._on_command, NEWEST_ONLY)
        self.create_service(ResetWorld, "reset_world", self._on_reset)
        self.every(PERIOD / self._factor, self._on_tick)
        self.every(1.0, self._on_diagnose)
        self._epoch = time.time()
        self._restart()

    def _transform_publisher(self):
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            self.get_logger().info("tf2_msgs is not installed, so no transforms are published; all else works")
            return None
        self._tf_message = TFMessage
        return self.create_lifecycle_publisher(TFMessage, "/tf", 10)

    def _restart(self) -> None:
        """Clocks and commands after the world was laid out."""
        world = self._world
        self._run = time.time_ns()
        self._commands = CommandQueue(hold(world.joint_state().qpos, 0.0, 0.1, world.gripper_width()))
        self._limiter = RateLimiter(world.limits, world.joint_state().qpos)
        self._count = 0
        self._wall_start = time.monotonic()
        self._dropped = 0
        self._publish_scene()

    def _on_command(self, message: JointTrajectory) -> None:
        try:
            trajectory = trajectory_from_msg(message)
        except LlmPlannerError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        if trajectory.gripper_width != trajectory.gripper_width:  # not a number: the fingers stay
            trajectory = self._with_present_width(trajectory)
        trajectory = replace(trajectory, start_time=trajectory.start_time - self._epoch)
        distance = self._limiter.distance(trajectory, self._world.time)
        if distance > DISTANCE_MAX:
            self.get_logger().error(
                f"joint_command refused: it begins {distance:.2f} rad from where the joints are commanded now; "
                f"at most {DISTANCE_MAX} rad are followed",
                throttle_duration_sec=5.0,
            )
            return
        self._commands.add(trajectory, self._world.time)

    def _with_present_width(self, trajectory):
        return replace(trajectory, gripper_width=self._commands.at(self._world.time).gripper_width)

    def _on_tick(self) -> None:
        if not self.is_active:
            self._wall_start = time.monotonic() - self._count * PERIOD / self._factor
            return
        due = int((time.monotonic() - self._wall_start) * self._factor / PERIOD) - self._count
        if due > CATCH_UP:
            self._dropped += due - CATCH_UP
            self._wall_start += (due - CATCH_UP) * PERIOD / self._factor
            due = CATCH_UP
        for _ in range(due):
            now = self._world.time
            self._world.follow(self._limiter.advance(self._commands.at(now), now, PERIOD), PERIOD)
            self._count += 1
            if self._count % self._scene_every == 0:
                self._publish_scene()
        if due > 0:
            self._publish_joints()

    def _now(self) -> float:
        """The stamp of the present moment [s]."""
        return self._epoch + self._world.time

    def _publish_joints(self) -> None:
        state = replace(self._world.joint_state(), time=self._now())
        self._joint_states.publish(joint_state_to_msg(state, self._world.gripper_width()))
        self._clock_topic.publish(Clock(clock=stamp(self._now())))

    def _publish_scene(self) -> None:
        scene = replace(self._world.scene(), time=self._now())
        self._scene.publish(scene_to_msg(scene, self._world.name, self._run))
        if self._tf is not None:
            poses = {item.name.replace(" ", "_"): Pose(item.position, item.orientation) for item in scene.objects}
            poses[GRIPPER_FRAME] = self._world.gripper_pose()
            transforms = [transform_to_msg(scene.time, child, pose) for child, pose in poses.items()]
            self._tf.publish(self._tf_message(transforms=transforms))

    def _on_reset(self, request: ResetWorld.Request, response: ResetWorld.Response) -> ResetWorld.Response:
        try:
            epoch = self._now() + RESET_GAP
            self._world.reset(request.seed, parse_objects(", ".join(request.objects)) if request.objects else None)
        except LlmPlannerError as error:
            response.error_code, response.error_msg = ResetWorld.Response.INVALID_OBJECTS, str(error)
            return response
        self._epoch = epoch
        self._restart()
        return response

    def _on_diagnose(self) -> None:
        watch = self._world.limit_watch
        values = [
            ("simulated_time", f"{self._world.time:.2f}"),
            ("dropped_periods", self._dropped),
            ("largest_velocity_share", f"{watch.qvel_ratio.max():.3f}"),
            ("largest_acceleration_share", f"{watch.qacc_ratio.max():.3f}"),
        ]
        if watch.exceeded:
            self.report(ERROR, f"a joint limit was exceeded: {watch}", values)
        elif self._dropped:
            self.report(WARN, "too slow for real time", values)
        else:
            self.report(OK, "in real time", values)


def main() -> None:
    run_node(SimulatorNode, "simulator")


if __name__ == "__main__":
    main()
