"""How a proposition is spelt inside a formula."""

from __future__ import annotations

import re

from llm_planner.errors import InputError

RESERVED = ("X", "N", "F", "G", "U", "W", "R", "M", "true", "false")
PROPOSITION = re.compile(
    r"(?P<name>[^\W\d]\w*)"
    r'(?:\((?P<arguments>[^()<>&|!"]*)\))?'
    r"(?:\s*(?P<comparison>[<>])\s*(?P<bound>\d+(?:\.\d+)?(?:e[+-]?\d+)?))?"
)
CONSTANTS = ("true", "false")
SPELLING = "a name such as a, in(robot, server room) or distance(robot, vase) > 0.3"


def normal_name(text: str) -> str:
    """The proposition in its one spelling: `on( a,b )` is `on(a, b)`; raises InputError when it is none."""
    match = PROPOSITION.fullmatch(text.strip())
    if match is None or match["name"] in RESERVED:
        why = f"{match['name']} is an operator" if match else "its form is wrong"
        raise InputError(f"{text!r} cannot name a proposition ({why}); write {SPELLING}")
    return spelt(match)


def spelt(match: re.Match[str]) -> str:
    """A match of PROPOSITION in its one spelling; raises InputError for an empty argument, True and FALSE."""
    name = match["name"]
    if name.lower() in CONSTANTS:
        raise InputError(f"{name!r} names no proposition: the constants are written true and false")
    if match["arguments"] is not None:
        arguments = [" ".join(part.split()) for part in match["arguments"].split(",")]
        if not all(arguments):
            raise InputError(f"{match[0]!r} has an empty argument; write {SPELLING}")
        name = f"{name}({', '.join(arguments)})"
    return f"{name} {match['comparison']} {float(match['bound']):g}" if match["comparison"] else name
