"""Layout of an automaton graph and its drawing as SVG.

States are in columns from left to right, and edges are curves that avoid other elements. Accepting states have a double
ring, the doomed state is grey. Points are complex numbers in pixels, x to the right and y down.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from llm_planner.ltl.automaton_graph import Edge, Graph, Node

RADIUS = 26.0
LETTER, LINE = 7.3, 16.0  # [px] character width and line height of labels
LINE_LENGTH = 26  # characters after which a label breaks at the next operator
_ROW, _COLUMN = 130.0, 170.0  # [px] minimum distances between states
_BENDS = (0.0, 22.0, -22.0, 45.0, -45.0, 90.0, -90.0, 150.0, -150.0, 220.0, -220.0)  # [px] curve offsets
_PLACES = (0.5, 0.46, 0.54, 0.42, 0.58, 0.38, 0.62, 0.34, 0.66, 0.3, 0.7, 0.26, 0.74)  # of a label along its curve
_LOOPS = (-90.0, 90.0, 0.0)  # [deg] candidate directions of a self-loop
_CLEARANCE = 9.0
_SAMPLES = 20
_PASSES = 3

Point = complex


@dataclass(frozen=True)
class Box:
    """Bounding box of a label."""

    center: Point
    width: float
    height: float

    def overlaps(self, other: Box, margin: float = 4.0) -> bool:
        apart = self.center - other.center
        return (
            abs(apart.real) < (self.width + other.width) / 2 + margin
            and abs(apart.imag) < (self.height + other.height) / 2 + margin
        )

    def distances(self, points: NDArray[np.complex128]) -> NDArray[np.float64]:
        """Return the distances from points to the box, in their shape; 0 inside."""
        apart = points - self.center
        beside = np.maximum(0.0, np.abs(apart.real) - self.width / 2)
        above = np.maximum(0.0, np.abs(apart.imag) - self.height / 2)
        return np.hypot(beside, above)


@dataclass(frozen=True)
class Route:
    """Drawn edge: the control points of a cubic curve, and label lines centred at `label`."""

    edge: Edge
    curve: tuple[Point, Point, Point, Point]
    label: Point
    lines: tuple[str, ...]

    @cached_property
    def samples(self) -> tuple[Point, ...]:
        return tuple(_on(self.curve, k / _SAMPLES) for k in range(_SAMPLES + 1))

    @cached_property
    def box(self) -> Box:
        return Box(self.label, LETTER * max(map(len, self.lines)) + 4, LINE * len(self.lines))


@dataclass(frozen=True)
class Layout:
    """Centres of the states and routes of all edges."""

    places: Mapping[int, Point]
    routes: tuple[Route, ...]

    @property
    def corners(self) -> tuple[Point, Point]:
        """Top left and bottom right corners of the drawing."""
        boxes = [Box(place, 2 * RADIUS, 2 * RADIUS) for place in self.places.values()]
        boxes += [route.box for route in self.routes]
        boxes += [Box(point, 0, 0) for route in self.routes for point in route.samples]
        low = complex(min(b.center.real - b.width / 2 for b in boxes), min(b.center.imag - b.height / 2 for b in boxes))
        high = complex(
            max(b.center.real + b.width / 2 for b in boxes), max(b.center.imag + b.height / 2 for b in boxes)
        )
        return low, high


def lay_out(graph: Graph) -> Layout:
    """Place the states, and route each edge at the lowest cost, repeatedly given the routes of the others."""
    places = _places(graph)
    edges = sorted(
        graph.edges, key=lambda e: (e.source == e.target, abs(places[e.source] - places[e.target]), e.target)
    )
    routes: dict[Edge, Route] = {}
    for _ in range(_PASSES):
        for edge in edges:
            others = [route for other, route in routes.items() if other is not edge]
            options = _loops(edge, places) if edge.source == edge.target else _curves(edge, places)
            routes[edge] = _Disturbance(places, others).best(options)
    return Layout(places, tuple(routes[edge] for edge in edges))


def _places(graph: Graph) -> dict[int, Point]:
    """Place live states in columns around the centre line, and the doomed state below its predecessors."""
    widths = {edge: LETTER * max(map(len, broken(edge.text))) for edge in graph.edges}
    columns = graph.columns()
    places: dict[int, Point] = {}
    x = 0.0
    for before, column in zip([(), *columns], columns, strict=False):
        passing = [
            widths[e] for e in graph.edges if {e.source, e.target} & {*before} and {e.source, e.target} & {*column}
        ]
        x += max(_COLUMN, max(passing, default=0) + 2 * RADIUS + 44) if before else 0.0
        for row, state in enumerate(column):
            places[state] = complex(x, (row - (len(column) - 1) / 2) * _ROW)
    for node in graph.nodes:
        if node.number not in places:
            leading = [
                places[edge.source].real for edge in graph.edges if edge.target == node.number and edge.source in places
            ]
            middle = sum(leading) / len(leading) if leading else 0.0
            places[node.number] = complex(middle, max(place.imag for place in places.values()) + 1.25 * _ROW)
    return places


def broken(text: str) -> tuple[str, ...]:
    """Break a label into lines: each alternative starts one, and long alternatives continue on the next."""
    if len(text) <= LINE_LENGTH:
        return (text,)
    lines: list[str] = []
    for number, term in enumerate(text.split(" | ")):
        lines.append("| " if number else "")
        for part, literal in enumerate(term.split(" & ")):
            word = f"& {literal}" if part else literal
            if part and len(lines[-1]) + len(word) > LINE_LENGTH:
                lines.append(word)
            else:
                lines[-1] = f"{lines[-1].rstrip()} {word}".strip()
    return tuple(lines)


def _curves(edge: Edge, places: Mapping[int, Point]) -> Iterable[tuple[Route, ...]]:
    start, end = places[edge.source], places[edge.target]
    along = (end - start) / abs(end - start)
    for bend in _BENDS:
        middle = (start + end) / 2 - 1j * along * bend * 1.5
        first = start + RADIUS * _unit(middle - start)
        last = end + (RADIUS + 3) * _unit(middle - end)
        curve = (first, first + (middle - first) * 2 / 3, last + (middle - last) * 2 / 3, last)
        yield tuple(Route(edge, curve, _on(curve, place), broken(edge.text)) for place in _PLACES)


def _loops(edge: Edge, places: Mapping[int, Point]) -> Iterable[tuple[Route, ...]]:
    center, lines = places[edge.source], broken(edge.text)
    for degrees in _LOOPS:
        out = cmath.rect(1.0, math.radians(degrees))
        left, right = out * cmath.rect(1.0, -0.42), out * cmath.rect(1.0, 0.42)
        curve = (center + RADIUS * left, center + 2.7 * RADIUS * out * cmath.rect(1.0, -0.55),
                 center + 2.7 * RADIUS * out * cmath.rect(1.0, 0.55), center + (RADIUS + 3) * right)  # fmt: skip
        width, height = LETTER * max(map(len, lines)) + 4, LINE * len(lines)
        reach = 2.1 * RADIUS + abs(out.real) * width / 2 + abs(out.imag) * height / 2
        yield (Route(edge, curve, center + reach * out, lines),)


class _Disturbance:
    """Cost of a route given the states and the other routes."""

    def __init__(self, places: Mapping[int, Point], others: Sequence[Route]) -> None:
        self._states, self._places = np.array([*places]), np.array([*places.values()])
        self._first = places[0]
        self._curves = np.array([route.samples for route in others]).reshape(-1, _SAMPLES + 1)
        self._boxes = [route.box for route in others]

    def best(self, options: Iterable[tuple[Route, ...]]) -> Route:
        """Return the route of lowest cost; the options come in groups that share one curve."""
        costs: list[tuple[float, Route]] = []
        for group in options:
            curve = self._of_curve(group[0])
            costs += [(curve + self._of_label(route), route) for route in group]
        return min(costs, key=lambda item: item[0])[1]

    def _of_curve(self, route: Route) -> float:
        """Return a small cost for length, and large ones for crossing a state, a label or another curve."""
        points = np.array(route.samples)
        length = float(np.abs(np.diff(points)).sum())
        strangers = self._places[~np.isin(self._states, [route.edge.source, route.edge.target])]
        through = (np.abs(points[:, None] - strangers).min(axis=0) < RADIUS + _CLEARANCE).sum()
        covered = sum(bool((box.distances(points) < 3).any()) for box in self._boxes)
        inner = self._curves[:, 2:-2].ravel()
        met = (np.abs(points[2:-2, None] - inner) < 8).sum()
        return 0.1 * length + 1000 * float(through) + 60 * covered + 15 * float(met)

    def _of_label(self, route: Route) -> float:
        """Return large costs for covering a state, a label or a curve, or lying left of the first state."""
        box = route.box
        on_states = (box.distances(self._places) < RADIUS + 4).sum()
        over = (box.distances(self._curves) < 3).any(axis=1).sum()
        on_labels = sum(box.overlaps(other) for other in self._boxes)
        before = bool(box.distances(np.array([self._first - 2 * RADIUS]))[0] < 2)
        aside = abs(route.label - (route.samples[0] + route.samples[-1]) / 2)
        return 600 * float(on_states) + 60 * float(over) + 500 * on_labels + 400 * before + 0.05 * aside


def _on(curve: tuple[Point, Point, Point, Point], t: float) -> Point:
    a, b, c, d = curve
    u = 1 - t
    return u**3 * a + 3 * u * u * t * b + 3 * u * t * t * c + t**3 * d


def _unit(vector: Point) -> Point:
    return vector / abs(vector) if vector else 1.0


_MARGIN = 24.0
_ENTRY = 46.0  # [px] length of the arrow into the first state
_INK, _FAINT, _DONE = "#1f2933", "#9aa5b1", "#1b7f4d"
_STYLE = f"""
  text {{ font: 12px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: {_INK}; text-anchor: middle; }}
  .title {{ font: 600 15px "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; text-anchor: start; }}
  .legend {{ font: 12px "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; fill: #616e7c; text-anchor: start; }}
  .state {{ fill: #ffffff; stroke: {_INK}; stroke-width: 1.6; }}
  .accepting {{ fill: #e9f7ef; stroke: {_DONE}; }}
  .doomed {{ fill: #e4e7eb; stroke: {_FAINT}; stroke-dasharray: 4 3; }}
  .edge {{ fill: none; stroke: {_INK}; stroke-width: 1.4; }}
  .lost {{ stroke: {_FAINT}; }}
  .number {{ font-size: 14px; }}
  .faint {{ fill: #7b8794; }}
"""
_LEGEND = "double ring: it may end here · grey: the sentence is broken for good"


def automaton_svg(graph: Graph, title: str) -> str:
    """Draw the graph as SVG text, with `title` (the sentence or the formula) above it."""
    layout = lay_out(graph)
    low, high = layout.corners
    low -= complex(_ENTRY, 0.0)
    width = max(high.real - low.real + 2 * _MARGIN, 460.0)
    heading = wrap(title, max(20, int((width - 2 * _MARGIN) / 8.6))) or [""]
    top = _MARGIN + 21 * len(heading)
    height = top + (high - low).imag + 2 * _MARGIN + 18
    move = complex(_MARGIN + (width - 2 * _MARGIN - (high - low).real) / 2 - low.real, top + 8 - low.imag)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f"<defs>{_arrow('arrow', _INK)}{_arrow('faint-arrow', _FAINT)}</defs>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *(_text(complex(_MARGIN, _MARGIN + 8 + 21 * k), line, "title") for k, line in enumerate(heading)),
        *_drawn(graph, layout, move),
        _text(complex(_MARGIN, height - 12), _LEGEND, "legend"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _drawn(graph: Graph, layout: Layout, move: Point) -> Iterator[str]:
    first = layout.places[0] + move
    begin, end = _xy(first - RADIUS - _ENTRY), _xy(first - RADIUS - 3)
    yield f'<path class="edge" marker-end="url(#arrow)" d="M {begin} L {end}"/>'
    for route in layout.routes:
        yield _curve(route, graph, move)
    for route in layout.routes:
        yield from _label(route, graph, move)
    for node in graph.nodes:
        if node.number in layout.places:
            yield from _state(node, layout.places[node.number] + move)


def _curve(route: Route, graph: Graph, move: Point) -> str:
    start, one, two, end = (_xy(point + move) for point in route.curve)
    lost = graph.nodes[route.edge.target].doomed
    marker, kind = ("faint-arrow", "edge lost") if lost else ("arrow", "edge")
    return f'<path class="{kind}" marker-end="url(#{marker})" d="M {start} C {one}, {two}, {end}"/>'


def _label(route: Route, graph: Graph, move: Point) -> Iterator[str]:
    box, center = route.box, route.label + move
    corner = center - complex(box.width, box.height) / 2
    size = f'width="{box.width:.1f}" height="{box.height:.1f}"'
    yield f'<rect x="{corner.real:.1f}" y="{corner.imag:.1f}" {size} fill="#ffffff"/>'
    kind = "faint" if graph.nodes[route.edge.target].doomed else ""
    for k, line in enumerate(route.lines):
        yield _text(complex(center.real, corner.imag + LINE * (k + 1) - 4), line, kind)


def _state(node: Node, center: Point) -> Iterator[str]:
    kind = "state doomed" if node.doomed else "state accepting" if node.accepting else "state"
    yield f'<circle class="{kind}" cx="{center.real:.1f}" cy="{center.imag:.1f}" r="{RADIUS:g}"/>'
    if node.accepting:
        yield f'<circle class="{kind}" cx="{center.real:.1f}" cy="{center.imag:.1f}" r="{RADIUS - 5:g}"/>'
    yield _text(center + 5j, str(node.number), "number faint" if node.doomed else "number")


def _text(place: Point, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{place.real:.1f}" y="{place.imag:.1f}">{escape(text)}</text>'


def _arrow(name: str, color: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        f'orient="auto-start-reverse"><path d="M 0 1 L 10 5 L 0 9 z" fill="{color}"/></marker>'
    )


def _xy(point: Point) -> str:
    return f"{point.real:.1f} {point.imag:.1f}"
