"""What can be wrong with a policy program, before it runs and while it runs.

Bounds that keep any program, however hostile, small in time and memory. Real programs stay far below all of them.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from llm_planner.errors import LlmPlannerError


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong, and where: `line` and `column` count from 1, 0 where there is no place to name.

    `person_can_answer` marks what no rewriting can mend, such as a thing that is not on the table: ask the person.
    """

    line: int
    column: int
    message: str
    person_can_answer: bool = False

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}" if self.line else self.message


class ProgramError(LlmPlannerError):
    """A program that may not run. `problems` are all that were found, in the order of their lines."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("; ".join(map(str, self.problems)))

    @property
    def person_can_answer(self) -> bool:
        """Whether every problem is one to ask the person about."""
        return all(problem.person_can_answer for problem in self.problems)


class RunError(ProgramError):
    """A program that had to stop while running: exactly one problem, at the line that was running."""

    def __init__(self, problem: Problem) -> None:
        super().__init__([problem])


class NothingFoundError(RunError):
    """The scene holds nothing that fits; the message says what was looked for, so it can be asked about."""


def problem_at(node: ast.AST, message: str, person_can_answer: bool = False) -> Problem:
    """A problem at the place of `node` in the program."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
    return Problem(line, column, message, person_can_answer)


def stopped(node: ast.AST, message: str) -> RunError:
    """The error of a program that cannot go on at `node`."""
    return RunError(problem_at(node, message))


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """` (did you mean "..."?)` for the choice that looks like `word`, or "" where none does."""
    close = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.6)
    return f' (did you mean "{close[0]}"?)' if close else ""


def one_of(choices: Iterable[str]) -> str:
    """The valid choices as a phrase."""
    return ", ".join(choices) or "nothing"


MAX_PROGRAM_CHARACTERS = 10_000
MAX_COMMAND_CHARACTERS = 2_000
MAX_NESTING = 40  # depth of the syntax tree; with MAX_CALL_DEPTH it keeps us clear of Python's own recursion limit
MAX_BRACKETS = 30  # nested brackets, counted before the text is parsed
MAX_CALL_DEPTH = 8  # functions calling functions
MAX_NUMBER = 1e9  # magnitude of any number; metres and counts need no more, and products stay small
MAX_ITEMS = 1_000  # in a list or tuple
MAX_TEXT = 1_000  # characters in a string
MAX_VALUE_SIZE = 5_000  # parts of a nested list, counted through
MAX_EVALUATIONS = 50_000  # nodes evaluated between two skill calls
MAX_TOTAL_EVALUATIONS = 400_000  # and in the whole program
MAX_SKILL_CALLS = 200  # in one program
MAX_CHECKS = 50_000  # nodes the checker visits
