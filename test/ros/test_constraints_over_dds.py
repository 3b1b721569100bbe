"""Plans with constraints, sent to the executor itself: it checks them again, watches, and stops what breaks them."""

from __future__ import annotations

import pytest
from llm_planner_interfaces.action import ExecutePlan
from llm_planner_interfaces.msg import (
    Constraint,
    ConstraintState,
    ConstraintStatus,
    MotionConstraints,
    Plan,
    PlanStatus,
    Scene,
)
from rclpy.action import ActionClient

from llm_planner.ros.base_node import LATCHED, NEWEST_ONLY

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


class Meddler:
    """Shows a thing elsewhere than it is, once the arm moves."""

    def __init__(self, system, name):
        self.done = False
        self._system, self._name = system, name
        self._publisher = system.client.node.create_publisher(Scene, "scene", 1)
        system.client.node.create_subscription(Scene, "scene", self._on_scene, NEWEST_ONLY)

    def _on_scene(self, scene):
        if self.done or self._system.speed < 0.3:
            return
        self.done = True
        (item,) = (item for item in scene.objects if item.name == self._name)
        item.pose.position.y += 0.1
        scene.header.stamp.sec += 1  # after all that has been shown
        self._publisher.publish(scene)


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
    meddler = Meddler(fresh, "blue block")
    result = sender.run("shoved", INTO_THE_BOWL, "G !moved(blue block)")
    assert meddler.done
    assert result.error_code == Code.CONSTRAINT_BROKEN
    assert "this is broken: “G !moved(blue block)”" in result.error_msg
    fresh.wait_until_at_rest()
    fresh.wait(lambda: sender.verdicts == [ConstraintState.VIOLATED])


def test_a_rule_about_speed_is_in_force_while_it_binds_and_the_motion_keeps_it(sender, fresh):
    speeds, limits = [], []
    node = fresh.client.node
    node.create_subscription(Scene, "scene", lambda scene: speeds.append((scene.held, scene.speed)), NEWEST_ONLY)
    node.create_subscription(MotionConstraints, "motion_constraints", lambda said: limits.append(said.speed), LATCHED)
    rule = "G (holding(red block) -> speed(robot) < 0.12)"
    with fresh.in_real_time():
        result = sender.run("gently", INTO_THE_BOWL, rule)
    assert result.error_code == Code.SUCCEEDED, result.error_msg
    assert max(speed for held, speed in speeds if held == "red block") < 0.12
    assert max(speed for held, speed in speeds if not held) > 0.2
    assert min(limits) == pytest.approx(0.108)
    fresh.wait(lambda: limits[-1] > 1.0)  # and it is withdrawn
    fresh.wait(lambda: sender.heard[ConstraintStatus].constraints[0].robustness > 0)


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
