"""What the person is asked when a command is not understood well enough: always in plain words, never in logic."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.errors import QuestionError
from llm_planner.language.plain_text import plain_text, shortened
from llm_planner.language.understanding.vote import Grounded, Vote
from llm_planner.temporal.clauses import momentary
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.phrases import default_phrase
from llm_planner.temporal.words import read_back

MAX_OPTIONS = 3
MAX_CHARACTERS = 500  # of a question that a model asks


def _asked(question: str) -> QuestionError:
    return QuestionError(shortened(plain_text(question), MAX_CHARACTERS))


def unclear(vote: Vote) -> QuestionError:
    """What the model asks itself; without a majority the readings to choose from, or why there is none."""
    if vote.decided:
        return _asked(vote.groups[0].reading.question)
    readings = [group.reading for group in vote.groups if not group.reading.question][:MAX_OPTIONS]
    if not vote.groups:
        return QuestionError(f"I cannot tell what this means here: {vote.failed[0]}. Please say it in another way.")
    if not readings:
        return _asked(vote.groups[0].reading.question)
    if len(readings) == 1:
        return QuestionError(f"I am not sure that I understand. Do you mean: {_in_words(readings[0])}?")
    options = "; ".join(f"{number}) {_in_words(reading)}" for number, reading in enumerate(readings, 1))
    return QuestionError(f"I can read this in more than one way. Which do you mean? {options}")


def _in_words(reading: Grounded) -> str:
    """Task and constraints as a person would say them."""
    rules = [read_back(constraint.formula) for constraint in reading.constraints]
    return "; ".join([part for part in (f"“{reading.task}”" if reading.task else "", *rules) if part])


def left_out(words: Sequence[str]) -> QuestionError:
    quoted = ", ".join(f"“{word}”" for word in words)
    return QuestionError(
        f"I do not know what to do about {quoted}. Please say that part in another way, or leave it out."
    )


def added(constraint: Constraint) -> QuestionError:
    return QuestionError(
        f"I understood also that {read_back(constraint.formula)}. You have not named all of that: please say it if you "
        "mean it."
    )


def otherwise(findings: Sequence[str], reading: Grounded) -> QuestionError:
    """What I would do is not what the words say, as far as I can see."""
    goals = "; ".join(momentary(goal, default_phrase) for goal in reading.goals)
    meant = "; ".join(filter(None, (_in_words(reading), f"in the end: {goals}" if goals else "")))
    return QuestionError(
        f"I am not sure that I understand: {'; '.join(findings)}. Do you mean: {meant}? Please say it in another way."
    )


def conflict(constraints: Sequence[Constraint]) -> QuestionError:
    """Constraints that cannot all be kept, as few as possible."""
    if len(constraints) == 1:
        return QuestionError(f"“{constraints[0].words}” cannot be done here. What should I do instead?")
    quoted = " and ".join(f"“{constraint.words}”" for constraint in constraints)
    return QuestionError(f"I cannot do all of this together: {quoted}. Which should I leave out?")
