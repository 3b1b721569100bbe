"""What nodes that move an arm know besides its joints: the object in its hand, and the mobile base that carries it.

Patches and constraints of an arm on a base are in the map. The arm's are in the frame of its base, which drives along.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from llm_planner_interfaces.msg import Scene as SceneMsg

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.carried import Carried, Grip
from llm_planner.robots.motion import JointState
from llm_planner.ros.base_node import NEWEST_ONLY, BaseNode
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.ros.parameters import arm_of
from llm_planner.scene.driven_base import arm_at, zones_seen_from
from llm_planner.scene.geometry import inverse, upright_pose
from llm_planner.scene.scene import Pose, Scene, Vector3
from llm_planner.skills.mobile_arm import base_constraints, interlock

STEADY = 1e-3  # [m, rad] motion of the base below which it stands as before


def follow_hand(node: BaseNode, arm: ArmModel, on_change: Callable[[Carried | None], None]) -> None:
    """Call `on_change` with the held object, or None, whenever `scene` shows a change."""
    grip, scenes = Grip(), SceneReader.of(node, arm.name)

    def see(message: SceneMsg) -> None:
        if grip.see(scenes.read(message)):
            on_change(grip.carried)

    seen = validated(node, see, what="what the hand holds is not known: ")
    node.create_subscription(SceneMsg, "scene", seen, NEWEST_ONLY)


class BaseUnderArm:
    """Base that carries an arm, as measured: `state` (x, y [m], yaw [rad] in the map), None before the first."""

    def __init__(self, node: BaseNode, arm: ArmModel) -> None:
        self.state: JointState | None = None
        self._arm = arm
        self._scene: Scene | None = None
        self._stood: JointState | None = None  # where zones of the arm were converted last
        self._of_arm: tuple[MotionConstraints, MotionConstraints] | None = None  # in the map; in the arm's frame
        self._of_base: tuple[MotionConstraints, Scene, MotionConstraints] | None = None  # in the map; scene; the base's
        read = SceneReader.of(node, arm.name).read
        seen = validated(node, read, self._on_scene, "what the base keeps off is not known: ")
        node.create_subscription(SceneMsg, "scene", seen, NEWEST_ONLY)

    def interlock(self, of_base: bool, arm: JointState | None, hand: Vector3 | None) -> str:
        """Return why the base, or else the arm, may not move now; "" if it may.

        Args:
            of_base: Whether the base is to move.
            arm: Measured joints of the arm; None before the first.
            hand: Position of the gripper there [m, arm's frame].
        """
        missing = [name for name, seen in (("odom", self.state), ("scene", self._scene), ("joints", arm)) if not seen]
        if missing or self.state is None or arm is None or hand is None:
            return f"neither arm nor base moves before their states and a scene have come; missing: {missing}"
        return interlock(of_base, self._arm.name, hand, arm.qvel, self.state.qvel)

    def of_arm(self, keep: MotionConstraints) -> MotionConstraints:
        """Return the constraints `keep` [map] in the frame of the arm's base, where that stands now."""
        state, stood = self.state, self._stood
        if state is None:
            return keep
        if stood is None or abs(state.qpos - stood.qpos).max() > STEADY:
            self._stood, self._of_arm = state, None
        if self._of_arm is None or self._of_arm[0] is not keep:
            assert self._stood is not None
            seen = inverse(self._frame(upright_pose(*self._stood.qpos.tolist())))
            self._of_arm = keep, replace(keep, zones=zones_seen_from(keep.zones, seen))
        return self._of_arm[1]

    def of_base(self, keep: MotionConstraints) -> MotionConstraints:
        """Return the constraints of the base under those of the robot, `keep`, both in the map.

        Tables, walls, and what the arm carries come from the newest scene; before it the base does not move.
        """
        scene = self._scene
        if scene is None or scene.base is None:
            return keep
        if self._of_base is None or self._of_base[0] is not keep or self._of_base[1] is not scene:
            here = replace(keep, zones=zones_seen_from(keep.zones, inverse(self._frame(scene.base.pose))))
            self._of_base = keep, scene, base_constraints(scene, here)
        return self._of_base[2]

    def speed(self) -> float:
        """Return the speed of the base's centre [m/s]."""
        return 0.0 if self.state is None else math.hypot(*self.state.qvel[:2].tolist())

    def _frame(self, pose: Pose) -> Pose:
        """Return T_map_arm for a base at `pose` (T_map_base)."""
        assert self._arm.mount is not None  # only an arm on a base has one
        return arm_at(pose, self._arm.mount.position[0])

    def _on_scene(self, scene: Scene) -> None:
        self._scene = scene


def base_under(node: BaseNode) -> BaseUnderArm | None:
    """Return the base that carries the robot that the parameter `robot` names; None if there is none."""
    arm = arm_of(node)
    return BaseUnderArm(node, arm) if arm is not None and arm.mount is not None else None
