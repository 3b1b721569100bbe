"""What words say that a program, a formula or an edit can be held against: numbers, order, denials, more or less.

Numbers in digits are read in any human language, and so are the full names of things. Words are those that carry
meaning by themselves; a sentence in a language that is not known here has none of them, and nothing follows from it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from llm_planner.language.grounding.lifting import Lifted, Sentence, lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.language.understanding.wording import FUNCTION_WORDS, is_english, words_of
from llm_planner.world.scene import Scene

UNITS = (1.0, 0.01, 0.001, 1000.0, 60.0, 3600.0, 0.0254, 0.3048, 1 / 3.6, 1 / 60, 0.01 / 60)  # to m, s and m/s
ROUNDED = 0.02  # as 5 cm are 2 inches
_ENTRIES = ("object", "person", "room")
_TIMES = {"twice": 2.0, "thrice": 3.0, "double": 2.0}
_DENIES = frozenset(re.findall(r"\w+", "not never dont cannot without except nor avoid neither instead rather"))
_NO_DENIAL = frozenset(
    re.findall(r"\w+", "only forget just necessarily hesitate fail miss care mind least most more less")
)
_CONDITIONS = frozenset(re.findall(r"\w+", "until unless before if when while after yet once whenever"))
_OTHER_ORDER = _CONDITIONS | {"last", "finally", "later", "afterwards", "previously"}
_BORDER = frozenset((",", ";", ":", ".", "!", "?", "and", "but", "then"))
_JOINS = frozenset(("or", "nor", "the", "a", "an"))
_MANY = frozenset(re.findall(
    r"\w+", "all every each any other others both everything anything whatever rest remaining them they these those "
    "else another neighbours pairs twice which no again things same swap many"
))  # fmt: skip
_PREPOSITIONS = frozenset(re.findall(r"\w+", "on onto ontop in into inside to towards at beside by near of behind"))
_DETERMINERS = frozenset(("the", "a", "an", "my", "your", "this", "that", "one", "big", "small", "little", "same"))
_TAKES_BACK = frozenset(("no", "sorry", "wait", "actually", "mean", "isnt", "arent", "wasnt", "under", "because", "so"))
_EVERY = frozenset(("all", "both", "every", "each"))
_NARROWER = frozenset(re.findall(
    r"\w+", "that which who of left right near nearest with except but from under next not besides between"
))  # fmt: skip
_SIGNS = {
    "speed": (
        "faster fast quicker quickly quick hurry schneller schnell vite rapido rápido veloce",
        "slower slow slowly gently langsamer langsam lentement lento despacio piano",
    ),
    "height": ("higher höher haut", "lower tiefer niedriger bas"),
    "clearance": ("more further farther wider mehr weiter", "less nearer closer weniger näher"),
    "distance": ("more further farther wider weiter", "less nearer closer näher"),
    "seconds": ("longer länger", "shorter kürzer"),
    "left": ("left leftmost links gauche izquierda sinistra", "right rightmost rechts droite derecha destra"),
    "up": ("up higher upwards höher hoch haut", "down lower downwards tiefer runter bas"),
    "top": ("top", "bottom"),
    "bound": ("least minimum mindestens", "most maximum within höchstens maximal"),
}
_TURNED = frozenset(("not", "too", "less", "never", "dont", "nicht", "zu", "trop", "troppo", "demasiado", "moins"))
_FROM_DIGIT = re.compile(r"^\D+")
_ENGLISH = FUNCTION_WORDS | frozenset(re.findall(
    r"\w+", "put pick place move push take bring go goes get give drop pop set stack left right up down next on off "
    "of one under over behind out all but not two three everything pls u ontop"
))  # fmt: skip
_OF_MANNER = {word for two in _SIGNS.values() for words in two for word in words.split()}


@dataclass(frozen=True)
class Number:
    """A number that was said, in whichever units it may be: `values`. `dimension` is "m", "s", "m/s" or "" for a bare
    one, "things" where it counts some. `vague`: it may be a way of speaking, "a second"."""

    text: str
    values: tuple[float, ...]
    dimension: str = ""
    vague: bool = False

    def is_among(self, others: Iterable[float]) -> bool:
        return any(math.isclose(value, other, rel_tol=ROUNDED) for other in others for value in self.values)


def is_known_language(text: str, scene: Scene) -> bool:
    """Whether what it lacks tells something: English sentences, and short ones of which half of the words, names
    aside, are English."""
    if is_english(text) or not _OF_MANNER.isdisjoint(words_of(text)):
        return True
    sentence = lifted(text, scene)
    others = [word.text for word in sentence.words if word.text[:1].isalpha()]
    return bool(sentence.named) and 2 * sum(word in _ENGLISH for word in others) >= len(others)


def lifted(text: str, scene: Scene) -> Sentence:
    return lift(text, scene_phrases(scene), "", slips=False)


def numbers(text: str, scene: Scene) -> tuple[Number, ...]:
    """All that it says, with words for numbers where it is English; digits in names are none."""
    words, english = lifted(text, scene).words, is_english(text)
    found = []
    for index, word in enumerate(words):
        said = text[word.start : word.end] if word.end else word.text
        has_digits = any(character.isdigit() for character in said)
        if word.segment in ("quantity", "seconds", "speed") and (has_digits or english):
            dimension = {"quantity": "m", "seconds": "s", "speed": "m/s"}[word.segment]
            read = [word.value]
            if not said[:1].isdigit() and has_digits:  # "a 20 cm" of another language than English
                read += [one.value for one in lift(_FROM_DIGIT.sub("", said, count=1), (), "").words if one.value]
            vague = not has_digits and said.split()[0].lower() in ("a", "an", "one")
            found.append(Number(said, tuple(read), dimension, vague))
        elif word.segment == "number" and (has_digits or english) and not _is_ordinal(words, index):
            counts = any(one.text.startswith(("#kind", "#color", "#object")) for one in words[index + 1 : index + 3])
            values = (word.value,) if counts else tuple(word.value * unit for unit in UNITS)
            vague = not (has_digits or counts or [one.text for one in words[index + 1 : index + 2]] == ["times"])
            found.append(Number(said, values, "things" if counts else "", vague))
        elif word.text in _TIMES:
            found.append(Number(word.text, (_TIMES[word.text],)))
    return tuple(found)


def _is_ordinal(words: Sequence[Lifted], index: int) -> bool:
    """ "2nd", "3." of a list, "2 o'clock": no amount."""
    after = words[index + 1].text if index + 1 < len(words) else ""
    return after in ("nd", "rd", "th", "st", "o'clock", ":")


def named_in(text: str, scene: Scene) -> tuple[str, ...]:
    """Things, people and rooms that it names in full, in their order."""
    sentence = lifted(text, scene)
    meant = (sentence.meaning(word.text) for word in sentence.words)
    return tuple(dict.fromkeys(name for entry, name in meant if entry in _ENTRIES))


def denied(text: str, scene: Scene) -> frozenset[str]:
    """Things, people and rooms that it names, by name, kind or colour, in nothing but denials: "but not the vase".

    What is denied under a condition ("not before ...") is none, nor is what a later "it" may stand for.
    """
    sentence = lifted(text, scene)
    sides: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
    clauses = _clauses(sentence.words, _BORDER)
    for place, clause in enumerate(clauses):
        texts = [word.text.replace("'", "") for word in clause]
        taken_up = _comes_first([word.text for later in clauses[place + 1 :] for word in later])
        conditional = taken_up or not _CONDITIONS.isdisjoint(texts)
        refusing = joined = False
        for number, word in enumerate(clause):
            refusing |= texts[number] in _DENIES and not _NO_DENIAL & {*texts[number + 1 : number + 2]}
            joined &= word.text.startswith("#") or word.text in _JOINS
            entry, name = sentence.meaning(word.text.removesuffix("s") if word.text.startswith("#kind") else word.text)
            if entry:
                sides[(refusing or joined) and not conditional].add((entry, name))
                refusing, joined = False, refusing or joined
    refused, wanted = sides[True] - sides[False], {name for entry, name in sides[False] if entry in _ENTRIES}
    kinds = {name for entry, name in sides[False] if entry == "kind"}
    things = {item.name for item in scene.objects if ("color", item.color) in refused
              or (("kind", item.kind) in refused and item.kind not in kinds)}  # fmt: skip
    return frozenset(({name for entry, name in refused if entry in _ENTRIES} | things) - wanted)


def _comes_first(texts: Sequence[str]) -> bool:
    """Whether "it" or "them" comes before the next name."""
    found = next((text for text in texts if text in ("it", "them") or text.startswith("#")), "")
    return found in ("it", "them")


def has_denial(text: str) -> bool:
    """Whether it denies, forbids or excludes something, or may: never false for a language that is not known here."""
    words = {*words_of(text)}
    more = {"leave", "keep", "out", "away", "off", "only", "empty", "remove", "clear", "nothing", "none", "nobody"}
    return not is_english(text) or not words.isdisjoint(_DENIES | more | _CONDITIONS | {"mustnt", "shouldnt", "wont"})


def denies(text: str) -> bool:
    """Whether a word of it denies, and is no part of a phrase such as "do not forget"."""
    words = words_of(text)
    denials = (place for place, word in enumerate(words) if word in ("not", "never", "dont", "without", "avoid"))
    return any(_NO_DENIAL.isdisjoint(words[place + 1 : place + 2]) for place in denials)


def turns(text: str, scene: Scene) -> tuple[frozenset[str], ...]:
    """What is named for the first time in each part of a sequence that "then" divides; () where another word may turn
    the order round."""
    sentence = lifted(text, scene)
    texts = [word.text for word in sentence.words]
    if "then" not in texts or not _OTHER_ORDER.isdisjoint(texts):
        return ()
    parts, seen = [], set[str]()
    for clause in _clauses(sentence.words, frozenset(("then",))):
        names = {name for entry, name in (sentence.meaning(word.text) for word in clause) if entry in _ENTRIES}
        parts.append(frozenset(names - seen))
        seen |= names
    return tuple(parts)


def every_of(text: str, scene: Scene) -> tuple[str, ...]:
    """The things of "all blocks", "both red mugs": all of them, where nothing narrows it down."""
    sentence = lifted(text, scene)
    words, found = sentence.words, list[str]()
    for index, word in enumerate(words):
        if word.text not in _EVERY:
            continue
        color = ""
        for place, after in enumerate(words[index + 1 : index + 5], index + 1):
            entry, name = sentence.meaning(
                after.text.removesuffix("s") if after.text.startswith("#kind") else after.text
            )
            if entry == "color":
                color = name
            elif entry == "kind":
                if not any(one.text in _NARROWER for one in words[place + 1 : place + 2]) and not denied(text, scene):
                    found += [i.name for i in scene.objects if i.kind == name and color in ("", i.color)]
                break
            elif entry or after.text not in ("of", "the", "my", "these", "those", "two", "three", "#number"):
                break
    return tuple(dict.fromkeys(found))


def sign(text: str, quantity: str) -> int:
    """1 for more of it, -1 for less, 0 where the words do not say, or say both. "Left" is more, and so is "up"."""
    if quantity not in _SIGNS:
        return 0
    more, less = (frozenset(words.split()) for words in _SIGNS[quantity])
    words = words_of(text)
    signs = set()
    for index, word in enumerate(words):
        one = 1 if word in more else -1 if word in less else 0
        if one:
            signs.add(-one if not _TURNED.isdisjoint(words[max(0, index - 2) : index]) else one)
    return signs.pop() if len(signs) == 1 else 0


def speaks_of_manner(text: str) -> bool:
    """Whether it says how fast, how high or how far around."""
    return any(sign(text, quantity) for quantity in ("speed", "height"))


def exchanged(pairs: Collection[tuple[str, str]], text: str, scene: Scene) -> tuple[tuple[str, str], ...]:
    """Those `pairs` (a thing, where it comes to) that take one from each of two neighbouring pairs of names: in "the
    cup on the plate and the jar in the box" the cup belongs on the plate."""
    names = named_in(text, scene)
    heads, tails = {a for a, _ in pairs}, {b for _, b in pairs}
    if len(names) != 2 * len(pairs) or len(pairs) < 2 or {*names} != heads | tails or heads & tails:
        return ()
    said = [{*names[index : index + 2]} for index in range(0, len(names), 2)]
    if any(len(two & heads) != 1 for two in said) or len({names[n] in heads for n in range(0, len(names), 2)}) != 1:
        return ()
    return tuple(pair for pair in pairs if {*pair} not in said)


def roles(text: str, scene: Scene) -> tuple[frozenset[str], frozenset[str]]:
    """Things that it names in full, or by a kind or colour of which there is one: those that never follow a word such
    as "on", and those that always do."""
    sentence = lifted(text, scene)
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    for index, word in enumerate(sentence.words):
        entry, name = sentence.meaning(word.text)
        found = [i.name for i in scene.objects if (entry == "object" and name == i.name)
                 or (entry == "kind" and name == i.kind) or (entry == "color" and name == i.color)]  # fmt: skip
        if len(found) == 1:
            before = [one.text for one in sentence.words[max(0, index - 5) : index]]
            while before and (before[-1] in _DETERMINERS or before[-1].startswith("#color")):
                before.pop()
            seen[bool(before) and before[-1] in _PREPOSITIONS].add(found[0])
    return frozenset(seen[False] - seen[True]), frozenset(seen[True] - seen[False])


def corrects_itself(text: str) -> bool:
    """Whether a thing may be named to be taken back, or left out: "the red, no, the blue block"."""
    return not {*words_of(text)}.isdisjoint(_TAKES_BACK | _DENIES)


def singles(text: str, scene: Scene) -> dict[str, int]:
    """Kinds of which it speaks in the singular only, and how often: "the largest block", unless it says how many."""
    sentence = lifted(text, scene)
    texts = [word.text for word in sentence.words]
    if not _MANY.isdisjoint(texts) or any(word.segment == "number" for word in sentence.words):
        return {}
    kinds, more = [text for text in texts if text.startswith("#kind")], texts.count("one")
    plural = {text.removesuffix("s") for text in kinds if text.endswith("s")}
    return {sentence.meaning(kind)[1]: kinds.count(kind) + more for kind in {*kinds} - plural if not kind.endswith("s")}


def says(text: str, words: str) -> bool:
    """Whether all the words are in the text."""
    return {*words_of(words)} <= {*words_of(text)}


def _clauses(words: Sequence[Lifted], borders: frozenset[str]) -> list[list[Lifted]]:
    parts: list[list[Lifted]] = [[]]
    for word in words:
        if word.text in borders:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
