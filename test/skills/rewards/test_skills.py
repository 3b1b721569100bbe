"""The skills that reward programs run in, with the controller, in physics; the scene says whether it is so."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from llm_planner.language.factory import ScriptedLanguageModel
from llm_planner.language.model import LanguageModel, ProgramReply
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planning import plan_command, plan_program
from llm_planner.programs.problems import ProgramError
from llm_planner.robots.motion import JointTrajectory
from llm_planner.scene.geometry import rotation_matrix, yaw_of
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills

LIBRARY = load_skills()


class Commanded(World):
    """Remembers the largest share of the limits in what it was commanded."""

    largest_velocity = largest_acceleration = 0.0

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        velocity = np.abs(trajectory.qvel / self.limits.qvel_max).max()
        acceleration = np.abs(trajectory.qacc / self.limits.qacc_max).max()
        self.largest_velocity = max(self.largest_velocity, float(velocity))
        self.largest_acceleration = max(self.largest_acceleration, float(acceleration))
        super().follow(trajectory, duration)


def tilt(world: World, name: str) -> float:
    return math.degrees(math.acos(min(1.0, rotation_matrix(world.scene().find(name).orientation)[2][2])))


def achieve(world: World, rewards: str) -> SkillResult:
    return Episode(world).run(LIBRARY.find("achieve"), {"rewards": rewards})


def test_a_sentence_that_no_skill_knows_is_carried_out(listed_model: Callable[..., LanguageModel]) -> None:
    world = open_world("tabletop", 3, parse_objects("vase, red block, green bowl"))
    skills = LIBRARY.for_scene(world.scene()).signatures
    command = "push the block right up to the bowl"
    model = listed_model({command: 'touch("block", "bowl")'})
    report = run_command(command, Workcell(world, LIBRARY), lambda scene: plan_command(command, scene, skills, model))
    assert report.outcome.value == "done"
    block, bowl = (world.scene().find(name) for name in ("red block", "green bowl"))
    assert math.dist(block.position[:2], bowl.position[:2]) < (block.size[0] + bowl.size[0]) / 2 + 0.02


def test_a_model_that_writes_a_wrong_reward_program_hears_what_is_wrong_with_it() -> None:
    scene = open_world("tabletop", 3, parse_objects("vase, red block")).scene()
    wrong, right = "achieve(\"reach(tip('vase') >= 80)\")", "achieve(\"reach(tilt('vase') >= 80)\")"
    model = ScriptedLanguageModel({"over with the vase": [ProgramReply(wrong), ProgramReply(right)]})
    planned = plan_command("over with the vase", scene, LIBRARY.for_scene(scene).signatures, model)
    assert [step.arguments["rewards"] for step in planned.plan.steps] == ["reach(tilt('vase') >= 80)"]
    (problem,) = model.requests[-1].attempts[0].problems
    assert "there is no term 'tip'; the terms are: distance, gap, height, tilt" in problem


def test_a_thing_is_pushed_up_to_another_and_the_commands_keep_the_limits() -> None:
    world = Commanded(2, parse_objects("red block, blue block, vase"))
    result = achieve(world, "reach(gap('red block', 'blue block') <= 0.005); keep(moved('vase') <= 0.01)")
    assert result.code is SkillErrorCode.SUCCEEDED
    red, blue = (world.scene().find(name).position for name in ("red block", "blue block"))
    assert math.dist(red[:2], blue[:2]) < 0.065
    assert world.largest_velocity <= 1.0
    assert world.largest_acceleration <= 1.0


def test_what_is_held_is_tilted_and_stays_held() -> None:
    world = open_world("tabletop", 0, parse_objects("mug, red block"))
    episode = Episode(world)
    assert episode.run(LIBRARY.find("pick"), {"object": "mug"}).code is SkillErrorCode.SUCCEEDED
    rewards = "reach(tilt('mug') == 60); reach(height('mug') >= 0.1)"
    assert episode.run(LIBRARY.find("achieve"), {"rewards": rewards}).code is SkillErrorCode.SUCCEEDED
    assert world.scene().held == "mug"
    assert tilt(world, "mug") == pytest.approx(60.0, abs=8.0)


def test_the_same_scene_leads_to_the_same_motion() -> None:
    ends = []
    for _ in range(2):
        world = open_world("tabletop", 4, parse_objects("red block, vase"))
        achieve(world, "reach(progress('red block', 'left') >= 0.05)")
        ends.append(world.scene().find("red block").position)
    assert ends[0] == ends[1]


def test_where_all_is_so_already_nothing_is_touched() -> None:
    world = open_world("tabletop", 0, parse_objects("vase"))
    before = world.scene().find("vase").position
    assert achieve(world, "reach(tilt('vase') <= 5)").code is SkillErrorCode.SUCCEEDED
    assert world.scene().find("vase").position == pytest.approx(before, abs=1e-3)
    assert world.time < 2.0


def test_what_cannot_be_reached_is_told_with_what_is_so_instead() -> None:
    world = open_world("tabletop", 0, parse_objects("vase"))
    result = achieve(world, "reach(height('vase') >= 0.9)")
    assert result.code is SkillErrorCode.EFFECT_MISSING
    assert result.message.startswith("height('vase') >= 0.9 was asked for, and it is ")


def test_wrong_rewards_are_refused_by_the_skill_and_by_the_checker_of_programs() -> None:
    world = open_world("tabletop", 0, parse_objects("vase"))
    result = achieve(world, "reach(tilt('mug') >= 80)")
    assert result.code is SkillErrorCode.INVALID_ARGUMENT
    assert 'achieve cannot take these rewards: line 1, column 12: tilt: "mug" is not a valid argument' in result.message
    skills = LIBRARY.for_scene(world.scene()).signatures
    with pytest.raises(ProgramError, match="achieve: rewards: there is no term 'tllt'"):
        plan_program("x", "achieve(\"reach(tllt('vase') >= 80)\")", world.scene(), skills)
    with pytest.raises(ProgramError, match="achieve: rewards must be a reward program as a string, not 3"):
        plan_program("x", "achieve(3)", world.scene(), skills)


def test_a_base_turns_its_back_without_leaving_its_place() -> None:
    world = open_world("rooms", 1, parse_things("plant, parcel, Anna"))
    x, y, _ = world.scene().robot.position  # type: ignore[union-attr]
    ax, ay, _ = world.scene().find("Anna").position
    result = Episode(world).run(
        LIBRARY.find("manoeuvre"), {"rewards": "reach(facing('robot', 'Anna') >= 170); keep(moved('robot') <= 0.1)"}
    )
    assert result.code is SkillErrorCode.SUCCEEDED
    robot = world.scene().robot
    assert robot is not None
    away = abs(math.degrees(math.remainder(yaw_of(robot) - math.atan2(ay - y, ax - x), math.tau)))
    assert away > 160.0
    assert math.dist(robot.position[:2], (x, y)) < 0.15


def test_a_base_that_cannot_get_there_says_what_is_so_instead() -> None:
    world = open_world("rooms", 1, parse_things("plant, parcel, Anna"))
    result = Episode(world).run(LIBRARY.find("manoeuvre"), {"rewards": "reach(moved('robot') >= 25)"})
    assert result.code is SkillErrorCode.EFFECT_MISSING
    assert "moved('robot') >= 25 was asked for" in result.message


def test_a_base_outside_of_every_room_does_not_manoeuvre() -> None:
    world = open_world("rooms", 1, parse_things("plant, parcel"))
    world.data.qpos[:2] = 99.0
    world.settle()
    result = Episode(world).run(LIBRARY.find("manoeuvre"), {"rewards": "reach(turned('robot') >= 90)"})
    assert result.code is SkillErrorCode.PRECONDITION_FAILED
    assert "the base is in no room of a building" in result.message
