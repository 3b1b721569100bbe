"""A robot without hardware and without physics, to try everything on this side of a real robot's driver.

    python examples/ros/mock_ros2_control.py --robot fr3 --objects "red block, green bowl"
    llm-planner up --no-simulator --robot fr3
    llm-planner say "put the red block in the green bowl"

It has the topics and the action of the robot's `robot.yaml`, with the semantics of ros2_control: joints follow commands
ideally, one cycle later, as mock_components/GenericSystem; a joint_trajectory_controller refuses and replaces
trajectories; a forward_command_controller repeats its last value; a gripper_action_controller preempts,
reports that a goal is reached, or that the fingers stall.

Nothing falls, slips or is pushed. An object counts as held from the moment at which its box blocks the closing fingers
until they open; meanwhile it moves with the hand, and it stays where it is released. So success means that the arm
reached the poses of the grasp and the release, and that the fingers closed and opened there. It says nothing of grip,
friction or forces.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import mujoco
import numpy as np
import rclpy
from control_msgs import action as gripper_actions
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.action import ActionServer, CancelResponse
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.controllers import TRAJECTORY, GripperController
from llm_planner.ros.conversions.message_checks import seconds, stamp
from llm_planner.ros.conversions.scene_messages import scene_to_msg
from llm_planner.scene.scene import Pose, Scene
from llm_planner.simulation.worlds import open_world, read_objects

RATE, SCENE_RATE = 100.0, 10.0  # [Hz]
FINGER_SPEED = 0.1  # [m/s] of the width
GOAL_TOLERANCE = 0.001  # [m] of the width
STALL_TIMEOUT = 0.5  # [s]
AROUND = 0.003  # [m] of the grip point outside an object's box, at which the object is still between the fingers


class JointTrajectoryController:
    """Follows the newest trajectory that it accepted, with quintic splines, and holds its last point."""

    def __init__(self, joints: tuple[str, ...], start: np.ndarray) -> None:
        self._joints = joints
        at_rest = np.zeros(len(joints))
        self._times, self._points = np.zeros(1), np.array([[start, at_rest, at_rest]])  # (n,) [s], (n, 3, nq)

    def accept(self, message: JointTrajectory, now: float) -> str:
        """Follow a trajectory from `now` [s] on; return why it is refused, "" if it is not."""
        if set(message.joint_names) != set(self._joints) or not message.points:
            return f"it names the joints {', '.join(message.joint_names)}, or has no points"
        order = [message.joint_names.index(joint) for joint in self._joints]
        begins = seconds(message.header.stamp) or now
        times = np.array([begins + seconds(point.time_from_start) for point in message.points])
        points = np.array([(one.positions, one.velocities, one.accelerations) for one in message.points])[:, :, order]
        if (np.diff(times) <= 0.0).any():
            return "its times do not increase"
        if times[-1] < now:
            return f"it ended {now - times[-1]:.3f} s ago"
        if np.abs(points[-1, 1]).max() > np.finfo(np.float32).eps:
            return "its last velocity is not zero"
        if times[0] > now:  # until it begins, go on to its first point
            times, points = np.concatenate([[now], times]), np.concatenate([self.state(now)[None], points])
        self._times, self._points = times, points
        return ""

    def state(self, now: float) -> np.ndarray:
        """Return position, velocity and acceleration (3, nq) at `now` [s]."""
        after = int(np.searchsorted(self._times, now, side="right"))
        if after == 0 or after == len(self._times):
            position = self._points[min(after, len(self._points) - 1), 0]
            return np.array([position, 0.0 * position, 0.0 * position])
        (p, v, a), (p1, v1, a1) = self._points[after - 1], self._points[after]
        span = self._times[after] - self._times[after - 1]
        d, e, f = p1 - p - v * span - a * span**2 / 2, v1 - v - a * span, a1 - a
        c3 = 10 * d / span**3 - 4 * e / span**2 + f / (2 * span)
        c4 = -15 * d / span**4 + 7 * e / span**3 - f / span**2
        c5 = 6 * d / span**5 - 3 * e / span**4 + f / (2 * span**3)
        t = now - self._times[after - 1]
        return np.array(
            [
                p + v * t + a * t**2 / 2 + c3 * t**3 + c4 * t**4 + c5 * t**5,
                v + a * t + 3 * c3 * t**2 + 4 * c4 * t**3 + 5 * c5 * t**4,
                a + 6 * c3 * t + 12 * c4 * t**2 + 20 * c5 * t**3,
            ]
        )


class ForwardCommandController:
    """Commands the last positions that it received, for ever; the velocity is the difference from those before."""

    def __init__(self, start: np.ndarray) -> None:
        self._position, self._before, self._at = start, start, 0.0

    def accept(self, message: Float64MultiArray, now: float) -> str:
        if len(message.data) != len(self._position):
            return f"it has {len(message.data)} values for {len(self._position)} joints"
        self._position = np.array(message.data)
        return ""

    def state(self, now: float) -> np.ndarray:
        velocity = (self._position - self._before) / max(now - self._at, 1.0 / RATE)
        self._before, self._at = self._position, now
        return np.array([self._position, velocity, 0.0 * velocity])


class Fingers:
    """Gripper of which the newest goal counts; fingers stop at `obstacle` [m], the width of what is between them."""

    def __init__(self, node: Node, controller: GripperController) -> None:
        self.widths: list[float] = []  # that were commanded [m]
        self.width, self.obstacle = controller.open.width, 0.0
        self._controller, self._kind = controller, getattr(gripper_actions, controller.type)
        self._target, self._still = self.width, 0.0
        self._ended: Future | None = None  # of the active goal: whether it was reached
        ActionServer(
            node, self._kind, controller.action, self._execute, cancel_callback=lambda goal: CancelResponse.ACCEPT
        )

    @property
    def position(self) -> float:
        """Measured position of the gripper's joint."""
        return self._controller.position(self.width)

    @property
    def blocked(self) -> bool:
        """Whether what is between the fingers keeps them from closing."""
        return self._target < self.width <= self.obstacle

    def advance(self, duration: float) -> None:
        """Move the fingers for `duration` [s]; end the goal if it is reached or they stall."""
        before, most = self.width, FINGER_SPEED * duration
        self.width = max(before + min(max(self._target - before, -most), most), min(self.obstacle, before))
        self._still = 0.0 if self.width != before else self._still + duration
        reached = abs(self._target - self.width) < GOAL_TOLERANCE
        stalled = not reached and self._still >= STALL_TIMEOUT
        if self._ended and not self._ended.done() and (reached or stalled):
            self._ended.set_result(reached)

    async def _execute(self, handle: object) -> object:
        command = handle.request.command
        told = command.position if isinstance(command.position, float) else command.position[0]
        if self._ended and not self._ended.done():
            self._ended.set_result(None)  # preempted
        self._target, self._still = self._controller.width(told), 0.0
        self.widths.append(self._target)
        self._ended = ended = Future()
        reached = await ended
        if reached is None:
            handle.abort()
            return self._kind.Result()
        handle.succeed()  # allow_stalling is true
        result = self._kind.Result(stalled=not reached, reached_goal=reached)
        if hasattr(result, "state"):
            result.state.name, result.state.position = [self._controller.joint], [self.position]
        else:
            result.position = self.position
        return result


class Table:
    """Objects without physics, one of which may be in the hand."""

    def __init__(self, scene: Scene) -> None:
        self._scene, self._grip = scene, (np.zeros(3), np.zeros(4))  # T_gripper_object of the held one

    def scene(self, now: float, hand: Pose) -> Scene:
        return replace(self._scene, time=now, robot=hand)

    def between(self, hand: Pose) -> tuple[str, float]:
        """Return the object between the fingers and its width along the line that they close on, ("", 0.0) for none."""
        closing = _rotated(hand.orientation, (0.0, 1.0, 0.0))
        for item in self._scene.objects:
            half, back = np.array(item.size) / 2, _inverse(item.orientation)
            inside = _rotated(back, np.array(hand.position) - item.position)
            if (np.abs(inside) <= half + AROUND).all():
                return item.name, float(2 * half @ np.abs(_rotated(back, closing)))
        return "", 0.0

    def follow(self, hand: Pose, taken: str, is_open: bool) -> None:
        """Take what blocks the fingers, move what is held, and release it once they are open."""
        held = self._scene.held
        if not held and taken:
            item = self._scene.find(taken)
            inverse, self._grip = (np.zeros(3), np.zeros(4)), (np.zeros(3), np.zeros(4))
            mujoco.mju_negPose(*inverse, np.array(hand.position), _w_first(hand.orientation))
            mujoco.mju_mulPose(*self._grip, *inverse, np.array(item.position), _w_first(item.orientation))
            self._scene = replace(self._scene, held=taken)
        elif held and is_open:
            self._scene = replace(self._scene, held="")
        elif held:
            position, quaternion = np.zeros(3), np.zeros(4)
            mujoco.mju_mulPose(position, quaternion, np.array(hand.position), _w_first(hand.orientation), *self._grip)
            moved = replace(
                self._scene.find(held), position=tuple(position), orientation=tuple(np.roll(quaternion, -1).tolist())
            )
            others = tuple(moved if item.name == held else item for item in self._scene.objects)
            self._scene = replace(self._scene, objects=others)


def _w_first(orientation: tuple[float, ...]) -> np.ndarray:
    return np.roll(np.array(orientation), 1)


def _inverse(orientation: tuple[float, ...]) -> tuple[float, ...]:
    x, y, z, w = orientation
    return -x, -y, -z, w


def _rotated(orientation: tuple[float, ...], vector: object) -> np.ndarray:
    turned = np.zeros(3)
    mujoco.mju_rotVecQuat(turned, np.array(vector, dtype=float), _w_first(orientation))
    return turned


class MockRobot(Node):
    """Driver of an arm that follows ideally, and perception of a table of objects that nothing moves but the hand."""

    def __init__(self, arm: ArmModel, scene: Scene, pace: float, **options: object) -> None:
        """Run at `pace` seconds of the robot a second of wall time."""
        super().__init__("mock_robot", **options)
        self._started, self._pace, self._epoch = time.monotonic(), pace, time.time()
        self._arm, self._kinematics = arm, arm.kinematics()
        real, start = arm.controllers, np.array(arm.home)
        self.table, self.refusals = Table(scene), list[str]()
        if real.arm.interface == TRAJECTORY:
            self._controller, kind = JointTrajectoryController(arm.joints, start), JointTrajectory
        else:
            self._controller, kind = ForwardCommandController(start), Float64MultiArray
        self.create_subscription(kind, real.arm.topic(), self._on_command, 10)
        self.fingers = Fingers(self, real.gripper) if real.gripper else None
        self._states = self.create_publisher(JointState, arm.topics.states, 10)
        own = arm.topics.gripper_states
        self._gripper_states = self.create_publisher(JointState, own, 10) if own else self._states
        self._scenes, self._run = self.create_publisher(SceneMsg, "scene", 10), time.time_ns()
        self._command, self.qpos = (start, 0.0 * start), start  # the joints are where they were sent a cycle before
        self._told, self._before = 0.0, self._now()
        self.create_timer(1.0 / (RATE * pace), self._on_cycle)

    @property
    def hand(self) -> Pose:
        return self._kinematics.pose(self.qpos)

    def _now(self) -> float:
        return self._epoch + self._pace * (time.monotonic() - self._started)

    def _on_command(self, message: object) -> None:
        refusal = self._controller.accept(message, self._now())
        if refusal:
            self.refusals.append(refusal)
            self.get_logger().error(f"a command is refused: {refusal}", throttle_duration_sec=1.0)

    def _on_cycle(self) -> None:
        now = self._now()
        duration = now - self._before
        (self.qpos, velocity), self._before = self._command, now
        self._command = self._controller.state(now)[:2]
        hand = self.hand
        if self.fingers:
            name, self.fingers.obstacle = self.table.between(hand)
            self.fingers.advance(min(duration, 0.1))
            is_open = self.fingers.width > self.fingers.obstacle + AROUND
            self.table.follow(hand, name if self.fingers.blocked else "", is_open)
        self._publish(now, velocity)
        if now >= self._told + 1.0 / SCENE_RATE:
            self._told = now
            self._scenes.publish(scene_to_msg(self.table.scene(now, hand), self._arm.base, "mock", self._run))

    def _publish(self, now: float, velocity: np.ndarray) -> None:
        names, position = [*self._arm.joints], self.qpos.tolist()
        speed, gripper = velocity.tolist(), self._gripper_state()
        if gripper and self._gripper_states is self._states:
            names, position = [*names, *gripper], [*position, *gripper.values()]
            speed = [*speed, *[0.0] * len(gripper)]
        elif gripper:
            message = JointState(name=[*gripper], position=[*gripper.values()])
            message.header.stamp = stamp(now)
            self._gripper_states.publish(message)
        message = JointState(name=names, position=position, velocity=speed)
        message.header.stamp = stamp(now)
        self._states.publish(message)

    def _gripper_state(self) -> dict[str, float]:
        """Return the positions of the gripper's joints."""
        if self.fingers is None:
            return {}
        joint = self._arm.controllers.gripper.joint
        halves = dict.fromkeys(self._arm.fingers, self.fingers.width / 2)
        return {joint: self.fingers.position} if joint else halves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--robot", default="fr3", help="name or folder of an arm; its robot.yaml names the topics")
    parser.add_argument("--objects", default="red block, green bowl")
    parser.add_argument("--seed", type=int, default=1, help="lays the objects out")
    parser.add_argument("--pace", type=float, default=1.0, help="less than 1 on a machine too busy for real time")
    args, _ = parser.parse_known_args()
    world = open_world("tabletop", args.seed, read_objects("tabletop", args.objects), robot=args.robot)
    rclpy.init()
    executor = SingleThreadedExecutor()
    executor.add_node(MockRobot(arm_model(args.robot), replace(world.scene(), held="", speed=0.0), args.pace))
    print(f"{args.robot} without hardware is running; interrupt (Ctrl-C) ends it.", flush=True)
    try:
        executor.spin()
    except Exception as error:
        if rclpy.ok() and not isinstance(error, ExternalShutdownException):
            raise  # during shutdown, rclpy's own work fails in many ways
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
