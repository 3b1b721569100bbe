"""Signatures of skills and queries, the check of argument values, and signatures of the program's own functions."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from llm_planner.programs.problems import Problem, ProgramError, did_you_mean, one_of, problem_at
from llm_planner.programs.reward_program import check_reward
from llm_planner.programs.values import NONE, Point, Type, Value, is_number, type_name
from llm_planner.scene.atoms import HELD, Atom
from llm_planner.scene.names import worded
from llm_planner.scene.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.scene.scene import Scene

REQUIRED: Any = object()  # default of a required parameter

_NO_THINGS = frozenset({"number", "integer", "direction", "side", "region", "place", "point", "rewards"})
WORKSPACE_MARGIN = 0.02  # [m] tolerates rounding of points at the table's edge


@dataclass(frozen=True)
class Parameter:
    """Parameter of a skill or query; `type` is one of `PARAMETER_TYPES`, `choices` are the valid words of a text."""

    name: str
    type: str
    default: Any = REQUIRED
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    description: str = ""

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    def allows(self, number: Any) -> bool:
        """Return whether `number` is a finite number within the bounds."""
        low, high = -inf if self.minimum is None else self.minimum, inf if self.maximum is None else self.maximum
        return is_number(number) and -inf < number < inf and low <= number <= high


@dataclass(frozen=True)
class Precondition:
    """Atom that must hold before a skill starts, and the sentence for a person if it does not.

    The sentence may contain the placeholders {parameter} and {held}.
    """

    atom: Atom
    otherwise: str

    def explain(self, values: Mapping[str, Any], held: str) -> str:
        """Fill in `otherwise`, with the arguments `values` and the object `held` in the gripper ("" for none)."""
        return worded(self.otherwise, **{**values, "held": held or "nothing"})


@dataclass(frozen=True)
class Signature:
    """Signature of a skill (`is_skill`) or a scene query.

    `returns` is the inferred type of a query's answer; skills return nothing. `preconditions`, `effects` and
    `description` come from the skill's manifest; `forecast` is the `plan` of its code (see `llm_planner.skills.paths`).
    """

    name: str
    parameters: tuple[Parameter, ...]
    is_skill: bool = False
    returns: Type = NONE
    preconditions: tuple[Precondition, ...] = ()
    effects: tuple[Atom, ...] = ()
    description: str = ""
    forecast: Callable[[Any], Any] | None = field(default=None, compare=False, repr=False)

    @property
    def fills_gripper(self) -> bool:
        """Whether the gripper holds something after the skill has succeeded."""
        return any(atom.predicate in ("held", "holding") and not atom.negated for atom in self.effects)

    @property
    def is_searched(self) -> bool:
        """Whether the motion is searched by rewards as it runs, so that it may move anything."""
        return any(parameter.type == "rewards" for parameter in self.parameters)

    @property
    def takes_a_thing(self) -> bool:
        """Whether `did(...)` can refer to the skill: by its first argument, or by the room if it has no parameters."""
        return not self.parameters or self.parameters[0].type not in _NO_THINGS

    def has_taken(self, held: str) -> bool:
        """Return whether the skill, while running, already holds its object and only has to finish."""
        return self.fills_gripper and held != ""

    @property
    def empties_gripper(self) -> bool:
        """Whether the gripper is empty after success: the effects say so, or they place the held object."""
        return not self.fills_gripper and any(
            atom.predicate == "empty" or HELD in atom.arguments[:1] for atom in self.effects if not atom.negated
        )

    @property
    def puts_down(self) -> bool:
        """Whether the skill places the held object."""
        return any(HELD in atom.arguments[:1] and not atom.negated for atom in self.effects)

    @property
    def leads(self) -> bool:
        """Whether the skill navigates to a destination."""
        return any(atom.predicate == "reached" for atom in self.effects)

    def __str__(self) -> str:
        listed = [p.name if p.required else f"{p.name}={p.default!r}" for p in self.parameters]
        return f"{self.name}({', '.join(listed)})"


@dataclass(frozen=True)
class Binding:
    """Arguments by parameter name, and the messages of arguments that do not fit."""

    given: Mapping[str, Any]
    problems: tuple[str, ...]


def bind(signature: Signature, positional: Sequence[Any], keywords: Sequence[tuple[str, Any]]) -> Binding:
    """Match arguments to parameters by Python's rules; the arguments may be values, types or syntax nodes."""
    names = [parameter.name for parameter in signature.parameters]
    given = dict(zip(names, positional, strict=False))
    problems = []
    if len(positional) > len(names):
        problems.append(f"{signature.name} takes at most {len(names)} arguments, not {len(positional)}: {signature}")
    for keyword, value in keywords:
        if keyword not in names:
            hint = did_you_mean(keyword, names)
            problems.append(f"{signature.name} has no parameter {keyword!r}{hint}; write {signature}")
        elif keyword in given:
            problems.append(f"{signature.name} is given {keyword!r} twice")
        else:
            given[keyword] = value
    missing = [p.name for p in signature.parameters if p.required and p.name not in given]
    if missing:
        problems.append(f"{signature.name} needs {' and '.join(missing)}; write {signature}")
    return Binding(given, tuple(problems))


def value_problems(signature: Signature, parameter: Parameter, value: Value, scene: Scene) -> Iterator[Problem]:
    """Yield the problems of passing `value` for `parameter`; they have no program position yet."""
    for message, person_can_answer in PARAMETER_TYPES[parameter.type].problems(parameter, value, scene):
        yield Problem(0, 0, f"{signature.name}: {message}", person_can_answer)


_Finding = tuple[str, bool]


def _expected(what: str, parameter: Parameter, value: Value) -> Iterator[_Finding]:
    shown = repr(value) if isinstance(value, (str, int, float, bool)) else type_name(value)
    yield f"{parameter.name} must be {what}, not {shown}", False


def _object(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    if not isinstance(value, str):
        yield from _expected("an object", parameter, value)
    elif value not in scene.names:
        hint = did_you_mean(value, scene.names)
        yield f'there is no "{value}" here{hint}; the scene holds: {one_of(scene.names)}', True


def _word(
    choices: Sequence[str], what: str, parameter: Parameter, value: Value, scene: Scene | None = None
) -> Iterator[_Finding]:
    if not isinstance(value, str):
        yield from _expected(what, parameter, value)
    elif value not in choices:
        yield f"{value!r} is not {what}{did_you_mean(value, choices)}; choose one of: {one_of(choices)}", False


def _destination(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    rooms = scene.building.names if scene.building else ()
    if not isinstance(value, str):
        yield from _expected("a room, a person or an object", parameter, value)
    elif value not in (*rooms, *scene.names):
        hint = did_you_mean(value, (*rooms, *scene.names))
        yield (
            f'there is no "{value}" here{hint}; the rooms are: {one_of(rooms)}; in them are: {one_of(scene.names)}',
            True,
        )


def _point(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    if not isinstance(value, Point):
        yield from _expected("a point", parameter, value)
    elif not (area := scene.workspace).contains(value.x, value.y, WORKSPACE_MARGIN):
        bounds = f"x {area.x_min:g} to {area.x_max:g}, y {area.y_min:g} to {area.y_max:g}"
        yield f"the point ({value.x:.2f}, {value.y:.2f}) is out of the arm's reach; it reaches {bounds} metres", True


def _place(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    if isinstance(value, Point):
        yield from _point(parameter, value, scene)
    elif isinstance(value, str) and value in scene.names:
        yield f'{parameter.name} must be a place or a point; "{value}" is an object: use place_on or place_in', False
    else:
        yield from _word(tuple(REGIONS), "a place", parameter, value)


def _location(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    if value is parameter.default or isinstance(value, Point) or (isinstance(value, str) and value in REGIONS):
        return
    yield from _object(parameter, value, scene)


def _number(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    if parameter.type == "integer" and (not isinstance(value, int) or isinstance(value, bool)):
        yield from _expected("a whole number", parameter, value)
    elif not is_number(value):
        yield from _expected("a number", parameter, value)
    elif not parameter.allows(value):
        low, high = parameter.minimum, parameter.maximum
        unit = f" {parameter.unit}" if parameter.unit else ""
        parts = [f"{word} {bound:g}" for word, bound in (("at least", low), ("at most", high)) if bound is not None]
        bounds = f"between {low:g} and {high:g}" if len(parts) == 2 else "".join(parts) or "finite"
        yield f"{parameter.name} must be {bounds}{unit}, not {value:g}", False


def _text(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    if parameter.choices:
        yield from _word(parameter.choices, f"a {parameter.name}", parameter, value)
    elif not isinstance(value, str) and value is not parameter.default:
        yield from _expected("a string", parameter, value)


def _feature(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    """Reject plural forms of known kinds and colours; unknown ones are valid queries with an empty answer."""
    known = {item.kind if parameter.type == "kind" else item.color for item in scene.objects}
    if not isinstance(value, str):
        if value is not parameter.default:
            yield from _expected("a string", parameter, value)
    elif value not in known and value.rstrip("s") in known:
        yield f'the {parameter.name} "{value}" must be in the singular: "{value.rstrip("s")}"', False


def _list(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    of_objects = parameter.type == "objects"
    if not isinstance(value, (list, tuple)):
        yield from _expected("a list of objects" if of_objects else "a list", parameter, value)
        return
    for item in value if of_objects else ():
        yield from _object(parameter, item, scene)


def _rewards(parameter: Parameter, value: Value, scene: Scene) -> Iterator[_Finding]:
    if not isinstance(value, str):
        yield from _expected("a reward program as a string", parameter, value)
        return
    try:
        check_reward(value, scene)
    except ProgramError as error:
        yield from ((f"{parameter.name}: {problem.message}", problem.person_can_answer) for problem in error.problems)


@dataclass(frozen=True)
class ParameterType:
    """Type of a parameter.

    Attributes:
        fitting: Names of the `values.Type`s that may fit while the value is unknown; "any" always may.
        problems: Yields what is wrong with a known value.
        words: What a person calls the type; by default "a" and its name.
    """

    fitting: tuple[str, ...]
    problems: Callable[[Parameter, Value, Scene], Iterator[_Finding]]
    words: str = ""


PARAMETER_TYPES = {
    "object": ParameterType(("object", "text"), _object, "an object"),
    "direction": ParameterType(("text",), partial(_word, tuple(DIRECTIONS), "a direction")),
    "side": ParameterType(("text",), partial(_word, SIDES, "a side")),
    "region": ParameterType(("text",), partial(_word, tuple(REGIONS), "a place")),
    "point": ParameterType(("point",), _point),
    "place": ParameterType(("point", "text"), _place, "a place or a point"),
    "location": ParameterType(("point", "text", "object"), _location, "an object, a place or a point"),
    "number": ParameterType(("number", "bool"), _number),
    "integer": ParameterType(("number",), _number, "a whole number"),
    "text": ParameterType(("text",), _text),
    "kind": ParameterType(("text",), _feature),
    "color": ParameterType(("text",), _feature),
    "objects": ParameterType(("list", "tuple"), _list, "a list of objects"),
    "list": ParameterType(("list", "tuple", "text"), _list),
    "any": ParameterType((), lambda parameter, value, scene: iter(())),
    "destination": ParameterType(("object", "text"), _destination, "a room, a person or an object"),
    "rewards": ParameterType(("text",), _rewards, "a reward program as a string"),
}


def function_signature(definition: ast.FunctionDef) -> Signature:
    """Return the signature of a program function; the parser allows constants only as defaults."""
    names = [argument.arg for argument in definition.args.args]
    values = [default.value for default in definition.args.defaults if isinstance(default, ast.Constant)]
    defaults = dict(zip(names[len(names) - len(values) :], values, strict=True))
    return Signature(definition.name, tuple(Parameter(name, "any", defaults.get(name, REQUIRED)) for name in names))


def local_names(definition: ast.FunctionDef) -> frozenset[str]:
    """Return the parameters and all names assigned in the body, which Python makes local before they have a value."""
    names = {argument.arg for argument in definition.args.args}
    stack: list[ast.AST] = list(definition.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if not isinstance(node, (ast.ListComp, ast.GeneratorExp)):  # their targets have their own scope
            stack.extend(ast.iter_child_nodes(node))
    return frozenset(names)


def called_names(node: ast.AST) -> frozenset[str]:
    """Return the names of all calls under `node`."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return frozenset(call.func.id for call in calls if isinstance(call.func, ast.Name))


def recursion_problem(name: str, functions: Mapping[str, ast.FunctionDef]) -> Problem | None:
    """Return the problem that a function calls itself, with the shortest chain of calls; None if it does not."""
    ways: deque[tuple[str, ...]] = deque([(name,)])
    reached: set[str] = set()
    while ways:
        way = ways.popleft()
        for callee in sorted(called_names(functions[way[-1]]) & functions.keys()):
            if callee == name:
                through = f" (by {' calls '.join((*way, name))})" if len(way) > 1 else ""
                return problem_at(functions[name], f"the function {name!r} calls itself{through}; use a loop")
            if callee not in reached:
                reached.add(callee)
                ways.append((*way, callee))
    return None
