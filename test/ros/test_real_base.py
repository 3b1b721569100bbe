"""A mobile base behind a ros2_control controller: its topics are parameters, its velocities are stamped or not."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter

from llm_planner.robots.motion import JointState
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.conversions.robot_messages import odometry_to_msg, velocity_from_msg
from llm_planner.ros.nodes.safety_filter_node import SafetyFilterNode

PATIENCE = 30.0  # [s] of wall time: generous, because the machine may be busy
PERIOD = 0.02  # [s]
TIMEOUT = 0.5  # [s] cmd_vel_timeout of ros2_control's controllers


@dataclass
class Base:
    """Driver with the semantics of mecanum_drive_controller and diff_drive_controller: it drops stale commands."""

    stamped: bool
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    pose: np.ndarray = field(default_factory=lambda: np.zeros(3))
    until: float = 0.0
    heard: int = 0
    stale: int = 0

    def on_command(self, message: TwistStamped | Twist) -> None:
        since = seconds(message.header.stamp) if self.stamped else time.time()
        if time.time() - since > TIMEOUT:
            self.stale += 1
            return
        self.velocity = np.array(velocity_from_msg(message.twist if self.stamped else message))
        self.until, self.heard = since + TIMEOUT, self.heard + 1

    def odometry(self) -> Odometry:
        now = time.time()
        if now > self.until:
            self.velocity = np.zeros(3)
        self.pose = self.pose + PERIOD * self.velocity
        return odometry_to_msg(JointState(now, self.pose, self.velocity))


@pytest.mark.parametrize("stamped", [True, False])
def test_it_follows_a_velocity_and_stops_by_itself_when_none_comes_any_more(here, stamped):
    parameters = {
        "robot": "mobile",
        "simulator": False,
        "state_topic": "mecanum_drive_controller/odometry",
        "command_topic": "mecanum_drive_controller/reference",
        "enable_stamped_cmd_vel": stamped,
        "cmd_vel_timeout": TIMEOUT,
    }
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    node = SafetyFilterNode("safety_filter", context=here.context, parameter_overrides=overrides)
    node.trigger_configure()
    node.trigger_activate()
    base, driver = Base(stamped), rclpy.create_node("driver", context=here.context)
    kind = TwistStamped if stamped else Twist
    driver.create_subscription(kind, parameters["command_topic"], base.on_command, 10)
    states = driver.create_publisher(Odometry, parameters["state_topic"], 10)
    controller = rclpy.create_node("mpc_controller", context=here.context)
    wanted = controller.create_publisher(Twist, "cmd_vel_wanted", 1)
    driver.create_timer(PERIOD, lambda: states.publish(base.odometry()))
    forward = Twist()
    forward.linear.x = 0.2
    commands = driver.create_timer(PERIOD, lambda: wanted.publish(forward))
    here.add(node, driver, controller)
    assert here.spin(lambda: base.pose[0] > 0.02 and base.velocity[0] > 0.1, PATIENCE)
    assert base.velocity == pytest.approx([base.velocity[0], 0.0, 0.0], abs=1e-6)
    commands.cancel()
    assert here.spin(lambda: not base.velocity.any(), PATIENCE), "the filter brakes, or nothing comes any more"
    assert base.heard > 0
