"""Curves over an axis as an SVG picture: what a run did over time, how often something took how long."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 760.0, 320.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 20.0, 62.0, 46.0
_INK, _GRID = "#1f2933", "#e4e7eb"
_COLOURS = ("#0b69a3", "#c52707", "#1b7f4d", "#54399e", "#b44d12", "#616e7c")
_STYLE = f"""
  text {{ font: 12px "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; fill: {_INK}; }}
  .title {{ font-weight: 600; font-size: 15px; }}
  .grid {{ stroke: {_GRID}; stroke-width: 1; }}
  .mark {{ stroke: #9aa5b1; stroke-width: 1.2; stroke-dasharray: 3 3; }}
  .curve {{ fill: none; stroke-width: 1.8; stroke-linejoin: round; }}
"""


@dataclass(frozen=True)
class Curve:
    """A line through (`x`[k], `y`[k]); it breaks where a number is not finite."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Mark:
    """An upright line at `x` with a word beside it."""

    x: float
    name: str


@dataclass(frozen=True)
class _Frame:
    """From numbers to places on the picture."""

    left: float
    right: float
    low: float
    high: float

    def place(self, x: float, y: float) -> str:
        return f"{self.across(x):.1f} {self.up(y):.1f}"

    def across(self, x: float) -> float:
        return _LEFT + (x - self.left) / (self.right - self.left) * (WIDTH - _LEFT - _RIGHT)

    def up(self, y: float) -> float:
        return HEIGHT - _BOTTOM - (y - self.low) / (self.high - self.low) * (HEIGHT - _TOP - _BOTTOM)


def chart_svg(title: str, across: str, up: str, curves: Sequence[Curve], marks: Sequence[Mark] = ()) -> str:
    """The picture as text; `across` and `up` name the axes. What is above all begins at zero or below."""
    xs = [x for curve in curves for x in curve.x if math.isfinite(x)] or [0.0, 1.0]
    ys = [y for curve in curves for y in curve.y if math.isfinite(y)] or [0.0, 1.0]
    rises = _ticks(min(0.0, *ys), max(0.0, *ys))
    frame = _Frame(min(xs), max(max(xs), min(xs) + 1e-9), min(rises[0], *ys), max(rises[-1], *ys))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}" height="{HEIGHT:.0f}" '
        f'viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text class="title" x="{_LEFT:.0f}" y="22">{escape(title)}</text>',
        *_axes(frame, rises, across, up),
        *_marked(frame, marks),
        *_drawn(frame, curves),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _axes(frame: _Frame, rises: Sequence[float], across: str, up: str) -> Iterator[str]:
    right, floor = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    for y in rises:
        place = frame.up(y)
        yield f'<line class="grid" x1="{_LEFT:.0f}" y1="{place:.1f}" x2="{right:.0f}" y2="{place:.1f}"/>'
        yield f'<text x="{_LEFT - 8:.0f}" y="{place + 4:.1f}" text-anchor="end">{y:g}</text>'
    for x in _ticks(frame.left, frame.right):
        if frame.left <= x <= frame.right:
            yield f'<text x="{frame.across(x):.1f}" y="{floor + 18:.0f}" text-anchor="middle">{x:g}</text>'
    yield f'<text x="{right:.0f}" y="{HEIGHT - 8:.0f}" text-anchor="end">{escape(across)}</text>'
    yield f'<text x="{_LEFT:.0f}" y="{_TOP - 22:.0f}">{escape(up)}</text>'


def _marked(frame: _Frame, marks: Sequence[Mark]) -> Iterator[str]:
    for mark in marks:
        x = frame.across(mark.x)
        yield f'<line class="mark" x1="{x:.1f}" y1="{_TOP:.0f}" x2="{x:.1f}" y2="{HEIGHT - _BOTTOM:.0f}"/>'
        yield f'<text x="{x + 4:.1f}" y="{_TOP + 10:.0f}">{escape(mark.name)}</text>'


def _drawn(frame: _Frame, curves: Sequence[Curve]) -> Iterator[str]:
    legend = WIDTH - _RIGHT
    for number, curve in reversed(list(enumerate(curves))):
        colour = _COLOURS[number % len(_COLOURS)]
        dashes = ' stroke-dasharray="6 4"' if curve.dashed else ""
        yield f'<path class="curve" stroke="{colour}"{dashes} d="{_path(frame, curve)}"/>'
        start = legend - 6.6 * len(curve.name) - 26.0
        yield f'<text x="{start + 26:.0f}" y="{_TOP - 22:.0f}">{escape(curve.name)}</text>'
        line = f'x1="{start:.0f}" y1="{_TOP - 26:.0f}" x2="{start + 20:.0f}" y2="{_TOP - 26:.0f}"'
        yield f'<line class="curve" stroke="{colour}"{dashes} {line}/>'
        legend = start - 18.0


def _path(frame: _Frame, curve: Curve) -> str:
    steps, pen = [], "M"
    for x, y in zip(curve.x, curve.y, strict=True):
        if math.isfinite(x) and math.isfinite(y):
            steps.append(f"{pen} {frame.place(x, y)}")
            pen = "L"
        else:
            pen = "M"
    return " ".join(steps)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, about six, from one at or below `low` to one at or above `high`."""
    span = max(high - low, 1e-9) / 6
    power = 10.0 ** math.floor(math.log10(span))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= span)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]
