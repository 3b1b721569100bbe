"""Functions that a program calls and nobody has defined are asked for in turn (Code as Policies, arXiv 2209.07753).

Each definition is checked on its own as it comes, and has a repair round of its own. Depth and requests are bounded,
and functions that would call each other in a circle are refused.
"""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping

from llm_planner.language.model import Attempt, MissingFunction
from llm_planner.program.builtins import BUILTINS
from llm_planner.program.functions import call_cycle, circle_message, function_signature
from llm_planner.program.problems import Problem, ProgramError, problem_at
from llm_planner.program.queries import QUERIES
from llm_planner.program.remarks import TELL
from llm_planner.program.signatures import bind
from llm_planner.program.syntax import parse_program

MAX_DEPTH = 4  # functions asked for by functions that were asked for
MAX_REQUESTS = 12  # for functions, in one command with all its repairs
REPAIR_ROUNDS = 1  # of one function
_LIKENESS = 0.85  # to something there is, from which on a name is a slip of the pen and not a new function

Define = Callable[[MissingFunction, tuple[Attempt, ...]], str]  # a definition, or "" where the model has none
Functions = dict[str, ast.FunctionDef]


class Hierarchy:
    """Completes the programs of one command. `define` asks the model, `skills` are the names of the skills."""

    def __init__(self, define: Define, skills: Iterable[str]) -> None:
        self._define = define
        self._known = frozenset([*skills, TELL, *QUERIES, *BUILTINS])
        self._requests = 0

    def complete(self, text: str) -> str:
        """`text` with the missing definitions before it, those called before those that call them.

        A function that the model does not define stays undefined: the checker says what there is instead. Raises
        ProgramError for a program or a definition that cannot be used, with every problem found in it.
        """
        tree = parse_program(text).tree
        functions: Functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        texts: list[str] = []
        self._fill(tree, text, (), functions, texts)
        return "\n".join([*reversed(texts), text])

    def _fill(self, tree: ast.AST, text: str, chain: tuple[str, ...], functions: Functions, texts: list[str]) -> None:
        """Ask for everything that `tree`, reached through the functions in `chain`, calls and nobody has defined."""
        declined: set[str] = set()
        for call in self._missing(tree, functions):
            name = _called(call)
            if name in functions or name in declined:  # asked for meanwhile
                continue
            line = text.splitlines()[call.lineno - 1]
            definition = self._ask(
                MissingFunction(name, _parameters(call), line, text), call, (*chain, name), functions
            )
            if not definition:
                declined.add(name)
                continue
            texts.append(definition)
            functions[name] = node = _only_function(definition)
            self._fill(node, definition, (*chain, name), functions, texts)

    def _ask(self, wanted: MissingFunction, call: ast.Call, chain: tuple[str, ...], functions: Functions) -> str:
        """A definition in which nothing is wrong, or ""."""
        attempts: tuple[Attempt, ...] = ()
        while True:
            if self._requests >= MAX_REQUESTS:
                message = f"more than {MAX_REQUESTS} functions were asked for; define them yourself, or use fewer"
                raise ProgramError([Problem(0, 0, message)])
            self._requests += 1
            definition = self._define(wanted, attempts).strip()
            if not definition:
                return ""
            problems = sorted(set(self._problems(definition, wanted, call, chain, functions)))
            if not problems:
                return definition + "\n"
            attempts = (*attempts, Attempt(definition, tuple(map(str, problems))))
            if len(attempts) > REPAIR_ROUNDS:
                raise ProgramError(Problem(0, 0, f"in the function {wanted}: {problem}") for problem in problems)

    def _problems(
        self,
        definition: str,
        wanted: MissingFunction,
        call: ast.Call,
        chain: tuple[str, ...],
        functions: Mapping[str, ast.FunctionDef],
    ) -> Iterator[Problem]:
        """Everything wrong with a definition that can be seen without running it."""
        try:
            tree = parse_program(definition).tree
        except ProgramError as error:
            yield from error.problems
            return
        for other in tree.body:
            yield from self._clashes(other, wanted, functions)
        node = tree.body[0]
        if len(tree.body) > 1 or not isinstance(node, ast.FunctionDef) or node.name != wanted.name:
            yield problem_at(node, f"this must be the one definition of {wanted} and nothing else")
            return
        yield from _arity_problems(node, call, f"{wanted.name} is called as {ast.unparse(call)}: ")
        together = {**functions, node.name: node}
        for inner in _calls(node):
            if _called(inner) in functions:
                yield from _arity_problems(functions[_called(inner)], inner)
        circle = call_cycle(node.name, together)
        if circle:
            yield problem_at(node, circle_message(circle))
        elif len(chain) >= MAX_DEPTH:
            for inner in self._missing(node, together):
                deep = f"functions may be left undefined at most {MAX_DEPTH} deep ({' calls '.join(chain)})"
                yield problem_at(inner, f"{_called(inner)!r} is not defined, and {deep}; use what there is")

    def _clashes(
        self, node: ast.stmt, wanted: MissingFunction, functions: Mapping[str, ast.FunctionDef]
    ) -> Iterator[Problem]:
        name = node.name if isinstance(node, ast.FunctionDef) else ""
        if name in self._known:
            yield problem_at(node, f"{name!r} is a skill or a function already and cannot be defined anew")
        elif name in functions and name != wanted.name:
            yield problem_at(node, f"the program has a function {name!r} already; choose another name")

    def _missing(self, tree: ast.AST, functions: Mapping[str, ast.FunctionDef]) -> list[ast.Call]:
        """Calls of what does not exist, unless it is a slip of the pen, or Python's and not ours."""
        there = [*self._known, *functions]
        return [
            call
            for call in _calls(tree)
            if (name := _called(call)) not in there
            and not hasattr(builtins, name)
            and not difflib.get_close_matches(name, there, n=1, cutoff=_LIKENESS)
        ]


def _arity_problems(node: ast.FunctionDef, call: ast.Call, introduction: str = "") -> Iterator[Problem]:
    keywords = [(str(keyword.arg), keyword.value) for keyword in call.keywords]
    for message in bind(function_signature(node), call.args, keywords).problems:
        yield problem_at(node if introduction else call, introduction + message)


def _calls(tree: ast.AST) -> list[ast.Call]:
    """All calls by name, in the order of the text."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _called(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Name)  # `_calls` gives no others
    return call.func.id


def _parameters(call: ast.Call) -> tuple[str, ...]:
    """Names for the parameters, after what the call passes."""
    names: list[str] = []
    for position, argument in enumerate(call.args, start=1):
        name = argument.id if isinstance(argument, ast.Name) else f"argument{position}"
        names.append(name if name not in names else f"{name}{position}")
    return (*names, *(str(keyword.arg) for keyword in call.keywords))


def _only_function(definition: str) -> ast.FunctionDef:
    node = parse_program(definition).tree.body[0]
    assert isinstance(node, ast.FunctionDef)  # its problems would have said so
    return node
