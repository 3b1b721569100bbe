"""Requests put as wishes, questions or needs, put plainly: "I'd rather you took the mug", "would you mind taking the
mug", "the mug needs taking" are "take the mug".

Every function takes a text and gives it as it would be said plainly; what it does not know it leaves as it is.
"""

from __future__ import annotations

import re

from llm_planner.correction.clauses import tidy
from llm_planner.correction.manners import ways
from llm_planner.correction.verb_forms import plain_gerund, plain_past

_NOT = r"(?P<not>(?:did |do |does )?not )?"
_WISH = re.compile(rf"\b(?:{ways('wish')}) (?:could |would |can |might |were to |just |maybe )*{_NOT}(?P<verb>\w+)\b")
_BEING = re.compile(rf"\b(?:{ways('-ing')}) (?:just |maybe )?{_NOT}(?P<verb>\w+ing)\b")
_UNWANTED = re.compile(rf"\b(?:{ways('unwanted')}) (?:to )?(?P<verb>\w+)\b")
_THING = r"(?P<thing>#\d+|it|that|this|them|they|those|these)"
_ALSO = r"(?:also |still |really |just |now |only )*"
_PASSIVE = re.compile(rf"(?<![#\w]){_THING} {_ALSO}(?:{ways('needs')}) (?P<verb>\w+)\b")
_CLEFT = re.compile(rf"\bit is {_THING} (?:that|which|i) {_ALSO}(?:{ways('needs')}|{ways('wants')}) (?P<verb>\w+)\b")
_WANTED = re.compile(
    rf"(?<!how )(?<!way )(?<!what )\b(?:{ways('wants')}) {_THING} {_ALSO}(?:to be |being )?(?P<verb>\w+)\b"
)
_DOING = re.compile(r"\b(?:do|does|doing) (?:your|the|all your|all the|its|some) (?P<verb>\w+ing)\b")
_GIVING = re.compile(
    r"\bgive (?P<thing>#\d+|it|that|this) (?P<another>a|an|another|one more) (?P<how>(?:bit of a|quick|good|gentle|"
    rf"little|tiny|small|wee|slight|light) )?(?P<verb>{ways('nouns')})\b"
)
_CALLING = re.compile(rf"\b(?:{ways('calling')}) (?=@\d)")
_LITTLE = frozenset(("bit of a", "little", "tiny", "small", "wee", "slight"))
_ADDED = (
    r"(?:(?:and )?(?:then|also|plus|oh and|and|finally|lastly|next|after that|afterwards|one more thing|another thing)"
    r"(?: ,)? )"
)
_AUX = (
    r"(?:needs to|wants to|should|must|has to|ought to|is to|is supposed to|is meant to|could|can|may|might) "
    r"(?:go|be|come|end up|sit)|goes|belongs"
)
_GOES = (
    rf"(?P<thing>#\d+) (?:also |then )?(?:{_AUX}) (?P<where>(?:in|on|at|to|next|beside|by|under|behind|inside)\b.*?)"
)
_TOO = r"(?P<end> (?:too|as well|also|afterwards))(?: ,? ?when you are (?:done|finished|through))?"
_ALSO_GOES = re.compile(rf"^(?P<lead>{_ADDED}){_GOES}$|^{_GOES.replace('P<', 'P<other_')}{_TOO}$")
_OPPOSITES = {"slow": "fast", "fast": "slow", "quick": "slow", "gentle": "rough", "careful": "hasty", "high": "low",
              "low": "high"}  # fmt: skip
_NOT_ENOUGH = re.compile(
    rf"\bnot (?:quite |nearly |really |yet |anywhere near )*(?P<verb>(?:\w+ing )?(?:it |that |this )?)"
    rf"(?P<how>{'|'.join(_OPPOSITES)})(?:ly)? enough\b(?: yet| still)?"
)
_WHERE = r"in|on|into|onto|beside|next to|behind|in front of|to the (?:left|right) of|to|at"
_ALSO_TO = re.compile(
    rf"^(?:(?:oh )?and |also |plus ){{0,2}}(?P<thing>#\d+)(?P<too>(?: ,)? (?:too|as well|also))?(?: ,)?(?: but)? "
    rf"(?P<where>(?:{_WHERE}) [#@%]\d+)$"
)
_NOT_BUT = re.compile(rf"^(?:no , )?not (?:{_WHERE}) (?P<thing>#\d+)(?: ,)?(?: but)? (?P<where>{_WHERE}) it$")
_NOT_THROUGH = re.compile(r"^(?:no , )?not (?=(?:through|via|across|past) )")
_NOT_TOO = re.compile(
    r"\b(?P<more>faster|quicker|slower|higher|lower|further|closer)(?: ,)?(?: but)? not (?:too|that|so) "
    r"(?:much|fast|quick|slow|high|low|far|close)(?:ly)?\b"
)
_UNTIL = re.compile(r"^(?P<until>until .+?) , (?P<rule>(?:stay|keep|do not|never|avoid) .+)$")
_ON_A_SIDE = re.compile(
    r"\bthe (?P<what>one|thing|block|bowl|mug|plate|vase|cup|parcel) on the (?P<side>left|right)(?! (?:of|side)\b)"
)
_SIDE = re.compile(r"left(?! (?:where|there|alone|be|as|out|until|till|in|untouched|for|to last)\b)")  # no leaving


def plainly(text: str) -> str:
    """A `normal` text without the frames that ask for a verb in the past, or with -ing; what is not slow enough is too
    fast."""
    text = _UNWANTED.sub(lambda found: _negated(found, plain_gerund(found["verb"]) or plain_past(found["verb"])), text)
    text = _BEING.sub(lambda found: _asked(found, plain_gerund(found["verb"])), text)
    text = _UNTIL.sub(r"\g<rule> \g<until>", text)
    text = _ON_A_SIDE.sub(r"the \g<side> \g<what>", text)
    text = _NOT_TOO.sub(r"a bit \g<more>", text)
    text = _NOT_THROUGH.sub("do not go ", text)
    text = _NOT_ENOUGH.sub(lambda found: f"{found['verb']}too {_OPPOSITES[found['how']]}", text)
    return tidy(_WISH.sub(lambda found: _asked(found, plain_past(found["verb"])), text))


def plainly_of_things(text: str) -> str:
    """A marked text in which what is done to a thing is said as a command."""
    for pattern in (_CLEFT, _WANTED, _PASSIVE):
        text = pattern.sub(_done_to, text)
    text = _CALLING.sub("go to ", text)
    text = _NOT_BUT.sub(r"\g<where> \g<thing>", _ALSO_GOES.sub(_put, text))
    text = _ALSO_TO.sub(_put_as_well, text)
    text = _DOING.sub(lambda found: plain_gerund(found["verb"]) or found[0], text)
    return tidy(_GIVING.sub(_given, text))


def _asked(found: re.Match[str], verb: str) -> str:
    if not verb:
        return found[0]
    return f"do not {verb}" if found["not"] else verb


def _negated(found: re.Match[str], verb: str) -> str:
    return f"do not {verb}" if verb else found[0]


def _done_to(found: re.Match[str]) -> str:
    word = found["verb"]
    verb = plain_gerund(word) or plain_past(word)
    if not verb or word == verb != plain_past(word) or verb == "be" or _SIDE.match(found.string, found.start("verb")):
        return found[0]
    thing = "it" if found["thing"] in ("that", "this", "they") else found["thing"]
    return f"{'also ' if ' also ' in found[0] else ''}{verb} {thing}"


def _put(found: re.Match[str]) -> str:
    thing, where = found["thing"] or found["other_thing"], found["where"] or found["other_where"]
    verb = "bring" if re.search(r"@\d", where) else "put"
    return f"{found['lead'] or ''}{verb} {thing} {where}{found['end'] or ''}"


def _put_as_well(found: re.Match[str]) -> str:
    if not (found["too"] or found[0].startswith(("and ", "also ", "plus ", "oh and "))):
        return found[0]
    return f"also {'bring' if '@' in found['where'] else 'put'} {found['thing']} {found['where']}"


def _given(found: re.Match[str]) -> str:
    again = "" if found["another"] in ("a", "an") else " again"
    return f"{found['verb']} {found['thing']}{again}{' a bit' if (found['how'] or '').strip() in _LITTLE else ''}"
