"""A small language for phrases, and what its patterns match.

Words stand for themselves, `(a|b)` is one of them, `[a]` may be left out. In angle brackets: `<x>`, `<y>` and `<old>`
are things, `<o>` and `<q>` things or rooms, `<r>` a room, `<p>` a place on the table, `<n>` an amount, `<it>` a
pronoun, `<d>` a direction and `<rel>` how something is put to something else, all as `marking` leaves them; `<z>` is a
thing that fills no slot;
`<command>`, `<rest>` and `<says>` are words for others to read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from llm_planner.language.compact.generator.lexicon import BESIDE, IN, NEAR, ON
from llm_planner.plan.edits import Frame

PRONOUNS = ("it", "that", "this", "him", "her", "them", "that one", "this one", "the thing", "that thing", "this thing",
            "the one", "those", "these", "what you have", "what you are holding")  # fmt: skip


def _sideways(word: str) -> dict[str, tuple[str, Frame]]:
    plain = (word, f"{word}wards", f"{word}ward", f"to the {word}", f"to my {word}", f"my {word}", f"on the {word}",
             f"towards the {word}", f"toward the {word}", f"over {word}", f"over to the {word}", f"on my {word}",
             f"towards my {word}", f"over to my {word}", f"to the {word} side", f"towards the {word} side",
             f"to the {word} hand side", f"to the {word} of where you are")  # fmt: skip
    own = (f"to your {word}", f"your {word}", f"on your {word}", f"over to your {word}", f"towards your {word}",
           f"to the robot's {word}", f"the robot's {word}", f"to your own {word}", f"{word} from where you are",
           f"{word} as you see it", f"toward your {word}", f"to its {word}")  # fmt: skip
    return {**dict.fromkeys(plain, (word, Frame.PERSON)), **dict.fromkeys(own, (word, Frame.ROBOT))}


def _along(direction: str, words: str, frame: Frame = Frame.PERSON) -> dict[str, tuple[str, Frame]]:
    return {word.strip(): (direction, frame) for word in words.split(",")}


DIRECTION_WORDS: Mapping[str, tuple[str, Frame]] = {
    **_sideways("left"), **_sideways("right"),
    **_along("up", "up, upwards, upward, higher, higher up, up higher, up in the air"),
    **_along("down", "down, downwards, downward, lower, lower down, down lower"),
    **_along("forward", "forward, forwards, ahead, straight ahead, away from me, further away, farther away, away, "
             "further away from me, farther away from me, further from me, farther from me, further out, further off"),
    **_along("backward", "backward, backwards, closer, nearer, closer to me, nearer to me, nearer me, towards me, "
             "toward me, to me, in my direction, my way, closer towards me, back towards me, back to me"),
    **_along("forward", "away from you, away from yourself, away from the robot, further from you", Frame.ROBOT),
    **_along("backward", "towards you, toward you, towards yourself, closer to you, closer to yourself, towards the "
             "robot", Frame.ROBOT),
    **_along("back", "back, back again, back the way it came"),
    **_along("opposite", "back the other way, the other way, other way, other direction, the other direction, "
             "the opposite way, the opposite direction, in the other direction, other way round, the other way round, "
             "other way around, the other way around"),
    **{f"back {words}": meant for side in ("left", "right") for words, meant in _sideways(side).items()},
}  # fmt: skip

RELATION_WORDS: Mapping[str, str] = {
    **dict.fromkeys(NEAR, "beside"), **dict.fromkeys(ON, "on"), **dict.fromkeys(IN, "in"),
    **{words: side for side, several in BESIDE.items() for words in several if words != "before"},
    "to": "to", "at": "at", "over to": "to", "over": "over", "around": "around",
}  # fmt: skip


def _one_of(words: Mapping[str, object] | tuple[str, ...]) -> str:
    return "|".join(sorted((re.escape(word) for word in words), key=len, reverse=True))


COMMANDS = ("put", "place", "set", "move", "bring", "take", "pick", "pick up", "grab", "fetch", "get", "press",
            "push", "open", "close", "shut", "wipe", "clean", "sweep", "drive", "go", "follow", "charge", "dock",
            "wait", "look", "tip", "turn", "stack", "drop", "lay", "stick", "carry", "deliver", "collect", "lift",
            "slide", "shove", "return", "knock", "pop", "stow", "hand", "come", "visit", "transfer", "pull", "tidy",
            "throw", "bung", "chuck", "plonk", "hit", "click", "switch", "roll", "rotate", "park",
            "recharge")  # fmt: skip
ORDINALS = {"1": "1", "one": "1", "first": "1", "former": "1", "a": "1", "1st": "1", "2": "2",
            "two": "2", "second": "2", "2nd": "2", "3": "3", "three": "3", "third": "3", "3rd": "3", "last": "last",
            "latter": "last"}  # fmt: skip
_MARKED = r"(?:\S+ )*?[#@%$]\d+ (?:\S+ )*?"  # words of which one at least is a mark
_PEOPLE = "people|anyone|anybody|persons|humans|me|anything|everyone|everybody|someone|somebody|nothing"
_SLOTS = {
    "z": r"#\d+", "x": r"(?P<x>#\d+)", "y": r"(?P<y>#\d+)", "o": r"(?P<o>[#@]\d+)", "q": r"(?P<q>[#@]\d+)",
    "r": r"(?P<r>@\d+)", "p": r"(?P<p>%\d+)", "n": r"(?P<n>\$\d+)", "old": r"(?P<old>#\d+)",
    "target": r"(?P<target>[#@%]\d+)", "about": r"(?P<about>#\d+)", "before": r"(?P<before>[#@]\d+)",
    "it": f"(?:{_one_of(PRONOUNS)})",
    "d": f"(?P<d>{_one_of(DIRECTION_WORDS)})", "rel": f"(?P<rel>{_one_of(RELATION_WORDS)})",
    "ordinal": f"(?P<ordinal>{_one_of(ORDINALS)})",
}  # fmt: skip
# "wait" before a question is no command, and how something is done no place to go to
_NO_COMMAND = (
    r"(?!wait (?:did|do|does|are|is|was|what|who|where|why|how|i|you|we|he|she|they) "
    r"|(?:go|drive|move|come) (?:slower|faster|quicker|slowly|higher|lower) )"
)
_PHRASES = {  # of several words, with the space after the last
    "command": rf"(?P<command>{_NO_COMMAND}(?:(?:go|come) and )?(?:{_one_of(COMMANDS)}) (?:{_MARKED}|(?:yourself )?))",
    "rest": f"(?P<rest>{_MARKED})", "says": rf"(?P<says>{_MARKED}|(?:\S+ )*?(?:{_PEOPLE}) (?:\S+ )*?)",
}  # fmt: skip
_TOKEN = re.compile(r"<(?P<slot>\w+)>|(?P<mark>[\[\]()|])|(?P<word>[^\s\[\]()|<>]+)")
_MARKS = {"[": "(?:", "]": ")?", "(": "(?:", ")": ")", "|": "|"}


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression over `spaced` text."""
    parts, seen = [], Counter[str]()
    for found in _TOKEN.finditer(pattern):
        slot = found["slot"]
        if slot in _PHRASES:
            parts.append(_PHRASES[slot])
        elif slot:  # said in one of several places; a group has one name, so that of a second place has another
            parts.append(f"{_SLOTS[slot].replace(f'<{slot}>', f'<{slot}{seen[slot] or str()}>')} ")
            seen[slot] += 1
        else:
            parts.append(_MARKS[found["mark"]] if found["mark"] else f"{re.escape(found['word'])} ")
    return re.compile("".join(parts))


def spaced(text: str) -> str:
    """The words of the text with a space after each."""
    return "".join(f"{word} " for word in text.split())


def words_in(pattern: str) -> frozenset[str] | None:
    """Every word that may stand in what the pattern matches; None where that may be any."""
    words: set[str] = set()
    for found in _TOKEN.finditer(pattern):
        if found["slot"] in _PHRASES:
            return None
        words.update(_WORDS.get(found["slot"], ()), [found["word"]] if found["word"] else [])
    return frozenset(words)


_WORDS = {
    slot: frozenset(word for phrase in said for word in phrase.split())
    for slot, said in {"it": PRONOUNS, "d": DIRECTION_WORDS, "rel": RELATION_WORDS, "ordinal": ORDINALS}.items()
}
