"""A policy as a value: sources of commands, and rules that allow or deny skills under conditions (arXiv:2504.11703).

A policy is read once (`policy_file.read_policy`) and never changes: nothing that a command, an object's name, a model
or a program says is ever part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from llm_planner.privileges.conditions import ROBOT, Condition, Situation, Truth
from llm_planner.skills.contract import Argument

ANY = "any"  # in place of a list of skills or sources
HELD = "held"  # what `while` speaks of besides `ROBOT`: the object in the gripper

Possible = tuple[Argument, ...]  # the values that an argument may turn out to have; empty where nobody knows yet

_TOLERATED = {  # (allows, ahead): how surely each condition must be met for the rule to apply
    (True, False): frozenset({Truth.YES}),
    (True, True): frozenset({Truth.YES, Truth.LATER}),
    (False, False): frozenset({Truth.YES, Truth.UNSURE, Truth.LATER}),
    (False, True): frozenset({Truth.YES, Truth.UNSURE}),
}


class Verdict(str, Enum):
    """What becomes of a call."""

    ALLOW = "allow"
    ASK = "ask"  # an operator, before anything moves
    REFUSE = "refuse"
    STOP = "stop"  # the robot, and the plan that the call belongs to


FALLBACKS = (Verdict.ASK, Verdict.REFUSE, Verdict.STOP)  # for what may not be done, the mildest first

Conditions = Mapping[str, tuple[Condition, ...]]


@dataclass(frozen=True)
class Rule:
    """Allows or denies `skills` to `sources` where all conditions on the call's arguments and on the scene are met.

    A condition on an argument that the call does not have is not met. `number` counts from 1 in the file's order;
    `otherwise` is what becomes of a call that the rule denies, None for what the source's other calls have.
    """

    number: int
    name: str
    allows: bool
    skills: tuple[str, ...]
    sources: tuple[str, ...]
    arguments: Conditions
    state: Conditions
    otherwise: Verdict | None = None

    def __str__(self) -> str:
        return f"rule {self.number}, “{self.name}”"

    def applies(self, source: str, skill: str, values: Mapping[str, Possible], situation: Situation) -> bool:
        """Whether the rule decides on this call; doubts count against the caller."""
        if not (_lists(self.skills, skill) and _lists(self.sources, source)):
            return False
        shown = _shown(situation)
        truths = {_truth(values, name, tests, situation) for name, tests in self.arguments.items()}
        truths |= {_state_truth(shown, name, tests, situation) for name, tests in self.state.items()}
        return truths <= _TOLERATED[self.allows, situation.ahead]


@dataclass(frozen=True)
class Policy:
    """What each source of commands may have the robot do; whatever no rule allows may not be done.

    `sources` has, for each known source, what becomes of a call that no rule allows; `any` stands for the others. The
    commands of a source that is not among them may do nothing.
    """

    name: str
    sources: Mapping[str, Verdict]
    rules: tuple[Rule, ...]

    def knows(self, source: str) -> bool:
        return source in self.sources or ANY in self.sources

    def fallback(self, source: str) -> Verdict:
        """What becomes of a call that nothing allows."""
        return self.sources.get(source, self.sources.get(ANY, Verdict.REFUSE))


EVERYTHING = Policy("everything", {ANY: Verdict.REFUSE}, (Rule(1, "everything", True, (ANY,), (ANY,), {}, {}),))


def _lists(names: tuple[str, ...], name: str) -> bool:
    return ANY in names or name in names


def _truth(values: Mapping[str, Possible], name: str, tests: tuple[Condition, ...], situation: Situation) -> Truth:
    if name not in values:
        return Truth.NO
    truths = {_met(tests, value, situation) for value in values[name]}
    return truths.pop() if len(truths) == 1 else Truth.LATER


def _state_truth(shown: Mapping[str, Argument], name: str, tests: tuple[Condition, ...], situation: Situation) -> Truth:
    if situation.ahead:
        return Truth.LATER
    if name in shown:
        return _met(tests, shown[name], situation)
    unseen = name == ROBOT and situation.scene.building is not None
    return Truth.UNSURE if unseen else Truth.NO


def _shown(situation: Situation) -> dict[str, Argument]:
    scene = situation.scene
    held = {HELD: scene.held} if scene.held else {}
    if scene.robot is None:
        return {**held}
    return {**held, ROBOT: ROBOT if ROBOT in situation.whereabouts else scene.robot.position}


def _met(tests: tuple[Condition, ...], value: Argument, situation: Situation) -> Truth:
    """All tests together: one that fails decides, then the doubts."""
    truths = {test.test(value, situation) for test in tests}
    return next((truth for truth in (Truth.NO, Truth.LATER, Truth.UNSURE) if truth in truths), Truth.YES)
