"""Policy files are read strictly: each mistake is told with its line, key, value and choices."""

import re

import pytest

from llm_planner.errors import InputError
from llm_planner.plans.privileges.policy import parse_policy, read_policy
from llm_planner.share import share_folder
from llm_planner.strict_yaml import MAX_CHARACTERS

GOOD = "sources: {topic: refuse}\nrules:\n- {name: a, allow: any, from: any}\n"
ROOT = "- {name: a, allow: push, from: any, where: "

MISTAKES = [
    ("", "lab.yaml is empty"),
    ("- 1", "lab.yaml, line 1: the file must be a mapping with the keys sources, rules, not a list"),
    ("rules: []", "line 1: the file has no key 'sources'; it needs: sources, rules"),
    ("sources: {topic: refuse}", "line 1: the file has no key 'rules'"),
    (GOOD + "rule: []", "line 4: rule is unknown; the keys are: sources, rules"),
    (GOOD + "sources: {topic: ask}", "line 4: sources is given twice"),
    (GOOD.replace("{topic: refuse}", "{}"), "line 1: sources must have 1 or more entries, not an empty mapping"),
    (GOOD.replace("refuse", "alow"), "line 1: sources.topic is 'alow'; choose one of: ask, refuse, stop"),
    (GOOD.replace("refuse", "no"), "sources.topic is 'no'; choose one of: ask, refuse, stop"),
    (GOOD.replace("topic", "1"), "sources has a key that must be a text, not '1'"),
    ("sources: {topic: refuse}\nrules: []", "line 2: rules must have 1 or more entries, not an empty list"),
    (GOOD.replace("name: a, ", ""), "line 3: rules[1] has no key 'name'; it needs: name, from"),
    (GOOD.replace(", from: any", ""), "line 3: rules[1] has no key 'from'"),
    (GOOD.replace("allow: any", "allow: any, deny: any"), "rules[1] must have either allow or deny"),
    (GOOD.replace("allow: any, ", ""), "rules[1] must have either allow or deny"),
    (GOOD.replace("any, from", "[puhs], from"), "line 3: rules[1].allow[1] is 'puhs'; choose one of: achieve"),
    (GOOD.replace("from: any", "from: tpic"), "rules[1].from is 'tpic'; choose one of: topic, any"),
    (GOOD.replace("any, from", "[any, push], from"), "rules[1].allow must be any, or a list without it"),
    (GOOD.replace("from: any", "from: []"), "rules[1].from must have 1 or more entries, not an empty list"),
    (GOOD.replace("from: any", "from: any, otherwise: ask"), "rules[1].otherwise belongs to rules that deny"),
    (GOOD.replace("from: any", "from: any, when: now"), "rules[1].when is unknown; the keys are: name, allow, deny"),
    (GOOD + GOOD.splitlines()[-1], "line 4: rules[2] has the name 'a', as another rule has"),
    (ROOT + "{objct: vase}}", "rules[1].where.objct is not an argument of the skill push(object, direction, distance)"),
    (
        ROOT.replace("push", "any") + "{objct: vase}}",
        "rules[1].where.objct is not an argument of any skill; there are: ",
    ),
    (ROOT + "{object: {knd: vase}}}", "rules[1].where.object.knd is unknown; the keys are: is, pattern, kind, color"),
    (ROOT + "{object: {}}}", "rules[1].where.object must have a condition; the conditions are: is, pattern, kind"),
    (ROOT + "{object: {at_most: 1}}}", "rules[1].where.object.at_most is unknown"),
    (ROOT + "{object: 3}}", "rules[1].where.object must be a text, not '3'"),
    (ROOT + "{distance: {kind: vase}}}", "rules[1].where.distance.kind is unknown; the keys are: is, at_least, at_mos"),
    (ROOT + "{distance: {at_most: far}}}", "rules[1].where.distance.at_most must be a number, not 'far'"),
    (ROOT + "{distance: {at_most: .nan}}}", "at_most must be a number, not '.nan'"),
    (ROOT + "{distance: {at_most: .inf}}}", "at_most must be a number, not '.inf'"),
    (ROOT + "{distance: {at_most: 1:30}}}", "at_most must be a number, not '1:30'"),
    (ROOT + "{distance: {at_least: 2, at_most: 1}}}", "asks for at least 2 and at most 1, which nothing is"),
    (ROOT + "{direction: up}}", "rules[1].where.direction is 'up'; choose one of: top, left, bottom, right"),
    (ROOT + "{object: {region: attic}}}", "where.object.region is 'attic'; choose one of: top left corner"),
    (ROOT + "{object: {area: {x: [0, 1]}}}}", "where.object.area has no key 'y'; it needs: x, y"),
    (ROOT + "{object: {area: {x: [1, 0], y: [0, 1]}}}}", "area.x must be [from, to], the smaller one first"),
    (ROOT + "{object: {area: {x: [0], y: [0, 1]}}}}", "area.x must have 2 entries, not 1"),
    (ROOT.replace("push", "place_at") + "{place: left side}}", "where.place must be a mapping with the keys region, a"),
    (
        ROOT.replace("allow: push", "deny: go_to") + "{destination: lab}}",
        "destination must be a mapping with the keys ki",
    ),
    (ROOT.replace("where", "while") + "{hold: vase}}", "rules[1].while.hold is unknown; the keys are: held, robot"),
    (ROOT.replace("where", "while") + "{robot: lab}}", "rules[1].while.robot must be a mapping with the keys region"),
    ("a: &x 1\nb: *x", "lab.yaml, line 1: anchors and aliases are not allowed"),
    ("a: [", "lab.yaml cannot be read as YAML: while parsing a flow node"),
    ("[" * 21 + "]" * 21, "lab.yaml, line 1: lists and mappings are nested more than 20 deep"),
    ("#" * (MAX_CHARACTERS + 1), f"lab.yaml is longer than {MAX_CHARACTERS} characters"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_told_with_its_place_and_the_choices(text, message, skills):
    whole = f"sources: {{topic: refuse}}\nrules:\n{text}" if text.startswith("- {") else text
    with pytest.raises(InputError, match=re.escape(message)):
        parse_policy(whole, "lab.yaml", skills)


def test_a_file_that_is_not_there_is_told(tmp_path, skills):
    with pytest.raises(InputError, match=r"none\.yaml cannot be read: .*No such file"):
        read_policy(tmp_path / "none.yaml", skills)


def test_a_file_that_is_no_text_is_told(tmp_path, skills):
    (tmp_path / "lab.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match=r"lab\.yaml cannot be read: 'utf-8' codec"):
        read_policy(tmp_path / "lab.yaml", skills)


def test_a_policy_is_read_once(tmp_path, skills):
    path = tmp_path / "lab.yaml"
    path.write_text(GOOD.replace("allow", "deny"), encoding="utf-8")
    policy = read_policy(path, skills)
    path.write_text(GOOD, encoding="utf-8")
    assert not policy.rules[0].allows


def test_the_policy_that_ships_allows_the_ordinary_and_protects_what_is_alive(skills):
    policy = read_policy(share_folder("config") / "privileges.yaml", skills)
    assert policy.name == "privileges.yaml"
    assert set(policy.sources) == {"topic", "action", "mcp", "console", "cli", "correction"}
    assert [rule.allows for rule in policy.rules] == [True, False]
