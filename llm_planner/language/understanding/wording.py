"""What the words of an utterance tell: those that carry meaning, names, numbers, order, denials, more or less.

Programs, formulas and edits are checked against these facts, and tasks are compared by them. Words such as "not",
"only", "then", "until" and every number carry meaning; politeness and articles do not. Digits and full names are read
in any human language. Other words are known for English and in part for a few other languages; from a sentence in an
unknown language nothing follows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import reduce

from llm_planner.language.correction_requests import QUANTITIES
from llm_planner.language.grounding.lifting import TIMES, Lifted, amounts_in, lift, spelled
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.ltl.formula import Formula
from llm_planner.scene.propositions import parse_proposition
from llm_planner.scene.scene import Scene


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


POLITE = word_set(
    "please kindly thanks thank hello hi hey robot ok okay just now well so and but also too can could will "
    "would you i id like want to me for a an the try sure make"
)
FUNCTION_WORDS = POLITE | word_set(
    "it its this that these those they them he she him her his my your our us we of in on at by with from "
    "into onto as is are be been am was were being do does did doing have has had having shall should must "
    "may might need needs there here thats while meanwhile whatever happens way time"
)
_ENGLISH = word_set(
    "the and never this that these those it its with from into onto your please every each which where while "
    "until before after then them there away dont least most than within keep stay staying"
)  # words that are rare in other languages
TYPING_ERROR = 0.8  # similarity from which words of four or more letters count as misspellings of each other


def words_of(text: str) -> tuple[str, ...]:
    """Split text into lower-case words and numbers without punctuation; "don't" is one word."""
    return tuple(re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+", re.sub(r"['’]", "", text.lower())))


def plain(text: str) -> str:
    """Normalise text to its `words_of` with single spaces."""
    return " ".join(words_of(text))


def same_task(text: str) -> tuple[str, ...]:
    """Return a key that is equal for tasks that differ only in case, punctuation, articles and politeness."""
    return tuple(word for word in words_of(text) if word not in POLITE)


def is_english(text: str) -> bool:
    """Return whether a text has an English function word, so that checks of English words apply."""
    return not _ENGLISH.isdisjoint(words_of(text))


def names_left_over(command: str, names: Iterable[str], parts: Iterable[str]) -> tuple[str, ...]:
    """Return the numbers and full `names` that a command has and none of the `parts`, in any language."""
    covered = plain(" ".join(parts))
    said = plain(command)
    named = [name for name in names if re.search(rf"\b{re.escape(plain(name))}\b", said)]
    numbers = re.findall(r"\d+(?:\.\d+)?", said)
    return tuple(dict.fromkeys(one for one in (*named, *numbers) if plain(one) not in covered))


def left_over(command: str, parts: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a command that carry meaning and are in none of the `parts`, in order.

    Similar words count as equal, since both may have typing errors.
    """
    covered = {word for part in parts for word in words_of(part)}
    meant = (word for word in words_of(command) if not any(_swapped(word, other) for other in FUNCTION_WORDS))
    return tuple(word for word in dict.fromkeys(meant) if not any(_alike(word, other) for other in covered))


def _swapped(word: str, other: str) -> bool:
    """Return whether words are equal up to the order of letters; "no" and "on" differ."""
    return word == other or (len(word) > 2 and sorted(word) == sorted(other))


def _alike(word: str, other: str) -> bool:
    is_typed_wrong = min(len(word), len(other)) > 3 and SequenceMatcher(a=word, b=other).ratio() >= TYPING_ERROR
    return is_typed_wrong or _swapped(word, other)


def arguments_of(formula: Formula) -> tuple[str, ...]:
    """Return every object, place and skill in the propositions of a formula, once each."""
    found = (parse_proposition(name).arguments for name in formula.propositions)
    return tuple(dict.fromkeys(one for some in found for one in some))


def full_names_in(text: str, scene: Scene) -> list[str]:
    """Return the objects and rooms whose full names are in a `plain` text, in order; longer names take precedence."""
    rooms = scene.building.names if scene.building else ()
    places: dict[int, str] = {}
    for name in sorted((*scene.names, *rooms), key=len, reverse=True):
        pattern = rf"\b{re.escape(plain(name))}\b"
        for found in re.finditer(pattern, text):
            places[found.start()] = name
        text = re.sub(pattern, lambda found: "_" * len(found[0]), text)
    return [places[start] for start in sorted(places)]


UNITS = (1.0, 0.01, 0.001, 1000.0, 60.0, 3600.0, 0.0254, 0.3048, 1 / 3.6, 1 / 60, 0.01 / 60)  # to [m], [s], [m/s]
ROUNDED = 0.02  # relative tolerance, as 5 cm are 2 inches
_ENTRIES = ("object", "person", "room")
_THINGS = ("object", "kind", "color")
_DIMENSIONS = {"quantity": "m", "seconds": "s", "speed": "m/s"}
_ARRANGED = word_set("tower stack pile row line circle ring set group")
_TIMES = {"twice": 2.0, "thrice": 3.0, "double": 2.0}
_DENIES = word_set("not never dont cannot without except nor avoid neither instead rather")
_FORBIDS = word_set("not never dont")
NO_DENIAL = word_set("only forget just necessarily hesitate fail miss care mind least most more less important matter")
_CONDITIONS = word_set("until unless before if when while after yet once whenever")
_BORDER = frozenset((",", ";", ":", ".", "!", "?", "and", "but", "then"))
_JOINS = frozenset(("or", "nor", "the", "a", "an"))
_PREPOSITIONS = word_set("on onto ontop in into inside to towards at beside by near of behind")
_DETERMINERS = frozenset(("the", "a", "an", "my", "your", "this", "that", "one", "big", "small", "little", "same"))
_TAKES_BACK = frozenset(("no", "sorry", "wait", "actually", "mean", "isnt", "arent", "wasnt", "under", "because", "so"))
_SIGNS = {  # words for more and for less, with other languages after the bar
    **{name: (one.more.words, one.less.words) for name, one in QUANTITIES.items()},
    "left": ("left leftmost | links gauche izquierda sinistra", "right rightmost | rechts droite derecha destra"),
    "up": ("up higher upwards | höher hoch haut", "down lower downwards | tiefer runter bas"),
    "top": ("top", "bottom"),
    "away": ("farther farthest further furthest | fernsten weitesten", "nearer nearest closer closest | nächsten"),
    "bound": ("least minimum | mindestens", "most maximum within | höchstens maximal"),
}
_TURNED = frozenset(("not", "too", "less", "never", "dont", "nicht", "zu", "trop", "troppo", "demasiado", "moins"))
_COMMON_ENGLISH = FUNCTION_WORDS | word_set(
    "put pick place move push take bring go goes get give drop pop set stack left right up down next on off "
    "of one under over behind out all but not two three everything pls u ontop"
)
_OF_MANNER = {word for two in _SIGNS.values() for words in two for word in words.partition("|")[0].split()}


@dataclass(frozen=True)
class Number:
    """Number in an utterance with its possible `values` in SI units; a bare number has one per unit.

    `dimension` is "m", "s", "m/s", "things" for a count of objects, or "" for a bare number. A `vague` number may be a
    figure of speech: "a second".
    """

    text: str
    values: tuple[float, ...]
    dimension: str = ""
    vague: bool = False

    def is_among(self, others: Iterable[float]) -> bool:
        return any(math.isclose(value, other, rel_tol=ROUNDED) for other in others for value in self.values)


def is_known_language(text: str, scene: Scene) -> bool:
    """Return whether a text is English, or a short one with names where half of the other words are."""
    if is_english(text) or not _OF_MANNER.isdisjoint(words_of(text)):
        return True
    sentence = lifted(text, scene)
    others = [word for word in map(plain_word, sentence) if word[:1].isalpha()]
    return any(word.name for word in sentence) and 2 * sum(word in _COMMON_ENGLISH for word in others) >= len(others)


def lifted(text: str, scene: Scene) -> list[Lifted]:
    return lift(text, scene_phrases(scene), slips=False)


def plain_word(word: Lifted) -> str:
    """Return the text of a plain word, "" for a name or an amount, whose words have no other meaning."""
    return word.text if word.segment == "word" else ""


def numbers(text: str, scene: Scene) -> tuple[Number, ...]:
    """Find the numbers in a text, in words only in a known language; digits in names do not count."""
    words, english = lifted(text, scene), is_known_language(text, scene)
    found = []
    for index, word in enumerate(words):
        said, after = text[word.start : word.end], words[index + 1 : index + 3]
        has_digits = any(character.isdigit() for character in said)
        is_ordinal = bool(after) and plain_word(after[0]) in ("nd", "rd", "th", "st", "o'clock", ":")
        if word.segment in _DIMENSIONS and (has_digits or english):
            vague = not has_digits and said.split()[0].lower() in ("a", "an", "one")
            found.append(Number(said, (word.value,), _DIMENSIONS[word.segment], vague))
        elif word.segment == "number" and not is_ordinal and (has_digits or english or _is_of_things(words, index)):
            counts = any(one.segment in _THINGS for one in after) or _is_of_things(words, index)
            values = (word.value,) if counts else tuple(word.value * unit for unit in UNITS)
            vague = not (has_digits or counts or [plain_word(one) for one in after[:1]] == ["times"])
            found.append(Number(said, values, "things" if counts else "", vague))
        elif plain_word(word) in _TIMES:
            found.append(Number(word.text, (_TIMES[word.text],)))
    return tuple(found)


def _is_of_things(words: Sequence[Lifted], index: int) -> bool:
    """Return whether a bare number counts things: "a tower of three"; "at a height of 3" is a measure."""
    before = [*map(plain_word, words[max(0, index - 2) : index])]
    return len(before) == 2 and before[1] == "of" and before[0] in _ARRANGED


def named_in(text: str, scene: Scene) -> tuple[str, ...]:
    """Return the objects, people and rooms that a text names in full, in text order."""
    return tuple(dict.fromkeys(word.name for word in lifted(text, scene) if word.segment in _ENTRIES))


def denied(text: str, scene: Scene) -> frozenset[str]:
    """Find objects, people and rooms that a text mentions only in denials: "but not the vase".

    Conditional denials ("not before ...") and mentions that a later "it" may refer to do not count.
    """
    sides: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
    clauses = _clauses(lifted(text, scene), _BORDER)
    for place, clause in enumerate(clauses):
        texts = [plain_word(word).replace("'", "") for word in clause]
        later = (plain_word(word) for clause in clauses[place + 1 :] for word in clause)
        taken_up = next((text for text in later if text in ("", "it", "them")), "")  # by "it", before the next name
        conditional = bool(taken_up) or not _CONDITIONS.isdisjoint(texts)
        refusing = joined = False
        for number, word in enumerate(clause):
            refusing |= texts[number] in _DENIES and not NO_DENIAL & {*texts[number + 1 : number + 2]}
            joined &= word.segment != "word" or word.text in _JOINS
            if word.name:
                sides[(refusing or joined) and not conditional].add((word.segment, word.name))
                refusing, joined = False, refusing or joined
    refused, wanted = sides[True] - sides[False], {name for entry, name in sides[False] if entry in _ENTRIES}
    kinds = {name for entry, name in sides[False] if entry == "kind"}
    things = {item.name for item in scene.objects if ("color", item.color) in refused
              or (("kind", item.kind) in refused and item.kind not in kinds)}  # fmt: skip
    return frozenset(({name for entry, name in refused if entry in _ENTRIES} | things) - wanted)


def has_denial(text: str) -> bool:
    """Return whether a text may deny, forbid or exclude something; always True for unknown languages."""
    words = {*words_of(text)}
    more = {"leave", "keep", "out", "away", "off", "only", "empty", "remove", "clear", "nothing", "none", "nobody"}
    return not is_english(text) or not words.isdisjoint(_DENIES | more | _CONDITIONS | {"mustnt", "shouldnt", "wont"})


def denies(text: str) -> bool:
    """Return whether a text has a negation outside phrases such as "do not forget"."""
    return is_denied(words_of(text), _FORBIDS | {"without", "avoid"})


def is_denied(words: Sequence[str], denials: frozenset[str] = _FORBIDS | word_set("cannot mustnt shouldnt")) -> bool:
    """Return whether one of the `denials` is among the words, outside phrases such as "do not forget"."""
    plain = [word.replace("'", "") for word in words]
    places = (place for place, word in enumerate(plain) if word in denials)
    return any(NO_DENIAL.isdisjoint(plain[place + 1 : place + 2]) for place in places)


def avoids(text: str) -> bool:
    """Return whether a text denies something or asks to keep away from it."""
    words = words_of(text)
    return denies(text) or any(
        word in ("keep", "stay", "remain")
        and not {"away", "out", "clear", "off"}.isdisjoint(words[place + 1 : place + 3])
        for place, word in enumerate(words)
    )


def limits_duration(text: str) -> bool:
    """Return whether a text limits how long something lasts: "never ... for longer than 10 s", "for at most 5 s"."""
    speeds = (said for said, amount in amounts_in(text) if amount.is_speed)  # "0.15 m/s" speaks of no time
    words = words_of(reduce(lambda rest, speed: rest.replace(speed, " "), speeds, spelled(text)))
    if not {"take", "takes", "taking", "took"}.isdisjoint(words):
        return False  # a deadline
    for place, word in enumerate(words):
        before = words[max(0, place - 3) : place]
        is_upper = (word in ("longer", "more", "over") and (denies(text) or "no" in before)) or (
            word in ("most", "maximum") and "for" in before
        )
        if is_upper and not TIMES.keys().isdisjoint(words[place + 1 : place + 6]):
            return True
    return False


def sign(text: str, quantity: str) -> int:
    """Return 1 if a text asks for more of a quantity, -1 for less, 0 if unclear; "left", "up", "farther" are more."""
    if quantity not in _SIGNS:
        return 0
    more, less = (frozenset(words.split()) for words in _SIGNS[quantity])
    words = words_of(text)
    signs = set()
    for index, word in enumerate(words):
        one = 1 if word in more else -1 if word in less else 0
        if one:
            is_turned = not _TURNED.isdisjoint(words[max(0, index - 2) : index])
            asks_for_more = "enough" in words[index + 1 : index + 3]  # "not slow enough"
            signs.add(-one if is_turned and not asks_for_more else one)
    return signs.pop() if len(signs) == 1 else 0


def speaks_of_manner(text: str) -> bool:
    """Return whether a text says how fast or how high to move."""
    return any(sign(text, quantity) for quantity in ("speed", "height"))


def exchanged(pairs: Collection[tuple[str, str]], text: str, scene: Scene) -> tuple[tuple[str, str], ...]:
    """Find pairs (object, destination) that mix two neighbouring pairs of names in a text.

    In "the cup on the plate and the jar in the box" the cup belongs on the plate.
    """
    names = named_in(text, scene)
    heads, tails = {a for a, _ in pairs}, {b for _, b in pairs}
    if len(names) != 2 * len(pairs) or len(pairs) < 2 or {*names} != heads | tails or heads & tails:
        return ()
    said = [{*names[index : index + 2]} for index in range(0, len(names), 2)]
    if any(len(two & heads) != 1 for two in said) or len({names[n] in heads for n in range(0, len(names), 2)}) != 1:
        return ()
    return tuple(pair for pair in pairs if {*pair} not in said)


def roles(text: str, scene: Scene) -> tuple[frozenset[str], frozenset[str]]:
    """Split the objects that a text identifies by their role.

    Returns:
        Objects that never follow a preposition such as "on", and objects that always do.
    """
    sentence = lifted(text, scene)
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    for index, word in enumerate(sentence):
        said = (word.segment, word.name)
        found = [i.name for i in scene.objects
                 if said in (("object", i.name), ("kind", i.kind), ("color", i.color))]  # fmt: skip
        if len(found) == 1:
            before = sentence[max(0, index - 5) : index]
            while before and (plain_word(before[-1]) in _DETERMINERS or before[-1].segment == "color"):
                before.pop()
            seen[bool(before) and plain_word(before[-1]) in _PREPOSITIONS].add(found[0])
    return frozenset(seen[False] - seen[True]), frozenset(seen[True] - seen[False])


def corrects_itself(text: str) -> bool:
    """Return whether a text may name an object only to retract or exclude it: "the red, no, the blue block"."""
    return not {*words_of(text)}.isdisjoint(_TAKES_BACK | _DENIES)


def says(text: str, words: str) -> bool:
    """Return whether the text contains all of the words."""
    return {*words_of(words)} <= {*words_of(text)}


def _clauses(words: Sequence[Lifted], borders: frozenset[str]) -> list[list[Lifted]]:
    parts: list[list[Lifted]] = [[]]
    for word in words:
        if plain_word(word) in borders:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
