"""The report of a skill, for programs and for people."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from llm_planner.errors import InputError
from llm_planner.learning.evaluating import Trial, tally
from llm_planner.learning.report import (
    CommandTally,
    Evaluated,
    Latency,
    Paired,
    SkillReport,
    Trained,
    listed,
    read_report,
    write_report,
)
from llm_planner.learning.report_page import chosen, page, write_page
from llm_planner.share import share_folder, skill_command
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.learned.loading import digest
from llm_planner.skills.manifest import PolicyContract

DONE, TIMEOUT = SkillResult(SkillErrorCode.SUCCEEDED), SkillResult(SkillErrorCode.TIMEOUT, "not done after 20 s")
CONTRACT = PolicyContract("pick", ("hand", "fingers"), ("opening",), 400, 10_000)
TRAINED = Trained(
    "pick", CONTRACT, 0, "flow", 398, 900, 40_000, 0, 120.0, ((200, 0.5), (400, 0.1)), 273_504, {"numpy": "2.0"}
)


def outcome(shoved: str, *trials: tuple[bool, SkillResult]) -> list[Trial]:
    return [Trial(10 + k, done, said, 3.0, shoved) for k, (done, said) in enumerate(trials)]


PLAIN = tally(outcome("", (True, DONE), (True, DONE), (True, DONE), (False, DONE)))
SHOVED = tally(outcome("hand", (False, TIMEOUT), (True, DONE), (False, TIMEOUT), (False, DONE)))
REPORT = SkillReport("pick", "arm", "abc", 549_000, TRAINED, Evaluated(PLAIN, SHOVED, Latency(0.4, 0.9)))


def test_a_tally_counts_what_the_scene_shows_and_keeps_why_the_rest_failed():
    assert (PLAIN.successes, PLAIN.trials, PLAIN.rate, PLAIN.seeds) == (3, 4, 0.75, (10, 13))
    assert [(one.seed, one.reason, one.shoved) for one in PLAIN.failures] == [(13, "EFFECT_NOT_SEEN", "")]
    assert [(one.seed, one.reason, one.shoved) for one in SHOVED.failures] == [
        (10, "TIMEOUT", "hand"),
        (12, "TIMEOUT", "hand"),
        (13, "EFFECT_NOT_SEEN", "hand"),
    ]


def test_trials_that_no_skill_could_have_done_are_left_out_and_told():
    said = SkillResult(SkillErrorCode.UNREACHABLE, "the block is out of reach")
    counted = tally([Trial(10, True, DONE, 3.0, "hand"), Trial(11, False, said, 1.0, "hand", valid=False)])
    assert (counted.successes, counted.trials, counted.asked, counted.seeds) == (1, 1, 2, (10, 11))
    text = page(replace(REPORT, evaluated=replace(REPORT.evaluated, perturbed=counted)))
    assert "## Left out: no skill could have done these" in text
    assert "- **unreachable** (1): the block is out of reach. Seeds: 11 (hand shoved)." in text


def test_trials_that_never_began_tell_nothing():
    with pytest.raises(InputError, match="no trial got as far as the skill"):
        tally([])


@pytest.mark.parametrize("report", [REPORT, replace(REPORT, trained=None), replace(REPORT, evaluated=None)])
def test_a_report_is_read_as_it_was_written(tmp_path, report):
    write_report(tmp_path, report)
    assert read_report(tmp_path) == report


def test_a_report_that_is_missing_says_how_to_make_it(tmp_path):
    with pytest.raises(InputError, match=r"report\.json is not there; make it: llm-planner evaluate lift"):
        read_report(tmp_path / "lift")


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"skill": "pick"}'])
def test_what_is_no_report_is_named(tmp_path, content):
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(InputError, match=r"report\.json: no report of a skill"):
        read_report(tmp_path)


def test_the_page_tells_rates_with_intervals_and_failures_with_seeds():
    text = page(REPORT)
    assert "| left alone | 75.0% | 30.1% to 95.4% | 4 | 10 to 13 |" in text
    assert "- **timeout** (2): not done after 20 s. Seeds: 10 (hand shoved), 12 (hand shoved)." in text
    assert "- **effect not seen** (2): effect not seen. Seeds: 13, 13 (hand shoved)." in text
    assert "398 of 400 episodes succeeded" in text.replace("\n  ", " ")
    assert "](report.png)" in text
    assert "](report.svg)" in text


def test_the_page_says_why_there_is_no_picture():
    text = page(REPORT, "no off-screen OpenGL works here")
    assert "No picture of the trials: no off-screen OpenGL works here." in text
    assert "report.png" not in text


def test_the_page_says_what_is_not_known():
    assert "Not evaluated yet: `llm-planner evaluate pick`." in page(replace(REPORT, evaluated=None))
    assert "Where the policy comes from is not known" in page(replace(REPORT, trained=None))


def test_the_learning_curve_is_drawn_beside_the_page(tmp_path):
    write_page(tmp_path, REPORT)
    assert (tmp_path / "report.md").read_text() == page(REPORT)
    assert "<svg" in (tmp_path / "report.svg").read_text()


def test_the_strip_shows_a_success_of_either_kind_and_failures_of_different_reasons():
    assert chosen(REPORT.evaluated) == [
        (False, 10, "succeeded"),
        (True, 11, "succeeded, shoved"),
        (False, 13, "effect not seen"),
        (True, 10, "timeout, hand shoved"),
        (True, 13, "effect not seen, hand shoved"),
        (True, 12, "timeout, hand shoved"),
    ]


def test_the_strip_shows_no_trial_that_was_left_out():
    said = SkillResult(SkillErrorCode.UNREACHABLE, "out of reach")
    left = Trial(9, False, said, 0.0, valid=False)
    plain = tally([left, Trial(10, True, DONE, 3.0)])
    assert chosen(replace(REPORT.evaluated, plain=plain))[0] == (False, 10, "succeeded")


def test_commands_name_the_library_unless_it_is_the_one_that_ships(tmp_path):
    assert skill_command("train", share_folder("skills") / "pick", "--anew") == "llm-planner train pick --anew"
    mine = tmp_path / "my skills"
    assert skill_command("evaluate", mine / "pick") == f"llm-planner evaluate pick --skills '{mine}'"


def test_a_library_is_listed_with_what_is_missing(make_task):
    task = make_task()
    rows = {row.name: row for row in listed(task.skills)}
    assert (rows["go_home"].moves, rows["go_home"].command) == ("script", "")
    assert (rows["pick"].moves, rows["pick"].command) == ("script", skill_command("train", task.folder))
    task.policy.write_bytes(b"weights")
    (task.folder / "report.json").write_text("{")  # one broken file costs nobody the table
    rows = {row.name: row for row in listed(task.skills)}
    assert (rows["pick"].moves, rows["pick"].command) == (
        "script",  # until commands have shown that its policy may
        f"llm-planner evaluate pick --skills {task.skills}",
    )
    write_report(task.folder, replace(REPORT, policy=digest(task.policy)))
    (row,) = [row for row in listed(task.skills) if row.name == "pick"]
    assert (row.moves, row.missing, row.evaluated) == ("script", "not tried on commands yet", REPORT.evaluated)
    tally = CommandTally("policy", Paired(60, 0, 0, 0), Paired(60, 0, 0, 0), 0, (0, 59), ())
    write_report(task.folder, replace(REPORT, policy=digest(task.policy), commands=tally))
    (row,) = [row for row in listed(task.skills) if row.name == "pick"]
    assert (row.moves, row.command, row.commands) == ("policy", "", tally)


def test_a_library_is_listed_with_the_policies_of_an_arm(make_task):
    task = make_task(robot="ur5e")
    (row,) = [row for row in listed(task.skills, "ur5e") if row.name == "pick"]
    assert row.command == f"llm-planner train pick --skills {task.skills} --robot ur5e" == task.command("train")
    task.folder.mkdir(parents=True)
    task.policy.write_bytes(b"weights")
    tally = CommandTally("policy", Paired(60, 0, 0, 0), Paired(60, 0, 0, 0), 0, (0, 59), ())
    write_report(task.folder, replace(REPORT, robot="ur5e", policy=digest(task.policy), commands=tally))
    moves = [[row.moves for row in listed(task.skills, robot) if row.name == "pick"] for robot in ("ur5e", "arm")]
    assert moves == [["policy"], ["script"]]
    with pytest.raises(InputError, match="there is no robot 'ur6'"):
        listed(task.skills, "ur6")


def test_a_report_is_plain_json(tmp_path):
    write_report(tmp_path, REPORT)
    table = json.loads((tmp_path / "report.json").read_text())
    assert table["evaluated"]["perturbed"]["successes"] == 1
    assert table["trained"]["contract"]["world"] == "pick"
