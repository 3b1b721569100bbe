"""Equivalence voting: readings that are proved to mean the same are one, and the majority decides.

After self-consistency over formal meanings instead of texts, as in SELP (arXiv 2409.19471); here equivalence is proved
over the letters that can occur in the scene, and a vote without a majority is a question.

What the person is asked when a command is not understood well enough: always in plain words, never in logic.
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
    """A reading whose formulas speak of this scene: `task` ("" for none) and `constraints`, or else a `question`.

    `goals` hold in the last scene once the task is done. `content` is what tasks are compared by, besides the goals
    that both readings state.
    """

    task: str = ""
    constraints: tuple[Constraint, ...] = ()
    question: str = ""
    goals: tuple[Formula, ...] = ()
    content: Hashable = None

    @property
    def formula(self) -> Formula:
        """All of its constraints together."""
        return conj(*(constraint.formula for constraint in self.constraints))


@dataclass(frozen=True)
class Group:
    """Readings with one meaning: the first of them, how many there are, and whether the model's best is among them."""

    reading: Grounded
    count: int = 1
    has_best: bool = False


@dataclass(frozen=True)
class Vote:
    """What became of the samples: groups, the largest first, and why the samples without a meaning have none.

    Of the `wanted` samples fewer are asked for once the others can change nothing, or where the model is `sure` of its
    first reading.
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
        """More than half of all samples wanted have one meaning; where the model's best has another, three quarters."""
        if not self.groups:
            return False
        needed = (0.5 if self.groups[0].has_best else 0.75) * self.wanted
        return self.sure or self.groups[0].count > needed

    @property
    def over(self) -> bool:
        """The samples that are still out could change nothing."""
        most = max((group.count for group in self.groups), default=0)
        return self.decided or 2 * (most + self.wanted - self.asked) <= self.wanted

    def __str__(self) -> str:
        counts = ", ".join(str(group.count) for group in self.groups) or "none"
        failed = f"; {len(self.failed)} had no meaning here" if self.failed else ""
        return f"{self.asked} of {self.wanted} readings asked for, by meaning: {counts}{failed}"


def count(vote: Vote, reading: Grounded, same: Same) -> Vote:
    """The vote with one more reading in it, the model's best first; `same` proves two formulas equivalent."""
    groups, best = list(vote.groups), not vote.groups  # the first that has a meaning here
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
MAX_CHARACTERS = 500  # of a question that a model asks


def _asked(question: str) -> QuestionError:
    return QuestionError(shortened(plain_text(question), MAX_CHARACTERS))


def unclear(vote: Vote) -> QuestionError:
    """What the model asks itself; without a majority the readings to choose from, or why there is none."""
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
    """Task and constraints as a person would say them."""
    rules = [read_back(constraint.formula) for constraint in reading.constraints]
    return "; ".join([part for part in (f"“{reading.task}”" if reading.task else "", *rules) if part])


def left_out(words: Sequence[str]) -> QuestionError:
    quoted = ", ".join(f"“{word}”" for word in words)
    return QuestionError(
        f"I do not know what to do about {quoted}. Please say that part in another way, or leave it out."
    )


def added(constraint: Constraint) -> QuestionError:
    return QuestionError(
        f"I understood also that {read_back(constraint.formula)}. You have not named all of that: please say it if you "
        "mean it."
    )


def otherwise(findings: Sequence[str], reading: Grounded) -> QuestionError:
    """What I would do is not what the words say, as far as I can see."""
    goals = "; ".join(momentary(goal, default_phrase) for goal in reading.goals)
    meant = "; ".join(filter(None, (_in_words(reading), f"in the end: {goals}" if goals else "")))
    return QuestionError(
        f"I am not sure that I understand: {'; '.join(findings)}. Do you mean: {meant}? Please say it in another way."
    )


def conflict(constraints: Sequence[Constraint]) -> QuestionError:
    """Constraints that cannot all be kept, as few as possible."""
    if len(constraints) == 1:
        return QuestionError(f"“{constraints[0].words}” cannot be done here. What should I do instead?")
    quoted = " and ".join(f"“{constraint.words}”" for constraint in constraints)
    return QuestionError(f"I cannot do all of this together: {quoted}. Which should I leave out?")
