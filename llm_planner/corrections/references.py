"""Resolution of references: which object, room or region the words mean.

If several or none fit, the resolution raises a question and never guesses.
"""

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
    REGION_WORDS,
    Phrase,
    scene_phrases,
)
from llm_planner.language.grounding.resolution import Reference, Resolver
from llm_planner.scene.names import the
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.predicates import from_side, volume
from llm_planner.scene.scene import Scene, SceneObject

MOST_OPTIONS = 3
LONGEST_NAME = 6  # [words] of an answer that is only a name
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
_REGION_NAMES = {word: name for name, words in REGION_WORDS.items() for word in words}


_NOUN = re.compile(r"^ ones?\b")  # in "the green one"
_QUOTED = re.compile("“([^”]+)”")


class UnclearError(QuestionError):
    """Reference that fits several objects or none.

    `options` are possible answers. `words` are the unclear words, and `names` what each option substitutes for them;
    without `words`, `names` are candidates for an object that was not mentioned.
    """

    def __init__(
        self, question: str, options: Sequence[str] = (), words: str = "", names: Sequence[str] | None = None
    ) -> None:
        super().__init__(question)
        self.options = tuple(options[:MOST_OPTIONS])
        self.words = words
        self.names = tuple((options if names is None else names)[:MOST_OPTIONS])


class AlreadySoError(UnclearError):
    """Request that the plan meets already; it becomes a question only if nothing else was requested."""


@dataclass(frozen=True)
class Description:
    """Parts of a noun phrase.

    `name` is set for a single known object; otherwise `kind` is a kind of the scene ("" for "one"). `unknown` is a noun
    that nothing in the scene matches.
    """

    name: str = ""
    kind: str = ""
    color: str = ""
    side: str = ""
    size: str = ""
    other: bool = False
    plural: bool = False
    unknown: str = ""


def described(words: str, scene: Scene) -> Description:
    """Parse a noun phrase."""
    rest = _ONE_OF.sub("", words.lower())
    tokens = rest.split()
    every = any(word in ("all", "both", "every", "each") for word in tokens)
    tokens = [word for word in tokens if word not in _ARTICLES]
    if len(tokens) > 1 and tokens[0] in WHOLE_NUMBERS and tokens[0] != "one":
        tokens = tokens[1:]
    if tokens and tokens[-1].endswith("s") and tokens[-1][:-1] in COLOR_NAMES:  # "blues" are blue ones
        tokens = [*tokens[:-1], tokens[-1][:-1], "ones"]
    whole = _named(tokens, scene)
    if whole is not None and whole.entry != "kind":
        return Description(name=whole.key)
    is_fruit = len(tokens) > 1 and tokens[-1] == "orange"  # it stands last, after another word
    colors = (word for word in tokens if word in COLOR_NAMES and not (is_fruit and word == "orange"))
    color = next((COLOR_NAMES[word] for word in colors), "")
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
    plural = bool(noun) and noun[-1].endswith("s") and (found is None or noun[-1] not in found.parts[-1])
    plural = (every or is_plural or plural) and rest == words.lower()
    kind = (found.key if found.entry == "kind" else scene.find(found.key).kind) if found else ""
    kind = "person" if of_people else kind
    unknown = " ".join(noun) if noun and not kind and noun[-1] not in ONES else ""
    return Description(
        "", kind, color, side, size, OTHER in tokens or "another" in words.lower().split(), plural, unknown
    )


def _named(tokens: Sequence[str], scene: Scene) -> Phrase | None:
    """Return the phrase of the scene that the tokens match, objects and people before kinds."""
    fitting = [phrase for phrase in scene_phrases(scene) if phrase.entry in ("object", "person", "kind")]
    fitting = [phrase for phrase in fitting if _fits(tokens, phrase)]
    names = [phrase for phrase in fitting if phrase.entry != "kind"]
    if len(names) > 1:  # several objects share a synonym of their kind
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
    """Return all objects that the words fit, or only the outermost one if they give a side or a size.

    `viewpoint` is where the speaker stands. `like` is the object that the words replace ("the blue one", "the other");
    a word such as "one" is of its kind if any object of that kind fits.
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
    """Return all objects that an answer fits; () if the answer is more than a name."""
    said = plain_words(words)
    return candidates(said, scene, viewpoint) if len(said.split()) <= LONGEST_NAME else ()


def _partly_known(words: str, wanted: Description, scene: Scene) -> tuple[SceneObject, ...]:
    """Return objects named among other words ("Anna's book"), or the only object of the named colour."""
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


def only(found: Sequence[SceneObject], words: str, scene: Scene) -> SceneObject:
    """Return the only object in `found`; raise UnclearError for several and for none."""
    if len(found) == 1:
        return found[0]
    if found:
        names = [the(item.name) for item in found]
        raise UnclearError(which(words, names), names, words)
    here = listed([the(name) for name in scene.names], "and") or "nothing"
    raise UnclearError(f"I see nothing here that is “{words}”. There is {here}. Which do you mean?", words=words)


def unclear_words(command: str, question: str, name: str, scene: Scene) -> str:
    """Return the words of a command that a question asks about and that may stand for `name`; "" if none are found."""
    for unclear in _QUOTED.findall(question):
        if unclear in command and unclear != command:
            return str(unclear)
    resolver = Resolver(command, scene)
    lifted = lift(command, scene_phrases(scene))
    for number, word in enumerate(lifted):
        if word.segment not in ("color", "kind") or word.plural:
            continue
        after = lifted[number + 1 : number + 2] if word.segment == "color" else []
        (last,) = after if after and after[0].segment == "kind" and not after[0].plural else (word,)
        color, kind = (one.name if one.segment == entry else "" for one, entry in ((word, "color"), (last, "kind")))
        fitting = [item.name for item in resolver.matching(Reference(kind=kind, color=color))]
        if len(fitting) > 1 and name in fitting:
            noun = _NOUN.match(command[last.end :])
            return command[word.start : last.end + (noun.end() if noun else 0)]
    return ""


def which(words: str, names: Sequence[str]) -> str:
    """Return the question for words that fit several objects."""
    said = f" by “{words}”" if words else ""
    return f"Which one do you mean{said}: {listed(names)}?"


def listed(names: Sequence[str], word: str = "or") -> str:
    """Join names for a sentence: the red block, the mug or the plate."""
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def the_room(words: str, scene: Scene) -> str:
    """Return the room of that name, tolerating spelling errors; raise UnclearError that lists the rooms."""
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
    """Return the region of the table with that name, as the speaker says it; raise UnclearError that lists them."""
    name = _region(words)
    if not name:
        raise UnclearError(f"There is no place called “{words}”. The places are: {listed(places())}. Which is it?")
    return name


def places() -> tuple[str, ...]:
    """Return the names of the regions of the table."""
    return tuple(REGION_WORDS)


def is_room(words: str, scene: Scene) -> bool:
    """Whether the words name a room."""
    try:
        the_room(words, scene)
    except UnclearError:
        return False
    return True


def names_in(text: str, scene: Scene) -> tuple[str, ...]:
    """Return the objects, people and rooms that a text mentions by name, kind or colour, in order."""
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
    """Whether the words name a region of the table."""
    return _region(words) != ""


def _region(words: str) -> str:
    name = re.sub(r"^the ", "", words.lower().replace("-", " "))
    return _REGION_NAMES.get(name) or _REGION_NAMES.get(name.removesuffix(" of the table"), "")
