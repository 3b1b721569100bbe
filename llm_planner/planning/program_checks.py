"""Checks of a plan against the words of its command: what it does besides, omits, swaps or does differently.

A finding goes back to the model, and becomes a question to the person if the model insists.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from llm_planner.errors import InputError
from llm_planner.language.grounding.lifting import in_si
from llm_planner.language.understanding.clauses import conditions, orders, says_if
from llm_planner.language.understanding.grounding import amounts_of
from llm_planner.language.understanding.quantifiers import cleared, every_of, piles, singles
from llm_planner.language.understanding.wording import (
    Number,
    arguments_of,
    corrects_itself,
    denied,
    exchanged,
    is_english,
    is_known_language,
    named_in,
    numbers,
    roles,
    says,
    sign,
    words_of,
)
from llm_planner.ltl.formula import Constraint, Formula
from llm_planner.ltl.phrases import listed
from llm_planner.plans.plan import PlanStep
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.scene.atoms import HELD
from llm_planner.scene.names import the
from llm_planner.scene.places import BEHIND, REGIONS, Viewpoint
from llm_planner.scene.predicates import contents
from llm_planner.scene.propositions import parse_proposition
from llm_planner.scene.scene import Scene

if TYPE_CHECKING:
    from llm_planner.planning.planned import Planned


_LITERAL = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_ASKS = re.compile(r"\b(?:if|while)\b|\bis_|\btell\(")
_PUTS = frozenset(("in", "on", "at", "beside"))


def unfaithful(
    planned: Planned, command: str, goals: Sequence[Formula], scene: Scene, viewpoint: Viewpoint = BEHIND
) -> tuple[str, ...]:
    """Return how the plan deviates from the command of a speaker at `viewpoint`, one sentence each."""
    view = _View(planned, command, goals, scene, viewpoint)
    checks = (view.denied, view.numbers, view.directions, view.order, view.every, view.condition, view.ends, view.waits,
              view.piles, view.cleared, view.roles, view.singles, view.substituted)  # fmt: skip
    return tuple(dict.fromkeys(finding for check in checks for finding in check()))


class _View:
    """A plan, its command, and the scene before it; each check yields its findings."""

    def __init__(
        self, planned: Planned, command: str, goals: Sequence[Formula], scene: Scene, viewpoint: Viewpoint
    ) -> None:
        self._planned, self._command, self._scene, self._viewpoint = planned, command, scene, viewpoint
        self._steps: tuple[PlanStep, ...] = planned.plan.steps
        self._text = planned.plan.program
        self._skills = planned.interpreter.program.skills
        self._formulas = (*goals, *(constraint.formula for constraint in planned.plan.constraints))
        self._in_formulas = {name for formula in self._formulas for name in arguments_of(formula)}
        self._used = {value for step in self._steps for value in step.arguments.values() if isinstance(value, str)}

    def denied(self) -> Iterator[str]:
        """Find steps about objects that the command excludes, unless a rule names them: the monitor checks those."""
        rules = {name for rule in self._planned.plan.constraints for name in arguments_of(rule.formula)}
        for name in sorted((denied(self._command, self._scene) & self._used) - rules):
            yield f"the command says {the(name)} only to leave it out, but a step is about it"

    def numbers(self) -> Iterator[str]:
        """Find numbers of the command that the plan lacks, and numbers of the program that the command lacks."""
        said = numbers(self._command, self._scene)
        bounds = [bound for formula in self._formulas for bound in amounts_of(formula)]
        there = [*bounds, *map(float, _LITERAL.findall(self._text)), *self._amounts(), *self._gaps()]
        for number in (one for one in said if not one.vague):
            if not number.is_among(self._counted(number, there)):
                yield f"the command says “{number.text}”, but no step has it"
        for step, name, value, unit in self._written():
            alike = [number for number in said if number.dimension in (unit, "")]
            both = sum(other for _, which, other, _ in self._written() if which == name)
            if any(one.dimension == unit for one in said) and not any(one.is_among((value, both)) for one in alike):
                yield f"{step} has {value:g} {unit}, which the command does not say"

    def _counted(self, number: Number, there: list[float]) -> list[float]:
        """Return the values that a number may match, including how often something is done."""
        calls = Counter((step.skill, *map(str, step.arguments.values())) for step in self._steps)
        if number.dimension == "things":
            skills = Counter(step.skill for step in self._steps)
            used = Counter(item.kind for item in self._scene.objects if item.name in self._used)
            others = Counter(item.kind for item in self._scene.objects if item.kind not in used)
            return [*map(float, (*skills.values(), *used.values(), *others.values(), len(self._used)))]
        if number.dimension:
            return there
        repeated: list[float] = [count for count in calls.values() if count > 1] or list(calls.values())
        repeated += [value for _, parameter, value in self._given() if parameter.unit == ""]  # nod_at("mug", 3)
        if number.text.isalpha() or re.search(rf"\b{re.escape(number.text)} times\b", self._command.lower()):
            return repeated
        return [*there, *repeated]

    def _written(self) -> Iterator[tuple[PlanStep, str, float, str]]:
        """Iterate over numbers in steps that the program writes out, in SI units, without the defaults of skills."""
        literals = list(map(float, _LITERAL.findall(self._text)))
        for step, parameter, value in self._given():
            if value != parameter.default and any(math.isclose(value, one) for one in literals):
                yield step, parameter.name, *in_si(value, parameter.unit)

    def _given(self) -> Iterator[tuple[PlanStep, Parameter, float]]:
        """Iterate over numbers in steps, in the units of their parameters."""
        for step in self._steps:
            for parameter in self._skills[step.skill].parameters:
                value = step.arguments.get(parameter.name)
                if parameter.type == "number" and isinstance(value, int | float):
                    yield step, parameter, float(value)

    def _amounts(self) -> Iterator[float]:
        """Iterate over amounts in steps, and their sums over several steps, in SI units."""
        sums: Counter[str] = Counter()
        for step, parameter, value in self._given():
            amount, _ = in_si(value, parameter.unit)
            yield amount
            sums[f"{step.skill} {parameter.name}"] += amount  # type: ignore[assignment]
        yield from map(float, sums.values())

    def _gaps(self) -> Iterator[float]:
        """Iterate over free gaps [m] between objects whose centres are placed at the written distances."""
        if "point" not in self._text:
            return
        moved = {thing for thing, _ in self._pairs() if thing in self._scene.names}
        for name in moved:
            for size in self._scene.find(name).size[:2]:
                yield from (float(one) - size for one in _LITERAL.findall(self._text))

    def directions(self) -> Iterator[str]:
        """Find sides, and the nearest and farthest, that the program swaps.

        A program that places objects at points may put them on any side, and so may one that clears a side.
        """
        evidence = f"{self._text} {' '.join(map(str, self._formulas))}"
        anywhere = "point" in self._text or any(cleared(self._command, self._scene, self._viewpoint))
        pairs = {} if anywhere else {"left": ("left", "right"), "top": ("top", "bottom")}
        for quantity, (more, less) in {**pairs, "away": ("farthest", "closest")}.items():
            wanted = sign(self._command, quantity)
            said, other = (more, less) if wanted > 0 else (less, more)
            used = words_of(evidence)
            if wanted and other in used and said not in used:
                yield f"the command says “{said}”, but the program “{other}”"

    def order(self) -> Iterator[str]:
        """Find parts of a sequence that the plan omits or begins in another order."""
        begun, latest = dict[str, int](), dict[str, int]()
        errand, holding = 0, False
        for step in self._steps:  # what is picked up and where it is put begin together
            errand += not holding
            skill = self._skills[step.skill]
            holding = skill.fills_gripper or (holding and not skill.empties_gripper)
            for value in step.arguments.values():
                begun.setdefault(str(value), errand)
                latest[str(value)] = errand
        for order in orders(self._command, self._scene):
            there = any(name in self._text or name in self._in_formulas for name in order.later)
            if order.to_do and order.later.isdisjoint(begun) and not there:
                yield f"the command goes on with {listed([*map(the, sorted(order.later))])}, but no step is about that"
            # "The lobby and then the workshop" may need the workshop before the lobby too.
            if order.is_reversed(begun, latest if order.to_do else None):
                yield "the command tells one thing after the other, but the steps come in another order"

    def every(self) -> Iterator[str]:
        """Find objects that the plan omits although the command speaks of all."""
        names = every_of(self._command, self._scene)
        if "objects(" in self._text or not self._steps:
            return
        there = {name for item in named_in(self._command, self._scene) if item in self._scene.names
                 for name in contents(self._scene, item)}  # fmt: skip
        if there or (self._scene.building and "in" in words_of(self._command)):
            return  # "all blocks in the bowl" means those that are there
        left = [name for name in names if name not in self._text and name not in self._in_formulas]
        if left and len(left) < len(names):
            yield f"the command speaks of all, but no step is about {' and '.join(map(the, left))}"

    def piles(self) -> Iterator[str]:
        """Find a number of towers that the plan does not build: "two towers of two blocks each"."""
        ons = [(thing, where) for thing, where in self._pairs() if where in self._scene.names]
        bases = {where for _, where in ons} - {thing for thing, _ in ons}
        for number, what in piles(self._command, self._scene):
            if len(bases) != number:
                yield f"the command speaks of {number} {what}, but the steps build {len(bases)}"

    def cleared(self) -> Iterator[str]:
        """Find things in a place to be cleared that stay there, or that are brought there."""
        moved = dict(self._pairs())
        for place, things in cleared(self._command, self._scene, self._viewpoint):
            if brought := [thing for thing, where in moved.items() if where == place]:
                yield f"the command clears the {place}, but steps bring {listed([*map(the, brought)])} there"
            elif left := [thing for thing in things if thing not in moved]:
                yield f"the command clears the {place}, but no step is about {listed([*map(the, left)])}"

    def condition(self) -> Iterator[str]:
        """Find a condition of the command that the program does not check."""
        if not is_english(self._command) or not says_if(self._command):
            return
        timed = any(
            {"->", "W", "U", "R", "M"} & {*str(formula).replace("(", " ").split()} for formula in self._formulas
        )
        if not (_ASKS.search(self._text) or timed):
            yield "the command has a condition, but the program asks for none"
        wanted = conditions(self._command, self._scene)
        nodes = ast.walk(ast.parse(self._text))
        branches = [one for one in nodes if isinstance(one, ast.If) and not isinstance(one.test, ast.BoolOp)]
        for condition in wanted:
            for branch in branches:
                asked, done, otherwise = (_strings(part) for part in (branch.test, branch.body, branch.orelse))
                is_it = asked & condition.names or (
                    condition.link in ("if", "unless") and not condition.names and len(wanted) == len(branches) == 1
                )
                holds = _asks_whether(branch.test) ^ bool(condition.main & (otherwise - done))
                if is_it and condition.main & (done | otherwise) and holds != condition.holds:
                    yield "the program has the condition of the command the other way round"

    def ends(self) -> Iterator[str]:
        """Find final places of objects that differ from the command."""
        if not is_known_language(self._command, self._scene):
            return
        pairs: dict[str, str] = {}
        holding, was_told, under = self._scene.held, dict[str, bool](), set[str]()
        for step in self._steps:
            skill = self._skills[step.skill]
            taken = [a.arguments[0] for a in skill.effects if a.predicate == "held" and not a.negated]
            if taken:
                holding = str(step.arguments.get(taken[0], ""))
            for effect in skill.effects:
                if effect.predicate in _PUTS and effect.arguments[0] == HELD and len(effect.arguments) > 1:
                    where = step.arguments.get(effect.arguments[1])
                    if not isinstance(where, str) or not holding:
                        continue
                    in_formulas = {holding, where} <= self._in_formulas
                    told = where not in REGIONS or says(self._command, where) or in_formulas
                    if not told and (was_told.get(holding) or holding in under):
                        yield f"{the(holding)} ends at the {where}, which the command does not say"
                    was_told[holding] = told
                    pairs[holding] = where
                    under.add(where)
        for thing, where in exchanged(tuple(pairs.items()), self._command, self._scene):
            yield f"{the(thing)} comes to {the(where)}, but the command names that with another thing"

    def roles(self) -> Iterator[str]:
        """Find objects that the command wants moved but the plan ignores, and swapped objects and destinations."""
        if corrects_itself(self._command) or not is_known_language(self._command, self._scene):
            return
        taken, places = roles(self._command, self._scene)
        for step in sorted(self._lost(taken)):
            yield f"the command speaks of {the(step)}, but no step is about it"
        for thing, where in self._pairs():
            if thing in places and where in taken:
                yield f"{the(thing)} comes to {the(where)}, but the command has {the(where)} put to {the(thing)}"

    def _lost(self, names: Iterable[str]) -> set[str]:
        """Return those of the names that leave no trace in the plan and are not excluded by the command."""
        kinds = {item.name: item.kind for item in self._scene.objects}
        used = {*self._used, self._scene.held}
        asked = "objects()" in self._text or "tell(" in self._text
        used |= {one for one in names if self._used & {*contents(self._scene, one)}}  # "the bowl from the right table"
        return {name for name in {*names} - used - self._in_formulas - denied(self._command, self._scene)
                if not asked and not self._is_written(name) and not self._is_written(kinds[name])}  # fmt: skip

    def _is_written(self, word: str) -> bool:
        return re.search(rf"""["']{re.escape(word)}["']""", self._text) is not None

    def singles(self) -> Iterator[str]:
        """Find kinds of which the command mentions one object but the plan uses more."""
        named = {*named_in(self._command, self._scene)}
        kinds = {item.name: item.kind for item in self._scene.objects}
        for kind, most in singles(self._command, self._scene).items():
            found = {name for name in self._used if kinds.get(name) == kind} - named
            if len(found) > most:
                yield f"the command speaks of one {kind}, but steps are about {' and '.join(map(the, sorted(found)))}"

    def substituted(self) -> Iterator[str]:
        """Find objects that replace a destination that the command names."""
        taken, places = roles(self._command, self._scene)
        known = {*named_in(self._command, self._scene), *taken, *places}
        places_used = {where for _, where in self._pairs() if where in self._scene.names}
        if lost := self._lost(places):
            for name in sorted((places_used & self._used) - known):
                yield f"{the(name)} has the place of {' and '.join(map(the, sorted(lost)))}, which the command names"

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """Iterate over the objects that steps move and their destinations."""
        holding = self._scene.held
        for step in self._steps:
            for effect in self._skills[step.skill].effects:
                values = [step.arguments.get(name, name) for name in effect.arguments]
                if effect.predicate == "held" and not effect.negated:
                    holding = str(values[0])
                elif effect.predicate in _PUTS and len(values) > 1:
                    yield holding if values[0] == HELD else str(values[0]), str(values[1])

    def waits(self) -> Iterator[str]:
        """Find waiting times that the command does not mention, in steps that do nothing else."""
        said = {*words_of(self._command)}
        if not is_english(self._command) or numbers(self._command, self._scene) or self._formulas:
            return
        for step in self._steps:
            skill = self._skills[step.skill]
            timed = any(parameter.unit == "s" for parameter in skill.parameters)
            if timed and not skill.effects and not any(word.startswith(step.skill) for word in said):
                yield f"the command does not speak of {step}"


def _strings(part: ast.AST | Sequence[ast.AST]) -> set[str]:
    """Return the text constants in a part of a program."""
    nodes = [part] if isinstance(part, ast.AST) else part
    found = (inner for node in nodes for inner in ast.walk(node))
    return {one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def _asks_whether(test: ast.AST) -> bool:
    """Return whether a test of a program is true where the state holds; `is_clear` asks whether nothing is there."""
    turns = sum(isinstance(node, ast.Not | ast.NotEq | ast.NotIn) for node in ast.walk(test))
    turns += sum(isinstance(node, ast.Name) and node.id == "is_clear" for node in ast.walk(test))
    return turns % 2 == 0


def check_skills(constraints: Sequence[Constraint], skills: Sequence[Signature]) -> None:
    """Raise InputError if `did(...)` names a skill that is not in `skills` or that takes no object."""
    known = {skill.name: skill for skill in skills}
    possible = ", ".join(name for name, skill in known.items() if skill.takes_a_thing)
    for name in sorted({name for one in constraints for name in one.formula.propositions}):
        item = parse_proposition(name)
        if item.predicate == "did" and item.arguments[0] not in known:
            raise InputError(f"{name!r}: this robot has no skill {item.arguments[0]}; it has: {', '.join(known)}")
        if item.predicate == "did" and not known[item.arguments[0]].takes_a_thing:
            raise InputError(
                f"{name!r}: {known[item.arguments[0]]} is not done with {item.arguments[1]!r} in the first place; "
                f"did(...) can speak of: {possible}"
            )
