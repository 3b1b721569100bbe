"""Evaluator of expressions and variable scopes of a running policy program.

The evaluator walks the syntax tree, bounds every value and counts every node against a budget.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm_planner.programs.functions import BUILTINS, QUERIES, BuiltinError, Query, View, same_list
from llm_planner.programs.problems import (
    MAX_EVALUATIONS,
    MAX_ITEMS,
    MAX_NUMBER,
    MAX_TEXT,
    MAX_TOTAL_EVALUATIONS,
    MAX_VALUE_SIZE,
    NothingFoundError,
    RunError,
    problem_at,
    stopped,
)
from llm_planner.programs.signatures import Binding, Signature, bind, value_problems
from llm_planner.programs.values import (
    ARITHMETIC,
    Found,
    Point,
    Value,
    can_combine,
    is_number,
    length,
    result_length,
    size,
    type_name,
)


@dataclass
class Scope:
    """Variables by name, with an optional outer scope; `own` names are local even before assignment."""

    variables: dict[str, Value] = field(default_factory=dict)
    outer: Scope | None = None
    own: frozenset[str] = frozenset()

    def read(self, node: ast.Name) -> Value:
        """Return the value of a variable; raise RunError if it has none."""
        if node.id in self.variables:
            return self.variables[node.id]
        if self.outer is None or node.id in self.own:
            raise stopped(node, f"the variable {node.id!r} has no value yet")
        return self.outer.read(node)


def assign(target: ast.expr, value: Value, scope: Scope) -> None:
    """Assign `value` to a name, or item by item to a tuple of names; raise RunError if the counts differ."""
    if isinstance(target, ast.Name):
        scope.variables[target.id] = value
        return
    assert isinstance(target, ast.Tuple)  # the parser allows nothing else
    if not isinstance(value, (list, tuple, str)):
        raise stopped(target, f"{type_name(value)} cannot be taken apart into {len(target.elts)} names")
    if len(value) != len(target.elts):
        raise stopped(target, f"{len(value)} values cannot be given to {len(target.elts)} names")
    for item, part in zip(target.elts, value, strict=True):
        assign(item, part, scope)


_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
# Evaluation budget that a query costs; expensive queries cost more.
_QUERY_COST = 20
_DEAR_QUERIES = {"line_points": 2_000, "circle_points": 2_000}


class Evaluator:
    """Evaluator of expressions in the current `view`; `call_function` runs one of the program's own functions.

    It takes the call, its positional and its keyword arguments.
    """

    def __init__(
        self, view: View, functions: Mapping[str, ast.FunctionDef], call_function: Callable[..., Value]
    ) -> None:
        self.view = view
        self.evaluations = 0  # evaluated nodes since the last skill call
        self.total = 0  # evaluated nodes since the program began
        self._functions = functions
        self._call_function = call_function

    def charge(self, node: ast.AST, cost: int) -> None:
        """Count work against the budget; raise RunError when the budget is exceeded."""
        self.evaluations += cost
        self.total += cost
        if self.evaluations > MAX_EVALUATIONS or self.total > MAX_TOTAL_EVALUATIONS:
            raise stopped(node, "the program computes for too long without moving; it may be in an endless loop")

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """Evaluate an expression; raise RunError if it has no value."""
        self.charge(node, 1)
        evaluate = getattr(self, f"_{type(node).__name__.lower()}")
        return evaluate(node, scope)

    def _constant(self, node: ast.Constant, scope: Scope) -> Value:
        return node.value

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        return scope.read(node)

    def _list(self, node: ast.List, scope: Scope) -> Value:
        return self._bounded(node, [self.value(item, scope) for item in node.elts])

    def _tuple(self, node: ast.Tuple, scope: Scope) -> Value:
        return self._bounded(node, tuple(self.value(item, scope) for item in node.elts))

    def _ifexp(self, node: ast.IfExp, scope: Scope) -> Value:
        return self.value(node.body if self.value(node.test, scope) else node.orelse, scope)

    def _boolop(self, node: ast.BoolOp, scope: Scope) -> Value:
        stops_at = isinstance(node.op, ast.Or)
        result = None
        for item in node.values:
            result = self.value(item, scope)
            if bool(result) is stops_at:
                break
        return result

    def _unaryop(self, node: ast.UnaryOp, scope: Scope) -> Value:
        operand = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return not operand
        if not isinstance(operand, (int, float)):
            raise stopped(node, f"only a number has a sign, not {type_name(operand)}")
        return -operand if isinstance(node.op, ast.USub) else +operand

    def _binop(self, node: ast.BinOp, scope: Scope) -> Value:
        return self.combine(node, node.op, self.value(node.left, scope), self.value(node.right, scope))

    def combine(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        """Compute `left op right`, checking the length of the result before building it."""
        symbol, compute = ARITHMETIC[type(op)]
        if not can_combine(symbol, left, right):
            raise stopped(node, f"{symbol} cannot combine {type_name(left)} and {type_name(right)}")
        if result_length(symbol, left, right) > max(MAX_ITEMS, MAX_TEXT):
            raise stopped(node, f"this would be too long; the most is {MAX_ITEMS} items, {MAX_TEXT} characters")
        try:
            return self._bounded(node, compute(left, right))
        except (ZeroDivisionError, OverflowError) as error:
            raise stopped(node, f"this cannot be computed: {error}") from error

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.value(node.left, scope)
        result: Value = True
        for op, item in zip(node.ops, node.comparators, strict=True):
            right = self.value(item, scope)
            self.charge(node, size(left, MAX_VALUE_SIZE) + size(right, MAX_VALUE_SIZE))
            try:
                result = _COMPARISONS[type(op)](left, right)
            except TypeError:
                raise stopped(node, f"{type_name(left)} and {type_name(right)} cannot be compared this way") from None
            if not result:
                break
            left = right
        return result

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        value = self.value(node.value, scope)
        if not isinstance(value, Point):
            raise stopped(node, f"only a point has .{node.attr}, not {type_name(value)}; use position(object)")
        return {"x": value.x, "y": value.y, "z": value.z}[node.attr]

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        items = self.value(node.value, scope)
        if not isinstance(items, (list, tuple, str)):
            raise stopped(node, f"only a list has items to index, not {type_name(items)}")
        if isinstance(node.slice, ast.Slice):
            return self._slice(node, node.slice, items, scope)
        index = self.value(node.slice, scope)
        if not isinstance(index, int):
            raise stopped(node, f"a list is indexed by a whole number, not {type_name(index)}")
        if not -len(items) <= index < len(items):
            raise _missing_item(node, items, index)
        return items[index]

    def _slice(self, node: ast.AST, bounds: ast.Slice, items: Sequence[Value], scope: Scope) -> Value:
        nodes = (bounds.lower, bounds.upper, bounds.step)
        parts = [None if part is None else self.value(part, scope) for part in nodes]
        if any(part is not None and not isinstance(part, int) for part in parts) or parts[2] == 0:
            raise stopped(node, "a slice takes whole numbers, and a step that is not 0")
        self.charge(node, len(items))
        part = items[slice(*parts)]
        return same_list(items, part) if isinstance(items, list) else part

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> Value:
        inner = Scope(outer=scope)
        source = self.items(node.generators[0].iter, scope)
        results: list[Value] = []
        for _ in self._comprehend(source, node.generators, inner):
            results.append(self.value(node.elt, inner))
            if len(results) > MAX_ITEMS:
                raise stopped(node, f"this list is too long; lists have at most {MAX_ITEMS} items")
        return self._bounded(node, _described(node, source, results))

    _generatorexp = _listcomp

    def _comprehend(self, source: list[Value], generators: Sequence[ast.comprehension], scope: Scope) -> Iterator[None]:
        """Assign every combination of items that passes the tests, one per iteration."""
        first, *rest = generators
        for item in source:
            assign(first.target, item, scope)
            if not all(self.value(test, scope) for test in first.ifs):
                continue
            if rest:
                yield from self._comprehend(self.items(rest[0].iter, scope), rest, scope)
            else:
                yield

    def items(self, node: ast.expr, scope: Scope) -> list[Value]:
        """Evaluate an expression to the list of items to loop over."""
        value = self.value(node, scope)
        if not isinstance(value, (list, tuple, str)):
            raise stopped(node, f"only a list can be looped over, not {type_name(value)}")
        self.charge(node, len(value))
        return same_list(value, value)

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        assert isinstance(node.func, ast.Name)  # the parser allows nothing else
        name = node.func.id
        positional, keywords = self.arguments(node, scope)
        self.charge(node, sum(map(length, positional)))
        if name in self._functions:
            return self._call_function(node, positional, keywords)
        if name in QUERIES:
            return self._ask(node, QUERIES[name], positional, keywords)
        if name in BUILTINS:
            return self._builtin(node, name, positional, keywords)
        raise stopped(node, f"there is no function {name!r} that gives a value")

    def arguments(self, node: ast.Call, scope: Scope) -> tuple[list[Value], dict[str, Value]]:
        """Evaluate the positional and keyword arguments of a call."""
        positional = [self.value(item, scope) for item in node.args]
        return positional, {str(item.arg): self.value(item.value, scope) for item in node.keywords}

    def _ask(self, node: ast.Call, query: Query, positional: list[Value], keywords: dict[str, Value]) -> Value:
        signature = query.signature
        self.charge(node, _DEAR_QUERIES.get(signature.name, _QUERY_COST))
        arguments = self.checked_arguments(node, signature, positional, keywords)
        try:
            return self._bounded(node, query.answer(self.view, *arguments.values()))
        except NothingFoundError as error:
            raise NothingFoundError(problem_at(node, error.problems[0].message, True)) from error

    def checked_arguments(
        self, node: ast.Call, signature: Signature, positional: list[Value], keywords: dict[str, Value]
    ) -> dict[str, Value]:
        """Return the arguments of a call by parameter name, with defaults; raise RunError if one does not fit."""
        binding: Binding = bind(signature, positional, list(keywords.items()))
        if binding.problems:
            raise stopped(node, binding.problems[0])
        arguments = {}
        for parameter in signature.parameters:
            value = binding.given.get(parameter.name, parameter.default)
            if parameter.name in binding.given:
                for problem in value_problems(signature, parameter, value, self.view.scene):
                    error = NothingFoundError if problem.person_can_answer else RunError
                    raise error(problem_at(node, problem.message, problem.person_can_answer))
            arguments[parameter.name] = value
        return arguments

    def _builtin(self, node: ast.Call, name: str, positional: list[Value], keywords: dict[str, Value]) -> Value:
        function = BUILTINS[name][0]
        try:
            return self._bounded(node, function(*positional, **keywords))
        except NothingFoundError as error:
            raise NothingFoundError(problem_at(node, error.problems[0].message, True)) from error
        except (BuiltinError, TypeError, ValueError, OverflowError) as error:
            raise stopped(node, f"{name} cannot take these values: {error}") from error

    def _bounded(self, node: ast.AST, value: Value) -> Value:
        """Return `value`; raise RunError if it is too large."""
        if is_number(value):
            if not abs(value) <= MAX_NUMBER:  # this form rejects NaN too
                raise stopped(node, f"the number {value:g} is larger than {MAX_NUMBER:g}")
        elif isinstance(value, (list, tuple)):
            parts = size(value, MAX_VALUE_SIZE)
            if len(value) > MAX_ITEMS or parts >= MAX_VALUE_SIZE:
                raise stopped(node, f"this list is too long; lists have at most {MAX_ITEMS} items")
            self.charge(node, parts)
        return value


def _described(node: ast.ListComp | ast.GeneratorExp, source: list[Value], results: list[Value]) -> list[Value]:
    """Keep the search description of a filtered `Found` list."""
    target = node.generators[0].target
    same = isinstance(node.elt, ast.Name) and isinstance(target, ast.Name) and node.elt.id == target.id
    if same and len(node.generators) == 1 and isinstance(source, Found):
        return Found(results, f"{source.what} that fits")
    return results


def _missing_item(node: ast.AST, items: Sequence[Value], index: int) -> RunError:
    if not isinstance(items, Found):
        return RunError(problem_at(node, f"there is no item {index} in a list of {len(items)}"))
    wanted = f"{_ordinal(index + 1)} {items.what}" if index >= 0 else f"{_ordinal(-index)} {items.what} from the end"
    if not items:
        message = f"there is no {items.what}"
    else:
        verb = "is" if len(items) == 1 else "are"
        message = f"there is no {wanted}; there {verb} only {len(items)} ({', '.join(map(str, items))})"
    return NothingFoundError(problem_at(node, message, True))


def _ordinal(n: int) -> str:
    ending = "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
