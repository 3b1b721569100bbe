"""Problems and errors of policy programs, and the bounds on their time and memory.

The bounds hold for hostile programs too; realistic programs stay far below them.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llm_planner.errors import LlmPlannerError

if TYPE_CHECKING:
    from llm_planner.programs.interpreter import SkillCall


@dataclass(frozen=True, order=True)
class Problem:
    """One problem and its place; `line` and `column` count from 1 and are 0 if the problem has no place.

    `person_can_answer` marks problems that rewriting cannot fix, such as a missing object: ask the person instead.
    """

    line: int
    column: int
    message: str
    person_can_answer: bool = False

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}" if self.line else self.message


class ProgramError(LlmPlannerError):
    """Program that may not run; `problems` are all problems found, sorted by line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("; ".join(map(str, self.problems)))

    @property
    def person_can_answer(self) -> bool:
        """Whether the person can answer every problem."""
        return all(problem.person_can_answer for problem in self.problems)


class OutOfReachError(ProgramError):
    """Program whose `call` names, as its argument `parameter`, an object that the arm cannot reach from its place."""

    def __init__(self, problems: Iterable[Problem], call: SkillCall, parameter: str) -> None:
        super().__init__(problems)
        self.call, self.parameter = call, parameter


class RunError(ProgramError):
    """Program that stopped at run time, with one problem at the running line."""

    def __init__(self, problem: Problem) -> None:
        super().__init__([problem])


class NothingFoundError(RunError):
    """Query without a match in the scene; the message names what was searched for."""


def problem_at(node: ast.AST, message: str, person_can_answer: bool = False) -> Problem:
    """Create a problem at the position of `node`."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
    return Problem(line, column, message, person_can_answer)


def stopped(node: ast.AST, message: str) -> RunError:
    """Create the error of a program that stops at `node`."""
    return RunError(problem_at(node, message))


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return ` (did you mean "..."?)` for the choice closest to `word`, or "" if no choice is similar."""
    close = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.6)
    return f' (did you mean "{close[0]}"?)' if close else ""


def one_of(choices: Iterable[str]) -> str:
    """List the valid choices as a phrase."""
    return ", ".join(choices) or "nothing"


MAX_PROGRAM_CHARACTERS = 10_000
MAX_COMMAND_CHARACTERS = 2_000
MAX_NESTING = 40  # depth of the syntax tree; with MAX_CALL_DEPTH it stays below Python's recursion limit
MAX_BRACKETS = 30  # nested brackets, counted before parsing
MAX_CALL_DEPTH = 8  # depth of nested function calls
MAX_NUMBER = 1e9  # magnitude of any number; lengths [m] and counts stay far below
MAX_ITEMS = 1_000  # items of a list or tuple
MAX_TEXT = 1_000  # characters of a string
MAX_VALUE_SIZE = 5_000  # parts of a nested list, counted recursively
MAX_EVALUATIONS = 50_000  # evaluated nodes between two skill calls
MAX_TOTAL_EVALUATIONS = 400_000  # evaluated nodes in one run of a program
MAX_SKILL_CALLS = 200  # skill calls in one run of a program
MAX_CHECKS = 50_000  # nodes that the checker visits
