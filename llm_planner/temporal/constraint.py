"""What a person asked a plan to obey."""

from __future__ import annotations

from dataclasses import dataclass

from llm_planner.temporal.formula import Formula


@dataclass(frozen=True)
class Constraint:
    """A formula and the words that it came from; a `goal` is part of the task, the others limit how it is done."""

    formula: Formula
    words: str
    goal: bool = False

    def __str__(self) -> str:
        return f"{self.words} ({self.formula})"
