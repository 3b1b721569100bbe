"""Parser of policy programs: Python's parser and an allow-list of syntax.

The text is bounded before parsing and is never executed; `ast.parse` only builds a tree.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from llm_planner.programs.problems import (
    MAX_BRACKETS,
    MAX_NESTING,
    MAX_NUMBER,
    MAX_PROGRAM_CHARACTERS,
    MAX_TEXT,
    Problem,
    ProgramError,
    problem_at,
)

_STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Break, ast.Continue, ast.Pass)
_FUNCTIONS = (ast.FunctionDef, ast.Return)
_EXPRESSIONS = (
    ast.Call, ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.List, ast.Tuple,
    ast.Subscript, ast.Slice, ast.ListComp, ast.GeneratorExp, ast.Attribute,
)  # fmt: skip
_PARTS = (ast.Module, ast.comprehension, ast.arguments, ast.arg, ast.keyword, ast.Load, ast.Store)
_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.UAdd, ast.USub, ast.Not, ast.And, ast.Or,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot,
)  # fmt: skip
_ALLOWED = (*_STATEMENTS, *_FUNCTIONS, *_EXPRESSIONS, *_PARTS, *_OPERATORS)
POINT_ATTRIBUTES = ("x", "y", "z")

_NAMES = {
    "Import": "an import", "ImportFrom": "an import", "Lambda": "a lambda", "Try": "try", "With": "with",
    "Global": "global", "Nonlocal": "nonlocal", "JoinedStr": "an f-string", "Dict": "a dictionary", "Set": "a set",
    "ClassDef": "a class", "AsyncFunctionDef": "async", "Await": "await", "Yield": "yield", "YieldFrom": "yield",
    "Starred": "a starred expression", "NamedExpr": "the operator :=", "Delete": "del", "Raise": "raise",
    "Assert": "assert", "DictComp": "a dictionary", "SetComp": "a set", "Pow": "the operator **",
    "MatMult": "the operator @", "LShift": "the operator <<", "RShift": "the operator >>", "BitOr": "the operator |",
    "BitAnd": "the operator &", "BitXor": "the operator ^", "Invert": "the operator ~", "Match": "match",
    "AnnAssign": "an annotation", "TryStar": "try", "AsyncFor": "async", "AsyncWith": "async",
}  # fmt: skip


@dataclass(frozen=True)
class Program:
    """Program with allowed syntax only; the checker validates its names and values."""

    text: str
    tree: ast.Module


def parse_program(text: str) -> Program:
    """Parse `text`; raise ProgramError with every construct that a policy program may not contain."""
    problems = list(_text_problems(text))
    if problems:
        raise ProgramError(problems)
    tree = _parse(text)
    problems = list(_nesting_problems(tree))
    if not problems:
        problems = [*_token_problems(text), *_Scan().scan(tree)]
    if problems:
        raise ProgramError(problems)
    return Program(text, tree)


def _text_problems(text: str) -> Iterator[Problem]:
    if len(text) > MAX_PROGRAM_CHARACTERS:
        yield Problem(0, 0, f"the program has {len(text)} characters; at most {MAX_PROGRAM_CHARACTERS} are allowed")
        return
    if not text.strip():
        yield Problem(0, 0, "the program is empty; it must call at least one skill")
    for character, name in (("\0", "a null character"), ("\\", "a backslash")):
        if character in text:
            line = text[: text.index(character)].count("\n") + 1
            yield Problem(line, 1, f"{name} is not allowed in a policy program")
    unseen = next((character for character in text if not (character.isprintable() or character in "\0\t\r\n")), "")
    if unseen:
        line = text[: text.index(unseen)].count("\n") + 1
        yield Problem(line, 1, f"the invisible character U+{ord(unseen):04X} is not allowed in a policy program")
    if _bracket_depth(text) > MAX_BRACKETS:
        yield Problem(0, 0, f"brackets are nested more than {MAX_BRACKETS} deep")


def _bracket_depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest


def _parse(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # syntax warnings about style; problems are found below
            return ast.parse(text)
    except SyntaxError as error:
        reason = error.msg.partition(";")[0]
        problem = Problem(error.lineno or 0, error.offset or 0, f"this is not valid Python: {reason}")
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        reason = str(error).partition(";")[0] or type(error).__name__
        problem = Problem(0, 0, f"the program is too deeply nested or has values too large to read ({reason})")
    raise ProgramError([problem])


def _nesting_problems(tree: ast.Module) -> Iterator[Problem]:
    """Check the depth without recursion, so that later walks may recurse."""
    stack: list[tuple[ast.AST, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_NESTING:
            yield problem_at(node, f"this is nested more than {MAX_NESTING} deep; split it into simpler statements")
            return
        stack += [(child, depth + 1) for child in ast.iter_child_nodes(node)]


def _token_problems(text: str) -> Iterator[Problem]:
    """Reject non-ASCII names: the parser would silently normalize look-alike letters."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and not token.string.isascii():
            line, column = token.start
            yield Problem(line, column + 1, f"the name {token.string!r} must be written in plain ASCII letters")


class _Scan:
    """Scan for constructs that are not allowed, tracking loops and functions."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._loops = 0
        self._in_function = False

    def scan(self, tree: ast.Module) -> list[Problem]:
        self._visit(tree)
        return self.problems

    def _add(self, node: ast.AST, message: str) -> None:
        self.problems.append(problem_at(node, message))

    def _visit(self, node: ast.AST) -> None:
        if not isinstance(node, _ALLOWED):
            kind = type(node).__name__
            self._add(node, f"{_NAMES.get(kind, kind)} is not allowed in a policy program")
            return
        check = getattr(self, f"_check_{type(node).__name__.lower()}", None)
        if check is not None:
            check(node)
        if isinstance(node, ast.FunctionDef):
            self._visit_function(node)
        elif isinstance(node, (ast.For, ast.While)):
            if node.orelse:
                self._add(node, "a loop may not have an else branch")
            self._loops += 1
            self._visit_children(node)
            self._loops -= 1
        else:
            self._visit_children(node)

    def _visit_children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if not hasattr(child, "lineno") and hasattr(node, "lineno"):  # operators take their parent's position
                child.lineno, child.col_offset = node.lineno, node.col_offset  # type: ignore[attr-defined]
            self._visit(child)

    def _visit_function(self, node: ast.FunctionDef) -> None:
        if self._in_function or self._loops:
            self._add(node, "a function may only be defined at the top level")
        outer, self._loops, self._in_function = (self._loops, self._in_function), 0, True
        self._visit_children(node)
        self._loops, self._in_function = outer

    def _name(self, node: ast.AST, name: str) -> None:
        if name.startswith("_"):
            self._add(node, f"the name {name!r} begins with an underscore, which is not allowed")

    def _check_name(self, node: ast.Name) -> None:
        self._name(node, node.id)

    def _check_arg(self, node: ast.arg) -> None:
        self._name(node, node.arg)
        if node.annotation is not None:
            self._add(node, "an annotation is not allowed in a policy program")

    def _check_attribute(self, node: ast.Attribute) -> None:
        if node.attr not in POINT_ATTRIBUTES or not isinstance(node.ctx, ast.Load):
            hint = "; to append, write items = items + [item]" if node.attr == "append" else ""
            self._add(node, f"the attribute .{node.attr} is not allowed; only a point has attributes, .x .y .z{hint}")

    def _check_tuple(self, node: ast.Tuple) -> None:
        if any(isinstance(item, ast.Slice) for item in node.elts):
            self._add(node, "a list has one index or slice, not several")

    def _check_constant(self, node: ast.Constant) -> None:
        value = node.value
        if value is not None and not isinstance(value, (str, bool, int, float)):
            self._add(node, f"a value of type {type(value).__name__} is not allowed")
        elif isinstance(value, str) and len(value) > MAX_TEXT:
            self._add(node, f"this string has {len(value)} characters; at most {MAX_TEXT} are allowed")
        elif isinstance(value, (int, float)) and not abs(value) <= MAX_NUMBER:
            self._add(node, f"this number is larger than {MAX_NUMBER:g}")

    def _check_call(self, node: ast.Call) -> None:
        if not isinstance(node.func, ast.Name):
            self._add(node, "only a function's name can be called")
        names = [keyword.arg for keyword in node.keywords]
        if None in names:
            self._add(node, "** is not allowed in a call")
        if len(set(names)) < len(names):
            self._add(node, "an argument is given twice")

    def _check_assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            self._add(node, "only one target can be assigned at a time")
        for target in node.targets:
            self._check_target(target)

    def _check_augassign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name):
            self._add(node, "only a name can be assigned to")

    def _check_for(self, node: ast.For) -> None:
        self._check_target(node.target)

    def _check_comprehension(self, node: ast.comprehension) -> None:
        self._check_target(node.target)
        if node.is_async:
            self._add(node.target, "async is not allowed in a policy program")

    def _check_target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            for item in target.elts:
                self._check_target(item)
        elif not isinstance(target, ast.Name):
            self._add(target, "only names, and tuples of names, can be assigned to")

    def _check_expr(self, node: ast.Expr) -> None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if not isinstance(node.value, ast.Call) and not is_text:
            self._add(node, "this statement does nothing; a statement calls a skill or assigns a value")

    def _check_break(self, node: ast.Break | ast.Continue) -> None:
        if not self._loops:
            self._add(node, f"{type(node).__name__.lower()} stands outside a loop")

    _check_continue = _check_break

    def _check_return(self, node: ast.Return) -> None:
        if not self._in_function:
            self._add(node, "return stands outside a function")

    def _check_functiondef(self, node: ast.FunctionDef) -> None:
        self._name(node, node.name)
        if node.decorator_list:
            self._add(node, "a decorator is not allowed in a policy program")
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            self._add(node, "a function may only have plain parameters")
        names = [argument.arg for argument in arguments.args]
        if len(set(names)) < len(names):
            self._add(node, "two parameters have the same name")
        if node.returns is not None:
            self._add(node, "an annotation is not allowed in a policy program")
        for default in arguments.defaults:
            if not isinstance(default, ast.Constant):
                self._add(default, "a default value must be a constant")
