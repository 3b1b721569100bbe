"""Equivalence voting over readings, and the questions to the person when a command is not understood well enough.

Readings with provably the same meaning count as one and the majority decides, like self-consistency over formal
meanings in SELP (arXiv 2409.19471). Here equivalence is proved over the letters that can occur in the scene, and a vote
without a majority becomes a question. Questions are in plain words, never in logic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from llm_planner.errors import QuestionError
from llm_planner.ltl.formula import Constraint, Formula, conj
from llm_planner.ltl.phrases import default_phrase, momentary
from llm_planner.ltl.verbalization import read_back
from llm_planner.text import plain_text, shortened

Same = Callable[[Formula, Formula], bool]


@dataclass(frozen=True)
class Grounded:
    """Reading with formulas about this scene: `task` ("" for none) and `constraints`, or else a `question`.

    `goals` hold in the last scene once the task is done. Tasks are compared by `content`, and by their goals if both
    readings state some.
    """

    task: str = ""
    constraints: tuple[Constraint, ...] = ()
    question: str = ""
    goals: tuple[Formula, ...] = ()
    content: Hashable = None

    @property
    def formula(self) -> Formula:
        """Conjunction of the constraints."""
        return conj(*(constraint.formula for constraint in self.constraints))


@dataclass(frozen=True)
class Group:
    """Readings with one meaning: the first, their count, and whether they include the model's best."""

    reading: Grounded
    count: int = 1
    has_best: bool = False


@dataclass(frozen=True)
class Vote:
    """State of a vote: readings grouped by meaning, the largest group first, and the reasons why other samples failed.

    A vote may end before all `wanted` samples are drawn. If the model is `sure` of its first reading, this one decides.
    """

    wanted: int
    groups: tuple[Group, ...] = ()
    failed: tuple[str, ...] = ()
    sure: bool = False

    @property
    def asked(self) -> int:
        return sum(group.count for group in self.groups) + len(self.failed)

    @property
    def decided(self) -> bool:
        """Whether one meaning has more than 1/2 of the wanted samples, or 3/4 if the model's best differs."""
        if not self.groups:
            return False
        needed = (0.5 if self.groups[0].has_best else 0.75) * self.wanted
        return self.sure or self.groups[0].count > needed

    @property
    def over(self) -> bool:
        """Whether further samples cannot change the result."""
        most = max((group.count for group in self.groups), default=0)
        return self.decided or 2 * (most + self.wanted - self.asked) <= self.wanted

    def __str__(self) -> str:
        counts = ", ".join(str(group.count) for group in self.groups) or "none"
        failed = f"; {len(self.failed)} had no meaning here" if self.failed else ""
        return f"{self.asked} of {self.wanted} readings asked for, by meaning: {counts}{failed}"


def count(vote: Vote, reading: Grounded, same: Same) -> Vote:
    """Add a reading to a vote, the model's best first; `same` decides whether formulas are equivalent."""
    groups, best = list(vote.groups), not vote.groups  # the first reading with a meaning here
    for index, group in enumerate(groups):
        if _same_meaning(group.reading, reading, same):
            groups[index] = replace(group, count=group.count + 1)
            break
    else:
        groups.append(Group(reading, has_best=best))
    return replace(vote, groups=tuple(sorted(groups, key=lambda group: -group.count)))


def _same_meaning(a: Grounded, b: Grounded, same: Same) -> bool:
    if a.question or b.question:
        return bool(a.question and b.question)
    if bool(a.task) != bool(b.task) or a.content != b.content:
        return False
    if a.goals and b.goals and not same(conj(*a.goals), conj(*b.goals)):
        return False
    return a.formula is b.formula or same(a.formula, b.formula)


MAX_OPTIONS = 3
MAX_CHARACTERS = 500  # of a model's question


def _asked(question: str) -> QuestionError:
    return QuestionError(shortened(plain_text(question), MAX_CHARACTERS))


def unclear_question(vote: Vote) -> QuestionError:
    """Create the question for a vote: the model's own, the readings to choose from, or why there is none."""
    if vote.decided:
        return _asked(vote.groups[0].reading.question)
    readings = [group.reading for group in vote.groups if not group.reading.question][:MAX_OPTIONS]
    if not vote.groups:
        return QuestionError(f"I cannot tell what this means here: {vote.failed[0]}. Please say it in another way.")
    if not readings:
        return _asked(vote.groups[0].reading.question)
    if len(readings) == 1:
        return QuestionError(f"I am not sure that I understand. Do you mean: {_in_words(readings[0])}?")
    options = "; ".join(f"{number}) {_in_words(reading)}" for number, reading in enumerate(readings, 1))
    return QuestionError(f"I can read this in more than one way. Which do you mean? {options}")


def _in_words(reading: Grounded) -> str:
    """Describe task and constraints in plain words."""
    rules = [read_back(constraint.formula) for constraint in reading.constraints]
    return "; ".join([part for part in (f"“{reading.task}”" if reading.task else "", *rules) if part])


def left_out_question(words: Sequence[str]) -> QuestionError:
    quoted = ", ".join(f"“{word}”" for word in words)
    return QuestionError(
        f"I do not know what to do about {quoted}. Please say that part in another way, or leave it out."
    )


def added_question(constraint: Constraint) -> QuestionError:
    return QuestionError(
        f"I understood also that {read_back(constraint.formula)}. You have not named all of that: please say it if you "
        "mean it."
    )


def empty_question(constraint: Constraint) -> QuestionError:
    """Create the question about a rule that nothing can break."""
    return QuestionError(
        f"I would understand “{constraint.words}” as: {read_back(constraint.formula)}. That is so whatever the robot "
        "does. What should it not do?"
    )


def contradiction_question(findings: Sequence[str], reading: Grounded) -> QuestionError:
    """Create the question about a reading that contradicts the words."""
    goals = "; ".join(momentary(goal, default_phrase) for goal in reading.goals)
    meant = "; ".join(filter(None, (_in_words(reading), f"in the end: {goals}" if goals else "")))
    return QuestionError(
        f"I am not sure that I understand: {'; '.join(findings)}. Do you mean: {meant}? Please say it in another way."
    )


def conflict_question(constraints: Sequence[Constraint]) -> QuestionError:
    """Create the question about constraints that cannot all hold."""
    if len(constraints) == 1:
        return QuestionError(f"“{constraints[0].words}” cannot be done here. What should I do instead?")
    quoted = " and ".join(f"“{constraint.words}”" for constraint in constraints)
    return QuestionError(f"I cannot do all of this together: {quoted}. Which should I leave out?")
