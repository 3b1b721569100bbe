"""Drawers, buttons and stains: where they stand, what is done to them, and that copies of the world know it."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.predicates import clean, closed, lit, open_
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.objects import ObjectSpec, object_kind, parse_objects
from llm_planner.simulation.tabletop import draw_layout
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world

PANDA = arm_model("panda")

FURNITURE = parse_objects("drawer, button, stain, sponge")


def with_state(scene: Scene, name: str, state: float) -> Scene:
    """The scene with something done to a piece of furniture; a drawer's box grows with it."""
    item = scene.find(name)
    kind = object_kind(item.kind)
    changed = replace(item, state=state, size=kind.size_at(state))
    return replace(scene, objects=tuple(changed if other is item else other for other in scene.objects))


def handle(item: SceneObject, state: float) -> np.ndarray:
    """Where a drawer's handle is taken while it is `state` [m] out, whatever it is now."""
    kind, yaw = object_kind(item.kind), 2 * math.atan2(item.orientation[2], item.orientation[3])
    along = kind.grasps[0].point[0] - kind.middle_at(item.state)[0] - state
    return np.array([item.position[0] + math.cos(yaw) * along, item.position[1] + math.sin(yaw) * along, 0.036])


def grasp_yaw(item: SceneObject) -> float:
    return 2 * math.atan2(item.orientation[2], item.orientation[3])


@pytest.mark.parametrize("seed", range(20))
def test_the_hand_reaches_the_handle_of_a_drawer_all_its_way(seed: int) -> None:
    objects = parse_objects("drawer, red block, mug")
    item = open_world(seed=seed, objects=objects).scene().find("drawer")
    facing = math.atan2(*handle(item, 0.1)[1::-1])
    for state in (0.0, 0.1):
        assert PANDA.shape.reaches(*handle(item, state)[:2])
    assert abs(grasp_yaw(item) - facing) < math.radians(45)


def test_a_new_drawer_is_closed_a_lamp_dark_and_a_stain_whole() -> None:
    scene = open_world(seed=1, objects=FURNITURE).scene()
    assert [item.state for item in scene.objects] == pytest.approx([0.0, 0.0, 1.0, 0.0], abs=1e-6)
    assert closed(scene, "drawer")
    assert not lit(scene, "button")
    assert not clean(scene, "stain")


def test_furniture_stays_where_it_is_when_it_is_hit(hand: Callable[[World], Any]) -> None:
    world = open_world(seed=2, objects=parse_objects("button"))
    before, fingers = world.scene().find("button"), hand(world)
    x, y, _ = before.position
    fingers.move(np.array([x - 0.1, y, 0.10]), width=0.0)
    fingers.move(np.array([x - 0.1, y, 0.02]))
    fingers.move(np.array([x - 0.03, y, 0.02]))
    assert world.scene().find("button") == before


def test_a_drawer_is_pulled_out_by_its_handle_and_its_box_grows(hand: Callable[[World], Any]) -> None:
    world = open_world(seed=2, objects=parse_objects("drawer"))
    item, fingers = world.scene().find("drawer"), hand(world)
    yaw = grasp_yaw(item)
    fingers.move(handle(item, 0.0) + np.array([0.0, 0.0, 0.1]), yaw, 2.0, width=0.08)
    fingers.move(handle(item, 0.0), yaw)
    fingers.wait(width=0.0)
    assert world.scene().held == ""  # nobody carries a drawer
    fingers.move(handle(item, 0.08), yaw, 2.0)
    now = world.scene().find("drawer")
    assert now.state == pytest.approx(0.08, abs=0.01)
    assert open_(world.scene(), "drawer")
    assert now.size[0] == pytest.approx(item.size[0] + now.state)
    assert handle(now, now.state) == pytest.approx(handle(item, now.state), abs=1e-6)


def test_a_button_is_lit_once_pressed_far_enough_and_stays_lit(hand: Callable[[World], Any]) -> None:
    world = open_world(seed=2, objects=parse_objects("button"))
    (x, y, _), fingers = world.scene().find("button").position, hand(world)
    top = world.scene().find("button").size[2] + 0.0095
    fingers.move(np.array([x, y, top + 0.05]), seconds=2.0, width=0.0)
    fingers.move(np.array([x, y, top - 0.003]))
    assert world.scene().find("button").state == 0.0
    fingers.move(np.array([x, y, top - 0.009]))
    fingers.move(np.array([x, y, top + 0.05]))
    assert lit(world.scene(), "button")


def test_a_stain_goes_where_something_passes_on_the_table_and_nowhere_else(hand: Callable[[World], Any]) -> None:
    world = open_world(seed=2, objects=parse_objects("stain"))
    (x, y, _), fingers = world.scene().find("stain").position, hand(world)
    fingers.move(np.array([x, y - 0.08, 0.05]), seconds=2.0, width=0.0)
    for height, left in ((0.03, 1.0), (0.0115, 0.8)):
        fingers.move(np.array([x, y - 0.08, height]))
        fingers.move(np.array([x, y + 0.08, height]))
        fingers.move(np.array([x, y + 0.08, 0.05]))
        fingers.move(np.array([x, y - 0.08, 0.05]))
        assert world.scene().find("stain").state == pytest.approx(left, abs=0.12)
    assert world.scene().find("stain").state < 0.95


def test_a_copy_has_what_was_done() -> None:
    scene = open_world(seed=3, objects=FURNITURE).scene()
    for name, state in (("drawer", 0.05), ("button", 1.0), ("stain", 0.4)):
        scene = with_state(scene, name, state)
    copy = World(0, ())
    copy.lay_out(scene)
    for item in scene.objects:
        there = copy.scene().find(item.name)
        assert there.state == pytest.approx(item.state, abs=0.01)
        assert there.position == pytest.approx(item.position, abs=1e-3)
        assert there.size == pytest.approx(item.size, abs=1e-3)


@pytest.mark.parametrize("kind", ["block", "bowl", "mug", "vase", "plate", "sponge", "drawer", "button", "stain"])
@pytest.mark.parametrize("scale", [0.8, 1.05])
def test_a_scaled_thing_is_as_large_as_asked_for_and_at_rest(kind: str, scale: float) -> None:
    world = open_world(seed=4, objects=(ObjectSpec(kind, kind, "", scale),))
    (item,) = world.scene().objects
    assert item.size == pytest.approx(tuple(scale * extent for extent in object_kind(kind).size))
    assert item.position[2] == pytest.approx(item.size[2] / 2, abs=1e-3)
    copy = World(0, ())
    copy.lay_out(world.scene())
    assert copy.objects == world.objects


def test_a_larger_thing_weighs_more_and_keeps_more_room() -> None:
    small, large = object_kind("bowl", 0.8), object_kind("bowl", 1.2)
    assert large.mass / small.mass == pytest.approx(1.5**3)
    assert large.radius / small.radius == pytest.approx(1.5)
    places = draw_layout(
        [ObjectSpec(f"bowl {k}", "bowl", "", 1.2) for k in range(3)], np.random.default_rng(0), PANDA.shape
    )
    gaps = [math.dist((a.x, a.y), (b.x, b.y)) - 2 * large.radius for a in places for b in places if a is not b]
    assert min(gaps) >= 0.05
