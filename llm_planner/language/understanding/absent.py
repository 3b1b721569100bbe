"""A thing that is spoken of must be here: "never reach over the vase" is not about the blocks."""

from __future__ import annotations

from llm_planner.errors import QuestionError
from llm_planner.language.compact.generator.lexicon import CONTAINERS, KIND_WORDS, SURFACES, THINGS
from llm_planner.language.understanding.wording import words_of
from llm_planner.temporal.constraint import Constraint
from llm_planner.world.scene import Scene

ARTICLES = frozenset(("the", "a", "an", "any", "my", "your", "our", "this", "that"))
NOUNS = frozenset((*CONTAINERS, *SURFACES, *THINGS, *KIND_WORDS))
GENERAL = frozenset(
    ("orange", "can", "remote", "key", "board", "stand", "lid", "marker")
)  # words for other things, too


def check_here(constraint: Constraint, scene: Scene) -> None:
    """Raises QuestionError when the words name a kind of thing of which there is none in the scene."""
    said, here = words_of(constraint.words), _words_for_what_is_here(scene)
    for before, word, after in zip(("", *said), said, (*said[1:], ""), strict=False):
        noun = word if word in NOUNS else word.removesuffix("s")
        if before in ARTICLES and noun in NOUNS - GENERAL - here and after not in here:
            raise QuestionError(f"I see no {noun} here. What do you mean by “{constraint.words}”?")


def _words_for_what_is_here(scene: Scene) -> frozenset[str]:
    """Words of all names, kinds and rooms, and others for the same kinds."""
    rooms = scene.building.names if scene.building else ()
    kinds = {item.kind for item in scene.objects}
    alike = {word for kind in kinds for word in KIND_WORDS.get(kind, ())}
    return frozenset(word for name in (*scene.names, *rooms, *kinds, *alike) for word in words_of(name))
