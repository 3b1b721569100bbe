"""What may be said along with any correction, taken off it: politeness, amounts, for how long it holds, what it is not.

Every function takes a text and gives what is left of it, beside what it has found.
"""

from __future__ import annotations

import re

from llm_planner.correction.manners import ways
from llm_planner.correction.requests import Size
from llm_planner.language.plain_text import plain_text
from llm_planner.plan.edits import Scope

_WHOLE = {  # contractions, with or without their apostrophe
    "can't": "can not", "cant": "can not", "won't": "will not", "wont": "will not", "dont": "do not",
    "doesnt": "does not", "didnt": "did not", "isnt": "is not", "thats": "that is", "youre": "you are", "im": "i am",
    "lets": "let us", "let's": "let us", "whats": "what is", "theres": "there is", "ive": "i have", "id": "i would",
    "gonna": "going to", "wanna": "want to", "gimme": "give me", "lemme": "let me", "cannot": "can not",
    "pls": "please", "plz": "please", "thx": "thanks", "nvm": "never mind", "alot": "a lot", "ok": "okay",
    "infront": "in front", "abit": "a bit", "upto": "up to", "percents": "percent",
}  # fmt: skip
_ENDINGS = (
    (r"n't\b", " not"), (r"\b(it|that|he|she|there|what|who|here|nobody|somebody|someone|everybody)'s\b", r"\1 is"),
    (r"'s (?=(?:not|too|a|the|in|on|at|already|still|very|so|really|dirty|broken|wet|full|empty|hot|wrong|fine|cracked|"
     r"chipped|fragile|taken|more|most|less|urgent|important|next|first|last|off|out|no|closed|okay|ok|allowed|\w+ing)\b)",
     " is "), (r"\blet us not\b", "do not"),
    (r"'re\b", " are"), (r"\bi'm\b", "i am"), (r"'d\b", " would"), (r"'ll\b", " will"), (r"'ve\b", " have"),
)  # fmt: skip
_PAUSE = re.compile(r"(?<!\d)[.,]|[.,](?!\d)|[;:!?…—–()\"“”]|\.\.+|\s-+\s")
_PER_SECOND = re.compile(r"(?<=\d) ?(m|cm|mm) ?(?:/ ?s(?:ec|econd)?|(?:per|a) second)\b")
_DASH = re.compile(r"(?<=\w)-(?=\w)")

_AGAIN = re.compile(r"\b(?!do\b|that\b|had\b)([a-z]+)(?: ,)?(?: \1\b)+")

_LEADING = re.compile(rf"^(?:{ways('before')})(?: ,)?(?: |$)(?:, )?")
_TRAILING = re.compile(rf"(?:(?<= )|^)(?:, )?(?:{ways('after')})$")
_INSIDE = re.compile(r"\b(?:um+|uh+(?! huh)|er+m?|hm+|mm+(?! hm)|please|kindly|you know)\b ?")

_FRACTION = re.compile(r"(?<![\d/.])([1-9])/([2-9])(?![\d/])")
_SIZES = tuple((size, re.compile(rf"\b(?:{ways(size.value)})\b ?")) for size in (Size.MUCH, Size.BIT))
_AMOUNT = re.compile(
    r"(?:(?:by|about|another|around|roughly|only|just|exactly|some|maybe|like|say|at least) )*\$\d+ ?(?:or so )?"
)

_HOLDS = r"(?:(?:that|this|it) (?:is|was) (?=just|only|for|until))?"
_SCOPES = tuple(
    (scope, re.compile(rf"(?:^|(?<= ))(?:, )?{_HOLDS}(?:{ways(scope.value)})(?: only)?(?= |$)(?: ,)? ?"))
    for scope in (Scope.ONCE, Scope.SESSION, Scope.TASK, Scope.ALWAYS)
)

_RELATION = r"(?:(?:in|on|into|onto|to|at|by|next to|beside|with|for|from|the one in|the one on) )?"
_CONTRAST = re.compile(
    r"(?:^no|(?:^|(?<= ))(?:, )?(?:and |but )?(?:not|instead of|rather than|in place of|as opposed to|and not)) "
    rf"{_RELATION}(?P<not>[#@%]\d+)(?: side)?(?= |$)(?: ,)? ?"
)
_EACH = re.compile(r"\b(?:whenever|(?:every|each|any) ?time) you\b")
_ABOUT = re.compile(
    rf"(?:^|(?<= ))(?:, )?(?:{ways('about')}) (?P<about>#\d+|people|persons|humans|children|kids)(?= |$)"
    r"(?: (?:around|about|in (?:your |the )?(?:hand|gripper)))?(?: ,)? ?"
)
_NUMBER = (
    r"(?:\$\d+|\d+(?:\.\d+)?|(?:an? )?(?:one|two|three|four|five|six|seven|eight|nine|ten|half|a half|and|fifteen|"
    r"twenty|thirty))"
)
_OTHER_AMOUNT = re.compile(rf"(?:, )?(?:and |but )?(?:not|instead of|rather than)(?: {_NUMBER})+$")


def normal(words: str) -> str:
    """Lower case, contractions written out, and every pause a comma between spaces."""
    text = _PER_SECOND.sub(_speed, plain_text(words).lower().replace("’", "'"))
    text = _FRACTION.sub(lambda found: f"{int(found[1]) / int(found[2]):g}", text)
    text = _DASH.sub(" ", _PAUSE.sub(" , ", text))
    text = " ".join(_WHOLE.get(word, word) for word in text.split())
    for pattern, plain in _ENDINGS:
        text = re.sub(pattern, plain, text)
    return tidy(text)


def _speed(found: re.Match[str]) -> str:
    return f" {'metres' if found[1] == 'm' else found[1]} per second"


def tidy(text: str) -> str:
    """Single spaces, and no comma at either end nor after another."""
    text = re.sub(r"(?:, *)+", ", ", " ".join(text.split()))
    return text.strip(" ,")


def without_hesitation(text: str) -> str:
    """What people say while they think, gone wherever it stands, and what they say twice said once."""
    return tidy(_AGAIN.sub(r"\1", tidy(_INSIDE.sub("", text))))


def bare(text: str) -> list[str]:
    """The text, and all that is left of it as politeness is taken off its ends; the last has none, and may be ""."""
    found = [shorter for later in _without(_LEADING, text) for shorter in _without(_TRAILING, later)]
    return sorted(dict.fromkeys(found), key=len, reverse=True)


def _without(pattern: re.Pattern[str], text: str) -> list[str]:
    """The text, and what is left of it when what the pattern says is taken off once, twice and so on."""
    found = [text]
    while (shorter := tidy(pattern.sub("", found[-1], count=1))) != found[-1]:
        found.append(shorter)
    return found


def take_size(text: str) -> tuple[str, Size]:
    """Without "a bit" or "a lot"."""
    for size, pattern in _SIZES:
        if pattern.search(text):
            return tidy(pattern.sub("", text, count=1)), size
    return text, Size.PLAIN


def take_amount(text: str) -> tuple[str, str]:
    """Without the first amount, and its mark."""
    found = _AMOUNT.search(text)
    if found is None:
        return text, ""
    mark = re.search(r"\$\d+", found[0])
    assert mark is not None
    return tidy(text[: found.start()] + text[found.end() :]), mark[0]


def take_scope(text: str) -> tuple[str, Scope]:
    """Without "always", "from now on", "just this once" and the like; where several were said, the longest lasting."""
    said = Scope.ONCE
    for scope, pattern in _SCOPES:
        if pattern.search(text):
            text, said = tidy(pattern.sub(" ", text)), scope
    return text, said


def has_scope(text: str) -> bool:
    """Whether it says for how long something is to hold, "just this once" included."""
    return any(pattern.search(text) for _, pattern in _SCOPES)


def lasts(text: str) -> bool:
    """Whether it says that it holds each time: "whenever you carry the mug"."""
    return _EACH.search(text) is not None


def take_contrast(text: str) -> tuple[str, str]:
    """Without "not the red one", and the mark of what it shall not be."""
    found = _CONTRAST.search(text)
    return (tidy(text[: found.start()] + " " + text[found.end() :]), found["not"]) if found else (text, "")


def without_other_amount(text: str) -> str:
    """Without "not one and a half" at the end, where an amount was said before."""
    return tidy(_OTHER_AMOUNT.sub("", text)) if "$" in text else text


def take_about(text: str) -> tuple[str, str]:
    """Without "when you carry the mug", and the mark of the mug, or the word for people."""
    found = _ABOUT.search(text)
    return (tidy(text[: found.start()] + " " + text[found.end() :]), found["about"]) if found else (text, "")
