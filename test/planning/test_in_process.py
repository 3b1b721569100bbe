"""A plan, the skills, the controller and the simulated world in one process."""

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.factory import ScriptedLanguageModel
from llm_planner.language.model import ProgramReply
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.choices import merged, promised_steps
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planned import FailureReplanner, PlanningSettings
from llm_planner.planning.planning import plan_program
from llm_planner.plans.plan import Outcome
from llm_planner.programs.problems import ProgramError
from llm_planner.scene import predicates
from llm_planner.scene.places import BEHIND, viewpoint
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.library import SkillLibrary, load_skills

LIBRARY = load_skills()
INTO_THE_BOWL = 'pick("red block")\nplace_in("green bowl")'


@pytest.fixture
def world():
    return open_world("tabletop", 1, parse_objects("red block, blue block, green bowl"))


def planner(text, where=BEHIND):
    return lambda scene: plan_program("do it", text, scene, LIBRARY.signatures, where)


def test_a_plan_is_carried_out_and_its_every_change_is_told(world):
    seen = []
    report = run_command("do it", Workcell(world, LIBRARY), planner(INTO_THE_BOWL), on_change=seen.append)
    assert (report.outcome, report.message) == (Outcome.DONE, "The red block is in the green bowl.")
    assert predicates.in_(world.scene(), "red block", "green bowl")
    assert [[step.status.value for step in state.plan.steps] for state in seen] == [
        ["running", "pending"],
        ["done", "running"],
        ["done", "done"],
    ]
    assert report.duration == pytest.approx(world.time - 0.0)


def test_what_was_put_into_a_bowl_is_taken_out_again(world):
    fill = 'for block in objects("block"):\n    pick(block)\n    place_in("green bowl")'
    empty = 'for block in contents("green bowl"):\n    pick(block)\n    place_beside("green bowl")'
    for program in (fill, empty):
        report = run_command("do it", Workcell(world, LIBRARY), planner(program))
        assert report.outcome is Outcome.DONE, report.message
    assert predicates.contents(world.scene(), "green bowl") == ()


def test_a_stop_in_the_middle_of_a_motion_leaves_the_arm_at_rest(world):
    report = run_command(
        "do it", Workcell(world, LIBRARY), planner(INTO_THE_BOWL), stop_requested=lambda: world.time > 1.0
    )
    assert (report.outcome, report.message) == (Outcome.FAILED, "Stopped: you said stop.")
    assert np.abs(world.joint_state().qvel).max() < 0.02
    assert world.time < 3.0
    assert [step.status.value for step in report.plan.steps] == ["failed", "skipped"]


def test_a_command_without_a_plan_moves_nothing_and_is_a_report_too(world):
    report = run_command("do it", Workcell(world, LIBRARY), planner('pick("mug")'))
    assert report.outcome is Outcome.QUESTION
    assert 'There is no "mug" here' in report.message
    assert world.time == 0.0
    assert report.scene_before.objects == report.scene_after.objects == world.scene().objects


def test_a_person_facing_the_robot_has_left_and_right_the_other_way_round(world):
    facing = viewpoint("facing")
    text = 'pick("red block")\nplace_at("left side")'
    report = run_command("do it", Workcell(world, LIBRARY), planner(text, facing), facing)
    assert report.outcome is Outcome.DONE
    assert predicates.at(world.scene(), "red block", "right side")


def under(text, *formulas):
    """A planner that writes that program under those constraints."""
    constraints = tuple(Constraint(parse(formula), "so be it") for formula in formulas)

    def make(scene):
        planned = planner(text)(scene)
        return replace(planned, plan=replace(planned.plan, constraints=constraints))

    return make


class Meddled:
    """The world, in which somebody moves the blue block after a second."""

    def __init__(self, world):
        self._world = world

    def __getattr__(self, name):
        return getattr(self._world, name)

    def observation(self):
        seen = self._world.observation()
        item = seen.scene.find("blue block")
        x, y, z = item.position
        there = replace(item, position=(x, y + 0.08 * (self._world.time > 1.0), z))
        items = tuple(there if other is item else other for other in seen.scene.objects)
        return replace(seen, scene=replace(seen.scene, objects=items))


def test_a_constraint_that_breaks_while_a_skill_runs_stops_the_arm(world):
    workcell = Workcell(Meddled(world), LIBRARY)
    report = run_command("do it", workcell, under(INTO_THE_BOWL, "G !moved(blue block)"))
    assert report.outcome is Outcome.FAILED
    assert report.message.startswith("I stop here, because this is broken: “so be it”")
    assert np.abs(world.joint_state().qvel).max() < 0.02
    assert [step.status.value for step in report.plan.steps] == ["failed", "skipped"]
    (kept,) = report.kept
    assert (kept.holds, kept.margin, kept.unit) == (False, pytest.approx(-0.05, abs=1e-3), "m")


def test_a_plan_that_may_not_go_on_is_repaired_once_and_repeats_nothing(world):
    asked = []

    def repair(state, scene):
        asked.append([step.status.value for step in state.plan.steps])
        return planner('push("blue block", "right", 0.05)')(scene)

    make = under(INTO_THE_BOWL, "F in(red block, green bowl) & F moved(blue block)")
    report = run_command("do it", Workcell(world, LIBRARY), make, repair=repair)
    assert asked == [["done", "done"]]
    assert report.outcome is Outcome.DONE, report.message
    assert [(step.id, step.skill, step.status.value) for step in report.plan.steps] == [
        ("1", "pick", "done"),
        ("2", "place_in", "done"),
        ("3", "push", "done"),
    ]


def test_what_is_left_to_do_is_found_without_a_model(world):
    make = under(INTO_THE_BOWL, "F moved(blue block)")
    report = run_command("do it", Workcell(world, LIBRARY), make)
    assert report.outcome is Outcome.DONE, report.message
    assert [step.skill for step in report.plan.steps[:2]] == ["pick", "place_in"]
    assert "blue block" in str(report.plan.steps[2])


def test_where_a_repair_has_a_question_the_person_is_asked(world):
    def asks(state, scene):
        raise QuestionError("What should I do instead?")

    make = under(INTO_THE_BOWL, "F moved(blue block)")
    report = run_command("do it", Workcell(world, LIBRARY), make, repair=asks)
    assert report.message == "After every step this is still not so: “so be it”. What should I do instead?"


def test_a_constraint_that_cannot_be_watched_refuses_the_plan(world):
    report = run_command("do it", Workcell(world, LIBRARY), under(INTO_THE_BOWL, "F a"))
    assert (report.outcome, world.time) == (Outcome.REFUSED, 0.0)
    assert "'a' is not a proposition" in report.message


def test_what_the_source_may_not_have_done_is_told_before_anything_moves(world, careful):
    settings = PlanningSettings(policy=careful())
    text = 'pick("red block")\ngo_home()'
    report = run_command(
        "do it",
        Workcell(world, LIBRARY),
        lambda scene: plan_program("do it", text, scene, LIBRARY.signatures, settings=settings),
    )
    assert (report.outcome, world.time) == (Outcome.REFUSED, 0.0)
    assert report.message.startswith("The policy careful.yaml does not let commands from cli use go_home()")


class Blocked:
    """A skill that never finds room."""

    def __init__(self, skill):
        self.name, self.manifest, self.signature = skill.name, skill.manifest, skill.signature

    def start(self, arguments, observation):
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, "there is no room")


def failing(world, alternative):
    """Laying the block down fails for good; `alternative` leads the first plan, and one into the bowl, elsewhere."""

    def make(scene):
        first, bowl = planner('pick("red block")\nplace_at("middle")')(scene), planner(INTO_THE_BOWL)(scene)
        first = replace(first, plan=replace(first.plan, goals=bowl.plan.goals))
        return alternative(first, bowl, scene)

    library = SkillLibrary({**LIBRARY.skills, "place_at": Blocked(LIBRARY.find("place_at"))})
    report = run_command("do it", Workcell(world, library), make)
    assert (report.outcome, report.message) == (Outcome.DONE, "The red block is in the green bowl.")
    assert [(step.skill, step.status.value) for step in report.plan.steps] == [
        ("pick", "done"),
        ("place_at", "failed"),
        ("place_in", "done"),
    ]


def test_where_a_step_fails_for_good_another_branch_is_taken(world):
    def branch(first, bowl, scene):
        skills = LIBRARY.for_scene(scene).signatures
        tree = merged(promised_steps(one.plan.steps, skills, scene, BEHIND) for one in (first, bowl))
        return replace(first, tree=tree)

    failing(world, branch)


def test_where_a_step_fails_for_good_a_large_model_writes_the_rest(world):
    model = ScriptedLanguageModel({"put it away": [ProgramReply('place_in("green bowl")')]}, is_large=True)
    replanner = FailureReplanner(model, "put it away", (), BEHIND)
    failing(world, lambda first, bowl, scene: replace(first, replanner=replanner))
    assert model.requests[0].failure.reason == "there is no room"


def test_what_a_program_tells_is_its_result(world):
    report = run_command("do it", Workcell(world, LIBRARY), planner('tell("I see", objects("bowl"))'))
    assert (report.outcome, report.message) == (Outcome.DONE, "I see green bowl.")


INTO_THE_DRAWER = 'open_drawer("drawer")\npick("red block")\nplace_in("drawer")\nclose_drawer("drawer")'


def test_what_is_put_into_a_drawer_is_seen_in_it_once_that_is_closed():
    world = open_world("tabletop", 1, parse_objects("drawer, red block, mug"))
    signatures = LIBRARY.for_scene(world.scene()).signatures
    report = run_command(
        "do it", Workcell(world, LIBRARY), lambda scene: plan_program("do it", INTO_THE_DRAWER, scene, signatures)
    )
    assert (report.outcome, report.message) == (
        Outcome.DONE, "The red block is in the drawer; the drawer is closed.",
    )  # fmt: skip
    assert predicates.closed(world.scene(), "drawer")
    assert predicates.in_(world.scene(), "red block", "drawer")


PROBLEMS_WITH_A_DRAWER = {
    'pick("red block")\nplace_in("drawer")': (
        ProgramError,
        "the drawer is closed; open it first",
    ),
    'open_drawer("drawer")\npick("mug")\nplace_in("drawer")': (QuestionError, "mug does not fit into the drawer"),
}


@pytest.mark.parametrize("text", PROBLEMS_WITH_A_DRAWER)
def test_what_a_drawer_does_not_take_is_told_before_anything_moves(text):
    scene = open_world("tabletop", 1, parse_objects("drawer, red block, mug")).scene()
    error, told = PROBLEMS_WITH_A_DRAWER[text]
    with pytest.raises(error, match=told):
        plan_program("do it", text, scene, LIBRARY.for_scene(scene).signatures)
