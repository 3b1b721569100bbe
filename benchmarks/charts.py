"""Charts of curves over an axis, as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

CHART_WIDTH, CHART_HEIGHT = 760.0, 320.0
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
    """Polyline through (`x`[k], `y`[k]), interrupted at non-finite values."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Mark:
    """Vertical line at `x` with a label."""

    x: float
    name: str


@dataclass(frozen=True)
class _Frame:
    """Transformation from data to picture coordinates."""

    left: float
    right: float
    low: float
    high: float

    def place(self, x: float, y: float) -> str:
        return f"{self.across(x):.1f} {self.up(y):.1f}"

    def across(self, x: float) -> float:
        return _LEFT + (x - self.left) / (self.right - self.left) * (CHART_WIDTH - _LEFT - _RIGHT)

    def up(self, y: float) -> float:
        return CHART_HEIGHT - _BOTTOM - (y - self.low) / (self.high - self.low) * (CHART_HEIGHT - _TOP - _BOTTOM)


def chart_svg(title: str, across: str, up: str, curves: Sequence[Curve], marks: Sequence[Mark] = ()) -> str:
    """Draw curves as SVG text; `across` and `up` label the axes, and the y axis always includes 0."""
    xs = [x for curve in curves for x in curve.x if math.isfinite(x)] or [0.0, 1.0]
    ys = [y for curve in curves for y in curve.y if math.isfinite(y)] or [0.0, 1.0]
    rises = _ticks(min(0.0, *ys), max(0.0, *ys))
    frame = _Frame(min(xs), max(max(xs), min(xs) + 1e-9), min(rises[0], *ys), max(rises[-1], *ys))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{CHART_WIDTH:.0f}" height="{CHART_HEIGHT:.0f}" '
        f'viewBox="0 0 {CHART_WIDTH:.0f} {CHART_HEIGHT:.0f}" role="img">',
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
    right, floor = CHART_WIDTH - _RIGHT, CHART_HEIGHT - _BOTTOM
    for y in rises:
        place = frame.up(y)
        yield f'<line class="grid" x1="{_LEFT:.0f}" y1="{place:.1f}" x2="{right:.0f}" y2="{place:.1f}"/>'
        yield f'<text x="{_LEFT - 8:.0f}" y="{place + 4:.1f}" text-anchor="end">{y:g}</text>'
    for x in _ticks(frame.left, frame.right):
        if frame.left <= x <= frame.right:
            yield f'<text x="{frame.across(x):.1f}" y="{floor + 18:.0f}" text-anchor="middle">{x:g}</text>'
    yield f'<text x="{right:.0f}" y="{CHART_HEIGHT - 8:.0f}" text-anchor="end">{escape(across)}</text>'
    yield f'<text x="{_LEFT:.0f}" y="{_TOP - 22:.0f}">{escape(up)}</text>'


def _marked(frame: _Frame, marks: Sequence[Mark]) -> Iterator[str]:
    for mark in marks:
        x = frame.across(mark.x)
        yield f'<line class="mark" x1="{x:.1f}" y1="{_TOP:.0f}" x2="{x:.1f}" y2="{CHART_HEIGHT - _BOTTOM:.0f}"/>'
        yield f'<text x="{x + 4:.1f}" y="{_TOP + 10:.0f}">{escape(mark.name)}</text>'


def _drawn(frame: _Frame, curves: Sequence[Curve]) -> Iterator[str]:
    legend = CHART_WIDTH - _RIGHT
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
    """Return about six round tick values that cover `low` to `high`."""
    span = max(high - low, 1e-9) / 6
    power = 10.0 ** math.floor(math.log10(span))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= span)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]
