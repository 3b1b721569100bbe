"""Every template of every author can be said, and its result is well-formed and copies only what is said."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from training.generate import FORMS, HELD_OUT, Generator, Sentence
from training.noise import BEGIN, END, joined
from training.templates import Book, blocks_of, read_book, without_unsaid
from training.worlds import draw_world

TRIES = 12  # wordings have choices: not every one says every slot


@pytest.fixture(scope="module")
def book() -> Book:
    return read_book()


@pytest.mark.parametrize(("file", "task"), [("corrections", "correction"), ("commands", "command"), ("rules", "rule")])
def test_every_template_has_a_result(book: Book, file: str, task: str) -> None:
    from training.results import check_result, parse_result

    generator = Generator(book, 1)
    failures = []
    for block in book.tasks[file]:
        wording = random.Random(block.result).choice(block.wordings)
        problem = ""
        for _ in range(TRIES):
            sentence = Sentence(generator, draw_world(generator.rng, block.world))
            words, result = sentence.say(block, wording)
            for mark, copy in joined(words)[1].items():
                result = result.replace(f"{BEGIN}{mark}{END}", f'"{copy}"')
            try:
                check_result(parse_result(without_unsaid(result)), FORMS[task])
                problem = ""
                break
            except Exception as error:
                problem = f"{wording.hand}: {wording.text} -> {result}: {error}"
        if problem:
            failures.append(problem)
    assert not failures, f"{len(failures)} of {len(book.tasks[file])}: " + "\n".join(failures[:10])


def test_the_same_seed_draws_the_same_samples(book: Book) -> None:
    first, second = (Generator(book, 5) for _ in range(2))
    assert [first.draw("command") for _ in range(20)] == [second.draw("command") for _ in range(20)]


def test_validation_shows_what_training_never_shows(book: Book) -> None:
    learned = Generator(book, 1)
    kept, others = Generator(book, 2, kept=True), Generator(book, 3, hands="held_out")
    shown = {wording.text for table in learned.main.values() for lines, _ in table.values() for _, wording in lines}
    for task in FORMS:
        assert kept.draw(task).wording not in shown
        assert others.draw(task).hand in HELD_OUT


def test_a_wording_below_no_result_is_told(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("  keep out\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1"):
        list(blocks_of(path, "me"))
