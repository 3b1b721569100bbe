"""One utterance taken apart: what is asked for in its clauses, once what only explains them is left out."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from llm_planner.correction.clause_reader import FREE, read_clause
from llm_planner.correction.clauses import bare, normal, tidy, without_hesitation
from llm_planner.correction.manners import ways
from llm_planner.correction.marking import Marked, mark
from llm_planner.correction.patterns import COMMANDS, DIRECTION_WORDS
from llm_planner.correction.plain_speech import plainly, plainly_of_things
from llm_planner.correction.references import candidates
from llm_planner.correction.requests import Intent, Request
from llm_planner.correction.slips import corrected
from llm_planner.correction.stories import is_story
from llm_planner.correction.together import together
from llm_planner.world.scene import Scene

LONGEST = 60  # words that are read as a correction
_JOINT = re.compile(
    r" ,(?: and| but| so)?(?= )| (?:and|but)(?= )| so(?= )(?! (?:much|fast|quick|slow|far|high|low|close|near|long|"
    r"many|very))| (?=then )| "
    r"(?=(?:because|cos|otherwise|or else|or (?:you|it|we)|in case|just in case|so that|since|seeing|before (?:you|it|"
    r"something|someone|somebody)|as (?:i|we|he|she|they|there)) )"
)
_MOST_PARTS = 8
_ASIDE = 20  # what an aside costs: less readily taken than any request
_REASON = re.compile(rf"(?:{ways('reason')})")
_REPAIR = re.compile(rf" ,? ?(?:(?:{ways('repair')})(?: ,)+|(?:{ways('sure repair')}))(?: ,)? ")
_REPAIRED = re.compile(rf"^(?:(?:{ways('sure repair')})(?: ,)? )+")  # "left, sorry, I mean right"
_SUBJECTS = frozenset(
    re.findall(
        r"\w+",
        "i we you he she they it that this there nobody somebody someone the my our your because since as or otherwise "
        "everything everyone these those what who if her his their",
    )
)
_AGREED = re.compile(r"right , (?!and |then )(.+)")  # "right, off you go" speaks of no side
_PHRASAL = re.compile(r"\b(?:keep|catch|wake|grow|sit|fall|end) (?:up|down|over)\b")  # say nothing of a direction
_HARMLESS = frozenset(re.findall(r"\w+", "open close clean look hand turn come go shut get"))  # in what only explains
_TELLING = (frozenset(COMMANDS) - _HARMLESS) | frozenset(
    re.findall(
        r"\w+",
        "faster slower quicker skip undo wait hold continue resume cancel forget remember stop left right up down "
        "forward back higher lower closer nearer further farther other way direction before after first then last next "
        "again also instead never always only ask",
    )
)


def read_requests(words: str, scene: Scene, asked: bool = False) -> tuple[Request, ...] | None:
    """What is asked for, in the order in which it was said; None where a word belongs to no phrase."""
    text = plainly(without_hesitation(corrected(normal(words), scene)))
    if not text or len(text.split()) > LONGEST:
        return () if not text else None
    marked = _denied(mark(text, scene))
    marked = replace(marked, text=plainly_of_things(marked.text))
    reader = _Reader(marked, asked, scene)
    found = reader.read(marked.text)
    if found is None and reader.is_told(marked.text):
        return (Request(Intent.NOTHING),)
    if found is None:
        return (Request(Intent.NOTHING),) if not bare(tidy(marked.text))[-1] else None
    return together(found)


def _denied(marked: Marked) -> Marked:
    """ "No mug" is not "no, the mug"."""

    def denied(found: re.Match[str]) -> str:
        named = marked.words_of(found[1]).startswith(("the ", "that ", "this "))
        return found[0] if named else f"not {found[1]}"

    return replace(marked, text=re.sub(r"\bno (#\d+)", denied, marked.text))


_Parts = tuple[int, list[Request]]  # what some parts of a text cost, and what they ask for


class _Reader:
    """Reads one utterance, each part of it once."""

    def __init__(self, marked: Marked, asked: bool, scene: Scene) -> None:
        self._marked, self._scene = marked, scene
        self.clause = lru_cache(maxsize=None)(lambda text: read_clause(text, marked, asked))

    def read(self, text: str) -> list[Request] | None:
        """The requests in the text as a whole, as mended by what follows "no, I mean", or in several parts."""
        if repaired := self._repaired(text):
            return repaired
        request = self.clause(text)
        if request is not None and request.intent not in FREE:
            return [request]
        return self.read(agreed[1]) if (agreed := _AGREED.match(text)) else self._parted(text)

    def is_told(self, text: str) -> bool:
        """Whether the text is a story, or talk to somebody else."""
        told = re.sub(r"#\d+", lambda found: "somebody" if self._is_person(found[0]) else found[0], text)
        return is_story(told, self._names_what_is_here(told), lambda clause: self.clause(clause) is not None)

    def _is_person(self, mark: str) -> bool:
        found = candidates(self._marked.words_of(mark), self._scene)
        return bool(found) and all(item.kind == "person" for item in found)

    def _repaired(self, text: str) -> list[Request] | None:
        found = _REPAIR.search(text)
        if found is None:
            return None
        before, after = tidy(text[: found.start()]), tidy(_REPAIRED.sub("", text[found.end() :]))
        if not before or not bare(before)[-1] or not after:
            return None
        for candidate in mended(before, after):
            if request := self.clause(candidate):
                return [request]
        return self.read(after) if self.clause(before) or self._names_one(before) else None

    def _names_one(self, text: str) -> bool:
        return re.search(r"[#@%]\d+$", text) is not None

    def _parted(self, text: str) -> list[Request] | None:
        """The fewest parts that can each be read; what only explains them is left out."""
        cuts = [(0, 0), *((found.start(), found.end()) for found in _JOINT.finditer(text)), (len(text), len(text))]
        if len(cuts) > _MOST_PARTS + 1:
            return None
        best: list[_Parts | None] = [*([None] * (len(cuts) - 1)), (0, [])]  # of what begins at each cut
        for start in reversed(range(len(cuts) - 1)):
            found = [
                (first[0] + rest[0], [*first[1], *rest[1]])
                for end in range(start + 1, len(cuts))
                if (rest := best[end]) and (first := self._part(tidy(text[cuts[start][1] : cuts[end][0]])))
            ]
            best[start] = min(found, key=lambda parts: parts[0], default=None)
        return _unless_only_asides(best[0]) if best[0] else None

    def _part(self, text: str) -> _Parts | None:
        """What a part costs and asks for: an aside costs more than a request, and asks for nothing."""
        if request := self.clause(text):
            return _cost(request, text), [request]
        if not bare(text)[-1]:
            return 1, []
        aside = is_reason(text) or (is_aside(text) and not self._names_what_is_here(text))
        return (_ASIDE, []) if aside else None

    def _names_what_is_here(self, text: str) -> bool:
        said = [self._marked.words_of(found[0]) for found in re.finditer(r"#\d+", text)]
        return any(candidates(words, self._scene) for words in said)


def _unless_only_asides(parts: _Parts) -> list[Request] | None:
    """Praise beside something that was not understood is not surely no correction."""
    cost, requests = parts
    asking = [request for request in requests if request.intent is not Intent.NOTHING]
    return None if not requests or (cost >= _ASIDE and not asking) else requests


def _cost(request: Request, text: str) -> int:
    """Free words with a pause among them may be two requests."""
    free = request.intent in FREE and not request.thing
    return 2 + (1 + 21 * text.count(",") + text.count(" and ") if free else 0)


def mended(before: str, after: str) -> list[str]:
    """What may be meant by "a bit to the left, no, right": the words before with those after in place of their like."""
    old, new = before.split(), after.split()
    found = []
    for at in range(len(old) - 1, -1, -1):
        if _sort(old[at]) == _sort(new[0]):
            for length in dict.fromkeys((len(new), 1, len(old) - at)):
                found.append(" ".join((*old[:at], *new, *old[at + length :])))
    return found


def _sort(word: str) -> str:
    """Words of the same sort can stand for each other."""
    if word[0] in "#@%$":
        return word[0]
    return "direction" if word in DIRECTION_WORDS else word


def is_reason(text: str) -> bool:
    """Whether it says why something is to be done, whatever is named in it: "you'll knock the vase over"."""
    return _JOINT.search(text) is None and any(_REASON.fullmatch(shorter) for shorter in bare(text))


def is_aside(text: str) -> bool:
    """Whether it only explains: a statement in which no word of a correction occurs, and nothing that is here."""
    words = _PHRASAL.sub("", bare(text)[-1]).split()
    if not words or re.search(r"[@%$]\d|,", text) or "not" in words[:1]:
        return False
    return not set(words) & _TELLING and (words[0] in _SUBJECTS or words[0][0] == "#" or len(words) <= 2)
