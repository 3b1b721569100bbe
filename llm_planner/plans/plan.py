"""What the robot is going to do, as values: a plan, its steps, and the goals by which it is judged."""

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

MOST_LISTED = 12  # steps of a plan that are told in one sentence


class StepStatus(str, Enum):
    """Where a step is; the values are those of the JSON format."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


class Outcome(str, Enum):
    """How a command ended; the values are those of the JSON format."""

    DONE = "done"
    FAILED = "failed"
    QUESTION = "question"
    REFUSED = "refused"


@dataclass(frozen=True)
class PlanStep:
    """One skill call. `id` is stable within the plan; `arguments` are in the speaker's words; `line` counts from 1."""

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
    """An effect that a step has promised: an atom and what its names stood for when the step began.

    `offset` [m, robot frame] is how far from there a person has wanted it done since.
    """

    step_id: str
    atom: Atom
    values: Mapping[str, Argument]  # in base words
    held_at_start: str
    origins: Mapping[str, Vector3]
    offset: Vector3 = NOWHERE

    def holds(self, scene: Scene) -> bool:
        """Whether the scene shows it."""
        if self.offset != NOWHERE and self.atom.predicate in _PLACED:
            x, y, z = self.offset
            scene = shifted_things(scene, _moves(self), (-x, -y, -z))
        return holds(self.atom, Moment(scene, self.values, self.held_at_start, self.origins))

    @property
    def objects(self) -> frozenset[str]:
        """Names of the objects that the goal is about."""
        names = {self.held_at_start if name == HELD else self.values.get(name) for name in self.atom.arguments}
        return frozenset(name for name in names if isinstance(name, str))

    def argument(self, index: int) -> Argument:
        """What an argument of the atom stands for."""
        name = self.atom.arguments[index]
        return self.held_at_start if name == HELD else self.values[name]

    @property
    def words(self) -> list[str]:
        """The atom's arguments as text."""
        return [_plain(self.argument(index)) for index in range(len(self.atom.arguments))]

    def __str__(self) -> str:
        return f"{'not ' if self.atom.negated else ''}{self.atom.predicate}({', '.join(self.words)})"

    def sentence(self, viewpoint: Viewpoint = BEHIND) -> str:
        """The goal in words for a person who stands at `viewpoint`: directions and places are theirs."""
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


_SPATIAL = frozenset({"direction", "side", "region", "place"})  # parameters whose words depend on the viewpoint
_BESIDE_ANY = "the {0} is {3} m from the {1}"
_IN_ROOM = "the {0} lies in the {1}"  # what is carried through a room does not
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
    """A command, the program written for it, and the steps known so far.

    `steps` are those done, the one running and those known ahead; `complete` says that there are no others.
    `constraints` must be kept while it runs. `goals` are the effects that the end is judged by.
    """

    command: str
    program: str
    steps: tuple[PlanStep, ...] = ()
    complete: bool = True
    constraints: tuple[Constraint, ...] = ()
    goals: tuple[Goal, ...] = field(default=())

    @property
    def listing(self) -> str:
        """The steps for a person who has not seen them, by the ids that messages call them by, at most so many."""
        listed = [f"{step.id} {step}" for step in self.steps[:MOST_LISTED]]
        more = len(self.steps) - len(listed)
        return ", ".join(listed) + (f" and {more} more" if more else "")

    def with_step(self, step: PlanStep) -> Plan:
        """The same plan with the step of that id replaced."""
        return replace(self, steps=tuple(step if item.id == step.id else item for item in self.steps))


def goals_of(
    skill: Signature, step_id: str, values: Mapping[str, Argument], scene: Scene, origins: Mapping[str, Vector3]
) -> tuple[Goal, ...]:
    """What the scene must show when `skill`, begun in `scene`, has done its work."""
    bound = {**values, HERE: scene.robot_room} if scene.building else values
    return tuple(Goal(step_id, atom, bound, scene.held, origins) for atom in skill.effects)


_PLACED = frozenset({"at", "beside", "moved"})  # effects that say where something lies, as an offset may have it
_GRIPPER = frozenset({"empty", "holding", "held"})
_STATES = frozenset({"open", "closed", "lit", "clean"})  # of furniture
_WHEREABOUTS = frozenset({"reached", "followed", "docked"})  # of a mobile robot: only until it goes elsewhere


def still_wanted(goals: tuple[Goal, ...], later: tuple[Goal, ...]) -> tuple[Goal, ...]:
    """The goals that later ones leave alone, then the later ones.

    A later step supersedes where the robot was, what was true of the gripper, and of every object that it moves; one at
    furniture supersedes its state alone: what was put into a drawer is still wanted there once that is closed.
    """
    moved = frozenset(name for goal in later if goal.atom.predicate not in _STATES for name in _moves(goal))
    altered = frozenset(name for goal in later if goal.atom.predicate in _STATES for name in goal.objects)
    gripper = any(goal.atom.predicate in _GRIPPER or HELD in goal.atom.arguments for goal in later)
    passing = (_GRIPPER if gripper else frozenset()) | (_WHEREABOUTS if later else frozenset())
    kept = [
        goal
        for goal in goals
        if goal.atom.predicate not in passing
        and not goal.objects & (moved | altered if goal.atom.predicate in _STATES else moved)
    ]
    return (*kept, *later)


def _moves(goal: Goal) -> frozenset[str]:
    """The objects that a step with this effect moves: the first one it speaks of."""
    if not goal.atom.arguments or goal.atom.predicate in _WHEREABOUTS:
        return frozenset()
    first = goal.atom.arguments[0]
    name = goal.held_at_start if first == HELD else goal.values.get(first)
    return frozenset([name]) if isinstance(name, str) else frozenset()


def in_base_words(skill: Signature, arguments: Mapping[str, Argument], viewpoint: Viewpoint) -> dict[str, Argument]:
    """The arguments with the speaker's directions and regions turned into those of a person behind the robot."""
    spatial = {p.name for p in skill.parameters if p.type in ("direction", "side", "region", "place", "location")}
    return {
        name: viewpoint.to_base(value) if name in spatial and isinstance(value, str) else value
        for name, value in arguments.items()
    }
