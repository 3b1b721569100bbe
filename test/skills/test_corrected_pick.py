"""A correction such as "a bit to the left" while the hand is about to take an object: it still takes it."""

import math

import pytest

from llm_planner.simulation.objects import named
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills
from llm_planner.skills.tuning import TunedSkill, Tuning


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("offset", [(0.0, 0.02, 0.0), (-0.02, 0.0, 0.0)])
def test_a_shift_during_a_pick_goes_as_far_as_the_fingers_allow(offset, learned):
    world = open_world(seed=2, objects=named([("red", "block")]))
    episode, asked = Episode(world), []

    def wanted() -> Tuning:
        asked.append(world.time)
        return Tuning(offset if world.time > 1.0 else (0.0, 0.0, 0.0))  # said while the hand is on its way

    skill = TunedSkill(load_skills(learned=learned).find("pick"), wanted)
    place = world.scene().find("red block").position
    result = episode.run(skill, {"object": "red block"})
    assert result.code is SkillErrorCode.SUCCEEDED, result.message
    assert world.scene().held == "red block"
    assert math.dist(place[:2], world.scene().find("red block").position[:2]) > 0.004  # it was heeded
