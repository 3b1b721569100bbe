"""Skills tried as commands draw them: what is drawn, how it is counted and kept, and what follows from it."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.learning.command_trials import (
    CommandJob,
    CommandRun,
    CommandTrial,
    read_results,
    tally_commands,
    tried_skills,
    try_commands,
    try_out_commands,
)
from llm_planner.learning.commands import draw_command
from llm_planner.learning.improving import examine_on_commands
from llm_planner.learning.report import PAIRS_LEAST, Paired, read_report
from llm_planner.learning.report_page import why
from llm_planner.learning.training_task import open_training_task
from llm_planner.share import share_folder
from llm_planner.simulation.tabletop import default_objects
from llm_planner.skills.learned.loading import POLICY_FILE, REPORT_FILE, digest, policy_moves
from llm_planner.skills.learned.skill import LearnedOrScripted
from llm_planner.skills.library import load_skills
from llm_planner.skills.manifest import Manifest, read_manifest

SKILLS = share_folder("skills")
DONE, FAILED = CommandRun(True, "done", "", 7.0), CommandRun(False, "failed", "it slipped", 9.0)


def manifest_of(name: str) -> Manifest:
    return read_manifest(SKILLS / name / "skill.yaml")


def trial(seed: int, policy: CommandRun = DONE, script: CommandRun = DONE) -> CommandTrial:
    runs = {condition: {"policy": policy, "script": script} for condition in ("alone", "shoved")}
    return CommandTrial("push", seed, "w", "push it", 'push("it")', (), runs)


def test_a_command_is_for_the_table_that_run_lays_out_and_always_the_same():
    command = draw_command(manifest_of("push"), 3)
    assert command == draw_command(manifest_of("push"), 3)
    assert command != draw_command(manifest_of("push"), 3, number=1)
    assert command.objects == default_objects(np.random.default_rng(3))
    assert command.arguments["object"] in {item.name for item in command.objects}
    assert 0.02 <= command.arguments["distance"] <= 0.3
    assert command.program.startswith(f'push("{command.arguments["object"]}", ')
    assert command.words.startswith(f"push the {command.arguments['object']} ")


def test_what_must_be_held_is_picked_up_first():
    for seed in range(5):
        command = draw_command(manifest_of("place_in"), seed)
        assert command.program == f'pick("{command.held}")\nplace_in("{command.arguments["object"]}")\n'
        assert command.held != command.arguments["object"]
    assert draw_command(manifest_of("wipe"), 0).held == "sponge"


def test_the_table_has_what_the_skill_is_for():
    closing = draw_command(manifest_of("close_drawer"), 0)
    assert closing.open_world().scene().find("drawer").state > 0.06
    assert {draw_command(manifest_of("tip"), seed).arguments["object"] for seed in range(8)} <= {"mug", "vase"}


def test_all_that_have_a_policy_and_a_script_are_tried():
    assert "push" in tried_skills(SKILLS)
    assert "pick_by_sight" not in tried_skills(SKILLS)
    assert "place_offset" not in tried_skills(SKILLS)


def test_a_command_is_carried_out_by_policy_and_script_alone_and_shoved():
    tried = try_commands(CommandJob(SKILLS, "reach", 0, "w"))
    assert {(condition, mover) for condition, runs in tried.runs.items() for mover in runs} == {
        (condition, mover) for condition in ("alone", "shoved") for mover in ("policy", "script")
    }
    assert all(run.done and run.outcome == "done" for run in tried.runs["alone"].values())
    assert all(run.shoved == "" for run in tried.runs["alone"].values())
    assert all(run.shoved in ("hand", "thing", "") for run in tried.runs["shoved"].values())


def test_a_command_is_drawn_for_the_arm_that_is_asked_for():
    assert draw_command(manifest_of("push"), 3, robot="ur5e").open_world().scene().arm == "ur5e"


def test_the_policy_moves_where_it_is_no_worse_and_the_script_where_it_is_or_little_is_known():
    no_worse = [trial(seed) for seed in range(PAIRS_LEAST)]
    assert tally_commands(no_worse).mover == "policy"
    assert tally_commands(no_worse[1:]).mover == "script"
    assert "fewer than 50 commands" in why(tally_commands(no_worse[1:]))
    worse = [*no_worse, *(trial(100 + seed, policy=FAILED) for seed in range(10))]
    assert tally_commands(worse).mover == "script"
    assert "its policy may be worse by 10 points: -16.7 points" in why(tally_commands(worse))
    as_often = [*worse, *(trial(200 + seed, script=FAILED) for seed in range(10))]
    assert tally_commands(as_often).mover == "script"  # so few could hide 10 points
    assert tally_commands([*as_often, *(trial(300 + seed) for seed in range(100))]).mover == "policy"


def test_a_pair_that_says_nothing_and_a_scene_without_a_command_do_not_count():
    nobody = replace(FAILED, valid=False)
    tally = tally_commands([trial(0), trial(1, policy=nobody), replace(trial(2), runs={})])
    assert (tally.alone.pairs, tally.shoved.pairs, tally.refused, tally.seeds) == (1, 1, 1, (0, 2))
    assert tally.missed == ()


def test_the_interval_of_a_paired_difference_is_newcombes():
    """Table II of Newcombe (1998), method 10: 36, 12, 2, 0 and 20, 10, 5, 5."""
    assert Paired(36, 12, 2, 0).difference_interval == pytest.approx((0.0569, 0.3404), abs=5e-4)
    low, high = Paired(20, 5, 5, 10).difference_interval
    assert low == pytest.approx(-high)


def test_what_is_in_the_file_is_not_tried_again(tmp_path: Path):
    class Pool:
        def results(self, function, jobs):
            for position, job in enumerate(jobs):
                asked.append((job.skill, job.seed))
                yield position, replace(trial(job.seed), skill=job.skill, weights=job.weights)

    asked: list[tuple[str, int]] = []
    results, told = tmp_path / "deep" / "results.jsonl", []
    try_out_commands(SKILLS, ["push"], range(2), Pool(), results, told.append)
    with results.open("a") as file:
        file.write('{"skill": "push", "se')  # killed in the middle of a line
    trials = try_out_commands(SKILLS, ["push"], range(4), Pool(), results, told.append)
    assert asked == [("push", 0), ("push", 1), ("push", 2), ("push", 3)]
    assert [one.seed for one in trials] == [0, 1, 2, 3]
    assert [one.seed for one in read_results(results)] == [0, 1, 2, 3]
    assert [one.seed for one in told] == [0, 1, 2, 3]


def test_a_line_that_is_no_trial_is_told(tmp_path: Path):
    results = tmp_path / "results.jsonl"
    results.write_text("{}\n" + json.dumps(asdict(trial(0))) + "\n")
    with pytest.raises(InputError, match="line 1 is not a trial on a command"):
        read_results(results)


def test_what_commands_say_is_in_the_report_and_moves_the_skill(tmp_path: Path):
    shutil.copytree(SKILLS / "reach", tmp_path / "reach")
    task = open_training_task(tmp_path, tmp_path / "work", "reach")
    report = examine_on_commands(task, [trial(seed) for seed in range(PAIRS_LEAST)])
    assert report == read_report(task.folder)
    page = (task.folder / "report.md").read_text()
    assert "## On commands" in page
    assert "Its policy moves it, which is no worse than its script" in page
    assert isinstance(load_skills(tmp_path).find("reach").implementation, LearnedOrScripted)
    assert not isinstance(load_skills(tmp_path, learned=False).find("reach").implementation, LearnedOrScripted)

    examine_on_commands(task, [trial(seed, policy=FAILED) for seed in range(PAIRS_LEAST)])
    assert "it slipped" in (task.folder / "report.md").read_text()
    assert not isinstance(load_skills(tmp_path).find("reach").implementation, LearnedOrScripted)
    assert isinstance(load_skills(tmp_path, unproven=True).find("reach").implementation, LearnedOrScripted)


@pytest.mark.parametrize("damage", ["no report", "no commands", "other weights", "not JSON", "no policy"])
def test_a_policy_of_which_nothing_is_known_on_commands_does_not_move(tmp_path: Path, damage: str):
    table = {"policy": "", "commands": {"mover": "policy"}}
    (tmp_path / POLICY_FILE).write_bytes(b"weights")
    table["policy"] = digest(tmp_path / POLICY_FILE)
    (tmp_path / REPORT_FILE).write_text(json.dumps(table))
    assert policy_moves(tmp_path)
    if damage == "no report":
        (tmp_path / REPORT_FILE).unlink()
    elif damage == "no commands":
        (tmp_path / REPORT_FILE).write_text(json.dumps(table | {"commands": None}))
    elif damage == "other weights":
        (tmp_path / POLICY_FILE).write_bytes(b"others")
    elif damage == "not JSON":
        (tmp_path / REPORT_FILE).write_text("{")
    else:
        (tmp_path / POLICY_FILE).unlink()
    assert not policy_moves(tmp_path)
