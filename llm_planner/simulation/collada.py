"""Reads the triangles and diffuse colours of a COLLADA file (ISO/PAS 17506), enough to draw a robot's links."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import SimulationError

_NS = {"c": "http://www.collada.org/2005/11/COLLADASchema"}
Color = tuple[float, float, float]


@dataclass(frozen=True)
class ColoredMesh:
    """Vertices (n, 3) [m] and faces (m, 3) in the file's frame, drawn in one `color` (red, green, blue)."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    color: Color


def load_collada(path: Path) -> list[ColoredMesh]:
    """One mesh a colour; nodes' transforms are applied. Reads `triangles` with a `VERTEX` and other inputs.

    Raises SimulationError for a file that lacks an element it should have.
    """
    root = ET.parse(path).getroot()
    colors = _material_colors(root)
    pieces: dict[Color, list[NDArray[np.float64]]] = {}
    for node in root.iterfind(".//c:visual_scene//c:node", _NS):
        transform = _floats(_find(node, "c:matrix")).reshape(4, 4)
        for instance in node.iterfind("c:instance_geometry", _NS):
            geometry = _find(root, f".//c:geometry[@id='{instance.attrib['url'][1:]}']")
            for material, corners in _triangles(geometry):
                placed = corners @ transform[:3, :3].T + transform[:3, 3]
                pieces.setdefault(colors[material], []).append(placed)
    return [_mesh(np.concatenate(corners), color) for color, corners in pieces.items()]


def simplified(mesh: ColoredMesh, cell: float) -> ColoredMesh:
    """The mesh with all vertices of one grid cell [m] merged into their mean (Rossignac and Borrel, 1993)."""
    keys = np.round(mesh.vertices / cell).astype(np.int64)
    _, cluster = np.unique(keys, axis=0, return_inverse=True)
    cluster = cluster.ravel()
    counts = np.bincount(cluster)
    sums = [np.bincount(cluster, weights=mesh.vertices[:, axis]) for axis in range(3)]
    vertices = np.stack(sums, axis=1) / counts[:, None]
    faces = cluster[mesh.faces]
    alive = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    faces = faces[alive]
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return ColoredMesh(vertices, faces[first].astype(np.int32), mesh.color)


def _mesh(corners: NDArray[np.float64], color: Color) -> ColoredMesh:
    """Triangle corners (m, 3, 3) as shared vertices and faces."""
    vertices, faces = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return ColoredMesh(vertices, faces.reshape(-1, 3).astype(np.int32), color)


def _triangles(geometry: ET.Element) -> list[tuple[str, NDArray[np.float64]]]:
    """Material and corners (m, 3, 3) of every group of triangles."""
    found = []
    for group in geometry.iterfind(".//c:triangles", _NS):
        inputs = group.findall("c:input", _NS)
        stride = 1 + max(int(item.attrib["offset"]) for item in inputs)
        vertex = next(item for item in inputs if item.attrib["semantic"] == "VERTEX")
        positions = _positions(geometry, vertex.attrib["source"][1:])
        indices = _floats(_find(group, "c:p")).astype(np.intp).reshape(-1, stride)[:, int(vertex.attrib["offset"])]
        found.append((group.attrib["material"], positions[indices].reshape(-1, 3, 3)))
    return found


def _positions(geometry: ET.Element, vertices_id: str) -> NDArray[np.float64]:
    source = _find(geometry, f".//c:vertices[@id='{vertices_id}']/c:input[@semantic='POSITION']").attrib["source"]
    return _floats(_find(geometry, f".//c:source[@id='{source[1:]}']/c:float_array")).reshape(-1, 3)


def _material_colors(root: ET.Element) -> dict[str, Color]:
    colors = {}
    for material in root.iterfind(".//c:material", _NS):
        effect = _find(material, "c:instance_effect").attrib["url"][1:]
        diffuse = _find(root, f".//c:effect[@id='{effect}']//c:diffuse/c:color")
        red, green, blue, _ = _floats(diffuse).round(2).tolist()
        colors[material.attrib["id"]] = (red, green, blue)
    return colors


def _find(element: ET.Element, path: str) -> ET.Element:
    found = element.find(path, _NS)
    if found is None:
        raise SimulationError(f"the COLLADA file has no {path!r}; it cannot be drawn")
    return found


def _floats(element: ET.Element) -> NDArray[np.float64]:
    return np.array((element.text or "").split(), dtype=np.float64)
