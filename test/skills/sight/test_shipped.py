"""The skill that ships, in the simulator, with a camera that is really drawn."""

from dataclasses import replace

import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.share import share_folder
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.renderers import SceneCamera
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills
from llm_planner.skills.sight_picking import glimpse, load_sight

PANDA = arm_model("panda")


@pytest.fixture
def camera():
    with SceneCamera() as opened:
        yield opened


def test_it_takes_what_it_sees_wherever_the_scene_says_that_is(camera):
    """Every object's pose is shifted in what the skill is shown: only the picture is true."""
    world = World(3, parse_objects("red block, blue bowl, mug"))
    skill = load_skills(camera=lambda observation: camera(world.observation())).find("pick_by_sight")
    episode = Episode(world)

    def misled(observation):
        moved = [
            replace(item, position=(item.position[0] - 0.1, -item.position[1], item.position[2] + 0.01))
            for item in observation.scene.objects
        ]
        return replace(observation, scene=replace(observation.scene, objects=tuple(moved)))

    run, result = skill.start({"object": "red block"}, misled(episode.observe())), None
    while result is None:
        result = episode.advance(run, misled(episode.observe()))
    assert result.code is SkillErrorCode.SUCCEEDED
    assert world.scene().held == "red block"


def test_it_sees_what_is_there_and_not_what_is_not(camera):
    world = World(4, parse_objects("red block, blue bowl"))
    network = load_sight(share_folder("skills") / "pick_by_sight" / "policy.safetensors")
    picture = camera(world.observation())
    block = world.scene().find("red block").position
    there, absent = (glimpse(network, picture, "block", color, PANDA.shape) for color in ("red", "green"))
    assert (there.aim.grip.x, there.aim.grip.y) == pytest.approx(block[:2], abs=0.01)
    assert there.sure > absent.sure
