"""The Gymnasium environment over worlds and skills."""

from __future__ import annotations

import pytest

from llm_planner.errors import InputError

gymnasium = pytest.importorskip("gymnasium")

CALLS = ('pick("red block")', 'place_in("green bowl")')
OBJECTS = "red block, green bowl"


@pytest.fixture
def make():
    """Makes an environment; a wrong one raises."""
    from llm_planner.gym_env import SkillEnv

    return lambda calls=CALLS, goal="in(red block, green bowl)": SkillEnv(calls, goal, objects=OBJECTS)


def test_it_keeps_the_interface_of_gymnasium(make):
    from gymnasium.utils.env_checker import check_env

    check_env(make(), skip_render_check=True)


def test_the_goal_ends_an_episode(make):
    env = make()
    observation, _ = env.reset(seed=3)
    assert observation.shape == (2, 6)
    rewards = [env.step(action)[1] for action in (0, 1)]
    assert rewards == [0.0, 1.0]


def test_a_call_that_cannot_start_changes_nothing(make):
    env = make()
    env.reset(seed=3)
    _, reward, terminated, _, info = env.step(1)
    assert (reward, terminated, info["succeeded"]) == (0.0, False, False)
    assert "pick something up first" in info["message"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"calls": ("dance()",)}, "there is no skill 'dance'; the skills are: "),
        ({"calls": ("pick",)}, "'pick' is not a skill call"),
        ({"goal": "red block"}, "'red block' is not a proposition"),
        ({"goal": "holding(zebra)"}, "zebra"),
        ({"calls": ('pick("zebra")',)}, "cannot take 'zebra' as object"),
    ],
)
def test_what_is_wrong_is_refused(make, wrong, message):
    with pytest.raises(InputError, match=message):
        make(**wrong)


def test_drawn_objects_stay_the_same_from_episode_to_episode():
    from llm_planner.gym_env import SkillEnv
    from llm_planner.simulation.worlds import open_world

    first = open_world("tabletop", 0).scene().objects[0].name
    env = SkillEnv(("go_home()",), f"moved({first})")
    shapes = {env.reset(seed=seed)[0].shape for seed in (1, 2, 3)}
    assert shapes == {env.observation_space.shape}


def test_steps_that_make_no_sense_are_refused(make):
    env = make()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=3)
    with pytest.raises(InputError, match="an action is a whole number from 0 to 1, not -1"):
        env.step(-1)
