"""Retrieval of lessons for a plan: which lessons apply to which steps, as which operations, and their announcement.

Rules apply by their scope, other lessons where their slots fit. Among lessons that decide the same, the most specific
one wins, then the newest. If two contradict each other and neither is more specific, the person is asked and neither is
used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from llm_planner.corrections.edits import AddRule, Adjust, Clarify, Edit, Operation, Remove, is_of_motion
from llm_planner.corrections.preferences.binding import Case, bound, bound_rules, cases_of
from llm_planner.corrections.preferences.learning import contrary, decides
from llm_planner.corrections.preferences.preference import Occasion, Preference, Slots, State, announcement, gist
from llm_planner.corrections.situation import Situation
from llm_planner.language.correction_requests import Scope
from llm_planner.plans.plan import PlanStep


@dataclass(frozen=True)
class Use:
    """Application of a lesson to the step `step` ("" for the whole plan) with its operations for this plan."""

    lesson: Preference
    step: str
    operations: tuple[Operation, ...]

    @property
    def in_motion(self) -> bool:
        """Whether it changes motion only while its step is under way."""
        return bool(self.step) and all(map(is_of_motion, self.operations))


@dataclass(frozen=True)
class Doubt:
    """Question which of several contrary lessons applies to a case; the options are in the order of `lessons`."""

    question: Clarify
    lessons: tuple[int, ...]
    case: Slots


@dataclass(frozen=True)
class Recollection:
    """Lessons that apply to a plan made at `time` [s since the epoch]."""

    time: float
    uses: tuple[Use, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def announcement(self) -> str:
        """Announcement of the lessons: "using what you told me on 3 November: slower with mugs"."""
        return announcement([use.lesson for use in self.uses], self.time)

    def edit(self, version: int = 0) -> Edit:
        """Return the edit to apply before the plan starts; it may have no operations."""
        operations = tuple(operation for use in self.uses if not use.in_motion for operation in use.operations)
        return Edit(operations, self.announcement if operations else "", version)

    def used(self, step: str) -> tuple[int, ...]:
        """Return the ids of the lessons in force for a step."""
        return tuple(use.lesson.id for use in self.uses if use.step in ("", step))


def recall(lessons: Sequence[Preference], situation: Situation, occasion: Occasion) -> Recollection:
    """Return the lessons for the remaining steps of the plan; `occasion` gives the person and the time."""
    live = [lesson for lesson in lessons if _holds(lesson, occasion)]
    cases = cases_of(situation, occasion.user)
    uses = list(_rules(live, situation))
    doubts: list[Doubt] = []
    for step in situation.ahead:
        chosen, doubt = _chosen(live, cases[step.id].slots)
        doubts += [item for item in doubt if item.lessons not in [other.lessons for other in doubts]]
        uses += _uses(chosen, step, cases[step.id], situation)
    settled = _of_whole_plan(_without_repeats(uses), situation)
    return Recollection(occasion.time, tuple(settled), tuple(doubts))


def _holds(lesson: Preference, occasion: Occasion) -> bool:
    """Whether the lesson is learned and its scope includes the occasion."""
    if lesson.state is not State.LEARNED:
        return False
    told = lesson.provenance
    reach = {Scope.TASK: told.command == occasion.command, Scope.SESSION: told.session == occasion.session}
    return reach.get(lesson.scope, lesson.scope is Scope.ALWAYS)


def _rules(lessons: Iterable[Preference], situation: Situation) -> Iterator[Use]:
    kept = {str(constraint.formula) for constraint in situation.plan.constraints}
    for lesson in lessons:
        rules = tuple(rule for rule in bound_rules(lesson, situation.scene) if rule.formula not in kept)
        if rules:
            yield Use(lesson, "", rules)


def _chosen(lessons: Iterable[Preference], case: Slots) -> tuple[list[Preference], list[Doubt]]:
    """Return one lesson for each decision in this case, and questions about contrary lessons."""
    groups: dict[tuple[str, ...], list[Preference]] = {}
    for lesson in sorted(lessons, key=lambda one: one.slots.kind != ""):  # general lessons first
        if not isinstance(lesson.operations[0], AddRule) and lesson.slots.fit(case):
            groups.setdefault(decides(lesson.operations[0]), []).append(lesson)
    chosen, doubts = [], []
    for group in groups.values():
        closest = [item for item in group if not any(_closer(other.slots, item.slots) for other in group)]
        newest = max(closest, key=lambda item: (item.provenance.time, item.id))
        against = [item for item in closest if any(map(contrary, item.operations, newest.operations))]
        if against:
            doubts.append(_doubt((newest, *against), case))
        else:
            chosen.append(newest)
    return chosen, doubts


def _closer(one: Slots, other: Slots) -> bool:
    """Whether it has all slots of the other, and more."""
    return other != one and other.said.items() <= one.said.items()


def _doubt(lessons: Sequence[Preference], case: Slots) -> Doubt:
    offered = tuple(lessons[:3])
    question = Clarify("You told me things that do not go together; which shall I do now?", tuple(map(gist, offered)))
    return Doubt(question, tuple(lesson.id for lesson in offered), case)


def _uses(lessons: Iterable[Preference], step: PlanStep, case: Case, situation: Situation) -> Iterator[Use]:
    for lesson in lessons:
        operations = bound(lesson, step, case, situation)
        if operations:
            yield Use(lesson, step.id, operations)


def _without_repeats(uses: Sequence[Use]) -> list[Use]:
    """Remove repeated changes of the plan, and changes of removed steps."""
    gone = {item.step for use in uses for item in use.operations if isinstance(item, Remove)}
    kept: list[Use] = []
    for use in uses:
        done = [item for other in kept if not other.in_motion for item in other.operations]
        leaves_out = isinstance(use.operations[0], Remove)
        if (use.step in gone and not leaves_out) or (
            not use.in_motion and all(item in done for item in use.operations)
        ):
            continue
        kept.append(use)
    return kept


def _of_whole_plan(uses: Sequence[Use], situation: Situation) -> Iterator[Use]:
    """Merge a lesson without a case that is used in every step into one use for the whole plan."""
    ahead = {step.id for step in situation.ahead}
    told: set[int] = set()
    for use in uses:
        steps = {other.step for other in uses if other.lesson.id == use.lesson.id}
        if not (use.in_motion and use.lesson.slots.said.keys() <= {"user"} and steps == ahead):
            yield use
        elif use.lesson.id not in told:
            told.add(use.lesson.id)
            yield Use(use.lesson, "", tuple(map(_of_all_motion, use.operations)))


def _of_all_motion(operation: Operation) -> Operation:
    return replace(operation, step="") if isinstance(operation, Adjust) else operation
