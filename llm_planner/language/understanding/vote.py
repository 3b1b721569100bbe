"""Equivalence voting: readings that are proved to mean the same are one, and the majority decides.

After self-consistency over formal meanings instead of texts, as in SELP (arXiv 2409.19471); here equivalence is proved
over the letters that can occur in the scene, and a vote without a majority is a question.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula, conj

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
