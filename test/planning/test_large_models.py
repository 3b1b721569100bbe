"""What a large model is shown of its own plans, and what it is asked for when a step has failed for good."""

from dataclasses import replace

import pytest

from llm_planner.errors import QuestionError
from llm_planner.execution.execution_state import EndReason
from llm_planner.language.factory import Script, ScriptedLanguageModel
from llm_planner.language.model import Exchange, ProgramReply, ReadConstraint, Reading
from llm_planner.planning.in_process import go_on
from llm_planner.planning.planned import FailureReplanner, ImpossibleError, PlanningSettings
from llm_planner.planning.planning import plan_command
from llm_planner.planning.repair import plan_remainder, remainder_of, unrepaired
from llm_planner.scene.places import BEHIND
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.library import load_skills

RED = 'pick("red block")\nplace_in("red bowl")\n'
WRONG = 'pick("red block")\nplace_in("blue bowl")\n'
ASKED = "put the red block in the red bowl"
IN_RED = ("in(red block, red bowl)",)


@pytest.fixture
def table_skills(scene):
    return load_skills().for_scene(scene).signatures


@pytest.fixture
def plans(scene, table_skills):
    """The plan that comes of these programs, one a round, and the model that wrote them."""

    def make(*programs, goals=(), constraints=(), where=scene, said=ASKED, **settings):
        replies = tuple(p if isinstance(p, ProgramReply) else ProgramReply(p) for p in programs)
        reading = Reading(said, constraints, goals=goals, sure=True)
        model = ScriptedLanguageModel({said: Script(replies, readings=((reading,),))}, is_large=True)
        return model, lambda: plan_command(said, where, table_skills, model, settings=PlanningSettings(**settings))

    return make


def test_a_plain_command_takes_one_reading_and_one_program(plans):
    model, plan = plans(RED, goals=IN_RED)
    assert plan().plan.program == RED
    assert (len(model.readings), len(model.requests)) == (1, 1)
    (request,) = model.requests
    assert (request.samples, request.goals) == (1, IN_RED)
    assert "pick" in [skill.name for skill in request.skills]


def test_a_goal_that_the_plan_misses_goes_back_to_the_model_once(plans):
    model, plan = plans(WRONG, RED, goals=IN_RED)
    assert plan().plan.program == RED
    (problem,) = model.requests[1].attempts[0].problems
    assert problem == "in the last scene in(red block, red bowl) would not hold, but it is a goal"


def test_a_goal_that_is_missed_again_is_a_question(plans):
    model, plan = plans(WRONG, goals=IN_RED)
    with pytest.raises(QuestionError, match="no program after which the red block lies in the red bowl"):
        plan()
    assert len(model.requests) == 2


def test_what_no_word_names_is_left_alone(plans):
    more = RED + 'pick("green block")\nplace_in("blue bowl")\n'
    model, plan = plans(more, RED, goals=IN_RED)
    assert plan().plan.program == RED
    assert model.requests[1].attempts[0].problems == ("the command does not speak of the green block: leave it alone",)
    _, again = plans(more, goals=IN_RED)
    with pytest.raises(QuestionError, match="I would also move the green block, which you have not named"):
        again()


@pytest.mark.parametrize(
    "said", ["leg den roten Klotz links in die rote Schüssel", "pon el bloque rojo a la izquierda, en el tazón rojo"]
)
def test_in_other_languages_what_no_goal_names_goes_back_once_and_may_be_meant(plans, said):
    assert plans(RED, goals=IN_RED, said=said)[1]().plan.program == RED
    more = RED + 'pick("green block")\nplace_in("blue bowl")\n'
    model, plan = plans(more, goals=IN_RED, said=said)
    assert plan().plan.program == more
    (problem,) = model.requests[1].attempts[0].problems
    assert problem.startswith("no goal names the green block: leave it alone, or write the same again")


def test_what_is_to_be_done_in_the_end_is_done_by_a_step(plans):
    model, plan = plans(RED, goals=("did(pick, red block)",))
    assert plan().plan.program == RED
    assert len(model.requests) == 1


def test_a_negated_goal_is_held_against_the_last_scene_too(plans):
    _, plan = plans(RED, goals=("!moved(green block)", *IN_RED))
    assert plan().plan.program == RED


def test_what_the_rehearsal_doubts_goes_back_once_before_the_person_is_asked(plans, scene):
    near = replace(scene.find("green block"), position=(0.55, 0.18, 0.02))
    crowded = replace(scene, objects=tuple(near if item.name == near.name else item for item in scene.objects))
    push = 'push("red block", "right", 0.1)\n'
    model, plan = plans(push, RED, where=crowded)
    assert plan().plan.program == RED
    assert "would shove the green block too (the person will be asked" in model.requests[1].attempts[0].problems[0]
    model, plan = plans(push, where=crowded)
    with pytest.raises(QuestionError, match=r"I am not sure that this goes well: .*shove the green block"):
        plan()
    assert len(model.requests) == 2


def test_a_place_that_the_program_fills_itself_goes_back_once(plans):
    same = 'pick("red bowl")\nplace_at(point(0.6, 0.1))\npick("red block")\nplace_at(point(0.6, 0.1))\n'
    model, plan = plans(same, RED)
    assert plan().plan.program == RED
    (problem,) = model.requests[1].attempts[0].problems
    assert "the red bowl is in the way: move that away first, or put it at" in problem
    _, plan = plans(same)
    with pytest.raises(QuestionError, match=r"I am not sure that this goes well: in step 4, .*the red bowl is in the"):
        plan()


def test_a_plan_that_was_doubted_is_asked_about_where_no_better_one_may_run(plans, scene):
    near = replace(scene.find("green block"), position=(0.55, 0.18, 0.02))
    crowded = replace(scene, objects=tuple(near if item.name == near.name else item for item in scene.objects))
    _, plan = plans('push("red block", "right", 0.1)\n', "import os\n", where=crowded)
    with pytest.raises(QuestionError, match=r"I am not sure that this goes well: .*shove the green block"):
        plan()


def test_a_plan_that_was_doubted_is_asked_about_where_the_others_do_what_was_not_said(plans, scene):
    near = replace(scene.find("green block"), position=(0.55, 0.18, 0.02))
    crowded = replace(scene, objects=tuple(near if item.name == near.name else item for item in scene.objects))
    aside = 'pick("green block")\nplace_at("middle")\n'
    push = 'push("red block", "right", 0.1)\n'
    model, plan = plans(push, aside + push, aside + 'push("red block", "right", 0.05)\n', where=crowded)
    with pytest.raises(QuestionError, match=r"I am not sure that this goes well: .*shove the green block"):
        plan()
    first, second = (attempt.problems[0] for attempt in model.requests[2].attempts)
    assert "without moving what the command does not name" in first
    assert "does not speak of the green block" in second


def test_what_there_is_nothing_of_goes_back_once(plans):
    model, plan = plans('for mug in objects("mug"):\n    pick(mug)\n', RED)
    assert plan().plan.program == RED
    assert "there is no mug here" in model.requests[1].attempts[0].problems[0]


def test_a_question_after_a_rule_stood_in_the_way_is_asked(plans):
    rule = ReadConstraint("G !over(robot, red bowl)", "in the red bowl")
    asks = ProgramReply(question="I may not hold it. May I push it?")
    _, plan = plans(RED, asks, constraints=(rule,))
    with pytest.raises(QuestionError, match=r"^I may not hold it\. May I push it\?$"):
        plan()


SPACED = """for block, spot in zip(objects("block"), line_points(3, "horizontal", None, {})):
    pick(block)
    place_at(spot)
"""


def test_a_distance_that_was_said_may_be_the_free_one_between_points(plans):
    said = "line up all the blocks with 4 cm between them"
    model, plan = plans(SPACED.format(0.08), said=said)
    assert plan().plan.program == SPACED.format(0.08)
    assert len(model.requests) == 1
    model, plan = plans(SPACED.format(0.09), SPACED.format(0.08), said=said)
    assert plan().plan.program == SPACED.format(0.08)
    assert "the command says “4 cm”, but no step has it" in model.requests[1].attempts[0].problems


FARTHER, NEARER = (
    f'pick("red block")\nplace_in({one}(objects("bowl"), to="blue block"))\n' for one in ("farthest", "closest")
)


def test_the_farther_one_is_not_the_nearest(plans):
    said = "the red block goes in whichever bowl is farther from the blue block"
    model, plan = plans(NEARER, FARTHER, said=said)
    assert plan().plan.program == FARTHER
    assert "the command says “farthest”, but the program “closest”" in model.requests[1].attempts[0].problems
    model, plan = plans(NEARER, said="the red block goes in the bowl that is nearest to the blue block")
    assert plan().plan.program == NEARER


def test_questions_about_the_scene_are_answered_without_a_step(plans):
    _, plan = plans('tell("The largest is", largest(objects("bowl")))')
    planned = plan()
    assert (planned.plan.steps, planned.told) == ((), ("The largest is red bowl.",))


def test_earlier_exchanges_reach_reading_and_program(plans):
    before = (Exchange("put the green block away", "go_home()", "done: it is away"),)
    model, plan = plans(RED, exchanges=before)
    plan()
    assert (model.readings[0].exchanges, model.requests[0].exchanges) == (before, before)


# After a failure in motion


def slips(before, promised):
    """The fingers close on nothing."""
    return before, SkillResult(SkillErrorCode.NO_GRASP, "the fingers closed on nothing")


@pytest.fixture
def failed(play, table_skills):
    """What is left of a run whose last step has failed for good, and a model with these programs for it."""

    def make(*programs):
        run = play('pick("green block")\nplace_in("green bowl")\n' + RED, {3: slips, 4: slips})
        run.to_the_end()
        model = ScriptedLanguageModel({"sort": [ProgramReply(text) for text in programs]}, is_large=True)
        replanner = FailureReplanner(model, "sort", ("never the vase",), BEHIND)
        left = remainder_of(run.state, replanner=replanner)
        return run, model, lambda: plan_remainder(left, run.robot.scene, table_skills)

    return make


SWEPT = 'stack("red block", "red bowl")\n'


def test_a_large_model_writes_the_rest_after_a_step_that_failed_for_good(failed):
    run, model, plan = failed(SWEPT)
    anew = plan()
    (request,) = model.requests
    assert request.failure.done == ('pick("green block")', 'place_in("green bowl")')
    assert request.failure.failed == 'pick("red block")'
    assert "the fingers closed on nothing" in request.failure.reason
    assert request.rules == ("never the vase",)
    run.state = go_on(run.state, anew, run.robot.scene)
    run.to_the_end()
    assert run.state.end.reason is EndReason.DONE


def test_the_same_step_and_less_than_is_left_go_back(failed):
    _, model, plan = failed(RED, "go_home()", SWEPT)
    assert plan().plan.program == SWEPT
    assert 'pick("red block") has failed and would fail again' in model.requests[1].attempts[0].problems[0]
    assert (
        "in the end it would not be so that the red block is in the red bowl"
        in (model.requests[2].attempts[1].problems[0])
    )


def test_a_rest_that_fills_a_place_twice_goes_back(failed):
    text = 'pick("blue block")\nplace_at(point(0.6, 0.1))\npick("red block")\nplace_at(point(0.6, 0.1))\n' + RED
    _, model, plan = failed(text, SWEPT)
    assert plan().plan.program == SWEPT
    assert "the blue block is in the way" in model.requests[1].attempts[0].problems[0]


def test_a_repair_does_not_repeat_what_has_failed_twice_while_things_lie_as_they_did(failed):
    run, _, plan = failed("go_home()\n" + RED)
    run.state = go_on(run.state, plan(), run.robot.scene)
    run.to_the_end()
    assert run.state.end.message == "Step 5 failed: pick has failed 2 times with things lying as they do now."
    assert [name for name, *_ in run.robot.started].count("pick") == 3  # the green block, the red one twice


def test_what_has_failed_is_tried_again_once_things_lie_otherwise(failed):
    run, _, plan = failed('stack("blue block", "green bowl")\n' + RED)
    run.state = go_on(run.state, plan(), run.robot.scene)
    run.to_the_end()
    assert run.state.end.reason is EndReason.DONE


def test_the_model_is_asked_once_for_one_command(failed):
    _, model, plan = failed(SWEPT)
    plan()
    with pytest.raises(ImpossibleError, match="I know no other way"):
        plan()
    assert len(model.requests) == 1


def test_what_the_model_asks_then_is_told_with_the_failure():
    told = unrepaired(EndReason.FAILED, "Step 3 failed.", QuestionError("Shall I try the other hand?"))
    assert told == "Step 3 failed. Shall I try the other hand?"
