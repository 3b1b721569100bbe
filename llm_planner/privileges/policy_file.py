"""Reads a policy from its file, strictly: what is misspelt must not silently allow or fail to deny anything.

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
from pathlib import Path
from types import MappingProxyType

from llm_planner.privileges.condition_text import read_conditions
from llm_planner.privileges.conditions import ROBOT
from llm_planner.privileges.policy import ANY, FALLBACKS, HELD, Conditions, Policy, Rule, Verdict
from llm_planner.privileges.strict_yaml import Entry, read_strict
from llm_planner.program.signatures import Signature

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
