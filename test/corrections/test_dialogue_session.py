"""What is read, sent, asked and told in the turns of a dialogue about a running plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llm_planner.corrections.dialogue_session import (
    MOST_AGAIN,
    RULE_LEFT_OUT,
    AnswerWithoutPlan,
    Consult,
    DialogueSession,
    EditResult,
    EditStatus,
    Read,
    Send,
    Tell,
    is_reflex,
    reading_of,
)
from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Answer,
    Cancel,
    Change,
    Clarify,
    Confirm,
    Edit,
    Hold,
    LiftRule,
    Outcome,
    Remember,
    Resume,
)
from llm_planner.corrections.learner import Notes, Seen, Wish

SLOWER = Edit((Adjust("speed", Change.SCALE, 0.5),), "slower")
LATER = Edit(SLOWER.operations, "slower", version=1)
LIFT = Edit((LiftRule("G !near(gripper, vase)"),), "you may go near the vase again")
QUESTION = Clarify("Which one?", ("the red block", "the blue block"))
ALWAYS = Clarify("Shall I always do so?", ("yes", "no"))
CHANGE = ("- rule: keep away from the vase",)
MADE = EditResult(EditStatus.ACCEPTED, difference=CHANGE)
STALE = EditResult(EditStatus.STALE, "that is over", version=1)
YES, NO = Edit((Confirm(True),), "yes"), Edit((Confirm(False),), "no")


class Driver:
    """Replies to the steps of turns, each kind of them in the order given; `steps` are those but for the memory's."""

    def __init__(self, situation):
        self.session, self.steps, self.is_running, self._situation = DialogueSession(), [], True, situation
        self.is_held = self.is_over = False

    def hears(self, *edits, results=(MADE,), notes=(), preview=False):
        """The answer to words that are read as these edits, one reading after the other."""
        return self._run(self.session.hear(edits[0].words, self.session.question, preview), edits, results, notes)

    def watches(self, seen, results=(), notes=()):
        self._run(self.session.watch(seen), (), results, notes)

    def _run(self, turn, edits, results, notes):
        self.steps, edits, results, notes, reply = [], iter(edits), iter(results), iter(notes), None
        while True:
            try:
                step = turn.send(reply)
            except StopIteration as end:
                return end.value
            if isinstance(step, Consult):
                reply = next(notes, Notes())
                continue
            self.steps.append(step)
            match step:
                case Read():
                    reading = reading_of(next(edits), self._situation, self.is_running, self.is_held)
                    reply = replace(reading, is_over=self.is_over)
                case Send():
                    reply = next(results)
                case AnswerWithoutPlan(edit):
                    reply = Answer(Outcome.NOTHING, "no plan", edit)


@pytest.fixture
def robot(at_table):
    return Driver(at_table(1))


def test_an_edit_is_sent_to_be_made_and_its_difference_told_with_what_it_teaches(robot):
    answer = robot.hears(SLOWER, notes=[Notes(("I will remember",))])
    assert robot.steps == [Read("slower", None), Send(SLOWER)]
    assert answer == Answer(Outcome.APPLIED, f"{CHANGE[0]}; I will remember", SLOWER, CHANGE)


def test_an_edit_that_is_refused_is_told_with_the_reason(robot):
    refused = EditResult(EditStatus.REFUSED, "it is so already")
    assert robot.hears(SLOWER, results=[refused]) == Answer(Outcome.REFUSED, "it is so already", SLOWER)


@pytest.mark.parametrize(
    ("operation", "message"),
    [(Hold(), "I wait until you say go on"), (Resume(), "I go on"), (Cancel(), "stopped")],
)
def test_what_acts_at_once_is_told_in_words(robot, operation, message):
    edit = Edit((operation,))
    assert is_reflex(edit)
    answer = robot.hears(edit, results=[EditResult(EditStatus.ACCEPTED)])
    assert (answer.outcome, answer.message) == (Outcome.APPLIED, message)


def test_an_edit_of_a_held_plan_is_told_with_how_the_plan_goes_on(robot):
    robot.is_held = True
    assert robot.hears(SLOWER).message == f"{CHANGE[0]}; I still wait: say “go on”"
    assert robot.hears(Edit((*SLOWER.operations, Resume()), "go on, but slower")).message == CHANGE[0]
    assert robot.hears(Edit((*SLOWER.operations, Hold()), "slower, and wait")).message == (
        f"{CHANGE[0]}; I wait until you say go on"
    )


def test_a_change_is_no_reflex_and_nor_are_two_things_in_one_breath():
    assert not is_reflex(SLOWER)
    assert not is_reflex(Edit((Hold(), Resume())))


def test_a_question_stays_open_until_it_is_answered_and_is_told_with_its_options(robot):
    answer = robot.hears(Edit((QUESTION,)))
    assert robot.session.question == QUESTION
    assert (answer.outcome, answer.message) == (Outcome.QUESTION, "Which one? (the red block / the blue block)")
    robot.hears(SLOWER)
    assert robot.steps[0] == Read("slower", QUESTION)
    assert robot.session.question is None


def test_what_is_unclear_of_words_with_a_stop_is_asked_once_the_robot_waits(robot):
    answer = robot.hears(Edit((Hold(), QUESTION), "stop, not that one"))
    assert robot.steps[1:] == [Send(Edit((Hold(),), "stop, not that one"))]
    assert answer.outcome is Outcome.QUESTION
    assert answer.message == "I wait until you say go on; Which one? (the red block / the blue block)"
    assert robot.session.question is QUESTION


def test_talk_leaves_a_question_open(robot):
    robot.hears(Edit((QUESTION,)))
    answer = robot.hears(Edit(()))
    assert robot.session.question == QUESTION
    assert (answer.outcome, answer.message) == (Outcome.NOTHING, "I hear no correction in that")


def test_a_rule_is_lifted_only_after_a_yes_and_asked_about_only_where_it_can_be(robot):
    answer = robot.hears(LIFT)
    assert robot.steps[-1] == Send(LIFT, confirmed=True, only_check=True)
    assert answer.outcome is Outcome.QUESTION
    assert answer.message == "shall I no longer keep this? - rule: keep away from the vase (yes / no)"
    robot.hears(YES)
    assert robot.steps[-1] == Send(LIFT, confirmed=True)


def test_a_no_keeps_the_rule(robot):
    robot.hears(LIFT)
    answer = robot.hears(NO)
    assert (answer.outcome, answer.message) == (Outcome.NOTHING, "all stays as it is")
    assert robot.session.question is None


def test_a_yes_after_something_else_was_said_lifts_nothing(robot):
    robot.hears(LIFT)
    robot.hears(SLOWER)
    answer = robot.hears(YES)
    assert (answer.outcome, answer.message) == (Outcome.NOTHING, "there is no question to which “yes” is the answer")


def test_a_preview_shows_the_difference_and_a_yes_makes_the_edit(robot):
    answer = robot.hears(SLOWER, preview=True)
    assert robot.steps[-1] == Send(SLOWER, only_check=True)
    assert (answer.outcome, answer.difference) == (Outcome.QUESTION, CHANGE)
    assert answer.message == "shall I change the plan so? - rule: keep away from the vase (yes / no)"
    assert robot.hears(YES).outcome is Outcome.APPLIED
    assert robot.steps[-1] == Send(SLOWER, confirmed=True)


def test_a_preview_that_the_plan_has_outrun_is_still_only_checked(robot):
    robot.hears(SLOWER, LATER, results=[STALE, MADE], preview=True)
    assert robot.steps[-1] == Send(LATER, only_check=True)


def test_a_no_to_a_preview_changes_nothing(robot):
    robot.hears(SLOWER, preview=True)
    assert robot.hears(NO).message == "all stays as it is"
    assert not any(isinstance(step, Send) for step in robot.steps)


def test_a_hold_is_made_at_once_in_a_preview_too(robot):
    robot.hears(Edit((Hold(),), "wait"), preview=True)
    assert robot.steps[-1] == Send(Edit((Hold(),), "wait"))


def test_words_about_no_plan_are_answered_without_one(robot):
    robot.is_running = False
    assert robot.hears(SLOWER).message == "no plan"


class TestWordsAfterTheEnd:
    @pytest.fixture(autouse=True)
    def over(self, robot):
        robot.is_running, robot.is_over = False, True

    def test_are_sent_as_an_edit_and_teach_nothing(self, robot):
        assert robot.hears(SLOWER, notes=[Notes(("I will remember",))]).message == f"begun as a command: {CHANGE[0]}"
        assert robot.steps == [Read("slower", None), Send(SLOWER)]

    def test_are_shown_first_in_a_preview(self, robot):
        assert robot.hears(SLOWER, preview=True).outcome is Outcome.QUESTION
        robot.hears(YES)
        assert robot.steps[-1] == Send(SLOWER, confirmed=True)

    def test_are_asked_about_where_an_answer_is_at_hand(self, robot):
        assert robot.hears(Edit((QUESTION,))).outcome is Outcome.QUESTION

    @pytest.mark.parametrize("operation", [Hold(), Cancel(), Resume()])
    def test_that_act_at_once_are_answered_without_a_plan(self, robot, operation):
        assert robot.hears(Edit((operation,), "wait")).message == "no plan"

    def test_that_are_no_correction_do_nothing(self, robot):
        assert robot.hears(Edit((), "well done")).message == "I hear no correction in that"


class TestWordsThatThePlanHasOutrun:
    def test_are_read_again_and_sent_for_the_plan_as_it_is_now(self, robot):
        assert robot.hears(SLOWER, LATER, results=[STALE, MADE]).outcome is Outcome.APPLIED
        assert robot.steps == [Read("slower", None), Send(SLOWER), Read("slower", None, SLOWER, 1), Send(LATER)]

    def test_are_refused_where_what_is_over_was_meant(self, robot):
        assert robot.hears(SLOWER, SLOWER, results=[STALE]) == Answer(Outcome.REFUSED, "that is over", SLOWER)

    def test_are_given_up_where_the_plan_changes_again_and_again(self, robot):
        edits = [Edit(SLOWER.operations, "slower", version) for version in range(MOST_AGAIN + 1)]
        answer = robot.hears(*edits, results=[STALE] * (MOST_AGAIN + 1))
        assert answer == Answer(Outcome.REFUSED, "the plan changes faster than I can read; say it again", edits[-1])


class TestTheMemory:
    def test_has_its_question_put_once_and_answered(self, robot):
        robot.hears(SLOWER, notes=[Notes(question=ALWAYS)])
        assert robot.session.new_question().message == "Shall I always do so? (yes / no)"
        assert robot.session.new_question() is None
        answer = robot.hears(YES, notes=[Notes(question=ALWAYS), Notes(("I will always do so",))])
        assert (answer.outcome, answer.message) == (Outcome.APPLIED, "I will always do so")
        assert robot.session.question is None

    def test_is_told_what_to_keep_and_the_plan_is_left_alone(self, robot):
        answer = robot.hears(Edit((Remember(),), "remember that"), notes=[Notes(("I will remember",))])
        assert (answer.outcome, answer.message) == (Outcome.APPLIED, "I will remember")
        assert robot.steps == [Read("remember that", None)]

    def test_asks_in_its_answer_and_then_no_other_question_is_open(self, robot):
        robot.hears(Edit((QUESTION,)))
        answer = robot.hears(Edit((Remember(),), "remember that"), notes=[Notes(question=ALWAYS)])
        assert (answer.outcome, answer.message) == (Outcome.QUESTION, "Shall I always do so? (yes / no)")
        assert (robot.session.question, robot.session.new_question()) == (ALWAYS, None)


class TestAPlanThatIsWatched:
    RULE = Wish(Edit((AddRule("G !holding(vase)", "never touch the vase"),), "using what you told me"), ())
    REFUSED = EditResult(EditStatus.REFUSED, "no way")

    @pytest.fixture
    def seen(self, at_table):
        return Seen("c1", at_table(1), moving=True)

    def test_has_lessons_sent_and_told(self, robot, seen):
        robot.watches(seen, [MADE], [Notes(("using what you told me",), self.RULE)])
        assert robot.steps == [Tell(Answer(Outcome.APPLIED, "using what you told me")), Send(self.RULE.edit)]

    def test_is_held_where_a_rule_that_was_taught_is_refused(self, robot, seen):
        robot.watches(seen, [self.REFUSED, MADE], [Notes((), self.RULE), Notes(("I leave it out",))])
        hold, told = robot.steps[-2:]
        assert (hold, told) == (Send(Edit((Hold(),))), Tell(Answer(Outcome.APPLIED, RULE_LEFT_OUT)))

    def test_is_asked_for_lessons_again_in_its_next_state_where_it_has_outrun_one(self, robot, seen):
        robot.watches(seen, [STALE], [Notes((), self.RULE)])
        assert robot.steps == [Send(self.RULE.edit)]
