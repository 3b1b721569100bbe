"""Clauses of an English utterance: which happens before which, and under which condition.

Clauses end at punctuation, at "but" and at conjunctions such as "before" and "unless". A clause that cannot be placed
gives no fact, so that nothing follows from a sentence that is built in another way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from llm_planner.language.grounding.lifting import Lifted
from llm_planner.language.understanding.wording import is_denied, lifted, plain_word, words_of
from llm_planner.scene.scene import Scene

_SENTENCE_ENDS = frozenset(".!?;")
_BORDERS = frozenset((",", ":", "but", "though", "although"))
_LINKS = frozenset(("before", "after", "once", "until", "till", "if", "unless", "when", "whenever", "while"))
_MANNERS = frozenset(("and", "but", "not", "only", "even", "just", "except", "then"))  # directly before a conjunction
_TIMES = ("before", "after", "once", "until", "till")
_CASES = ("if", "when", "whenever", "once")  # "once that is done, then go": no sequence
_NEXT = frozenset(("then", "afterwards", "afterward", "thereafter", "subsequently"))
_BACK = frozenset(("that", "this", "which"))  # "after that" refers to the clause before
_SUBJECTS = frozenset(
    (
        "the",
        "you",
        "it",
        "that",
        "this",
        "both",
        "all",
        "they",
        "i",
        "we",
        "he",
        "she",
        "a",
        "an",
        "which",
        "your",
        "my",
        "its",
        "each",
        "every",
        "her",
        "his",
        "their",
        "those",
        "these",
    )
)
_INDIRECT = frozenset(("see", "check", "look", "know", "tell", "say", "ask", "wonder", "out", "as", "me"))  # "see if"
_ARTICLES = frozenset(("the", "a", "an", "that", "this", "my", "your", "its", "their", "his", "her"))
_NAMING = frozenset(("object", "person", "room", "kind", "color", "number"))  # segments of lifted words
_NEGATIVE = frozenset(("no", "nobody", "nothing", "none", "empty", "closed", "shut"))
_POLITE = re.compile(  # "if you would", "if it's no trouble": no condition
    r"\bif (?:you(?: would| could| can| please| like| will| may| wish| have| don['’]t mind|['’]d)|possible"
    r"|(?:it|that)['’]s (?:no trouble|all right|alright|okay|ok|fine))\b",
    re.IGNORECASE,
)


@dataclass
class Clause:
    """Clause of an utterance.

    Attributes:
        sentence: Number of its sentence.
        turn: How often "then" has been said up to here.
        link: Conjunction that makes it depend on another clause; "" for a main clause.
        joined: Whether it follows the clause before without a comma.
        manner: Words directly before the conjunction: "only", "not".
        place: "first" or "last" if the clause says so of itself.
    """

    sentence: int
    turn: int
    link: str = ""
    joined: bool = False
    manner: frozenset[str] = frozenset()
    place: str = ""
    words: list[Lifted] = field(default_factory=list)
    names: frozenset[str] = frozenset()

    @property
    def names_something(self) -> bool:
        """Whether the clause has named a thing, a place or a person."""
        return any(word.segment in _NAMING for word in self.words)

    @property
    def denied(self) -> bool:
        """Whether the clause denies or forbids something."""
        return is_denied([*map(plain_word, self.words)])


@dataclass(frozen=True)
class Order:
    """Names of which a text says that all `earlier` ones come before the `later` ones.

    `to_do` is whether the later ones are part of what is to be done, not only a time.
    """

    earlier: frozenset[str]
    later: frozenset[str]
    to_do: bool = True

    def is_reversed(self, first: Mapping[str, int], latest: Mapping[str, int] | None = None) -> bool:
        """Return whether a later name comes before an earlier one, where names have a place.

        Args:
            first: Place of each name where it is first.
            latest: Place of each name that counts for the later ones; `first` if None.
        """
        latest = first if latest is None else latest
        before = [first[name] for name in self.earlier if name in first]
        after = [latest[name] for name in self.later if name in latest]
        return bool(before and after) and min(after) < max(before)


@dataclass(frozen=True)
class Condition:
    """Condition of an utterance.

    Attributes:
        link: Its conjunction: "if", "unless", "when", "whenever" or "while".
        names: What only the condition names.
        main: What the clause names that depends on it.
        holds: Whether what the main clause names is to happen where the state holds, not where it does not.
        excepts: Whether the state is needed ("only if", "never ... unless"), not only a case ("never ... if").
        negated: Whether the clause denies the state: "if nobody is there".
    """

    link: str
    names: frozenset[str]
    main: frozenset[str]
    holds: bool
    excepts: bool
    negated: bool


def clauses_of(text: str, scene: Scene) -> list[Clause]:
    """Split a text into its clauses, with the objects, people and rooms that each identifies."""
    words = lifted(_POLITE.sub("", text), scene)
    found = [Clause(0, 0)]
    for index, word in enumerate(words):
        said, now = plain_word(word), found[-1]
        following = words[index + 1 : index + 3]
        is_of_case = bool(found[-2:-1]) and found[-2].link in _CASES
        if said in _SENTENCE_ENDS:
            found.append(Clause(now.sentence + 1, now.turn))
        elif said in _BORDERS:
            found.append(Clause(now.sentence, now.turn))
        elif said == "otherwise":
            found.append(Clause(now.sentence, now.turn, said))
        elif said == "also" and index and plain_word(words[index - 1]) == "and":
            found.append(Clause(now.sentence, now.turn))
        elif said in _NEXT and now.names_something and _ends(following):  # "visit the lab afterwards"
            now.turn += not is_of_case
        elif (said in _NEXT or _is_bare(said, following)) and not now.link and not is_of_case:
            found.append(Clause(now.sentence, now.turn + 1))
        elif (link := _link(said, words, index)) and following:
            manner = _taken_off(now)
            if link in ("before", "after", "once") and _points_back(following):
                place = "first" if link == "before" else ""
                found.append(Clause(now.sentence, now.turn + (link != "before"), place=place))
            else:
                found.append(Clause(now.sentence, now.turn, link, bool(now.words) and "and" not in manner, manner))
        elif said == "and" and (_forbids(following) or (now.link and now.names_something and _is_new(following))):
            found.append(Clause(now.sentence, now.turn))
        elif said in ("first", "last") and _is_adverb(words, index):
            now.place = said
        elif not (said in _BACK and index and plain_word(words[index - 1]) in ("before", "after") and not now.words):
            now.words.append(word)
    for clause in found:
        clause.names = _identified(clause.words, scene)
    return [clause for clause in found if clause.words]


def _link(said: str, words: Sequence[Lifted], index: int) -> str:
    """Return the conjunction that begins here; "" for other words."""
    after = plain_word(words[index + 1]) if index + 1 < len(words) else ""
    before = plain_word(words[index - 1]) if index else ""
    if said == "except":
        return "unless" if after in ("with", "for", "to", "while") else ""
    if said in ("once", "before", "after") and not (after in _SUBJECTS or after.endswith("ing") or not after):
        return ""
    if said == "if" and before in _INDIRECT:
        return ""
    return said if said in _LINKS else ""


def _is_bare(said: str, following: Sequence[Lifted]) -> bool:
    """Return whether "after" means afterwards: "and after come to the office"."""
    after = plain_word(following[0]) if following else ""
    return said == "after" and after.isalpha() and after not in (*_SUBJECTS, "all") and not after.endswith("ing")


def _ends(following: Sequence[Lifted]) -> bool:
    """Return whether a clause ends before these words."""
    return not following or plain_word(following[0]) in (*_SENTENCE_ENDS, *_BORDERS, "and")


def _is_new(following: Sequence[Lifted]) -> bool:
    """Return whether these words after "and" begin a clause, and do not name one thing more: "and in the end come"."""
    if not following or following[0].segment in _NAMING:
        return False
    return plain_word(following[0]) not in (*_ARTICLES, *_SUBJECTS, *_NEXT, *_LINKS, *_MANNERS, *_BACK)


def _forbids(following: Sequence[Lifted]) -> bool:
    """Return whether these words begin an order not to do something: "and never come back"."""
    said = " ".join(map(plain_word, following))
    return said.startswith(("never", "don't", "don’t", "do not"))


def _taken_off(clause: Clause) -> frozenset[str]:
    """Remove the words at the end of a clause that belong to the conjunction after it."""
    found = set[str]()
    while clause.words and (said := plain_word(clause.words[-1])) in _MANNERS:
        found.add(said)
        clause.words.pop()
    return frozenset(found)


def _points_back(following: Sequence[Lifted]) -> bool:
    """Return whether "that" stands alone after a conjunction: "after that open the drawer"."""
    if plain_word(following[0]) not in _BACK:
        return False
    second = plain_word(following[1]) if len(following) > 1 else "."
    return bool(second) and second not in ("one", "ones", "way")


def _is_adverb(words: Sequence[Lifted], index: int) -> bool:
    """Return whether "first" or "last" tells when, not which: "the first block", "first two"."""
    before = plain_word(words[index - 1]) if index else ""
    after = words[index + 1] if index + 1 < len(words) else None
    counts = after is not None and (after.segment in ("object", "kind", "color", "number") or after.text == "one")
    return before not in _ARTICLES and not (counts and before)


def _identified(words: Sequence[Lifted], scene: Scene) -> frozenset[str]:
    """Return the rooms, people and objects that words identify by name, or alone by kind or colour."""
    found = set[str]()
    for index, word in enumerate(words):
        if word.segment in ("object", "person", "room"):
            found.add(word.name)
        elif word.segment == "color" or (
            word.segment == "kind" and not (index and words[index - 1].segment == "color")
        ):
            alike = [item.name for item in scene.objects if word.name in (item.color, item.kind)]
            found |= {*alike} if len(alike) == 1 else set()
    return frozenset(found)


def orders(text: str, scene: Scene) -> tuple[Order, ...]:
    """Return what an English text says about the order of things: "then", "first", "before", "only after"."""
    found = (Order(one.earlier - one.later, one.later - one.earlier, one.to_do)
             for one in _orders(clauses_of(text, scene)))  # fmt: skip
    return tuple(one for one in found if one.earlier and one.later)


def _orders(clauses: Sequence[Clause]) -> Iterator[Order]:
    main = [one for one in clauses if not one.link and one.names and not one.denied]
    unplaced = [one for one in main if not one.place]
    followed = [before for before, one in pairwise(main) if one.turn > before.turn]
    for one in main:
        if one.place == "first" and not any(one is other for other in followed):
            yield Order(one.names, _names(unplaced))
        elif one.place == "last":
            yield Order(_names(unplaced), one.names)
    for before, one in pairwise(main):  # what is said besides with "and" has its own time
        if one.turn > before.turn and one.place != "first":
            yield Order(before.names, one.names)
    for one, other in _dependent(clauses, _TIMES):
        if not one.names:
            continue
        denied = other.denied or "not" in one.manner
        if one.link == "before" and not denied:
            yield Order(other.names, one.names, to_do=False)
        elif denied == (one.link in ("before", "until", "till")):
            yield Order(one.names, other.names, to_do=not other.denied)


def _names(clauses: Sequence[Clause]) -> frozenset[str]:
    return frozenset[str]().union(*(one.names for one in clauses))


def _main_of(clauses: Sequence[Clause], index: int) -> Clause | None:
    """Return the clause that a dependent one belongs to; None if that is not clear."""
    here = clauses[index]
    near = [one for one in clauses if one.sentence == here.sentence and not one.link and one.names]
    before = [one for one in near if any(one is other for other in clauses[:index])]
    after = [one for one in near if any(one is other for other in clauses[index:])]
    adds = "and" in here.manner
    if before and (here.joined or here.manner & {"not", "only", "even", "except"} or not (after or adds)):
        return before[-1]
    return after[0] if after and (adds or not before) else None


def _dependent(clauses: Sequence[Clause], links: Sequence[str]) -> Iterator[tuple[Clause, Clause]]:
    """Yield the clauses with one of these conjunctions, each with the one that it belongs to, where that is clear."""
    for index, one in enumerate(clauses):
        if one.link in links and (main := _main_of(clauses, index)) is not None:
            yield one, main


def times(text: str, scene: Scene) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return what the clauses of time in an English text name ("before ..."), and what the clauses that have these."""
    return tuple((one.names, main.names) for one, main in _dependent(clauses_of(text, scene), _TIMES))


def says_if(text: str) -> bool:
    """Return whether an English text has a condition, politeness apart."""
    return not {*words_of(_POLITE.sub("", text))}.isdisjoint(("if", "unless", "otherwise"))


def conditions(text: str, scene: Scene) -> tuple[Condition, ...]:
    """Return the conditions in an English text whose main clause is clear."""
    found = []
    for one, other in _dependent(clauses_of(text, scene), ("if", "unless", "when", "whenever", "while")):
        if "even" in one.manner:
            continue
        negated = (sum(plain_word(word) in _NEGATIVE for word in one.words) + one.denied) % 2 == 1
        excepts = one.link == "unless" or bool(one.manner & {"only", "except"})
        is_not = (one.link == "unless") ^ ("except" in one.manner) ^ ("not" in one.manner) ^ other.denied
        found.append(
            Condition(one.link, one.names - other.names, other.names, not (is_not ^ negated), excepts, negated)
        )
    return tuple(found)
