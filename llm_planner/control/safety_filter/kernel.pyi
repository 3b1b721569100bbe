"""Compiled inner loops of the safety filter (`kernel.cpp`); `make setup` builds them.

Arrays are C-contiguous, of float64 or int64. A wrong type raises TypeError, BufferError or ValueError, and shapes that
disagree raise ValueError; indices inside arrays are trusted.
"""

from llm_planner.control.safety_filter.bodies import Indices
from llm_planner.robots.motion import Array

def way_to_rest(qpos: Array, qvel: Array, qacc: Array, braking: Array, dt: float, way: Array, off: Array) -> int:
    """Write to `way` (most + 3, nq) and `off` (most + 1, nq) what `proof.way_to_rest` returns; return its samples."""

def sag(qpos: Array, off: Array, bend: Array, most: Array, result: Array) -> None:
    """Write to `result` (n - 1,) what `proof.sag` returns; `off` is (n - 1, nq) or (1, nq)."""

def place(qpos: Array, joints: Array, link: Indices, local: Array, frames: Array, points: Array) -> None:
    """Place a serial arm of revolute joints at `qpos` (n, nq) [rad].

    Args:
        qpos: Joint positions, (n, nq) [rad].
        joints: First three rows of the frame of each joint at position 0 in that of the previous joint, (nq, 12).
        link: Joint that moves each point, or -1, (S,).
        local: Positions of the points in the frames of their links, (S, 3) [m].
        frames: Receives the first three rows of the frames of all links, (n, nq, 12).
        points: Receives the positions of all points, (3, n, S) [m].
    """

def slopes(
    frames: Array, points: Array, link: Indices, posture: Indices, point: Indices, normals: Array, result: Array
) -> None:
    """Write to `result` (m, nq) the derivatives by each joint of `point` in `posture` (m,) along `normals` (m, 3)."""

def clearances(
    points: Array, solids: Array, gaps: Indices, kept: Array, values: Array, ways: Array, normals: Array
) -> None:
    """Compute the clearances of gaps.

    Args:
        points: Positions of the points, (3, n, S) [m].
        solids: Rotation, centre, half sides and 1 for a cylinder of each solid, (Z, 16).
        gaps: Solid, point, and second point or -1 of each gap, (M, 3).
        kept: What is subtracted from distances, (M,) [m].
        values: Receives the clearances, (M, n) [m].
        ways: Receives the vectors from the centre or second point to the point, (M, n, 3) [m].
        normals: Receives the gradients of the clearances by the point, (M, n, 3).
    """

def lowest(
    values: Array, ways: Array, normals: Array, weights: Array, between: Array, shrinks: float
) -> tuple[float, int]:
    """Return the bound of `Clearances.lowest` and the first gap that is not kept, or -1."""

def room(values: Array, rest: int, half: int, gamma: float, margin: float, result: Array) -> float:
    """Write to `result` (M, 2) what `barriers.barrier_room` returns, and return the least; infinity without gaps."""
