"""Type inference of expressions and the check of call arguments.

Inference reports everything that is certainly wrong in an expression, without evaluating it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping

from llm_planner.programs.functions import BUILTIN_KEYWORDS, BUILTINS, QUERIES, TELL
from llm_planner.programs.problems import (
    MAX_CHECKS,
    MAX_NUMBER,
    MAX_TEXT,
    Problem,
    ProgramError,
    did_you_mean,
    one_of,
    problem_at,
)
from llm_planner.programs.signatures import PARAMETER_TYPES, Parameter, Signature, bind, value_problems
from llm_planner.programs.values import (
    ANY,
    ARITHMETIC,
    BOOL,
    MAX_LITERALS,
    NUMBER,
    TEXT,
    Point,
    Type,
    constant,
    join,
    join_all,
    list_of,
    shallow,
)
from llm_planner.scene.scene import Scene


def argument_problems(signature: Signature, parameter: Parameter, given: Type, scene: Scene) -> Iterator[Problem]:
    """Yield the certain problems with an argument of type `given`; they have no program position yet."""
    if given.name == "any" or parameter.type == "any" or (given.name == "none" and parameter.default is None):
        return
    if given.literals is not None:
        for value in sorted(given.literals, key=repr):
            yield from value_problems(signature, parameter, value, scene)
    elif given.name not in PARAMETER_TYPES[parameter.type].fitting:
        expected = PARAMETER_TYPES[parameter.type].words or f"a {parameter.type}"
        yield Problem(0, 0, f"{signature.name}: {parameter.name} must be {expected}, not {given}")
    elif parameter.type == "objects":
        element = Parameter(f"every item of {parameter.name}", "object")
        for item in given.items:
            yield from argument_problems(signature, element, item, scene)


Variables = dict[str, Type]
CallFunction = Callable[[ast.Call, list[Type], dict[str, Type]], Type]

_LISTS = ("list", "tuple", "text")


class Inference:
    """Type inference over expressions that collects `problems`.

    `call_function` checks a call of one of the program's own functions; `movers` names those that move the robot or
    speak.
    """

    def __init__(
        self,
        scene: Scene,
        skills: Mapping[str, Signature],
        functions: Mapping[str, ast.FunctionDef],
        movers: frozenset[str],
        call_function: CallFunction,
    ) -> None:
        self.problems: set[Problem] = set()
        self._scene = scene
        self._skills = skills
        self._functions = functions
        self._movers = movers
        self._call_function = call_function
        self._checks = 0

    def add(self, node: ast.AST, message: str, person_can_answer: bool = False) -> None:
        self.problems.add(problem_at(node, message, person_can_answer))

    def charge(self, node: ast.AST) -> None:
        """Count work; raise ProgramError when the program is too complicated to check."""
        self._checks += 1
        if self._checks > MAX_CHECKS:
            raise ProgramError([*self.problems, problem_at(node, "the program is too complicated to check")])

    def infer(self, node: ast.expr, variables: Variables) -> Type:
        """Infer the type of an expression."""
        self.charge(node)
        inferred: Type = getattr(self, f"_{type(node).__name__.lower()}")(node, variables)
        return inferred

    def items(self, node: ast.expr, variables: Variables) -> Type:
        """Infer the element type of an expression to loop over."""
        whole = self.infer(node, variables)
        if whole.name not in (*_LISTS, "any"):
            self.add(node, f"only a list can be looped over, not {whole}")
        return whole.element

    def assign(self, target: ast.expr, value: Type, variables: Variables) -> None:
        """Assign a type to a name, or item by item to a tuple of names."""
        if isinstance(target, ast.Name):
            variables[target.id] = shallow(value)
        elif isinstance(target, ast.Tuple):
            count = len(target.elts)
            if value.name == "tuple" and len(value.items) != count:
                self.add(target, f"{len(value.items)} values cannot be given to {count} names")
            elif value.name not in (*_LISTS, "any"):
                self.add(target, f"{value} cannot be taken apart into {count} names")
            exact = value.name == "tuple" and len(value.items) == count
            parts = value.items if exact else (value.element,) * count
            for item, part in zip(target.elts, parts, strict=True):
                self.assign(item, part, variables)

    def _constant(self, node: ast.Constant, variables: Variables) -> Type:
        return constant(node.value)

    def _name(self, node: ast.Name, variables: Variables) -> Type:
        if node.id in variables:
            return variables[node.id]
        if node.id in self._callables:
            self.add(node, f"{node.id!r} is a function; call it with its arguments in parentheses")
        else:
            hint = did_you_mean(node.id, variables)
            self.add(node, f"the variable {node.id!r} has no value{hint}; defined here: {one_of(sorted(variables))}")
        return ANY

    @property
    def _callables(self) -> list[str]:
        return [*self._skills, TELL, *QUERIES, *BUILTINS, *self._functions]

    def _list(self, node: ast.List, variables: Variables) -> Type:
        return list_of(join_all(tuple(self.infer(item, variables) for item in node.elts)))

    def _tuple(self, node: ast.Tuple, variables: Variables) -> Type:
        return Type("tuple", tuple(self.infer(item, variables) for item in node.elts))

    def _ifexp(self, node: ast.IfExp, variables: Variables) -> Type:
        self.infer(node.test, variables)
        return join(self.infer(node.body, variables), self.infer(node.orelse, variables))

    def _boolop(self, node: ast.BoolOp, variables: Variables) -> Type:
        return join_all(tuple(self.infer(item, variables) for item in node.values))

    def _unaryop(self, node: ast.UnaryOp, variables: Variables) -> Type:
        operand = self.infer(node.operand, variables)
        if isinstance(node.op, ast.Not):
            return BOOL
        if operand.name not in ("number", "bool", "any"):
            self.add(node, f"only a number has a sign, not {operand}")
        if isinstance(node.op, ast.USub) and operand.name == "number" and operand.literals is not None:
            return Type("number", literals=frozenset(-value for value in operand.literals))
        return NUMBER

    def _binop(self, node: ast.BinOp, variables: Variables) -> Type:
        return self.combine(node, node.op, self.infer(node.left, variables), self.infer(node.right, variables))

    def combine(self, node: ast.AST, op: ast.operator, left: Type, right: Type) -> Type:
        """Infer the type of `left op right`."""
        numbers = ("number", "bool")
        if "any" in (left.name, right.name):
            return ANY
        if left.name in numbers and right.name in numbers:
            return _fold(op, left, right, NUMBER)
        texts = ("text", "object")
        if isinstance(op, ast.Add) and left.name in texts and right.name in texts:
            return _fold(op, left, right, TEXT)
        if isinstance(op, ast.Add) and left.name == right.name and left.name in ("list", "tuple"):
            return list_of(join(left.element, right.element)) if left.name == "list" else ANY
        if isinstance(op, ast.Mult) and {left.name, right.name} & {*_LISTS} and {left.name, right.name} & {*numbers}:
            return ANY
        self.add(node, f"{left} and {right} cannot be combined this way")
        return ANY

    def _compare(self, node: ast.Compare, variables: Variables) -> Type:
        types = [self.infer(item, variables) for item in (node.left, *node.comparators)]
        for op, left, right, item in zip(node.ops, types, types[1:], node.comparators, strict=False):
            if isinstance(op, (ast.Is, ast.IsNot)) and not (isinstance(item, ast.Constant) and item.value is None):
                self.add(item, '"is" compares with None only; use == and !=')
            elif isinstance(op, (ast.In, ast.NotIn)) and right.name not in (*_LISTS, "object", "any"):
                self.add(item, f'"in" looks into a list, not into {right}')
            elif isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) and not _ordered(left, right):
                self.add(item, f"{left} and {right} have no order")
        return BOOL

    def _attribute(self, node: ast.Attribute, variables: Variables) -> Type:
        value = self.infer(node.value, variables)
        if value.name not in ("point", "any"):
            self.add(node, f"only a point has .{node.attr}, not {value}; use position(object).{node.attr}")
        return NUMBER

    def _subscript(self, node: ast.Subscript, variables: Variables) -> Type:
        items = self.infer(node.value, variables)
        if items.name not in (*_LISTS, "object", "any"):
            self.add(node, f"only a list has items to index, not {items}")
        if isinstance(node.slice, ast.Slice):
            for part in (node.slice.lower, node.slice.upper, node.slice.step):
                if part is not None:
                    self._index(part, variables)
            return list_of(items.element) if items.name in ("list", "tuple") else items
        index = self._index(node.slice, variables)
        if items.name == "tuple" and index.literals is not None:
            by_index = dict(zip(range(-len(items.items), len(items.items)), items.items * 2, strict=True))
            return join_all(tuple(by_index.get(k, ANY) for k in index.literals))
        return items.element

    def _index(self, node: ast.expr, variables: Variables) -> Type:
        index = self.infer(node, variables)
        fractional = index.literals is not None and any(isinstance(value, float) for value in index.literals)
        if index.name not in ("number", "bool", "any") or fractional:
            self.add(node, f"a list is indexed by a whole number, not {index}")
        return index

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, variables: Variables) -> Type:
        inner = dict(variables)
        for generator in node.generators:
            self.assign(generator.target, self.items(generator.iter, inner), inner)
            for test in generator.ifs:
                self.infer(test, inner)
        return list_of(self.infer(node.elt, inner))

    _generatorexp = _listcomp

    def _call(self, node: ast.Call, variables: Variables) -> Type:
        assert isinstance(node.func, ast.Name)  # the parser allows nothing else
        name = node.func.id
        positional, keywords = self.arguments(node, variables)
        if name in self._skills or name in self._movers or name == TELL:
            does = "speaks" if name == TELL else "moves the robot"
            self.add(node, f"{name} {does} and gives no value; call it in a statement of its own")
            return ANY
        return self.called(node, name, positional, keywords)

    def arguments(self, node: ast.Call, variables: Variables) -> tuple[list[Type], dict[str, Type]]:
        """Infer the types of a call's positional and keyword arguments."""
        positional = [self.infer(item, variables) for item in node.args]
        return positional, {str(item.arg): self.infer(item.value, variables) for item in node.keywords}

    def called(self, node: ast.Call, name: str, positional: list[Type], keywords: dict[str, Type]) -> Type:
        """Infer the return type of a call of a function, query or built-in."""
        if name in self._functions:
            return self._call_function(node, positional, keywords)
        if name in QUERIES:
            given = self.check_arguments(node, QUERIES[name].signature, positional, keywords)
            return _answer_type(name, given)
        if name in BUILTINS:
            return self._builtin(node, name, positional, keywords)
        hint = did_you_mean(name, self._callables)
        moves, asks = one_of(self._skills), one_of([*QUERIES, *BUILTINS, *self._functions])
        self.add(node, f"there is no function {name!r}{hint}; skills: {moves}; functions: {asks}")
        return ANY

    def check_arguments(
        self, node: ast.Call, signature: Signature, positional: list[Type], keywords: dict[str, Type]
    ) -> Mapping[str, Type]:
        """Record every problem with the arguments of a call; return the argument types by parameter name."""
        binding = bind(signature, positional, list(keywords.items()))
        for message in binding.problems:
            self.add(node, message)
        places = dict(zip((parameter.name for parameter in signature.parameters), node.args, strict=False))
        places.update({str(item.arg): item.value for item in node.keywords})
        for parameter in signature.parameters:
            if parameter.name in binding.given:
                for problem in argument_problems(signature, parameter, binding.given[parameter.name], self._scene):
                    self.add(places.get(parameter.name, node), problem.message, problem.person_can_answer)
        return binding.given

    def _builtin(self, node: ast.Call, name: str, positional: list[Type], keywords: dict[str, Type]) -> Type:
        _, fewest, most, returns = BUILTINS[name]
        if not fewest <= len(positional) <= most:
            count = f"{fewest}" if fewest == most else f"{fewest} to {most}"
            self.add(node, f"{name} takes {count} arguments, not {len(positional)}")
        allowed = BUILTIN_KEYWORDS.get(name, ())
        for keyword in keywords:
            if keyword not in allowed:
                self.add(node, f"{name} has no parameter {keyword!r}; it has: {one_of(allowed)}")
        if positional and name not in ("range", "abs", "round", "min", "max"):
            for item, given in zip(node.args, positional, strict=True):
                if given.name not in (*_LISTS, "object", "any"):
                    self.add(item, f"{name} takes a list, not {given}")
        return _builtin_type(name, positional, returns)


def _ordered(left: Type, right: Type) -> bool:
    """Return whether values of the two types can be compared with `<` and `>`."""
    groups = (("number", "bool"), ("text", "object"), ("list",), ("tuple",))
    return "any" in (left.name, right.name) or any(left.name in group and right.name in group for group in groups)


def _fold(op: ast.operator, left: Type, right: Type, result: Type) -> Type:
    """Combine the known constants of two operands; return `result` if they are unknown, too many or too large."""
    if left.literals is None or right.literals is None or len(left.literals) * len(right.literals) > MAX_LITERALS:
        return result
    values = set()
    for a, b in itertools.product(left.literals, right.literals):
        try:
            value = ARITHMETIC[type(op)][1](a, b)
        except (ArithmeticError, TypeError):
            return result
        if len(value) > MAX_TEXT if isinstance(value, str) else not abs(value) <= MAX_NUMBER:
            return result
        values.add(value)
    return Type(result.name, literals=frozenset(values))


def _answer_type(name: str, given: Mapping[str, Type]) -> Type:
    """Infer the return type of query `name` from its argument types by parameter name."""
    if name == "pairs":
        element = given["items"].element if "items" in given else ANY
        return list_of(Type("tuple", (element, element)))
    if name == "point":
        values = [tuple(given[axis].literals or ()) for axis in ("x", "y") if axis in given]
        if [len(value) for value in values] == [1, 1] and all(isinstance(v[0], (int, float)) for v in values):
            return Type("point", literals=frozenset([Point(values[0][0], values[1][0])]))
    return QUERIES[name].signature.returns


def _builtin_type(name: str, positional: list[Type], returns: Type) -> Type:
    """Infer the return type of built-in `name`; `returns` is the type declared in `BUILTINS`."""
    elements = tuple(item.element for item in positional)
    if not positional:
        return list_of(ANY) if name == "list" else returns
    if name in ("sorted", "reversed", "list"):
        return list_of(elements[0])
    if name == "enumerate":
        return list_of(Type("tuple", (NUMBER, elements[0])))
    if name == "zip":
        return list_of(Type("tuple", elements))
    if name in ("min", "max"):
        return elements[0] if len(positional) == 1 else join_all(tuple(positional))
    return returns
