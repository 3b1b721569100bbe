"""What a policy lets a source of commands do: default deny, deny wins, and doubts open nothing."""

from dataclasses import FrozenInstanceError, replace

import pytest

from llm_planner.errors import QuestionError
from llm_planner.plans.privileges.decision import Decision, PrivilegeError, check_ahead, check_call, require
from llm_planner.plans.privileges.policy import EVERYTHING, Verdict
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Pose, Room

EVERYDAY = "- {name: everyday, allow: [pick, place_on, push], from: any}\n"
VASE = "- {name: the vase stays, deny: [pick, push], from: any, where: {object: {kind: vase}}}\n"


def test_what_no_rule_allows_is_refused(verdict):
    assert verdict(EVERYDAY, "pick", object="vase") == "allow"
    assert verdict(EVERYDAY, "open_gripper") == "refuse"


@pytest.mark.parametrize(("source", "word"), [("topic", "refuse"), ("cli", "ask"), ("button", "stop")])
def test_each_source_has_its_own_answer_to_what_no_rule_allows(verdict, source, word):
    assert verdict(EVERYDAY, "open_gripper", source) == word


def test_a_source_that_the_policy_does_not_know_may_do_nothing(policy, call, scene):
    decision = check_call(policy(EVERYDAY), "radio", call("pick", object="vase"), scene)
    assert decision.verdict is Verdict.REFUSE
    assert "knows no source of commands called 'radio', only: topic, cli, button" in decision.reason


def test_any_among_the_sources_stands_for_those_without_an_entry(policy, call, scene):
    rules = policy(EVERYDAY, sources="{any: ask}")
    assert check_call(rules, "radio", call("pick", object="vase"), scene).verdict is Verdict.ALLOW
    assert check_call(rules, "radio", call("go_home"), scene).verdict is Verdict.ASK


@pytest.mark.parametrize("rules", [EVERYDAY + VASE, VASE + EVERYDAY])
def test_deny_wins_in_whatever_order(verdict, rules):
    assert verdict(rules, "push", object="vase", direction="left", distance=0.1) == "refuse"
    assert verdict(rules, "push", object="red block", direction="left", distance=0.1) == "allow"


def test_of_several_denials_the_strictest_decides(verdict):
    asking = VASE.replace("the vase stays", "ask about it").replace("}}}", "}}, otherwise: ask}")
    stopping = VASE.replace("}}}", "}}, otherwise: stop}")
    assert verdict(EVERYDAY + asking, "pick", object="vase") == "ask"
    assert verdict(EVERYDAY + asking + stopping, "pick", object="vase") == "stop"


def test_a_denial_without_an_answer_of_its_own_has_its_source_s(verdict):
    assert verdict(EVERYDAY + VASE, "pick", "cli", object="vase") == "ask"


def test_a_rule_is_for_the_sources_that_it_lists(verdict):
    rules = "- {name: the operator, allow: any, from: [cli]}\n"
    assert verdict(rules, "pick", "cli", object="vase") == "allow"
    assert verdict(rules, "pick", "topic", object="vase") == "refuse"


def test_a_condition_on_an_absent_argument_is_not_met(verdict):
    assert verdict("- {name: blocks, allow: any, from: any, where: {object: {kind: block}}}", "go_home") == "refuse"
    assert verdict("- {name: all, allow: any, from: any}\n" + VASE.replace("[pick, push]", "any"), "go_home") == "allow"


CONDITIONS = [
    ("{object: red block}", "red block", "vase"),
    ("{object: [red block, vase]}", "vase", "blue block"),
    ("{object: {is: vase}}", "vase", "bowl"),
    ("{object: {pattern: '* block'}}", "blue block", "vase"),
    ("{object: {pattern: 'r?d block'}}", "red block", "blue block"),
    ("{object: {pattern: 'block'}}", None, "red block"),
    ("{object: {kind: [vase, bowl]}}", "bowl", "red block"),
    ("{object: {color: red}}", "red block", "blue block"),
    ("{object: {kind: block, color: blue}}", "blue block", "red block"),
    ("{object: {region: [top left corner]}}", "red block", "blue block"),
    ("{object: {area: {x: [0.4, 0.5], y: [-0.1, 0.1]}}}", "blue block", "vase"),
]


@pytest.mark.parametrize(("where", "meets", "fails"), CONDITIONS)
def test_conditions_on_an_object(verdict, where, meets, fails):
    rule = f"- {{name: r, allow: pick, from: any, where: {where}}}"
    assert meets is None or verdict(rule, "pick", object=meets) == "allow"
    assert verdict(rule, "pick", object=fails) == "refuse"


@pytest.mark.parametrize(
    ("where", "distance", "word"),
    [
        ("{distance: {at_most: 0.1}}", 0.1, "allow"),
        ("{distance: {at_most: 0.1}}", 0.11, "refuse"),
        ("{distance: {at_least: 0.05, at_most: 0.1}}", 0.04, "refuse"),
        ("{distance: [0.05, 0.1]}", 0.05, "allow"),
        ("{distance: 0.05}", 0.06, "refuse"),
        ("{direction: left, distance: {at_most: 0.1}}", 0.1, "allow"),
        ("{direction: [right, top], distance: {at_most: 0.1}}", 0.1, "refuse"),
    ],
)
def test_conditions_on_numbers_and_directions(verdict, where, distance, word):
    rule = f"- {{name: r, allow: push, from: any, where: {where}}}"
    assert verdict(rule, "push", object="red block", direction="left", distance=distance) == word


LEFT = "where: {place: {region: left side}}}"
CORNER = "where: {place: {region: top left corner}}}"


@pytest.mark.parametrize(
    ("place", "allowed", "denied_corner"),
    [
        ("left side", "allow", "refuse"),  # the corner is a part of it, so nobody knows
        ("top left corner", "allow", "refuse"),
        ("bottom left corner", "allow", "allow"),
        ("middle", "refuse", "allow"),
        ((0.4, 0.35, 0.0), "allow", "allow"),
        ((0.62, 0.38, 0.0), "allow", "refuse"),
    ],
)
def test_a_place_is_where_it_lies_not_what_it_is_called(verdict, place, allowed, denied_corner):
    assert verdict("- {name: r, allow: place_at, from: any, " + LEFT, "place_at", place=place) == allowed
    rules = "- {name: all, allow: any, from: any}\n- {name: r, deny: place_at, from: any, " + CORNER
    assert verdict(rules, "place_at", place=place) == denied_corner


def test_any_side_may_be_the_forbidden_one(verdict):
    deny = "- {name: r, deny: place_beside, from: any, where: {direction: left}}"
    rules = "- {name: all, allow: any, from: any}\n" + deny
    assert verdict(rules, "place_beside", object="vase", direction="any", distance=0.1) == "refuse"
    assert verdict(rules, "place_beside", object="vase", direction="right", distance=0.1) == "allow"


def test_what_is_held_can_be_a_condition(verdict, scene):
    rules = "- {name: all, allow: any, from: any}\n- {name: r, deny: place_on, from: any, while: {held: {kind: vase}}}"
    assert verdict(rules, "place_on", object="bowl") == "allow"
    assert verdict(rules, "place_on", where=replace(scene, held="vase"), object="bowl") == "refuse"
    assert verdict(rules, "place_on", where=replace(scene, held="red block"), object="bowl") == "allow"


@pytest.fixture
def house(scene):
    rooms = (Room("room_1", Rectangle(0.0, 1.0, -1.0, 0.1)), Room("room_10", Rectangle(0.0, 1.0, 0.1, 1.0)))
    return replace(scene, building=Building(rooms, ()), robot=Pose((0.5, 0.0, 0.0)))


def test_where_the_robot_is_can_be_a_condition(verdict, house, scene):
    rules = "- {name: all, allow: any, from: any}\n- {name: r, deny: any, from: any, while: {robot: {room: room_1}}}"
    assert verdict(rules, "go_home", where=house) == "refuse"
    assert verdict(rules, "go_home", where=replace(house, robot=Pose((0.5, 0.5, 0.0)))) == "allow"
    assert verdict(rules, "go_home", where=scene) == "allow"  # there are no rooms


def test_a_robot_that_nobody_sees_may_be_in_the_forbidden_room(verdict, house):
    rules = "- {name: all, allow: any, from: any}\n- {name: r, deny: any, from: any, while: {robot: {room: room_1}}}"
    assert verdict(rules, "go_home", where=replace(house, robot=None)) == "refuse"


def test_an_object_is_in_the_room_where_it_lies_and_no_name_is_part_of_another(verdict, house):
    rule = "- {name: r, allow: pick, from: any, where: {object: {room: room_1}}}"
    assert verdict(rule, "pick", where=house, object="vase") == "allow"
    assert verdict(rule, "pick", where=house, object="red block") == "refuse"  # it lies in room_10


def test_without_rooms_nothing_is_in_one(verdict):
    assert (
        verdict("- {name: r, allow: pick, from: any, where: {object: {room: lab}}}", "pick", object="vase") == "refuse"
    )


@pytest.mark.parametrize("test", ["kind: ghost", "region: middle", "room: room_1"])
def test_of_an_object_that_is_not_there_nothing_is_known(verdict, house, test):
    rule = f"pick, from: any, where: {{object: {{{test}}}}}}}"
    assert verdict("- {name: r, allow: " + rule, "pick", where=house, object="ghost") == "refuse"
    denied = "- {name: all, allow: any, from: any}\n- {name: r, deny: " + rule
    assert verdict(denied, "pick", where=house, object="ghost") == "refuse"


def test_a_number_that_is_none_meets_no_bounds(verdict):
    rule = "push, from: any, where: {distance: {at_most: 9}}}"
    values = {"object": "vase", "direction": "left", "distance": "far"}
    assert verdict("- {name: r, allow: " + rule, "push", **values) == "refuse"
    assert verdict("- {name: all, allow: any, from: any}\n- {name: r, deny: " + rule, "push", **values) == "refuse"


def test_before_anything_moves_only_what_is_certain_is_refused(policy, scene):
    rules = policy(EVERYDAY + VASE)

    def ahead(*objects, at=scene):
        return check_ahead(rules, "topic", "pick", {"object": objects}, at).verdict.value

    assert ahead("vase") == "refuse"
    assert ahead("vase", "bowl") == "allow"  # it depends on which one it turns out to be
    assert ahead() == "allow"  # nobody knows yet
    moving = policy("- {name: r, allow: pick, from: any, where: {object: {region: middle}}}")
    assert check_ahead(moving, "topic", "pick", {"object": ("vase",)}, scene).verdict is Verdict.ALLOW
    held = policy(EVERYDAY + "- {name: r, deny: pick, from: any, while: {held: vase}}")
    assert check_ahead(held, "topic", "pick", {"object": ("bowl",)}, scene).verdict is Verdict.ALLOW


def test_what_a_place_leaves_open_is_refused_before_anything_moves(policy, scene):
    rules = policy("- {name: all, allow: any, from: any}\n- {name: r, deny: place_at, from: any, " + CORNER)
    assert check_ahead(rules, "topic", "place_at", {"place": ("left side",)}, scene).verdict is Verdict.REFUSE


def test_the_reason_names_policy_source_call_rule_and_next_step(policy, call, scene):
    decision = check_call(policy(EVERYDAY + VASE), "topic", call("push", object="vase", direction="left"), scene)
    assert decision.reason == (
        "The policy lab.yaml does not let commands from topic use push on the vase "
        "(rule 2, “the vase stays”); ask an operator."
    )
    assert decision.rule == "rule 2, “the vase stays”"
    decision = check_call(policy(EVERYDAY), "button", call("place_at", place="left side"), scene)
    assert decision.reason == (
        'No rule of the policy lab.yaml lets commands from button use place_at("left side"); '
        "the robot stops; ask an operator."
    )


def test_an_allowed_call_names_the_rule_that_allows_it(policy, call, scene):
    decision = check_call(policy(EVERYDAY), "topic", call("pick", object="vase"), scene)
    assert decision == Decision(Verdict.ALLOW, rule="rule 1, “everyday”")


def test_what_must_be_asked_is_a_question_and_what_is_refused_an_error():
    require(Decision(Verdict.ALLOW))
    with pytest.raises(QuestionError, match="an operator must be asked"):
        require(Decision(Verdict.ASK, "an operator must be asked"))
    with pytest.raises(PrivilegeError, match="not for you") as caught:
        require(Decision(Verdict.STOP, "not for you"))
    assert caught.value.decision.verdict is Verdict.STOP


def test_a_policy_cannot_be_changed(policy):
    rules = policy(EVERYDAY + VASE)
    with pytest.raises(FrozenInstanceError):
        rules.rules = ()
    with pytest.raises(FrozenInstanceError):
        rules.rules[0].allows = False
    with pytest.raises(TypeError):
        rules.sources["topic"] = Verdict.ALLOW
    with pytest.raises(TypeError):
        rules.rules[1].arguments["object"] = ()


def test_everything_is_a_policy_for_whoever_has_none(call, scene):
    assert check_call(EVERYTHING, "whoever", call("pick", object="vase"), scene).verdict is Verdict.ALLOW


VISIT = "- {name: all, allow: any, from: any}\n- {name: r, deny: go_to, from: any, where: {destination: "


@pytest.mark.parametrize(
    ("where", "destination", "word"),
    [
        ("{room: room_1}", "room_1", "refuse"),
        ("{room: room_1}", "room_10", "allow"),
        ("{room: room_1}", "vase", "refuse"),  # it stands in that room
        ("{room: room_1}", "red block", "allow"),
        ("{kind: vase}", "vase", "refuse"),
        ("{kind: vase}", "room_1", "allow"),
        ("{area: {x: [0, 1], y: [-1, 0]}}", "room_1", "refuse"),
        ("{area: {x: [0, 1], y: [-1, 0]}}", "room_10", "allow"),
    ],
)
def test_a_destination_is_a_room_or_what_is_in_it(verdict, house, where, destination, word):
    assert verdict(VISIT + where + "}}", "go_to", where=house, destination=destination) == word


def test_a_destination_may_be_allowed_by_its_name(verdict, house):
    rule = "- {name: r, allow: go_to, from: any, where: {destination: [room_1, vase]}}"
    assert verdict(rule, "go_to", where=house, destination="vase") == "allow"
    assert verdict(rule, "go_to", where=house, destination="room_10") == "refuse"
