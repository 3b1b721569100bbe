"""Policy of an operator: sources of commands, rules that allow or deny skills (arXiv:2504.11703), and the file reader.

A policy is read once (`read_policy`) and never changes: no command, object name, model output or program becomes part
of it. The reader is strict, so that a misspelling cannot silently allow a call or fail to deny one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from llm_planner.plans.privileges.conditions import (
    ROBOT,
    Condition,
    ConditionsEntry,
    Situation,
    Test,
    Truth,
    conditions_of,
)  # fmt: skip
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.strict_yaml import Among, FileModel, LocatedError, Text, Texts, at, no_choice, parse_file, read_file

ANY = "any"  # in place of a list of skills or sources
HELD = "held"  # subject of `while` next to `ROBOT`: the object in the gripper

Possible = tuple[Argument, ...]  # possible values of an argument; empty if unknown

_TOLERATED = {  # (allows, ahead): truth values for which a rule applies
    (True, False): frozenset({Truth.YES}),
    (True, True): frozenset({Truth.YES, Truth.LATER}),
    (False, False): frozenset({Truth.YES, Truth.UNSURE, Truth.LATER}),
    (False, True): frozenset({Truth.YES, Truth.UNSURE}),
}


class Verdict(str, Enum):
    """Verdict on a call."""

    ALLOW = "allow"
    ASK = "ask"  # ask an operator before anything moves
    REFUSE = "refuse"
    STOP = "stop"  # stop the robot and the plan


FALLBACKS = (Verdict.ASK, Verdict.REFUSE, Verdict.STOP)  # verdicts on a denied call, the mildest first

Conditions = Mapping[str, tuple[Condition, ...]]


@dataclass(frozen=True)
class Rule:
    """Rule that allows or denies `skills` to `sources` if all its conditions are met.

    A condition on an argument that the call does not have is not met.

    Attributes:
        number: Position in the file, from 1.
        arguments: Conditions on the call's arguments.
        state: Conditions on the held object and the robot's position.
        otherwise: Verdict on a call that the rule denies; None for the source's fallback.
    """

    number: int
    name: str
    allows: bool
    skills: tuple[str, ...]
    sources: tuple[str, ...]
    arguments: Conditions
    state: Conditions
    otherwise: Verdict | None = None

    def __str__(self) -> str:
        return f"rule {self.number}, “{self.name}”"

    def applies(self, source: str, skill: str, values: Mapping[str, Possible], situation: Situation) -> bool:
        """Return whether the rule decides on this call; doubts count against the caller."""
        if not (_lists(self.skills, skill) and _lists(self.sources, source)):
            return False
        shown = _shown(situation)
        truths = {_truth(values, name, tests, situation) for name, tests in self.arguments.items()}
        truths |= {_state_truth(shown, name, tests, situation) for name, tests in self.state.items()}
        return truths <= _TOLERATED[self.allows, situation.ahead]


@dataclass(frozen=True)
class Policy:
    """What each source of commands may do; calls that no rule allows are denied.

    `sources` maps each known source to the verdict on calls that no rule allows; `any` stands for all other sources.
    Without `any`, commands from unknown sources may do nothing.
    """

    name: str
    sources: Mapping[str, Verdict]
    rules: tuple[Rule, ...]

    def knows(self, source: str) -> bool:
        return source in self.sources or ANY in self.sources

    def fallback(self, source: str) -> Verdict:
        """Return the verdict on a call of `source` that no rule allows."""
        return self.sources.get(source, self.sources.get(ANY, Verdict.REFUSE))


_STATE_TYPES = {HELD: ("object",), ROBOT: ("point",)}
EVERYTHING = Policy("everything", {ANY: Verdict.REFUSE}, (Rule(1, "everything", True, (ANY,), (ANY,), {}, {}),))


def _lists(names: tuple[str, ...], name: str) -> bool:
    return ANY in names or name in names


def _truth(values: Mapping[str, Possible], name: str, tests: tuple[Condition, ...], situation: Situation) -> Truth:
    if name not in values:
        return Truth.NO
    truths = {_met(tests, value, situation) for value in values[name]}
    return truths.pop() if len(truths) == 1 else Truth.LATER


def _state_truth(shown: Mapping[str, Argument], name: str, tests: tuple[Condition, ...], situation: Situation) -> Truth:
    if situation.ahead:
        return Truth.LATER
    if name in shown:
        return _met(tests, shown[name], situation)
    unseen = name == ROBOT and situation.scene.building is not None
    return Truth.UNSURE if unseen else Truth.NO


def _shown(situation: Situation) -> dict[str, Argument]:
    scene = situation.scene
    held = {HELD: scene.held} if scene.held else {}
    if scene.robot is None:
        return {**held}
    return {**held, ROBOT: ROBOT if ROBOT in situation.whereabouts else scene.robot.position}


def _met(tests: tuple[Condition, ...], value: Argument, situation: Situation) -> Truth:
    """Combine all tests: a failed one decides, then the doubts."""
    truths = {test.test(value, situation) for test in tests}
    return next((truth for truth in (Truth.NO, Truth.LATER, Truth.UNSURE) if truth in truths), Truth.YES)


Fallback = Literal["ask", "refuse", "stop"]


class RuleEntry(FileModel):
    """Rule that allows or denies skills; a rule that denies overrides all that allow."""

    name: Text = Field(description="reported to the person whose command is denied")
    allow: Texts | None = Field(None, description="names of skills, or any; give either allow or deny")
    deny: Texts | None = Field(None, description="as allow")
    from_: Texts = Field(alias="from", description="names of sources, or any")
    where: dict[Text, Test] = Field({}, description="conditions by argument; one that a call lacks meets none")
    while_: dict[Annotated[str, Among(tuple(_STATE_TYPES))], Test] = Field(
        {}, alias="while", description="conditions on the `held` object and on the position of the `robot`"
    )
    otherwise: Fallback | None = Field(None, description="verdict of a rule that denies, instead of the source's")


class PrivilegesFile(FileModel):
    """Privileges of sources of commands: what no rule allows is denied. `--privileges` takes the path.

    Regions and directions are those of a person behind the robot.
    """

    sources: dict[Text, Fallback] = Field(
        min_length=1,
        description="verdict on what no rule allows, by source (`any` stands for all others): ask an operator before "
        "anything moves, refuse, or stop the robot and its plan",
    )
    rules: tuple[RuleEntry, ...] = Field(min_length=1)


def read_policy(path: Path, skills: Sequence[Signature]) -> Policy:
    """Read the policy in the file `path` and check it against the `skills` of all its robots.

    Raises InputError with the file, the line, the key, the value and the valid choices.
    """
    return read_file(path, PrivilegesFile, lambda content: _policy(content, path.name, skills))


def parse_policy(text: str, name: str, skills: Sequence[Signature]) -> Policy:
    """Parse the policy called `name` from YAML `text`; raises InputError as `read_policy`."""
    return parse_file(text, name, PrivilegesFile, lambda content: _policy(content, name, skills))


def _policy(content: PrivilegesFile, name: str, skills: Sequence[Signature]) -> Policy:
    sources = {source: Verdict(word) for source, word in content.sources.items()}
    known = {skill.name: skill for skill in skills}
    rules: dict[str, Rule] = {}
    for k, entry in enumerate(content.rules):
        with at("rules", k):
            if entry.name in rules:
                raise LocatedError(f"has the name {entry.name!r}, as another rule has; give each its own")
            rules[entry.name] = _rule(k + 1, entry, known, sources)
    return Policy(name, MappingProxyType(sources), tuple(rules.values()))


def _rule(number: int, entry: RuleEntry, skills: Mapping[str, Signature], sources: Mapping[str, Verdict]) -> Rule:
    allows, names = entry.allow is not None, entry.allow or entry.deny
    if names is None or (entry.allow and entry.deny):
        raise LocatedError("must have either allow or deny, with the skills that it is about")
    if allows and entry.otherwise:
        raise LocatedError("belongs to rules that deny; what nothing allows ends as its source says", "otherwise")
    _check_names("allow" if allows else "deny", names, skills)
    _check_names("from", entry.from_, sources)
    arguments = {name: _argument_types(name, names, skills) for name in entry.where}
    return Rule(
        number,
        entry.name,
        allows,
        names,
        entry.from_,
        _conditions("where", entry.where, arguments, allows),
        _conditions("while", entry.while_, _STATE_TYPES, allows),
        Verdict(entry.otherwise) if entry.otherwise else None,
    )


def _check_names(key: str, names: tuple[str, ...], known: Collection[str]) -> None:
    choices = dict.fromkeys((*known, ANY))
    for k, name in enumerate(names):
        if name not in choices:
            raise no_choice(repr(name), choices, key, k)
    if ANY in names and len(names) > 1:
        raise LocatedError(f"must be {ANY}, or a list without it", key)


def _argument_types(name: str, names: Collection[str], skills: Mapping[str, Signature]) -> Collection[str]:
    """Return the types of an argument, which some skill must have for `any`, else all listed skills."""
    about = [skill for skill in skills.values() if skill.name in names or ANY in names]
    types = {parameter.type for skill in about for parameter in skill.parameters if parameter.name == name}
    if ANY in names and not types:
        choices = sorted({parameter.name for skill in about for parameter in skill.parameters})
        raise LocatedError(f"is not an argument of any skill; there are: {', '.join(choices)}", "where", name)
    for skill in about:
        if ANY not in names and name not in [parameter.name for parameter in skill.parameters]:
            raise LocatedError(f"is not an argument of the skill {skill}", "where", name)
    return sorted(types)


def _conditions(
    key: str, entries: Mapping[str, ConditionsEntry], types: Mapping[str, Collection[str]], allows: bool
) -> Conditions:
    tests = {}
    for name, entry in entries.items():
        with at(key, name):
            tests[name] = conditions_of(entry, types[name], allows)
    return MappingProxyType(tests)
