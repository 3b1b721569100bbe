"""From a command to task and constraints: the majority of the meanings, or a question."""

from dataclasses import dataclass, field, replace

import pytest

from llm_planner.errors import InputError, LanguageModelError, QuestionError
from llm_planner.language.model import ReadConstraint, Reading, ReadingReply, ReadingRequest, Usage
from llm_planner.language.understanding.understand import understand
from llm_planner.ltl.parser import parse
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Room, Scene, SceneObject

VASE = SceneObject("vase", "vase", "", (0.4, 0, 0.07), IDENTITY, (0.07, 0.07, 0.14))
TABLE = Scene(0.0, (VASE,))
ROOMS = Scene(
    0.0, (VASE,), building=Building(tuple(Room(n, Rectangle(x, x + 4, 0, 4)) for n, x in (("lab", 0), ("hall", 4))), ())
)
AWAY = "lift the vase but stay 20 cm away from it"
RULE = "stay 20 cm away from it"


def reads(*formulas: str, words: str = RULE, task: str = "lift the vase", sure: float | None = None) -> Reading:
    return Reading(task, tuple(ReadConstraint(f, words) for f in formulas), log_probability=sure)


FAR = reads("G distance(robot, vase) > 0.2")
NOT_NEARER = reads("G !distance(robot, vase) < 0.2")
NEAR = reads("F distance(robot, vase) < 0.2")
CARRIED = reads("G (holding(vase) -> distance(robot, vase) > 0.2)")
BROKEN = reads("G distance(robot, vase) >")
ABSENT = reads("G !near(robot, teapot)")


@dataclass
class Reader:
    """Gives these readings one after another; `mended` in repair rounds."""

    drawn: list[Reading]
    mended: Reading = BROKEN
    requests: list[ReadingRequest] = field(default_factory=list)
    name: str = "reader"
    chooses: bool = False
    is_large: bool = False

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        self.requests.append(request)
        if request.attempts:
            return ReadingReply((self.mended,), Usage(1, 1, 1))
        before = sum(r.samples for r in self.requests[:-1] if not r.attempts)
        assert request.drawn is bool(before)  # the best reading is asked for once
        return ReadingReply(tuple(self.drawn[before : before + request.samples]), Usage(10, 5, 1))


def formula_of(reader: Reader, command: str = AWAY, scene: Scene = TABLE) -> str:
    understood = understand(command, scene, reader)
    assert understood.task == "lift the vase"
    return str(understood.constraints[0].formula)


def test_readings_that_are_proved_to_mean_the_same_are_counted_together():
    understood = understand(AWAY, TABLE, Reader([FAR, NEAR, NOT_NEARER, CARRIED, NOT_NEARER]))
    assert understood.constraints[0].formula is parse("G distance(robot, vase) > 0.2")
    assert understood.constraints[0].words == RULE
    assert [group.count for group in understood.vote.groups] == [3, 1, 1]
    assert str(understood.vote) == "5 of 5 readings asked for, by meaning: 3, 1, 1"


def test_a_rule_that_nothing_can_break_is_asked_about():
    empty = reads("G (in(robot, hall) -> !in(robot, lab))", words="never the hall unless the lab is blocked")
    with pytest.raises(QuestionError, match="That is so whatever the robot does"):
        understand("lift the vase, never the hall unless the lab is blocked", ROOMS, Reader([empty] * 5))


def test_four_of_five_overrule_the_best_reading():
    assert formula_of(Reader([NEAR, FAR, NOT_NEARER, FAR, FAR])) == "G distance(robot, vase) > 0.2"


def test_a_bare_majority_against_the_best_reading_is_asked_about():
    with pytest.raises(QuestionError, match="I can read this in more than one way"):
        understand(AWAY, TABLE, Reader([NEAR, FAR, NOT_NEARER, NEAR, FAR]))


def test_no_more_is_asked_than_the_vote_needs():
    reader = Reader([FAR, NOT_NEARER, FAR, NEAR, NEAR])
    understood = understand(AWAY, TABLE, reader, seed=7)
    assert (understood.vote.asked, understood.vote.wanted) == (3, 5)
    assert [(r.samples, r.seed) for r in reader.requests] == [(1, 7), (2, 8)]
    assert understood.usage == Usage(20, 10, 2)


def test_a_model_that_is_sure_is_asked_once():
    reader = Reader([reads("G distance(robot, vase) > 0.2", sure=-0.01)])
    assert understand(AWAY, TABLE, reader).vote.asked == len(reader.requests) == 1


def test_a_model_that_is_not_sure_is_asked_again():
    reader = Reader([reads("G distance(robot, vase) > 0.2", sure=-0.5), FAR, FAR])
    assert understand(AWAY, TABLE, reader).vote.asked == 3


def test_one_sample_is_enough_where_one_is_wanted():
    assert understand(AWAY, TABLE, Reader([FAR]), samples=1).vote.decided


def test_a_tie_is_a_question_that_shows_the_readings_in_plain_words():
    with pytest.raises(
        QuestionError, match=r"more than one way. Which do you mean\? 1\) “lift the vase”; .*2\) "
    ) as error:
        understand(AWAY, TABLE, Reader([FAR, NEAR, CARRIED, FAR, CARRIED]))
    assert "4)" not in str(error.value)
    assert "G " not in str(error.value)


def test_readings_of_different_tasks_are_different():
    other = reads("G distance(robot, vase) > 0.2", task="push the vase")
    with pytest.raises(QuestionError, match=r"1\) “push the vase”; .* 2\) “lift the vase”; "):
        understand(AWAY, TABLE, Reader([FAR, other, other, FAR, BROKEN]))


def test_a_reading_without_a_majority_is_asked_about():
    with pytest.raises(QuestionError, match=r"I am not sure that I understand. Do you mean: “lift the vase”; "):
        understand(AWAY, TABLE, Reader([FAR, BROKEN, BROKEN, FAR, BROKEN]))


def test_what_a_model_asks_is_asked():
    with pytest.raises(QuestionError, match=r"^Which vase\?$"):
        understand(
            AWAY,
            TABLE,
            Reader([Reading(question="Which vase?"), FAR, Reading(question="What?"), Reading(question="?")]),
        )


def test_a_model_that_cannot_decide_whether_to_ask_asks():
    asks = Reading(question="Which vase?")
    with pytest.raises(QuestionError, match=r"^Which vase\?$"):
        understand(AWAY, TABLE, Reader([asks, BROKEN, BROKEN, BROKEN, asks]))


def test_a_reading_that_has_no_meaning_here_is_handed_back_once():
    reader = Reader([ABSENT, FAR, FAR], mended=NOT_NEARER)
    assert "0.2" in formula_of(reader)
    (attempt,) = reader.requests[1].attempts
    assert attempt.program == "lift the vase\nG !near(robot, teapot)"
    assert "names 'teapot', which is not here; there are: vase" in attempt.problems[0]


def test_readings_that_fail_alike_are_handed_back_together():
    reader = Reader([ABSENT, ABSENT, FAR, FAR, FAR])
    assert understand(AWAY, TABLE, reader).vote.failed
    assert sum(bool(request.attempts) for request in reader.requests) == 1


def test_a_repaired_reading_is_never_sure():
    reader = Reader([ABSENT, FAR, FAR], mended=reads("G distance(robot, vase) > 0.2", sure=0.0))
    assert understand(AWAY, TABLE, reader).vote.asked == 3


def test_a_command_that_names_what_is_not_here_is_a_question_that_says_so():
    with pytest.raises(QuestionError, match=r"cannot tell what this means here: .*'teapot', which is not here"):
        understand(AWAY, TABLE, Reader([ABSENT] * 5, mended=ABSENT))


def test_a_formula_that_cannot_be_read_is_a_question_and_never_dropped():
    with pytest.raises(QuestionError, match=r"cannot tell what this means here"):
        understand(AWAY, TABLE, Reader([BROKEN] * 5))


def test_a_reading_of_nothing_has_no_meaning():
    with pytest.raises(QuestionError, match=r"neither a task nor a constraint"):
        understand(AWAY, TABLE, Reader([Reading()] * 5, mended=Reading()))


def test_words_that_a_reading_leaves_out_are_asked_about():
    with pytest.raises(QuestionError, match=r"do not know what to do about “stay”, “20”, “cm”, “away”"):
        understand(AWAY, TABLE, Reader([Reading("lift the vase")] * 5))


def test_constraints_that_contradict_each_other_are_asked_about():
    both = Reading(
        "",
        (
            ReadConstraint("F in(robot, lab)", "go to the lab", goal=True),
            ReadConstraint("G !in(robot, lab)", "never enter it"),
            ReadConstraint("G !in(robot, hall)", "nor the hall"),
        ),
    )
    with pytest.raises(
        QuestionError, match=r"cannot do all of this together: “go to the lab” and “never enter it”. Which"
    ):
        understand("go to the lab, never enter it nor the hall", ROOMS, Reader([both] * 5))


def test_a_constraint_that_nothing_fulfils_is_asked_about():
    reading = Reading("", (ReadConstraint("F (in(robot, lab) & in(robot, hall))", "be in lab and hall at once"),))
    with pytest.raises(QuestionError, match=r"“be in lab and hall at once” cannot be done here"):
        understand("be in lab and hall at once", ROOMS, Reader([reading] * 5))


def test_bare_propositions_are_the_only_ones_allowed_where_given():
    reading = Reading("", (ReadConstraint("G !b", "never b"),))
    assert understand("never b", TABLE, Reader([reading] * 3), propositions=("a", "b")).constraints[0].formula is parse(
        "G !b"
    )
    with pytest.raises(QuestionError, match=r"'b' in G !b is none of the propositions: a, c"):
        understand("never b", TABLE, Reader([reading] * 5, mended=reading), propositions=("a", "c"))


def test_a_model_without_a_reading_has_not_answered():
    with pytest.raises(LanguageModelError, match=r"the language model reader gave no reading of 'go there now'"):
        understand("go there now", TABLE, Reader([]), samples=3)


def test_an_empty_command_is_a_question_and_an_endless_one_is_refused():
    with pytest.raises(QuestionError, match=r"The command is empty"):
        understand("  ", TABLE, Reader([FAR]))
    with pytest.raises(InputError, match=r"at most"):
        understand("a " * 5000, TABLE, Reader([FAR]))


def large(*drawn: Reading, mended: Reading = BROKEN) -> Reader:
    return Reader(list(drawn), mended, is_large=True)


def plain_reading(task: str, *goals: str, sure: bool = True) -> Reading:
    return Reading(task, goals=goals, sure=sure)


def test_a_large_model_that_is_sure_and_has_no_rule_to_keep_is_asked_once():
    reader = large(plain_reading("lift the vase", "holding(vase)"))
    understood = understand("lift the vase", TABLE, reader)
    assert (len(reader.requests), understood.goals) == (1, (parse("holding(vase)"),))


def slow(bound: float) -> Reading:
    rule = ReadConstraint(f"G speed(robot) < {bound:g}", "slowly")
    return Reading("lift the vase", (rule,), goals=("holding(vase)",), sure=True)


@pytest.mark.parametrize(("scene", "bound"), [(TABLE, 0.1), (ROOMS, 0.25)])
def test_slowly_without_a_number_is_the_usual_limit_of_the_robot(scene: Scene, bound: float):
    understood = understand("slowly lift the vase", scene, large(slow(bound), slow(bound)))
    assert understood.constraints[0].formula is parse(f"G speed(robot) < {bound:g}")
    with pytest.raises(QuestionError, match=r"does not say 0\.05"):
        understand("slowly lift the vase", scene, large(slow(0.05), slow(0.05), mended=slow(0.05)))


def test_slowness_that_is_lost_goes_back_to_a_large_model():
    lost = plain_reading("slowly lift the vase", "holding(vase)")
    reader = large(lost, lost, mended=slow(0.1))
    assert understand("slowly lift the vase", TABLE, reader).constraints[0].words == "slowly"
    problem = "the command asks for slowness, but no constraint limits the speed"
    assert reader.requests[1].attempts[0].problems == (problem,)


def test_rules_of_a_large_model_are_read_until_two_readings_agree():
    reader = large(FAR, NOT_NEARER)
    assert understand(AWAY, TABLE, reader).vote.wanted == 3
    assert [(r.samples, r.drawn) for r in reader.requests] == [(1, False), (1, True)]


def test_wordings_of_a_task_do_not_divide_the_readings_of_a_large_model_but_its_goals_do():
    lifted, raised, put = (
        replace(FAR, task=task, goals=(goal,), sure=True)
        for task, goal in (
            ("lift the vase", "holding(vase)"),
            ("lift up the vase", "holding(vase)"),
            ("lift the vase", "at(vase, middle)"),
        )
    )
    assert understand(AWAY, TABLE, large(lifted, raised)).vote.groups[0].count == 2
    with pytest.raises(QuestionError, match="I can read this in more than one way"):
        understand(AWAY, TABLE, large(lifted, put, replace(put, goals=("!moved(vase)",))))


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("hebe die Vase hoch, aber bleib dabei vom Tisch 20 cm weg", "bleib dabei vom Tisch 20 cm weg"),
        ("levanta el jarrón, pero mantente a 20 cm de él", "mantente a 20 cm de él"),
        ("拿起花瓶,但离它20 cm远", "离它20 cm远"),
    ],
)
def test_a_large_model_reads_other_languages(command, rule):
    reading = replace(reads("G distance(robot, vase) > 0.2", words=rule), task="lift the vase", sure=True)
    assert understand(command, TABLE, large(reading, reading)).constraints[0].words == rule


def test_numbers_and_names_are_kept_in_every_language():
    reader = large(plain_reading("schieb es nach rechts"), mended=plain_reading("schieb es 5 cm nach rechts"))
    assert understand("schieb es 5 cm nach rechts", TABLE, reader).task == "schieb es 5 cm nach rechts"
    assert "nothing in it stands for '5'" in reader.requests[1].attempts[0].problems[0]


def test_a_goal_that_is_none_goes_back():
    reader = large(plain_reading("lift the vase", "F holding(vase)"), mended=plain_reading("lift the vase"))
    assert understand("lift the vase", TABLE, reader).goals == ()
    assert "not a single proposition" in reader.requests[1].attempts[0].problems[0]
    assert '"goals": ["F holding(vase)"]' in reader.requests[1].attempts[0].shown


def test_what_a_large_model_asks_is_asked_at_once():
    reader = large(Reading(question="Which vase?"))
    with pytest.raises(QuestionError, match=r"^Which vase\?$"):
        understand("lift the vase. then wait", TABLE, reader)
    assert len(reader.requests) == 1


def test_how_long_a_step_goes_on_is_left_to_the_program_where_a_large_model_insists():
    pushes = plain_reading("push the vase until it is in the middle")
    assert understand(pushes.task, TABLE, large(pushes, mended=pushes)).task == pushes.task
