"""Checks of an edit against the words that it was read from, whoever read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Cancel,
    Change,
    Edit,
    Forget,
    Insert,
    LiftRule,
    Move,
    Operation,
    Rebind,
    Remove,
    Replace,
    Shift,
)
from llm_planner.corrections.situation import Situation
from llm_planner.errors import InputError
from llm_planner.language.correction_requests import MOTION_QUANTITIES, Scope
from llm_planner.language.understanding.clauses import conditions, orders
from llm_planner.language.understanding.constraint_checks import is_quoted, opposed, unnamed
from llm_planner.language.understanding.grounding import amounts_of
from llm_planner.language.understanding.wording import (
    arguments_of,
    is_known_language,
    named_in,
    numbers,
    says,
    sign,
    speaks_of_manner,
    words_of,
)
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import PlanStep
from llm_planner.scene.places import REGIONS
from llm_planner.scene.propositions import check_proposition, parse_proposition

TOLERANCE = 0.01  # of a ratio

# Words that point at an object without its name
_POINTS = re.compile(r"\b(?:one|ones|it|him|her|that|this|there|here|next|nearest|big|small|left|right)\b")
_REST = frozenset(("rest", "others", "else", "all", "everything", "only", "them", "both", "every", "each", "just"))
_LASTING = frozenset(re.findall(
    r"\w+", "always every everytime whenever ever never now future today remember generally usually each until session "
            "next forever permanently all day keep anytime never again henceforth onwards time"
))  # fmt: skip
_FORGETS = frozenset(re.findall(r"\w+", "forget forgot drop unlearn lesson lessons taught told learned remember"))
_HALVES = {"half": 0.5, "quarter": 0.25, "third": 1 / 3, "double": 2.0, "twice": 2.0}
_NO_MORE = "change what was asked for, and no more"
_SPOKEN_SHIFTS = ((1, "left"), (2, "up"))  # axis of an offset and word for its positive direction


def check_faithful(edit: Edit, situation: Situation) -> None:
    """Raise InputError if the edit deviates from its words; the message is for the model.

    Rules must refer to the scene. The edit may not add, omit, reverse or enlarge anything.
    """
    check = _Faithfulness(edit, situation)
    checks = (check.rules, check.brought, check.quantities, check.shifts, check.amounts, check.errands, check.order,
              check.lost, check.besides)  # fmt: skip
    for finding in (finding for one in checks for finding in one()):
        raise InputError(finding)


def unsaid_amount(edit: Edit, situation: Situation) -> str:
    """Return what is wrong with the amounts of an edit: one in its words that it does not contain; "" for nothing."""
    return next(_Faithfulness(edit, situation).amounts(), "")


class _Faithfulness:
    """Edit with its words and the situation it applies to."""

    def __init__(self, edit: Edit, situation: Situation) -> None:
        self._edit, self._situation, self._words = edit, situation, edit.words
        self._operations, self._scene = edit.operations, situation.scene
        asked = (situation.asked.question,) if situation.asked else ()
        self._said = (edit.words, *(one.words for one in situation.edits), *asked)
        self._steps = {step.id: step for step in situation.plan.steps}
        self._here = {*self._scene.names, *(self._scene.building.names if self._scene.building else ())}
        self._word_set, self._named = {*words_of(edit.words)}, named_in(edit.words, self._scene)
        self._is_known = is_known_language(edit.words, self._scene)
        self._points = _POINTS.search(edit.words.lower()) is not None

    def rules(self) -> Iterator[str]:
        for one in self._operations:
            if not isinstance(one, AddRule):
                continue
            formula = parse(one.formula)
            for name in formula.propositions:
                check_proposition(parse_proposition(name), self._scene)
            if not is_quoted(Constraint(formula, one.words), " . ".join(self._said)):
                yield f"“{one.words}” is not said: give the person's own words for a rule, and no rule nobody asked for"
            names = unnamed(sorted({*arguments_of(formula)} & self._here), self._said, self._scene)
            if names and self._is_known and not self._points:
                yield f"the person does not speak of {', '.join(map(repr, names))}: {_NO_MORE}"
            yield from opposed(formula, self._words)

    def brought(self) -> Iterator[str]:
        """Check the objects and rooms that steps receive."""
        spoken_of = {value for step in self._steps.values() for value in step.arguments.values()}
        values = (value for value in self._values() if value in self._here and value not in spoken_of)
        if not self._points and (names := unnamed(values, self._said, self._scene)):
            yield f"the person does not speak of {', '.join(map(repr, names))}: {_NO_MORE}"

    def _values(self) -> Iterator[str]:
        for one in self._operations:
            listed = one.arguments.values() if isinstance(one, Insert | Replace) else ()
            values = (one.value,) if isinstance(one, Rebind) else tuple(listed)
            yield from (value for value in values if isinstance(value, str))

    def quantities(self) -> Iterator[str]:
        for one in self._operations:
            if not isinstance(one, Adjust):
                continue
            wanted, old = sign(self._words, one.quantity), self._now(one)
            new = one.value * old if one.change is Change.SCALE else old + one.value
            given = one.value if one.change is Change.SET else new
            sure = one.change is not Change.SET or one.step
            if wanted and sure and (given > old) != (wanted > 0) and given != old:
                more = "more" if wanted > 0 else "less"
                yield f"the words are for {more} {one.quantity}, but the edit is for the other"

    def _now(self, one: Adjust) -> float:
        """Return the present value of the quantity, as far as a step or its default gives it."""
        step = self._steps.get(one.step)
        value = step.arguments.get(one.quantity) if step else None
        if isinstance(value, int | float):
            return float(value)
        return MOTION_QUANTITIES[one.quantity].normal if one.quantity in MOTION_QUANTITIES else 1.0

    def shifts(self) -> Iterator[str]:
        for one in self._operations:
            for axis, word in _SPOKEN_SHIFTS:
                if isinstance(one, Shift) and sign(self._words, word) * one.offset[axis] < 0:
                    yield f"the words are for the other side than an offset of {one.offset[axis]:g} m"

    def amounts(self) -> Iterator[str]:
        """Check that the edit contains all amounts in the words, absolute or relative to present values."""
        own = [amount for one in self._operations for amount in self._own_amounts(one)]
        if not own:
            return
        there = [float(step) for step in self._steps if step.isdigit()]
        there += [value for step in self._steps.values() for value in _numbers(step.arguments.values())]
        for number in numbers(self._words, self._scene):
            if not number.vague and number.dimension != "things" and not number.is_among([*there, *own]):
                yield f"the person says “{number.text}”, but the edit has no such number"
        shares = [share for word, share in _HALVES.items() if word in self._word_set]
        speeds = [one.value for one in self._operations if isinstance(one, Adjust) and one.quantity == "speed"]
        if len(shares) == 1 and speeds:
            (share,) = shares
            meant = (share, abs(1.0 - share), 1.0 + share)  # "half speed", "half as fast again"
            if not any(abs(one - speed) < TOLERANCE for one in meant for speed in speeds):
                yield f"the person says how fast, but the edit has a speed of {speeds[0]:g}"

    def _own_amounts(self, one: Operation) -> Iterator[float]:
        match one:
            case Adjust():
                old, value = self._now(one), one.value
                yield from (value, abs(value - old), abs(1.0 - value), 1.0 / value if value else 0.0)
                yield from (old * value, abs(old * value - old), abs(old + value))
            case Shift():
                yield from (abs(value) for value in one.offset)
                yield sum(value * value for value in one.offset) ** 0.5
            case Insert() | Replace():
                yield from _numbers(one.arguments.values())
            case Rebind():
                yield from _numbers((one.value,))
            case AddRule():
                yield from amounts_of(parse(one.formula))

    def errands(self) -> Iterator[str]:
        """Check that the edit removes or changes only errands that the words mention, or the one under way."""
        ahead = {step.id for step in self._situation.ahead}
        removed = {one.step for one in self._operations if isinstance(one, Remove)}
        changed = {one.step for one in self._operations if isinstance(one, Rebind | Replace)}
        if (not self._is_known and not self._named) or not _REST.isdisjoint(self._word_set):
            return
        groups = [group for group in self._situation.errands if ahead & {step.id for step in group}]
        spoken_of = [group for group in groups if self._is_named(group)]
        for place, group in enumerate(groups):
            ids = {step.id for step in group} & ahead
            free = group in spoken_of or (place == 0 and not (ids <= removed and spoken_of))
            left_out, otherwise = ids <= removed, ids & changed
            values = [one.value for one in self._operations if isinstance(one, Rebind) and one.step in ids]
            told = all(
                isinstance(v, str) and (says(self._words, v) or v not in (*REGIONS, *self._here)) for v in values
            )
            if not free and (left_out or (otherwise and not told)):
                yield f"the person does not speak of {group[0]}: {_NO_MORE}"

    def order(self) -> Iterator[str]:
        """Check that what the words mention moves earlier or later."""
        moves = [one for one in self._operations if isinstance(one, Move)]
        groups = [group for group in self._situation.errands if self._is_named(group)]
        if not moves or not groups or not self._is_known:
            return
        before = list(self._steps)
        after = list(before)
        for one in moves:
            after = [step for step in after if step not in one.steps]
            at = after.index(one.before) if one.before in after else len(after)
            after[at:at] = one.steps
        if all(_ahead_of(group, before) == _ahead_of(group, after) for group in groups):
            yield "what the person speaks of comes neither earlier nor later then"

    def lost(self) -> Iterator[str]:
        """Check that the edit is about at least one of the named objects and rooms."""
        about: list[str] = [*self._values(), self._edit.about]
        order = ["", *self._steps, ""]
        for one in self._operations:
            match one:
                case AddRule():
                    about += arguments_of(parse(one.formula))
                case Remove() | Rebind() | Replace() | Adjust(step=str()):
                    at = order.index(one.step, 1) if one.step in self._steps else 0
                    errand = {step.id for step in self._situation.errand_of(one.step)} if at else ()
                    after = next((step for step in order[at + 1 :] if step not in errand), "")
                    about += (*self._names_of(one.step), *self._names_of(after))  # "and go on with the yellow one"
                case Insert():
                    before = order[order.index(one.before, 1) - 1]  # "once you are in the kitchen"
                    about += (*self._names_of(one.before), *self._names_of(before))
        binds = any(isinstance(one, AddRule | Rebind | Replace | Insert) for one in self._operations)
        binds = binds and _REST.isdisjoint(self._word_set)
        if binds and self._named and not {*self._named} & {*about}:
            yield f"the person speaks of {', '.join(map(repr, self._named))}, but the edit is about something else"

    def besides(self) -> Iterator[str]:
        """Check that the edit drops or remembers nothing without words for it."""
        if not self._is_known:
            return
        kinds = [type(one) for one in self._operations]
        if Cancel in kinds and len(kinds) > 1:
            yield "cancel drops the whole plan, and what else is to be done with it: give one or the other"
        if kinds == [Cancel] and speaks_of_manner(self._words):
            yield "the person speaks of how to move, and the edit drops the plan"
        if Forget in kinds and len(kinds) > 1 and self._word_set.isdisjoint(_FORGETS):
            yield "the person does not speak of forgetting what was taught"
        if self._edit.scope in (Scope.SESSION, Scope.ALWAYS) and self._word_set.isdisjoint(_LASTING):
            yield 'the person does not say that it is to last: the scope is "once"'

    def _is_named(self, group: Sequence[PlanStep]) -> bool:
        names = [name for name in self._group_names(group) if name in self._here]
        return len(unnamed(names, (self._words,), self._scene)) < len({*names})

    def _group_names(self, group: Sequence[PlanStep]) -> list[str]:
        goals = [name for step in group for name in self._situation.destinations_of(step)]
        return [name for name in (self._situation.subject(tuple(group)), *goals) if name]

    def _names_of(self, step: str) -> list[str]:
        return self._group_names(self._situation.errand_of(step)) if step in self._steps else []


def _ahead_of(group: Sequence[PlanStep], order: list[str]) -> set[str]:
    ids = [step.id for step in group if step.id in order]
    return {*order[: order.index(ids[0])]} if ids else set()


def _numbers(values: Iterable[object]) -> Iterator[float]:
    for value in values:
        if isinstance(value, int | float):
            yield float(value)


def contradicts(edit: Edit, words: str, situation: Situation) -> bool:
    """Return whether an edit contradicts the order of things in its words, or does regardless what they condition."""
    if not any(isinstance(one, AddRule | LiftRule) for one in edit.operations) and any(
        one.link == "unless" or (one.link == "if" and one.names) for one in conditions(words, situation.scene)
    ):
        return True
    after = [(name, place) for place, names in enumerate(_names_after(edit, situation)) for name in names]
    first, latest = dict(reversed(after)), dict(after)
    return any(order.is_reversed(first, latest if order.to_do else None) for order in orders(words, situation.scene))


def _names_after(edit: Edit, situation: Situation) -> list[set[str]]:
    """Return what each step is about that the edit leaves to do, without the step under way."""
    now = situation.running
    steps = {step.id: {*map(str, step.arguments.values())} for step in situation.ahead}
    order = [*steps]
    for number, one in enumerate(edit.operations):
        match one:
            case Insert(_, arguments, before):
                steps[f"new {number}"] = {*map(str, arguments.values())}
                order.insert(order.index(before) if before in order else len(order), f"new {number}")
            case Move(moved, before):
                order = [step for step in order if step not in moved]
                at = order.index(before) if before in order else len(order)
                order[at:at] = [step for step in moved if step in steps]
            case Remove(step) if step in order:
                order.remove(step)
            case Replace(step, _, arguments) if step in steps:
                steps[step] = {*map(str, arguments.values())}
            case Rebind(step, _, value) if step in steps:
                steps[step] = steps[step] | {str(value)}
    return [steps[step] for step in order if now is None or step != now.id]
