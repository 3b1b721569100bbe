"""A plan is tried out in a copy of the simulation before anything moves."""

import itertools
from dataclasses import replace

import pytest

from llm_planner.errors import InputError
from llm_planner.execution.execution_state import start_execution
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.in_process import both, full_rehearsal, rehearse_in_simulation
from llm_planner.planning.planning import plan_program
from llm_planner.planning.rehearsal import Advice, rehearse
from llm_planner.scene.places import BEHIND
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import copy_of, open_world
from llm_planner.skills.library import load_skills

LIBRARY = load_skills()
INTO_THE_BOWL = 'pick("red block")\nplace_in("green bowl")'


@pytest.fixture(scope="module")
def scene():
    return open_world("tabletop", 1, parse_objects("red block, blue block, green bowl")).scene()


def start(scene, text, *formulas):
    planned = plan_program("do it", text, scene, LIBRARY.for_scene(scene).signatures)
    constraints = tuple(Constraint(parse(formula), "so be it") for formula in formulas)
    return start_execution(replace(planned.plan, constraints=constraints), planned.interpreter, scene=scene)


def tried(scene, state, out_of_time=lambda: False):
    return rehearse_in_simulation(state, scene, LIBRARY, copy_of, out_of_time)


def test_a_copy_has_everything_where_the_scene_says(scene):
    copied = copy_of(scene).scene()
    for item, twin in zip(scene.objects, copied.objects, strict=True):
        assert (twin.name, twin.kind, twin.color) == (item.name, item.kind, item.color)
        assert twin.position == pytest.approx(item.position, abs=2e-3)


def test_a_copy_of_a_building_has_the_robot_where_it_is():
    world = open_world("rooms", 3)
    world.drive((0.4, 0.0, 0.3), 2.0)
    scene = world.scene()
    copied = copy_of(scene).scene()
    assert (copied.building, copied.objects) == (scene.building, scene.objects)
    assert copied.robot.position == pytest.approx(scene.robot.position)
    assert copied.robot.orientation == pytest.approx(scene.robot.orientation)


def test_a_building_without_its_robot_cannot_be_copied():
    scene = replace(open_world("rooms", 3).scene(), robot=None)
    with pytest.raises(InputError, match="copied from a scene with its building and the robot's pose"):
        copy_of(scene)


def test_a_plan_that_works_out_may_run(scene):
    rehearsal = tried(scene, start(scene, INTO_THE_BOWL, "G !holding(blue block)", "F in(red block, green bowl)"))
    assert (rehearsal.verdict, rehearsal.reasons) == (Advice.ALLOW, ())
    assert 3.0 < rehearsal.seconds < 30.0


class Changed:
    """The copy, in which something happens to the blue block after three seconds."""

    def __init__(self, scene, **changes):
        self._world, self._changes = copy_of(scene), changes

    def __getattr__(self, name):
        return getattr(self._world, name)

    def observation(self):
        seen = self._world.observation()
        if self._world.time < 3.0:
            return seen
        items = tuple(
            replace(item, **self._changes) if item.name == "blue block" else item for item in seen.scene.objects
        )
        return replace(seen, scene=replace(seen.scene, objects=items))


def test_what_only_physics_shows_blocks(scene):
    state = start(scene, INTO_THE_BOWL, "G !moved(blue block)")

    def knocked_over(scene):
        return Changed(scene, position=(0.3, 0.3, 0.02))

    symbolic = rehearse(state, scene)
    simulated = rehearse_in_simulation(state, scene, LIBRARY, knocked_over, lambda: False)
    assert (symbolic.verdict, simulated.verdict) == (Advice.ALLOW, Advice.BLOCK)
    assert "in simulation, after" in simulated.reasons[0]
    assert both(symbolic, simulated).verdict is Advice.BLOCK


def test_a_speed_limit_is_kept_in_the_copy_too(scene):
    state = start(scene, INTO_THE_BOWL, "G speed(robot) < 0.1")
    assert both(rehearse(state, scene), tried(scene, state)).verdict is Advice.ALLOW


def test_a_rehearsal_asks_nothing_it_tells_what_came_of_the_plan(scene):
    rehearsal = tried(scene, start(scene, INTO_THE_BOWL, "F in(blue block, green bowl)"))
    assert rehearsal.verdict is Advice.BLOCK
    assert rehearsal.reasons[0].endswith("s: After every step this is still not so: “so be it”.")


def test_physics_settles_what_the_forecast_doubted(scene):
    state = start(scene, INTO_THE_BOWL, "G[0,60] speed(robot) < 0.2")
    assert rehearse(state, scene).verdict is Advice.ASK
    rehearsal = both(rehearse(state, scene), tried(scene, state))
    assert (rehearsal.verdict, rehearsal.reasons) == (Advice.ALLOW, ())
    assert rehearsal.seconds > 3.0


def test_a_rehearsal_that_takes_too_long_is_a_reason_to_ask(scene):
    answers = iter([*[False] * 20, *[True] * 9])
    rehearsal = tried(scene, start(scene, INTO_THE_BOWL), lambda: next(answers))
    assert rehearsal.verdict is Advice.ASK
    assert "was not finished in the time given to it" in rehearsal.reasons[0]


def test_a_thing_in_the_hand_cannot_be_copied(scene):
    held = replace(scene, held="red block")
    rehearsal = tried(held, start(held, 'place_in("green bowl")'))
    assert rehearsal.verdict is Advice.ASK
    assert "the red block is in the hand" in rehearsal.reasons[0]


def test_a_thing_of_an_unknown_kind_cannot_be_copied(scene):
    piano = replace(scene, objects=(*scene.objects, replace(scene.objects[0], name="piano", kind="piano")))
    rehearsal = tried(piano, start(piano, INTO_THE_BOWL))
    assert rehearsal.verdict is Advice.ASK
    assert "cannot be rehearsed in simulation: there is no object kind 'piano'" in rehearsal.reasons[0]


def test_what_falls_over_is_told(scene):
    def tilting(scene):
        return Changed(scene, orientation=(0.3826834, 0.0, 0.0, 0.9238795))

    rehearsal = rehearse_in_simulation(start(scene, INTO_THE_BOWL), scene, LIBRARY, tilting, lambda: False)
    assert rehearsal.verdict is Advice.ASK
    assert rehearsal.reasons == ("in simulation the blue block fell over",)


def test_the_time_that_a_rehearsal_takes_is_bounded_by_the_clock(scene):
    planned = plan_program("do it", INTO_THE_BOWL, scene, LIBRARY.for_scene(scene).signatures)
    rehearse_fully = full_rehearsal(LIBRARY, copy_of, BEHIND, 10.0, lambda: 0.0)
    assert rehearse_fully(planned, scene).verdict is Advice.ALLOW
    ticks = itertools.count(0.0, 4.0)
    assert full_rehearsal(LIBRARY, copy_of, BEHIND, 10.0, lambda: next(ticks))(planned, scene).verdict is Advice.ASK


def test_what_is_meant_to_fall_may_fall():
    scene = open_world("tabletop", 3, parse_objects("vase, red block")).scene()
    rehearsal = tried(scene, start(scene, "achieve(\"reach(tilt('vase') >= 80)\")"))
    assert (rehearsal.verdict, rehearsal.findings) == (Advice.ALLOW, ())


def test_a_motion_that_is_searched_as_it_runs_is_doubted_under_rules_until_it_is_tried_out():
    scene = open_world("tabletop", 3, parse_objects("vase, red block")).scene()
    state = start(scene, "achieve(\"reach(tilt('vase') >= 80)\")", "G !moved(red block)")
    symbolic = rehearse(state, scene)
    assert symbolic.verdict is Advice.ASK
    assert "how achieve moves is found as it runs, so that it keeps the rules cannot be foreseen" in symbolic.reasons[0]
    assert both(symbolic, tried(scene, state)).verdict is Advice.ALLOW
    assert rehearse(start(scene, "achieve(\"reach(tilt('vase') >= 80)\")"), scene).verdict is Advice.ALLOW
