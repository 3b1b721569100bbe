"""ROS driver of an SO-101 (or SO-100) through LeRobot, with the topics of ros2_control.

    python examples/ros/so101_driver.py --port /dev/ttyACM0 --id my_arm --robot so_arm
    llm-planner up --no-simulator --robot so_arm

It runs where both lerobot (written for 0.6.1) and this package are installed. Calibrate the arm with lerobot-calibrate
first. The names of the joints in `robot.yaml` must be those of LeRobot's motors, and their zeros LeRobot's: the middle
of the range that was calibrated. Trajectories are followed by position commands, and each ends at rest.
"""

import argparse
import math
import sys
from collections import deque

import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory

from llm_planner.control.formulation import sample
from llm_planner.errors import LlmPlannerError
from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.conversions.message_checks import stamp
from llm_planner.ros.conversions.robot_messages import trajectory_from_msg

RATE = 50.0  # [Hz] of reading and writing the bus
WINDOW = 5  # readings over which a velocity is measured; one step of an encoder is 1.5 mrad


class So101Driver(Node):
    """Follows joint trajectories and gripper widths, and publishes joint states."""

    def __init__(self, arm, robot, widest, **options):
        """Drive `robot`, a connected lerobot Robot that takes degrees; its gripper opens `widest` [m]."""
        super().__init__("so101_driver", **options)
        self._arm, self._robot, self._widest = arm, robot, widest
        self._plan, self._width, self._read = None, None, deque(maxlen=WINDOW)
        self.create_subscription(JointTrajectory, arm.controllers.arm.topic(), self._on_plan, 10)
        self.create_subscription(Float64, "gripper_command", self._on_width, LATCHED)
        self._states = self.create_publisher(JointState, arm.topics.states, 10)
        self.create_timer(1.0 / RATE, self._on_cycle)

    def _on_plan(self, message):
        try:
            self._plan = trajectory_from_msg(message, self._arm)
        except LlmPlannerError as error:
            self.get_logger().error(str(error), throttle_duration_sec=1.0)

    def _on_width(self, message):
        if 0.0 <= message.data <= 1.0:
            self._width = min(message.data, self._widest)

    def _on_cycle(self):
        seen, now = self._robot.get_observation(), self.get_clock().now().nanoseconds * 1e-9
        position = [math.radians(seen[f"{joint}.pos"]) for joint in self._arm.joints]
        self._read.append((now, position))
        since, first = self._read[0]
        span = max(now - since, 1.0 / RATE)
        velocity = [(last - earlier) / span for last, earlier in zip(position, first, strict=True)]
        fingers = [seen["gripper.pos"] / 100.0 * self._widest / 2] * len(self._arm.fingers)
        names = [*self._arm.joints, *self._arm.fingers]
        message = JointState(name=names, position=[*position, *fingers], velocity=[*velocity, *[0.0] * len(fingers)])
        message.header.stamp = stamp(now)
        self._states.publish(message)
        action = {} if self._width is None else {"gripper.pos": 100.0 * self._width / self._widest}
        if self._plan is not None:
            wanted = sample(self._plan, max(now, self._plan.start_time)).qpos.tolist()
            action |= {f"{joint}.pos": math.degrees(q) for joint, q in zip(self._arm.joints, wanted, strict=True)}
        if action:
            self._robot.send_action(action)


def main():
    try:
        from lerobot.robots.so_follower import SO101Follower, SO101FollowerConfig
    except ImportError as error:
        sys.exit(f'{error}: install lerobot, which drives the bus of the arm: pip install "lerobot[feetech]"')

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", required=True, help="of the bus, as lerobot-find-port tells")
    parser.add_argument("--id", required=True, help="under which the calibration was stored")
    parser.add_argument("--robot", default="so_arm", help="name or folder of the arm")
    parser.add_argument("--widest", type=float, default=0.07, help="distance between the open fingertips [m]")
    parser.add_argument("--most", type=float, default=10.0, help="largest step of a joint in a cycle [deg]")
    args = parser.parse_args()
    robot = SO101Follower(SO101FollowerConfig(port=args.port, id=args.id, max_relative_target=args.most))
    robot.connect()
    rclpy.init()
    try:
        rclpy.spin(So101Driver(arm_model(args.robot), robot, args.widest))
    finally:
        robot.disconnect()  # this lets the arm go: support it


if __name__ == "__main__":
    main()
