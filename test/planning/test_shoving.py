"""What a push takes along: foreseen never to be less than what happens."""

from math import dist

import pytest

from llm_planner.plans.prediction import DOUBTFUL, LEAST, pushed, shoved
from llm_planner.scene.places import direction_vector
from llm_planner.scene.propositions import MOVED_DISTANCE
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills

PUSH = load_skills().find("push")
THINGS = parse_objects("red block, blue block, vase, mug, green bowl, yellow block")


def thing(name, x, y, size=(0.04, 0.04, 0.04), bottom=0.0):
    return SceneObject(name, name.split()[-1], "", (x, y, bottom + size[2] / 2), IDENTITY, size)


RED = thing("red block", 0.45, 0.3)
VASE_SIZE = (0.06, 0.06, 0.14)


def after_push(*others, distance=0.2, room=None):
    """The red block is pushed to the right, from y = 0.3 m."""
    scene = Scene(0.0, (*others, RED))
    x, y, z = RED.position
    goal = x, y - distance, z
    return scene, pushed(scene, "red block", goal) if room is None else pushed(scene, "red block", goal, room)


def shoved_by_push(*others, **settings):
    before, after = after_push(*others, **settings)
    return shoved(before, after, "red block")


def test_what_is_pushed_lies_at_its_goal_and_nothing_else_moves():
    before, after = after_push(thing("blue block", 0.6, 0.0), thing("vase", 0.45, -0.2, VASE_SIZE))
    assert after.find("red block").position == pytest.approx((0.45, 0.1, 0.02))
    assert shoved(before, after, "red block") == ()


def test_what_the_thing_meets_is_shoved_on_by_the_rest_of_the_way():
    _, after = after_push(thing("blue block", 0.45, 0.2))
    assert after.find("blue block").position == pytest.approx((0.45, 0.1 - 0.04, 0.02), abs=0.02)


def test_what_is_shoved_shoves_on_what_stands_behind_it():
    row = [thing("blue block", 0.45, 0.2), thing("green block", 0.45, 0.13), thing("grey block", 0.45, -0.2)]
    assert shoved_by_push(*row) == ("blue block", "green block")


def test_the_hand_behind_a_low_thing_meets_what_is_tall_beside_its_way():
    beside = 0.45 + 0.09
    assert shoved_by_push(thing("vase", beside, 0.15, VASE_SIZE)) == ("vase",)
    assert shoved_by_push(thing("blue block", beside, 0.15)) == ()  # the palm passes over it


def test_what_the_hand_goes_away_from_stays():
    assert shoved_by_push(thing("vase", 0.45, 0.42, VASE_SIZE), room=DOUBTFUL) == ()


def test_what_is_shoved_only_a_little_is_foreseen_to_be_moved_all_the_same():
    before, after = after_push(thing("blue block", 0.45, 0.065))
    assert dist(before.find("blue block").position, after.find("blue block").position) == pytest.approx(LEAST)
    assert LEAST > MOVED_DISTANCE


def test_with_more_room_more_may_be_shoved():
    close = thing("blue block", 0.45, 0.05)  # 1 cm beyond where the red one will lie
    assert shoved_by_push(close) == ()
    assert shoved_by_push(close, room=DOUBTFUL) == ("blue block",)


def test_what_lies_on_a_thing_or_bears_it_comes_along():
    assert shoved_by_push(thing("blue block", 0.45, 0.3, bottom=0.04)) == ("blue block",)
    assert shoved_by_push(thing("plate", 0.46, 0.2, (0.2, 0.2, 0.02)), thing("mug", 0.46, 0.17)) == ("plate", "mug")


def test_a_push_of_no_length_moves_nothing():
    before, after = after_push(thing("blue block", 0.45, 0.26), distance=0.0)
    assert after == before


@pytest.mark.parametrize(
    ("seed", "name", "direction", "distance"),
    [
        (7, "red block", "bottom", 0.15), (8, "blue block", "right", 0.24), (40, "red block", "top", 0.08),
        (24, "red block", "right", 0.21), (33, "yellow block", "left", 0.24), (39, "red block", "left", 0.08),
    ],
)  # fmt: skip
def test_whatever_a_simulated_push_shoves_was_foreseen(seed, name, direction, distance):
    world = open_world("tabletop", seed, THINGS)
    before = world.scene()
    (x, y, z), (ux, uy) = before.find(name).position, direction_vector(direction)
    Episode(world).run(PUSH, {"object": name, "direction": direction, "distance": distance})
    happened = {
        item.name for item in before.objects if dist(item.position, world.scene().find(item.name).position) > 0.002
    }
    foreseen = shoved(before, pushed(before, name, (x + ux * distance, y + uy * distance, z)), name)
    assert {name} < happened <= {name, *foreseen}
