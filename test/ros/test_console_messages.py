"""What the page of the console says of messages."""

from __future__ import annotations

import json

import pytest
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import (
    CommandStatus,
    Constraint,
    ConstraintState,
    ConstraintStatus,
    CorrectionResult,
    MotionConstraints,
    MotionStatus,
    Plan,
    PlanStatus,
    PlanStep,
    SkillArgument,
)

from llm_planner.console import messages as views
from llm_planner.errors import InputError
from llm_planner.scene.scene import Scene

PICK = PlanStep(id="s1", line=1, skill="pick", arguments=[SkillArgument(name="object", type=0, word="red block")])
RULE = Constraint(formula="G !over(robot, vase)", words="never over the vase", plain="the robot is never over the vase")


def test_a_plan_shows_its_steps_and_the_program_of_the_same_plan():
    status = PlanStatus(
        plan_id="p", state=PlanStatus.RUNNING, command="pick it", steps=[PICK], version=2, complete=True
    )
    shown = views.plan_view(Plan(id="p", program='pick("red block")'), status)

    assert (shown["state"], shown["program"], shown["version"]) == ("running", 'pick("red block")', 2)
    assert shown["steps"] == [{"id": "s1", "line": 1, "text": 'pick("red block")', "status": "pending", "message": ""}]
    assert views.plan_view(Plan(id="another", program="go_home()"), status)["program"] == ""


def test_an_invalid_step_is_refused():
    with pytest.raises(InputError, match="the highest is 4"):
        views.plan_view(Plan(), PlanStatus(steps=[PlanStep(id="s", skill="pick", status=9)]))


def test_a_rule_has_the_verdict_of_its_monitor():
    status = PlanStatus(plan_id="p", constraints=[RULE])
    told = ConstraintState(constraint=RULE, verdict=ConstraintState.VIOLATED, holds=False, robustness=-0.1)

    (rule,) = views.rules_view(status, ConstraintStatus(plan_id="p", constraints=[told]))
    assert (rule["verdict"], rule["holds"], rule["margin"]) == ("violated", False, -0.1)
    (rule,) = views.rules_view(status, ConstraintStatus(plan_id="an older plan", constraints=[told]))
    assert (rule["verdict"], rule["holds"], rule["margin"]) == ("pending", None, None)


def test_a_question_has_its_options_as_buttons():
    result = CorrectionResult(outcome=CorrectionResult.QUESTION, message="which block? (the red one / the blue one)")
    shown = views.answer_view(result)
    assert (shown["text"], shown["options"]) == ("which block?", ["the red one", "the blue one"])


@pytest.mark.parametrize("message", ["done", "moved (a little)", "which? ( / )", "5 / 6"])
def test_other_messages_have_none(message):
    assert views.with_options(message) == (message, [])


def test_changes_are_shown_once():
    result = CorrectionResult(message="~ speed 1 -> 0.5; I remember it", difference=["~ speed 1 -> 0.5"])
    shown = views.answer_view(result)
    assert (shown["text"], shown["difference"]) == ("I remember it", ["~ speed 1 -> 0.5"])
    bare = CorrectionResult(message="~ speed 1 -> 0.5", difference=["~ speed 1 -> 0.5"])
    assert views.answer_view(bare)["text"] == "changed:"


def test_the_verdict_of_the_rehearsal_is_that_of_the_newest_command():
    def verdict(code: int, state: int = CommandStatus.ENDED, mode: str = "symbolic") -> str:
        status = CommandStatus(state=state, error_code=code, message="why")
        return views.rehearsal_view(views.command_view(status), mode)["verdict"]

    assert verdict(0, CommandStatus.PLANNING) == "wait"
    assert verdict(0, CommandStatus.EXECUTING) == "allow"
    assert verdict(0, CommandStatus.EXECUTING, "off") == "none"
    assert verdict(ExecuteCommand.Result.QUESTION) == "ask"
    assert verdict(ExecuteCommand.Result.REFUSED) == "block"


def test_the_speed_stands_against_its_limit():
    limits, status = MotionConstraints(speed=0.25), MotionStatus(state=MotionStatus.TRACKING)
    shown = views.motion_view(Scene(0.0, (), held="mug", speed=0.2), limits, status)
    assert (shown["speed"], shown["limit"], shown["state"], shown["held"]) == (0.2, 0.25, "moving", "mug")
    with pytest.raises(InputError, match=r"motion_constraints\.speed"):
        views.motion_view(Scene(0.0, ()), MotionConstraints(speed=-1.0), status)


def test_which_model_answers_and_what_it_does():
    def report(message: str, level: bytes = DiagnosticStatus.OK, **values: str) -> DiagnosticStatus:
        pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
        return DiagnosticStatus(level=level, message=message, values=pairs)

    planner, listener = report("idle", model="openai"), report("reads", model="embedded", waiting="1")
    assert views.model_view(planner, None, "")["doing"] == "idle"
    assert views.model_view(planner, listener, "wave")["doing"] == "plans “wave”"
    assert views.model_view(planner, listener, "")["doing"] == "reads a correction"
    assert views.model_view(None, None, "")["doing"] == "not heard of"
    late = report("the language model is not ready", DiagnosticStatus.WARN, model="openai")
    assert views.model_view(late, listener, "")["doing"] == "the language model is not ready"


def test_everything_can_be_written_as_json():
    status = PlanStatus(plan_id="p", steps=[PICK], constraints=[RULE])
    json.dumps([views.plan_view(Plan(), status), views.rules_view(status, ConstraintStatus())])


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Which block do you mean: the red block, the blue block or the mug?",
         ["the red block", "the blue block", "the mug"]),
        ("Which one do you mean by “it”: the red block or the mug?", ["the red block", "the mug"]),
        ("Which do you mean: the mug?", []),
        ("There is: a red block, a mug. What do you mean?", []),
    ],
)  # fmt: skip
def test_the_things_that_a_question_names_are_options_and_stay_in_the_question(question, options):
    assert views.with_options(question) == (question, options)
