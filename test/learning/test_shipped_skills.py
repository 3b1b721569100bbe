"""What is promised of the policies that ship: each is the one that its report is about, good enough, fast and small."""

import pytest

from llm_planner.learning.evaluating import FIRST_SEED, try_one
from llm_planner.learning.report import read_report
from llm_planner.learning.training_task import learnable, open_training_task
from llm_planner.share import share_folder
from llm_planner.skills.learned.loading import POLICY_FILE, digest, policy_moves

SKILLS = share_folder("skills")
OTHERS = ("pick_by_sight",)  # sees a picture, and has figures of its own
SHIPPED = [name for name in learnable(SKILLS) if (SKILLS / name / POLICY_FILE).exists() and name not in OTHERS]
BYTES_MAX = 20_000_000


@pytest.mark.parametrize("name", SHIPPED)
def test_a_policy_that_ships_was_measured_and_is_good_enough(name: str) -> None:
    report = read_report(SKILLS / name)
    assert report.policy == digest(SKILLS / name / POLICY_FILE)
    assert report.evaluated is not None
    assert report.evaluated.plain.rate >= 0.97
    assert report.evaluated.perturbed.rate >= 0.90
    assert min(report.evaluated.plain.asked, report.evaluated.perturbed.asked) >= 100
    assert report.evaluated.latency.median <= 5.0
    assert report.evaluated.latency.p99 <= 10.0


@pytest.mark.parametrize("name", SHIPPED)
def test_a_policy_moves_its_skill_only_where_commands_have_shown_that_it_may(name: str) -> None:
    commands = read_report(SKILLS / name).commands
    assert policy_moves(SKILLS / name) == (commands is not None and commands.mover == "policy")
    if policy_moves(SKILLS / name):
        assert commands.alone.is_no_worse
        assert commands.shoved.is_no_worse


@pytest.mark.parametrize("name", SHIPPED)
def test_a_policy_that_ships_does_what_it_is_for(name: str) -> None:
    if not policy_moves(SKILLS / name):
        pytest.skip("its script moves it")
    task = open_training_task(SKILLS, SKILLS, name)
    trials = [try_one(task, FIRST_SEED + k, perturbed=False) for k in range(2)]
    assert all(trial.succeeded for trial in trials if trial.valid)


def test_all_weights_of_skills_together_are_small() -> None:
    assert SHIPPED
    assert sum(path.stat().st_size for path in SKILLS.glob("*/*.safetensors")) <= BYTES_MAX
