"""Correction requests: what an utterance asks for, in the person's words, before it is tied to the plan.

Readers produce requests, and `corrections.building` turns them into plan operations. Each quantity that a correction
changes is a row with its words, the sizes of a change, its bounds and wordings. The embedded model writes requests as
text, such as `other_thing("blue one", instead="red one")`; `REQUESTS` is the grammar of this form and `requests_of`
converts its terms.
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
    """Frame of an offset: x points forward, away from its origin, y to the left, z up."""

    PERSON = "person"  # where the speaker stands
    ROBOT = "robot"  # the robot's base; for things in a building, the map
    OBJECT = "object"  # the thing that the step is about


class Lifetime(str, Enum):
    """How long a change of the motion holds."""

    STEP = "step"  # the current step, or else the next
    PLAN = "plan"


class Scope(str, Enum):
    """How long the robot keeps what a correction teaches."""

    ONCE = "once"
    TASK = "task"
    SESSION = "session"
    ALWAYS = "always"


class Intent(str, Enum):
    """Kind of request. The comments name the fields of `Request` that it uses, besides the common ones."""

    HOLD = "hold"
    RESUME = "resume"
    CANCEL = "cancel"
    SHIFT = "shift"  # direction, frame, size, number and unit, target (for "towards" and "away"), lifetime; thing
    TOO_FAR = "too_far"  # reverses half of the previous shift
    SPEED = "speed"  # sense, size, or number and unit; also for the four quantities below
    HEIGHT = "height"
    CLEARANCE = "clearance"
    DISTANCE = "distance"  # parameter of a step: how far it pushes, how wide a gap it leaves; thing
    DURATION = "duration"  # of a wait or follow step
    OTHER_THING = "other_thing"  # thing, instead_of: another object to take or act on
    OTHER_TARGET = "other_target"  # relation, target, instead_of; thing, if the person names what goes there
    FIRST = "first"  # thing: its errand comes next
    LAST = "last"  # thing
    SWAP = "swap_order"  # exchanges the errands of thing and target, or else the next two
    SKIP = "skip"  # thing: omits its errands; with relation "except" all others
    SKIP_THIS = "skip_this"  # omits the current errand
    SKIP_REST = "skip_rest"  # omits all but the current errand
    SKIP_WAIT = "skip_wait"  # omits the current wait, the next one, or the wait at target
    PUT_BACK = "put_back"  # thing; "" for the object that is held or was moved last
    ADD = "add"  # text: a further command; when; with target before its errand, with END after it
    AGAIN = "again"  # thing: repeats the errand with it; number: how often, with sense "more" in addition
    RULE = "rule"  # text
    LIFT = "lift"  # text: words of the rule to remove
    REMEMBER = "remember"  # scope
    FORGET = "forget"  # about: "", the subject of the lessons, or "everything"
    UNDO = "undo"
    YES = "yes"
    NO = "no"
    OPTION = "option"  # text: words of an option, or its number "1", "2", "3"
    NOTHING = "nothing"  # certainly not a correction


OF_MOTION = (Intent.SPEED, Intent.HEIGHT, Intent.CLEARANCE)  # applies to all motion, or to motion with or near a thing


class Sense(str, Enum):
    """Direction in which a quantity changes, such as faster or slower."""

    MORE = "more"
    LESS = "less"
    NORMAL = "normal"  # back to the default
    EXACT = "exact"  # the number itself, not a change by it


class Size(str, Enum):
    """Amount of a change without a number."""

    BIT = "bit"
    PLAIN = "plain"
    MUCH = "much"


class When(str, Enum):
    """Position of a new errand in the plan."""

    NEXT = "next"  # before the first errand that has not begun
    END = "end"


Sizes = Mapping[Size, float]


@dataclass(frozen=True)
class Way:
    """One of the two ways in which a quantity changes.

    Attributes:
        words: Words in a sentence that ask for it, with those of other languages after the bar.
        request: Wording of a request, with a place for its size or amount.
        lesson: Wording of a lesson.
        sizes: Change without a number: a factor, or [m] for `height` and `clearance`.
        reflexes: Utterances that are read without a model.
    """

    words: str
    request: str
    lesson: str
    sizes: Sizes
    reflexes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """Quantity with its ways `more` and `less`; one of all motion also has a unit, a default value and bounds."""

    more: Way
    less: Way
    unit: str = ""
    normal: float = 0.0
    minimum: float = 0.0
    maximum: float = 0.0

    def way(self, sense: Sense) -> Way:
        """Return the way of a change; more, unless it is less."""
        return self.less if sense is Sense.LESS else self.more


def _sizes(bit: float, plain: float, much: float) -> Sizes:
    return {Size.BIT: bit, Size.PLAIN: plain, Size.MUCH: much}


_FARTHER, _LESS_FAR = _sizes(1.25, 1.5, 2.0), _sizes(0.8, 2 / 3, 0.5)
_HIGHER, _WIDER = _sizes(0.025, 0.05, 0.1), _sizes(0.01, 0.02, 0.04)

MOTION_QUANTITIES: Mapping[str, Quantity] = {
    "speed": Quantity(
        Way("faster fast quicker quickly quick hurry | schneller schnell vite rapido rápido veloce",
            "go {}faster", "faster", _sizes(4 / 3, 2.0, 4.0), ("faster", "speed up")),
        Way("slower slow slowly gently | langsamer langsam lentement lento despacio piano",
            "go {}slower", "slower", _sizes(0.75, 0.5, 0.25), ("slower", "slow down")),
        "of the full speed", 1.0, 0.05, 1.0,
    ),
    "clearance": Quantity(
        Way("more further farther wider | mehr weiter", "leave {}more room", "with more room", _WIDER),
        Way("less nearer closer | weniger näher", "leave {}less room", "with less room", _WIDER),
        "m", 0.0, 0.0, 0.15,
    ),
    "height": Quantity(
        Way("higher | höher haut", "carry it {}higher", "higher", _HIGHER, ("higher",)),
        Way("lower | tiefer niedriger bas", "carry it {}lower", "lower", _HIGHER, ("lower",)),
        "m", 0.0, 0.0, 0.2,
    ),
}  # fmt: skip
STEP_QUANTITIES: Mapping[str, Quantity] = {  # parameters of steps, which have the bounds of their skill
    "distance": Quantity(
        Way("more further farther wider | weiter", "push it {}further", "farther", _FARTHER),
        Way("less nearer closer | näher", "push it {}less far", "less far", _LESS_FAR),
    ),
    "seconds": Quantity(
        Way("longer | länger", "wait {}longer", "longer", _FARTHER),
        Way("shorter | kürzer", "wait {}shorter", "shorter", _LESS_FAR),
    ),
}
QUANTITIES = {**MOTION_QUANTITIES, **STEP_QUANTITIES}


def quantity_of(intent: Intent) -> str:
    """Return the name of the quantity that a request of this intent changes; "" for none."""
    name = "seconds" if intent is Intent.DURATION else intent.value
    return name if name in QUANTITIES else ""


DIRECTIONS = ("left", "right", "up", "down", "forward", "backward", "towards", "away", "back", "opposite",
              "more")  # fmt: skip
RELATIONS = ("in", "on", "beside", "left", "right", "top", "bottom", "opposite", "at", "to", "for", "before", "after",
             "direction")  # fmt: skip


@dataclass(frozen=True)
class Request:
    """One request. `thing`, `instead_of`, `target`, `about`, `near` and `text` hold the person's words.

    Attributes:
        intent: What the person asks for.
        thing: Object of the request; "" for the object of the step.
        instead_of: Object or target that the person replaces.
        target: Object, room or person that `relation` or `direction` refers to.
        relation: One of `RELATIONS`: where an object is placed relative to `target`. "left" to "bottom" mean beside it
            on that side, "at" a region, "to" a room or person. "for" gives the destination of another object, "before"
            and "after" an order, "direction" another direction of a push.
        direction: One of `DIRECTIONS`, along the axes of `frame`. "towards" and "away" refer to `target`, "back" is
            where the object came from, "opposite" reverses the previous direction, "more" repeats it.
        number: As said, in `unit`: "half speed" is exactly 50 %, "2 cm further" is more by 2 cm, "twice as far" is
            2 times the present distance.
        unit: One of `lifting.UNITS`.
        present: Present amount and unit, if the person says it: "make it 8 cm, not 4".
        negated: Whether the person excludes it ("not the mug" without another thing; "do not keep away").
        text: Words of a command, rule or option. For a distance or duration the kind of step: "push", "place",
            "follow" or "wait".
        near: Object near which a change of the motion applies; "" for everywhere.
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


_ALWAYS = ("scope=SCOPE?", "about=WORDS?", "lifetime=LIFETIME?")  # slots of every intent outside `_ALONE`
_AMOUNT = ("SENSE", "SIZE?", "by=AMOUNT?", "instead=AMOUNT?")  # `instead` is the present amount
_WHERE = ("near=WORDS?", "carrying=WORDS?")  # a change of motion applies only near it, or while carrying it
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
_FIRST_WORDS = {  # field that takes words without a key; else `thing`
    Intent.OTHER_TARGET: "target", Intent.SKIP_WAIT: "target", Intent.ADD: "text", Intent.RULE: "text",
    Intent.LIFT: "text",
}  # fmt: skip
_KEYS = {"instead": "instead_of", "how": "relation", "ORDER": "relation", "carrying": "thing", "WHICH": "text",
         "EXTENT": "about"}  # fmt: skip
_SHARES = {"twice": (2.0, "times"), "half": (0.5, "times"), "half_of": (50.0, "%"), "quarter_of": (25.0, "%"),
           "three_quarters_of": (75.0, "%")}  # fmt: skip
_TEXTS = {"WHICH": ("push", "place", "follow", "wait"), "OPTION": ("1", "2", "3", "last")}
_NUMBERED = {"1": "one", "2": "two", "3": "three"}  # names of terms cannot begin with a digit


REQUESTS = Forms(
    {
        "REQUEST": {
            intent.value: (*_SLOTS.get(intent, ()), *(() if intent in _ALONE else _ALWAYS))
            for intent in Intent
            if intent is not Intent.NOTHING
        },
        "ALONE": {"nothing": (), "unclear": ()},
        "DIRECTION": dict.fromkeys(DIRECTIONS, ()),
        "RELATION": dict.fromkeys(RELATIONS, ()),
        "ORDER": dict.fromkeys(("before", "after"), ()),
        "EXCEPT": dict.fromkeys(("except",), ()),
        "SENSE": dict.fromkeys((sense.value for sense in Sense), ()),
        "SIZE": dict.fromkeys(("bit", "much"), ()),
        "AMOUNT": {"": (WORDS,), **dict.fromkeys(_SHARES, ())},
        "FRAME": dict.fromkeys(("robot", "object"), ()),
        "WHICH": dict.fromkeys(_TEXTS["WHICH"], ()),
        "WHEN": dict.fromkeys(("next",), ()),
        "SCOPE": dict.fromkeys((scope.value for scope in Scope), ()),
        "EXTENT": dict.fromkeys(("everything",), ()),
        "LIFETIME": dict.fromkeys((lifetime.value for lifetime in Lifetime), ()),
        "OPTION": {"": (WORDS,), **dict.fromkeys([_NUMBERED.get(text, text) for text in _TEXTS["OPTION"]], ())},
    },
    ("REQUEST",),
    ("ALONE",),
)


def requests_of(terms: Sequence[Term], words: str) -> tuple[Request, ...]:
    """Convert the terms of a result into requests; `words` is the whole utterance.

    Raises LanguageModelError if a term does not fit `REQUESTS` or an amount cannot be read.
    """
    if terms[0].name == Intent.NOTHING.value:
        return (Request(Intent.NOTHING),)
    requests = tuple(map(_request, terms))
    if len(requests) == 1 and requests[0].intent is Intent.DURATION:
        verb = next((verb for verb in ("wait", "follow") if verb in words.split()), "")
        return (replace(requests[0], text=verb),)
    if len(requests) == 1 and requests[0].intent is Intent.SKIP:
        return (replace(requests[0], text=words),)
    return requests


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
