"""What the two networks of the compact model learn: their grammars, their sizes, and where their examples come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.language.compact.constraints.generator.examples import MIX, Mix, Part
from llm_planner.language.compact.constraints.generator.mixture import Mixture, accept_all, vocabulary
from llm_planner.language.compact.constraints.generator.utterances import Utterance, load_utterances, utterance_parts
from llm_planner.language.compact.constraints.grammar import READING
from llm_planner.language.compact.constraints.reader import VOCABULARY
from llm_planner.language.compact.constraints.reader import WEIGHTS as READING_WEIGHTS
from llm_planner.language.compact.generator.examples import draw_sample
from llm_planner.language.compact.model import WEIGHTS
from llm_planner.language.compact.network import NetworkSize
from llm_planner.language.compact.program_grammar import PROGRAM
from llm_planner.language.compact.training import Lesson

READING_SIZE = NetworkSize(width=192, heads=8, hidden=512, encoder_layers=4, decoder_layers=2)
SHARE = 0.1  # of people's utterances among the reading network's examples


def program_lesson() -> Lesson:
    """Commands and the programs they ask for."""
    return Lesson(PROGRAM, NetworkSize(), draw_sample, WEIGHTS)


def reading_lesson(utterances: Path | None = None) -> Lesson:
    """Commands and their parts; `utterances` is Lang2LTL's table. Raises InputError when it cannot be read."""
    return reading_lesson_of(load_utterances(utterances) if utterances else ())


def reading_lesson_of(
    utterances: Sequence[Utterance],
    share: float = SHARE,
    mix: Mix = MIX,
    accept: Callable[[Sequence[Part]], bool] = accept_all,
) -> Lesson:
    """The same from utterances at hand, and from drawn sentences that `accept` lets pass.

    Utterances whose words misname what their formula speaks of are left out.
    """
    mixture = Mixture(tuple(parts for u in utterances if (parts := _parts(u))), share, mix, accept)

    def finish(folder: Path) -> None:
        (folder / VOCABULARY).write_text("\n".join(vocabulary(mixture)) + "\n", encoding="utf-8")

    return Lesson(READING, READING_SIZE, mixture, READING_WEIGHTS, finish)


def _parts(utterance: Utterance) -> tuple[Part, ...]:
    try:
        return tuple(utterance_parts(utterance))
    except InputError:
        return ()
