"""Furniture for the table, on demand only: a drawer, a button to press, and a stain to wipe away.

It stands where it is put for good; what is done to it is one number, its state (see `SceneObject`).
"""

from __future__ import annotations

import math
from dataclasses import replace

from llm_planner.simulation.shapes import Box, Grasp, ObjectKind, Sliding, built, octagon
from llm_planner.world.drawers import CEILING, DEPTH, FRONT, HEIGHT, SIDE, TRAY_FLOOR, WIDTH
from llm_planner.world.predicates import BUTTON, DRAWER, STAIN
from llm_planner.world.scene import Vector3

_WALL, _LIP = 0.006, 0.006  # [m] thickness of the drawer's cabinet; height of the tray's sides, which fingers pass over
_PANEL, _BAR = 0.008, 0.010  # [m] of the tray's front and of the bar of its T-shaped handle, the stem between them
_STEM = FRONT - _PANEL - _BAR
_PALM = (0.030, 0.100)  # [m] half the palm that is over the handle


def _between(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float]) -> Box:
    ends = (x, y, z)
    center, half = ([(b + sign * a) / 2 for a, b in ends] for sign in (1, -1))
    return Box((center[0], center[1], center[2]), (half[0], half[1], half[2]))


def _drawer() -> ObjectKind:
    """A low cabinet whose tray comes out along -x; the fingers take the stem of its handle from above."""
    side, back = WIDTH / 2, DEPTH - _WALL
    cabinet = [
        _between((0.0, DEPTH), (-side, side), (CEILING, HEIGHT)),
        _between((0.0, DEPTH), (-side, side), (0.0, 0.004)),
        _between((0.0, DEPTH), (-side, _WALL - side), (0.0, HEIGHT)),
        _between((0.0, DEPTH), (side - _WALL, side), (0.0, HEIGHT)),
        _between((back, DEPTH), (-side, side), (0.0, HEIGHT)),
    ]
    inner, end, low = side - SIDE + 0.004, back - 0.003, TRAY_FLOOR - 0.003
    tray = [
        _between((-_PANEL, -0.001), (-side, side), (0.004, HEIGHT - 0.002)),
        _between((-0.001, end), (-inner, inner), (low, TRAY_FLOOR)),
        _between((-0.001, end), (-inner, 0.004 - inner), (low, TRAY_FLOOR + _LIP)),
        _between((-0.001, end), (inner - 0.004, inner), (low, TRAY_FLOOR + _LIP)),
        _between((end - 0.004, end), (-inner, inner), (low, 0.045)),
        _between((-_PANEL - _STEM, -_PANEL), (-0.006, 0.006), (0.026, 0.046)),
        _between((-_PANEL - _STEM - _BAR, -_PANEL - _STEM), (-0.03, 0.03), (0.026, 0.046)),
    ]
    stem = Grasp((-_PANEL - _STEM / 2, 0.0, 0.036), math.pi / 2, 0.012)
    return _sliding(DRAWER, 0.9, cabinet, tray, stem, (-1.0, 0.0, 0.0), 0.10)


def _button() -> ObjectKind:
    """A box with a sprung cap, pressed from above."""
    base = [_between((-0.035, 0.035), (-0.035, 0.035), (0.0, 0.025))]
    top = Grasp((0.0, 0.0, 0.045), math.pi / 2, 0.0)
    return _sliding(BUTTON, 0.3, base, octagon(0.018, 0.022, 0.045), top, (0.0, 0.0, -1.0), 0.010)


def _stain() -> ObjectKind:
    """A flat patch that nothing touches; it needs room for the hand that wipes it."""
    kind = built(STAIN, 0.0, [_between((-0.06, 0.06), (-0.04, 0.04), (0.0, 0.001))], [])
    return replace(kind, fixed=True, radius=kind.radius + 0.02)


def _sliding(
    name: str, mass: float, base: list[Box], parts: list[Box], grasp: Grasp, axis: Vector3, travel: float
) -> ObjectKind:
    """Furniture of a fixed and a sliding part; what it needs is counted from the middle of its box at its largest."""
    kind = built(name, mass, [*base, *parts], [grasp])
    fixed, moving = kind.parts[: len(base)], kind.parts[len(base) :]
    kind = replace(kind, parts=fixed, fixed=True, sliding=Sliding(moving, axis, travel))
    length, width, _ = kind.size_at(travel)
    radius = math.hypot(length / 2, width / 2)
    if kind.opens:
        hand = travel / 2 - kind.grasps[0].point[0]
        radius = max(radius, math.hypot(hand + _PALM[0], _PALM[1]))
    return replace(kind, radius=radius)


FURNITURE = (_drawer(), _button(), _stain())
