"""A thing that is spoken of must be here, in its colour: "never reach over the vase" is not about the blocks."""

from __future__ import annotations

import re
from itertools import pairwise

from llm_planner.errors import QuestionError
from llm_planner.language.compact.generator.lexicon import COLOR_WORDS, COLORS, CONTAINERS, KIND_WORDS, SURFACES, THINGS
from llm_planner.language.understanding.wording import words_of
from llm_planner.world.names import the
from llm_planner.world.scene import Scene, SceneObject

ARTICLES = frozenset(("the", "a", "an", "any", "my", "your", "our", "this", "that"))
NOUNS = frozenset((*CONTAINERS, *SURFACES, *THINGS, *KIND_WORDS))
GENERAL = frozenset(
    ("orange", "can", "remote", "key", "board", "stand", "lid", "marker")
)  # words for other things, too
ELSEWHERE = frozenset(  # things that no world of ours has, and that the networks never hear of
    re.findall(
        r"\w+",
        "cat dog bird fish hamster rabbit parrot cactus candle tablet keyboard screen printer pan pot kettle toaster "
        "oven fridge sink stove chair sofa lamp window carpet radio television ladder bicycle bucket broom bin",
    )
)
TOWARDS = frozenset(
    re.findall(r"\w+", "from near touch move hold take lift over past around on in into to at with avoid push")
)


COLOR_OF = {word: color for color in COLORS for word in (color, *COLOR_WORDS.get(color, ()))}
ALSO_CALLED = {**KIND_WORDS, "parcel": ("box", "package", "packet")}


def check_here(text: str, scene: Scene) -> None:
    """Raises QuestionError when the words name a kind of thing of which there is none in the scene, or none of the
    colour that was said."""
    _check_colors(text, scene)
    said, here = _without_colors(words_of(text)), _words_for_what_is_here(scene)
    spoken = zip(("", "", *said), ("", *said), said, (*said[1:], ""), strict=False)
    for lead, article, word, after in spoken:
        noun = _singular(word)
        known = noun in NOUNS - GENERAL or (noun in ELSEWHERE and lead in TOWARDS)
        if article in ARTICLES and known and noun not in here and after not in here:
            raise QuestionError(f"I see no {noun} here. What do you mean by “{text}”?")


def _singular(word: str) -> str:
    return word if word in NOUNS | ELSEWHERE else word.removesuffix("s")


def _without_colors(said: tuple[str, ...]) -> tuple[str, ...]:
    """ "The red block" is about a block, too."""
    coloured = {at for at, after in enumerate(said[1:]) if said[at] in COLOR_OF and _singular(after) in NOUNS}
    return tuple(word for at, word in enumerate(said) if at not in coloured)


def _words_for_what_is_here(scene: Scene) -> frozenset[str]:
    """Words of all names, kinds and rooms, and others for the same kinds."""
    rooms = scene.building.names if scene.building else ()
    kinds = {item.kind for item in scene.objects}
    alike = {word for kind in kinds for word in ALSO_CALLED.get(kind, ())}
    return frozenset(word for name in (*scene.names, *rooms, *kinds, *alike) for word in words_of(name))


def _check_colors(text: str, scene: Scene) -> None:
    """Raises QuestionError for "the red parcel" where there are a blue and a yellow one."""
    said = words_of(text)
    for word, after in pairwise(said):
        alike = [item for item in scene.objects if after.removesuffix("s") in _words_for(item)]
        color = COLOR_OF.get(word, "")
        if color and alike and all(item.color not in ("", color) for item in alike):
            there = " and ".join(the(item.name) for item in alike)
            raise QuestionError(f"I see no {word} {after} here, but {there}. What do you mean by “{text}”?")


def _words_for(item: SceneObject) -> frozenset[str]:
    return frozenset((item.kind, *ALSO_CALLED.get(item.kind, ())))
