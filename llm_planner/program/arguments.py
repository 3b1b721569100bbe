"""Whether what the checker knows of an argument fits a parameter."""

from __future__ import annotations

from collections.abc import Iterator

from llm_planner.program.problems import Problem
from llm_planner.program.signatures import Parameter, Signature, value_problems
from llm_planner.program.static_types import Type
from llm_planner.world.scene import Scene

# Which types may turn out to fit when the values are not known yet; "any" may always.
_FITTING: dict[str, tuple[str, ...]] = {
    "object": ("object", "text"),
    "direction": ("text",),
    "side": ("text",),
    "region": ("text",),
    "point": ("point",),
    "place": ("point", "text"),
    "location": ("point", "text", "object"),
    "number": ("number", "bool"),
    "integer": ("number",),
    "text": ("text",),
    "kind": ("text",),
    "color": ("text",),
    "objects": ("list", "tuple"),
    "list": ("list", "tuple", "text"),
    "destination": ("object", "text"),
    "rewards": ("text",),
}
_WORDS = {"object": "an object", "location": "an object, a place or a point", "place": "a place or a point",
          "objects": "a list of objects", "integer": "a whole number",
          "destination": "a room, a person or an object", "rewards": "a reward program as a string"}  # fmt: skip
_ELEMENT = {"objects": "object"}


def argument_problems(signature: Signature, parameter: Parameter, given: Type, scene: Scene) -> Iterator[Problem]:
    """What is certainly wrong with an argument of type `given`; problems have no place in the program yet."""
    if given.name == "any" or parameter.type == "any" or (given.name == "none" and parameter.default is None):
        return
    if given.literals is not None:
        for value in sorted(given.literals, key=repr):
            yield from value_problems(signature, parameter, value, scene)
    elif given.name not in _FITTING[parameter.type]:
        expected = _WORDS.get(parameter.type, f"a {parameter.type}")
        yield Problem(0, 0, f"{signature.name}: {parameter.name} must be {expected}, not {given}")
    elif parameter.type in _ELEMENT:
        element = Parameter(f"every item of {parameter.name}", _ELEMENT[parameter.type])
        for item in given.items:
            yield from argument_problems(signature, element, item, scene)
