import math

import pytest

from llm_planner.control.keep_out import KeepOutSettings
from llm_planner.errors import InputError
from llm_planner.robots.carried import Carried, Grip, carried_at, carried_in
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.scene.zones import Shape

HALF = math.sqrt(0.5)


def test_what_is_held_is_a_box_in_the_frame_of_the_gripper_point() -> None:
    down = Pose((0.5, 0.1, 0.3), (1.0, 0.0, 0.0, 0.0))
    held = carried_at(down, Pose((0.5, 0.12, 0.25)), (0.04, 0.06, 0.2))
    assert held.shape is Shape.BOX
    assert held.size == pytest.approx((0.02, 0.03, 0.1))
    assert held.pose.position == pytest.approx((0.0, -0.02, 0.05)), "z points out of the hand, here down"
    assert [abs(part) for part in held.pose.orientation] == pytest.approx([1.0, 0.0, 0.0, 0.0])


def test_a_turned_gripper_sees_the_thing_turned_the_other_way() -> None:
    held = carried_at(Pose((0.0, 0.0, 0.0), (0.0, 0.0, HALF, HALF)), Pose((0.0, 0.1, 0.0)), (0.02, 0.02, 0.02))
    assert held.pose.position == pytest.approx((0.1, 0.0, 0.0))
    assert held.pose.orientation == pytest.approx((0.0, 0.0, -HALF, HALF))


def test_what_a_scene_says_is_held_is_carried() -> None:
    block = SceneObject("red block", "block", "red", (0.5, 0.0, 0.1), (0.0, 0.0, 0.0, 1.0), (0.04, 0.06, 0.08))
    hand = Pose((0.5, 0.0, 0.12), (1.0, 0.0, 0.0, 0.0))
    carried = carried_in(Scene(0.0, (block,), "red block", hand))
    assert carried is not None
    assert carried.size == pytest.approx((0.02, 0.03, 0.04))
    assert carried.pose.position == pytest.approx((0.0, 0.0, 0.02))
    assert carried_in(Scene(0.0, (block,), "", hand)) is None
    assert carried_in(Scene(0.0, (block,), "red block")) is None


@pytest.mark.parametrize("size", [(0.1,), (0.1, 0.1, -0.1), (0.1, 0.1, math.nan)])
def test_what_no_solid_is_cannot_be_held(size: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="what is carried is a box, which has 3 half sizes between 0 and 100 m, not"):
        Carried(Shape.BOX, size, Pose((0.0, 0.0, 0.0)))


@pytest.mark.parametrize(
    "pose", [Pose((math.inf, 0.0, 0.0)), Pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.5))], ids=["place", "rotation"]
)
def test_what_is_nowhere_cannot_be_held(pose: Pose) -> None:
    with pytest.raises(InputError, match="the pose of what is carried is not a finite position and rotation"):
        Carried(Shape.SPHERE, (0.1,), pose)


@pytest.mark.parametrize("change", [{"margin": -0.01}, {"lag": -1.0}, {"heed": -0.1}, {"pairs": 0}])
def test_settings_that_keep_nothing_out_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(InputError, match="margin, lag and heed must not be negative, and pairs at least 1"):
        KeepOutSettings(**change)  # type: ignore[arg-type]


HAND = Pose((0.5, 0.0, 0.12), (1.0, 0.0, 0.0, 0.0))


def holding(x: float = 0.5, orientation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)) -> Scene:
    block = SceneObject("red block", "block", "red", (x, 0.0, 0.1), orientation, (0.04, 0.06, 0.08))
    return Scene(0.0, (block,), "red block", HAND)


def test_a_grip_changes_with_what_is_taken_and_let_go() -> None:
    grip = Grip()

    assert grip.see(holding())
    assert grip.carried == carried_in(holding())
    assert grip.see(Scene(0.0, holding().objects, "", HAND))
    assert grip.carried is None
    assert not grip.see(Scene(1.0, (), "", HAND))


@pytest.mark.parametrize(
    ("scene", "changed"),
    [
        (holding(x=0.501), False),
        (holding(x=0.51), True),
        (holding(orientation=(0.0, 0.0, 0.0, -1.0)), False),
        (holding(orientation=(0.0, 0.0, 0.1, math.sqrt(0.99))), True),
    ],
    ids=["trembles", "slips", "same turn", "turns"],
)
def test_a_thing_that_slips_in_the_hand_is_held_otherwise(scene: Scene, changed: bool) -> None:
    grip = Grip()
    grip.see(holding())

    assert grip.see(scene) is changed


def test_while_nobody_sees_the_hand_what_was_held_counts_as_held() -> None:
    grip = Grip()
    grip.see(holding())

    assert not grip.see(Scene(1.0, holding().objects, "red block"))
    assert grip.carried is not None


def test_what_is_held_and_not_shown_keeps_its_last_body() -> None:
    grip = Grip()
    grip.see(holding())

    assert not grip.see(Scene(1.0, (), "red block", HAND))
    assert grip.carried == carried_in(holding())


def test_what_is_held_and_was_never_shown_counts_as_a_large_box_around_the_hand() -> None:
    grip = Grip()

    assert grip.see(Scene(1.0, (), "ghost", HAND))
    assert grip.carried is not None
    assert grip.carried.size == (0.1, 0.1, 0.1)
    assert grip.carried.pose.position == pytest.approx((0.0, 0.0, 0.0))
