"""Conversions between solids and the planning scene of MoveIt (moveit_msgs)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from geometry_msgs.msg import Pose as PoseMsg
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, PlanningScene, PlanningSceneComponents
from moveit_msgs.srv import GetPlanningScene
from object_recognition_msgs.msg import ObjectType
from shape_msgs.msg import Mesh, SolidPrimitive

from llm_planner.errors import InputError
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.geometry_messages import pose_from_msg, pose_to_msg
from llm_planner.ros.conversions.message_checks import header
from llm_planner.scene.geometry import compose
from llm_planner.scene.names import the
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

OURS = "llm_planner of "  # begins the database of the type of objects that come from this package
THIN = 0.001  # [m] least half size of a solid around a mesh
HERE = Pose((0.0, 0.0, 0.0))
# Shape of a primitive, how many dimensions it has, and its half sizes; MoveIt's cone has its middle in its origin.
_SOLIDS: dict[int, tuple[Shape, int, Callable[[Sequence[float]], tuple[float, ...]]]] = {
    SolidPrimitive.BOX: (Shape.BOX, 3, lambda size: (size[0] / 2, size[1] / 2, size[2] / 2)),
    SolidPrimitive.SPHERE: (Shape.SPHERE, 1, lambda size: (size[0],)),
    SolidPrimitive.CYLINDER: (Shape.CYLINDER, 2, lambda size: (size[1], size[0] / 2)),
    SolidPrimitive.CONE: (Shape.CYLINDER, 2, lambda size: (size[1], size[0] / 2)),
}


def scene_request() -> GetPlanningScene.Request:
    """Ask for the objects in the world and those attached to the robot."""
    parts = PlanningSceneComponents.WORLD_OBJECT_GEOMETRY | PlanningSceneComponents.ROBOT_STATE_ATTACHED_OBJECTS
    return GetPlanningScene.Request(components=PlanningSceneComponents(components=parts))


def diff_to_msg(objects: Sequence[CollisionObject], attached: Sequence[AttachedCollisionObject]) -> PlanningScene:
    """Make a change of MoveIt's scene; it applies `attached` before `objects`."""
    scene = PlanningScene(is_diff=True)
    scene.robot_state.is_diff = True
    scene.robot_state.attached_collision_objects = list(attached)
    scene.world.collision_objects = list(objects)
    return scene


def solid_to_msg(name: str, zone: Zone, frame: str, time: float, owner: str) -> CollisionObject:
    """Convert a solid and its clearance to an object called `name`, with its pose in `frame` at `time` [s]."""
    parts = list(_primitives(zone))
    return CollisionObject(
        header=header(time, frame),
        id=name,
        type=ObjectType(key=zone.name, db=f"{OURS}{owner}"),
        pose=pose_to_msg(zone.pose),
        primitives=[primitive for primitive, _ in parts],
        primitive_poses=[pose_to_msg(pose) for _, pose in parts],
        operation=CollisionObject.ADD,
    )


def attached_to_msg(held: CollisionObject, touch_links: Sequence[str]) -> AttachedCollisionObject:
    """Attach an object to the link in whose frame its pose is."""
    return AttachedCollisionObject(link_name=held.header.frame_id, object=held, touch_links=list(touch_links))


def removed_to_msg(name: str) -> CollisionObject:
    return CollisionObject(id=name, operation=CollisionObject.REMOVE)


def detached_to_msg(name: str) -> AttachedCollisionObject:
    """Detach an object, which MoveIt then leaves where it is in the world."""
    return AttachedCollisionObject(object=removed_to_msg(name))


def _primitives(zone: Zone) -> Iterator[tuple[SolidPrimitive, Pose]]:
    """Yield primitives with their poses in the frame of the zone, which is larger by its clearance."""
    around = zone.clearance
    if zone.shape is Shape.BOX:
        yield SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[2 * (half + around) for half in zone.size]), HERE
        return
    radius = zone.size[0] + around
    ball = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[radius])
    if zone.shape is Shape.SPHERE:
        yield ball, HERE
        return
    half = zone.size[1] + (around if zone.shape is Shape.CYLINDER else 0.0)
    yield SolidPrimitive(type=SolidPrimitive.CYLINDER, dimensions=[2 * half, radius]), HERE
    for end in (-half, half) if zone.shape is Shape.CAPSULE else ():
        yield ball, Pose((0.0, 0.0, end))


def own_objects(scene: PlanningScene, owner: str) -> dict[str, bool]:
    """Return the names of the objects of `owner` in MoveIt's scene, and whether each is attached."""
    world, attached = scene.world.collision_objects, scene.robot_state.attached_collision_objects
    both = [*((one, False) for one in world), *((one.object, True) for one in attached)]
    return {one.id: is_attached for one, is_attached in both if one.type.db == f"{OURS}{owner}"}


def other_objects(scene: PlanningScene) -> list[CollisionObject]:
    """Return the objects in the world that come from no node of this package; raise InputError for too many."""
    found = [one for one in scene.world.collision_objects if not one.type.db.startswith(OURS)]
    checks.items("the objects of others in MoveIt's scene", found)
    return found


def obstacle_from_msg(message: CollisionObject, find_frame: Callable[[str], Pose]) -> tuple[Zone, ...]:
    """Convert an object to one zone for each of its shapes: around a cone a cylinder, around a mesh a box.

    Args:
        message: Object as MoveIt has it.
        find_frame: Returns T_scene_frame, or raises InputError.

    Raises:
        InputError: A name, number, frame or operation is invalid, or a shape is a prism or a plane.
    """
    name = checks.name("the id", message.id)
    if message.operation != CollisionObject.ADD:
        given = int.from_bytes(message.operation, "little")
        raise InputError(f"the operation is {given}; an object that is in MoveIt's scene has ADD (0)")
    if message.planes:
        raise InputError("it has planes, which have no ends; use boxes")
    pose = compose(find_frame(checks.name("header.frame_id", message.header.frame_id)), pose_from_msg(message.pose))

    def zone(field: str, at: PoseMsg, shape: Shape, size: tuple[float, ...], middle: Pose) -> Zone:
        return Zone(the(name), shape, size, compose(compose(pose, pose_from_msg(at, field)), middle))

    checks.as_many("primitives", message.primitives, "primitive_poses", message.primitive_poses)
    checks.as_many("meshes", message.meshes, "mesh_poses", message.mesh_poses)
    zones = []
    for index, (primitive, at) in enumerate(zip(message.primitives, message.primitive_poses, strict=True)):
        solid = _SOLIDS.get(primitive.type)
        if solid is None or len(primitive.dimensions) != solid[1]:
            raise InputError(
                f"primitives[{index}] has the type {primitive.type} and {len(primitive.dimensions)} dimensions; valid "
                "are a box (1) with 3, a sphere (2) with 1, and a cylinder (3) or cone (4) with 2"
            )
        size = solid[2](primitive.dimensions)
        zones.append(zone(f"primitive_poses[{index}]", at, solid[0], size, HERE))
    for index, (mesh, at) in enumerate(zip(message.meshes, message.mesh_poses, strict=True)):
        middle, half = _box_around(mesh, f"meshes[{index}]")
        zones.append(zone(f"mesh_poses[{index}]", at, Shape.BOX, half, middle))
    if not zones:
        raise InputError("it has no shape")
    return tuple(zones)


def _box_around(mesh: Mesh, field: str) -> tuple[Pose, tuple[float, ...]]:
    """Return the middle and the half sizes of the box around a mesh [m, its frame]."""
    points = np.array(array("d", (value for at in mesh.vertices for value in (at.x, at.y, at.z)))).reshape(-1, 3)
    if not len(points) or not np.isfinite(points).all():
        raise InputError(f"{field} has {len(points)} vertices; it needs some, of finite numbers")
    low, high = points.min(axis=0), points.max(axis=0)
    x, y, z = ((low + high) / 2).tolist()
    return Pose((x, y, z)), tuple(np.maximum((high - low) / 2, THIN).tolist())
