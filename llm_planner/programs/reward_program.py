"""Reward programs: the desired scene as text that is checked but never executed.

    reach(distance('red block', 'green bowl') <= 0.12, weight=2)     must hold at the end
    keep(moved('vase') <= 0.01)                                      must hold all the time

The policy program parser reads the text, which may contain only such lines. Language models write such programs well
(Yu et al., Language to Rewards for Robotic Skill Synthesis, arXiv:2306.08647).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.programs.problems import Problem, ProgramError, did_you_mean, one_of, problem_at
from llm_planner.programs.reward_terms import TERMS, Futures, Role, Term, Where
from llm_planner.programs.syntax import parse_program
from llm_planner.scene.names import the
from llm_planner.scene.places import DIRECTIONS, REGIONS
from llm_planner.scene.predicates import is_portable
from llm_planner.scene.propositions import ROBOT
from llm_planner.scene.scene import Scene

Array = NDArray[np.float64]

MAX_WISHES = 8
WEIGHTS = (0.1, 10.0)
KINDS = {"reach": "is to be so in the end", "keep": "is to be so all the way"}
_RELATIONS: dict[type[ast.cmpop], str] = {
    ast.LtE: "<=", ast.Lt: "<=", ast.GtE: ">=", ast.Gt: ">=", ast.Eq: "==",
}  # fmt: skip
_LINE = "write reach(TERM <= NUMBER) or keep(TERM <= NUMBER), with <=, >= or =="


@dataclass(frozen=True)
class Wish:
    """One line of a reward program.

    `kind` is "reach" or "keep"; the wish is that `term` of `arguments` is `relation` ("<=", ">=", "==") `target`.
    """

    kind: str
    term: Term
    arguments: tuple[Where, ...]
    relation: str
    target: float
    weight: float = 1.0

    def __str__(self) -> str:
        weight = "" if self.weight == 1.0 else f", weight={self.weight:g}"
        return f"{self.kind}({self.condition}{weight})"

    @property
    def condition(self) -> str:
        """The comparison as program text."""
        arguments = ", ".join(repr(one) if isinstance(one, str) else str(one) for one in self.arguments)
        return f"{self.term.name}({arguments}) {self.relation} {self.target:g}"

    def error(self, futures: Futures) -> Array:
        """Compute the violation (n, T) in the term's unit; 0 where the condition holds."""
        off = self.term.measure(futures, *self.arguments) - self.target
        if self.relation == "==":
            return np.abs(off)
        return np.maximum(off if self.relation == "<=" else -off, 0.0)


@dataclass(frozen=True)
class RewardProgram:
    """Checked reward program with at least one line to reach."""

    wishes: tuple[Wish, ...]

    def __str__(self) -> str:
        return "; ".join(map(str, self.wishes))

    @property
    def names(self) -> tuple[str, ...]:
        """Objects that the program names, and the robot, in order of appearance."""
        named = [one for wish in self.wishes for one, role in zip(wish.arguments, wish.term.roles, strict=True)
                 if role != "direction" and isinstance(one, str) and one not in REGIONS]  # fmt: skip
        return tuple(dict.fromkeys(named))

    @property
    def movers(self) -> tuple[str, ...]:
        """Objects that may have to be moved: the first arguments of the terms, without the robot."""
        return tuple(dict.fromkeys(str(w.arguments[0]) for w in self.wishes if w.arguments[0] != ROBOT))


def check_reward(text: str, scene: Scene) -> RewardProgram:
    """Parse the reward program in `text` and check it against `scene`; raise ProgramError with every problem found."""
    tree = parse_program(text).tree
    reader = _Reader(scene)
    wishes = [wish for statement in tree.body for wish in reader.wishes(statement)]
    problems = reader.problems
    if len(tree.body) > MAX_WISHES:
        problems.append(Problem(0, 0, f"the reward program has {len(tree.body)} lines; at most {MAX_WISHES} are read"))
    if not problems and not any(wish.kind == "reach" for wish in wishes):
        problems.append(Problem(0, 0, "nothing is to be reached; a reward program needs at least one reach(...)"))
    if problems:
        raise ProgramError(problems)
    return RewardProgram(tuple(wishes))


class _Reader:
    """Reader of reward program lines that collects their problems."""

    def __init__(self, scene: Scene) -> None:
        self.problems: list[Problem] = []
        self._scene = scene
        self._movable = _movable(scene)

    def wishes(self, statement: ast.stmt) -> Iterator[Wish]:
        """Yield the wish of one statement, or record its problems."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            self._add(statement, f"a reward program has nothing but lines of reach and keep; {_LINE}")
            return
        if call.func.id not in KINDS:
            hint = did_you_mean(call.func.id, KINDS)
            self._add(call, f"{call.func.id!r} is not a line of a reward program{hint}; {_LINE}")
            return
        weight = self._weight(call)
        if len(call.args) != 1:
            self._add(call, f"{call.func.id} takes one comparison, not {len(call.args)}; {_LINE}")
            return
        compared = self._compared(call.args[0])
        if compared is None:
            return
        wish = Wish(call.func.id, *compared, weight)
        if wish.kind == "reach" and wish.arguments[0] not in self._movable:
            self._add(
                call,
                f"reach: {the(str(wish.arguments[0]))} is not moved by this robot; what it moves: "
                f"{one_of(self._movable)}; of anything else only keep(...) can be asked",
            )
            return
        yield wish

    def _add(self, node: ast.AST, message: str, person_can_answer: bool = False) -> None:
        self.problems.append(problem_at(node, message, person_can_answer))

    def _weight(self, call: ast.Call) -> float:
        low, high = WEIGHTS
        for keyword in call.keywords:
            value = _number(keyword.value)
            if keyword.arg != "weight":
                self._add(call, f"{keyword.arg!r} is not an argument; a line may have a weight={low:g} to {high:g}")
            elif value is None or not low <= value <= high:
                self._add(
                    keyword.value, f"a weight must be a number from {low:g} to {high:g}, not {_shown(keyword.value)}"
                )
            else:
                return value
        return 1.0

    def _compared(self, node: ast.expr) -> tuple[Term, tuple[Where, ...], str, float] | None:
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in _RELATIONS:
            self._add(node, f"{_shown(node)} is not a comparison of a term with a number; {_LINE}")
            return None
        read, target = self._term(node.left), _number(node.comparators[0])
        if target is None:
            self._add(node.comparators[0], f"{_shown(node.comparators[0])} is not a number; {_LINE}")
        if read is None or target is None:
            return None
        term, arguments = read
        if not term.minimum <= target <= term.maximum:
            limits = f"{term.minimum:g} to {term.maximum:g} {term.unit}"
            self._add(node, f"{term.name} is compared with a number from {limits}, not {target:g}")
        return term, arguments, _RELATIONS[type(node.ops[0])], target

    def _term(self, node: ast.expr) -> tuple[Term, tuple[Where, ...]] | None:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in TERMS:
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else _shown(node)
            self._add(node, f"there is no term {name!r}{did_you_mean(name, TERMS)}; the terms are: {one_of(TERMS)}")
            return None
        term, given = TERMS[node.func.id], node.args
        if node.keywords or len(given) != len(term.roles):
            self._add(node, f"{term.name} takes {len(term.roles)} arguments without names: {term.usage}")
            return None
        read = [self._argument(term, role, one) for role, one in zip(term.roles, given, strict=True)]
        if any(one is None for one in read):
            return None
        arguments = tuple(one for one in read if one is not None)
        if len(set(arguments)) < len(arguments):
            self._add(node, f"{term.name} is given the same thing twice: {_shown(node)}")
            return None
        return term, arguments

    def _argument(self, term: Term, role: Role, node: ast.expr) -> Where | None:
        if role == "place" and isinstance(node, ast.Tuple):
            numbers = [_number(part) for part in node.elts]
            if len(numbers) == 2 and None not in numbers:
                return float(numbers[0] or 0.0), float(numbers[1] or 0.0)
        name = node.value if isinstance(node, ast.Constant) else None
        choices = self._choices(role)
        if isinstance(name, str) and name in choices:
            return name
        shown = f'"{name}"' if isinstance(name, str) else _shown(node)
        hint = did_you_mean(name, choices) if isinstance(name, str) else ""
        points = "; or a point (x, y) in metres" if role == "place" else ""
        message = f"{term.name}: {shown} is not a valid argument{hint}; choose one of: {one_of(choices)}{points}"
        self._add(node, message, person_can_answer=isinstance(name, str) and role != "direction")
        return None

    def _choices(self, role: Role) -> tuple[str, ...]:
        if role == "direction":
            return tuple(DIRECTIONS)
        robot = (ROBOT,) if role != "thing" and self._scene.robot is not None else ()
        regions = tuple(REGIONS) if role == "place" and self._scene.building is None else ()
        return (*self._scene.names, *robot, *regions)


def _movable(scene: Scene) -> tuple[str, ...]:
    """Return what the robot can move: itself, and portable objects (arm) or its load (mobile robot)."""
    if scene.building is not None:
        return (ROBOT, scene.held) if scene.held else (ROBOT,)
    return (ROBOT, *(item.name for item in scene.objects if is_portable(item)))


def _number(node: ast.expr) -> float | None:
    """Return the number of a constant or negated constant, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return float(node.value)
    return None


def _shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:59]}…"
