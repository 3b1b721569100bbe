"""A plan is rehearsed over every branch with one surprise; all constraints are proved on each, or doubted."""

import re
from dataclasses import replace

import pytest
from reference_semantics import holds

from llm_planner.execution.execution_state import start_execution
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.planned import PlanningSettings
from llm_planner.planning.planning import plan_program
from llm_planner.planning.rehearsal import Advice, rehearse
from llm_planner.scene.scene import Pose
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import load_skills

INTO_THE_BOWL = 'pick("red block")\nplace_in("red bowl")'
TWO = INTO_THE_BOWL + '\npick("green block")\nplace_in("green bowl")'
ONCE = "G (did(pick, red block) -> N G !did(pick, red block))"


@pytest.fixture
def seen(scene):
    """The table with the hand above it."""
    return replace(scene, robot=Pose((0.3, 0.0, 0.4)))


@pytest.fixture
def rehearsed(seen, skills):
    def make(text, *formulas, where=seen):
        planned = plan_program("do it", text, where, tuple(skills.values()), settings=PlanningSettings(ask=False))
        constraints = tuple(Constraint(parse(formula), "so be it") for formula in formulas)
        plan = replace(planned.plan, constraints=constraints)
        return rehearse(start_execution(plan, planned.interpreter, scene=where), where)

    return make


def test_a_plan_that_keeps_every_constraint_on_every_branch_may_run(rehearsed):
    rehearsal = rehearsed(TWO, "!moved(green block) U on(red block, red bowl)", "F in(green block, green bowl)")
    assert (rehearsal.verdict, rehearsal.reasons, rehearsal.complete) == (Advice.ALLOW, (), True)
    assert rehearsal.branches > 8  # each step may fail on its way, and drop what it carries


def test_a_constraint_that_the_plan_will_surely_break_blocks_it_with_step_line_and_trace(rehearsed):
    rehearsal = rehearsed(TWO, "G !holding(green block)")
    assert rehearsal.verdict is Advice.BLOCK
    (problem,) = rehearsal.problems
    assert (problem.line, problem.message) == (
        3,
        'Step 3, pick("green block"), may not start: it would break “so be it” (holding(green block)).',
    )
    (trace,) = rehearsal.traces
    assert not holds(parse("G !holding(green block)"), trace)
    assert holds(parse("G !holding(green block)"), trace[:-1])


def test_a_goal_that_is_left_out_blocks_the_plan(rehearsed):
    rehearsal = rehearsed(INTO_THE_BOWL, "F in(blue block, blue bowl)")
    assert rehearsal.verdict is Advice.BLOCK
    assert rehearsal.reasons == ("After every step this is still not so: “so be it”.",)


def test_constraints_that_cannot_be_kept_together_block_every_plan(rehearsed):
    assert rehearsed(TWO, "F holding(blue block)", "G !holding(blue block)").verdict is Advice.BLOCK


def test_a_mishap_after_which_the_plan_is_made_anew_is_no_reason_to_ask(rehearsed):
    rehearsal = rehearsed(INTO_THE_BOWL, ONCE)
    assert rehearsal.verdict is Advice.ALLOW
    assert rehearsal.branches > 1


def test_a_mishap_that_would_itself_break_a_constraint_is_a_reason_to_ask(rehearsed):
    rehearsal = rehearsed(INTO_THE_BOWL, "G (holding(red block) -> holding(red block) U in(red block, red bowl))")
    assert rehearsal.verdict is Advice.ASK
    assert rehearsal.reasons[0].startswith(
        'if step 1, pick("red block"), goes otherwise than foreseen: I stop here, because this is broken: “so be it”'
    )


def test_who_may_not_move_a_thing_may_not_pick_it_up(rehearsed):
    rehearsal = rehearsed('pick("red block")', "G !moved(red block)")
    assert rehearsal.verdict is Advice.BLOCK
    assert "would break “so be it” (moved(red block))" in rehearsal.reasons[0]


def test_what_is_held_already_cannot_be_left_unmoved(rehearsed, seen):
    block = seen.find("red block")
    held = replace(seen, held="red block", objects=(replace(block, position=(0.3, 0.0, 0.4)),))
    assert rehearsed("go_home()", "G !moved(red block)", where=held).verdict is Advice.BLOCK


def test_what_a_push_shoves_breaks_a_rule_about_it(rehearsed, seen):
    where = with_vase(seen, 0.05)
    rehearsal = rehearsed('push("red block", "left", 0.2)', "G !moved(vase)", where=where)
    assert rehearsal.verdict is Advice.BLOCK
    assert "would break “so be it” (moved(vase))" in rehearsal.reasons[0]


def test_a_push_that_shoves_what_nobody_spoke_of_is_a_reason_to_ask(rehearsed, seen):
    where = with_vase(seen, 0.05)
    for rules in ((), ("G !holding(vase)",)):
        rehearsal = rehearsed('push("red block", "left", 0.2)', *rules, where=where)
        assert rehearsal.verdict is Advice.ASK
        assert rehearsal.reasons == ('step 1, push("red block", "left", 0.2), would shove the vase too',)
    away = with_vase(seen, 0.2)
    assert rehearsed('push("red block", "left", 0.2)', where=away).verdict is Advice.ALLOW


def test_what_lies_in_a_thing_goes_along_with_it_and_nobody_is_asked(rehearsed, seen):
    block, bowl = (seen.find(name) for name in ("red block", "red bowl"))
    inside = replace(block, position=(*bowl.position[:2], 0.03))
    where = replace(seen, objects=(inside, bowl))
    assert rehearsed('push("red bowl", "left", 0.1)', where=where).verdict is Advice.ALLOW
    assert rehearsed('push("red bowl", "left", 0.1)', "G !moved(red block)", where=where).verdict is Advice.BLOCK


def test_what_stands_close_to_the_way_of_a_push_is_a_reason_to_ask(rehearsed, seen):
    verdicts = [
        rehearsed('push("red block", "left", 0.2)', "G !moved(vase)", where=with_vase(seen, aside)).verdict
        for aside in (0.1 + 0.03, 0.1 + 0.03 + 0.01, 0.1 + 0.03 + 0.03)  # palm, vase, room between
    ]
    assert verdicts == [Advice.BLOCK, Advice.ASK, Advice.ALLOW]


def with_vase(scene, aside):
    """A vase of 6 cm standing so far beside the line along which the block is pushed to the left."""
    block = scene.find("red block")
    x, y, _ = block.position
    vase = replace(block, name="vase", kind="vase", position=(x + aside, y + 0.1, 0.07), size=(0.06, 0.06, 0.14))
    return replace(scene, objects=(block, vase))


def test_what_is_swept_into_a_region_may_lie_anywhere_in_it_too(rehearsed):
    assert rehearsed('sweep("red block", "left side")', "G !holding(green bowl)").verdict is Advice.ALLOW


def test_a_branch_that_depends_on_where_in_a_region_a_thing_comes_to_lie_is_looked_at(rehearsed):
    text = (
        'pick("red block")\nplace_at("left side")\n'
        'if distance("red block", "blue bowl") < 0.2:\n    pick("green block")\nelse:\n    pick("blue block")'
    )
    verdicts = {name: rehearsed(text, f"G !holding({name} block)").verdict for name in ("green", "blue")}
    assert set(verdicts.values()) == {Advice.ASK, Advice.BLOCK}


def test_the_way_of_the_hand_is_rehearsed(rehearsed):
    assert rehearsed(TWO, "G distance(robot, green bowl) > 0.05").verdict is Advice.BLOCK
    assert rehearsed(INTO_THE_BOWL, "G distance(robot, green bowl) > 0.05").verdict is Advice.ALLOW


@pytest.mark.parametrize(
    "rule",
    [
        "G speed(robot) < 0.2",
        "G !speed(robot) > 0.2",
        "speed(robot) < 0.1 U in(red block, red bowl)",
        "G (holding(red block) -> speed(robot) < 0.1)",
        "G (near(robot, red bowl) -> speed(robot) < 0.1)",
        "G (speed(robot) > 0.2 -> F in(red block, red bowl))",
    ],
)
def test_speeds_that_the_controller_keeps_are_proved(rehearsed, seen, rule):
    rehearsal = rehearsed(INTO_THE_BOWL, rule, where=replace(seen, time=1e9))
    assert (rehearsal.verdict, rehearsal.reasons) == (Advice.ALLOW, ())


@pytest.mark.parametrize(
    "rule",
    [
        "G (speed(robot) > 0.2 -> F in(green block, green bowl))",  # a debt that fast motion makes and nothing pays
        "X X !speed(robot) < 0.2 | G !moved(red block)",
        "G[0,5] speed(robot) < 0.2",
    ],
)
def test_speeds_that_no_limit_settles_are_not_foreseen(rehearsed, rule):
    rehearsal = rehearsed(INTO_THE_BOWL, rule)
    assert rehearsal.verdict is not Advice.ALLOW
    assert "how fast the robot will be is not foreseen" in rehearsal.reasons[-1]


def test_a_robot_that_has_to_creep_may_not_get_anywhere(rehearsed):
    rehearsal = rehearsed(INTO_THE_BOWL, "G speed(robot) < 0.02")
    assert rehearsal.verdict is Advice.ASK
    assert rehearsal.reasons == (
        "“so be it” asks for less than 0.0333 m/s: the robot may not get anywhere as slowly as that",
    )


def test_a_constraint_that_cannot_be_watched_blocks(rehearsed, scene):
    rehearsal = rehearsed(INTO_THE_BOWL, "G !near(robot, red bowl)", where=scene)
    assert rehearsal.verdict is Advice.BLOCK
    assert "nothing measures where the robot is" in rehearsal.reasons[0]


def test_without_constraints_there_is_nothing_to_prove(rehearsed):
    assert rehearsed(TWO).verdict is Advice.ALLOW


def test_a_long_plan_says_when_not_every_branch_was_looked_at(rehearsed):
    text = "\n".join(40 * ['pick("red block")\nplace_at("left side")\npick("red block")\nplace_at("right side")'])
    rehearsal = rehearsed(text, "G distance(robot, green bowl) > 0.001")
    assert not rehearsal.complete
    assert rehearsal.reasons[-1] == f"not all branches were looked at, only {rehearsal.branches}"


def test_the_rooms_on_a_robots_way_count():
    scene = open_world("rooms", 3).scene()
    library = load_skills().for_scene(scene)
    building = scene.building
    here = building.room_at(*scene.robot.position[:2])
    first = building.neighbours(here)[0]
    beyond = next(room for room in building.neighbours(first) if room != here and here not in building.neighbours(room))

    def rehearsed_there(*formulas):
        planned = plan_program("go", f'go_to("{beyond}")\ngo_to("{here}")', scene, library.signatures)
        constraints = tuple(Constraint(parse(formula), formula) for formula in formulas)
        plan = replace(planned.plan, constraints=constraints)
        return rehearse(start_execution(plan, planned.interpreter, scene=scene), scene)

    assert rehearsed_there(f"F (in(robot, {beyond}) & F in(robot, {here}))").verdict is Advice.ALLOW
    passed = [room for room in building.names if rehearsed_there(f"G !in(robot, {room})").verdict is Advice.BLOCK]
    assert {here, beyond} < set(passed)
    assert len(passed) < len(building.names)


def test_a_deadline_that_is_out_of_reach_is_told_with_the_time_that_is_left(rehearsed):
    assert rehearsed(INTO_THE_BOWL, "F[0,20] in(red block, red bowl)").verdict is Advice.ALLOW
    rehearsal = rehearsed(INTO_THE_BOWL, "F[0,5] in(red block, red bowl)")
    assert rehearsal.verdict is Advice.BLOCK
    assert re.search(r"only \d\.\d s are left for “so be it”, and the step takes about \d\.\d s", rehearsal.reasons[0])


def test_a_deadline_reckons_with_the_speed_that_is_in_force(rehearsed):
    rehearsal = rehearsed(INTO_THE_BOWL, "F[0,20] in(red block, red bowl)", "G speed(robot) < 0.1")
    assert rehearsal.verdict is Advice.BLOCK
    assert "s are left for" in rehearsal.reasons[0]
    assert rehearsed(INTO_THE_BOWL, "F[0,90] in(red block, red bowl)", "G speed(robot) < 0.1").reasons == ()


def test_what_breaks_in_time_is_told_as_broken(rehearsed):
    rehearsal = rehearsed(INTO_THE_BOWL, "G[0,60] !holding(red block)")
    assert "it would break “so be it” (holding(red block))" in rehearsal.reasons[0]
