"""A node with the planning scene of move_group: its topics, service, qualities of service and semantics.

As in moveit2 (`planning_scene_monitor`, `planning_scene`): changes of the scene on `planning_scene`, objects of others
on `collision_object`, and the whole scene by `get_planning_scene`, in which objects are in the planning frame.
"""

from __future__ import annotations

from copy import deepcopy

from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, PlanningScene, PlanningSceneComponents
from moveit_msgs.srv import GetPlanningScene
from object_recognition_msgs.msg import ObjectType
from rclpy.node import Node
from rclpy.qos import qos_profile_services_default

from llm_planner.ros.conversions.geometry_messages import pose_from_msg, pose_to_msg
from llm_planner.scene.geometry import compose, inverse
from llm_planner.scene.scene import Pose


class MoveGroup:
    """The scene of a robot with the given `links`, by the poses that these have in the planning frame."""

    def __init__(self, node: Node, planning_frame: str, links: dict[str, Pose]) -> None:
        self.frame, self.links = planning_frame, {planning_frame: Pose((0.0, 0.0, 0.0)), **links}
        self.world: dict[str, CollisionObject] = {}
        self.attached: dict[str, AttachedCollisionObject] = {}
        self.types: dict[str, ObjectType] = {}
        self.errors, self.diffs = list[str](), list[PlanningScene]()
        self._node, qos = node, qos_profile_services_default
        self._topics = [
            node.create_subscription(PlanningScene, "planning_scene", self.on_diff, qos),
            node.create_subscription(CollisionObject, "collision_object", self.process, qos),
        ]
        self._service = node.create_service(GetPlanningScene, "get_planning_scene", self._on_request)

    def die(self) -> None:
        self._node.destroy_service(self._service)
        for topic in self._topics:
            self._node.destroy_subscription(topic)

    def forget(self) -> None:
        """As a move_group that was started again."""
        self.world, self.attached, self.types = {}, {}, {}

    def on_diff(self, scene: PlanningScene) -> None:
        assert scene.is_diff, "a scene that is no diff replaces what others have put there"
        assert scene.robot_state.is_diff, "else what others have attached is detached"
        self.diffs.append(scene)
        for one in scene.robot_state.attached_collision_objects:
            self._process_attached(one)
        for one in scene.world.collision_objects:
            self.process(one)

    def process(self, one: CollisionObject) -> None:
        """Apply a collision object, and say what move_group would print of one that it refuses."""
        reason = self._process(deepcopy(one))
        if reason:
            self.errors.append(reason)

    def _process(self, one: CollisionObject) -> str:
        if one.operation == CollisionObject.REMOVE:
            if one.id not in self.world:
                return f"Tried to remove world object '{one.id}', but it does not exist in this scene."
            del self.world[one.id]
            self.types.pop(one.id, None)
            return ""
        if one.header.frame_id not in self.links:
            return f"Unknown frame: {one.header.frame_id}"
        pose = pose_to_msg(compose(self.links[one.header.frame_id], pose_from_msg(one.pose)))
        if one.operation == CollisionObject.MOVE:
            if one.id not in self.world:
                return f"World object '{one.id}' does not exist. Cannot move."
            self.world[one.id].pose = pose
            return ""
        if not (one.primitives or one.meshes or one.planes):
            return "There are no shapes specified in the collision object message"
        one.header.frame_id, one.pose = self.frame, pose
        if one.operation == CollisionObject.APPEND and one.id in self.world:
            assert self.world[one.id].pose == pose, "enough for these tests"
            self.world[one.id].primitives += one.primitives
            self.world[one.id].primitive_poses += one.primitive_poses
            return ""
        if one.operation not in (CollisionObject.ADD, CollisionObject.APPEND):
            return f"Unknown collision object operation: {one.operation}"
        self.world[one.id] = one
        if one.type.key or one.type.db:
            self.types[one.id] = one.type
        one.operation = CollisionObject.ADD
        return ""

    def _process_attached(self, one: AttachedCollisionObject) -> None:
        held = one.object
        if held.operation == CollisionObject.REMOVE:
            there = self.attached.pop(held.id, None)
            if there is None:
                self.errors.append(f"No attached object '{held.id}'")
                return
            freed = there.object
            pose = compose(self.links[there.link_name], pose_from_msg(freed.pose))
            freed.header.frame_id, freed.pose = self.frame, pose_to_msg(pose)
            self.world[held.id] = freed
            return
        if one.link_name not in self.links:
            self.errors.append(f"Unable to attach a body to link '{one.link_name}' (link not found)")
            return
        at = compose(self.links[held.header.frame_id], pose_from_msg(held.pose))
        held.pose = pose_to_msg(compose(inverse(self.links[one.link_name]), at))
        held.header.frame_id = one.link_name
        self.world.pop(held.id, None)
        self.types[held.id] = held.type
        self.attached[held.id] = one

    def _on_request(
        self, request: GetPlanningScene.Request, response: GetPlanningScene.Response
    ) -> GetPlanningScene.Response:
        parts = request.components.components
        scene = response.scene
        if parts & PlanningSceneComponents.WORLD_OBJECT_GEOMETRY:
            scene.world.collision_objects = [self._typed(one) for one in self.world.values()]
        if parts & PlanningSceneComponents.ROBOT_STATE_ATTACHED_OBJECTS:
            scene.robot_state.attached_collision_objects = list(self.attached.values())
            for one in scene.robot_state.attached_collision_objects:
                self._typed(one.object)
        return response

    def _typed(self, one: CollisionObject) -> CollisionObject:
        one.type = self.types.get(one.id, ObjectType())
        return one
