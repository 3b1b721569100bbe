import pytest

from llm_planner.errors import InputError
from llm_planner.simulation.loaded import LoadedWorld, open_loaded
from llm_planner.simulation.world import World


def test_a_payload_that_lifts_the_arm_is_refused() -> None:
    with pytest.raises(InputError, match="a payload must weigh 0 kg or more, not -1"):
        LoadedWorld(-1.0, 0, [])


def test_a_world_is_opened_with_a_payload_or_without() -> None:
    loaded, plain = open_loaded("tabletop", 1.5, 0, []), open_loaded("tabletop", 0.0, 0, [])

    assert isinstance(loaded, World)
    assert loaded.model.body("payload").mass == 1.5
    assert type(plain) is World


def test_a_payload_needs_an_arm_to_hang_from() -> None:
    with pytest.raises(InputError, match="a payload of 2 kg hangs from an arm, and the world 'rooms' has none"):
        open_loaded("rooms", 2.0, 0, None)


@pytest.mark.parametrize("robot", ["ur5e", "fr3"])
def test_a_payload_hangs_from_any_arm(robot: str) -> None:
    world = open_loaded("tabletop", 1.0, 0, [], robot)

    assert isinstance(world, World)
    assert (world.arm.name, world.model.body("payload").mass.tolist()) == (robot, [1.0])
