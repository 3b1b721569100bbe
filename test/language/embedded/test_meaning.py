"""What results come to in a scene: programs that the checker takes, formulas, and questions about what is not there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_planner.errors import LlmPlannerError, QuestionError
from llm_planner.language.embedded.command_forms import COMMANDS
from llm_planner.language.embedded.forms import Term
from llm_planner.language.embedded.model import Command, command_of, requirements_of
from llm_planner.language.model import Reading
from llm_planner.language.understanding.grounding import ground
from llm_planner.ltl.parser import parse
from llm_planner.programs.checker import check_program
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Pose, Room, Scene, SceneObject
from llm_planner.skills.library import load_skills
from training.results import check_result, parse_result

SAID = "put the red block in the green bowl"
Meant = Callable[..., Command]
ROOMS = tuple(Room(name, Rectangle(n, n + 1, 0, 1)) for n, name in enumerate(("lab", "aisle 1", "aisle 2")))
PARTY = (
    SceneObject("Anna", "person", "", (2.5, 0.5, 0.9), IDENTITY, (0.5, 0.5, 1.8)),
    *(SceneObject(name, name, "", (1.5, 0.5, 0.1), IDENTITY, (0.1, 0.1, 0.1)) for name in ("mug", "vase")),
)
HOUSE = Scene(0.0, PARTY, robot=Pose((0.5, 0.5, 0.0), IDENTITY), building=Building(ROOMS, ()))


@pytest.fixture
def meant(table: Scene) -> Meant:
    """What a result comes to at the table, or in another scene; said with words that name what it names."""

    def read(result: str, said: str = SAID, scene: Scene = table) -> Command:
        terms = parse_result(result)
        check_result(terms, COMMANDS)
        return command_of(terms, said, scene)

    return read


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ('put("red block", in("green bowl"))', ['pick("red block")', 'place_in("green bowl")']),
        ('put("red one", beside("bowl", left, "5 cm"))',
         ['pick("red block")', 'place_beside("green bowl", "left", distance=0.05)']),
        ('put(nth("block", left, n2), in("bowl"))',
         ['pick(from_side(objects("block"), "left")[1])', 'place_in("green bowl")']),
        ('push("mug", left, little)', ['push("mug", "left", 0.05)']),
        ('tower(list("red block", "blue one"))', ['pick("blue block")', 'place_on("red block")']),
        ('open_drawer("drawer"); close_drawer("drawer")', ['open_drawer("top drawer")', 'close_drawer("top drawer")']),
        ('turn("mug", "90 degrees", right)', ["achieve(\"reach(turned('mug') == -90)\")"]),
        ('when_else(exists("mug"), do(pick("mug")), do(go_home))',
         ['if len(objects("mug")) > 0:', '    pick("mug")', "else:", "    go_home()"]),
        ('each("blocks", put(item, in("bowl")))',
         ['for block in objects("block"):', '    if not is_in(block, "green bowl"):', "        pick(block)",
          '        place_in("green bowl")']),
        ('put("mug", offset(left, "3 cm"))', ['pick("mug")', 'place_offset("left", 0.03)']),
        ('place(at(top_left_corner))', ['place_at("top left corner")']),
        ('when(empty("bowl"), pick("mug"))', ['if is_clear("green bowl"):', '    pick("mug")']),
        ('when(and(is_open("drawer"), not(empty("bowl"))), close_drawer("drawer"))',
         ['if (is_open("top drawer")) and (not is_clear("green bowl")):', '    close_drawer("top drawer")']),
        ('repeat("three", pick("mug"))', ["for time in range(3):", '    pick("mug")']),
        ('check(empty("bowl"))', ['if is_clear("green bowl"):', '    tell("Yes, that is so.")', "else:",
                                  '    tell("No, that is not so.")']),
        ('row("blocks", vertical, "3 cm")',
         ['chosen = objects("block")', 'for block, spot in zip(chosen, line_points(len(chosen), "vertical", '
          "gap=0.03 + max([width(each) for each in chosen]))):", "    pick(block)", "    place_at(spot)"]),
    ],
)  # fmt: skip
def test_statements_become_a_program(meant: Meant, result: str, lines: list[str]) -> None:
    assert meant(result).program.splitlines() == lines


@pytest.mark.parametrize(
    ("result", "formula"),
    [
        ('never(moved("mug"))', "G !moved(mug)"),
        ('never(moved(each("blocks")))', "G !(moved(blue block) | moved(red block))"),
        ('always(slower("20 cm per second"))', "G speed(robot) < 0.2"),
        ('whenever(holding("mug"), lower("mug", "10 cm"))', "G (holding(mug) -> height(mug) < 0.1)"),
        ('only_after(is_in("mug", "bowl"), holding("red block"))', "!holding(red block) W in(mug, green bowl)"),
        ('within("half a minute", holding("mug"))', "F[0,30] holding(mug)"),
        ('whenever(holding("mug"), slower)', "G (holding(mug) -> speed(robot) < 0.1)"),
    ],
)
def test_patterns_become_formulas(meant: Meant, result: str, formula: str) -> None:
    assert [one.formula for one in meant(result).constraints] == [formula]


@pytest.mark.parametrize(
    "result",
    [
        "unclear", "cannot", 'pick("block")', 'pick("pink block")', 'never(in("kitchen"))', 'never(moved("cat"))',
        "tip(item)", 'pick(same_color("block"))', "wipe", 'go("mug")', "repeat(n0, go_home)",
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_question(meant: Meant, result: str) -> None:
    with pytest.raises(QuestionError):
        meant(result)


def test_a_command_may_have_both(meant: Meant) -> None:
    both = meant('never(moved("mug")); pick("red block")')
    assert both.program == 'pick("red block")\n'
    assert [(one.formula, one.words, one.goal) for one in both.constraints] == [("G !moved(mug)", SAID, False)]


def test_what_is_wanted_is_a_goal_and_what_is_forbidden_is_none(meant: Meant) -> None:
    goals = [one.goal for one in meant('visit(near("mug")); never(near("vase")); finish(holding("mug"))').constraints]
    assert goals == [True, False, True]


def test_what_nobody_can_do_is_asked_about_with_what_was_said(meant: Meant) -> None:
    with pytest.raises(QuestionError, match='I cannot do that: "make coffee"'):
        meant("cannot", "make coffee")
    with pytest.raises(QuestionError, match='I did not understand "er"'):
        meant("unclear", "er")


@pytest.mark.parametrize(
    ("result", "formula"),
    [
        ('never(in("the lab"))', "G !in(robot, lab)"),
        ('never(in(rooms_of("aisle")))', "G !in(robot, aisle 1) & G !in(robot, aisle 2)"),
        ('visit(near("anna"))', "F near(robot, Anna)"),
        ('always(farther(anyone, "1 m"))', "G distance(robot, Anna) > 1"),
        ('sequence(in("the lab"), looked("aisle 2"))', "F(in(robot, lab) & F did(look, aisle 2))"),
    ],
)
def test_rooms_and_people_are_known_by_name(meant: Meant, result: str, formula: str) -> None:
    (found,) = meant(result, "to the lab", HOUSE).constraints
    assert parse(found.formula) is parse(formula)


@pytest.mark.parametrize(
    ("result", "program", "formula"),
    [
        ('visit(and(holding("the mug"), near("anna")))',
         'go_to("mug")\npick_up("mug")\ngo_to("Anna")\ndrop_off()\n',
         "F (holding(mug) & near(robot, Anna) & F (near(robot, Anna) & !holding(mug)))"),
        ('sequence(in("aisle 1"), and(holding("mug"), near("anna")), in("lab"))',
         'go_to("aisle 1")\ngo_to("mug")\npick_up("mug")\ngo_to("Anna")\ndrop_off()\ngo_to("lab")\n',
         "F (in(robot, aisle 1) & F (holding(mug) & near(robot, Anna) & F (near(robot, Anna) & !holding(mug) "
         "& F in(robot, lab))))"),
        ('sequence(and(holding("mug"), near("anna")), and(holding("mug"), in("lab")))', "",
         "F (holding(mug) & near(robot, Anna) & F (holding(mug) & in(robot, lab)))"),
        ('lasting("half a minute", in("aisle 1"))', 'go_to("aisle 1")\nwait(30)\n', "F G[0,30] in(robot, aisle 1)"),
        ('lasting("30 s", in("lab"))', "wait(30)\n", "F G[0,30] in(robot, lab)"),
        ('visit(and(holding("mug"), near("vase")))', "", "F (holding(mug) & near(robot, vase))"),
    ],
)  # fmt: skip
def test_what_goes_to_a_person_is_handed_over_and_to_stay_is_to_wait(
    meant: Meant, result: str, program: str, formula: str
) -> None:
    found = meant(result, "the mug to anna", HOUSE)
    assert (found.program, [parse(one.formula) for one in found.constraints]) == (program, [parse(formula)])


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ('go("the lab"); wait("15 s"); look', ['go_to("lab")', "wait(15)", "look()"]),
        ('go("the lovely mug")', ['go_to("mug")']),
        ('bring("the mug", "anna")', ['go_to("mug")', 'pick_up("mug")', 'go_to("Anna")', "drop_off()"]),
        ('bring("mug", "aisle 1"); look', ['tell("There is no need: the mug is in the aisle 1 already.")', "look()"]),
        ('bring("mug", "lab"); bring("mug", "aisle 1")',
         ['go_to("mug")', 'pick_up("mug")', 'go_to("lab")', "drop_off()",
          'go_to("mug")', 'pick_up("mug")', 'go_to("aisle 1")', "drop_off()"]),
        ('when(is_in("anna", "lab"), look("aisle 1"))', ['if room_of("Anna") == "lab":', '    go_to("aisle 1")',
                                                         "    look()"]),
        ('when(exists(in_room(people, "lab")), wait)',
         ['if len([each for each in objects("person") if room_of(each) == "lab"]) > 0:', "    wait(60)"]),
        ('each(contents("lab"), bring(item, "aisle 2"))',
         ['for item in [each for each in [each for each in objects() if kind(each) not in ["person"]] if room_of(each) '
          '== "lab"]:', '    if not room_of(item) == "aisle 2":', "        go_to(item)", "        pick_up(item)",
          '        go_to("aisle 2")', "        drop_off()"]),
    ],
)  # fmt: skip
def test_a_robot_that_drives_goes_brings_looks_and_waits(meant: Meant, result: str, lines: list[str]) -> None:
    rooms = tuple(Room(name, Rectangle(n, n + 1, 0, 1)) for n, name in enumerate(("lab", "aisle 1", "aisle 2")))
    anna = SceneObject("Anna", "person", "", (0.0, 0.0, 0.9), IDENTITY, (0.5, 0.5, 1.8))
    mug = SceneObject("mug", "mug", "", (1.5, 0.5, 0.0), IDENTITY, (0.1, 0.1, 0.1))
    scene = Scene(0.0, (anna, mug), building=Building(rooms, ()))
    program = meant(result, "to the lab", scene).program
    assert program.splitlines() == lines
    check_program(program, load_skills().for_scene(scene).signatures, scene)


def test_what_is_held_is_put_down_without_being_picked_up(meant: Meant, table: Scene) -> None:
    held = replace(table, held="red block")
    assert meant('put("red block", in("bowl"))', scene=held).program == 'place_in("green bowl")\n'


@pytest.mark.parametrize(
    ("result", "formula"),
    [
        ('never(holds("the door is open"))', "G !door_open"),
        ('responds(holds("requested"), holds("granted"))', "G (request -> F grant)"),
        ('between(holds("requested"), holds("granted"), always(holds("door open")))',
         "G ((request & !grant & F grant) -> (door_open W grant))"),
        ('initially(or(globally(not(holds("request"))), eventually(holds("grant"))))', "G !request | F grant"),
        ('always(implies(holds("request"), unless(not(holds("grant")), next(holds("door open")))))',
         "G (request -> (!grant W X door_open))"),
        ('at_most_steps(n1, holds("grant"))', "!F (grant & X F grant)"),
        ('exactly_steps("two", holds("grant"))',
         "F (grant & X F grant) & !F (grant & X F (grant & X F grant))"),
    ],
)  # fmt: skip
def test_requirements_speak_of_propositions(result: str, formula: str) -> None:
    (found,) = requirements_of(parse_result(result), "as required", ("door_open", "request", "grant"))
    assert parse(found.formula) is parse(formula)


def test_a_proposition_that_there_is_not_is_a_question() -> None:
    with pytest.raises(QuestionError, match="“the alarm” is none of the propositions: door_open"):
        requirements_of(parse_result('never(holds("the alarm"))'), "no alarms", ("door_open",))


def test_any_result_is_a_command_or_a_question(table: Scene, any_result: Callable[..., st.SearchStrategy]) -> None:
    skills = load_skills().for_scene(table).signatures
    names = ("red block", "the blocks", "bowl", "blue one", "mug", "cat", "5 cm", "20 s", "twice", "0.2 m/s", "it")

    @settings(max_examples=500, deadline=None)
    @given(any_result(COMMANDS, names))
    def check(terms: tuple[Term, ...]) -> None:
        with contextlib.suppress(LlmPlannerError):
            found = command_of(terms, "the red block by 5 cm", table)
            ground(Reading(SAID, found.constraints, whole=True), table)
            if found.program:
                check_program(found.program, skills, table)

    check()
