"""What an utterance asks for, in its own words, before it is tied to the plan.

A reader gives requests; `building` makes operations of them. So whatever reads the words, the plan is looked at in one
place only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from llm_planner.plan.edits import Frame, Lifetime, Scope


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
