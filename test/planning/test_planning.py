"""From words to a plan: looking ahead, rehearsing, and what a person is told when there is none."""

from dataclasses import replace

import pytest

from llm_planner.errors import InputError, LanguageModelError, QuestionError
from llm_planner.language.factory import Script, ScriptedLanguageModel
from llm_planner.language.model import ProgramReply, ReadConstraint, Reading
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.planned import ImpossibleError, PlanningSettings
from llm_planner.planning.planning import outcome_of, plan_command, plan_program
from llm_planner.plans.plan import Outcome
from llm_planner.programs.problems import Problem, ProgramError
from llm_planner.scene.scene import Pose
from llm_planner.skills.library import load_skills


@pytest.fixture
def plan(scene, skills):
    def make(text, where=scene):
        return plan_program("do it", text, where, tuple(skills.values())).plan

    return make


@pytest.fixture
def table_skills(scene):
    return load_skills().for_scene(scene).signatures


def shown(plan):
    return [f"{step.id} {step} line {step.line}" for step in plan.steps]


def test_every_step_is_shown_before_anything_moves(plan):
    made = plan(
        'for block in objects("block"):\n    for bowl in objects("bowl", color=color(block)):\n'
        "        pick(block)\n        place_in(bowl)"
    )
    assert shown(made) == [
        '1 pick("red block") line 3',
        '2 place_in("red bowl") line 4',
        '3 pick("green block") line 3',
        '4 place_in("green bowl") line 4',
        '5 pick("blue block") line 3',
        '6 place_in("blue bowl") line 4',
    ]
    assert made.complete
    assert [str(goal) for goal in made.goals] == [
        "in(red block, red bowl)",
        "in(green block, green bowl)",
        "in(blue block, blue bowl)",
    ]


def test_later_questions_are_answered_by_the_scene_as_it_will_be(plan):
    made = plan(
        'pick("red block")\nplace_on("blue block")\n'
        'if is_on("red block", "blue block"):\n    push("green block", "left", 0.1)\n'
        "while is_held(contents('blue block')[0]):\n    go_home()"
    )
    assert shown(made)[-1] == '3 push("green block", "left", 0.1) line 4'


PREDICTED = {
    'pick("red block")\nplace_in("red bowl")\npick("green block")\nplace_in("red bowl")': (
        "is_in('red block', 'red bowl') and is_in('green block', 'red bowl')"
    ),
    'pick("red block")\nplace_on("red bowl")': "is_on('red block', 'red bowl')",
    'pick("red block")\nplace_on("blue block")': "is_on('red block', 'blue block') and not is_clear('blue block')",
    'pick("red block")\nplace_at("top right corner")': "is_at('red block', 'top right corner')",
    'pick("red block")\nplace_at(point(0.33, -0.1))': "is_at('red block', point(0.33, -0.1))",
    'pick("red block")\nplace_offset("right", 0.1)': "0.09 < distance('red block', point(0.55, 0.25)) < 0.11",
    'pick("red block")\nplace_beside("green block", "left", 0.1)': "is_at('red block', point(0.45, 0.14))",
    'pick("red block")\nplace_beside("green block")': "distance('red block', 'green block') < 0.081",
    'push("red block", "right", 0.1)': "is_at('red block', point(0.55, 0.15))",
    'pick("red block")': "held() == 'red block'",
    'pick("red block")\nopen_gripper()': "held() == None",
}


@pytest.mark.parametrize("text", PREDICTED)
def test_what_each_skill_promises_is_foreseen(plan, text):
    assert plan(f"{text}\nif {PREDICTED[text]}:\n    go_home()").steps[-1].skill == "go_home"


def test_a_plan_that_cannot_work_is_told_before_anything_moves(plan):
    with pytest.raises(
        ProgramError, match="line 3, column 1: pick cannot start: something stands on or in the green block"
    ):
        plan('pick("red block")\nplace_on("green block")\npick("green block")\nplace_at("middle")')


def test_a_thing_cannot_be_put_into_itself_or_into_a_block(plan):
    with pytest.raises(ProgramError, match="place_in cannot start: the red block cannot be put into itself"):
        plan('pick("red block")\nplace_in("red block")')
    with pytest.raises(ProgramError, match="place_in cannot start: the blue block is not a container"):
        plan('pick("red block")\nplace_in("blue block")')


def test_a_plan_without_end_is_told(plan):
    with pytest.raises(ProgramError, match="the program takes more than 200 steps"):
        plan('while not is_on("red block", "blue block"):\n    go_home()')


def test_a_plan_that_would_do_nothing_becomes_a_question(plan):
    with pytest.raises(QuestionError, match=r"There is nothing to do: there is no vase here. What did you mean\?"):
        plan('for vase in objects("vase"):\n    pick(vase)\n    place_at("middle")')
    with pytest.raises(QuestionError, match=r"There is nothing to do: there is no pink block here"):
        plan('for below, block in pairs(objects("block", "pink")):\n    pick(block)\n    place_on(below)')
    with pytest.raises(QuestionError, match=r"There is nothing to do: there is no second red block here"):
        plan('for below, block in pairs(objects("block", "red")):\n    pick(block)\n    place_on(below)')
    with pytest.raises(QuestionError, match=r"There is nothing to do: there is no vase here"):
        plan('for v, p in zip(objects("vase"), line_points(len(objects("vase")))):\n    pick(v)\n    place_at(p)')


def test_a_condition_that_does_not_hold_leaves_nothing_to_do(plan):
    assert shown(plan('if is_held("red block"):\n    place_at("middle")')) == []


def test_what_cannot_be_found_becomes_a_question(plan):
    with pytest.raises(QuestionError, match=r"^There is no block to the left of the red block. What should I do inste"):
        plan('pick(on_side(objects("block"), "left", of="red block")[0])')


def model(*programs):
    return ScriptedLanguageModel({"go": [ProgramReply(program=text, confidence=0.8) for text in programs]})


def test_a_command_becomes_a_plan_with_the_models_confidence(scene, skills):
    planned = plan_command(" go ", scene, tuple(skills.values()), model("go_home()"))
    assert (planned.plan.command, planned.confidence) == ("go", 0.8)
    assert shown(planned.plan) == ["1 go_home() line 1"]
    assert planned.interpreter.line == 0


def test_what_the_rehearsal_finds_goes_back_to_the_model(scene, skills):
    asked = model('pick("red block")\nplace_in("blue block")', 'pick("red block")\nplace_on("blue block")')
    planned = plan_command("go", scene, tuple(skills.values()), asked)
    assert planned.plan.steps[-1].skill == "place_on"
    assert "the blue block is not a container" in asked.requests[1].attempts[0].problems[0]


RED_LAST = 'pick("green block")\nplace_in("green bowl")\npick("red block")\nplace_in("red bowl")\n'
RED_FIRST = ReadConstraint("!holding(green block) W in(red block, red bowl)", "but red first")


def obstinate(cls, *choices):
    """A model whose programs all break the rule that it reads."""
    readings = (Reading("sort red and green", (RED_FIRST,), log_probability=0.0),)
    table = {
        "sort red and green, but red first": Script(readings=(readings,)),
        "sort red and green": Script((ProgramReply(RED_LAST),), choices=choices),
    }
    return cls(table)


def test_where_no_program_obeys_the_model_chooses_among_the_steps_that_do(scene, table_skills):
    asked = obstinate(ScriptedLanguageModel, 'pick("red block")', 'place_in("red bowl")', 'pick("green block")')
    planned = plan_command("sort red and green, but red first", scene, table_skills, asked)
    assert [step.skill for step in planned.plan.steps] == ["pick", "place_in", "pick", "place_in"]
    assert planned.plan.steps[0].arguments == {"object": "red block"}
    assert 'pick("green block")' not in asked.choices[0].options
    assert asked.choices[0].constraints == (
        "the robot does not hold the green block before the red block has lain in the red bowl",
    )


def test_a_model_that_makes_no_choice_is_done_without(scene, table_skills):
    class Mute(ScriptedLanguageModel):
        def choose(self, request):
            raise LanguageModelError("chose none of the options")

    planned = plan_command("sort red and green, but red first", scene, table_skills, obstinate(Mute))
    assert [str(step) for step in planned.plan.steps] == [
        'pick("red block")', 'place_in("red bowl")', 'pick("green block")', 'place_in("green bowl")'
    ]  # fmt: skip


def test_what_is_so_already_is_told(scene, table_skills):
    goal = ReadConstraint("F clear(red block)", "clear the red block", goal=True)
    readings = (Reading(constraints=(goal,), log_probability=0.0),)
    asked = ScriptedLanguageModel({"clear the red block": Script(readings=(readings,))})
    with pytest.raises(QuestionError, match=r"What you ask for is so already: “clear the red block”. What else should"):
        plan_command("clear the red block", scene, table_skills, asked)


@pytest.mark.parametrize(
    ("program", "is_so"),
    [
        ('pick("red block")\nplace_in("red bowl")', True),
        ('pick("red block")\nplace_at("top left corner")\npick("red block")\nplace_in("red bowl")', False),
        ('pick("red block")', False),
        ('pick("red block")\nplace_in("red bowl")\ngo_home()', False),
    ],
)
def test_a_program_that_changes_nothing_is_so_already(scene, table_skills, program, is_so):
    block, bowl = scene.find("red block"), scene.find("red bowl")
    inside = replace(block, position=(*bowl.position[:2], 0.03))
    there = replace(scene, objects=tuple(inside if item is block else item for item in scene.objects))
    asked = ScriptedLanguageModel({"do it": Script((ProgramReply(program),))})
    try:
        plan_command("do it", there, table_skills, asked)
        told = ""
    except QuestionError as question:
        told = str(question)
    assert ("is so already" in told) == is_so


def test_an_object_in_the_gripper_from_the_start_is_reckoned_with(plan, scene):
    assert shown(plan('place_at("middle")', replace(scene, held="red block"))) == ['1 place_at("middle") line 1']


@pytest.mark.parametrize(
    ("error", "outcome", "message"),
    [
        (QuestionError("Which one?"), Outcome.QUESTION, "Which one?"),
        (InputError("too long"), Outcome.REFUSED, "too long"),
        (LanguageModelError("no answer"), Outcome.FAILED, "no answer"),
        (
            ProgramError([Problem(1, 2, "no good")]),
            Outcome.REFUSED,
            "I found no program for this that may run: line 1, column 2: no good",
        ),
    ],
)
def test_every_reason_for_having_no_plan_has_an_outcome(error, outcome, message):
    assert outcome_of(error) == (outcome, message)


RED_THEN_GREEN = 'pick("red block")\nplace_in("red bowl")\npick("green block")\nplace_in("green bowl")\n'
GREEN_THEN_RED = 'pick("green block")\nplace_in("green bowl")\npick("red block")\nplace_in("red bowl")\n'


def sampled(*programs):
    best, *others = programs
    return ScriptedLanguageModel({"go": ProgramReply(best, others=tuple(others))})


def branches(scene, skills, *programs, **settings):
    """How many calls begin the plan or another way to the same."""
    made = plan_command("go", scene, tuple(skills.values()), sampled(*programs), settings=PlanningSettings(**settings))
    return [str(made.tree.nodes[child].step.call) for child in made.tree.branches(0)]


def test_sampled_programs_that_come_to_the_same_are_kept_as_other_ways(scene, skills):
    assert branches(scene, skills, RED_THEN_GREEN, GREEN_THEN_RED) == ['pick("red block")', 'pick("green block")']
    assert branches(scene, skills, RED_THEN_GREEN, GREEN_THEN_RED, samples=1) == ['pick("red block")']


def test_a_sample_that_does_something_else_is_no_other_way(scene, skills):
    elsewhere = GREEN_THEN_RED.replace("green bowl", "blue bowl")
    assert branches(scene, skills, RED_THEN_GREEN, elsewhere) == ['pick("red block")']


def test_a_sample_that_the_source_may_not_have_done_is_no_other_way(scene, skills, careful):
    blue = 'pick("blue block")\nplace_at("middle")\n'
    assert branches(scene, skills, RED_THEN_GREEN, blue + RED_THEN_GREEN, policy=careful()) == ['pick("red block")']


def test_without_rules_a_best_program_that_may_not_run_goes_back_and_no_sample_takes_its_place(scene, skills):
    replies = [
        ProgramReply('pick("red block")\nplace_on("red block")', others=("go_home()",)),
        ProgramReply(RED_THEN_GREEN),
    ]
    made = plan_command("go", scene, tuple(skills.values()), ScriptedLanguageModel({"go": replies}))
    assert made.plan.steps[0].skill == "pick"


def test_why_a_plan_may_not_run_is_told_in_one_sentence(scene, table_skills):
    rule = Constraint(parse("G !holding(red block)"), "leave the red one")
    with pytest.raises(ImpossibleError) as error:
        plan_program("do it", 'pick("red block")', scene, table_skills, constraints=(rule,))
    assert str(error.value) == (
        'This plan may not run: Step 1, pick("red block"), may not start: it would break “leave the red one” '
        "(holding(red block)). Nothing has moved."
    )


def test_the_steps_that_reasons_speak_of_are_listed(scene, table_skills):
    rule = Constraint(parse("G !holding(green block)"), "leave the green one")
    with pytest.raises(ImpossibleError) as error:
        plan_program("do it", RED_THEN_GREEN, scene, table_skills, constraints=(rule,))
    assert str(error.value) == (
        'This plan may not run: Step 3, pick("green block"), may not start: it would break “leave the green one” '
        '(holding(green block)). The steps of this plan: 1 pick("red block"), 2 place_in("red bowl"), '
        '3 pick("green block"), 4 place_in("green bowl"). Nothing has moved.'
    )


def test_what_cannot_be_foreseen_is_asked_in_one_sentence(scene, table_skills):
    rule = Constraint(parse("G[0,5] speed(robot) < 0.2"), "slowly")
    seen = replace(scene, robot=Pose((0.4, 0.0, 0.3)))
    with pytest.raises(QuestionError) as error:
        plan_program("do it", 'pick("red block")', seen, table_skills, constraints=(rule,))
    assert str(error.value).startswith("I am not sure that this goes well: how fast the robot will be is not foreseen")
    assert str(error.value).endswith("tells. What should I do?")
