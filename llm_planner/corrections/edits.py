"""Edits of a running plan: a closed set of typed operations, as values.

An operation says what is to change and nothing of how it was said; `editing` applies them to a copy of the plan.

What a person is answered about a running plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from llm_planner.language.correction_requests import Frame, Lifetime, Scope
from llm_planner.programs.values import Argument
from llm_planner.scene.scene import Vector3


class Level(str, Enum):
    """What an operation touches, from what acts at once to what outlives the plan."""

    REFLEX = "reflex"
    MOTION = "motion"
    PARAMETER = "parameter"
    STEP = "step"
    RULE = "rule"
    MEMORY = "memory"
    DIALOGUE = "dialogue"


class Change(str, Enum):
    """How a quantity is changed."""

    SET = "set"
    SCALE = "scale"
    SHIFT = "shift"


# Reflex: what acts at once, with nothing to check.


@dataclass(frozen=True)
class Hold:
    """Come to rest and wait; the plan stays."""

    level = Level.REFLEX


@dataclass(frozen=True)
class Resume:
    """Go on where it was held."""

    level = Level.REFLEX


@dataclass(frozen=True)
class Cancel:
    """Come to rest and drop the plan."""

    level = Level.REFLEX


# Motion


@dataclass(frozen=True)
class Shift:
    """Move what the hand (or the base) does by `offset` [m], along the axes of `frame`."""

    offset: Vector3
    frame: Frame = Frame.PERSON
    lifetime: Lifetime = Lifetime.STEP
    level = Level.MOTION


# Parameters


@dataclass(frozen=True)
class Adjust:
    """Change a quantity: one of `QUANTITIES`, of all motion or of that of a `step`; else a numeric parameter of that
    step."""

    quantity: str
    change: Change
    value: float
    step: str = ""
    level = Level.PARAMETER

    @property
    def is_of_motion(self) -> bool:
        """Whether it is about how the robot moves, and no parameter of a step."""
        return self.quantity in QUANTITIES or not self.step


@dataclass(frozen=True)
class Quantity:
    """Something that `Adjust` may change of all motion: its value while nobody has said anything, and its bounds."""

    unit: str
    normal: float
    minimum: float
    maximum: float


QUANTITIES: Mapping[str, Quantity] = {
    "speed": Quantity("of the full speed", 1.0, 0.05, 1.0),
    "clearance": Quantity("m, from everything in the way", 0.0, 0.0, 0.15),
    "height": Quantity("m, over the usual height of travel", 0.0, 0.0, 0.2),
}


# Steps. They are named by their ids, which are never used again.


@dataclass(frozen=True)
class Rebind:
    """Give the parameter of a step another value: another object, place or direction."""

    step: str
    parameter: str
    value: Argument
    level = Level.STEP


@dataclass(frozen=True)
class Insert:
    """A new step before the step `before`, or after all the others where that is ""."""

    skill: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    before: str = ""
    level = Level.STEP


@dataclass(frozen=True)
class Remove:
    """Leave a step out."""

    step: str
    level = Level.STEP


@dataclass(frozen=True)
class Move:
    """Do the steps, in their order, before the step `before`, or after all the others where that is ""."""

    steps: tuple[str, ...]
    before: str = ""
    level = Level.STEP


@dataclass(frozen=True)
class Replace:
    """Call another skill in place of a step; the new step has an id of its own."""

    step: str
    skill: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    level = Level.STEP


# Rules


@dataclass(frozen=True)
class AddRule:
    """Keep a formula of temporal logic from now on; `words` are the person's."""

    formula: str
    words: str
    level = Level.RULE


@dataclass(frozen=True)
class LiftRule:
    """Keep the rule with this formula no more. Needs the person's confirmation, whoever asks for it."""

    formula: str
    level = Level.RULE


# Memory


@dataclass(frozen=True)
class Remember:
    """Keep what the last correction taught."""

    scope: Scope = Scope.ALWAYS
    level = Level.MEMORY


@dataclass(frozen=True)
class Forget:
    """Drop lessons about what `about` names; "" is the one used or learned last, "everything" all of them."""

    about: str = ""
    level = Level.MEMORY


# Dialogue


@dataclass(frozen=True)
class Undo:
    """Take the last edit back."""

    level = Level.DIALOGUE


@dataclass(frozen=True)
class Confirm:
    """The answer to a yes-or-no question that is open."""

    yes: bool
    level = Level.DIALOGUE


@dataclass(frozen=True)
class Clarify:
    """A question back: nothing changes until it is answered with one of at most three `options`.

    `pending` is what an answer completes, for the reader that asked; it is no part of the edit's JSON.
    """

    question: str
    options: tuple[str, ...] = ()
    pending: object = field(default=None, compare=False, repr=False, metadata={"json": False})
    level = Level.DIALOGUE


Operation = (
    Hold | Resume | Cancel | Shift | Adjust | Rebind | Insert | Remove | Move | Replace
    | AddRule | LiftRule | Remember | Forget | Undo | Confirm | Clarify
)  # fmt: skip


@dataclass(frozen=True)
class Edit:
    """What one utterance asks for: `operations` in their order, made for the plan's `version`.

    `scope` is how long it is to be remembered, `about` the thing or kind of things it was said of, "" for none.
    No operation at all: the words were no correction.
    """

    operations: tuple[Operation, ...]
    words: str = ""
    version: int = 0
    scope: Scope = Scope.ONCE
    about: str = ""

    @property
    def level(self) -> Level | None:
        """The level of its first operation; None where the words were no correction."""
        return self.operations[0].level if self.operations else None

    @property
    def asks(self) -> bool:
        """Whether it is, in part, a question to the person."""
        return any(isinstance(one, Clarify) for one in self.operations)


NO_PLAN = "no plan is running: say it as a command"


class Outcome(str, Enum):
    """What became of something that was said."""

    APPLIED = "applied"
    REFUSED = "refused"
    QUESTION = "question"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Answer:
    """What a person is told; `edit` is what their words were read as, `difference` what it changed."""

    outcome: Outcome
    message: str
    edit: Edit | None = None
    difference: tuple[str, ...] = ()


def asking(question: Clarify, edit: Edit | None = None, difference: tuple[str, ...] = ()) -> Answer:
    """The question with its options."""
    options = f" ({' / '.join(question.options)})" if question.options else ""
    return Answer(Outcome.QUESTION, question.question + options, edit, difference)


def stop_answer(stopped: bool, message: str) -> Answer:
    """What is told of a stop: that it stopped something, or `message`, why there was nothing to stop."""
    return Answer(Outcome.APPLIED, "stopped") if stopped else Answer(Outcome.NOTHING, message)


def with_told(answer: Answer, lines: tuple[str, ...]) -> Answer:
    """The answer, and what else there is to say."""
    return replace(answer, message="; ".join(filter(None, (answer.message, *lines))))
