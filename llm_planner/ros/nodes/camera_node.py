"""Node of the simulated camera, which renders `scene` and `joint_states`; a separate process, since rendering is slow.

A mobile robot needs no `joint_states`, because the scene shows its pose. Every picture comes with `camera_info`; depths
and points are computed while they have a subscriber. The optical frame is on `/tf_static` from the first picture on.
"""

from __future__ import annotations

import numpy as np
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.subscription import Subscription
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2

from llm_planner.errors import LlmPlannerError, SimulationError
from llm_planner.robots.arm_model import default_arm
from llm_planner.robots.urdf import LinkFrame
from llm_planner.ros.base_node import NEWEST_ONLY, OK, PICTURES, WARN, BaseNode, run_node
from llm_planner.ros.conversions.camera_messages import camera_info_to_msg, depth_to_msg, image_to_msg, points_to_msg
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.conversions.robot_messages import MAP_FRAME, joint_state_from_msg
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.ros.parameters import ROBOT, Setting, arm_of
from llm_planner.ros.transforms import TransformBroadcaster, frame_prefix
from llm_planner.scene.scene import Scene
from llm_planner.simulation.offscreen import OffscreenRenderer, View
from llm_planner.simulation.renderers import Drawn, drawn, make_renderer

FRAME = "overview_camera_optical"


class CameraNode(BaseNode):
    """Renders the newest scene at a fixed rate while its pictures, depths or points have a subscriber."""

    SETTINGS = (
        Setting("rate", 5.0, "pictures a second of wall time [Hz]", 0.1, 5.0),
        Setting("width", 640, "of the picture [pixels]", 32, 1920),
        Setting("height", 480, "of the picture [pixels]", 32, 1080),
        ROBOT,
    )

    def configure(self) -> None:
        self._renderer: OffscreenRenderer | None = None
        self._drawn: Drawn | None = None
        self._view: View | None = None
        self._state: JointState | None = None
        self._scene: Scene | None = None
        self._arm = arm_of(self) or default_arm()
        self._scenes = SceneReader.of(self, self._arm.name)
        self._problem = ""
        self._frame = frame_prefix(self) + FRAME
        self._image = self.create_lifecycle_publisher(Image, "camera/image_raw", PICTURES)
        self._info = self.create_lifecycle_publisher(CameraInfo, "camera/camera_info", PICTURES)
        self._depth = self.create_lifecycle_publisher(Image, "camera/depth", PICTURES)
        self._points = self.create_lifecycle_publisher(PointCloud2, "camera/points", PICTURES)
        self._transforms = TransformBroadcaster(self, moves=False)
        self._pictures = 0  # since the last diagnosis
        self._sources: list[Subscription] = []
        self.every(1.0 / self.setting("rate"), self._on_tick)
        self.report_with(self._on_diagnose)

    def close(self) -> None:
        if getattr(self, "_renderer", None) is not None:
            self._renderer.close()
            self._renderer = None

    def _on_state(self, message: JointState) -> None:
        self._state = message  # converted only for rendering

    def _on_scene(self, scene: Scene) -> None:
        self._scene = scene

    def _on_tick(self) -> None:
        topics = (self._image, self._info, self._depth, self._points)
        watched = self.is_active and any(topic.get_subscription_count() > 0 for topic in topics)
        self._listen(watched)
        if not watched or self._problem or self._scene is None or (self._state is None and not self._scene.building):
            return
        try:
            self._draw()
        except SimulationError as error:  # no OpenGL on this machine: log it once and continue without pictures
            self._problem = str(error)
            self.get_logger().error(str(error))
        except LlmPlannerError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)

    def _listen(self, wanted: bool) -> None:
        """Subscribe only while `wanted`, since a hundred joint states a second are costly."""
        if wanted and not self._sources:
            # Every scene is read, since the reader completes one from the one before.
            seen = validated(self, self._scenes.read, self._on_scene, "a scene cannot be used: ")
            self._sources = [
                self.create_subscription(JointState, "joint_states", self._on_state, NEWEST_ONLY),
                self.create_subscription(SceneMsg, "scene", seen, NEWEST_ONLY),
            ]
        elif not wanted and self._sources:
            for source in self._sources:
                self.destroy_subscription(source)
            self._sources, self._state, self._scene = [], None, None

    def _draw(self) -> None:
        scene = self._scene
        qpos, width = (), 0.0
        if scene.building is None:
            state, width = joint_state_from_msg(self._state, self._arm.joints, self._arm.fingers)
            qpos = state.qpos
        if self._renderer is None or drawn(scene) != self._drawn:
            self.close()
            self._renderer = make_renderer(scene, (self.setting("width"), self.setting("height")))
            self._drawn = drawn(scene)
        picture = self._renderer.render(qpos, width, scene)
        self._publish(picture, scene)
        self._pictures += 1

    def _publish(self, picture: np.ndarray, scene: Scene) -> None:
        """Publish a picture and what belongs to it; what nobody asks for is not computed."""
        view, message = self._renderer.view, image_to_msg(picture, scene.time, self._frame)
        if view != self._view:
            self._view, seen_from = view, MAP_FRAME if scene.base else self._scenes.frame
            self._transforms.send_static(scene.time, [LinkFrame(seen_from, self._frame, view.pose)])
        self._image.publish(message)
        self._info.publish(camera_info_to_msg(view, message.header))
        wants_points = self._points.get_subscription_count() > 0
        if wants_points or self._depth.get_subscription_count() > 0:
            depth = self._renderer.depth()
            self._depth.publish(depth_to_msg(depth, message.header))
            if wants_points:
                self._points.publish(points_to_msg(picture, depth, view, message.header))

    def _on_diagnose(self) -> None:
        self.report(WARN if self._problem else OK, self._problem or "ready", [("pictures", self._pictures)])
        self._pictures = 0


def main() -> None:
    run_node(CameraNode, "camera")


if __name__ == "__main__":
    main()
