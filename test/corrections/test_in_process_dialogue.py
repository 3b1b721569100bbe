"""Corrections that teach, from the words to the next plan, with a robot that does what skills promise and in MuJoCo."""

import importlib.util
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from llm_planner.corrections.dialogue_session import RULE_LEFT_OUT
from llm_planner.corrections.edits import Edit, LiftRule, Rebind
from llm_planner.corrections.edits import Outcome as Became
from llm_planner.corrections.in_process import InProcessDialogue
from llm_planner.corrections.preferences.learning import Changes
from llm_planner.corrections.preferences.memory import Memory, PreferenceStore
from llm_planner.corrections.preferences.preference import Occasion, State
from llm_planner.corrections.situation import Sources
from llm_planner.execution.execution_state import Phase, StartSkill, start_execution
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planning import plan_program
from llm_planner.plans.plan import Outcome, StepStatus
from llm_planner.scene import predicates
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.library import load_skills

_PLAN = importlib.util.spec_from_file_location(
    "pretended_robot", Path(__file__).parents[1] / "planning" / "conftest.py"
)
pretended = importlib.util.module_from_spec(_PLAN)
_PLAN.loader.exec_module(pretended)

NOON = 1_793_701_800.0  # [s since the epoch]
CUP = (0.08, 0.08, 0.1)
LIBRARY = load_skills(learned=False)
TABLE = Scene(
    0.0,
    (
        pretended.thing("red mug", 0.55, 0.25, CUP),
        pretended.thing("blue mug", 0.45, 0.1, CUP),
        pretended.thing("green block", 0.35, 0.0),
        pretended.thing("yellow block", 0.35, -0.25),
        pretended.thing("white plate", 0.45, -0.1, (0.15, 0.15, 0.017)),
        pretended.thing("blue bowl", 0.55, -0.3, pretended.BOWL),
        pretended.thing("green bowl", 0.35, 0.3, pretended.BOWL),
    ),
)
WITH_VASE = replace(TABLE, objects=(*TABLE.objects, pretended.thing("vase", 0.6, 0.4, CUP)))
SKILLS = {skill.name: skill for skill in LIBRARY.for_scene(TABLE).signatures}


def failing(before, promised):
    return before, SkillResult(SkillErrorCode.INVALID_ARGUMENT, "it went wrong")


def hands_off(sentence, scene):
    """Whatever rule is asked for."""
    return (Constraint(parse("G !holding(vase)"), sentence),)


class Talk:
    """One command at the table, carried out by the pretended robot, and the dialogue about it."""

    def __init__(self, dialogue, text, command, mishaps=None, where=TABLE):
        planned = plan_program(command, text, where, tuple(SKILLS.values()))
        self.robot = pretended.Robot(where, SKILLS, mishaps)
        self.dialogue, self.commands, self.told = dialogue, dialogue.commands, dialogue.told
        self.state = start_execution(planned.plan, planned.interpreter, scene=where)
        self._goes_on()

    def says(self, words):
        """Says it during the step under way; gives the answer."""
        answer = self.dialogue.hear(words, self.state)
        self.state = self.dialogue.state
        self._goes_on()
        return answer

    def _goes_on(self):
        """Until a skill runs whose step the lessons leave as it is."""
        while self.state.phase is Phase.READY:
            self._tell(pretended.SceneObserved(self.robot.scene))

    def does(self, steps=1):
        """Carries out so many steps."""
        for _ in range(steps):
            (start,) = [command for command in self.commands if isinstance(command, StartSkill)][-1:]
            result = self.robot.obey(start)
            self._tell(pretended.SkillFinished(start.step_id, result))
            self._tell(pretended.SceneObserved(self.robot.scene))
            self._goes_on()
        return self

    def ends(self):
        """Carries out the rest."""
        while self.state.phase is not Phase.ENDED:
            self.does()
        self.dialogue.end(self.state)
        return self

    def _tell(self, event):
        state, commands = pretended.advance(self.state, event)
        self.commands += commands
        self.state = self.dialogue.look(state)

    @property
    def question(self):
        return self.dialogue.session.question

    @property
    def all_told(self):
        return " / ".join(self.told)

    @property
    def speed(self):
        return self.state.manner.quantity("speed", self.state.run.step.id if self.state.run else "")

    @property
    def done(self):
        return [str(step) for step in self.state.plan.steps if step.status is StepStatus.DONE]


class House:
    """People who give commands, a minute apart, to a robot with one memory."""

    def __init__(self, store, reader):
        self.store, self.commands = store, 0
        self._reader = reader

    def dialogue(self, user="Anna"):
        self.commands += 1
        occasion = Occasion(NOON + 60 * self.commands, user, "today", f"c{self.commands}")
        return InProcessDialogue(self._reader, Memory(self.store), occasion)

    def command(self, text, user="Anna", command="tidy up", **options):
        return Talk(self.dialogue(user), text, command, **options)

    @property
    def learned(self):
        return [lesson for lesson in self.store.lessons() if lesson.state is State.LEARNED]


SAID = {
    "always slower with the mug": 'speed(less, scope=always, about="the mug")',
    "always slower with the block": 'speed(less, scope=always, about="the block")',
    "always in the blue bowl": 'other_target(in, "the blue bowl", scope=always)',
    "always on the left side": 'other_target(at, "the left side", scope=always)',
    "always 4 cm to the left": 'shift(left, by="4 cm", scope=always)',
    "no, in the green bowl": 'other_target(in, "the green bowl")',
    "half speed": "speed(exact, by=half_of)",
    "full speed": "speed(normal)",
    "travel higher": "height(more, lifetime=plan)",
    "just this once": "remember(once)",
    "remember that": "remember(always)",
    "from now on never touch the vase": 'rule("never touch the vase", scope=always)',
    "you may touch the vase again": 'lift("you may touch the vase again")',
}


@pytest.fixture
def house(tmp_path, listed_corrections):
    store = PreferenceStore(tmp_path / "memory.sqlite")
    yield House(store, listed_corrections(SAID, Sources(hands_off, lambda command, scene: ())))
    store.close()


RED_MUG = 'pick("red mug")\nplace_on("white plate")'
BLUE_MUG = 'pick("blue mug")\nplace_on("white plate")'
BLOCK = 'pick("green block")\nplace_at("left side")'
INTO_THE_GREEN = 'pick("green block")\nplace_in("green bowl")'


def taught(house, words, text=RED_MUG, user="Anna", after=0, where=TABLE):
    talk = house.command(text, user, where=where)
    talk.does(after)
    answer = talk.says(words)
    assert answer.outcome is Became.APPLIED, answer
    return talk.ends()


class TestALessonThatIsKept:
    def test_acts_in_the_next_plan_with_such_a_thing_and_is_announced(self, house):
        taught(house, "always slower with the mug")
        talk = house.command(BLUE_MUG)
        assert talk.told == ["using what you told me today: slower with mugs"]
        assert talk.speed == 0.5
        assert talk.does().speed == 0.5

    def test_ends_with_the_step_that_it_is_for(self, house):
        taught(house, "always slower with the mug")
        talk = house.command(f"{BLUE_MUG}\n{BLOCK}")
        speeds = [talk.speed, *(talk.does().speed for _ in range(3))]
        assert speeds == [0.5, 0.5, 1.0, 1.0]

    def test_makes_no_new_version_of_the_plan_by_a_change_of_motion(self, house):
        taught(house, "always slower with the mug")
        assert house.command(BLUE_MUG).state.version == 0

    def test_changes_the_plan_before_its_first_step_is_done(self, house):
        taught(house, "always in the blue bowl", INTO_THE_GREEN)
        talk = house.command('pick("yellow block")\nplace_in("green bowl")').ends()
        assert talk.done == ['pick("yellow block")', 'place_in("blue bowl")']
        assert "using what you told me today" in talk.all_told

    def test_acts_on_the_rest_of_the_plan_in_which_it_was_told(self, house):
        both = 'pick("green block")\nplace_in("green bowl")\npick("yellow block")\nplace_in("green bowl")'
        talk = taught(house, "always in the blue bowl", both)
        assert talk.done[3] == 'place_in("blue bowl")'

    def test_does_not_act_twice_on_the_motion_of_the_plan_in_which_it_was_told(self, house):
        talk = house.command(f"{RED_MUG}\n{BLUE_MUG}")
        talk.says("always slower with the mug")
        assert [talk.speed, *(talk.does().speed for _ in range(3))] == [0.5] * 4

    def test_slows_a_step_that_is_tried_again(self, house):
        taught(house, "always slower with the mug")
        slips = {1: lambda before, promised: (before, SkillResult(SkillErrorCode.SUCCEEDED))}
        talk = house.command(f"{BLUE_MUG}\n{BLOCK}", mishaps=slips)
        assert [talk.speed, *(talk.does().speed for _ in range(3))] == [0.5, 0.5, 0.5, 1.0]


class TestWhatIsNotKept:
    def test_is_what_was_told_of_a_step_that_failed(self, house):
        talk = house.command(RED_MUG, mishaps={1: failing})
        talk.says("always slower with the mug")
        talk.ends()
        assert talk.state.end.reason.outcome is Outcome.FAILED
        assert house.store.lessons() == ()

    def test_is_what_was_said_just_this_once(self, house):
        talk = house.command(RED_MUG)
        talk.says("slower")
        assert talk.says("just this once").message == "only this once: slower with mugs during “pick”"
        talk.ends()
        assert house.store.lessons() == ()
        assert house.command(BLUE_MUG).speed == 1.0

    def test_is_what_was_taken_back(self, house):
        talk = house.command(RED_MUG)
        talk.says("always slower with the mug")
        talk.says("undo that")
        assert talk.ends().speed == 1.0
        assert house.store.lessons() == ()


class TestWhatIsSaidOnce:
    def test_is_kept_when_the_person_asks_for_that(self, house):
        talk = house.command(RED_MUG)
        talk.says("slower")
        assert talk.says("remember that").message == "I will remember: slower with mugs during “pick”"
        talk.ends()
        assert house.command(BLUE_MUG).speed == 0.5

    def test_is_asked_about_when_it_is_said_again_and_kept_after_a_yes(self, house):
        taught(house, "slower")
        talk = house.command(BLUE_MUG)
        talk.says("slower")
        assert "Shall I always do so: slower with mugs during “pick”? (yes / no)" in talk.told[-1]
        assert talk.says("yes").message == "I will always do so: slower with mugs during “pick”"
        assert talk.question is None
        talk.ends()
        assert house.command(RED_MUG).speed == 0.5

    def test_is_not_kept_when_the_question_is_passed_over(self, house):
        taught(house, "slower")
        talk = house.command(BLUE_MUG)
        talk.says("slower")
        talk.says("a bit higher")
        assert talk.question is None
        talk.ends()
        assert house.learned == []


def test_two_people_do_not_unteach_each_other(house):
    taught(house, "always slower with the mug", user="Anna")
    talk = house.command(BLUE_MUG, "Ben")
    assert talk.speed == 1.0
    talk.says("half speed")
    talk.says("full speed")
    talk.ends()
    assert house.command(BLUE_MUG, "Anna").speed == 0.5


class TestACorrectionAgainstALesson:
    def test_narrows_it_to_what_tells_the_cases_apart(self, house):
        taught(house, "always slower with the mug")
        talk = house.command(BLUE_MUG)
        assert talk.says("faster").message.endswith("; from now on only with red mugs: slower with mugs")
        talk.ends()
        assert house.command(BLUE_MUG).speed == 1.0
        assert house.command(RED_MUG).speed == 0.5

    def test_of_a_target_is_for_the_case_at_hand(self, house):
        taught(house, "always in the blue bowl", INTO_THE_GREEN)
        talk = house.command('pick("yellow block")\nplace_in("green bowl")')
        assert "; from now on only with green blocks" in talk.says("no, in the green bowl").message
        assert talk.ends().done[1] == 'place_in("green bowl")'

    def test_by_undoing_what_it_did_leaves_it_out_of_this_plan(self, house):
        taught(house, "always in the blue bowl", INTO_THE_GREEN)
        talk = house.command('pick("yellow block")\nplace_in("green bowl")')
        assert talk.says("undo that").outcome is Became.APPLIED
        assert talk.ends().done[1] == 'place_in("green bowl")'


def test_undo_after_a_step_that_a_lesson_slowed_does_not_slow_the_rest(house):
    taught(house, "always slower with the mug")
    talk = house.command(f"{BLUE_MUG}\n{BLOCK}")
    talk.says("travel higher")
    talk.does(2)
    assert (talk.speed, talk.state.manner.height) == (1.0, 0.05)
    talk.says("undo that")
    assert (talk.speed, talk.state.manner.height) == (1.0, 0.0)


class TooLate:
    """Reads all words for the first step."""

    def read(self, words, situation):
        return Edit((Rebind("1", "object", "blue mug"),), words, situation.version)


def test_words_for_a_step_that_is_over_whenever_they_are_read_are_refused(tmp_path):
    with closing(PreferenceStore(tmp_path / "memory.sqlite")) as store:
        answer = House(store, TooLate()).command(RED_MUG).does().says("no, the blue one")
    assert answer.outcome is Became.REFUSED
    assert answer.message == 'step 1, pick("red mug"), is over (done) and cannot be changed any more'


class TestWhatTheCheckDoesNotPass:
    def test_is_left_out_once_the_person_says_go_on_where_it_is_a_rule_and_the_rest_is_used(self, house):
        taught(house, "always slower with the block", INTO_THE_GREEN)
        taught(house, "from now on never touch the vase", where=WITH_VASE)
        talk = house.command('pick("green block")\nplace_at("left side")\npick("vase")', where=WITH_VASE)
        assert "I leave out what you told me, never touch the vase: that cannot be kept" in talk.all_told
        assert (talk.told[-1], talk.state.phase) == (RULE_LEFT_OUT, Phase.PAUSED)
        talk.says("go on")
        assert (talk.state.plan.constraints, talk.speed) == ((), 0.5)
        assert talk.all_told.count("I leave out") == 1

    def test_is_left_out_of_a_step_where_it_goes_too_far(self, house):
        taught(house, "always 4 cm to the left", after=1)
        small = replace(TABLE.find("white plate"), size=(0.06, 0.06, 0.017))
        objects = tuple(small if item.name == small.name else item for item in TABLE.objects)
        talk = house.command(BLUE_MUG, where=replace(TABLE, objects=objects)).ends()
        assert "would not be on the white plate any more" in talk.all_told
        assert talk.state.end.reason.outcome is Outcome.DONE


def test_of_two_lessons_that_do_not_go_together_the_person_says_which_holds(house):
    taught(house, "always slower with the mug")
    (slower,) = house.learned
    faster = replace(
        slower,
        id=0,
        operations=(replace(slower.operations[0], value=2.0),),
        slots=replace(slower.slots, kind="", color="red"),
    )
    house.store.change(lambda lessons: Changes((faster,)))
    talk = house.command(RED_MUG)
    assert talk.question.question == "You told me things that do not go together; which shall I do now?"
    assert (talk.question.options, talk.speed) == (("faster with red things", "slower with mugs"), 1.0)
    assert talk.says("the second one").outcome is Became.APPLIED
    assert talk.question is None
    talk.ends()
    again = house.command(RED_MUG)
    assert (again.question, again.speed) == (None, 0.5)


def test_a_rule_is_lifted_only_after_a_yes_and_its_lesson_with_it(house):
    talk = house.command(RED_MUG, where=WITH_VASE)
    talk.says("from now on never touch the vase")
    assert len(talk.state.plan.constraints) == 1
    answer = talk.says("you may touch the vase again")
    assert answer.edit.operations == (LiftRule(str(talk.state.plan.constraints[0].formula)),)
    assert "shall I no longer keep this?" in answer.message
    assert len(talk.state.plan.constraints) == 1
    assert talk.says("yes").outcome is Became.APPLIED
    assert talk.state.plan.constraints == ()
    assert house.learned == []


class Simulated:
    """Commands that are carried out in MuJoCo, with somebody who says the words given, one at each look."""

    def __init__(self, house):
        self._house, self.fastest = house, 0.0

    def run(self, objects, text, seed, words=()):
        """The scene in the end; `fastest` is then how fast something was carried [m/s]."""
        dialogue, words, seen = self._house.dialogue(), iter(words), []
        self.fastest = 0.0

        def steer(state):
            state = dialogue.look(state)
            self.fastest = max(self.fastest, state.scene.speed if state.scene.held else 0.0)
            for said in islice(words, 1):
                dialogue.hear(said, state)
            return dialogue.state

        def plan(scene):
            return plan_program("tidy up", text, scene, LIBRARY.for_scene(scene).signatures)

        workcell = Workcell(open_world("tabletop", seed, parse_objects(objects)), LIBRARY)
        report = run_command("tidy up", workcell, plan, on_change=seen.append, steer=steer)
        assert report.outcome is Outcome.DONE, report.message
        dialogue.end(seen[-1])
        return report.scene_after


def test_in_the_simulation_the_next_mug_is_carried_slowly_to_where_mugs_are_wanted(house):
    anna = Simulated(house)
    there = 'pick("{}")\nplace_at("right side")'
    words = ("always slower with the mug", "always on the left side")
    anna.run("red mug, plate", there.format("red mug"), 1, words)
    after = anna.run("blue mug, plate", there.format("blue mug"), 2)
    assert predicates.at(after, "blue mug", "left side")
    assert anna.fastest < 0.3
    after = anna.run("yellow block, plate", there.format("yellow block"), 2)
    assert predicates.at(after, "yellow block", "right side")
    assert anna.fastest > 0.3
