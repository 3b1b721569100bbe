"""Node of the simulated camera, which renders `scene` and `joint_states`; a separate process, since rendering is slow.

A mobile robot needs no `joint_states`, because the scene shows its pose.
"""

from __future__ import annotations

from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.subscription import Subscription
from sensor_msgs.msg import Image, JointState

from llm_planner.errors import LlmPlannerError, SimulationError
from llm_planner.robots.arm_model import default_arm
from llm_planner.ros.base_node import NEWEST_ONLY, OK, SENSOR_DATA, WARN, BaseNode, run_node
from llm_planner.ros.conversions.message_conversions import SceneReader, image_to_msg, joint_state_from_msg
from llm_planner.ros.parameters import ROBOT, Setting, arm_of
from llm_planner.scene.scene import Scene
from llm_planner.simulation.renderers import Drawn, Renderer, drawn, make_renderer

FRAME = "overview_camera"


class CameraNode(BaseNode):
    """Renders the newest scene at a fixed rate while its pictures have a subscriber."""

    SETTINGS = (
        Setting("rate", 5.0, "pictures a second of wall time [Hz]", 0.1, 5.0),
        Setting("width", 640, "of the picture [pixels]", 32, 1920),
        Setting("height", 480, "of the picture [pixels]", 32, 1080),
        ROBOT,
    )

    def configure(self) -> None:
        self._renderer: Renderer | None = None
        self._drawn: Drawn | None = None
        self._state: JointState | None = None
        self._scene: Scene | None = None
        self._arm = arm_of(self) or default_arm()
        self._scenes = SceneReader(self._complain, self._arm.name)
        self._problem = ""
        self._image = self.create_lifecycle_publisher(Image, "camera/image_raw", SENSOR_DATA)
        self._sources: list[Subscription] = []
        self.every(1.0 / self.setting("rate"), self._on_tick)
        self.every(1.0, self._on_diagnose)

    def close(self) -> None:
        if getattr(self, "_renderer", None) is not None:
            self._renderer.close()
            self._renderer = None

    def _on_state(self, message: JointState) -> None:
        self._state = message  # converted only for rendering

    def _on_scene(self, message: SceneMsg) -> None:
        """Read every scene, since the reader completes one from the one before; ignore unusable ones."""
        try:
            self._scene = self._scenes.read(message)
        except LlmPlannerError as error:
            self._complain(f"a scene cannot be used: {error}")

    def _on_tick(self) -> None:
        watched = self.is_active and self._image.get_subscription_count() > 0
        self._listen(watched)
        if not watched or self._problem or self._scene is None or (self._state is None and not self._scene.building):
            return
        try:
            self._draw()
        except SimulationError as error:  # no OpenGL on this machine: log it once and continue without pictures
            self._problem = str(error)
            self.get_logger().error(str(error))
        except LlmPlannerError as error:
            self._complain(str(error))

    def _complain(self, what: str) -> None:
        self.get_logger().error(what, throttle_duration_sec=5.0)

    def _listen(self, wanted: bool) -> None:
        """Subscribe only while `wanted`, since a hundred joint states a second are costly."""
        if wanted and not self._sources:
            self._sources = [
                self.create_subscription(JointState, "joint_states", self._on_state, NEWEST_ONLY),
                self.create_subscription(SceneMsg, "scene", self._on_scene, NEWEST_ONLY),
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
        self._image.publish(image_to_msg(picture, scene.time, FRAME))

    def _on_diagnose(self) -> None:
        self.report(WARN if self._problem else OK, self._problem or "ready")


def main() -> None:
    run_node(CameraNode, "camera")


if __name__ == "__main__":
    main()
