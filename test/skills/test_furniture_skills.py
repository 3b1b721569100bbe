"""Drawers, buttons and stains: done in physics from any start, and refused with a reason where there is no room."""

import math
from dataclasses import replace
from typing import Any

import pytest

from llm_planner.plans.plan import Goal
from llm_planner.plans.prediction import predict
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.atoms import parse_atom
from llm_planner.scene.predicates import OPEN_AT, clean, closed, lit, open_
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.objects import ObjectSpec, in_state, parse_objects
from llm_planner.simulation.tabletop import Placement, standing
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.grasps import handle_of
from llm_planner.skills.hand_geometry import rest_pose
from llm_planner.skills.library import SkillLibrary
from llm_planner.skills.paths import SkillCall

PANDA = arm_model("panda")


def a(kind: str, x: float, y: float, yaw: float = 0.0) -> SceneObject:
    return standing(ObjectSpec(kind, kind, ""), Placement(x, y, yaw))


def world_of(*items: SceneObject) -> World:
    world = World(0, ())
    world.lay_out(Scene(0.0, items))
    return world


def run(library: SkillLibrary, world: World, name: str, thing: str) -> SkillResult:
    return Episode(world).run(library.find(name), {"object": thing})


def refusal(library: SkillLibrary, ghost: Any, name: str, scene: Scene, thing: str) -> str:
    hand = ghost(scene)
    return str(hand.run(library.find(name).start({"object": thing}, hand.observation())).message)


@pytest.mark.parametrize("yaw", [-0.5, 0.5])
def test_a_drawer_is_opened_and_closed_again(library: SkillLibrary, yaw: float) -> None:
    world = world_of(a("drawer", 0.5, 0.1, yaw), a("mug", 0.35, -0.25))
    assert run(library, world, "open_drawer", "drawer") == SkillResult(SkillErrorCode.SUCCEEDED)
    assert open_(world.scene(), "drawer")
    assert run(library, world, "close_drawer", "drawer") == SkillResult(SkillErrorCode.SUCCEEDED)
    assert closed(world.scene(), "drawer")


def test_opening_goes_on_from_the_handle(library: SkillLibrary) -> None:
    world = world_of(a("drawer", 0.5, 0.1))
    episode, opening = Episode(world), library.find("open_drawer")
    episode.run(opening, {"object": "drawer"}, lambda seen: seen.scene.find("drawer").state > 0.03)
    began = world.time
    assert episode.run(opening, {"object": "drawer"}).code is SkillErrorCode.SUCCEEDED
    assert world.time - began < 4.0  # from above it takes six


def test_what_is_open_lit_and_clean_is_left_alone(library: SkillLibrary, ghost: Any) -> None:
    opened = in_state(a("drawer", 0.5, 0.2), 0.08)
    on, wiped = replace(a("button", 0.4, -0.1), state=1.0), replace(a("stain", 0.5, -0.25), state=0.0)
    sponge = replace(a("sponge", 0.307, 0.0), position=(0.307, 0.0, 0.482))
    hand = ghost(Scene(0.0, (opened, on, wiped, sponge), "sponge"))
    for name, thing in (("open_drawer", "drawer"), ("press", "button"), ("wipe", "stain")):
        skill = library.find(name).implementation
        assert hand.run(skill.start({"object": thing}, hand.observation())).code is SkillErrorCode.SUCCEEDED
    assert hand.references == []


def test_a_button_is_pressed_and_left(library: SkillLibrary) -> None:
    world = world_of(a("button", 0.5, -0.2), a("mug", 0.5, -0.3))
    assert run(library, world, "press", "button") == SkillResult(SkillErrorCode.SUCCEEDED)
    assert lit(world.scene(), "button")
    assert world.gripper_pose().position[2] > 0.09


def test_a_stain_is_wiped_away_with_the_sponge(library: SkillLibrary) -> None:
    world = world_of(a("stain", 0.5, -0.1, 0.4), a("sponge", 0.4, 0.15), a("vase", 0.55, 0.1))
    assert run(library, world, "pick", "sponge").code is SkillErrorCode.SUCCEEDED
    assert run(library, world, "wipe", "stain") == SkillResult(SkillErrorCode.SUCCEEDED)
    assert clean(world.scene(), "stain")
    assert world.scene().held == "sponge"


def test_skills_for_furniture_are_there_where_it_is(library: SkillLibrary) -> None:
    mine = {"open_drawer", "close_drawer", "press", "wipe"}
    assert not mine & set(library.for_scene(Scene(0.0, (a("mug", 0.5, 0.0),))).skills)
    assert mine & set(library.for_scene(Scene(0.0, (a("button", 0.5, 0.0),))).skills) == {"press"}


def test_furniture_is_not_picked_up(library: SkillLibrary, ghost: Any) -> None:
    told = refusal(library, ghost, "pick", Scene(0.0, (a("button", 0.5, 0.0),)), "button")
    assert told == "the button stands there for good; it cannot be picked up"


@pytest.mark.parametrize(
    ("skill", "told"),
    [
        ("open_drawer", "the mug is not a drawer"),
        ("press", "the mug is not a button"),
        ("wipe", "the gripper holds nothing"),
    ],
)
def test_other_things_are_refused(library: SkillLibrary, ghost: Any, skill: str, told: str) -> None:
    with pytest.raises(Exception, match=f"{skill} cannot start: {told}"):
        refusal(library, ghost, skill, Scene(0.0, (a("mug", 0.5, 0.0),)), "mug")


def test_a_hand_that_moves_nothing_is_told_so(library: SkillLibrary, ghost: Any) -> None:
    scene = Scene(0.0, (a("drawer", 0.5, 0.1), a("button", 0.4, -0.2)))
    assert refusal(library, ghost, "open_drawer", scene, "drawer") == "the drawer is 0.0 cm out instead of 7.5 cm"
    assert refusal(library, ghost, "press", scene, "button") == "the button was pressed, and its lamp is dark"


def test_a_stain_that_stays_is_told(library: SkillLibrary, ghost: Any) -> None:
    scene = Scene(0.0, (a("stain", 0.5, 0.0), replace(a("sponge", 0.307, 0.0), position=(0.307, 0.0, 0.482))), "sponge")
    assert refusal(library, ghost, "wipe", scene, "stain") == "100 % of the stain are left"


def test_what_stands_before_a_drawer_is_in_its_way(library: SkillLibrary, ghost: Any) -> None:
    drawer = a("drawer", 0.5, 0.0)
    x = handle_of(drawer, 0.0).grip.x
    scene = Scene(0.0, (drawer, a("block", x - 0.08, 0.0)))
    assert "the block stands in the way of the drawer; move it away first" in refusal(
        library, ghost, "open_drawer", scene, "drawer"
    )
    beside = Scene(0.0, (drawer, a("vase", x, 0.06)))
    assert "the fingers do not fit around the handle of the drawer: the vase is too close" in refusal(
        library, ghost, "open_drawer", beside, "drawer"
    )


def test_a_handle_out_of_reach_is_told(library: SkillLibrary, ghost: Any) -> None:
    scene = Scene(0.0, (a("drawer", 0.34, 0.0),))
    assert "the end of the way of the drawer at" in refusal(library, ghost, "open_drawer", scene, "drawer")


def test_a_button_between_tall_things_is_refused(library: SkillLibrary, ghost: Any) -> None:
    ring = [(0.5 + 0.07 * math.cos(k), 0.07 * math.sin(k)) for k in (0.0, 1.05, 2.1, 3.14, 4.2, 5.2)]
    vases = [replace(a("vase", x, y), name=f"vase {k}") for k, (x, y) in enumerate(ring)]
    told = refusal(library, ghost, "press", Scene(0.0, (a("button", 0.5, 0.0), *vases)), "button")
    assert "the hand does not fit above the button: the vase" in told


@pytest.mark.parametrize(
    ("x", "others", "told"),
    [
        (0.82, (), "the hand does not reach all of the stain"),
        (0.5, (("vase", 0.5, 0.03),), "the hand has no room over the stain: the vase is in the way; move that away"),
    ],
)
def test_a_stain_that_no_hand_can_wipe_is_refused(
    library: SkillLibrary, ghost: Any, x: float, others: tuple[tuple[str, float, float], ...], told: str
) -> None:
    sponge = replace(a("sponge", 0.307, 0.0), position=(0.307, 0.0, 0.482))
    scene = Scene(0.0, (a("stain", x, 0.0), sponge, *(a(*other) for other in others)), "sponge")
    assert told in refusal(library, ghost, "wipe", scene, "stain")


@pytest.mark.parametrize(
    ("atom", "kind", "shows"), [("open", "drawer", open_), ("lit", "button", lit), ("clean", "stain", clean)]
)
def test_a_forecast_shows_what_furniture_will_be_like(atom: str, kind: str, shows: Any) -> None:
    scene = Scene(0.0, (a(kind, 0.5, 0.0),))
    goal = Goal("1", parse_atom(f"{atom}(object)", ("object",)), {"object": kind}, "", {})
    assert not shows(scene, kind)
    assert shows(predict(scene, (goal,)), kind)


def test_the_words_of_furniture_are_read() -> None:
    assert [item.kind for item in parse_objects("drawer, button, stain, yellow sponge")] == [
        "drawer", "button", "stain", "sponge",
    ]  # fmt: skip


def test_a_predicted_scene_shows_the_same_arm() -> None:
    scene = Scene(0.0, (a("drawer", 0.5, 0.0),), arm="another")
    goal = Goal("1", parse_atom("open(object)", ("object",)), {"object": "drawer"}, "", {})
    assert predict(scene, (goal,)).arm == "another"


def test_a_forecast_leads_the_hand_to_the_handle_and_along_with_it(library: SkillLibrary) -> None:
    drawer = a("drawer", 0.5, 0.1)
    before = Scene(0.0, (drawer,), robot=rest_pose(PANDA.shape).pose())
    promised = replace(before, objects=(in_state(drawer, OPEN_AT),))
    signature = library.find("open_drawer").manifest.signature
    points = [point.position for point in signature.forecast(SkillCall({"object": "drawer"}, before, promised)).points]
    for state in (0.0, OPEN_AT):
        grip = handle_of(drawer, state).grip
        assert min(math.dist(point, (grip.x, grip.y, grip.z)) for point in points) < 0.005
