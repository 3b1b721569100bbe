"""A policy as a value: sources of commands, and rules that allow or deny skills under conditions (arXiv:2504.11703).

A policy is read once (`policy_file.read_policy`) and never changes: nothing that a command, an object's name, a model
or a program says is ever part of it.

Reads a policy from its file, strictly: what is misspelt must not silently allow or fail to deny anything.

sources:                          # who gives commands, and what becomes of what no rule allows: ask, refuse or stop
  topic: refuse
  cli: ask
rules:                            # default deny; a rule that denies wins over all that allow
  - name: everyday work
    allow: [pick, place_in]       # skills, or any
    from: [topic, cli]            # sources, or any
    where:                        # all conditions on the call's arguments must be met
      object: {kind: [block, bowl], color: red}
    while:                        # and all on what is held and where the robot is
      held: {kind: block}
  - name: the vase stays where it is
    deny: [pick, push]
    from: any
    where: {object: {kind: vase}}
    otherwise: ask                # instead of what the source has
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
HELD = "held"  # what `while` speaks of besides `ROBOT`: the object in the gripper

Possible = tuple[Argument, ...]  # the values that an argument may turn out to have; empty where nobody knows yet

_TOLERATED = {  # (allows, ahead): how surely each condition must be met for the rule to apply
    (True, False): frozenset({Truth.YES}),
    (True, True): frozenset({Truth.YES, Truth.LATER}),
    (False, False): frozenset({Truth.YES, Truth.UNSURE, Truth.LATER}),
    (False, True): frozenset({Truth.YES, Truth.UNSURE}),
}


class Verdict(str, Enum):
    """What becomes of a call."""

    ALLOW = "allow"
    ASK = "ask"  # an operator, before anything moves
    REFUSE = "refuse"
    STOP = "stop"  # the robot, and the plan that the call belongs to


FALLBACKS = (Verdict.ASK, Verdict.REFUSE, Verdict.STOP)  # for what may not be done, the mildest first

Conditions = Mapping[str, tuple[Condition, ...]]


@dataclass(frozen=True)
class Rule:
    """Allows or denies `skills` to `sources` where all conditions on the call's arguments and on the scene are met.

    A condition on an argument that the call does not have is not met. `number` counts from 1 in the file's order;
    `otherwise` is what becomes of a call that the rule denies, None for what the source's other calls have.
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
        """Whether the rule decides on this call; doubts count against the caller."""
        if not (_lists(self.skills, skill) and _lists(self.sources, source)):
            return False
        shown = _shown(situation)
        truths = {_truth(values, name, tests, situation) for name, tests in self.arguments.items()}
        truths |= {_state_truth(shown, name, tests, situation) for name, tests in self.state.items()}
        return truths <= _TOLERATED[self.allows, situation.ahead]


@dataclass(frozen=True)
class Policy:
    """What each source of commands may have the robot do; whatever no rule allows may not be done.

    `sources` has, for each known source, what becomes of a call that no rule allows; `any` stands for the others. The
    commands of a source that is not among them may do nothing.
    """

    name: str
    sources: Mapping[str, Verdict]
    rules: tuple[Rule, ...]

    def knows(self, source: str) -> bool:
        return source in self.sources or ANY in self.sources

    def fallback(self, source: str) -> Verdict:
        """What becomes of a call that nothing allows."""
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
    """All tests together: one that fails decides, then the doubts."""
    truths = {test.test(value, situation) for test in tests}
    return next((truth for truth in (Truth.NO, Truth.LATER, Truth.UNSURE) if truth in truths), Truth.YES)


_KEYS = ("sources", "rules")
_RULE_KEYS = ("name", "allow", "deny", "from", "where", "while", "otherwise")
_FALLBACK_WORDS = tuple(fallback.value for fallback in FALLBACKS)
_STATE_TYPES = {HELD: "object", ROBOT: "point"}


def read_policy(path: Path, skills: Sequence[Signature]) -> Policy:
    """The policy in the file `path`, checked against the `skills` of all robots that it is for.

    Raises InputError that names the file, the line, the key, the value and the valid choices.
    """
    return policy_of(read_strict(path), skills)


def policy_of(document: Entry, skills: Sequence[Signature]) -> Policy:
    """The policy written in `document`; raises InputError as `read_policy`."""
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
    """For `any` skill an argument is one that some skill has, else one that all listed skills have."""
    tests = {}
    for name, conditions in entry.table().items():
        about = [skill for skill in skills.values() if skill.name in names or ANY in names]
        types = {parameter.type for skill in about for parameter in skill.parameters if parameter.name == name}
        if ANY in names and not types:
            choices = sorted({parameter.name for skill in about for parameter in skill.parameters})
            conditions.wrong(f"is no argument of any skill; there are: {', '.join(choices)}")
        for skill in about:
            if ANY not in names and name not in [parameter.name for parameter in skill.parameters]:
                conditions.wrong(f"is no argument of the skill {skill}")
        tests[name] = read_conditions(conditions, sorted(types), allows)
    return MappingProxyType(tests)


def _state_conditions(entry: Entry, allows: bool) -> Conditions:
    table = entry.table(tuple(_STATE_TYPES))
    return MappingProxyType(
        {name: read_conditions(test, (_STATE_TYPES[name],), allows) for name, test in table.items()}
    )
