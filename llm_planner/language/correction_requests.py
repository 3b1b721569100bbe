"""What an utterance asks for, in its own words, before it is tied to the plan.

A reader gives requests; `building` makes operations of them. So whatever reads the words, the plan is looked at in one
place only.

The text form of requests, which the embedded model writes: `other_thing("blue one", instead="red one")`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.embedded.forms import WORDS, Forms, Term, Value, Words
from llm_planner.language.grounding.lifting import read_amount


class Frame(str, Enum):
    """Whose axes an offset is in: x away from whoever it is, y to the left, z up."""

    PERSON = "person"  # where the speaker stands
    ROBOT = "robot"  # the robot's base; of what lies in a building, the map
    OBJECT = "object"  # the thing that the step is about


class Lifetime(str, Enum):
    """For how long a change of the motion holds."""

    STEP = "step"  # the one under way, or else the next
    PLAN = "plan"


class Scope(str, Enum):
    """For how long what a correction teaches is to be kept."""

    ONCE = "once"
    TASK = "task"
    SESSION = "session"
    ALWAYS = "always"


class Intent(str, Enum):
    """What is asked for. The comments name the slots that count for it beside those of `Request` that always do."""

    HOLD = "hold"
    RESUME = "resume"
    CANCEL = "cancel"
    SHIFT = "shift"  # direction, frame, size, number and unit, target (of "towards" and "away"), lifetime; thing
    TOO_FAR = "too_far"  # the shift before it, back by half
    SPEED = "speed"  # sense, size, or number and unit; here and below
    HEIGHT = "height"
    CLEARANCE = "clearance"
    DISTANCE = "distance"  # of a step's own: how far it pushes, how wide a gap it leaves; thing
    DURATION = "duration"  # of a step that waits or follows
    OTHER_THING = "other_thing"  # thing, instead_of: what is to be taken, or acted on
    OTHER_TARGET = "other_target"  # relation, target, instead_of; thing where it is said what goes there
    FIRST = "first"  # thing: its errand is next
    LAST = "last"  # thing
    SWAP = "swap_order"  # the errands of thing and target change places, else the next two
    SKIP = "skip"  # thing: its errands are left out; relation "except": all others are
    SKIP_THIS = "skip_this"  # the errand under way is
    SKIP_REST = "skip_rest"  # all but the errand under way are
    SKIP_WAIT = "skip_wait"  # the wait under way, the next one, or that at the target is
    PUT_BACK = "put_back"  # thing, or "" for what is held or was moved last
    ADD = "add"  # text: a command of its own; when; with target before its errand, at the END after it
    AGAIN = "again"  # thing: with this one as well; number: its errand so many times, sense "more": besides
    RULE = "rule"  # text
    LIFT = "lift"  # text: words of the rule
    REMEMBER = "remember"  # scope
    FORGET = "forget"  # about: "", what the lessons are of, or "everything"
    UNDO = "undo"
    YES = "yes"
    NO = "no"
    OPTION = "option"  # text: the words of an option, or its number "1", "2", "3"
    NOTHING = "nothing"  # sure to be no correction


OF_MOTION = (Intent.SPEED, Intent.HEIGHT, Intent.CLEARANCE)  # of all motion, or of that with or near a thing


class Sense(str, Enum):
    """Which way a quantity goes: faster or slower, higher or lower, farther or less far."""

    MORE = "more"
    LESS = "less"
    NORMAL = "normal"  # as it is when nobody has said anything
    EXACT = "exact"  # the number that was said, neither more nor less by it


class Size(str, Enum):
    """How much, where no number was said."""

    BIT = "bit"
    PLAIN = "plain"
    MUCH = "much"


class When(str, Enum):
    """Where something new goes in the plan."""

    NEXT = "next"  # before the first errand that has not begun
    END = "end"


DIRECTIONS = ("left", "right", "up", "down", "forward", "backward", "towards", "away", "back", "opposite",
              "more")  # fmt: skip
RELATIONS = ("in", "on", "beside", "left", "right", "top", "bottom", "opposite", "at", "to", "for", "before", "after",
             "direction")  # fmt: skip


@dataclass(frozen=True)
class Request:
    """One thing that is asked for. `thing`, `instead_of`, `target`, `about` and `text` are the person's words.

    `direction` is one of `DIRECTIONS`, along the axes of `frame`; "towards" and "away" are from `target`, "back" is
    where it came from, "opposite" the other way than the one before, "more" the same as before. `thing` is "" where it
    is what the step is about. `relation` is one of `RELATIONS`: how what is put down is to lie to `target`; "left" to
    "bottom" are beside it on that side, "at" is a region, "to" a room or a person. Of another thing "for" says where
    it is to go; of an order "before" and "after" what; "direction" is another way of a push. `number` is as it was
    said, in `unit`, one of `amounts.UNITS`: "half speed" is exactly 50 %, "2 cm further" more by 2 cm, "twice as far"
    2 times what it is. `present` is what it is now, where that is said: "make it 8 cm, not 4". Of a distance or a time
    `text` tells which: "push", "place", "follow", "wait". `negated` is set for what shall not be ("not the mug"
    without another thing; "do not keep away"). A change of motion with `near` binds near that thing only.
    """

    intent: Intent
    thing: str = ""
    instead_of: str = ""
    target: str = ""
    relation: str = ""
    direction: str = ""
    frame: Frame = Frame.PERSON
    sense: Sense = Sense.MORE
    size: Size = Size.PLAIN
    number: float | None = None
    unit: str = ""
    present: tuple[float, str] | None = None
    negated: bool = False
    text: str = ""
    when: When = When.END
    lifetime: Lifetime = Lifetime.STEP
    scope: Scope = Scope.ONCE
    about: str = ""
    near: str = ""


_ALWAYS = ("scope=SCOPE?", "about=WORDS?", "lifetime=LIFETIME?")  # slots of every request that changes something
_AMOUNT = ("SENSE", "SIZE?", "by=AMOUNT?", "instead=AMOUNT?")  # in place of what it is
_WHERE = ("near=WORDS?", "carrying=WORDS?")  # a change of motion that binds only there, or then
_SLOTS: Mapping[Intent, tuple[str, ...]] = {
    Intent.SHIFT: ("DIRECTION", "SIZE?", "by=AMOUNT?", "frame=FRAME?", "thing=WORDS?", "target=WORDS?"),
    Intent.TOO_FAR: ("DIRECTION?",),
    Intent.SPEED: (*_AMOUNT, "thing=WORDS?", *_WHERE),
    Intent.HEIGHT: (*_AMOUNT, "thing=WORDS?", *_WHERE),
    Intent.CLEARANCE: (*_AMOUNT, "thing=WORDS?", *_WHERE),
    Intent.DISTANCE: ("WHICH?", *_AMOUNT, "thing=WORDS?"),
    Intent.DURATION: (*_AMOUNT, "thing=WORDS?", "target=WORDS?"),
    Intent.OTHER_THING: ("WORDS?", "instead=WORDS?", "target=WORDS?", "how=RELATION?"),
    Intent.OTHER_TARGET: (
        "RELATION?",
        "DIRECTION?",
        "WORDS?",
        "by=AMOUNT?",
        "thing=WORDS?",
        "instead=WORDS?",
        "frame=FRAME?",
    ),
    Intent.FIRST: ("WORDS?", "ORDER?", "target=WORDS?"),
    Intent.LAST: ("WORDS?",),
    Intent.SKIP: ("WORDS?", "how=EXCEPT?"),
    Intent.SKIP_WAIT: ("WORDS?",),
    Intent.PUT_BACK: ("WORDS?",),
    Intent.ADD: ("WORDS", "WHEN?", "target=WORDS?"),
    Intent.AGAIN: ("WORDS?", "SENSE?", "by=AMOUNT?"),
    Intent.SWAP: ("WORDS?", "target=WORDS?"),
    Intent.RULE: ("WORDS",),
    Intent.LIFT: ("WORDS",),
    Intent.REMEMBER: ("SCOPE",),
    Intent.FORGET: ("EXTENT?", "about=WORDS?"),
    Intent.OPTION: ("OPTION",),
}
_ALONE = (Intent.HOLD, Intent.RESUME, Intent.CANCEL, Intent.REMEMBER, Intent.FORGET, Intent.UNDO, Intent.YES,
          Intent.NO, Intent.OPTION, Intent.NOTHING)  # fmt: skip
_MEASURED = (*OF_MOTION, Intent.DISTANCE, Intent.DURATION)
_FIRST_WORDS = {  # the slot of a request that words without a key are in
    Intent.OTHER_TARGET: "target", Intent.SKIP_WAIT: "target", Intent.ADD: "text", Intent.RULE: "text",
    Intent.LIFT: "text",
}  # fmt: skip
_KEYS = {"instead": "instead_of", "how": "relation", "carrying": "thing"}
_SHARES = {"twice": (2.0, "times"), "half": (0.5, "times"), "half_of": (50.0, "%"), "quarter_of": (25.0, "%"),
           "three_quarters_of": (75.0, "%")}  # fmt: skip
_TEXTS = {"WHICH": ("push", "place", "follow", "wait"), "OPTION": ("1", "2", "3", "last")}
_NUMBERED = {"1": "one", "2": "two", "3": "three"}  # names of terms are words


def _names(values: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(values, ())


def _table() -> dict[str, dict[str, tuple[str, ...]]]:
    slots = {intent: (*_SLOTS.get(intent, ()), *(() if intent in _ALONE else _ALWAYS)) for intent in Intent}
    return {
        "REQUEST": {intent.value: slots[intent] for intent in Intent if intent is not Intent.NOTHING},
        "ALONE": {"nothing": (), "unclear": ()},
        "DIRECTION": _names(DIRECTIONS),
        "RELATION": _names(RELATIONS),
        "ORDER": _names(("before", "after")),
        "EXCEPT": _names(("except",)),
        "SENSE": _names([sense.value for sense in Sense]),
        "SIZE": _names(("bit", "much")),
        "AMOUNT": {"": (WORDS,), **_names(tuple(_SHARES))},
        "FRAME": _names(("robot", "object")),
        "WHICH": _names(_TEXTS["WHICH"]),
        "WHEN": _names(("next",)),
        "SCOPE": _names([scope.value for scope in Scope]),
        "EXTENT": _names(("everything",)),
        "LIFETIME": _names([lifetime.value for lifetime in Lifetime]),
        "OPTION": {"": (WORDS,), **_names([_NUMBERED.get(text, text) for text in _TEXTS["OPTION"]])},
    }


REQUESTS = Forms(_table(), ("REQUEST",), ("ALONE",))


def requests_of(terms: Sequence[Term], words: str) -> tuple[Request, ...]:
    """Turn a result into requests; `words` is all that was said. Raise LanguageModelError where it is none."""
    if terms[0].name == Intent.NOTHING.value:
        return (Request(Intent.NOTHING),)
    requests = tuple(map(_request, terms))
    return (_whole(requests[0], words),) if len(requests) == 1 else requests


def _request(term: Term) -> Request:
    intent = Intent(term.name)
    slots: dict[str, Any] = {}
    for key, (value,) in REQUESTS.filled("REQUEST", term).items():
        slots |= _slot(intent, key, value)
    scope = slots.get("scope", Scope.ONCE)
    if intent not in _ALONE:
        slots.setdefault("lifetime", Lifetime.STEP if scope is Scope.ONCE else Lifetime.PLAN)
    if intent is Intent.OTHER_THING:
        if slots.get("target"):
            slots.setdefault("relation", "for")
        slots["negated"] = bool(slots.get("instead_of")) and not slots.get("thing")
    return Request(intent, **slots)


def _slot(intent: Intent, key: str, value: Value) -> dict[str, Any]:
    said = value.text if isinstance(value, Words) else value.name
    if key in ("by", "AMOUNT"):
        return dict(zip(("number", "unit"), _amount(value), strict=True))
    if key == "instead" and intent in _MEASURED:
        return {"present": _amount(value)}
    if key == WORDS:
        return {_FIRST_WORDS.get(intent, "thing"): said}
    if key == "OPTION":
        return {"text": next((text for text, name in _NUMBERED.items() if name == said), said)}
    if key == "WHICH":
        return {"text": said}
    if key == "EXTENT":
        return {"about": said}
    if key == "ORDER":
        return {"relation": said}
    kinds: Mapping[str, type[Enum]] = {"SENSE": Sense, "SIZE": Size, "frame": Frame, "WHEN": When, "scope": Scope,
                                       "SCOPE": Scope, "lifetime": Lifetime}  # fmt: skip
    kind = kinds.get(key)
    return {_KEYS.get(key, key.lower()): kind(said) if kind else said}


def _amount(value: Value) -> tuple[float, str]:
    if isinstance(value, Term):
        return _SHARES[value.name]
    try:
        amount = read_amount(value.text.replace("-", " "), bare=True)
    except InputError as error:
        raise LanguageModelError(str(error)) from error
    return amount.number, amount.unit


def _whole(request: Request, words: str) -> Request:
    """Of how long, the text tells what: to wait or to follow; of what is to be left alone, all that was said."""
    if request.intent is Intent.DURATION:
        return replace(request, text=next((verb for verb in ("wait", "follow") if verb in words.split()), ""))
    return replace(request, text=words) if request.intent is Intent.SKIP else request
