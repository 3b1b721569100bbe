"""Two bases in one simulated building: one clock, the same things, contacts between bases counted."""

from __future__ import annotations

import pytest

from llm_planner.errors import InputError
from llm_planner.robots.mobile_base import CLOSED_WIDTH, GRIP_REACH
from llm_planner.scene.scene import Scene
from llm_planner.scene.shared_building import SharedBuilding
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.rooms.shared_world import BuildingWorld
from llm_planner.simulation.worlds import file_of, open_shared_world, open_world, read_shared_world, read_world

TWO_BASES = read_shared_world("two_bases")


@pytest.fixture
def world() -> BuildingWorld:
    return BuildingWorld(TWO_BASES, seed=1, objects=parse_things("mug, Anna"))


def test_the_world_has_two_bases_at_rest_in_different_rooms(world):
    assert isinstance(TWO_BASES, SharedBuilding)
    assert {name: robot.scene().robot_room for name, robot in world.robots.items()} == {
        "left": "library",
        "right": "workshop",
    }
    assert len({robot.scene().objects for robot in world.robots.values()}) == 1


def test_a_base_drives_while_the_other_one_stands_still_on_the_same_clock(world):
    left, right = world.robots.values()
    before = right.joint_state().qpos
    left.drive((0.5, 0.0, 0.0), 1.0)
    world.advance(1.0)
    world.advance(1.0)
    assert left.position == pytest.approx((-4.4, -3.55 + 0.5 * 1.9), abs=0.06)
    assert right.joint_state().qpos == pytest.approx(before, abs=1e-6)
    assert left.time == right.time == pytest.approx(2.0)
    assert world.touches == 0


def test_what_one_base_carries_moves_with_it_for_both(world):
    left, right = world.robots.values()
    x, y, _ = left.scene().find("mug").position
    world.data.qpos[left.dofs] = x - GRIP_REACH, y, 0.0
    left.grip(CLOSED_WIDTH)
    left.drive((-0.3, 0.0, 0.0), 1.0)
    world.advance(1.0)
    assert (left.scene().held, right.scene().held) == ("mug", "")
    assert right.scene().find("mug").position[:2] == pytest.approx(left.position)


def test_contacts_between_bases_are_counted(world):
    left, right = world.robots.values()
    world.data.qpos[left.dofs] = 1.0, 0.0, 0.0
    world.data.qpos[right.dofs] = 1.6, 0.0, 0.0
    left.drive((0.5, 0.0, 0.0), 1.0)
    world.advance(1.0)
    assert world.touches > 0


def test_all_bases_start_over_together(world):
    left, right = world.robots.values()
    left.drive((0.5, 0.0, 0.0), 1.0)
    world.advance(1.0)
    world.reset(seed=1)
    assert left.time == right.time == 0.0
    assert left.position == pytest.approx((-4.4, -3.55))
    world.advance(0.5)
    assert left.position == pytest.approx((-4.4, -3.55)), "what it was told before is forgotten"
    with pytest.raises(InputError, match="this base shares its building; reset the building instead"):
        left.reset(0)


def test_a_file_may_say_what_is_in_the_building(tmp_path):
    path = tmp_path / "home.yaml"
    path.write_text(file_of("two_bases").read_text() + "objects: [{name: mug, x: 0.0, y: 3.0}]\n")
    world = open_shared_world(str(path))
    assert [item.name for item in world.robots["right"].scene().objects] == ["mug"]
    with pytest.raises(InputError, match="says what is in this world"):
        open_shared_world(str(path), objects=parse_things("mug"))
    with pytest.raises(InputError, match="has several robots: start them with llm-planner up --world"):
        open_world(str(path))


LEFT = "left: {x: -4.4, y: -3.55, yaw: 1.5708}"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("rooms:\n", "start: {x: 0, y: 0}\nrooms:\n", "each of several robots has its own start: leave start out"),
        (
            LEFT,
            "left: {robot: ur5e, x: 0, y: 0}",
            "robots.left.robot is 'ur5e', but both are mobile bases: leave robot out",
        ),
        (LEFT, f"{LEFT}\n  up: {{x: 0, y: 0.2}}", "needs two robots with different names, not left, up, right"),
        (LEFT, "left: {x: -0.1, y: 0}", r"'left' at \(-0.1, 0\) needs 0.25 m to every wall of the hall"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, old, new, why):
    path = tmp_path / "home.yaml"
    path.write_text(file_of("two_bases").read_text().replace(old, new))
    for read in (read_shared_world, lambda name: read_world(path)):
        with pytest.raises(InputError, match=why):
            read(str(path))


def test_the_file_is_a_scene_with_the_first_robot():
    scene = read_world(file_of("two_bases"))
    assert isinstance(scene, Scene)
    assert (scene.robot_kind, scene.robot_room) == ("mobile", "library")
