"""Answers to questions about the plan: what the robot does, why, and what words would change.

Only what is known is said: the words, the plan, its edits and rules, and the forecast of its steps. Which words are a
question is decided by the reader of corrections, which finds no correction in them; two exact forms are certain here.
"""

from __future__ import annotations

import re

from llm_planner.corrections.edits import Clarify, Edit, Operation
from llm_planner.corrections.references import listed
from llm_planner.corrections.reflexes import plain_words
from llm_planner.corrections.situation import Situation
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.report import foretold
from llm_planner.plans.plan import PlanStep, StepStatus

NO_PLAN_YET = "I have not been told to do anything yet"
MOST_AHEAD = 3  # further steps that are named
# “What would happen if I said ...”: the rest is not said to the robot. Read whole, it would be taken for a correction.
_SUPPOSED = re.compile(
    r"\s*what (?:(?:would|will) happen |happens )?if i (?:said|say)\b[\s,:]*(?P<words>.*?)[\s?]*", re.I
)
_ASKS = re.compile(
    r"why\b|(?:what|which|where|when|how|who)\b(?: \w+){0,2} (?:are|is|do|did|does|will|would|have|can)\b"
)


def supposed_words(words: str) -> str:
    """Return the words whose effect is asked for: “slower” of “what would happen if I said slower?”; "" for none."""
    asked = _SUPPOSED.fullmatch(words)
    return asked["words"].strip("“”\"' ") if asked else ""


def is_question(words: str) -> bool:
    """Whether words in which no correction was found ask for something, in English."""
    return words.rstrip().endswith("?") or _ASKS.match(plain_words(words)) is not None


def explanation(words: str, situation: Situation) -> str:
    """Answer a question: why the step is done if it asks why, else what is done now and next."""
    plan = situation.plan
    if not plan.steps:
        return NO_PLAN_YET if not plan.command else f"“{plan.command}” has no steps"
    step = _meant(situation)
    if plain_words(words).startswith("why"):
        return _sentences([_why(step, situation), _effects(step, situation), _edits(situation), _rules(situation)])
    return _sentences([_doing(step, situation), _effects(step, situation), _next(situation), _rules(situation)])


def supposition(words: str, edit: Edit) -> str:
    """Return the answer to “what if I said `words`” where it needs no check of the plan; "" where it does."""
    question = next((one for one in edit.operations if isinstance(one, Clarify)), None)
    if question is not None:
        return f"to “{words}” I would ask: {question.question}"
    return "" if edit.operations else f"I would hear no correction in “{words}”"


def _meant(situation: Situation) -> PlanStep:
    """Return the step under way, else the last one that has ended, else the first."""
    ended = [step for step in situation.plan.steps if step.status in (StepStatus.DONE, StepStatus.FAILED)]
    return situation.running or (ended[-1] if ended else situation.plan.steps[0])


def _doing(step: PlanStep, situation: Situation) -> str:
    steps = situation.plan.steps
    total = f" of {len(steps)}" if situation.plan.complete else ""
    state = {StepStatus.RUNNING: "I do", StepStatus.PENDING: "I wait before", StepStatus.FAILED: "I failed at"}
    why = f" ({step.message})" if step.message else ""
    did = state.get(step.status, "I have done")
    return f"{did} step {steps.index(step) + 1}{total}, {step}{why}, for “{situation.plan.command}”"


def _why(step: PlanStep, situation: Situation) -> str:
    made = [edit for edit in situation.edits if any(_names(one, step) for one in edit.operations)]
    if made:
        return f"{step} is in the plan because you corrected “{situation.plan.command}” by “{made[-1].words}”"
    return f"{step} is in the plan because you said “{situation.plan.command}”"


def _names(operation: Operation, step: PlanStep) -> bool:
    """Whether an operation gave the step the arguments that it has."""
    value = getattr(operation, "value", None)
    return getattr(operation, "step", "") == step.id and value in step.arguments.values()


def _effects(step: PlanStep, situation: Situation) -> str:
    if step.status not in (StepStatus.RUNNING, StepStatus.PENDING):
        return ""
    told = foretold([step], situation.skills.values(), situation.scene, situation.viewpoint, situation.origins)
    return f"after it, {listed(told[0]['effects'], 'and')}" if told and told[0]["effects"] else ""


def _next(situation: Situation) -> str:
    coming = [str(step) for step in situation.plan.steps if step.status is StepStatus.PENDING]
    more = f" and {len(coming) - MOST_AHEAD} more" if len(coming) > MOST_AHEAD else ""
    return f"next: {', '.join(coming[:MOST_AHEAD])}{more}" if coming else "nothing comes after it"


def _edits(situation: Situation) -> str:
    words = [f"“{edit.words}”" for edit in situation.edits if edit.words]
    return f"corrected by {listed(words, 'and')}" if words else ""


def _rules(situation: Situation) -> str:
    rules = [read_back(one.formula) for one in situation.plan.constraints if not one.goal]
    return f"I keep that {listed(rules, 'and')}" if rules else ""


def _sentences(parts: list[str]) -> str:
    return "; ".join(filter(None, parts))
