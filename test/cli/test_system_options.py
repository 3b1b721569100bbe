"""What `up` and `demo` start the nodes with."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from llm_planner.cli.system_options import USUAL_OBJECTS, add_system_options, requested_system
from llm_planner.errors import InputError
from llm_planner.ros.node_table import NODES

POLICY = Path(__file__).parents[2] / "config" / "privileges.yaml"


def parameters(*arguments: str, journal: Path | None = None, real: bool = False) -> dict[str, dict[str, str]]:
    parser = argparse.ArgumentParser()
    add_system_options(parser, of_launch=real)
    options = requested_system(vars(parser.parse_args(arguments)), journal).options
    return {name: dict(values) for name, values in options.parameters.items()}


def test_what_is_not_given_is_left_to_the_parameter_file():
    assert parameters() == {
        "simulator": {"world": "tabletop", "seed": "0", "objects": USUAL_OBJECTS["tabletop"]},
        "mpc_controller": {},
        "safety_filter": {},
        "skill_server": {},
        "plan_executor": {"viewpoint": "behind"},
        "language_planner": {"viewpoint": "behind", "model": "embedded"},
        "correction_listener": {"viewpoint": "behind", "model": "embedded"},
        "camera": {},
        "gripper": {},
        "recorder": {},
        "console": {},
    }


def test_a_recording_has_pictures_where_they_cannot_be_drawn_later_and_lies_beside_the_journal(tmp_path):
    assert "picture_rate" not in parameters()["recorder"]
    assert parameters("--camera")["recorder"]["picture_rate"] == "1.0"
    system = requested_system({"simulator": "false", "robot": "ur5e"}, tmp_path / "journal.sqlite")
    assert system.options.parameters["recorder"] == {
        "robot": "ur5e",
        "journal": str(tmp_path / "journal.sqlite"),
        "file": str(tmp_path / "recording.mcap"),
        "picture_rate": "1.0",
    }


def test_objects_are_drawn_from_a_seed_that_is_given_unless_they_are_named():
    assert parameters("--seed", "3")["simulator"] == {"world": "tabletop", "seed": "3"}
    assert parameters("--seed", "3", "--objects", "mug")["simulator"]["objects"] == "mug"


@pytest.mark.parametrize(
    ("arguments", "robot"),
    [
        (["--robot", "ur5e"], "ur5e"),
        (["--robot", "arm"], "arm"),
        (["--world", "rooms"], "mobile"),
        (["--world", "two_tables"], "mobile_ur5e"),
        (["--world", "two_tables", "--robot", "mobile_ur5e"], "mobile_ur5e"),
    ],
)
def test_every_node_is_told_which_robot_is_moved(arguments, robot):
    assert {name: values["robot"] for name, values in parameters(*arguments).items()} == {
        entry.name: robot for entry in NODES
    }


def test_an_arm_of_ones_own_is_named_by_its_folder_or_its_file():
    folder = Path(__file__).parents[2] / "config" / "robots" / "ur5e"
    for name in (folder, folder / "robot.yaml"):
        assert parameters("--robot", str(name))["mpc_controller"]["robot"] == str(name)


def test_a_world_file_names_the_robot_unless_another_is_asked_for(tmp_path):
    world = tmp_path / "world.yaml"
    world.write_text("robot: ur5e\n", encoding="utf-8")
    assert parameters("--world", str(world))["mpc_controller"]["robot"] == "ur5e"
    assert parameters("--world", str(world), "--robot", "fr3")["mpc_controller"]["robot"] == "fr3"


@pytest.mark.parametrize("robot", ["ur5e", "mobile"])
def test_what_moves_and_observes_a_real_robot_knows_that_it_is_real(robot):
    given = parameters("--no-simulator", "--robot", robot, real=True)
    assert [name for name, values in given.items() if values.get("simulator") == "false"] == [
        "mpc_controller",
        "safety_filter",
        "skill_server",
    ]
    assert given["gripper"] == {"robot": robot}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--robot", "ur7"], "robot: there is no robot 'ur7'; the robots are: fr3, mobile_ur5e, panda, so_arm, ur5e"),
        (["--robot", "mobile"], "robot: there is no robot 'mobile' in the world tabletop; its robot is: arm"),
        (["--robot", "ur5e", "--world", "rooms"], "there is no robot 'ur5e' in the world rooms; its robot is: mobile"),
        (["--robot", "panda", "--world", "two_tables"], "'panda' stands fixed; in two_tables choose mobile_ur5e"),
        (["--robot", "mobile_ur5e"], "'mobile_ur5e' is an arm on a mobile base, which drives in --world two_tables"),
    ],
)
def test_a_robot_that_is_not_there_is_told_before_anything_starts(arguments, message):
    with pytest.raises(InputError, match=message):
        parameters(*arguments)


def test_who_wants_skills_that_see_gives_all_who_know_skills_the_camera():
    given = parameters("--camera")
    assert [name for name, values in given.items() if values.get("camera") == "true"] == [
        "skill_server",
        "plan_executor",
        "language_planner",
        "correction_listener",
    ]


def test_a_model_from_a_table_of_commands_reads_no_corrections(tmp_path):
    script = tmp_path / "programs.yaml"
    script.write_text("wave: go_home()", encoding="utf-8")
    given = parameters("--model", "scripted", "--model-script", str(script))
    assert given["language_planner"]["model"] == "scripted"
    assert "model" not in given["correction_listener"]


def test_a_policy_binds_planner_and_executor_alike():
    given = parameters("--privileges", str(POLICY))
    assert [name for name, values in given.items() if values.get("privileges") == str(POLICY)] == [
        "plan_executor",
        "language_planner",
    ]


def test_the_planner_rehearses_and_both_keep_the_journal(tmp_path):
    given = parameters("--rehearsal", "full", "--world", "rooms", journal=tmp_path / "j")
    assert given["language_planner"]["rehearsal"] == "full"
    assert given["language_planner"]["journal"] == given["plan_executor"]["journal"] == str(tmp_path / "j")
    assert (given["simulator"]["world"], given["skill_server"]["robot"]) == ("rooms", "mobile")


def test_a_script_that_the_model_would_never_read_is_told(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text("go: go_home()", encoding="utf-8")
    with pytest.raises(InputError, match="holds replies of the model scripted, but the model is embedded"):
        parameters("--model-script", str(script))
    assert parameters("--model-script", str(script), "--model", "scripted")["language_planner"]["model"] == "scripted"


def test_a_policy_with_a_mistake_is_told_before_anything_starts(tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text("sources: {cli: perhaps}\nrules: []\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"policy\.yaml.*'perhaps'"):
        parameters("--privileges", str(policy))


WRONG = {
    "/**/simulator: {ros__parameters: {scene_rat: 20.0}}": "no parameter 'scene_rat'; did you mean 'scene_rate'",
    "/**/simulator: {ros__parameters: {scene_rate: fast}}": "simulator: scene_rate takes a finite number, not 'fast'",
    "/**/simulator: {ros__parameters: {scene_rate: .nan}}": "simulator: scene_rate takes a finite number, not nan",
    "/**/simulator: {ros__parameters: {scene_rate: 1000}}": "simulator: scene_rate must be from 1 to 100, not 1000",
    "/**/simulatr: {ros__parameters: {scene_rate: 20.0}}": "there is no node 'simulatr'; did you mean 'simulator'",
    "/**: {ros__parameters: {viewpont: left}}": "this system has no parameter 'viewpont'; did you mean 'viewpoint'",
    "/**: {ros__parameters: {viewpoint: above}}": "viewpoint is 'above'; choose one of: behind, facing, left, right",
    "/left/camera:\n  ros__parameters: {rate: [1, a]}": "Sequence should be of same type",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_parameters_file_with_a_mistake_is_told_before_anything_starts(text, tmp_path):
    file = tmp_path / "parameters.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=WRONG[text]):
        parameters("--params-file", str(file))


def test_integers_where_doubles_are_meant_and_nodes_of_others_are_no_mistakes(tmp_path):
    file = tmp_path / "parameters.yaml"
    file.write_text(
        "/**/simulator: {ros__parameters: {scene_rate: 20}}\n"
        "/driver: {ros__parameters: {ip: here}}\n"
        "/**: {ros__parameters: {use_sim_time: true, viewpoint: left, qos_overrides./scene.reliability: reliable}}\n",
        encoding="utf-8",
    )
    assert parameters("--params-file", str(file))


def test_the_console_runs_where_it_is_asked_for():
    def names(**given: str) -> list[str]:
        return [entry.label for entry in requested_system(given).entries if entry.name == "console"]

    assert names() == []
    assert names(console="true") == ["console"]
    assert names(console="true", simulator="false") == ["console"]
    assert names(console="true", world="two_arms") == ["left/console", "right/console"]


def test_each_base_of_two_in_one_building_has_its_nodes():
    system = requested_system({"world": "two_bases"})
    parameters = system.options.parameters
    assert {entry.namespace for entry in system.entries if entry.name == "safety_filter"} == {"left", "right"}
    assert parameters["left/safety_filter"] == {"robot": "mobile", "table": "two_bases"}
    assert parameters["simulator"]["world"] == "two_bases"
    with pytest.raises(
        InputError, match="leave the robot 'mobile' out: two_bases says which robots it has: left, right"
    ):
        requested_system({"world": "two_bases", "robot": "mobile"})
