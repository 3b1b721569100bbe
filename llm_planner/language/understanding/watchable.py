"""Rules about states that nothing here can watch: "never tilt it", "keep it upright", "do not spill".

A rule can be about what the propositions of `scene.propositions` and the skills can tell. A denied verb, or a state to
be kept, that none of the words for these says is not read as one of them: the person is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llm_planner.language.grounding.naming import stems
from llm_planner.language.understanding.clauses import clauses_of
from llm_planner.language.understanding.wording import NO_DENIAL, plain_word
from llm_planner.programs.signatures import Signature
from llm_planner.scene.scene import Scene

_WATCHED = "what is moved or held, what is near, over, in, on or beside what, how fast and how high, and what I do"
_STATES: dict[str, str] = {  # words with which people say that a predicate holds, or comes to hold
    "moved": "move touch disturb shift budge nudge bump knock push shove brush graze poke topple hit mess stir drag "
    "turn tip roll lay change alone",
    "holding": "hold carry lift pick grab take raise bring fetch handle transport grip grasp",
    "near": "near nearer close closer approach crowd hug tailgate within past by pass get come go stay reach linger "
    "away distance apart clear off against around bother breathe behind between front from to",
    "over": "over above across cross fly hover swing lean below under",
    "in": "in into inside through enter drive travel visit cut walk run roll wander park wait stand stop set step "
    "tread out leave linger hang sit cruise venture",
    "on, at, beside": "put place stack drop set lay on onto at beside next left right stand keep remain end share mix",
    "speed": "fast faster quick quicker quickly slow slower slowly gentle gently rush race hurry speed exceed dash "
    "slam fling still",
    "height": "high higher low lower height down up",
    "did": "start begin finish do make use give hand follow look stop return continue skip change dock charge deliver "
    "press open close wipe clean",
}
_OF_NO_RULE = (  # "I do not mind", "don't let it bother you"
    "want need have like know think matter let be worry trouble say tell ask mean see try expect believe listen show "
    "remember afraid sure before after until here there where this so way for you i me anything going dawdle waste "
    "lose stay"
)
_KNOWN = frozenset(word for words in (*_STATES.values(), _OF_NO_RULE) for word in words.split()) | NO_DENIAL
_DENIALS = frozenset(("never", "dont", "without", "mustnt", "shouldnt"))
_AUXILIARIES = frozenset(("do", "must", "should", "shall", "may", "can", "to"))  # before "not"
_BETWEEN = frozenset((  # between a denial and its verb
    "ever", "even", "again", "do", "dare", "you", "to", "please", "just", "actually", "really", "accidentally", "so",
    "much", "as", "any", "all",
))  # fmt: skip
_KEEPS = frozenset(("keep", "hold"))
_PRONOUNS = frozenset(("it", "them", "that", "this"))
_ENDS = frozenset(
    ("all", "at", "the", "while", "please", "always", "during", "on", "as", "and", "when", "until", "too")
)


def unwatched(text: str, scene: Scene, skills: Iterable[Signature] = ()) -> str:
    """Return the question about words of an English text that forbid or keep what nothing can watch; "" for none.

    Args:
        text: The person's words.
        scene: Scene that they refer to.
        skills: Skills of the robot; the words of their names are known too.
    """
    known = _KNOWN.union(*(skill.name.split("_") for skill in skills))
    quoted = " and ".join(f"“{words}”" for words in dict.fromkeys(_unwatched(text, scene, known)))
    told = f"I can watch {_WATCHED}. Please say it so, or leave it out if it goes without saying."
    return f"I cannot watch {quoted}. {told}" if quoted else ""


def _unwatched(text: str, scene: Scene, known: frozenset[str]) -> Iterator[str]:
    for clause in clauses_of(text, scene):
        words = [plain_word(word).replace("'", "") for word in clause.words]
        said = [word.text for word in clause.words]
        named = [bool(word.name) for word in clause.words]
        for index, word in enumerate(words):
            if word in _DENIALS or (word == "not" and index and words[index - 1] in _AUXILIARIES):
                yield from _denied(words[index:], said[index:], known)
            elif word in _KEEPS and index + 2 < len(words):
                yield from _kept(words[index:], said[index:], named[index:], known)


def _denied(words: list[str], said: list[str], known: frozenset[str]) -> Iterator[str]:
    """Yield a denied verb without a known word after it."""
    verb = next((k for k, word in enumerate(words) if k and word not in _BETWEEN), 0)
    after = [word for word in words[verb:] if word]
    if verb and words[verb] and not any(stems(word) & known for word in after):
        yield " ".join(said[: verb + 1])


def _kept(words: list[str], said: list[str], named: list[bool], known: frozenset[str]) -> Iterator[str]:
    """Yield a state to be kept: the word after "it" or a name that ends the clause: "keep the mug upright"."""
    place = 2 if words[1] in _PRONOUNS else next((k + 1 for k, name in enumerate(named) if name), 0)
    if not 2 <= place < len(words) or place > 4 or not words[place].isalpha() or stems(words[place]) & known:
        return
    if place + 1 == len(words) or words[place + 1] in _ENDS:
        yield " ".join(said[: place + 1])
