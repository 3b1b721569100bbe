"""A lesson: what is to be done otherwise, for which case, for how long, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum

from llm_planner.plan.edits import Operation, Scope

# Words of a lesson's operations that stand for something of the plan it is used in.
THIS = "this"  # in place of a step's id: the step that the lesson is used for
FIRST = "first"  # of `Move`, in `before`: the first step of the plan
THING = "thing"  # in place of an object's name: what that step is about


class State(str, Enum):
    """How far a lesson has come."""

    PROPOSED = "proposed"  # told, and its step has not ended well yet; or told once only
    LEARNED = "learned"
    RETIRED = "retired"  # superseded, contradicted or declined; kept to explain what became of it


@dataclass(frozen=True)
class Slots:
    """What tells one case from another; "" says nothing of it. `kind`, `color` and `name` are those of a thing.

    `name` is a proper one ("Anna"), for others come and go with the scene. `place` is a room or a region.
    """

    skill: str = ""
    kind: str = ""
    color: str = ""
    name: str = ""
    place: str = ""
    user: str = ""

    def fit(self, case: Slots) -> bool:
        """Whether everything that is said here is so there."""
        return all(getattr(case, name) == value for name, value in self.said.items())

    @property
    def said(self) -> dict[str, str]:
        """The slots that are not empty."""
        return {item.name: getattr(self, item.name) for item in fields(self) if getattr(self, item.name)}


@dataclass(frozen=True)
class Occasion:
    """When [s since the epoch], by whom, in which session, and during which command and step something was said."""

    time: float
    user: str = ""
    session: str = ""
    command: str = ""
    step: str = ""


@dataclass(frozen=True)
class Lesson:
    """`operations` hold where `slots` fit. `case` is all that was known of the case it was told of.

    `things` are the objects that the operations name, as far as the person's words tell them from others. `id` is given
    by the store and never used again (0 before); `supersedes` is the id of the lesson in whose place it came (0: none).
    `used` is when it was used last [s since the epoch]; of its `uses`, so many were `failures` of their step.
    """

    words: str
    operations: tuple[Operation, ...]
    slots: Slots
    case: Slots
    scope: Scope
    provenance: Occasion
    things: Mapping[str, Slots] = field(default_factory=dict)
    state: State = State.PROPOSED
    uses: int = 0
    failures: int = 0
    used: float = 0.0
    supersedes: int = 0
    id: int = 0
