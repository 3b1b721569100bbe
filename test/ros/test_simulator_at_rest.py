"""The simulator works seldom while everything rests, and is there at once when a command comes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from llm_planner.control.formulation import StartState, integrate
from llm_planner.robots.arm_model import default_arm
from llm_planner.ros.base_node import RELIABLE
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.conversions.robot_messages import joint_state_from_msg, trajectory_to_msg
from llm_planner.ros.nodes.simulator_node import PERIOD, REST_STATES, SimulatorNode

ARM = default_arm()


class Filter(Node):
    """Hears the joints, and may command them."""

    def __init__(self, here) -> None:
        super().__init__("safety_filter", context=here.context)
        self.states = []
        self.create_subscription(JointState, "joint_states", self._on_state, RELIABLE)
        self.command = self.create_publisher(JointTrajectory, "joint_command", RELIABLE)

    def _on_state(self, message: JointState) -> None:
        self.states.append((seconds(message.header.stamp), joint_state_from_msg(message, ARM.joints, ARM.fingers)[0]))

    @property
    def spacing(self) -> float:
        """Median of the times between the last states [s]."""
        stamps = [stamp for stamp, _ in self.states[-11:]]
        return float(np.median(np.diff(stamps))) if len(stamps) > 10 else 0.0


@pytest.fixture
def commander(here) -> Iterator[Filter]:
    simulator = SimulatorNode("simulator", context=here.context)
    commander = Filter(here)
    here.add(simulator, commander)
    simulator.trigger_configure()
    simulator.trigger_activate()
    assert here.spin(lambda: commander.spacing >= 0.9 * REST_STATES * PERIOD), "it does not come to rest"
    yield commander
    simulator.close()


def nudge(stamp: float, state) -> JointTrajectory:
    """Turns the first joint by 0.02 rad in 0.4 s, beginning a moment later."""
    qacc = np.zeros((40, len(state.qpos)))
    qacc[:20, 0], qacc[20:, 0] = 0.5, -0.5
    return integrate(StartState(state.qpos, 0.0 * state.qpos, 0.0 * state.qpos), qacc, stamp + 0.05, 0.01, 0.04)


def test_a_command_that_moves_brings_every_state_back_at_once_and_rest_follows_again(here, commander):
    stamp, state = commander.states[-1]
    begun = len(commander.states)
    commander.command.publish(trajectory_to_msg(nudge(stamp, state), ARM))
    assert here.spin(lambda: commander.states[-1][0] > stamp + 0.3)
    spacings = np.diff([at for at, _ in commander.states[begun + 2 :]])
    assert spacings.max() == pytest.approx(PERIOD, abs=1e-6)
    assert here.spin(lambda: commander.spacing >= 0.9 * REST_STATES * PERIOD)
    assert commander.states[-1][1].qpos[0] - state.qpos[0] == pytest.approx(0.02, abs=0.002)
