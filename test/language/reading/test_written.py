"""Lines that people wrote for the generator: each gives sentences that the grammar can say."""

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.language.compact.constraints.generator.examples import Part, _random_items, as_sample
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import canonical
from llm_planner.language.compact.constraints.generator.written import FOLDER, goal, lines_of, read_line, rule, told
from llm_planner.language.compact.constraints.grammar import READING
from llm_planner.language.compact.encoding import Sample
from llm_planner.language.compact.grammar import START, linearise


def narrator(world: str, seed: int = 0, people: int = 2) -> Narrator:
    rng = np.random.default_rng(seed)
    return Narrator(rng, world, _random_items(rng, 4), rooms=6 if world == "rooms" else 0, people=people)


def is_legal(sample: Sample) -> bool:
    """Whether the grammar can say it."""
    stack = START
    for step in sample.steps:
        if not sample.item.legal(*stack[-1])[sample.item.choice(step)]:
            return False
        stack = READING.advance(stack, step)
    return not stack


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_every_line_gives_sentences(path):
    for worlds, line in lines_of(path):
        for seed, world in enumerate(worlds * 2):
            who = narrator(world, seed, people=2 if world == "rooms" else 0)
            sample = as_sample(world, [Part(spec and canonical(spec), words) for spec, words in told(who, line)])
            assert sample is not None, line
            assert is_legal(sample), line


def test_words_and_derivation_speak_of_the_same():
    line = read_line("not_before(in(R), in(S)) :: [first {S} ,|] then {R}".replace("[first {S} ,|]", "first {S} ,"))
    ((spec, words),) = told(narrator("rooms"), line)
    pointed = [step.index for step in linearise(spec) if not isinstance(step, str)]
    assert [piece.number for piece in words if not isinstance(piece, str)] == pointed[::-1]


def test_what_is_taken_back_is_said_and_not_meant():
    ((spec, words),) = told(narrator("rooms"), read_line("visit(in(R)) :: go to {~S} , no , sorry , {R}"))
    said = [piece.number for piece in words if not isinstance(piece, str)]
    assert len(set(said)) == 2
    assert [step.index for step in linearise(spec) if not isinstance(step, str)] == said[1:]


def test_the_clauses_of_a_command_share_what_they_speak_of():
    line = read_line("task :: {X} on {B} && not_before(moved(Y), is_on(X, B)) :: , and {Y} comes later")
    (task, work), (rule_after, words) = told(narrator("table"), line)
    named = [piece.number for piece in (*work, *words) if not isinstance(piece, str)]
    assert task is None
    assert {step.index for step in linearise(rule_after) if not isinstance(step, str)} == set(named)


def test_nobody_is_spoken_of_where_nobody_is():
    for seed in range(50):
        for words in (draw(narrator("rooms", seed, people=0))[1] for draw in (rule, goal)):
            assert all(getattr(piece, "entry", "") != "person" for piece in words)


@pytest.mark.parametrize(
    "text",
    [
        "never(in(R)) keep out of {R}",
        "never(in(R)) :: keep out",
        "newer(in(R)) :: keep out of {R}",
        "never(in(R) :: keep out of {R}",
        "never(in(R)) :: ",
        ":: {R}",
        "visit(in(R)) :: go to {~R}",
        "visit(in(R)) :: go to {R} && never(in(S)) ::",
        "visit(in(R)) :: go to {R} && never(in(S)) :: , not there",
    ],
)
def test_a_line_that_cannot_be_read_is_told(text):
    with pytest.raises(InputError, match="is not SPEC :: words with the same slots in both"):
        read_line(text)


def test_the_file_and_the_line_are_told(tmp_path):
    path = tmp_path / "home.txt"
    path.write_text("# rooms\nnever(in(R)) :: not {R}\nnever(in(R)) :: no\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"home\.txt, line 3: 'never\(in\(R\)\) :: no' is not SPEC :: words"):
        list(lines_of(path))
