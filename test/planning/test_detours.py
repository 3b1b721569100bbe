"""The robot's way round what the rules of a plan forbid: in forecasts, in rehearsal, in decoding and in physics."""

from dataclasses import replace

import pytest

from llm_planner.execution.execution import advance
from llm_planner.execution.execution_state import EndReason, SceneObserved, StartSkill, start_execution
from llm_planner.execution.supervision import zones_of_step
from llm_planner.execution.watch import watch_for
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planned import ImpossibleError
from llm_planner.planning.planning import plan_program
from llm_planner.planning.rehearsal import Advice
from llm_planner.planning.search.decode import Verdict, decode_plan
from llm_planner.plans.plan import Outcome, goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.trace import foresee_motion
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.propositions import Moment, holds, parse_proposition
from llm_planner.scene.scene import IDENTITY, Pose, Scene, SceneObject
from llm_planner.scene.zones import Subject
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.library import load_skills

LIBRARY = load_skills()
SKILLS = {skill.name: skill for skill in LIBRARY.for_scene(Scene(0.0, ())).signatures}
INTO_THE_BOWL = 'pick("red block")\nplace_in("green bowl")\n'
AWAY, NOT_OVER, FAR = "G !near(robot, vase)", "G !over(robot, vase)", "G distance(robot, vase) > 0.2"
FORBIDDEN = {AWAY: "near(robot, vase)", NOT_OVER: "over(robot, vase)", FAR: "distance(robot, vase) < 0.2"}
BOWL = {"object": "green bowl"}


def thing(name, x, y, size):
    return SceneObject(name, name.split()[-1], name.rpartition(" ")[0], (x, y, size[2] / 2), IDENTITY, size)


@pytest.fixture
def table():
    """A block and a bowl with a vase between them, the hand at home."""
    items = (
        thing("red block", 0.42, 0.3, (0.04, 0.04, 0.04)),
        thing("green bowl", 0.45, -0.28, (0.128, 0.128, 0.045)),
        thing("vase", 0.5, 0.0, (0.048, 0.048, 0.12)),
    )
    return Scene(0.0, items, "", Pose((0.307, 0.0, 0.487)))


@pytest.fixture
def carrying(table):
    """The block hangs in the hand above where it lay."""
    block = replace(table.find("red block"), position=(0.42, 0.3, 0.185))
    return replace(table, objects=(block, *table.objects[1:]), held="red block", robot=Pose((0.42, 0.3, 0.19)))


def rules(*formulas):
    return tuple(Constraint(parse(formula), formula) for formula in formulas)


def zones_for(scene, name, values, *formulas):
    lay = {item.name: item.position for item in scene.objects}
    promised = predict(scene, goals_of(SKILLS[name], "", values, scene, lay))
    return zones_of_step(watch_for(rules(*formulas), scene).see(scene), scene, promised)


def shows(text, scenes):
    return any(holds(parse_proposition(text), Moment(scene)) for scene in scenes)


# --- from rules to zones


def test_a_rule_becomes_a_zone_round_the_thing_for_the_point_that_it_speaks_of(carrying):
    (zone,) = zones_for(carrying, "place_in", BOWL, AWAY)
    assert (zone.name, zone.clearance, zone.subject) == ("the vase", 0.1, Subject.GRIPPER)
    assert zone.size == pytest.approx((0.024, 0.024, 0.06))
    (column,) = zones_for(carrying, "place_in", BOWL, NOT_OVER)
    assert column.clearance == 0.0
    assert column.size[2] > 1.0


def test_a_rule_that_begins_to_bind_with_the_step_binds_its_way(table):
    pick = {"object": "red block"}
    carried = "G !(near(robot, vase) & holding(red block))"
    assert zones_for(table, "pick", pick, carried) != ()
    assert zones_for(table, "pick", pick, "G !(near(robot, vase) & holding(green bowl))") == ()


def test_a_rule_that_is_over_binds_nothing(table, carrying):
    until = "!near(robot, vase) W holding(red block)"
    assert zones_for(table, "pick", {"object": "red block"}, until) != ()
    assert zones_for(carrying, "place_in", BOWL, until) == ()


def test_rules_of_other_things_than_places_make_no_zone(table):
    assert zones_for(table, "pick", {"object": "red block"}, "G !holding(vase)") == ()


# --- the forecast


@pytest.mark.parametrize("formula", [AWAY, NOT_OVER, FAR])
def test_the_way_that_is_foreseen_keeps_out_of_the_zones(carrying, formula):
    zones = zones_for(carrying, "place_in", BOWL, formula)
    straight = foresee_motion(SKILLS["place_in"], BOWL, carrying, {})
    around = foresee_motion(SKILLS["place_in"], BOWL, carrying, {}, zones=zones)
    assert shows(FORBIDDEN[formula], straight.scenes)
    assert not shows(FORBIDDEN[formula], around.scenes)
    assert straight.way.metres < around.way.metres < 2.2 * straight.way.metres
    assert around.scenes[-1].find("red block") == straight.scenes[-1].find("red block")


def test_without_a_measured_hand_the_way_begins_above_its_goal(table):
    blind = replace(table, robot=None)
    zones = zones_for(table, "pick", {"object": "red block"}, AWAY)
    ways = [foresee_motion(SKILLS["pick"], {"object": "red block"}, blind, {}, zones=given) for given in ((), zones)]
    assert ways[0] == ways[1]


def test_a_push_cannot_go_round(table):
    push = {"object": "red block", "direction": "right", "distance": 0.2}
    near = replace(table, objects=(*table.objects[:2], thing("vase", 0.5, 0.12, (0.048, 0.048, 0.12))))
    zones = zones_for(near, "push", push, AWAY)
    with pytest.raises(SkillError, match=r"the hand has to keep 10 cm from the vase.*, and would") as refusal:
        foresee_motion(SKILLS["push"], push, near, {}, zones=zones)
    assert refusal.value.code is SkillErrorCode.NO_FREE_SPACE


# --- execution and rehearsal


def begun(scene, *formulas):
    planned = plan_program("do it", INTO_THE_BOWL, scene, tuple(SKILLS.values()))
    plan = replace(planned.plan, constraints=rules(*formulas))
    return advance(start_execution(plan, planned.interpreter, scene=scene), SceneObserved(scene))


def test_a_step_starts_with_what_its_way_keeps_out_of(table):
    state, (start,) = begun(table, AWAY, NOT_OVER)
    assert isinstance(start, StartSkill)
    assert start.zones == zones_for(table, "pick", {"object": "red block"}, AWAY, NOT_OVER)
    assert len(start.zones) == 2
    assert state.run.zones == start.zones


def test_a_step_whose_goal_is_forbidden_is_not_started_and_the_thing_is_named(table):
    near = replace(table, objects=(*table.objects[:2], thing("vase", 0.42, 0.2, (0.048, 0.048, 0.12))))
    state, _ = begun(near, AWAY)
    assert state.end.reason is EndReason.REPLAN
    assert state.end.message.startswith(
        'Step 1, pick("red block"), may not start: the hand has to keep 10 cm from the vase, '
    )


@pytest.mark.parametrize("formula", [AWAY, NOT_OVER, FAR])
def test_a_plan_with_a_detour_is_rehearsed_and_allowed(table, formula):
    planned = plan_program("do it", INTO_THE_BOWL, table, tuple(SKILLS.values()), constraints=rules(formula))
    assert planned.rehearsal.verdict is Advice.ALLOW


# --- where something is put


@pytest.fixture
def beside(table):
    """The vase stands on the side of the bowl that is nearest to the block."""
    return replace(table, objects=(*table.objects[:2], thing("vase", 0.45, -0.1, (0.048, 0.048, 0.12))))


def put(scene, program, *formulas):
    return plan_program(
        "do it", 'pick("red block")\n' + program, scene, tuple(SKILLS.values()), constraints=rules(*formulas)
    )


def spot_of(scene, name, values, *formulas):
    taken = replace(scene.find("red block"), position=(0.42, 0.3, 0.185))
    scene = replace(scene, objects=(taken, *scene.objects[1:]), held="red block", robot=Pose((0.42, 0.3, 0.19)))
    lay = {item.name: item.position for item in scene.objects}
    zones = zones_for(scene, name, values, *formulas)
    return foresee_motion(SKILLS[name], values, scene, lay, zones=zones).promised.find("red block").position


def test_the_side_is_chosen_on_which_the_hand_keeps_away(beside):
    anywhere = {"object": "green bowl", "direction": "any", "distance": 0.02}
    assert spot_of(beside, "place_beside", anywhere)[1] > -0.2  # towards the block
    x, y, _ = spot_of(beside, "place_beside", anywhere, AWAY)
    assert max(abs(x - 0.45) - 0.024, abs(y + 0.1) - 0.024) > 0.1
    assert put(beside, 'place_beside("green bowl", "any", 0.02)', AWAY).rehearsal.verdict is Advice.ALLOW


def test_the_spot_of_a_region_is_chosen_where_the_hand_keeps_away(table):
    assert spot_of(table, "place_at", {"place": "middle"}, AWAY) != spot_of(table, "place_at", {"place": "middle"})
    assert put(table, 'place_at("middle")', AWAY).rehearsal.verdict is Advice.ALLOW


@pytest.mark.parametrize("program", ["place_at(point(0.5, -0.02))", 'place_beside("green bowl", "left", 0.02)'])
def test_a_place_that_is_asked_for_inside_a_zone_is_refused_before_anything_moves(beside, program):
    with pytest.raises(ImpossibleError, match=r"Step 2, .* may not start: the hand has to keep 10 cm from the vase"):
        put(beside, program, AWAY)


# --- decoding


@pytest.mark.parametrize("formula", [AWAY, NOT_OVER, FAR, "!near(robot, vase) U in(red block, green bowl)"])
def test_decoding_finds_the_plan_with_a_detour(table, formula):
    goal = Constraint(parse("F in(red block, green bowl)"), "the block in the bowl", goal=True)
    decoded = decode_plan(table, tuple(SKILLS.values()), (goal, *rules(formula)))
    assert (decoded.verdict, decoded.program) == (Verdict.PLAN, INTO_THE_BOWL)


def test_decoding_goes_round_only_what_binds_then(carrying):
    goal = Constraint(parse("F (in(red block, green bowl) & F near(robot, vase))"), "then to the vase", goal=True)
    until = rules("!near(robot, vase) U in(red block, green bowl)")
    decoded = decode_plan(carrying, tuple(SKILLS.values()), (goal, *until))
    assert decoded.verdict is Verdict.PLAN
    assert decoded.program.startswith('place_in("green bowl")\n')


# --- physics


@pytest.mark.parametrize("formula", [AWAY, NOT_OVER, FAR])
def test_what_was_foreseen_is_what_the_simulated_hand_does(table, formula):
    world = open_world("tabletop", 0, parse_objects("red block, green bowl, vase"))
    world.lay_out(table)

    def make_plan(scene):
        return plan_program("do it", INTO_THE_BOWL, scene, tuple(SKILLS.values()), constraints=rules(formula))

    report = run_command("do it", Workcell(world, LIBRARY), make_plan)
    assert report.outcome is Outcome.DONE  # under the eyes of the monitor, ten times a second
    assert len(report.plan.steps) == 2


@pytest.mark.parametrize("program", ['place_beside("green bowl", "any", 0.02)', 'place_at("middle")'])
def test_the_simulated_hand_puts_things_where_it_keeps_away(beside, program):
    world = open_world("tabletop", 0, parse_objects("red block, green bowl, vase"))
    world.lay_out(beside)
    report = run_command("do it", Workcell(world, LIBRARY), lambda scene: put(scene, program, AWAY))
    assert report.outcome is Outcome.DONE
    assert len(report.plan.steps) == 2


# --- a mobile base


FROM_PLANT = "G distance(robot, plant) > 0.8"


@pytest.fixture
def lobby():
    """A plant between the base and a parcel, in a large room."""
    world = open_world("rooms", 1, parse_things("plant, parcel, Anna"))
    scene = world.scene()
    room = max(
        scene.building.rooms, key=lambda room: min(room.area.x_max - room.area.x_min, room.area.y_max - room.area.y_min)
    )
    x, y = room.area.center
    places = {"plant": (x, y + 0.1), "parcel": (x + 1.4, y), "Anna": (x - 1.4, y + 1.4)}
    items = tuple(replace(item, position=(*places[item.name], item.position[2])) for item in scene.objects)
    world.lay_out(replace(scene, objects=items, robot=upright_pose(x - 1.4, y, 0.0)))
    return world


def test_a_base_drives_round_what_a_rule_forbids_as_it_was_foreseen(lobby):
    skills = LIBRARY.for_scene(lobby.scene()).signatures

    def make_plan(scene):
        return plan_program("do it", 'go_to("parcel")', scene, skills, constraints=rules(FROM_PLANT))

    assert make_plan(lobby.scene()).rehearsal.verdict is Advice.ALLOW
    assert run_command("do it", Workcell(lobby, LIBRARY), make_plan).outcome is Outcome.DONE
    decoded = decode_plan(
        lobby.scene(), skills, (Constraint(parse("F near(robot, Anna)"), "to Anna", goal=True), *rules(FROM_PLANT))
    )
    assert decoded.verdict is Verdict.PLAN


def test_a_base_is_not_sent_where_a_rule_forbids_it_to_be(lobby):
    skills = LIBRARY.for_scene(lobby.scene()).signatures
    with pytest.raises(
        ImpossibleError, match=r"may not start: the robot finds no way there that keeps 80 cm from the plant"
    ):
        plan_program("do it", 'go_to("plant")', lobby.scene(), skills, constraints=rules(FROM_PLANT))


def test_whole_rooms_are_no_zones_to_drive_around(lobby):
    watch = watch_for(rules("G !in(robot, lobby)", FROM_PLANT), lobby.scene()).see(lobby.scene())
    assert [zone.name for zone in zones_of_step(watch, lobby.scene(), lobby.scene())] == ["the plant"]
