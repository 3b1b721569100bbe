"""Functions that policy programs may call: scene queries, Python built-ins, and remarks to the person.

Queries are answered from the scene at the time of the call. The built-ins behave as in Python, but return lists instead
of iterators and bound the size of their results. Remarks are plain text of bounded length.
"""

from __future__ import annotations

import itertools
import keyword
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llm_planner.programs.problems import MAX_ITEMS, NothingFoundError, Problem
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.programs.values import (
    ANY,
    BOOL,
    NUMBER,
    OBJECT,
    OBJECTS,
    POINT,
    POINTS,
    TEXT,
    Found,
    Point,
    Type,
    Value,
    is_number,
    list_of,
)
from llm_planner.scene import free_space, predicates
from llm_planner.scene.geometry import distance_in_plane, half_extents
from llm_planner.scene.names import the
from llm_planner.scene.places import REGIONS, Viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.text import plain_text, shortened


@dataclass(frozen=True)
class View:
    """Current scene and viewpoint of the speaker."""

    scene: Scene
    viewpoint: Viewpoint

    def point(self, location: Value) -> Point:
        """Return the point of an object, a region or a point; None is the robot."""
        if location is None:
            return self._robot()
        if isinstance(location, Point):
            return location
        if location in REGIONS:
            return Point(*self.viewpoint.region(location, self.scene.workspace).anchor)
        return Point(*self.scene.find(location).position)

    def _robot(self) -> Point:
        if self.scene.robot is None:
            raise nothing("it is not known where the robot is, so nothing is near to it or far from it; name a thing")
        return Point(*self.scene.robot.position)

    def place(self, place: Value) -> predicates.Place:
        """Convert a region or point to the form that `predicates` takes."""
        return (place.x, place.y, place.z) if isinstance(place, Point) else self.viewpoint.to_base(place)


def _xy(point: Point) -> tuple[float, float]:
    return point.x, point.y


def what(candidates: Sequence[Value]) -> str:
    """Describe the search behind a list of candidates."""
    return candidates.what if isinstance(candidates, Found) else "object"


def describe(location: Value) -> str:
    """Describe a location in words."""
    return "that point" if isinstance(location, Point) else the(str(location))


def nothing(message: str) -> NothingFoundError:
    """Create the error of a query without an answer; the evaluator adds the line."""
    return NothingFoundError(Problem(0, 0, message, person_can_answer=True))


def _objects(view: View, kind: str | None, color: str | None) -> Found:
    fitting = [item.name for item in view.scene.objects if kind in (None, item.kind) and color in (None, item.color)]
    return Found(fitting, " ".join(word for word in (color, kind or "object") if word))


def _ordered(view: View, candidates: Sequence[str], to: Value) -> tuple[str, ...]:
    others = [name for name in candidates if name != to]
    if not others:
        raise nothing(f"there is no {what(candidates)} to choose from")
    return predicates.by_distance(view.scene, others, _xy(view.point(to)))


def _of_size(pick: Callable[..., str]) -> Callable[[View, Sequence[str]], str]:
    def choose(view: View, candidates: Sequence[str]) -> str:
        if not candidates:
            raise nothing(f"there is no {what(candidates)} to choose from")
        return pick(candidates, key=lambda name: predicates.volume(view.scene.find(name)))

    return choose


def _from_side(view: View, candidates: Sequence[str], direction: str) -> Found:
    ordered = predicates.from_side(view.scene, candidates, view.viewpoint.direction(direction))
    return Found(ordered, what(candidates))


_SIDE_PHRASES = {
    "left": "to the left of", "right": "to the right of", "top": "on the far side of", "bottom": "on the near side of",
}  # fmt: skip


def _on_side(view: View, candidates: Sequence[str], direction: str, of: Value) -> Found:
    vector, origin = view.viewpoint.direction(direction), _xy(view.point(of))
    there = predicates.on_side(view.scene, [name for name in candidates if name != of], vector, origin)
    return Found(there, f"{what(candidates)} {_SIDE_PHRASES[direction]} {describe(of)}")


def _is_at(view: View, item: str, place: Value) -> bool:
    """Test for a place without the tolerance that goals have, so that programs skip only objects inside a region."""
    return predicates.at(view.scene, item, view.place(place), margin=0.0)


def _contents(view: View, item: str) -> Found:
    return Found(predicates.contents(view.scene, item), f"object in or on {the(item)}")


def _midpoint(view: View, a: Value, b: Value) -> Point:
    first, second = view.point(a), view.point(b)
    return Point((first.x + second.x) / 2, (first.y + second.y) / 2)


def _line_points(view: View, n: int, direction: str, center: Value, gap: float | None) -> list[Point]:
    along = view.viewpoint.direction("right" if direction == "horizontal" else "top")
    middle = None if center is None else _xy(view.point(center))
    return [Point(*point) for point in free_space.row(view.scene, n, along, middle, gap)]


def _room_of(view: View, item: str) -> str:
    building = view.scene.building
    return building.room_at(*view.scene.find(item).position[:2]) if building else ""


def _pairs(view: View, items: Sequence[Value]) -> list[tuple[Value, Value]]:
    pairs = list(itertools.pairwise(items))
    if pairs or not isinstance(items, Found):
        return pairs
    return Found(pairs, f"second {items.what}" if items else items.what)


@dataclass(frozen=True)
class Query:
    """Scene query: its signature, and a function of the view and the arguments in order."""

    signature: Signature
    answer: Callable[..., Value]


def _query(name: str, answer: Callable[..., Value], returns: Type, *parameters: Parameter) -> Query:
    return Query(Signature(name, parameters, returns=returns), answer)


_OBJECT = Parameter("object", "object")
_A, _B = Parameter("a", "object"), Parameter("b", "object")
_CANDIDATES = Parameter("candidates", "objects")
_DIRECTION = Parameter("direction", "direction")
_COUNT = Parameter("n", "integer", minimum=0, maximum=16)
_LINE = Parameter("direction", "text", "horizontal", choices=("horizontal", "vertical"))
_TO = Parameter("to", "location", None)
_CENTER = Parameter("center", "location", None)
_GAP = Parameter("gap", "number", None, minimum=0.02, maximum=0.4, unit="m")

QUERIES: dict[str, Query] = {
    query.signature.name: query
    for query in (
        _query("objects", _objects, OBJECTS, Parameter("kind", "kind", None), Parameter("color", "color", None)),
        _query("color", lambda view, item: view.scene.find(item).color, TEXT, _OBJECT),
        _query("kind", lambda view, item: view.scene.find(item).kind, TEXT, _OBJECT),
        _query("position", lambda view, item: Point(*view.scene.find(item).position), POINT, _OBJECT),
        _query("height", lambda view, item: 2 * half_extents(view.scene.find(item))[2], NUMBER, _OBJECT),
        _query("width", lambda view, item: 2 * max(half_extents(view.scene.find(item))[:2]), NUMBER, _OBJECT),
        _query("held", lambda view: view.scene.held or None, ANY),
        _query("is_on", lambda view, a, b: predicates.on(view.scene, a, b), BOOL, _A, _B),
        _query("is_in", lambda view, a, b: predicates.in_(view.scene, a, b), BOOL, _A, _B),
        _query("is_at", _is_at, BOOL, _A, Parameter("place", "place")),
        _query("is_held", lambda view, a: view.scene.held == a, BOOL, _A),
        _query("is_open", lambda view, a: predicates.open_(view.scene, a), BOOL, _A),
        _query("is_closed", lambda view, a: predicates.closed(view.scene, a), BOOL, _A),
        _query("is_clear", lambda view, a: predicates.clear(view.scene, a), BOOL, _A),
        _query("contents", _contents, OBJECTS, _OBJECT),
        _query("closest", lambda view, *rest: _ordered(view, *rest)[0], OBJECT, _CANDIDATES, _TO),
        _query("farthest", lambda view, *rest: _ordered(view, *rest)[-1], OBJECT, _CANDIDATES, _TO),
        _query("largest", _of_size(max), OBJECT, _CANDIDATES),
        _query("smallest", _of_size(min), OBJECT, _CANDIDATES),
        _query("from_side", _from_side, OBJECTS, _CANDIDATES, _DIRECTION),
        _query("on_side", _on_side, OBJECTS, _CANDIDATES, _DIRECTION, Parameter("of", "location")),
        _query("distance", lambda view, a, b: distance_in_plane(_xy(view.point(a)), _xy(view.point(b))), NUMBER,
               Parameter("a", "location"), Parameter("b", "location", None)),
        _query("point", lambda view, x, y: Point(x, y), POINT, Parameter("x", "number"), Parameter("y", "number")),
        _query("midpoint", _midpoint, POINT, Parameter("a", "location"), Parameter("b", "location")),
        _query("line_points", _line_points, POINTS, _COUNT, _LINE, _CENTER, _GAP),
        _query("circle_points", lambda view, n: [Point(*point) for point in free_space.circle(view.scene, n)], POINTS,
               _COUNT),
        _query("rooms", lambda view: list(view.scene.building.names) if view.scene.building else [], list_of(TEXT)),
        _query("room_of", _room_of, TEXT, _OBJECT),
        _query("robot_room", lambda view: view.scene.robot_room, TEXT),
        _query("pairs", _pairs, list_of(ANY), Parameter("items", "list")),
    )
}  # fmt: skip

TELL = "tell"
MAX_REMARK = 300  # characters of one remark; longer text is cut
MAX_REMARKS = 20  # remarks in one run of a program


def remark(parts: Sequence[Value]) -> str:
    """Join the values to one sentence, with rounded numbers and comma-separated lists."""
    text = shortened(plain_text(" ".join(map(_worded, parts))), MAX_REMARK - 1)
    return f"{text}." if text[-1:].isalnum() or text.endswith(")") else text


def _worded(value: Value) -> str:
    if isinstance(value, Point):
        return f"({value.x:.3g}, {value.y:.3g})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_number(value):
        return f"{round(value, 3):g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_worded, value)) or "nothing"
    return "nothing" if value is None else str(value)


class BuiltinError(Exception):
    """Call of a built-in with values it cannot take; the evaluator adds the program line."""


def same_list(items: Sequence[Value], result: Sequence[Value]) -> list[Value]:
    """Copy `result` to a list, keeping the search description of `items` if it is a `Found`."""
    return Found(result, items.what) if isinstance(items, Found) else list(result)


def _range(*bounds: Value) -> list[int]:
    if not all(isinstance(bound, int) and not isinstance(bound, bool) for bound in bounds):
        raise BuiltinError("range takes whole numbers")
    numbers = range(*bounds)
    if len(numbers) > MAX_ITEMS:
        raise BuiltinError(f"a range of {len(numbers)} numbers is too long; at most {MAX_ITEMS} are allowed")
    return list(numbers)


def _extreme(pick: Callable[..., Value], name: str) -> Callable[..., Value]:
    def choose(*items: Value) -> Value:
        candidates = items[0] if len(items) == 1 else items
        if not isinstance(candidates, (list, tuple, str)):
            raise BuiltinError(f"{name} takes a list, or several values")
        if isinstance(candidates, Found) and not candidates:
            raise nothing(f"there is no {what(candidates)}")
        if not candidates:
            raise BuiltinError(f"{name} of an empty list")
        return pick(candidates)

    return choose


def _round(number: Value, digits: Value = None) -> Value:
    if digits is not None and not (isinstance(digits, int) and abs(digits) <= 15):
        raise BuiltinError("round takes at most 15 digits")
    return round(number, digits)


def _zip(*lists: Sequence[Value]) -> list[tuple[Value, ...]]:
    """Zip the lists; if a `Found` list is empty, the result carries its description."""
    zipped = list(zip(*lists, strict=False))
    missing = [items.what for items in lists if isinstance(items, Found) and not items]
    return Found(zipped, missing[0]) if missing else zipped


BUILTIN_KEYWORDS = {"sorted": ("reverse",)}

# name: (function, minimum and maximum number of arguments, return type)
BUILTINS: dict[str, tuple[Callable[..., Any], int, int, Type]] = {
    "len": (len, 1, 1, NUMBER),
    "range": (_range, 1, 3, list_of(NUMBER)),
    "min": (_extreme(min, "min"), 1, 20, ANY),
    "max": (_extreme(max, "max"), 1, 20, ANY),
    "sum": (sum, 1, 1, NUMBER),
    "sorted": (lambda items, reverse=False: same_list(items, sorted(items, reverse=bool(reverse))), 1, 1, ANY),
    "reversed": (lambda items: same_list(items, items[::-1]), 1, 1, ANY),
    "enumerate": (lambda items: same_list(items, list(enumerate(items))), 1, 1, ANY),
    "zip": (_zip, 1, 5, ANY),
    "abs": (abs, 1, 1, NUMBER),
    "round": (_round, 1, 2, NUMBER),
    "any": (any, 1, 1, BOOL),
    "all": (all, 1, 1, BOOL),
    "list": (lambda items: same_list(items, items), 0, 1, ANY),
}


def skill_name_problem(name: str) -> str:
    """Return why policy programs could not call a skill `name`; "" if they can."""
    if not name.isidentifier():
        return f"{name!r} is not a name that programs can call; use lower case letters, digits and _, e.g. wave_at"
    if keyword.iskeyword(name) or name in (*BUILTINS, *QUERIES, TELL):
        return f"{name!r} already has a meaning in policy programs; choose another name, e.g. my_{name}"
    return ""
