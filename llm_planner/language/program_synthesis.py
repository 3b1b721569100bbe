"""From a person's words to a checked program: ask a language model, check, and hand the problems back.

Functions that a program calls and nobody has defined are asked for in turn (Code as Policies, arXiv 2209.07753).

Each definition is checked on its own as it comes, and has a repair round of its own. Depth and requests are bounded,
and functions that would call each other in a circle are refused.
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
    Exchange,
    Failure,
    LanguageModel,
    MissingFunction,
    ProgramReply,
    ProgramRequest,
    Usage,
)
from llm_planner.programs.builtins import BUILTINS
from llm_planner.programs.checker import CheckedProgram, check_program
from llm_planner.programs.problems import MAX_COMMAND_CHARACTERS, Problem, ProgramError, problem_at
from llm_planner.programs.queries import QUERIES, TELL
from llm_planner.programs.signatures import Signature, bind, call_cycle, circle_message, function_signature
from llm_planner.programs.syntax import parse_program
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.text import in_one_sentence, plain_text, shortened

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


LARGE_REPAIR_ROUNDS = 2  # a large model learns from what it is told; the embedded one has no other answer
MAX_QUESTION_CHARACTERS = 500  # of a question that a model asks; what is longer is cut
Review = Callable[[CheckedProgram], object]  # looks at a program that passed the checker; may raise ProgramError


@dataclass(frozen=True)
class Asking:
    """How a program is asked for: under which `rules` (plain words), and how many `samples` of it, drawn at
    `temperature` from `seed`.

    `spare`: the further samples are other ways only; none takes the place of a best one that may not run.
    `repair_rounds` are how often a refused answer goes back with its problems, None for what suits the model. `goals`,
    `exchanges`, `failure`, `viewpoint` and `said` are told to it (see `ProgramRequest`).
    """

    rules: tuple[str, ...] = ()
    samples: int = 1
    temperature: float = 0.8
    seed: int = 0
    spare: bool = False
    repair_rounds: int | None = None
    goals: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    failure: Failure | None = None
    viewpoint: Viewpoint = BEHIND
    said: str = ""

    def rounds(self, model: LanguageModel) -> int:
        """How often a refused answer goes back to `model`."""
        if self.repair_rounds is not None:
            return self.repair_rounds
        return LARGE_REPAIR_ROUNDS if model.is_large else REPAIR_ROUNDS


@dataclass(frozen=True)
class Synthesis:
    """A program that may run, how sure the model was of it, what it cost, and the answers refused on the way.

    `confidence` is the model's, in [0, 1], or None where it gives none. `others` are further samples that may run too.
    """

    program: CheckedProgram
    confidence: float | None
    usage: Usage
    refused: tuple[Attempt, ...] = ()
    others: tuple[CheckedProgram, ...] = ()


def clean_command(text: str) -> str:
    """The command as a person sees it: escape sequences, control characters and surplus spaces are gone.

    Raises QuestionError when nothing was said that could be a command, InputError when far too much was.
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
    command: str,
    scene: Scene,
    skills: Sequence[Signature],
    model: LanguageModel,
    review: Review = lambda program: None,
    asking: Asking | None = None,
) -> Synthesis:
    """The program that `model` writes for `command`, checked against `skills` and `scene`, and passed by `review`.

    Functions that it leaves undefined are asked for in turn. Where the best sample may not run, another that may takes
    its place unless it is `spare`; where none may, the best goes back with its problems. Raises QuestionError when the
    model asks, or when only the person can mend what is wrong; ProgramError when the answer to the last repair round
    may not run either; LanguageModelError and InputError as they come.
    """
    return _Dialogue(clean_command(command), scene, skills, model, review, asking or Asking()).synthesis()


class _Dialogue:
    """One command's questions to the model, and what they cost."""

    def __init__(
        self,
        command: str,
        scene: Scene,
        skills: Sequence[Signature],
        model: LanguageModel,
        review: Review,
        asking: Asking,
    ) -> None:
        self._request = ProgramRequest(
            command,
            scene,
            (),
            asking.rules,
            asking.samples,
            asking.temperature,
            asking.seed,
            skills=tuple(skills),
            goals=asking.goals,
            exchanges=asking.exchanges,
            failure=asking.failure,
            viewpoint=asking.viewpoint,
            said=asking.said,
        )
        self._skills, self._model, self._review = skills, CountedModel(model), review
        self._rounds, self._spare = asking.rounds(model), asking.spare
        self._hierarchy = Hierarchy(self._define, (skill.name for skill in skills))

    def synthesis(self) -> Synthesis:
        refused: tuple[Attempt, ...] = ()
        while True:
            reply = self._ask(replace(self._request, attempts=refused))
            passed, failed = self._sift((reply.program, *reply.others))
            if passed and not (self._spare and 0 in failed):
                confidence = None if 0 in failed else reply.confidence
                return Synthesis(passed[0], confidence, self._model.usage, refused, passed[1:])
            refused = (*refused, Attempt(reply.program, tuple(map(str, failed[0].problems)), reasoning=reply.reasoning))
            if len(refused) > self._rounds:
                raise as_question(failed[0]) from failed[0]

    def _sift(self, texts: Sequence[str]) -> tuple[tuple[CheckedProgram, ...], Mapping[int, ProgramError]]:
        """The programs that may run, without repetitions, and what is wrong with the others, by position."""
        passed: dict[str, CheckedProgram] = {}
        failed: dict[int, ProgramError] = {}
        for position, text in enumerate(texts):
            if text in texts[:position]:
                continue
            try:
                passed[text] = self._checked(text)
            except ProgramError as error:
                failed[position] = error
        return tuple(passed.values()), failed

    def _checked(self, text: str) -> CheckedProgram:
        program = check_program(self._hierarchy.complete(text), self._skills, self._request.scene)
        self._review(program)
        return program

    def _define(self, function: MissingFunction, attempts: tuple[Attempt, ...]) -> str:
        return self._ask(replace(self._request, attempts=attempts, function=function, samples=1)).program

    def _ask(self, request: ProgramRequest) -> ProgramReply:
        """The model's answer; raises QuestionError where that is a question."""
        reply = self._model.write_program(request)
        question = shortened(plain_text(reply.question), MAX_QUESTION_CHARACTERS)
        if question:
            raise QuestionError(question)
        return reply


def as_question(error: ProgramError) -> ProgramError | QuestionError:
    """What only a person can mend is a question, in words that do not speak of lines and skills."""
    if not error.person_can_answer:
        return error
    messages = dict.fromkeys(problem.message.partition(": ")[2] or problem.message for problem in error.problems)
    return QuestionError(f"{in_one_sentence(map(_sentence, messages))} What should I do instead?")


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]
