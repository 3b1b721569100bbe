"""Constraints may speak of what the robot has done: of skills that it has, and of things that they are done with."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.errors import InputError
from llm_planner.program.signatures import Signature
from llm_planner.temporal.constraint import Constraint
from llm_planner.world.propositions import parse_proposition


def check_skills(constraints: Sequence[Constraint], skills: Sequence[Signature]) -> None:
    """Raises InputError, with the choices, for `did(...)` of a skill that is not among `skills` or takes no thing."""
    known = {skill.name: skill for skill in skills}
    possible = ", ".join(name for name, skill in known.items() if skill.takes_a_thing)
    for name in sorted({name for one in constraints for name in one.formula.propositions}):
        item = parse_proposition(name)
        if item.predicate == "did" and item.arguments[0] not in known:
            raise InputError(f"{name!r}: this robot has no skill {item.arguments[0]}; it has: {', '.join(known)}")
        if item.predicate == "did" and not known[item.arguments[0]].takes_a_thing:
            raise InputError(
                f"{name!r}: {known[item.arguments[0]]} is not done with {item.arguments[1]!r} in the first place; "
                f"did(...) can speak of: {possible}"
            )
