"""Program synthesis: a language model writes a program, the checker checks it, and its problems go back to the model.

Undefined functions that a program calls are requested one by one (Code as Policies, arXiv 2209.07753). Each definition
is checked on its own and has its own repair round. Depth and number of requests are bounded, and functions that call
each other in a cycle are refused.
"""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.model import (
    Attempt,
    CountedModel,
    LanguageModel,
    MissingFunction,
    ProgramReply,
    ProgramRequest,
    Usage,
)
from llm_planner.programs.checker import CheckedProgram, check_program
from llm_planner.programs.functions import BUILTINS, QUERIES, TELL
from llm_planner.programs.problems import MAX_COMMAND_CHARACTERS, Problem, ProgramError, problem_at
from llm_planner.programs.signatures import bind, function_signature, recursion_problem
from llm_planner.programs.syntax import parse_program
from llm_planner.text import in_one_sentence, plain_text, shortened

MAX_DEPTH = 4  # of requested functions that call further undefined functions
MAX_REQUESTS = 12  # for functions per command, repairs included
REPAIR_ROUNDS = 1  # per function, and per program
_LIKENESS = 0.85  # similarity to a known name from which a name counts as misspelt rather than as a new function

Define = Callable[[MissingFunction, tuple[Attempt, ...]], str]  # returns "" if the model has no definition
Functions = dict[str, ast.FunctionDef]


class Hierarchy:
    """Resolver of undefined functions in the programs of one command.

    `define` asks the model for a definition; `skills` are the names of the skills that programs may call.
    """

    def __init__(self, define: Define, skills: Iterable[str]) -> None:
        self._define = define
        self._known = frozenset([*skills, TELL, *QUERIES, *BUILTINS])
        self._requests = 0

    def complete(self, text: str) -> str:
        """Return the program with the missing definitions in front, callees before callers.

        A function that the model does not define stays undefined; the checker reports it. Raises ProgramError with
        all problems if the program or a definition cannot be used.
        """
        tree = parse_program(text).tree
        functions: Functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        texts: list[str] = []
        self._fill(tree, text, (), functions, texts)
        return "\n".join([*reversed(texts), text])

    def _fill(self, tree: ast.AST, text: str, chain: tuple[str, ...], functions: Functions, texts: list[str]) -> None:
        """Request every undefined function that `tree` calls; `chain` lists the functions that led to it."""
        declined: set[str] = set()
        for call in self._missing(tree, functions):
            name = _called(call)
            if name in functions or name in declined:  # requested meanwhile
                continue
            line = text.splitlines()[call.lineno - 1]
            definition = self._ask(
                MissingFunction(name, _parameters(call), line, text), call, (*chain, name), functions
            )
            if not definition:
                declined.add(name)
                continue
            texts.append(definition)
            node = parse_program(definition).tree.body[0]
            assert isinstance(node, ast.FunctionDef)  # `_problems` has checked it
            functions[name] = node
            self._fill(node, definition, (*chain, name), functions, texts)

    def _ask(self, wanted: MissingFunction, call: ast.Call, chain: tuple[str, ...], functions: Functions) -> str:
        """Return a definition without problems, or "" if the model has none."""
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
        """Yield the problems of a definition that are visible without running it."""
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
        if circle := recursion_problem(node.name, together):
            yield circle
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
        """Find calls of undefined functions, except misspelt names and Python builtins."""
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
    """Return all calls by name in text order."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _called(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Name)  # `_calls` returns no others
    return call.func.id


def _parameters(call: ast.Call) -> tuple[str, ...]:
    """Name the parameters after the arguments of the call."""
    names: list[str] = []
    for position, argument in enumerate(call.args, start=1):
        name = argument.id if isinstance(argument, ast.Name) else f"argument{position}"
        names.append(name if name not in names else f"{name}{position}")
    return (*names, *(str(keyword.arg) for keyword in call.keywords))


LARGE_REPAIR_ROUNDS = 2  # large models use the feedback; the embedded model has no other answer
MAX_QUESTION_CHARACTERS = 500  # of a model's question; longer ones are cut
Review = Callable[[CheckedProgram], object]  # of a program that passed the checker; may raise ProgramError


@dataclass(frozen=True)
class Synthesis:
    """Program that may run, with its cost and the answers refused on the way.

    `confidence` is the model's, in [0, 1], or None if it gives none. `others` are further samples that may run.
    """

    program: CheckedProgram
    confidence: float | None
    usage: Usage
    refused: tuple[Attempt, ...] = ()
    others: tuple[CheckedProgram, ...] = ()


def clean_command(text: str) -> str:
    """Remove escape sequences, control characters and surplus spaces from a command.

    Raises:
        QuestionError: The text is empty or has no words.
        InputError: The text has more than `MAX_COMMAND_CHARACTERS` characters.
    """
    if len(text) > MAX_COMMAND_CHARACTERS:
        raise InputError(
            f"the command has {len(text)} characters; at most {MAX_COMMAND_CHARACTERS} are read: "
            "say it more briefly, or give it in parts"
        )
    command = plain_text(text)
    if not command:
        raise QuestionError("What should I do? The command is empty; say something like: put the red block in the bowl")
    if sum(character.isalpha() for character in command) < 2:
        raise QuestionError(f"What do you mean by “{command[:60]}”? I need words, for instance: pick up the red block")
    return command


def write_program(
    request: ProgramRequest,
    model: LanguageModel,
    review: Review = lambda program: None,
    spare: bool = False,
) -> Synthesis:
    """Write a program for the command of `request` that passes the checker and `review`.

    If the best sample fails, the next sample that passes replaces it. If none passes, the best goes back to the model
    with its problems, to a large model `LARGE_REPAIR_ROUNDS` times.

    Args:
        request: Request, in which earlier attempts and a function to define have no effect.
        model: Language model; it also defines the functions that a program leaves undefined.
        review: Further check of a program that passed the checker; raises ProgramError.
        spare: Whether further samples are only alternatives, so that none replaces a best sample that cannot run.

    Raises:
        QuestionError: The model asks a question, or only the person can solve the problems.
        ProgramError: The answer of the last repair round does not pass.
        LanguageModelError: The model cannot answer.
        InputError: The command is too long.
    """
    return _Dialogue(replace(request, command=clean_command(request.command)), model, review).synthesis(spare)


class _Dialogue:
    """Requests to the model for one command."""

    def __init__(self, request: ProgramRequest, model: LanguageModel, review: Review) -> None:
        self._request, self._model, self._review = request, CountedModel(model), review
        self._hierarchy = Hierarchy(self._define, (skill.name for skill in request.skills))

    def synthesis(self, spare: bool) -> Synthesis:
        refused: tuple[Attempt, ...] = ()
        while True:
            reply = self._ask(replace(self._request, attempts=refused))
            passed, failed = self._sift((reply.program, *reply.others))
            if passed and not (spare and 0 in failed):
                confidence = None if 0 in failed else reply.confidence
                return Synthesis(passed[0], confidence, self._model.usage, refused, passed[1:])
            refused = (*refused, Attempt(reply.program, tuple(map(str, failed[0].problems)), reasoning=reply.reasoning))
            if len(refused) > (LARGE_REPAIR_ROUNDS if self._model.is_large else REPAIR_ROUNDS):
                raise as_question(failed[0]) from failed[0]

    def _sift(self, texts: Sequence[str]) -> tuple[tuple[CheckedProgram, ...], Mapping[int, ProgramError]]:
        """Return the distinct programs that may run, and the errors of the others by position."""
        passed: dict[str, CheckedProgram] = {}
        failed: dict[int, ProgramError] = {}
        for position, text in enumerate(texts):
            if text in texts[:position]:
                continue
            try:
                program = check_program(self._hierarchy.complete(text), self._request.skills, self._request.scene)
                self._review(program)
                passed[text] = program
            except ProgramError as error:
                failed[position] = error
        return tuple(passed.values()), failed

    def _define(self, function: MissingFunction, attempts: tuple[Attempt, ...]) -> str:
        return self._ask(replace(self._request, attempts=attempts, function=function, samples=1)).program

    def _ask(self, request: ProgramRequest) -> ProgramReply:
        """Ask the model; raise QuestionError if it answers with a question."""
        reply = self._model.write_program(request)
        question = shortened(plain_text(reply.question), MAX_QUESTION_CHARACTERS)
        if question:
            raise QuestionError(question)
        return reply


def as_question(error: ProgramError) -> ProgramError | QuestionError:
    """Turn an error that only the person can solve into a question without code terms; return others unchanged."""
    if not error.person_can_answer:
        return error
    messages = dict.fromkeys(problem.message.partition(": ")[2] or problem.message for problem in error.problems)
    sentences = (message[:1].upper() + message[1:] for message in messages)
    return QuestionError(f"{in_one_sentence(sentences)} What should I do instead?")
