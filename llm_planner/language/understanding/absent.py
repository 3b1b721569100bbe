"""A thing that is spoken of must be here: "never reach over the vase" is not about the blocks."""

from __future__ import annotations

import re

from llm_planner.errors import QuestionError
from llm_planner.language.compact.generator.lexicon import CONTAINERS, KIND_WORDS, SURFACES, THINGS
from llm_planner.language.understanding.wording import words_of
from llm_planner.world.scene import Scene

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


def check_here(text: str, scene: Scene) -> None:
    """Raises QuestionError when the words name a kind of thing of which there is none in the scene."""
    said, here = words_of(text), _words_for_what_is_here(scene)
    spoken = zip(("", "", *said), ("", *said), said, (*said[1:], ""), strict=False)
    for lead, article, word, after in spoken:
        noun = word if word in NOUNS | ELSEWHERE else word.removesuffix("s")
        known = noun in NOUNS - GENERAL or (noun in ELSEWHERE and lead in TOWARDS)
        if article in ARTICLES and known and noun not in here and after not in here:
            raise QuestionError(f"I see no {noun} here. What do you mean by “{text}”?")


def _words_for_what_is_here(scene: Scene) -> frozenset[str]:
    """Words of all names, kinds and rooms, and others for the same kinds."""
    rooms = scene.building.names if scene.building else ()
    kinds = {item.kind for item in scene.objects}
    alike = {word for kind in kinds for word in KIND_WORDS.get(kind, ())}
    return frozenset(word for name in (*scene.names, *rooms, *kinds, *alike) for word in words_of(name))
