"""The parts of constrained decoding: options of a step, what is seen along a way, margins, prices, lower bounds."""

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.ltl.scene_letters import alphabet_of
from llm_planner.planning.choices import Call, Menu, Step, merged, with_what_lies_on
from llm_planner.planning.search.bounds import DEAD, DrivingBound, Obligations, Ways
from llm_planner.planning.search.prior import NEVER_PLANNED, OTHER_ORDER, TreePrior, Uniform
from llm_planner.planning.search.scene_graph import SceneGraph
from llm_planner.planning.search.task import Task, menu_for, wanted, with_margin
from llm_planner.plans.trace import foresee_motion, letter
from llm_planner.scene.free_space import distance
from llm_planner.scene.places import BEHIND, REGIONS, viewpoint
from llm_planner.scene.propositions import parse_proposition
from llm_planner.scene.scene import Building, Pose, Scene
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world

GO_LAB, GO_HALL = Call("go_to", ("lab",)), Call("go_to", ("hall",))


def menu(skills, *args, **kwargs):
    return Menu({skill.name: skill for skill in skills}, *args, **kwargs)


def task(scene, skills, *texts, **kwargs):
    return Task(scene, tuple(skills), tuple(Constraint(parse(text), text) for text in texts), **kwargs)


# --- options


def test_nothing_is_put_into_a_vessel_that_is_narrower(handling):
    scene = open_world("tabletop", 1, parse_objects("pink mug, gray plate, red block, white bowl")).scene()
    offered = menu(handling, scene.names, scene.names)
    plate, block = (map(str, offered.options(replace(scene, held=name))) for name in ("gray plate", "red block"))
    assert 'place_in("pink mug")' not in plate
    assert 'place_in("white bowl")' in block


def test_options_are_calls_whose_preconditions_hold(driving, building_scene):
    options = menu(driving, ("parcel", "Anna"), ("parcel",)).options(building_scene)
    names = [str(call) for call in options]
    assert 'pick_up("parcel")' in names
    assert "drop_off()" not in names
    assert 'go_to("Anna")' in names


def test_what_is_in_another_room_is_not_picked_up(driving, building_scene):
    away = replace(building_scene, robot=Pose((6.0, 2.0, 0.0)))
    assert Call("pick_up", ("parcel",)) not in menu(driving, ("parcel",), ("parcel",)).options(away)


def test_a_thing_is_put_down_only_in_its_rooms(driving, building_scene):
    loaded = replace(building_scene, held="parcel")
    assert Call("drop_off") in menu(driving).options(loaded)
    assert Call("drop_off") not in menu(driving, drops={"parcel": frozenset({"lab"})}).options(loaded)


def test_an_arm_is_offered_objects_containers_and_regions(handling, table_with_vase):
    holding = replace(table_with_vase((0.62, 0.38)), held="red block")
    names = {str(call) for call in menu(handling, ("red bowl", "green block"), ("red block",)).options(holding)}
    assert {'place_in("red bowl")', 'place_on("green block")', 'place_at("middle")'} <= names
    assert 'place_in("green block")' not in names
    assert len([name for name in names if name.startswith("place_at")]) == len(REGIONS)
    assert "open_gripper()" not in names  # what it holds would fall, nobody knows where to


def test_calls_of_the_model_are_options_whatever_their_arguments(handling, table_with_vase):
    holding = replace(table_with_vase((0.62, 0.38)), held="red block")
    own = Call("place_at", ((0.4, 0.2, 0.0),))
    assert menu(handling, calls=(own,)).options(holding)[0] == own


def test_a_call_about_what_is_gone_is_no_option(handling, table_with_vase):
    assert menu(handling, calls=(Call("pick", ("cup",)),)).options(table_with_vase((0.6, 0.3)))[0] != Call(
        "pick", ("cup",)
    )


def test_a_call_is_written_in_the_words_of_the_speaker(handling):
    place = next(skill for skill in handling if skill.name == "place_at")
    assert Call("place_at", ("left side",)).text(place, BEHIND) == 'place_at("left side")'
    assert Call("place_at", ("left side",)).text(place, viewpoint("facing")) == 'place_at("right side")'
    assert Call("place_at", ((0.4, 0.2, 0.0),)).text(place, BEHIND) == "place_at(point(0.4, 0.2))"


def test_what_lies_on_something_comes_with_it(table_with_vase):
    scene = table_with_vase((0.62, 0.38))
    block = replace(scene.find("red block"), position=(0.45, -0.12, 0.03))
    scene = replace(scene, objects=tuple(block if item.name == "red block" else item for item in scene.objects))
    assert with_what_lies_on({"red bowl"}, scene) == ("red block", "red bowl")


def test_only_what_a_demand_speaks_of_is_considered(driving, building_scene):
    considered = menu_for(task(building_scene, driving, "F in(parcel, lab)", "F did(look, lab)"))
    assert considered.movable == ("parcel",)
    assert considered.drops == {"parcel": frozenset({"lab"})}
    assert "look" in considered.skills
    assert "look" not in menu_for(task(building_scene, driving, "F in(parcel, lab)")).skills
    assert menu_for(task(building_scene, driving, "F near(robot, Anna)")).movable == ()


def test_what_others_do_step_by_step_and_what_nobody_speaks_of_is_not_considered(handling, table_with_vase):
    scene, at_once = table_with_vase((0.62, 0.38)), {"stack", "sweep", "reach", "tip"}

    def considered(*texts):
        return at_once & set(menu_for(task(scene, handling, *texts)).skills)

    assert considered("F on(red block, green block)", "F at(green block, left side)") == set()
    assert considered("F did(stack, red block)", "F toppled(vase)") == {"stack", "tip"}


def test_waiting_is_considered_where_windows_count_seconds(driving, building_scene):
    assert Call("wait", (5.0,)) in menu_for(task(building_scene, driving, "F[5,20] in(robot, lab)")).calls
    assert not menu_for(task(building_scene, driving, "F in(robot, lab)")).calls


@pytest.mark.parametrize(
    ("text", "so", "not_so"),
    [
        ("F holding(a) & G !holding(b)", ["holding(a)"], ["holding(b)"]),
        ("!holding(a) W moved(b)", ["moved(b)"], ["holding(a)"]),
        ("holding(a) -> F moved(b)", ["moved(b)"], ["holding(a)"]),
        ("holding(a) <-> moved(b)", ["holding(a)", "moved(b)"], ["holding(a)", "moved(b)"]),
        ("X !holding(a)", ["holding(a)"], ["holding(a)"]),  # any change is the next one
    ],
)
def test_what_helps_by_being_so_and_what_by_not_being_so(text, so, not_so):
    constraints = [Constraint(parse(text), text)]
    assert [str(item) for item in wanted(constraints)] == so
    assert [str(item) for item in wanted(constraints, so=False)] == not_so


# --- what is seen along a way


@pytest.mark.parametrize("seed", range(25))
def test_letters_foreseen_are_those_of_full_scenes(driving, draw, seed):
    rng = np.random.default_rng(seed)
    scene = draw(rng, ("parcel", "Anna"))
    rooms = scene.building.names
    texts = [
        *(f"in(robot, {room})" for room in rooms[:3]), "near(robot, Anna)", "distance(robot, parcel) > 1.5",
        "holding(parcel)", f"in(parcel, {rooms[0]})", "over(robot, parcel)", "moved(parcel)",
    ]  # fmt: skip
    items = [parse_proposition(text) for text in texts]
    graph = SceneGraph(scene, menu(driving, ("parcel", "Anna"), ("parcel",)), items)
    number, origins = 0, {item.name: item.position for item in scene.objects}
    for _ in range(6):
        options = graph.options(number)
        call = options[int(rng.integers(len(options)))]
        before = graph.scene(number)
        edge = graph.edge(number, call)
        skill = graph.menu.skills[call.skill]
        lay = {item.name: item.position for item in before.objects}
        passage = foresee_motion(skill, call.values(skill), before, lay)
        dense = [letter(moment, items) for moment in passage.moments(origins)]
        seen = [frozenset(text for k, text in enumerate(texts) if mask >> k & 1) for mask in edge.letters]
        missed = [one for one in dense if one not in seen]
        assert not missed, f"{call}: {missed}"
        assert edge.metres == pytest.approx(passage.way.metres)
        number = edge.after


def test_scenes_that_are_alike_are_one(driving, building_scene):
    graph = SceneGraph(building_scene, menu(driving), [])
    there = graph.edge(0, GO_LAB).after
    by_hall = graph.edge(graph.edge(0, GO_HALL).after, GO_LAB).after
    assert there == by_hall
    assert len(graph) == 3


def test_where_no_doors_lead_there_is_no_edge(driving, building_scene):
    rooms = building_scene.building.rooms
    walled = replace(building_scene, building=Building(rooms, ()))
    assert SceneGraph(walled, menu(driving), []).edge(0, GO_LAB) is None


# --- obligations


def obligations(scene, *texts, first=0):
    formulas = [parse(text) for text in texts]
    names = sorted({name for formula in formulas for name in formula.propositions})
    return Obligations(formulas, alphabet_of(names, scene), names, [first]), names


def test_a_letter_that_breaks_a_rule_is_dead(building_scene):
    product, names = obligations(building_scene, "G !in(robot, lab)", "F in(robot, office)")
    lab, office = (1 << names.index(f"in(robot, {room})") for room in ("lab", "office"))
    assert product.along(product.initial, (0, lab)) == DEAD
    assert product.accepts(product.along(product.initial, (0, office, 0)))
    assert not product.accepts(product.initial)


def test_what_is_read_twice_is_one_change(building_scene):
    product, names = obligations(building_scene, "X in(robot, lab)")
    lab = 1 << names.index("in(robot, lab)")
    assert product.accepts(product.along(product.initial, (0, 0, lab)))


def test_what_is_broken_from_the_start_has_no_state(building_scene):
    assert obligations(building_scene, "G !in(robot, lab)", first=1)[0].initial == DEAD


# --- margins


@pytest.mark.parametrize(
    ("text", "stricter"),
    [
        ("G !near(robot, Anna)", "G !distance(robot, Anna) < 1.05"),
        ("F near(robot, Anna)", "F distance(robot, Anna) < 0.75"),
        ("G distance(robot, Anna) > 2", "G distance(robot, Anna) > 2.15"),
        ("near(robot, Anna) -> near(robot, Bo)", "distance(robot, Anna) < 1.05 -> distance(robot, Bo) < 0.75"),
        ("near(robot, Anna) <-> in(robot, lab)", "near(robot, Anna) <-> in(robot, lab)"),
        ("F[0,9] over(robot, Anna)", "F[0,9] over(robot, Anna)"),
    ],
)
def test_distances_are_kept_with_something_to_spare(building_scene, text, stricter):
    assert with_margin(parse(text), building_scene) is parse(stricter)
    assert with_margin(parse(text), building_scene, share=0.0) is parse(text)


def test_the_margin_of_an_arm_is_smaller():
    assert str(with_margin(parse("G !near(robot, vase)"), Scene(0.0, ()))) == "G !distance(robot, vase) < 0.12"


# --- prices


def test_sampled_plans_price_what_comes_next_below_what_comes_later_and_that_below_the_rest(building_scene):
    calls = [GO_LAB, GO_HALL, Call("look")]
    prior = TreePrior(merged([[Step(GO_LAB), Step(GO_HALL)]]))
    assert prior.prices(prior.start, calls, building_scene) == [0.0, OTHER_ORDER, NEVER_PLANNED]
    assert prior.prices(prior.after(prior.start, GO_LAB), calls, building_scene) == [OTHER_ORDER, 0.0, NEVER_PLANNED]


def test_what_more_plans_do_is_cheaper(building_scene):
    prior = TreePrior(merged([[Step(GO_LAB)], [Step(GO_LAB), Step(GO_HALL)], [Step(GO_HALL)]]))
    lab, hall = prior.prices(prior.start, [GO_LAB, GO_HALL], building_scene)
    assert (lab, hall) == (0.0, pytest.approx(np.log(2)))


def test_out_of_turn_a_plan_goes_on_from_there(building_scene):
    prior = TreePrior(merged([[Step(GO_LAB), Step(GO_HALL), Step(Call("look"))]]))
    assert prior.prices(prior.after(prior.start, GO_HALL), [Call("look")], building_scene) == [0.0]
    assert prior.after(prior.start, Call("wait", (1.0,))) == prior.start


def test_without_an_opinion_every_call_costs_nothing(building_scene):
    assert Uniform().prices(None, [GO_LAB, GO_HALL], building_scene) == [0.0, 0.0]


# --- lower bounds


@pytest.mark.parametrize("seed", range(10))
def test_ways_are_never_longer_than_routes(draw, seed):
    rng = np.random.default_rng(seed)
    scene = draw(rng)
    ways = Ways(scene.building)
    a, b = (tuple(rng.uniform((0.1, 0.1), (11.9, 7.9)).tolist()) for _ in range(2))
    assert ways.to_point(a, b) == pytest.approx(distance(scene.building, a, b))


def test_a_bound_counts_what_has_to_be_fetched_and_the_way_around_closed_rooms(driving, building_scene):
    def bound(*texts):
        items = [parse_proposition(name) for name in sorted({n for t in texts for n in parse(t).propositions})]
        graph = SceneGraph(building_scene, menu(driving, ("parcel",), ("parcel",)), items)
        names = [str(item) for item in items]
        product = Obligations(
            [parse(t) for t in texts], alphabet_of(names, building_scene), names, [graph.first_letter]
        )
        return DrivingBound(graph, product)(0, product.initial)

    straight = bound("F in(robot, office)")
    assert straight == pytest.approx(8.0)
    assert bound("F in(robot, office)", "G !in(robot, lab)") > straight
    assert bound("F in(parcel, office)") > straight
    assert bound("F in(robot, kitchen)") == 0.0
    assert bound("G !in(robot, lab)") == 0.0
    assert bound("F in(robot, office)", "G !in(robot, lab)", "G !in(robot, hall)") == float("inf")
