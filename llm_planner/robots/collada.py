"""Triangles and colours of COLLADA files (.dae), in which many robots' links are described."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError

Color = tuple[float, float, float]
GREY: Color = (0.7, 0.7, 0.7)


@dataclass(frozen=True)
class ColoredMesh:
    """Vertices (n, 3) [m] and faces (m, 3) in the file's frame, with one `color` (red, green, blue)."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    color: Color


def load_collada(path: Path) -> list[ColoredMesh]:
    """Load one mesh per colour, with the nodes' transforms and the file's unit applied.

    The axes stay as the file has them, whichever of them it calls up: RViz and Gazebo show links so.

    Raises:
        InputError: The file cannot be read, is no COLLADA, or contains no triangles.
    """
    from collada import Collada, DaeError

    try:
        document = Collada(str(path))
    except OSError as error:
        raise InputError(f"the mesh {path} cannot be read: {error.strerror}") from error
    except (DaeError, ParseError, ValueError) as error:
        raise InputError(f"the mesh {path} is not a COLLADA file: {' '.join(str(error).split())}") from error
    pieces: dict[Color, list[NDArray[np.float64]]] = {}
    for primitive in _surfaces(document):
        corners = primitive.vertex[primitive.vertex_index]
        pieces.setdefault(_color(primitive.material), []).append(np.asarray(corners, dtype=np.float64))
    if not pieces:
        raise InputError(f"the mesh {path} has no triangles; export it again, or give another file")
    unit = document.assetInfo.unitmeter or 1.0
    return [_mesh(unit * np.concatenate(corners), color) for color, corners in pieces.items()]


def _surfaces(document: Any) -> Iterator[Any]:
    """Yield the sets of triangles of a document where its scene puts them; lines have no surface."""
    for geometry in document.scene.objects("geometry") if document.scene else ():
        for primitive in geometry.primitives():
            triangles = primitive.triangleset() if hasattr(primitive, "triangleset") else primitive
            if hasattr(triangles, "vertex_index") and np.shape(triangles.vertex_index)[1:] == (3,):
                yield triangles


def _color(material: Any) -> Color:
    diffuse = getattr(getattr(material, "effect", None), "diffuse", None)
    if not isinstance(diffuse, tuple):  # none, or a picture
        return GREY
    red, green, blue = (round(float(one), 2) for one in diffuse[:3])
    return red, green, blue


def _mesh(corners: NDArray[np.float64], color: Color) -> ColoredMesh:
    """Convert triangle corners (m, 3, 3) to shared vertices and faces."""
    vertices, faces = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return ColoredMesh(vertices, faces.reshape(-1, 3).astype(np.int32), color)
