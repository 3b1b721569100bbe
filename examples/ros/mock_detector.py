"""A detector without a camera, to try the node `detections`: it says what a camera over the table would find.

    python examples/ros/mock_ros2_control.py --robot fr3 --ros-args -r scene:=truth
    python examples/ros/mock_detector.py --robot fr3
    ros2 run llm_planner detections --ros-args -p robot:=fr3
    llm-planner up --no-simulator --robot fr3

It reads the true scene from `truth` and publishes `vision_msgs/Detection3DArray` as detectors do: in the frame of the
camera where tf2_msgs is installed (else in that of the scene), with noise, in any order, without names or tracks, and
without the thing in the hand, which the fingers hide.
"""

from __future__ import annotations

import argparse
import random
from contextlib import suppress

import rclpy
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.base_node import LATCHED, SENSOR_DATA
from llm_planner.ros.conversions.geometry_messages import pose_to_msg, transform_to_msg
from llm_planner.ros.conversions.scene_messages import scene_from_msg
from llm_planner.scene.geometry import compose, inverse
from llm_planner.scene.scene import Pose, SceneObject

CAMERA = "camera_color_optical_frame"
T_BASE_CAMERA = Pose((0.9, 0.1, 0.8), (0.6532815, 0.6532815, -0.2705981, -0.2705981))  # looks down at the table


class MockDetector(Node):
    """Publishes one array of detections for each true scene."""

    def __init__(self, frame: str, noise: float, **options: object) -> None:
        """Add noise with a standard deviation of `noise` [m] to positions; `frame` is that of the scenes."""
        super().__init__("mock_detector", **options)
        self._noise, self._random = noise, random.Random(0)
        self._frame, self._pose = frame, Pose((0.0, 0.0, 0.0))  # T_camera_base, or of the base in itself
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            self.get_logger().info(f"tf2_msgs is not installed: the detections are in the frame {frame}")
        else:
            self._frame, self._pose = CAMERA, inverse(T_BASE_CAMERA)
            self._transforms = self.create_publisher(TFMessage, "/tf_static", LATCHED)
            self._transforms.publish(TFMessage(transforms=[transform_to_msg(0.0, CAMERA, T_BASE_CAMERA, frame)]))
        self._detections = self.create_publisher(Detection3DArray, "detections", SENSOR_DATA)
        self.create_subscription(SceneMsg, "truth", self._on_truth, SENSOR_DATA)

    def _on_truth(self, message: SceneMsg) -> None:
        scene = scene_from_msg(message)
        found = Detection3DArray()
        found.header.stamp, found.header.frame_id = message.header.stamp, self._frame
        found.detections = [self._detection(item) for item in scene.objects if item.name != scene.held]
        self._random.shuffle(found.detections)
        self._detections.publish(found)

    def _detection(self, item: SceneObject) -> Detection3D:
        one, hypothesis = Detection3D(), ObjectHypothesisWithPose()
        hypothesis.hypothesis.class_id, hypothesis.hypothesis.score = f"{item.color} {item.kind}".strip(), 0.9
        one.results = [hypothesis]
        x, y, z = (at + self._random.gauss(0.0, self._noise) for at in item.position)
        one.bbox.center = pose_to_msg(compose(self._pose, Pose((x, y, z), item.orientation)))
        one.bbox.size.x, one.bbox.size.y, one.bbox.size.z = item.size
        return one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--robot", default="fr3", help="name or folder of an arm, whose base is the frame of scenes")
    parser.add_argument("--noise", type=float, default=0.001, help="standard deviation of a coordinate [m]")
    args, _ = parser.parse_known_args()
    rclpy.init()
    executor = SingleThreadedExecutor()
    executor.add_node(MockDetector(arm_model(args.robot).frame, args.noise))
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


if __name__ == "__main__":
    main()
