"""Plans with constraints, sent to the executor itself: it checks them again, watches, and stops what breaks them."""

from __future__ import annotations

import pytest
from llm_planner_interfaces.action import ExecutePlan
from llm_planner_interfaces.msg import Constraint, ConstraintState, ConstraintStatus, Plan, PlanStatus
from rclpy.action import ActionClient

from llm_planner.nodes.shell import LATCHED

Code = ExecutePlan.Result
INTO_THE_BOWL = 'pick("red block")\nplace_in("green bowl")'


class Sender:
    """Sends plans and hears what becomes of them."""

    def __init__(self, system):
        self._system, node = system, system.client.node
        self.heard = {PlanStatus: PlanStatus(), ConstraintStatus: ConstraintStatus()}
        self._client = ActionClient(node, ExecutePlan, "execute_plan")
        for kind, topic in ((PlanStatus, "plan_status"), (ConstraintStatus, "constraint_status")):
            node.create_subscription(
                kind, topic, lambda message, kind=kind: self.heard.update({kind: message}), LATCHED
            )
        system.wait(lambda: self._client.server_is_ready() and self.heard[PlanStatus].executor != 0)

    def run(self, name, program, *formulas):
        """The result of a plan, once its end has been told."""
        constraints = [Constraint(formula=formula, words=formula) for formula in formulas]
        known = self.heard[PlanStatus]
        plan = Plan(id=name, program=program, executor=known.executor, stops=known.stops, constraints=constraints)
        sent = self._client.send_goal_async(ExecutePlan.Goal(plan=plan))
        self._system.wait(sent.done)
        result = sent.result().get_result_async()
        self._system.wait(result.done)
        return result.result().result

    @property
    def verdicts(self):
        return [state.verdict for state in self.heard[ConstraintStatus].constraints]


@pytest.fixture
def sender(fresh):
    assert fresh.works_again()  # every node is up and hears the others
    return Sender(fresh)


def test_a_plan_under_constraints_is_carried_out_and_what_they_say_is_told(sender, fresh):
    result = sender.run("kept", INTO_THE_BOWL, "G !holding(blue block)", "F in(red block, green bowl)")
    assert result.error_code == Code.SUCCEEDED, result.error_msg
    fresh.wait(lambda: sender.verdicts == [ConstraintState.PENDING, ConstraintState.SATISFIED])
    status = sender.heard[ConstraintStatus]
    assert status.plan_id == "kept"
    assert status.trace[-1] == "in(red block, green bowl)"
    assert "blue block" in status.constraints[0].constraint.plain


def test_what_could_not_be_foreseen_is_stopped_when_it_happens(sender, fresh):
    result = sender.run("too fast", INTO_THE_BOWL, "G speed(robot) < 0.05")
    assert result.error_code == Code.CONSTRAINT_BROKEN
    assert "this is broken: “G speed(robot) < 0.05”" in result.error_msg
    fresh.wait(lambda: fresh.speed < 0.01)
    fresh.wait(lambda: sender.verdicts == [ConstraintState.VIOLATED])
    assert sender.heard[ConstraintStatus].constraints[0].robustness > -1.0


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("G !holding(red block)", "The plan may not run"),
        ("G !holding(unicorn)", "names 'unicorn', which is not here"),
        ("G !holding(red", "expected"),
    ],
)
def test_a_plan_whose_constraint_cannot_be_kept_or_read_is_refused(sender, fresh, formula, reason):
    before = fresh.qpos
    result = sender.run("refused", INTO_THE_BOWL, formula)
    assert result.error_code == Code.REFUSED
    assert reason in result.error_msg
    assert fresh.qpos == pytest.approx(before, abs=0.02)


def test_there_is_no_going_on_with_a_plan_that_is_not_known(sender):
    known = sender.heard[PlanStatus]
    plan = Plan(id="2", program="go_home()", executor=known.executor, stops=known.stops, continues="1")
    sent = sender._client.send_goal_async(ExecutePlan.Goal(plan=plan))
    sender._system.wait(sent.done)
    result = sent.result().get_result_async()
    sender._system.wait(result.done)
    assert result.result().result.error_code == Code.REFUSED
    assert "no plan to go on with" in result.result().result.error_msg
