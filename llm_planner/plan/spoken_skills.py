"""Constraints may speak of what the robot has done: of skills that it has, and of things that they are done with."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.errors import InputError
from llm_planner.program.signatures import Signature
from llm_planner.temporal.constraint import Constraint
from llm_planner.world.propositions import parse_proposition

_NO_THINGS = frozenset({"number", "integer", "direction", "side", "region", "place", "point"})


def check_skills(constraints: Sequence[Constraint], skills: Sequence[Signature]) -> None:
    """Raises InputError, with the choices, for `did(...)` of a skill that is not among `skills` or takes no thing."""
    known = {skill.name: skill for skill in skills}
    possible = ", ".join(name for name, skill in known.items() if _takes_a_thing(skill))
    for name in sorted({name for one in constraints for name in one.formula.propositions}):
        item = parse_proposition(name)
        if item.predicate == "did" and item.arguments[0] not in known:
            raise InputError(f"{name!r}: this robot has no skill {item.arguments[0]}; it has: {', '.join(known)}")
        if item.predicate == "did" and not _takes_a_thing(known[item.arguments[0]]):
            raise InputError(
                f"{name!r}: {known[item.arguments[0]]} is not done with {item.arguments[1]!r} in the first place; "
                f"did(...) can speak of: {possible}"
            )


def _takes_a_thing(skill: Signature) -> bool:
    """A skill without parameters is told by the room in which it is done."""
    return not skill.parameters or skill.parameters[0].type not in _NO_THINGS
