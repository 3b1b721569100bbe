"""Training a skill: what it leaves in the skill's folder, and that it can be interrupted anywhere."""

from __future__ import annotations

import pytest

from llm_planner.errors import InputError
from llm_planner.learning.improving import candidate_of
from llm_planner.learning.report import read_report
from llm_planner.learning.skill_training import begin, discard_training, is_trained, report_of, train_skill
from llm_planner.skills.learned.loading import load_sampler
from llm_planner.skills.learned.weights_file import read_notes


class UnpluggedError(Exception):
    """Somebody pulls the plug."""


def quiet(step: int, loss: float) -> None:
    pass


def unplugged_at(wanted: int):
    def report(step: int, loss: float) -> None:
        if step == wanted:
            raise UnpluggedError

    return report


def test_a_lesson_leaves_a_policy_that_its_skill_can_use(make_task, made_up):
    task = make_task()
    train_skill(task, 0, "flow", made_up(task), quiet)
    assert load_sampler(task.manifest, task.policy).spec.objective == "flow"
    assert not task.checkpoint.exists()


def test_the_report_says_what_a_policy_was_trained_on(make_task, made_up):
    task = make_task()
    told = train_skill(task, 5, "regression", made_up(task), quiet)
    assert read_report(task.folder) == told
    assert (told.trained.seed, told.trained.objective, told.trained.demonstrator) == (5, "regression", "pick")
    assert (told.trained.episodes, told.trained.recordings, told.trained.moments) == (2, 2, 18)
    assert [step for step, _ in told.trained.curve] == [1, 2, 3, 4, 5, 6]
    assert set(told.trained.versions) == {"llm_planner", "python", "numpy", "mujoco", "torch"}


def test_policies_of_several_arms_lie_side_by_side(make_task, made_up):
    usual, other = make_task(), make_task(robot="ur5e")
    train_skill(usual, 0, "flow", made_up(usual), quiet)
    kept = usual.policy.read_bytes()
    assert not is_trained(other, 0, "flow")
    assert train_skill(other, 0, "flow", made_up(other), quiet).robot == "ur5e"
    assert is_trained(other, 0, "flow")
    assert (usual.policy.read_bytes(), report_of(usual).robot) == (kept, usual.arm.name)
    assert other.policy == usual.folder / "policies" / "ur5e" / "policy.safetensors"
    assert (read_notes(other.policy)["robot"], other.format.robot_type) == ("ur5e", "ur5e")
    assert (other.folder / "report.md").read_text(encoding="utf-8").startswith("# pick on ur5e\n")
    assert other.demonstrations != usual.demonstrations


def test_a_policy_of_another_arm_is_improved_in_a_copy(make_task, made_up):
    task = make_task(robot="ur5e")
    train_skill(task, 0, "flow", made_up(task), quiet)
    candidate = candidate_of(task)
    assert candidate.folder != task.folder
    assert report_of(candidate) == report_of(task)


@pytest.mark.parametrize("step", [1, 4, 6])
def test_a_training_that_was_killed_ends_in_the_very_same_policy(make_task, made_up, step):
    task = make_task()
    train_skill(task, 0, "flow", made_up(task), quiet)
    wanted = task.policy.read_bytes()
    task.policy.unlink()
    with pytest.raises(UnpluggedError):
        train_skill(task, 0, "flow", made_up(task), unplugged_at(step))
    assert task.checkpoint.exists()
    assert not task.policy.exists()
    steps = []
    trained = train_skill(task, 0, "flow", made_up(task), lambda step, loss: steps.append(step)).trained
    assert steps == list(range(step + 1, 7))
    assert [step for step, _ in trained.curve] == [1, 2, 3, 4, 5, 6]
    assert task.policy.read_bytes() == wanted


def test_what_is_taught_already_is_known_by_seed_objective_and_manifest(make_task, made_up):
    task = make_task()
    assert not is_trained(task, 0, "flow")
    train_skill(task, 0, "flow", made_up(task), quiet)
    assert is_trained(task, 0, "flow")
    assert not is_trained(task, 1, "flow")
    assert not is_trained(task, 0, "regression")
    assert not is_trained(make_task(steps=7), 0, "flow")


def test_a_policy_that_was_put_there_by_hand_is_not_the_one_of_the_report(make_task, made_up):
    task = make_task()
    train_skill(task, 0, "flow", made_up(task), quiet)
    task.policy.write_bytes(task.policy.read_bytes() + b" ")
    assert not is_trained(task, 0, "flow")
    assert report_of(task).trained is None


def test_a_policy_of_another_training_is_replaced_only_on_request(make_task, made_up):
    task = make_task()
    begin(task, 0, "flow", anew=False)
    train_skill(task, 0, "flow", made_up(task), quiet)
    with pytest.raises(InputError, match="is there already, and was not trained so; --anew replaces it"):
        begin(task, 0, "flow", anew=False)
    begin(task, 0, "flow", anew=True)
    begin(task, 0, "flow", anew=False)  # interrupted before its first step, it goes on
    for other, seed, objective in ((task, 1, "flow"), (task, 0, "regression"), (make_task(steps=7), 0, "flow")):
        with pytest.raises(InputError, match="is there already"):
            begin(other, seed, objective, anew=False)


def test_a_new_policy_has_no_page_of_the_one_before(make_task, made_up):
    task = make_task()
    for name in ("report.md", "report.png"):
        (task.folder / name).write_text("98 %")
    train_skill(task, 0, "flow", made_up(task), quiet)
    assert not (task.folder / "report.png").exists()
    assert "Not evaluated yet" in (task.folder / "report.md").read_text(encoding="utf-8")


def test_an_interrupted_training_can_be_given_up(make_task, made_up):
    task = make_task()
    with pytest.raises(UnpluggedError):
        train_skill(task, 0, "flow", made_up(task), unplugged_at(2))
    with pytest.raises(InputError, match=r"checkpoint of another training .* delete it to begin anew"):
        train_skill(task, 1, "flow", made_up(task), quiet)
    discard_training(task)
    assert train_skill(task, 1, "flow", made_up(task), quiet).trained.seed == 1


def test_there_is_no_report_without_a_policy(make_task):
    with pytest.raises(InputError, match="pick has no policy yet; train it: llm-planner train pick"):
        report_of(make_task())


def test_without_demonstrations_nothing_is_learned(make_task):
    with pytest.raises(InputError, match="there are no demonstrations to learn from"):
        train_skill(make_task(), 0, "flow", [], quiet)
