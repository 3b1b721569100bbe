"""Calls of skills by the words of their names: "wave at the red block" calls `wave_at`.

The embedded model was trained on the shipped skills only. Clauses that name another skill are read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.grounding.lifting import Lifted, in_si, lift, read_amount
from llm_planner.language.grounding.naming import scene_phrases, stems
from llm_planner.language.grounding.resolution import Resolver
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.scene.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.scene.scene import Scene
from llm_planner.share import share_folder

_BORDER = r"(?:[,;:.!?](?=\s|$)|\b(?:and|then)\b)"
_CLAUSE = re.compile(rf"(?:(?!{_BORDER}).)+", re.IGNORECASE | re.DOTALL)
_ENDS = re.compile(rf"^(?:\s|{_BORDER})+|(?:\s|{_BORDER})+$", re.IGNORECASE)
# Words between the arguments of a call without a meaning of their own.
_BETWEEN = frozenset(("a", "an", "the", "at", "to", "on", "in", "of", "with", "by", "for", "from", "please", "now"))
_WORDS = {"direction": DIRECTIONS, "side": SIDES, "region": REGIONS, "place": REGIONS}
_AMOUNTS = ("quantity", "seconds", "speed", "number")
_SEGMENTS = {"m": "quantity", "s": "seconds", "m/s": "speed"}  # of amounts with a unit


@dataclass(frozen=True)
class Part:
    """Part of a command: its words, and the call of a skill in program syntax, "" for words without one."""

    words: str
    call: str = ""


@lru_cache(maxsize=1)
def _shipped() -> frozenset[str]:
    return frozenset(path.parent.name for path in share_folder("skills").glob("*/skill.yaml"))


def parts_of(command: str, skills: Sequence[Signature], scene: Scene) -> tuple[Part, ...]:
    """Split a command into calls of skills that do not ship, and the words between them.

    A clause is a call if all of its words belong to the skill's name or to an argument. Arguments follow the order of
    the parameters, but an amount belongs to the parameter with such a unit; a bare number is in the parameter's unit.

    Args:
        command: Command in plain words.
        skills: Signatures of all skills.
        scene: Scene with the names of objects and rooms.

    Raises:
        QuestionError: Other words name a skill, or an argument is ambiguous.
    """
    own = [one for one in skills if one.is_skill and one.name not in _shipped()]
    if not own:
        return (Part(command),)
    own.sort(key=lambda one: -len(one.name))
    reader = _Reader(command, scene)
    parts: list[Part] = []
    start = end = 0  # of the words since the last call
    for clause in _CLAUSE.finditer(command):
        said = reader.lifted(clause.start(), clause.end())
        call = next(filter(None, (reader.call(skill, said) for skill in own)), "") if said else ""
        if call:
            parts += [Part(_ENDS.sub("", command[start:end])), Part("", call)]
            start = clause.end()
        end = clause.end()
    parts.append(Part(_ENDS.sub("", command[start:])))
    for skill in own:
        for part in parts:
            if _names(skill, lift(part.words)):
                required = (f"({parameter.name})" for parameter in skill.parameters if parameter.required)
                example = " ".join((*skill.name.split("_"), *required))
                raise QuestionError(
                    f"I do not know how “{part.words}” calls the skill {skill.name}. Please say the call as a "
                    f"clause of its own, without other words: “{example}”."
                )
    return tuple(part for part in parts if part.call or part.words) if len(parts) > 1 else (Part(command),)


def _names(skill: Signature, said: Sequence[Lifted]) -> bool:
    """Return whether words contain the name of a skill, in any form of its words."""
    name = [word for word in skill.name.split("_") if word not in _BETWEEN]
    words = [one.text for one in said if one.text not in _BETWEEN]
    return any(
        all(stems(word) & stems(part) for word, part in zip(words[start:], name, strict=False))
        for start in range(len(words) - len(name) + 1)
    )


class _Reader:
    """Reader of the clauses of one command."""

    def __init__(self, command: str, scene: Scene) -> None:
        self._command, self._scene = command, scene
        self._resolver = Resolver(command, scene)
        self._lifted = lift(command, scene_phrases(scene), slips=False)

    def lifted(self, start: int, end: int) -> list[Lifted]:
        """Return the segments between two positions."""
        return [one for one in self._lifted if start <= one.start < end]

    def call(self, skill: Signature, clause: Sequence[Lifted]) -> str:
        """Return a clause as a call of the skill; "" if words are left over or an argument is missing."""
        name = skill.name.split("_")
        said = [part for part in clause if part.text not in ("please", "now")]
        if [part.text for part in said[: len(name)]] != name:
            return ""
        left, amounts = list[Lifted](), list[tuple[str, float]]()
        for part in said[len(name) :]:
            if amount := _amount(part):
                amounts.append(amount)
            elif part.text not in _BETWEEN and not (part.text == "times" and amounts):
                left.append(part)
        kinds = {_kind(parameter)[0] for parameter in skill.parameters}
        arguments: list[str] = []
        for parameter in skill.parameters:
            kind, unit = _kind(parameter)
            fitting = [one for one in amounts if one[0] == kind] or [one for one in amounts if one[0] == "number"]
            fitting = fitting or [one for one in amounts if one[0] not in kinds]
            if parameter.type == "number" and fitting:
                amounts.remove(fitting[0])
                value, used = f"{fitting[0][1] / (unit if fitting[0][0] == kind else 1.0):g}", 0
            else:
                value, used = self._value(parameter, left)
            left = left[used:]
            if value:
                arguments.append(f"{parameter.name}={value}")
            elif parameter.required:
                return ""
        return "" if left or amounts else f"{skill.name}({', '.join(arguments)})"

    def _value(self, parameter: Parameter, said: Sequence[Lifted]) -> tuple[str, int]:
        """Return a value at the beginning of the words, and how many of them it takes; 0 for no value."""
        if parameter.type in ("object", "destination"):
            for used in range(len(said), 0, -1):
                words = self._command[said[0].start : said[used - 1].end].rstrip(",;:.!?")
                found = self._resolver.refer(words)
                if not found.unknown and (found.name or found.kind or found.color):
                    return f'"{self._resolver.name(words)}"', used
                if words.lower() == "it":  # the object named last, else the held one
                    before = reversed(self.lifted(0, said[0].start))
                    name = next((one.name for one in before if one.segment == "object"), self._scene.held)
                    if name:
                        return f'"{name}"', used
        elif said and said[0].text in _WORDS.get(parameter.type, ()):
            return f'"{said[0].text}"', 1
        return "", 0


def _kind(parameter: Parameter) -> tuple[str, float]:
    """Return the segment of amounts that a parameter takes, and its unit in SI units."""
    size, unit = in_si(1.0, parameter.unit)
    return (_SEGMENTS.get(unit, "number"), size) if parameter.type == "number" else ("", 1.0)


def _amount(part: Lifted) -> tuple[str, float] | None:
    """Return the kind and the value of an amount, None for other words."""
    if part.segment in _AMOUNTS:
        return part.segment, part.value
    with suppress(InputError):
        return ("number", read_amount(part.text).value) if part.segment == "word" else None  # "twice"
    return None
