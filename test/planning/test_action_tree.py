"""Sampled plans as a tree, walked against the live scene without asking a model again."""

from dataclasses import replace

import pytest
from action_trees import PATIENCE, Walk, sample_plans

from llm_planner.errors import LanguageModelError, QuestionError
from llm_planner.language.model import ProgramReply, ProgramRequest, Usage
from llm_planner.planning.choices import ROOT, Call, Step, merged
from llm_planner.plans.plan import goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.unroll import lying
from llm_planner.programs.problems import ProgramError

RED_FIRST = 'pick("red block")\nplace_in("red bowl")\npick("green block")\nplace_in("green bowl")\n'
GREEN_FIRST = 'pick("green block")\nplace_in("green bowl")\npick("red block")\nplace_in("red bowl")\n'
A, B, C = Call("a"), Call("b"), Call("c")


class Sampler:
    """A model that answers with listed programs and keeps what it was asked."""

    name = "sampler"

    def __init__(self, *programs, question=""):
        self.programs, self.question, self.requests = programs, question, []

    def write_program(self, request):
        self.requests.append(request)
        first, *others = self.programs or ("",)
        return ProgramReply(first, self.question, usage=Usage(100, 20, 1), others=tuple(others))


def steps(*calls):
    return tuple(map(Step, calls))


@pytest.fixture
def table_skills(skills, scene):
    return tuple(skill for skill in skills.values() if skill.name in ("pick", "place_in", "place_at", "push"))


@pytest.fixture
def sample(scene, table_skills):
    def make(*programs):
        model = Sampler(*programs)
        return sample_plans(ProgramRequest("tidy", scene, samples=len(programs)), table_skills, model)

    return make


@pytest.fixture
def carry_out(scene, table_skills):
    """Walks a tree; `fails` says whether the step of that number (from 1) fails. Gives the calls and the last scene."""

    def run(sampled, fails=lambda count, call: False, most=40):
        table = {skill.name: skill for skill in table_skills}
        walk, now, origins, called = Walk(sampled.tree), scene, lying(scene), []
        while not sampled.is_reached(now) and len(called) < most:
            number = walk.next_step(now, table_skills)
            if number is None:
                return called, now
            call = sampled.tree.nodes[number].step.call
            called.append(str(call))
            if fails(len(called), call):
                walk = walk.failed(number)
                continue
            origins |= lying(now)
            skill = table[call.skill]
            now = predict(now, goals_of(skill, "", call.values(skill), now, origins))
            walk = walk.succeeded(number)
        return called, now

    return run


def test_plans_share_the_beginning_that_they_have_in_common():
    tree = merged([steps(A, B), steps(A, C), steps(B)])
    assert len(tree.nodes) == 1 + 4
    assert tree.nodes[ROOT].plans == 3
    shared = tree.nodes[ROOT].children[A]
    assert tree.nodes[shared].plans == 2
    assert tree.nodes[shared].children.keys() == {B, C}
    assert tree.calls == (A, B, C)


def test_what_most_plans_do_comes_first():
    tree = merged([steps(B), steps(A), steps(A)])
    assert [tree.nodes[k].step.call for k in tree.branches(ROOT)] == [A, B]


def test_of_equals_the_models_best_comes_first():
    tree = merged([steps(B), steps(A)])
    assert [tree.nodes[k].step.call for k in tree.branches(ROOT)] == [B, A]
    assert tree.after(ROOT, A) == tree.nodes[ROOT].children[A]
    assert tree.after(ROOT, C) == ROOT


def test_without_mishaps_the_best_program_is_carried_out(sample, carry_out):
    called, _ = carry_out(sample(RED_FIRST, GREEN_FIRST))
    assert called == RED_FIRST.splitlines()


def test_a_step_that_failed_is_tried_again(sample, carry_out):
    called, now = carry_out(sample(RED_FIRST), lambda count, call: count == 1)
    assert called == ['pick("red block")', *RED_FIRST.splitlines()]
    assert now.held == ""


def test_a_step_that_fails_too_often_gives_way_to_another_branch(sample, carry_out, scene):
    sampled = sample(RED_FIRST, GREEN_FIRST)
    called, _ = carry_out(sampled, lambda count, call: call == Call("pick", ("red block",)))
    assert called[:PATIENCE] == ['pick("red block")'] * PATIENCE
    assert called[PATIENCE : PATIENCE + 2] == ['pick("green block")', 'place_in("green bowl")']


def test_what_was_done_on_another_branch_is_not_done_again(sample, carry_out):
    stuck = 'pick("green block")\nplace_in("green bowl")\npick("blue block")\nplace_in("blue bowl")\n'
    sampled = sample(RED_FIRST, stuck + 'pick("red block")\nplace_in("red bowl")\n')
    called, now = carry_out(sampled, lambda count, call: count <= PATIENCE)
    assert called.count('place_in("green bowl")') == 1
    assert sampled.is_reached(now)


def test_a_thing_that_was_dropped_is_picked_up_again(sample, table_skills, scene):
    sampled = sample(RED_FIRST)
    first = sampled.tree.after(ROOT, Call("pick", ("red block",)))
    walk = Walk(sampled.tree).succeeded(first)  # but it is not in the gripper any more
    assert walk.next_step(scene, table_skills) == first


def test_where_no_branch_is_left_a_model_would_have_to_be_asked(sample, carry_out, scene):
    called, now = carry_out(sample(RED_FIRST), lambda count, call: True)
    assert called == ['pick("red block")'] * PATIENCE
    assert now == scene


def test_the_goals_of_any_of_the_programs_are_enough(sample, scene):
    sampled = sample(RED_FIRST, 'pick("red block")\nplace_at("middle")\n')
    held = replace(scene, held="red block")
    origins = lying(scene)
    goals = sampled.goals[1]
    assert sampled.is_reached(predict(held, tuple(replace(goal, origins=origins) for goal in goals)))
    assert not sampled.is_reached(scene)


def test_samples_are_asked_for_once_and_what_they_cost_is_told(scene, table_skills):
    model = Sampler(RED_FIRST, GREEN_FIRST, 'pick("cup")\n')
    sampled = sample_plans(ProgramRequest("tidy", scene, samples=3), table_skills, model)
    assert len(model.requests) == 1
    assert sampled.usage == Usage(100, 20, 1)
    assert sampled.programs == (RED_FIRST, GREEN_FIRST)
    (reason,) = sampled.refused
    assert 'there is no "cup" here' in reason


def test_when_no_sample_can_work_the_best_ones_problems_are_told(scene, table_skills):
    with pytest.raises(ProgramError, match='there is no "cup" here'):
        sample_plans(ProgramRequest("tidy", scene), table_skills, Sampler('pick("cup")\n'))


def test_a_question_of_the_model_is_asked(scene, table_skills):
    with pytest.raises(QuestionError, match="Which block"):
        sample_plans(ProgramRequest("tidy", scene), table_skills, Sampler(question="Which block?"))


def test_a_model_that_fails_is_told(scene, table_skills):
    class Broken(Sampler):
        def write_program(self, request):
            raise LanguageModelError("the server is gone")

    with pytest.raises(LanguageModelError, match="the server is gone"):
        sample_plans(ProgramRequest("tidy", scene), table_skills, Broken())
