"""A graph as an SVG picture, which any browser shows: accepting states have two rings, the doomed one is grey."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from textwrap import wrap

from llm_planner.drawing.graph import Graph, Node
from llm_planner.drawing.layout import LINE, RADIUS, Layout, Point, Route, lay_out

_MARGIN = 24.0
_ENTRY = 46.0  # length of the arrow into the first state
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
    """The picture as text; `title` (the sentence, or the formula) stands above it."""
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
