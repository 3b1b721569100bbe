"""The rules of a plan are offered to the controller as patches, renewed while it runs, and withdrawn at its end."""

from dataclasses import replace

import pytest

from llm_planner.control.motion_constraints import Patch
from llm_planner.execution.execution import advance
from llm_planner.execution.execution_state import SceneObserved, StopRequested, start_execution
from llm_planner.execution.motion_rules import (
    RENEWED_AFTER,
    VALID_FOR,
    MotionRules,
    bindings,
    imminent,
    in_fixed_frame,
    turns_of,
)
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.planning import plan_program
from llm_planner.scene.driven_base import driven_to, zones_seen_anew
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, DrivenBase, Pose, Room
from llm_planner.scene.zones import Shape, Zone


@pytest.fixture
def seen(scene):
    """The table with the hand above it, at rest."""
    return replace(scene, robot=Pose((0.3, 0.0, 0.4)))


@pytest.fixture
def begun(seen, skills):
    """The state in which the first step of a program has just been started under those rules."""

    def make(text, *formulas):
        planned = plan_program("do it", text, seen, tuple(skills.values()))
        constraints = tuple(Constraint(parse(formula), "so be it") for formula in formulas)
        start = start_execution(replace(planned.plan, constraints=constraints), planned.interpreter, scene=seen)
        return advance(start, SceneObserved(seen))[0]

    return make


def later(state, scene, **changes):
    return advance(state, SceneObserved(replace(scene, **changes)))[0]


def test_each_rule_that_binds_is_a_patch_of_its_own(begun):
    rules = ("G !near(robot, blue bowl)", "F holding(red block)", "G speed(robot) < 0.2")
    near, slow = MotionRules(7).patches(begun('pick("red block")', *rules), 0.0)
    assert (near.source, near.epoch, near.speed, len(near.zones)) == ("rule 1: so be it", 7, None, 1)
    assert (slow.source, slow.speed, slow.zones) == ("rule 3: so be it", pytest.approx(0.18), ())
    assert near.expires == VALID_FOR


def test_what_is_in_force_is_said_again_only_when_it_runs_out(begun, seen):
    rules, state = MotionRules(), begun('pick("red block")', "G !near(robot, blue bowl)")
    assert len(rules.patches(state, 0.0)) == 1
    assert rules.patches(later(state, seen, time=0.1), 0.1) == ()
    assert len(rules.patches(later(state, seen, time=0.5), RENEWED_AFTER + 0.1)) == 1


@pytest.mark.parametrize(("metres", "said"), [(0.001, 0), (0.01, 1)])
def test_a_thing_that_has_moved_is_said_at_once(begun, seen, metres, said):
    rules, state = MotionRules(), begun('pick("red block")', "G !near(robot, blue bowl)")
    rules.patches(state, 0.0)
    bowl = seen.find("blue bowl")
    x, y, z = bowl.position
    moved = replace(bowl, position=(x, y + metres, z))
    objects = tuple(moved if item is bowl else item for item in seen.objects)
    assert len(rules.patches(later(state, seen, time=0.1, objects=objects), 0.1)) == said


def test_what_no_longer_binds_is_withdrawn(begun, seen):
    rules, state = MotionRules(), begun('pick("red block")', "speed(robot) < 0.2 U holding(red block)")
    assert [patch.says_nothing for patch in rules.patches(state, 0.0)] == [False]
    (patch,) = rules.patches(later(state, seen, time=0.1, held="red block"), 0.1)
    assert (patch.source, patch.says_nothing) == ("rule 1: so be it", True)
    assert rules.patches(later(state, seen, time=0.2, held="red block"), 0.2) == ()


def test_the_end_of_a_plan_withdraws_all(begun):
    rules, state = MotionRules(), begun('pick("red block")', "G speed(robot) < 0.2", "G !over(robot, blue bowl)")
    assert len(rules.patches(state, 0.0)) == 2
    ended, _ = advance(state, StopRequested())
    assert [patch.says_nothing for patch in rules.patches(ended, 0.1)] == [True, True]


def test_a_limit_that_no_robot_reaches_is_not_told(begun):
    assert MotionRules().patches(begun('pick("red block")', "G speed(robot) < 50"), 0.0) == ()


def test_the_turns_of_a_step_say_where_the_hand_is_when_they_come(begun, seen):
    state = begun('pick("red block")', "G (holding(red block) -> speed(robot) < 0.1)")
    turns = turns_of(state)
    (taken,) = [turn for turn in turns if "holding(red block)" in turn.letter]
    assert taken.position == pytest.approx(seen.find("red block").position, abs=0.03)
    assert imminent(turns, seen) == ()
    there = replace(seen, robot=Pose(taken.position))
    assert taken.letter in imminent(turns, there)
    assert imminent(turns, replace(seen, robot=None)) == ()


def test_shortly_before_a_grasp_its_limit_is_in_force(begun, seen):
    rules, state = MotionRules(), begun('pick("red block")', "G (holding(red block) -> speed(robot) < 0.1)")
    assert rules.patches(state, 0.0) == ()
    x, y, _ = seen.find("red block").position
    (patch,) = rules.patches(later(state, seen, time=1.0, robot=Pose((x, y, 0.08))), 1.0)
    assert patch.speed == pytest.approx(0.09)


def test_without_rules_nothing_is_foreseen(begun):
    assert turns_of(begun('pick("red block")')) == ()


def test_zones_that_are_too_many_for_one_patch_go_into_several(begun, seen):
    state = begun('pick("red block")', "G !near(robot, blue bowl)")
    (binding,) = bindings(state.watch, seen)
    rules, binding = MotionRules(), replace(binding, zones=binding.zones * 40)
    patches = tuple(rules._patches("rule 1", binding, 0.0))
    assert [(patch.source, len(patch.zones)) for patch in patches] == [
        ("rule 1: so be it", 32),
        ("rule 1, 2: so be it", 8),
    ]


def test_zones_are_said_in_the_map_where_a_base_drives_the_arm(seen):
    building = Building((Room("room", Rectangle(-3.0, 3.0, -3.0, 3.0)),), ())
    carried = replace(seen, base=DrivenBase(Pose((1.0, 2.0, 0.0)), 0.05, (0.3, 0.7), building))
    zone = Zone("the bowl", Shape.SPHERE, (0.1,), Pose((0.4, -0.1, 0.0)))
    patch = Patch("rule 1", 0.0, 1.0, zones=(zone,))
    assert in_fixed_frame(patch, seen) == patch
    there = in_fixed_frame(patch, carried).zones[0]
    assert there.pose.position == pytest.approx((1.45, 1.9, 0.0))
    driven = driven_to(carried, upright_pose(-1.0, 0.5, 1.0))
    (moved,) = zones_seen_anew((zone,), carried, driven)
    assert in_fixed_frame(replace(patch, zones=(moved,)), driven).zones[0].pose.position == pytest.approx(
        there.pose.position
    )
