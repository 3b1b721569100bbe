"""One training example: a scene, a command, and the derivation of the program it asks for."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from llm_planner.language.compact.encoding import Sample, encode
from llm_planner.language.compact.entries import scene_entries
from llm_planner.language.compact.generator.commands import command
from llm_planner.language.compact.generator.noise import spoken
from llm_planner.language.compact.generator.references import Speaker
from llm_planner.language.compact.generator.scenes import as_scene, random_things
from llm_planner.language.compact.generator.surface import Phrase, chance
from llm_planner.language.compact.grammar import Pointer, Step, linearise
from llm_planner.language.compact.program_grammar import PROGRAM
from llm_planner.language.compact.words import MAX_WORDS, Word, split_words
from llm_planner.world.scene import Scene


@dataclass(frozen=True)
class Example:
    """`steps` is the derivation; its word pointers index into `words`, the command split into words."""

    text: str
    words: tuple[Word, ...]
    scene: Scene
    steps: tuple[Step, ...]


def draw_example(rng: Generator) -> Example:
    """A random example; commands that are too long for the network are drawn again."""
    while True:
        speaker = Speaker(rng, random_things(rng))
        node, phrase = command(speaker)
        phrase = spoken(phrase, rng, polite=node.step not in ("unclear",) or chance(rng, 0.3))
        words, places = _split(phrase)
        steps = linearise(node)
        if 0 < len(words) <= MAX_WORDS and len(steps) <= PROGRAM.max_steps and _placeable(steps, places, words):
            text = " ".join(part.text for part in phrase)
            return Example(text, tuple(words), as_scene(speaker.things), tuple(_place(s, places) for s in steps))


def draw_sample(rng: Generator) -> Sample:
    """A random example as the program network sees it."""
    example = draw_example(rng)
    return Sample(encode(example.words, scene_entries(example.scene).flat(), PROGRAM), example.steps)


def _split(phrase: Phrase) -> tuple[list[Word], dict[int, int]]:
    """All words of the phrase, and for each mark the index of the word that carries it."""
    words: list[Word] = []
    places: dict[int, int] = {}
    for part in phrase:
        if part.mark:
            places[part.mark] = len(words)
        words.extend(split_words(part.text))
    return words, places


def _placeable(steps: list[Step], places: dict[int, int], words: list[Word]) -> bool:
    """Whether every pointer to a word or a quantity still has one: noise may have destroyed "5 cm"."""
    for step in steps:
        if isinstance(step, Pointer) and step.kind in ("word", "quantity"):
            index = places.get(step.index, len(words))
            if index >= len(words) or (step.kind == "quantity") != (words[index].metres > 0):
                return False
    return True


def _place(step: Step, places: dict[int, int]) -> Step:
    if isinstance(step, Pointer) and step.kind in ("word", "quantity"):
        return Pointer(step.kind, places[step.index])
    return step
