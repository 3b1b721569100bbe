"""What the journal tells of a command that was left unfinished, and what is offered then."""

from dataclasses import replace

import pytest

from llm_planner.corrections.editing import edited, with_lesson
from llm_planner.corrections.edits import Adjust, Change, Edit, Insert
from llm_planner.corrections.resume import NothingLeftError, left_over, offer
from llm_planner.execution.journal import Record, RecordKind, unfinished
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.report import plan_from_record, plan_record
from llm_planner.plans.manner import OfSteps
from llm_planner.plans.plan import StepStatus

TWO = 'pick("red block")\nplace_in("green bowl")\npick("blue block")\nplace_in("red bowl")'
OWN = OfSteps({"2": (0.0, 0.0, 0.01)}, {"1": {"speed": 0.5}})
SLOWER = Adjust("speed", Change.SCALE, 0.5)


def command(name, words="tidy up"):
    return Record(1.0, RecordKind.COMMAND, name, {"command": words})


def planned(name, state):
    return Record(2.0, RecordKind.PLAN, name, plan_record(state))


def step(name, number, status):
    return Record(3.0, RecordKind.STEP, name, {"step_id": number, "step": "", "status": status})


def corrected(name, edit):
    return Record(4.0, RecordKind.EDIT, name, {"words": "slower", "plan": plan_record(edit.state)})


def outcome(name, **data):
    return Record(5.0, RecordKind.OUTCOME, name, data)


def calls(steps):
    return [(one.id, str(one)) for one in steps]


@pytest.fixture
def state(play):
    begun = play(TWO)
    begun.observe()
    return begun.state


def test_the_steps_that_were_not_done_are_left(state):
    records = [command("a"), planned("a", state), step("a", "1", "running"), step("a", "1", "done"),
               step("a", "2", "running")]  # fmt: skip
    left = left_over(records)
    assert left.command_id == "a"
    assert left.plan.command == "do it"
    assert calls(left.done) == [("1", 'pick("red block")')]
    assert [one.id for one in left.ahead] == ["2", "3", "4"]


@pytest.mark.parametrize("how", ["stopped", "skills_lost", "failed", "abandoned"])
def test_whatever_ended_a_command_that_did_not_succeed_its_rest_is_left(state, how):
    left = left_over([command("a"), planned("a", state), step("a", "1", "failed"), outcome("a", outcome=how)])
    assert [one.id for one in left.ahead] == ["1", "2", "3", "4"]


def test_what_was_corrected_is_left_as_it_was_corrected(state):
    also = Insert("pick", {"object": "green block"}, "3")
    more = edited(state, Edit((SLOWER,), "slower"))
    after = edited(more.state, Edit((Insert("go_home", {}, "3"),), "go home first", version=1))
    left = left_over([command("a"), planned("a", state), corrected("a", more), corrected("a", after)])
    assert left.manner.speed == 0.5
    assert [one.id for one in left.ahead] == ["1", "2", "5", "3", "4"]
    assert also.skill == "pick"


def test_rules_and_offsets_are_left_with_the_plan(state):
    rule = Constraint(parse("G !near(robot, red_bowl)"), "keep away from the red bowl")
    manner = replace(state.manner, offset=(0.0, 0.02, 0.0), height=0.05, said=OWN)
    ruled = replace(state, plan=replace(state.plan, constraints=(rule,)), manner=manner)
    left = left_over([command("a"), planned("a", ruled)])
    assert left.plan.constraints == (rule,)
    assert left.manner == manner


def test_a_plan_reads_back_as_it_was_noted(state):
    plan, manner = plan_from_record(plan_record(state))
    assert calls(plan.steps) == calls(state.plan.steps)
    assert (plan.program, plan.complete, manner) == (state.plan.program, True, state.manner)


def test_what_a_lesson_makes_of_a_step_is_not_left(state):
    slow = with_lesson(state, (replace(SLOWER, step="1"),))
    assert slow.manner.quantity("speed", "1") == 0.5
    assert plan_record(slow) == plan_record(state)


def test_a_plan_that_was_not_known_to_its_end_is_said_to_be_so(state):
    unknown = replace(state, plan=replace(state.plan, complete=False))
    assert not left_over([command("a"), planned("a", unknown)]).plan.complete


def test_steps_that_had_failed_before_another_plan_went_on_are_not_done_again(state):
    steps = (replace(state.plan.steps[0], status=StepStatus.FAILED), *state.plan.steps[1:])
    left = left_over([command("a"), planned("a", replace(state, plan=replace(state.plan, steps=steps)))])
    assert [one.id for one in left.ahead] == ["2", "3", "4"]


def test_it_is_the_newest_command_that_is_gone_on_with(state):
    first = [command("a", "one"), planned("a", state), outcome("a", outcome="stopped")]
    assert left_over([*first, command("b", "two"), planned("b", state)]).command_id == "b"
    with pytest.raises(NothingLeftError, match="nothing to go on with: “two” was never begun; say it again"):
        left_over([*first, command("b", "two")])


def test_neither_a_stop_nor_a_go_on_that_came_to_nothing_is_a_command(state):
    said = [command("b", "stop"), outcome("b", code=0), command("c", "go on"), outcome("c", code=3)]
    assert left_over([command("a"), planned("a", state), *said]).command_id == "a"


def test_a_command_that_was_refused_takes_the_place_of_nothing(state):
    first = [command("a"), planned("a", state), outcome("a", outcome="stopped"), command("b", "polish the moon")]
    assert left_over([*first, outcome("b", code=2, message="?", lost=False)]).command_id == "a"


def test_a_go_on_that_was_begun_is_gone_on_with_itself(state):
    records = [command("a"), planned("a", state), command("b", "go on"), planned("b", state), step("b", "1", "done")]
    left = left_over(records)
    assert (left.command_id, len(left.ahead)) == ("b", 3)


def test_only_what_came_before_counts_for_a_command_that_waits(state):
    records = [command("a"), planned("a", state), command("b", "go on"), command("c", "something else")]
    assert left_over(records, before="b").command_id == "a"


@pytest.mark.parametrize("end", [{"outcome": "done"}, {"code": 0}])
def test_of_a_command_that_has_succeeded_nothing_is_left(state, end):
    with pytest.raises(NothingLeftError, match="there is nothing to go on with: “do it” is done"):
        left_over([command("a"), planned("a", state), outcome("a", **end)])


def test_without_any_command_nothing_is_left():
    with pytest.raises(NothingLeftError, match="nothing to go on with: nobody has said a command yet"):
        left_over([])


def test_records_of_an_older_journal_tell_too_little(state):
    old = Record(2.0, RecordKind.PLAN, "a", {"command": "tidy up", "program": "go_home()", "constraints": []})
    told = "of “tidy up” the journal does not tell what was left to do .*; say it again"
    with pytest.raises(NothingLeftError, match=told):
        left_over([command("a"), old])
    with pytest.raises(NothingLeftError, match="the journal does not tell what was left to do"):
        left_over([command("a"), planned("a", state), Record(4.0, RecordKind.EDIT, "a", {"words": "slower"})])


def test_what_can_be_gone_on_with_is_offered_so(state):
    records = [command("a"), planned("a", state)]
    (left,) = unfinished(records)
    assert offer(left, records) == (
        "left unfinished earlier: “do it”, before any step was done; say “go on” to have the rest done"
    )


def test_what_cannot_is_to_be_said_again(state):
    old = [command("a"), Record(2.0, RecordKind.PLAN, "a", {"command": "tidy up"})]
    (left,) = unfinished(old)
    assert offer(left, old).endswith("before any step was done; say it again")
    newer = [*old, command("b"), planned("b", state)]
    assert offer(left, newer).endswith("; say it again")
