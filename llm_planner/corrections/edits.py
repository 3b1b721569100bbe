"""Typed operations that edit a running plan, and the answers that a person gets about the plan.

An operation states what changes, independent of the wording of the correction. `editing` applies operations to a copy
of the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from llm_planner.language.correction_requests import MOTION_QUANTITIES, Frame, Lifetime, Scope
from llm_planner.programs.values import Argument
from llm_planner.scene.scene import Vector3


class Level(str, Enum):
    """Part of the system that an operation changes, ordered from immediate to longest lasting."""

    REFLEX = "reflex"
    MOTION = "motion"
    PARAMETER = "parameter"
    STEP = "step"
    RULE = "rule"
    MEMORY = "memory"
    DIALOGUE = "dialogue"


class Change(str, Enum):
    """Way in which a quantity changes."""

    SET = "set"
    SCALE = "scale"
    SHIFT = "shift"


# Reflexes act at once, without checks.


@dataclass(frozen=True)
class Hold:
    """Operation that brings the robot to rest; the plan is kept."""

    level = Level.REFLEX


@dataclass(frozen=True)
class Resume:
    """Operation that continues the plan where it was held."""

    level = Level.REFLEX


@dataclass(frozen=True)
class Cancel:
    """Operation that brings the robot to rest and drops the plan."""

    level = Level.REFLEX


# Motion


@dataclass(frozen=True)
class Shift:
    """Operation that moves the target of the gripper (or of the base) by `offset` [m], along the axes of `frame`."""

    offset: Vector3
    frame: Frame = Frame.PERSON
    lifetime: Lifetime = Lifetime.STEP
    level = Level.MOTION


# Parameters


@dataclass(frozen=True)
class Adjust:
    """Operation that changes a quantity of the motion or a numeric parameter of a step.

    `quantity` is one of `MOTION_QUANTITIES`, for all motion or that of `step`; else the name of a parameter of `step`.
    """

    quantity: str
    change: Change
    value: float
    step: str = ""
    level = Level.PARAMETER

    @property
    def is_of_motion(self) -> bool:
        """Whether the quantity describes motion and is not a parameter of a step."""
        return self.quantity in MOTION_QUANTITIES or not self.step


# Steps, referenced by ids that are never reused


@dataclass(frozen=True)
class Rebind:
    """Operation that assigns another object, place or direction to a parameter of a step."""

    step: str
    parameter: str
    value: Argument
    level = Level.STEP


@dataclass(frozen=True)
class Insert:
    """Operation that inserts a new step before the step `before`, or at the end if `before` is ""."""

    skill: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    before: str = ""
    level = Level.STEP


@dataclass(frozen=True)
class Remove:
    """Operation that removes a step."""

    step: str
    level = Level.STEP


@dataclass(frozen=True)
class Move:
    """Operation that moves `steps`, in their order, before the step `before`, or to the end if it is ""."""

    steps: tuple[str, ...]
    before: str = ""
    level = Level.STEP


@dataclass(frozen=True)
class Replace:
    """Operation that replaces a step by a call of another skill; the new step gets a new id."""

    step: str
    skill: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    level = Level.STEP


# Rules


@dataclass(frozen=True)
class AddRule:
    """Operation that adds a temporal logic formula as a rule; `words` are the person's words."""

    formula: str
    words: str
    level = Level.RULE


@dataclass(frozen=True)
class LiftRule:
    """Operation that drops the rule with this formula. The person must always confirm it."""

    formula: str
    level = Level.RULE


# Memory


@dataclass(frozen=True)
class Remember:
    """Operation that keeps what the last correction taught."""

    scope: Scope = Scope.ALWAYS
    level = Level.MEMORY


@dataclass(frozen=True)
class Forget:
    """Operation that drops lessons about `about`; "" is the last lesson used or learned, "everything" means all."""

    about: str = ""
    level = Level.MEMORY


# Dialogue


@dataclass(frozen=True)
class Undo:
    """Operation that undoes the last edit."""

    level = Level.DIALOGUE


@dataclass(frozen=True)
class Confirm:
    """Answer to an open yes-or-no question."""

    yes: bool
    level = Level.DIALOGUE


@dataclass(frozen=True)
class Clarify:
    """Question to the person; nothing changes until it is answered with one of at most three `options`.

    `pending` is what an answer completes, for the reader that asked. It is not part of the edit's JSON.
    """

    question: str
    options: tuple[str, ...] = ()
    pending: object = field(default=None, compare=False, repr=False, metadata={"json": False})
    level = Level.DIALOGUE


Operation = (
    Hold | Resume | Cancel | Shift | Adjust | Rebind | Insert | Remove | Move | Replace
    | AddRule | LiftRule | Remember | Forget | Undo | Confirm | Clarify
)  # fmt: skip


def is_of_motion(operation: Operation) -> bool:
    """Whether the operation only changes motion, so that it is made while the robot moves."""
    return isinstance(operation, Shift) or (isinstance(operation, Adjust) and operation.is_of_motion)


def is_of_steps(operation: Operation) -> bool:
    """Whether the operation changes steps of the plan or their parameters."""
    is_of_a_step = isinstance(operation, Adjust) and not operation.is_of_motion
    return operation.level is Level.STEP or is_of_a_step


@dataclass(frozen=True)
class Edit:
    """Operations that one utterance asks for, in order, made for `version` of the plan; none if it is not a correction.

    `scope` is how long to remember them. `about` is the object or kind of objects that they concern, "" for none.
    """

    operations: tuple[Operation, ...]
    words: str = ""
    version: int = 0
    scope: Scope = Scope.ONCE
    about: str = ""

    @property
    def level(self) -> Level | None:
        """Level of the first operation; None if the utterance is not a correction."""
        return self.operations[0].level if self.operations else None

    @property
    def asks(self) -> bool:
        """Whether the edit contains a question to the person."""
        return any(isinstance(one, Clarify) for one in self.operations)


NO_PLAN = "no plan is running: say it as a command"


class Outcome(str, Enum):
    """Result of an utterance."""

    APPLIED = "applied"
    REFUSED = "refused"
    QUESTION = "question"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Answer:
    """Answer to the person, with the `edit` that their words were read as and its `difference` to the plan."""

    outcome: Outcome
    message: str
    edit: Edit | None = None
    difference: tuple[str, ...] = ()


def asking(question: Clarify, edit: Edit | None = None, difference: tuple[str, ...] = ()) -> Answer:
    """Return the answer that asks `question` and lists its options."""
    options = f" ({' / '.join(question.options)})" if question.options else ""
    return Answer(Outcome.QUESTION, question.question + options, edit, difference)


def stop_answer(stopped: bool, message: str) -> Answer:
    """Return the answer to a stop request; `message` is the reason if there was nothing to stop."""
    return Answer(Outcome.APPLIED, "stopped") if stopped else Answer(Outcome.NOTHING, message)


def with_told(answer: Answer, lines: tuple[str, ...]) -> Answer:
    """Append `lines` to the message of `answer`."""
    return replace(answer, message="; ".join(filter(None, (answer.message, *lines))))
