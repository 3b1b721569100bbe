"""What a source may have done is asked again before every step, with the scene of that moment."""

from dataclasses import replace

import pytest

from llm_planner.errors import QuestionError
from llm_planner.execution.execution_state import EndReason, StartSkill, continue_execution
from llm_planner.planning.planned import PlanningSettings
from llm_planner.planning.planning import plan_program
from llm_planner.plans.privileges.decision import PrivilegeError
from llm_planner.skills.contract import SkillErrorCode, SkillResult

OK = SkillResult(SkillErrorCode.SUCCEEDED)
ENDS = {"refuse": EndReason.FAILED, "ask": EndReason.QUESTION, "stop": EndReason.STOPPED}


@pytest.fixture
def bound(play, careful):
    """A run that is bound by the policy."""

    def make(text, mishaps=None, otherwise="refuse"):
        return play(text, mishaps, settings=PlanningSettings(policy=careful(otherwise), source="cli"))

    return make


@pytest.mark.parametrize("otherwise", ENDS)
def test_what_only_the_scene_of_the_moment_decides_ends_the_plan_before_the_step(bound, otherwise):
    def is_handed_a_block(before, promised):
        return replace(promised, held="red block"), OK

    run = bound("wait(1.0)\ngo_home()\nwait(1.0)", {1: is_handed_a_block}, otherwise).to_the_end()
    assert run.robot.started == [("wait", 1.0)]
    assert run.state.end.reason is ENDS[otherwise]
    assert run.state.end.message.startswith(
        "Step 2, go_home(), may not start. The policy careful.yaml does not let commands from cli use go_home()"
    )
    assert run.statuses == {"1": "done", "2": "skipped", "3": "skipped"}


@pytest.mark.parametrize(("otherwise", "error"), [("refuse", PrivilegeError), ("ask", QuestionError)])
def test_what_the_scene_foreseen_for_a_step_decides_is_told_before_anything_moves(bound, otherwise, error):
    with pytest.raises(
        error, match=r"^The policy careful\.yaml does not let commands from cli use go_home\(\) \(rule 3"
    ):
        bound('pick("red block")\ngo_home()\nplace_in("red bowl")', otherwise=otherwise)


def test_the_same_call_at_another_moment_is_made(bound):
    run = bound('go_home()\npick("red block")\nplace_in("red bowl")\ngo_home()').to_the_end()
    assert run.state.end.reason is EndReason.DONE


def test_what_no_scene_could_allow_never_begins(bound):
    with pytest.raises(PrivilegeError, match="“hands off”"):
        bound('pick("blue block")')


def test_an_object_that_is_known_only_while_the_program_runs_is_judged_then(bound, scene):
    def blue_one_is_carried_left(before, promised):
        item = before.find("blue block")
        moved = replace(item, position=(0.35, 0.4, item.position[2]))
        return replace(promised, objects=tuple(moved if o is item else o for o in promised.objects)), OK

    run = bound('go_home()\npick(from_side(objects("block"), "left")[0])', {1: blue_one_is_carried_left}).to_the_end()
    assert [name for name, *_ in run.robot.started] == ["go_home"]
    assert "“hands off”" in run.state.end.message


def test_a_step_put_in_to_make_good_is_asked_about_too(bound):
    def slips(before, promised):
        return replace(before, held=""), OK

    run = bound('pick("red block")\nplace_in("red bowl")', {2: slips})
    asked, permit = [], run.state.permit
    run.state = replace(run.state, permit=lambda call, scene: asked.append(call.skill) or permit(call, scene))
    assert run.to_the_end().state.end.reason is EndReason.DONE
    assert asked == ["pick", "place_in", "pick", "place_in"]


def test_a_plan_that_goes_on_is_bound_as_the_first_was(bound, skills):
    run = bound('pick("red block")')
    run.to_the_end()
    more = plan_program("do it", "go_home()", run.robot.scene, tuple(skills.values()))
    run.state = continue_execution(run.state, more.plan, more.interpreter)
    run.observe()
    assert not isinstance(run.commands[-1], StartSkill)
    assert "“no tours with a block”" in run.state.end.message
