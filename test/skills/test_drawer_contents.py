"""A drawer is opened, filled, closed, and emptied in physics; what cannot be done is refused with the next step."""

import math
from dataclasses import replace
from typing import Any

import pytest

from llm_planner.plans.plan import Goal
from llm_planner.plans.prediction import predict
from llm_planner.scene import furniture
from llm_planner.scene.atoms import parse_atom
from llm_planner.scene.predicates import clear, closed, contents, in_, on, on_table, open_
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.objects import ObjectSpec, in_state
from llm_planner.simulation.tabletop import Placement, standing
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import SkillLibrary

DONE = SkillResult(SkillErrorCode.SUCCEEDED)


def a(name: str, x: float, y: float, yaw: float = 0.0) -> SceneObject:
    color, _, kind = name.rpartition(" ")
    return standing(ObjectSpec(name, kind, color), Placement(x, y, yaw))


def put_into(item: SceneObject, drawer: SceneObject, spot: int = 0) -> SceneObject:
    """The thing in one of the places of the open tray, sides along its sides."""
    x, y = list(furniture.spots(drawer, item.size[1] / 2))[spot]
    z = furniture.floor_height(drawer) + item.size[2] / 2
    return replace(item, position=(x, y, z), orientation=drawer.orientation)


OPEN = in_state(a("drawer", 0.55, 0.1, 0.2), furniture.DRAWN)
RED, BLUE = a("red block", 0.4, -0.2, 0.3), a("blue block", 0.5, -0.25)


@pytest.fixture
def table(library: SkillLibrary) -> Any:
    """A world of these things, and `run`, which carries a skill out there."""

    def make(*items: SceneObject) -> tuple[World, Any]:
        world = World(0, ())
        world.lay_out(Scene(0.0, items))
        episode = Episode(world)
        return world, lambda name, thing: episode.run(library.find(name), {"object": thing})

    return make


def test_two_blocks_go_into_a_drawer_with_it_and_out_again(table: Any) -> None:
    world, run = table(a("drawer", 0.55, 0.1, 0.2), RED, BLUE, a("mug", 0.35, -0.35))
    assert run("open_drawer", "drawer") == DONE
    for name in ("red block", "blue block"):
        assert run("pick", name) == DONE
        assert run("place_in", "drawer") == DONE
    for name, state in (("close_drawer", closed), ("open_drawer", open_)):
        assert run(name, "drawer") == DONE
        assert state(world.scene(), "drawer")
        assert contents(world.scene(), "drawer") == ("red block", "blue block")
        assert in_(world.scene(), "red block", "drawer")
        assert in_(world.scene(), "blue block", "drawer")
    assert run("pick", "red block") == DONE
    assert contents(world.scene(), "drawer") == ("blue block",)


def test_what_is_taken_out_of_a_drawer_leaves_it_clear(table: Any, library: SkillLibrary) -> None:
    world, run = table(OPEN, put_into(RED, OPEN))
    assert run("pick", "red block") == DONE
    assert Episode(world).run(library.find("place_at"), {"place": "right side"}) == DONE
    assert clear(world.scene(), "drawer")
    assert on_table(world.scene(), "red block")


def test_a_closed_drawer_takes_and_gives_nothing(table: Any) -> None:
    shut = in_state(OPEN, 0.0)
    inside = replace(a("blue block", *furniture.tray(shut).center), position=(*furniture.tray(shut).center, 0.031))
    _, run = table(shut, RED, inside)
    refused = run("pick", "blue block")
    assert refused.code is SkillErrorCode.PRECONDITION_FAILED
    assert refused.message == "pick cannot start: the blue block lies in a closed drawer; open that first"
    assert run("pick", "red block") == DONE
    refused = run("place_in", "drawer")
    assert refused.code is SkillErrorCode.PRECONDITION_FAILED
    assert refused.message == "place_in cannot start: the drawer is closed; open it first"


@pytest.mark.parametrize("things", [(in_state(OPEN, 0.0),), (OPEN, put_into(BLUE, OPEN))])
def test_what_is_put_on_a_drawer_stands_on_its_cabinet(table: Any, things: tuple[SceneObject, ...]) -> None:
    """Whether it is closed, or open with something in it."""
    world, run = table(*things, RED)
    assert run("pick", "red block") == DONE
    assert run("place_on", "drawer") == DONE
    assert on(world.scene(), "red block", "drawer")
    assert not in_(world.scene(), "red block", "drawer")


def test_a_drawer_slides_under_what_stands_on_it(table: Any) -> None:
    shut = in_state(OPEN, 0.0)
    x, y = furniture.cabinet(shut).center
    world, run = table(shut, replace(RED, position=(x, y, furniture.HEIGHT + 0.02)))
    assert run("open_drawer", "drawer") == DONE
    assert on(world.scene(), "red block", "drawer")


def refusal(library: SkillLibrary, ghost: Any, *items: SceneObject) -> str:
    """What place_in says with the last thing in the hand."""
    held = items[-1]
    lifted = replace(held, position=(0.307, 0.0, 0.482))
    hand = ghost(Scene(0.0, (*items[:-1], lifted), held.name))
    return str(hand.run(library.find("place_in").start({"object": "drawer"}, hand.observation())).message)


def test_what_the_drawer_would_not_close_over_is_refused(library: SkillLibrary, ghost: Any) -> None:
    told = refusal(library, ghost, OPEN, a("mug", 0.3, 0.0))
    assert told == (
        "the mug does not fit into the drawer: it is 8.0 cm high, and the drawer closes over 4.8 cm at most; "
        "put it elsewhere"
    )


def test_a_thing_too_large_for_the_tray_is_refused(library: SkillLibrary, ghost: Any) -> None:
    told = refusal(library, ghost, OPEN, a("sponge", 0.3, 0.0))
    assert told == "the sponge does not fit into the drawer with the fingers around it; put it elsewhere"


def test_a_full_drawer_is_refused(library: SkillLibrary, ghost: Any) -> None:
    told = refusal(library, ghost, OPEN, put_into(RED, OPEN), put_into(BLUE, OPEN, 1), a("pink block", 0.3, 0.0))
    assert told.startswith("the pink block does not fit into the drawer beside the red block; take that out first")


def goal(atom: str, held: str = "") -> Goal:
    return Goal("1", parse_atom(atom, ("object",)), {"object": "drawer"}, held, {})


def test_a_forecast_puts_things_into_the_tray_side_by_side() -> None:
    scene = Scene(0.0, (OPEN, RED, BLUE))
    for held in ("red block", "blue block"):
        scene = predict(replace(scene, held=held), (goal("in(held, object)", held),))
    assert contents(scene, "drawer") == ("red block", "blue block")
    assert math.dist(scene.find("red block").position, scene.find("blue block").position) > 0.06


def test_a_forecast_takes_along_what_lies_in_a_drawer_and_nothing_that_stands_on_it() -> None:
    x, y = furniture.cabinet(OPEN).center
    top = replace(BLUE, position=(x, y, furniture.HEIGHT + 0.02))
    scene = predict(Scene(0.0, (OPEN, put_into(RED, OPEN), top)), (goal("closed(object)"),))
    assert closed(scene, "drawer")
    assert in_(scene, "red block", "drawer")
    assert math.dist(scene.find("red block").position, put_into(RED, OPEN).position) == pytest.approx(furniture.DRAWN)
    assert scene.find("blue block") == top
