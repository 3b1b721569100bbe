"""Plans, their steps, and the goals that judge them, as immutable values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from llm_planner.ltl.formula import Constraint
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.atoms import HELD, HERE, Atom, Moment, holds
from llm_planner.scene.names import worded
from llm_planner.scene.places import ANY_SIDE, BEHIND, Viewpoint
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.skills.tuning import NOWHERE, shifted_things

MOST_LISTED = 12  # steps listed in one sentence


class StepStatus(str, Enum):
    """Status of a step; the values are those of the JSON format."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


class Outcome(str, Enum):
    """Result of a command; the values are those of the JSON format."""

    DONE = "done"
    FAILED = "failed"
    QUESTION = "question"
    REFUSED = "refused"


@dataclass(frozen=True)
class PlanStep:
    """One skill call of a plan.

    Attributes:
        id: Identifier, stable within the plan.
        arguments: Values by parameter name, in the speaker's words.
        line: Line of the program that makes the call, from 1.
        message: Why the step has its status, for a person.
    """

    id: str
    skill: str
    arguments: Mapping[str, Argument]
    line: int
    status: StepStatus = StepStatus.PENDING
    message: str = ""

    def __str__(self) -> str:
        return f"{self.skill}({', '.join(map(_written, self.arguments.values()))})"


def _written(value: Argument) -> str:
    if isinstance(value, tuple):
        return f"point({value[0]:.2f}, {value[1]:.2f})"
    return f"{value:g}" if isinstance(value, float) else f'"{value}"' if isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Goal:
    """Effect that a step promises: an atom, and what its names referred to when the step began.

    Attributes:
        values: Values of the atom's names, in base words (as seen from behind the robot).
        origins: Position of each object when it last lay on its own [m].
        offset: Shift of the target that a person has asked for since [m, robot frame].
    """

    step_id: str
    atom: Atom
    values: Mapping[str, Argument]  # in base words
    held_at_start: str
    origins: Mapping[str, Vector3]
    offset: Vector3 = NOWHERE

    def holds(self, scene: Scene) -> bool:
        """Return whether the scene satisfies the goal."""
        if self.offset != NOWHERE and self.atom.predicate in _PLACED:
            x, y, z = self.offset
            scene = shifted_things(scene, _moves(self), (-x, -y, -z))
        return holds(self.atom, Moment(scene, self.values, self.held_at_start, self.origins))

    @property
    def objects(self) -> frozenset[str]:
        """Names of the objects that the goal mentions."""
        names = {self.held_at_start if name == HELD else self.values.get(name) for name in self.atom.arguments}
        return frozenset(name for name in names if isinstance(name, str))

    def argument(self, index: int) -> Argument:
        """Return the value of the atom's argument at `index`."""
        name = self.atom.arguments[index]
        return self.held_at_start if name == HELD else self.values[name]

    @property
    def words(self) -> list[str]:
        """Values of the atom's arguments as text."""
        return [_plain(self.argument(index)) for index in range(len(self.atom.arguments))]

    def __str__(self) -> str:
        return f"{'not ' if self.atom.negated else ''}{self.atom.predicate}({', '.join(self.words)})"

    def sentence(self, viewpoint: Viewpoint = BEHIND) -> str:
        """Describe the goal in a sentence, with directions and places as seen from `viewpoint`."""
        template = _SENTENCES.get(self.atom.predicate)
        if template is None or self.atom.negated:
            return str(self)
        words = [
            viewpoint.from_base(word) if name in _SPATIAL else word
            for name, word in zip(self.atom.arguments, self.words, strict=True)
        ]
        if self.atom.predicate == "beside" and words[2] == ANY_SIDE:
            template = _BESIDE_ANY
        if self.atom.predicate == "in" and self.atom.arguments[1] == HERE:
            template = _IN_ROOM
        return worded(template, *words)


_SPATIAL = frozenset({"direction", "side", "region", "place"})  # parameters whose values depend on the viewpoint
_BESIDE_ANY = "the {0} is {3} m from the {1}"
_IN_ROOM = "the {0} lies in the {1}"  # not "is in": an object carried through the room does not count
_SENTENCES = {
    "on": "the {0} is on the {1}",
    "in": "the {0} is in the {1}",
    "at": "the {0} is at the {1}",
    "beside": "the {0} is {3} m from the {1}, on its {2} side",
    "moved": "the {0} is {2} m to the {1} of where it was",
    "reached": "the robot is at the {0}",
    "followed": "the robot is {1} m from the {0}",
    "docked": "the robot stands in the {0}",
    "held": "the {0} is in the gripper",
    "empty": "the gripper is empty",
    "holding": "something is in the gripper",
    "clear": "nothing is on or in the {0}",
    "above": "the hand is above the {0}",
    "open": "the {0} is open",
    "closed": "the {0} is closed",
    "lit": "the lamp of the {0} is lit",
    "clean": "the {0} is wiped off",
    "toppled": "the {0} has fallen over",
}


def _plain(value: Argument) -> str:
    if isinstance(value, tuple):
        return f"point ({value[0]:.2f}, {value[1]:.2f})"
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Plan:
    """A command, its program, and the steps known so far.

    Attributes:
        steps: Finished steps, the running step, and the steps known ahead.
        complete: Whether `steps` contains every step of the program.
        constraints: Constraints that must hold while the plan runs.
        goals: Effects that judge the end of the plan.
    """

    command: str
    program: str
    steps: tuple[PlanStep, ...] = ()
    complete: bool = True
    constraints: tuple[Constraint, ...] = ()
    goals: tuple[Goal, ...] = field(default=())

    @property
    def listing(self) -> str:
        """Steps with the ids that messages use, for a person; at most `MOST_LISTED` of them."""
        listed = [f"{step.id} {step}" for step in self.steps[:MOST_LISTED]]
        more = len(self.steps) - len(listed)
        return ", ".join(listed) + (f" and {more} more" if more else "")

    def with_step(self, step: PlanStep) -> Plan:
        """Return the plan with the step of the same id replaced."""
        return replace(self, steps=tuple(step if item.id == step.id else item for item in self.steps))


def goals_of(
    skill: Signature, step_id: str, values: Mapping[str, Argument], scene: Scene, origins: Mapping[str, Vector3]
) -> tuple[Goal, ...]:
    """Return the effects that `skill` promises when it starts in `scene`; `values` are in base words.

    `origins` are the positions of objects when they last lay on their own [m].
    """
    bound = {**values, HERE: scene.robot_room} if scene.building else values
    return tuple(Goal(step_id, atom, bound, scene.held, origins) for atom in skill.effects)


_PLACED = frozenset({"at", "beside", "moved"})  # effects about a position, which an offset may shift
_GRIPPER = frozenset({"empty", "holding", "held"})
_STATES = frozenset({"open", "closed", "lit", "clean"})  # of furniture
WHEREABOUTS = frozenset({"reached", "followed", "docked"})  # of a mobile robot: valid until it drives elsewhere


def still_wanted(goals: tuple[Goal, ...], later: tuple[Goal, ...]) -> tuple[Goal, ...]:
    """Return the goals that `later` ones do not supersede, followed by the `later` ones.

    A later step supersedes earlier goals about the robot's location, about the gripper if the step uses it, and about
    every object that it moves. A step that operates furniture supersedes only the state of that furniture: an object
    put into a drawer stays a goal after the drawer closes. After a drive of an arm's base nothing is judged any more by
    where it lies as seen from the arm.
    """
    moved = frozenset(name for goal in later if goal.atom.predicate not in _STATES for name in _moves(goal))
    altered = frozenset(name for goal in later if goal.atom.predicate in _STATES for name in goal.objects)
    gripper = any(goal.atom.predicate in _GRIPPER or HELD in goal.atom.arguments for goal in later)
    passing = (_GRIPPER if gripper else frozenset()) | (WHEREABOUTS if later else frozenset())
    if any(goal.atom.predicate == "reached" for goal in later):
        passing |= _PLACED
    kept = [
        goal
        for goal in goals
        if goal.atom.predicate not in passing
        and not goal.objects & (moved | altered if goal.atom.predicate in _STATES else moved)
    ]
    return (*kept, *later)


def _moves(goal: Goal) -> frozenset[str]:
    """Return the objects that a step with this effect moves: the first one that the effect names."""
    if not goal.atom.arguments or goal.atom.predicate in WHEREABOUTS:
        return frozenset()
    first = goal.atom.arguments[0]
    name = goal.held_at_start if first == HELD else goal.values.get(first)
    return frozenset([name]) if isinstance(name, str) else frozenset()


def in_base_words(skill: Signature, arguments: Mapping[str, Argument], viewpoint: Viewpoint) -> dict[str, Argument]:
    """Translate the speaker's directions and regions to those of a person behind the robot."""
    spatial = {p.name for p in skill.parameters if p.type in ("direction", "side", "region", "place", "location")}
    return {
        name: viewpoint.to_base(value) if name in spatial and isinstance(value, str) else value
        for name, value in arguments.items()
    }
