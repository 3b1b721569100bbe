"""The scene in the 3D view: table or rooms, objects, zones coloured by their margin, and the paths ahead."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llm_planner.errors import InputError
from llm_planner.scene.geometry import ROUND_KINDS, compose, inverse, wxyz
from llm_planner.scene.scene import Pose, Scene, SceneObject, Vector3
from llm_planner.scene.zones import Shape, Zone, half_sides
from llm_planner.simulation.looks import object_meshes
from llm_planner.simulation.objects import ALL_COLORS, KINDS, PLAIN_COLORS

if TYPE_CHECKING:
    from viser import SceneApi, ViserServer

Color = tuple[int, int, int]
FAR, NEAR = 0.15, 0.03  # [m] margins from which a zone is shown green, and below which red; yellow between them
KEPT: Color = (46, 160, 67)
CLOSE: Color = (227, 160, 8)
BROKEN: Color = (218, 54, 51)
PLANNED: Color = (9, 105, 218)
REHEARSED: Color = (140, 160, 190)
WOOD: Color = (214, 200, 178)
FLOOR: Color = (206, 214, 222)
TABLE = (1.25, 1.5, 0.03)  # [m] of the slab under an arm's workspace
GRID: Color = (140, 145, 152)
UNKNOWN_COLOR = (0.6, 0.6, 0.6)


def open_view() -> tuple[ViserServer, tuple[str, int, Path]]:
    """Open a 3D view on loopback; return it, and its host, port and page. Raises InputError without viser."""
    try:
        import viser
    except ImportError as error:
        raise InputError(
            f"the console needs the package viser, which is not installed ({error}): pip install 'llm_planner[console]'"
        ) from error
    with redirect_stdout(io.StringIO()):  # its banner names an address that is not for people
        view = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    view.scene.set_up_direction("+z")
    view.initial_camera.fov = 0.7
    return view, ("127.0.0.1", view.get_port(), Path(viser.__file__).parent / "client" / "build" / "index.html")


class SceneView:
    """Objects, zones and paths below `/scene`; each call changes only what differs from what is shown."""

    def __init__(self, scene: SceneApi) -> None:
        self._scene = scene
        self._objects: dict[str, tuple[object, Any]] = {}  # what an object looks like, and its frame
        self._poses: dict[str, Pose] = {}
        self._zones: dict[str, tuple[object, list[Any]]] = {}
        self._paths: list[Any] = []
        self._shown_paths: object = None
        self._ground: object = None

    def show(self, scene: Scene) -> None:
        """Show the objects where they are."""
        self._show_ground(scene)
        for gone in self._objects.keys() - set(scene.names):
            self._objects.pop(gone)[1].remove()
            del self._poses[gone]
        for item in scene.objects:
            looks = (item.kind, item.color, item.size, item.name == scene.held)
            pose = Pose(item.position, item.orientation)
            known = self._objects.get(item.name)
            if known is None or known[0] != looks:
                if known is not None:
                    known[1].remove()
                self._objects[item.name] = looks, self._add_object(item, item.name == scene.held)
                self._poses[item.name] = pose
            elif pose != self._poses[item.name]:
                frame, self._poses[item.name] = known[1], pose
                frame.position, frame.wxyz = pose.position, wxyz(pose.orientation)

    def show_zones(self, zones: Iterable[Zone], gripper: Vector3 | None) -> None:
        """Show the solids that the robot keeps out of, coloured by the distance of the `gripper` point to them."""
        wanted = {f"{number}": zone for number, zone in enumerate(zones)}
        for gone in self._zones.keys() - wanted.keys():
            for handle in self._zones.pop(gone)[1]:
                handle.remove()
        for key, zone in wanted.items():
            color = KEPT if gripper is None else margin_color(distance(zone, gripper) - zone.clearance)
            shape, handles = self._zones.get(key, (None, []))
            if shape != zone:
                for handle in handles:
                    handle.remove()
                self._zones[key] = zone, self._add_zone(f"/scene/zones/{key}", zone, color)
                continue
            for handle in handles:
                if tuple(handle.color) != color:
                    handle.color = color

    def show_paths(self, now: Sequence[Vector3], later: Sequence[Sequence[Vector3]], width: float) -> None:
        """Show the path of the running step and those of later ones, `width` [m] wide."""
        wanted = (tuple(now), tuple(map(tuple, later)))
        if wanted == self._shown_paths:
            return
        self._shown_paths = wanted
        for handle in self._paths:
            handle.remove()
        lines = [(points, PLANNED, width) for points in (now,)] + [(points, REHEARSED, width / 2) for points in later]
        self._paths = [
            self._scene.add_line_segments(
                f"/scene/paths/{number}",
                np.stack([np.array(points[:-1]), np.array(points[1:])], axis=1).astype(np.float32),
                np.array(color, dtype=np.uint8),
                thickness=thick,
            )
            for number, (points, color, thick) in enumerate(lines)
            if len(points) > 1
        ]

    def _show_ground(self, scene: Scene) -> None:
        ground = scene.building or "table"
        if ground == self._ground:
            return
        self._ground = ground
        floor = -0.02 if scene.building else -TABLE[2] - 0.4
        self._scene.add_grid(
            "/scene/grid",
            width=20.0,
            height=20.0,
            cell_size=0.25,
            cell_thickness=0.6,
            cell_color=GRID,
            section_color=GRID,
            fade_distance=8.0,
            position=(0.0, 0.0, floor),
        )
        if scene.building is None:
            self._scene.add_box(
                "/scene/table", color=WOOD, dimensions=TABLE, position=(TABLE[0] / 2 - 0.3, 0.0, -TABLE[2] / 2 - 0.001)
            )
            return
        for room in scene.building.rooms:
            area = room.area
            x, y = area.center
            size = (area.x_max - area.x_min - 0.06, area.y_max - area.y_min - 0.06, 0.01)
            self._scene.add_box(f"/scene/rooms/{room.name}", color=FLOOR, dimensions=size, position=(x, y, -0.006))
            self._scene.add_label(
                f"/scene/rooms/{room.name}/name", room.name, position=(x, y, 0.05), anchor="center-center"
            )

    def _add_object(self, item: SceneObject, is_held: bool) -> Any:
        path = f"/scene/objects/{item.name}"
        frame = self._scene.add_frame(path, show_axes=False, position=item.position, wxyz=wxyz(item.orientation))
        red, green, blue = ALL_COLORS.get(item.color) or PLAIN_COLORS.get(item.kind, UNKNOWN_COLOR)
        color = (round(255 * red), round(255 * green), round(255 * blue))
        meshes = object_meshes(item.kind)
        if meshes:
            scale = np.array(item.size) / np.array(KINDS[item.kind].size)
            for number, (vertices, faces) in enumerate(meshes):
                self._scene.add_mesh_simple(
                    f"{path}/{number}", (vertices * scale).astype(np.float32), faces, color=color, side="double"
                )
        elif item.kind in ROUND_KINDS:
            self._scene.add_cylinder(f"{path}/body", radius=item.size[0] / 2, height=item.size[2], color=color)
        else:
            self._scene.add_box(f"{path}/body", color=color, dimensions=item.size)
        name = f"{item.name} · held" if is_held else item.name
        above = (0.0, 0.0, max(item.size) / 2 + 0.02)
        self._scene.add_label(f"{path}/name", name, position=above, anchor="bottom-center", font_screen_scale=0.85)
        return frame

    def _add_zone(self, path: str, zone: Zone, color: Color) -> list[Any]:
        room = 2 * zone.clearance
        looks = {"color": color, "opacity": 0.28, "cast_shadow": False, "receive_shadow": False}

        def placed(pose: Pose) -> dict[str, Any]:
            return {**looks, "position": pose.position, "wxyz": wxyz(pose.orientation)}

        if zone.shape is Shape.BOX:
            x, y, z = (2 * half + room for half in zone.size)
            return [self._scene.add_box(path, dimensions=(x, y, z), **placed(zone.pose))]
        radius = zone.size[0] + zone.clearance
        if zone.shape is Shape.SPHERE:
            return [self._scene.add_icosphere(path, radius=radius, **placed(zone.pose))]
        along = 2 * zone.size[1] + (room if zone.shape is Shape.CYLINDER else 0.0)
        solids: list[Any] = [self._scene.add_cylinder(path, radius=radius, height=along, **placed(zone.pose))]
        for end in (-zone.size[1], zone.size[1]) if zone.shape is Shape.CAPSULE else ():
            pose = compose(zone.pose, Pose((0.0, 0.0, end)))
            solids.append(self._scene.add_icosphere(f"{path}/{end}", radius=radius, **placed(pose)))
        return solids


def distance(zone: Zone, point: Vector3) -> float:
    """Return the distance of a point to the solid of a zone, without its clearance [m]; negative inside."""
    x, y, z = compose(inverse(zone.pose), Pose(point)).position
    if zone.shape in (Shape.SPHERE, Shape.CAPSULE):
        half = zone.size[1] if zone.shape is Shape.CAPSULE else 0.0
        return math.hypot(x, y, z - min(max(z, -half), half)) - zone.size[0]
    sides = half_sides(zone.shape, zone.size)
    out = (abs(x) - sides[0], abs(y) - sides[1], abs(z) - sides[2])
    if zone.shape is Shape.CYLINDER:
        out = (math.hypot(x, y) - sides[0], -math.inf, out[2])
    return math.hypot(*(max(one, 0.0) for one in out)) + min(max(out), 0.0)


def seen_from(scene: Scene) -> tuple[Vector3, Vector3]:
    """Return where a viewer first stands and looks [m]: before a table, or above a building."""
    if scene.building is None:
        return (1.75, -1.05, 1.0), (0.3, 0.0, 0.28)
    areas = [room.area for room in scene.building.rooms]
    x_min, x_max = min(one.x_min for one in areas), max(one.x_max for one in areas)
    y_min, y_max = min(one.y_min for one in areas), max(one.y_max for one in areas)
    x, y, span = (x_min + x_max) / 2, (y_min + y_max) / 2, max(x_max - x_min, y_max - y_min)
    return (x, y - 0.75 * span, 1.05 * span), (x, y, 0.0)


def margin_color(margin: float) -> Color:
    """Return the colour of a margin [m]."""
    return BROKEN if margin < NEAR else CLOSE if margin < FAR else KEPT
