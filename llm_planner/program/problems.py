"""What can be wrong with a policy program, before it runs and while it runs."""

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
