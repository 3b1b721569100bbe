"""How many things the words of an utterance speak of: one, all of a kind, several towers, everything at a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from llm_planner.language.grounding.naming import REGION_WORDS
from llm_planner.language.understanding.clauses import clauses_of
from llm_planner.language.understanding.wording import denied, lifted, named_in, plain_word, word_set
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.predicates import at as is_at
from llm_planner.scene.predicates import contents, is_portable
from llm_planner.scene.scene import Scene

_MANY = word_set(
    "all every each any other others both everything anything whatever rest remaining them they these those "
    "else another neighbours pairs twice which no again things same swap many"
)
_EVERY = frozenset(("all", "both", "every", "each"))
_NARROWER = word_set("that which who of left right near nearest with except but from under next not besides between")
_TOWERS = word_set("towers stacks piles")
_EMPTIES = word_set("clear empty tidy free vacate")
_WHOLE = word_set("the my your up out off whole entire all that this")
_ADJECTIVE = word_set("a an the is its it's are stay keep steer well be")  # before "clear of", "an empty mug"
_PLACES = {tuple(said.replace("-", " ").split()): region
           for region, phrases in REGION_WORDS.items() for said in phrases
           if " " in said or region == "middle"}  # fmt: skip


def every_of(text: str, scene: Scene) -> tuple[str, ...]:
    """Return the objects of "all blocks" or "both red mugs", unless other words narrow them down."""
    words, found = lifted(text, scene), list[str]()
    for index, word in enumerate(words):
        if plain_word(word) not in _EVERY:
            continue
        color = ""
        for place, after in enumerate(words[index + 1 : index + 5], index + 1):
            if after.segment == "color":
                color = after.name
            elif after.segment == "kind":
                if not any(plain_word(one) in _NARROWER for one in words[place + 1 : place + 2]) and not denied(
                    text, scene
                ):
                    found += [i.name for i in scene.objects if i.kind == after.name and color in ("", i.color)]
                break
            elif after.segment != "number" and plain_word(after) not in ("of", "the", "my", "these", "those"):
                break
    return tuple(dict.fromkeys(found))


def singles(text: str, scene: Scene) -> dict[str, int]:
    """Count the mentions of kinds in the singular only, as in "the largest block"; {} if a text gives a number."""
    sentence = lifted(text, scene)
    if not _MANY.isdisjoint(map(plain_word, sentence)) or any(word.segment == "number" for word in sentence):
        return {}
    kinds, more = [word for word in sentence if word.segment == "kind"], [*map(plain_word, sentence)].count("one")
    said = Counter(word.name for word in kinds)
    several = {word.name for word in kinds if word.plural}
    return {kind: number + more for kind, number in said.items() if kind not in several}


def piles(text: str, scene: Scene) -> Iterator[tuple[int, str]]:
    """Return the numbers of towers that a text speaks of, each with its word."""
    words = lifted(text, scene)
    for word, after in pairwise(words):
        if word.segment == "number" and plain_word(after) in _TOWERS:
            yield round(word.value), after.text


def cleared(text: str, scene: Scene, viewpoint: Viewpoint) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return the places and things that a text asks to clear, each with what is there and is not named besides.

    All portable things there are meant: "clear the left side", "clear the table", "empty the bowl".
    """
    named = {*named_in(text, scene)}
    for clause in clauses_of(text, scene):
        words = clause.words
        verb = next((k for k, word in enumerate(words) if plain_word(word) in _EMPTIES
                     and not (k and plain_word(words[k - 1]) in _ADJECTIVE)), len(words))  # fmt: skip
        start = next((k for k in range(verb + 1, len(words)) if plain_word(words[k]) not in _WHOLE), len(words))
        rest = [word.text for word in words[start:] if word.text != "-"]
        place = next((_PLACES[tuple(rest[:k])] for k in range(len(rest), 0, -1) if tuple(rest[:k]) in _PLACES), "")
        if place:
            there = [name for name in scene.names if is_at(scene, name, viewpoint.to_base(place), margin=0.0)]
        elif rest[:1] == ["table"]:
            place, there = "table", [*scene.names]
        elif start < len(words) and words[start].segment == "object":
            place = words[start].name
            there = [*contents(scene, place)]
        else:
            continue
        yield place, tuple(name for name in there if is_portable(scene.find(name)) and name not in named)
