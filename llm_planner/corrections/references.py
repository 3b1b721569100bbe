"""Which thing, room or place the words mean. Where several or none fit, that is a question, never a guess."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.corrections.reflexes import plain_words
from llm_planner.errors import QuestionError
from llm_planner.language.grounding.lifting import WHOLE_NUMBERS, lift
from llm_planner.language.grounding.naming import (
    COLOR_NAMES,
    PEOPLE_WORDS,
    PERSON_WORDS,
    REGIONS,
    Phrase,
    scene_phrases,
)
from llm_planner.scene.names import the
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.predicates import from_side, volume
from llm_planner.scene.scene import Scene, SceneObject

MOST_OPTIONS = 3
LONGEST_NAME = 6  # words of an answer that is only a name
_ARTICLES = frozenset(("the", "a", "an", "that", "this", "those", "these", "my", "your", "our", "any", "all", "both",
                       "every", "each", "another", "some", "either", "whichever"))  # fmt: skip
_ONE_OF = re.compile(
    r"^(?:(?:any|either|one|some|whichever) (?:one )?of (?:(?:the|them|these|those|our|my|your) )?|one (?=\w))"
)
_SIDE_WORDS = {"leftmost": "left", "rightmost": "right", "far": "top", "back": "top", "farthest": "top",
               "furthest": "top", "near": "bottom", "front": "bottom", "nearest": "bottom", "closest": "bottom",
               "nearer": "bottom", "closer": "bottom", "left": "left", "right": "right"}  # fmt: skip
SIDES = tuple(_SIDE_WORDS)
SIZES = ("big", "bigger", "biggest", "large", "larger", "largest", "small", "smaller", "smallest", "little")
OTHER = "other"
ONES = ("one", "ones", "thing", "things", "object", "objects", "item", "items")
_LARGE = ("big", "bigger", "biggest", "large", "larger", "largest")
_REGION_NAMES = {word.replace("-", " "): name.replace("_", " ") for name, words in REGIONS.items() for word in words}


class UnclearError(QuestionError):
    """What was said fits several things or none.

    `options` are what may be answered. `words` are those that were unclear, and `names` what each option puts in their
    place; without `words` they name the thing that was not said.
    """

    def __init__(
        self, question: str, options: Sequence[str] = (), words: str = "", names: Sequence[str] | None = None
    ) -> None:
        super().__init__(question)
        self.options = tuple(options[:MOST_OPTIONS])
        self.words = words
        self.names = tuple((options if names is None else names)[:MOST_OPTIONS])


class AlreadySoError(UnclearError):
    """What was asked for is planned so already, which is a question only where nothing else was asked for."""


@dataclass(frozen=True)
class Description:
    """A noun phrase taken apart: `name` of the one thing, else its `kind` (one of the scene's, "" for "one") and
    `color`; `unknown` is a noun that nothing here has."""

    name: str = ""
    kind: str = ""
    color: str = ""
    side: str = ""
    size: str = ""
    other: bool = False
    plural: bool = False
    unknown: str = ""


def described(words: str, scene: Scene) -> Description:
    """The parts of a noun phrase."""
    rest = _ONE_OF.sub("", words.lower())
    tokens = rest.split()
    every = any(word in ("all", "both", "every", "each") for word in tokens)
    tokens = _uncounted([word for word in tokens if word not in _ARTICLES])
    whole = _named(tokens, scene)
    if whole is not None and whole.entry != "kind":
        return Description(name=whole.key)
    color = next((COLOR_NAMES[word] for word in tokens if word in COLOR_NAMES and not _is_noun(word, tokens)), "")
    side = next((_SIDE_WORDS[word] for word in tokens if word in SIDES), "")
    size = next((word for word in tokens if word in SIZES), "")
    noun = [
        word
        for word in tokens
        if word not in (*SIDES, *SIZES, OTHER) and not (color and COLOR_NAMES.get(word) == color)
    ]
    if noun and noun[-1] in ONES and len(noun) > 1:
        noun = noun[:-1]
    found = _named(noun, scene)
    of_people = found is None and bool(noun) and noun[-1] in (*PEOPLE_WORDS, *PERSON_WORDS)
    is_plural = of_people and noun[-1] not in PERSON_WORDS
    plural = bool(noun) and noun[-1].endswith("s") and (found is None or noun[-1] not in _singulars(found))
    plural = (every or is_plural or plural) and rest == words.lower()
    kind = (found.key if found.entry == "kind" else scene.find(found.key).kind) if found else ""
    kind = "person" if of_people else kind
    unknown = " ".join(noun) if noun and not kind and noun[-1] not in ONES else ""
    return Description(
        "", kind, color, side, size, OTHER in tokens or "another" in words.lower().split(), plural, unknown
    )


def _uncounted(tokens: list[str]) -> list[str]:
    """Without how many they are; "blues" are blue ones."""
    if len(tokens) > 1 and tokens[0] in WHOLE_NUMBERS and tokens[0] != "one":
        tokens = tokens[1:]
    *others, last = tokens or [""]
    return [*others, last[:-1], "ones"] if last.endswith("s") and last[:-1] in COLOR_NAMES else tokens


def _is_noun(word: str, tokens: Sequence[str]) -> bool:
    """An orange may be a fruit, where it stands last and after another colour."""
    return word == "orange" and len(tokens) > 1 and tokens[-1] == word


def _singulars(phrase: Phrase) -> tuple[str, ...]:
    return phrase.parts[-1]


def _named(tokens: Sequence[str], scene: Scene) -> Phrase | None:
    """What is called so: things and people before kinds."""
    fitting = [phrase for phrase in scene_phrases(scene) if phrase.entry in ("object", "person", "kind")]
    fitting = [phrase for phrase in fitting if _fits(tokens, phrase)]
    names = [phrase for phrase in fitting if phrase.entry != "kind"]
    if len(names) > 1:  # by another word for their kind, several are called so
        exact = [phrase for phrase in names if phrase.key.lower() == " ".join(tokens)]
        kinds = [phrase for phrase in fitting if phrase.entry == "kind"]
        return next(iter(exact or kinds or names))
    return next(iter(names or fitting), None)


def _fits(tokens: Sequence[str], phrase: Phrase) -> bool:
    if len(tokens) != len(phrase.parts):
        return False
    *firsts, last = zip(tokens, phrase.parts, strict=True)
    exact = all(token in part for token, part in firsts)
    plural = phrase.entry == "kind" and any(last[0] in (word + "s", word + "es") for word in last[1])
    return exact and (last[0] in last[1] or plural)


def candidates(words: str, scene: Scene, viewpoint: Viewpoint = BEHIND, like: str = "") -> tuple[SceneObject, ...]:
    """Everything that the words fit; `like` is the thing in whose place it is said ("the blue one", "the other").

    One is of that thing's kind, if anything of it fits. Where a side or a size is said, the outermost one.
    """
    wanted = described(words, scene)
    if wanted.unknown:
        return _partly_known(words, wanted, scene)
    if wanted.name:
        return (scene.find(wanted.name),)
    kind = wanted.kind or (scene.find(like).kind if like else "")
    found = [item for item in scene.objects if wanted.color in ("", item.color)]
    found = [item for item in found if item.name != like] if wanted.other else found
    alike = [item for item in found if item.kind == kind]
    if wanted.kind or (alike and (wanted.color or wanted.other or wanted.side or wanted.size)):
        found = alike
    return _outermost(wanted, found, scene, viewpoint)


def answered(words: str, scene: Scene, viewpoint: Viewpoint = BEHIND) -> tuple[SceneObject, ...]:
    """Everything that an answer fits which is a name and no more; () for more words."""
    said = plain_words(words)
    return candidates(said, scene, viewpoint) if len(said.split()) <= LONGEST_NAME else ()


def _partly_known(words: str, wanted: Description, scene: Scene) -> tuple[SceneObject, ...]:
    """What words name among others: "the bowl over there", "Anna's book", a misspelt "buton"; by its colour alone,
    where one thing has it: "our yellow friend", "the yelow"."""
    lifted = lift(words, scene_phrases(scene))
    color = wanted.color or next((word.name for word in lifted if word.segment == "color"), "")
    for segments in (("object", "kind"), ("person",)):
        said = {word.name for word in lifted if word.segment in segments}
        if said:
            here = (one for one in scene.objects if said & {one.name, one.kind} and color in ("", one.color))
            return tuple(here) if len(said) == 1 else ()
    colored = tuple(one for one in scene.objects if color and one.color == color)
    return colored if len(colored) == 1 else ()


def _outermost(
    wanted: Description, found: list[SceneObject], scene: Scene, viewpoint: Viewpoint
) -> tuple[SceneObject, ...]:
    if wanted.side and found:
        first = from_side(scene, [item.name for item in found], viewpoint.direction(wanted.side))[0]
        return (scene.find(first),)
    if wanted.size and found:
        largest = wanted.size in _LARGE
        return ((max if largest else min)(found, key=volume),)
    return tuple(found)


def the_thing(words: str, scene: Scene, viewpoint: Viewpoint = BEHIND, like: str = "") -> SceneObject:
    """The one thing that is meant; raises UnclearError that names what there is."""
    return only(candidates(words, scene, viewpoint, like), words, scene)


def only(found: Sequence[SceneObject], words: str, scene: Scene) -> SceneObject:
    """The only one of them; raises UnclearError for several and for none."""
    if len(found) == 1:
        return found[0]
    if found:
        names = [the(item.name) for item in found]
        raise UnclearError(which(words, names), names, words)
    here = listed([the(name) for name in scene.names], "and") or "nothing"
    raise UnclearError(f"I see nothing here that is “{words}”. There is {here}. Which do you mean?", words=words)


def which(words: str, names: Sequence[str]) -> str:
    """The question where the words fit several things."""
    said = f" by “{words}”" if words else ""
    return f"Which one do you mean{said}: {listed(names)}?"


def listed(names: Sequence[str], word: str = "or") -> str:
    """In a sentence: the red block, the mug or the plate."""
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def the_room(words: str, scene: Scene) -> str:
    """The room of that name, or one that is misspelt so; raises UnclearError that lists the rooms."""
    said = re.sub(r"^the ", "", words.lower())
    tokens, phrases = said.split(), scene_phrases(scene)
    for phrase in phrases:
        if phrase.entry == "room" and (_fits(tokens, phrase) or _fits(tokens[:-1], phrase)):
            return phrase.key
    nearly = lift(said, phrases)
    if len(nearly) == 1 and nearly[0].segment == "room":
        return nearly[0].name
    rooms = listed(scene.building.names, "and") if scene.building else "none"
    raise UnclearError(f"There is no room called “{words}”. The rooms are: {rooms}. Which do you mean?")


def the_region(words: str) -> str:
    """The place on the table that is called so, in the speaker's words; raises UnclearError that lists the places."""
    name = _place(words)
    if name not in _REGION_NAMES:
        raise UnclearError(f"There is no place called “{words}”. The places are: {listed(places())}. Which is it?")
    return _REGION_NAMES[name]


def places() -> tuple[str, ...]:
    """The names of the places on the table."""
    return tuple(dict.fromkeys(_REGION_NAMES.values()))


def is_room(words: str, scene: Scene) -> bool:
    """Whether a room is called so."""
    try:
        the_room(words, scene)
    except UnclearError:
        return False
    return True


def names_in(text: str, scene: Scene) -> tuple[str, ...]:
    """Return the things, people and rooms of which a text speaks by name, kind or colour, in its order."""
    found: dict[str, None] = {}
    for word in lift(text, scene_phrases(scene), slips=False):
        if word.segment in ("object", "person", "room"):
            found[word.name] = None
        elif word.segment in ("kind", "color"):
            found |= {item.name: None for item in scene.objects if word.name in (item.kind, item.color)}
        elif word.text in PEOPLE_WORDS:
            found |= {item.name: None for item in scene.objects if item.kind == "person"}
    return tuple(found)


def is_region(words: str) -> bool:
    """Whether a place on the table is called so."""
    return _place(words) in _REGION_NAMES


def _place(words: str) -> str:
    name = re.sub(r"^the ", "", words.lower().replace("-", " "))
    return name if name in _REGION_NAMES else name.removesuffix(" of the table")
