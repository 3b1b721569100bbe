"""Talk that is surely no correction, though it has the words of corrections in it: stories, calls, sayings, questions.

Only what no phrase fits is looked at. A story is told of somebody else, or of another time, and asks nothing of the
robot; what names a thing that is here is one only where it says that it is of another time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

from llm_planner.correction.clauses import bare, tidy
from llm_planner.correction.manners import FILE, read_sections
from llm_planner.correction.patterns import COMMANDS, PRONOUNS
from llm_planner.correction.verb_forms import verbs

STORIES = FILE.with_name("stories.txt")
_SPOKEN_TO = re.compile(r"\b(?:you|your|yourself|robot|please)\b")
_WISH = re.compile(
    r"\b(?:wants?|needs?|wanted|needed|prefers?|preferred|mean|meant|say|said|ask|asked|"
    r"would (?:like|rather|prefer|be))\b"
)
_CLAUSE = re.compile(r" ,(?: and| but| so| now)? | (?:and|but|so(?! (?:much|many|slow|fast))|now) ")
_GOES_ON = frozenset(
    re.findall(
        r"\w+",
        "to not never will would can could must should might may shall do did does he she they i we it always us me "
        "him her them the a an my our his their this that at on in of by for with from than as who just only also "
        "still ever kids people children usually often sometimes had was were is are been be whole last next "
        "first good long",
    )
)  # what a verb may follow on in a story
_TELLS_ON = frozenset(
    re.findall(
        r"\w+",
        "i we he she it they that this there my our his her their the a as like when because then with by at in on or "
        "never who which what how where why nobody everybody somebody while if until after before since though "
        "although",
    )
)  # how a story goes on
_NO_VERBS = frozenset(
    re.findall(r"\w+", "back open clear clean lower work rest place hand head start park set slow stick")
)
_TOLD = re.compile(r"(?:then )?(?:it|that|i|we|he|she|they|next \w+) (?:is|was|were|had|has|\w+ed|went|took)\b")


def is_story(text: str, names_what_is_here: bool, is_request: Callable[[str], bool]) -> bool:
    """Whether a marked text is surely no correction; `is_request` tells whether a clause of it alone would be one."""
    sayings = _patterns()[4]
    if any(sayings.fullmatch(shorter) for shorter in bare(text)):
        return True
    first, *others = _CLAUSE.split(text)
    if any(_asks(tidy(other), is_request) for other in others) or _commands(text.split()):
        return False
    return any(_is_told(shorter, tidy(text), names_what_is_here) for shorter in (first, *bare(first), text))


def _asks(clause: str, is_request: Callable[[str], bool]) -> bool:
    """Whether a later clause speaks to the robot again."""
    words = bare(clause)[-1].split()
    if _TOLD.match(clause) or len(words) == 0:
        return False
    told = (len(words) <= 2 and words[-1] not in PRONOUNS) or words[0] in _TELLS_ON or words[0].endswith("ed")
    return not told or words[0] in COMMANDS or is_request(clause) or _WISH.search(clause) is not None


def _commands(words: Sequence[str]) -> bool:
    """Whether a verb follows on what cannot go on with it: "somebody is coming hold on"."""
    return any(verb in verbs() - _NO_VERBS and before not in _GOES_ON for before, verb in pairwise(words[1:]))


def _is_told(clause: str, text: str, names_what_is_here: bool) -> bool:
    of_people, of_things, of_us, opening, _, times = _patterns()
    if opening.fullmatch(clause):
        return not names_what_is_here or times.search(text) is not None
    if _SPOKEN_TO.search(text) or _WISH.search(clause):
        return False
    elsewhere = times.search(text) is not None
    if names_what_is_here and not elsewhere and not of_people.match(clause):
        return False
    return any(pattern.match(clause) for pattern in (of_people, of_things, of_us))


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    written = {name: "|".join(lines) for name, lines in read_sections(STORIES.read_text(encoding="utf-8")).items()}
    past = rf"(?:just |never |once |also |all |really |still |even |finally |nearly |almost )?(?:{written['past']})\b"
    people = written["people"]
    return (
        re.compile(rf"(?:{people})(?: and \w+)? (?:{past}|(?:{written['habits']})\b)"),
        re.compile(rf"(?:{written['things']}) (?:{past}|(?:keeps?|never|always|(?:is|are) (?:moving|getting))\b)"),
        re.compile(rf"(?:i|we) (?:{past}|(?:never|always|usually|often|sometimes|hardly ever|rarely) \w+)"),
        re.compile(written["opening"]),
        re.compile(written["sayings"]),
        re.compile(rf"\b(?:{written['times']})\b"),
    )
