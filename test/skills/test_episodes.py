"""Whole skills in physics: success is what the simulator's scene shows."""

from typing import Any

import numpy as np
import pytest

from llm_planner.control.mpc import Status
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory, MotionReference, Observation
from llm_planner.scene import predicates
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode, EpisodeSettings
from llm_planner.skills.library import SkillLibrary

PANDA = arm_model("panda")

OBJECTS = "red block, blue block, green bowl, vase"


@pytest.fixture(scope="module")
def world() -> World:
    return open_world(seed=1, objects=parse_objects(OBJECTS))


@pytest.fixture
def episode(world: World) -> Episode:
    world.reset(1, parse_objects(OBJECTS))
    return Episode(world)


def test_a_block_is_stacked_on_another_within_the_limits(world: World, episode: Episode, library: SkillLibrary) -> None:
    assert episode.run(library.find("pick"), {"object": "red block"}) == SkillResult(SkillErrorCode.SUCCEEDED)
    assert world.scene().held == "red block"
    assert episode.run(library.find("place_on"), {"object": "blue block"}) == SkillResult(SkillErrorCode.SUCCEEDED)

    assert predicates.on(world.scene(), "red block", "blue block")
    assert world.time < 10.0
    assert not world.limit_watch.exceeded


def test_a_block_is_put_into_a_bowl_and_taken_out_again(world: World, episode: Episode, library: SkillLibrary) -> None:
    episode.run(library.find("pick"), {"object": "blue block"})
    episode.run(library.find("place_in"), {"object": "green bowl"})
    assert predicates.in_(world.scene(), "blue block", "green bowl")

    assert episode.run(library.find("pick"), {"object": "blue block"}).code is SkillErrorCode.SUCCEEDED
    episode.run(library.find("place_at"), {"place": "bottom right corner"})
    assert predicates.at(world.scene(), "blue block", "bottom right corner")
    assert not world.limit_watch.exceeded


@pytest.mark.parametrize("name", ["green bowl", "vase"])
def test_a_bowl_and_a_vase_are_carried_to_a_corner(
    world: World, episode: Episode, library: SkillLibrary, name: str
) -> None:
    episode.run(library.find("pick"), {"object": name})
    result = episode.run(library.find("place_at"), {"place": "top right corner"})

    assert result.code is SkillErrorCode.SUCCEEDED
    assert predicates.at(world.scene(), name, "top right corner")
    assert predicates.on_table(world.scene(), name)


def test_a_block_is_put_down_at_an_offset_from_where_it_was(
    world: World, episode: Episode, library: SkillLibrary
) -> None:
    before = world.scene().find("red block").position
    direction = "right" if before[1] > 0 else "left"
    episode.run(library.find("pick"), {"object": "red block"})
    result = episode.run(library.find("place_offset"), {"direction": direction, "distance": 0.05})

    assert result.code is SkillErrorCode.SUCCEEDED
    after = world.scene().find("red block").position
    assert abs(predicates.displacement(before, world.scene(), "red block", direction) - 0.05) < 0.005
    assert abs(after[0] - before[0]) < 0.005


def test_a_block_is_pushed(world: World, library: SkillLibrary) -> None:
    world.reset(4, parse_objects("red block, vase"))
    episode = Episode(world)
    before = world.scene().find("red block").position
    direction = "right" if before[1] > 0 else "left"
    result = episode.run(library.find("push"), {"object": "red block", "direction": direction, "distance": 0.08})

    assert result.code is SkillErrorCode.SUCCEEDED
    assert predicates.moved(before, world.scene(), "red block", direction, 0.08)
    assert not world.limit_watch.exceeded


def test_a_skill_that_is_stopped_leaves_the_arm_at_rest(world: World, episode: Episode, library: SkillLibrary) -> None:
    result = episode.run(library.find("pick"), {"object": "red block"}, cancelled=lambda now: now.time > 0.8)

    assert result == SkillResult(SkillErrorCode.CANCELED, "pick was stopped")
    assert np.abs(world.joint_state().qvel).max() < 0.02
    assert world.time < 1.6
    assert not world.limit_watch.exceeded


def test_a_skill_that_cannot_begin_moves_nothing(world: World, episode: Episode, library: SkillLibrary) -> None:
    result = episode.run(library.find("place_on"), {"object": "blue block"})

    assert result.code is SkillErrorCode.PRECONDITION_FAILED
    assert world.time == 0.0


def test_the_same_seed_gives_the_same_episode(world: World, library: SkillLibrary) -> None:
    ends = []
    for _ in range(2):
        world.reset(2, parse_objects(OBJECTS))
        Episode(world).run(library.find("pick"), {"object": "red block"})
        ends.append((world.time, world.scene().find("red block").position))

    assert ends[0] == ends[1]


def test_a_width_that_is_not_a_number_leaves_the_fingers_alone(world: World, episode: Episode) -> None:
    home = np.array(PANDA.home)
    rest = JointTrajectory(world.time, 0.5, np.array([home, home]), np.zeros((2, 7)), np.zeros((1, 7)), float("nan"))
    world.follow(rest, 0.5)

    assert world.gripper_width() == pytest.approx(0.08, abs=0.001)


class OneReference:
    """A skill that asks for one place for a second, and says what it was shown."""

    name = "one_reference"

    def __init__(self) -> None:
        self.seen: list[Observation] = []

    def start(self, arguments: Any, observation: Observation) -> "OneReference":
        self.phase, self._until = "hold", observation.time + 1.0
        return self

    def step(self, observation: Observation) -> Any:
        self.seen.append(observation)
        if observation.time > self._until:
            return SkillResult(SkillErrorCode.SUCCEEDED)
        return MotionReference(observation.time, 0.05, (observation.T_base_gripper,), 0.08)


@pytest.mark.parametrize("control_period", [0.02, 0.05, 0.1])
def test_any_skill_behind_the_contract_runs_at_its_rate(world: World, episode: Episode, control_period: float) -> None:
    skill = OneReference()
    quick = Episode(world, episode.controller, EpisodeSettings(control_period=control_period))
    assert quick.run(skill, {}).code is SkillErrorCode.SUCCEEDED

    times = [observation.time for observation in skill.seen]
    assert np.diff(times) == pytest.approx(0.1)
    assert skill.seen[0].origins["vase"] == skill.seen[0].scene.find("vase").position
    assert quick.controller.statistics.status in (Status.HOLDING, Status.BRAKING)
