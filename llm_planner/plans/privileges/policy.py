"""Policy of an operator: sources of commands, rules that allow or deny skills (arXiv:2504.11703), and the file reader.

A policy is read once (`read_policy`) and never changes: no command, object name, model output or program becomes part
of it. The reader is strict, so that a misspelling cannot silently allow a call or fail to deny one. Format of the file:

sources:                          # who gives commands, and the verdict on what no rule allows: ask, refuse or stop
  topic: refuse
  cli: ask
rules:                            # default deny; a rule that denies overrides all that allow
  - name: everyday work
    allow: [pick, place_in]       # skills, or any
    from: [topic, cli]            # sources, or any
    where:                        # all conditions on the call's arguments must be met
      object: {kind: [block, bowl], color: red}
    while:                        # and all on the held object and the robot's position
      held: {kind: block}
  - name: the vase stays where it is
    deny: [pick, push]
    from: any
    where: {object: {kind: vase}}
    otherwise: ask                # overrides the source's verdict
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from llm_planner.plans.privileges.conditions import ROBOT, Condition, Situation, Truth, read_conditions
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.strict_yaml import Entry, read_strict

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


_KEYS = ("sources", "rules")
_RULE_KEYS = ("name", "allow", "deny", "from", "where", "while", "otherwise")
_FALLBACK_WORDS = tuple(fallback.value for fallback in FALLBACKS)
_STATE_TYPES = {HELD: "object", ROBOT: "point"}


def read_policy(path: Path, skills: Sequence[Signature]) -> Policy:
    """Read the policy in the file `path` and check it against the `skills` of all its robots.

    Raises InputError with the file, the line, the key, the value and the valid choices.
    """
    return policy_of(read_strict(path), skills)


def policy_of(document: Entry, skills: Sequence[Signature]) -> Policy:
    """Build the policy from `document`; raises InputError as `read_policy`."""
    table = document.table(_KEYS)
    for key in _KEYS:
        if key not in table:
            document.wrong(f"has no key {key!r}; it needs: {', '.join(_KEYS)}")
    listed = table["sources"].table()
    if not listed:
        table["sources"].wrong("must name one source at least, or any")
    sources = {name: Verdict(entry.choice(_FALLBACK_WORDS)) for name, entry in listed.items()}
    known = {skill.name: skill for skill in skills}
    rules = tuple(_rule(k, entry, known, sources) for k, entry in enumerate(table["rules"].items(), start=1))
    names = [rule.name for rule in rules]
    for entry, rule in zip(table["rules"].items(), rules, strict=True):
        if names.count(rule.name) > 1:
            entry.wrong(f"has the name {rule.name!r}, as another rule has; give each its own")
    return Policy(document.file, MappingProxyType(sources), rules)


def _rule(number: int, entry: Entry, skills: Mapping[str, Signature], sources: Mapping[str, Verdict]) -> Rule:
    table = entry.table(_RULE_KEYS)
    if ("allow" in table) == ("deny" in table):
        entry.wrong("must have either allow or deny, with the skills that it is about")
    for key in ("name", "from"):
        if key not in table:
            entry.wrong(f"has no key {key!r}; a rule needs name, from, and allow or deny")
    allows = "allow" in table
    if allows and "otherwise" in table:
        table["otherwise"].wrong("belongs to rules that deny; what nothing allows ends as its source says")
    names = _names(table["allow" if allows else "deny"], skills)
    return Rule(
        number,
        table["name"].text(),
        allows,
        names,
        _names(table["from"], sources),
        _argument_conditions(table["where"], names, skills, allows) if "where" in table else {},
        _state_conditions(table["while"], allows) if "while" in table else {},
        Verdict(table["otherwise"].choice(_FALLBACK_WORDS)) if "otherwise" in table else None,
    )


def _names(entry: Entry, known: Collection[str]) -> tuple[str, ...]:
    names = tuple(item.choice(dict.fromkeys((*known, ANY))) for item in entry.one_or_more())
    if ANY in names and len(names) > 1:
        entry.wrong(f"must be {ANY}, or a list without it")
    return names


def _argument_conditions(
    entry: Entry, names: Collection[str], skills: Mapping[str, Signature], allows: bool
) -> Conditions:
    """Read conditions on arguments, which some skill must have for `any`, else all listed skills."""
    tests = {}
    for name, conditions in entry.table().items():
        about = [skill for skill in skills.values() if skill.name in names or ANY in names]
        types = {parameter.type for skill in about for parameter in skill.parameters if parameter.name == name}
        if ANY in names and not types:
            choices = sorted({parameter.name for skill in about for parameter in skill.parameters})
            conditions.wrong(f"is not an argument of any skill; there are: {', '.join(choices)}")
        for skill in about:
            if ANY not in names and name not in [parameter.name for parameter in skill.parameters]:
                conditions.wrong(f"is not an argument of the skill {skill}")
        tests[name] = read_conditions(conditions, sorted(types), allows)
    return MappingProxyType(tests)


def _state_conditions(entry: Entry, allows: bool) -> Conditions:
    table = entry.table(tuple(_STATE_TYPES))
    return MappingProxyType(
        {name: read_conditions(test, (_STATE_TYPES[name],), allows) for name, test in table.items()}
    )
