"""The embedded model reads a command once: what is not sure, not there or left out of the reading is a question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llm_planner.language.embedded.model import EmbeddedModel, not_said
from llm_planner.language.embedded.reader import Situation, Task, TermReading
from llm_planner.language.model import (
    Attempt,
    ChoiceRequest,
    ProgramReply,
    ProgramRequest,
    ReadConstraint,
    Reading,
    ReadingRequest,
)
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Room, Scene, SceneObject
from training.results import parse_result

PUT = "put the red block in the green bowl"
BOTH = "put the red block in the green bowl and never touch the mug"
SAID = {
    PUT: 'put("the red block", in("the green bowl"))',
    BOTH: 'put("the red block", in("the green bowl")); never(moved("the mug"))',
    "never touch the mug": 'never(moved("the mug"))',
    "push the mug 5 cm left": 'push("the mug", left, "5 cm")',
    "pick up the red block by the mug": 'pick("the red block")',
    "the blocks, red and blue, go into the bowl": 'put("red", in("bowl")); put("blue", in("bowl"))',
    "push the mug 5 cm to the left": 'push("the mug", left)',
    "fry the mug": "cannot",
    "never q": 'never(holds("q"))',
    "never q after p": 'never(holds("q"))',
    "pick up the block": 'pick("the block")',
}
Made = Callable[..., EmbeddedModel]


@pytest.fixture
def model(listed_model: Made) -> EmbeddedModel:
    return listed_model(SAID)


@pytest.fixture
def reading(model: EmbeddedModel, table: Scene) -> Callable[..., Reading]:
    return lambda words, **more: model.read_command(ReadingRequest(words, table, **more)).readings[0]


@pytest.fixture
def program(model: EmbeddedModel, table: Scene) -> Callable[..., ProgramReply]:
    return lambda words, *attempts: model.write_program(ProgramRequest(words, table, attempts))


def test_a_command_is_its_own_task(reading: Callable[..., Reading]) -> None:
    assert reading(PUT) == Reading(PUT, log_probability=0.0, whole=True)


def test_a_rule_is_no_task(reading: Callable[..., Reading]) -> None:
    rule = ReadConstraint("G !moved(mug)", "never touch the mug")
    assert reading("never touch the mug") == Reading("", (rule,), log_probability=0.0, whole=True)


def test_task_and_rule_may_come_together(reading: Callable[..., Reading]) -> None:
    found = reading(BOTH)
    assert (found.task, [one.formula for one in found.constraints]) == (BOTH, ["G !moved(mug)"])


def test_bare_propositions_are_read_as_such(reading: Callable[..., Reading]) -> None:
    assert [one.formula for one in reading("never q", propositions=("p", "q")).constraints] == ["G !q"]


def test_a_proposition_that_is_left_out_is_a_question(reading: Callable[..., Reading]) -> None:
    assert "I do not know what to do about “p”" in reading("never q after p", propositions=("p", "q")).question


@pytest.mark.parametrize(
    ("words", "question"),
    [
        ("fry the mug", 'I cannot do that: "fry the mug"'),
        ("push the mug 5 cm to the left", "I do not know what to do about “5 cm”"),
        ("pick up the block", "Which block do you mean: the red block or the blue block?"),
    ],
)
def test_what_cannot_be_acted_on_is_a_question(
    reading: Callable[..., Reading], program: Callable[..., ProgramReply], words: str, question: str
) -> None:
    assert question in reading(words).question
    assert question in program(words).question


def test_a_name_that_is_left_out_is_a_question_unless_that_is_nearly_certain(
    listed_reader: Callable[..., object], table: Scene
) -> None:
    request = ProgramRequest("pick up the red block by the mug", table)
    likely, certain = (EmbeddedModel(listed_reader(SAID, share)) for share in (0.9, 0.98))  # type: ignore[arg-type]
    assert "I do not know what to do about “mug”" in likely.write_program(request).question
    assert certain.write_program(request).program == 'pick("red block")\n'


def test_the_kind_of_what_is_named_is_said_with_it(listed_reader: Callable[..., object], table: Scene) -> None:
    words = "the blocks, red and blue, go into the bowl"
    likely = EmbeddedModel(listed_reader(SAID, 0.8))  # type: ignore[arg-type]
    assert not likely.write_program(ProgramRequest(words, table)).question


def test_a_reading_that_is_not_probable_is_a_question(listed_reader: Callable[..., object], table: Scene) -> None:
    doubtful = EmbeddedModel(listed_reader(SAID, 0.5))  # type: ignore[arg-type]
    question = doubtful.write_program(ProgramRequest(PUT, table)).question
    assert question.startswith(f'I am not sure what you mean by "{PUT}". Please say it another way. I see: red block, ')
    assert doubtful.read_command(ReadingRequest(PUT, table)).readings[0].question == question


class Torn:
    """Reads words as a command with one result and probability, and as a rule with another."""

    def __init__(self, command: tuple[str, float], rule: tuple[str, float]) -> None:
        self.results = {Task.COMMAND: command, Task.RULE: rule}

    def read(self, task: Task, situation: Situation, words: str) -> tuple[TermReading, ...]:
        text, probability = self.results[task]
        return (TermReading(parse_result(text), probability, ((0, len(words)),)),)


@pytest.mark.parametrize(
    ("command", "rule", "formulas"),
    [
        (("unclear", 0.9), ('never(moved("the mug"))', 0.9), ["G !moved(mug)"]),
        (('never(near("the mug"))', 0.4), ('never(moved("the mug"))', 0.9), ["G !moved(mug)"]),
        (('never(near("the mug"))', 0.9), ('never(moved("the mug"))', 0.99), ["G !near(robot, mug)"]),
        (("unclear", 0.9), ('never(moved("the mug"))', 0.4), []),
        (("unclear", 0.9), ("unclear", 0.9), []),
    ],
)
def test_what_is_no_command_may_be_a_rule_alone(
    table: Scene, command: tuple[str, float], rule: tuple[str, float], formulas: list[str]
) -> None:
    torn = EmbeddedModel(Torn(command, rule))  # type: ignore[arg-type]
    (found,) = torn.read_command(ReadingRequest("hands off the mug", table)).readings
    assert [one.formula for one in found.constraints] == formulas
    assert bool(found.question) is not bool(formulas)


def test_a_program_has_the_probability_of_its_reading(program: Callable[..., ProgramReply]) -> None:
    assert program(PUT) == ProgramReply('pick("red block")\nplace_in("green bowl")\n', confidence=0.95)


def test_an_amount_that_was_said_is_in_the_program(program: Callable[..., ProgramReply]) -> None:
    assert program("push the mug 5 cm left").program == 'push("mug", "left", 0.05)\n'


def test_a_rule_alone_has_no_program(program: Callable[..., ProgramReply]) -> None:
    assert "I am not sure what you mean" in program("never touch the mug").question


def test_a_program_that_was_refused_is_not_offered_again(program: Callable[..., ProgramReply]) -> None:
    again = program(PUT, Attempt(program(PUT).program, ("the bowl is full",)))
    assert again.question == f'I cannot do "{PUT}": the bowl is full'


def test_a_reading_that_was_refused_is_not_offered_again(reading: Callable[..., Reading]) -> None:
    refused = reading("never touch the mug")
    again = reading("never touch the mug", attempts=(Attempt(str(refused), ("no",)),))
    assert "Please say it another way" in again.question


def test_it_prefers_no_step(model: EmbeddedModel, table: Scene) -> None:
    assert model.choose(ChoiceRequest(PUT, table, (), ("a", "b"))).log_probabilities == (0.0, 0.0)


class Doubtful:
    """A reader that gives these results with these probabilities."""

    def __init__(self, *results: tuple[str, float]) -> None:
        self.results = results

    def read(self, task: Task, situation: Situation, words: str) -> tuple[TermReading, ...]:
        whole = ((0, len(words)),)
        return tuple(TermReading(parse_result(text), chance, whole) for text, chance in self.results)


def test_readings_that_come_to_the_same_program_count_together(table: Scene) -> None:
    same = (('put("red block", on("blue block"))', 0.45), ('tower(list("blue block", "red block"))', 0.4))
    reply = EmbeddedModel(Doubtful(*same)).write_program(ProgramRequest("the red block on the blue one", table))  # type: ignore[arg-type]
    assert reply.program == 'pick("red block")\nplace_on("blue block")\n'
    assert reply.confidence == pytest.approx(0.85)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('visit(in("lab"), in("hall"))', 'go("lab"); go("hall")'),
        ('sequence(in("lab"), is_in("mug", "hall"))', 'go("lab"); bring("mug", "hall")'),
        ('visit(in("lab")); never(and(holding_any, in("hall")))', 'go("lab"); whenever(holding_any, not(in("hall")))'),
    ],
)
def test_goals_count_together_with_the_errands_that_reach_them_and_rules_with_equivalent_ones(
    one: str, other: str
) -> None:
    rooms = tuple(Room(name, Rectangle(i, i + 1, 0, 1)) for i, name in enumerate(("lab", "hall")))
    mug = SceneObject("mug", "mug", "", (0.5, 0.5, 0.0), IDENTITY, (0.1, 0.1, 0.1))
    house = Scene(0.0, (mug,), building=Building(rooms, ()))
    alone = EmbeddedModel(Doubtful((one, 0.5))).read_command(ReadingRequest("words", house)).readings[0]
    both = EmbeddedModel(Doubtful((one, 0.5), (other, 0.3))).read_command(ReadingRequest("words", house)).readings[0]
    assert alone.question
    assert not both.question


def test_readings_that_come_to_different_programs_do_not(table: Scene) -> None:
    others = (('put("red block", on("blue block"))', 0.45), ('put("red block", in("green bowl"))', 0.4))
    reply = EmbeddedModel(Doubtful(*others)).write_program(ProgramRequest("the red block goes there", table))  # type: ignore[arg-type]
    assert not reply.program
    assert "I am not sure" in reply.question


@pytest.mark.parametrize("words", [f"{PUT} as well", f"{PUT}, too", f"also {PUT}"])
def test_what_comes_besides_something_else_is_read_without_that(listed_model: Made, table: Scene, words: str) -> None:
    model = listed_model({words: "unclear", **SAID})
    assert model.write_program(ProgramRequest(words, table)).program == 'pick("red block")\nplace_in("green bowl")\n'


def test_half_an_amount_is_not_the_whole() -> None:
    words = "wait a minute and a half"
    minute = TermReading(parse_result('wait("a minute")'), 0.99, ((5, 13),))
    whole = TermReading(parse_result('wait("a minute and a half")'), 0.99, ((5, 24),))
    assert not_said(minute, words, (), Scene(0.0, ())) == "a minute and a half"
    assert not not_said(whole, words, (), Scene(0.0, ()))
    assert not not_said(minute, "hang on a second, wait a minute", (), Scene(0.0, ()))
