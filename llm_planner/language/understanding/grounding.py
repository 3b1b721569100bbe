"""Grounding of a model's readings, the vote over them, and questions where a command is not understood well enough.

Grounding parses the formulas of a reading and checks them against the scene: a constraint must rule something out, must
not make a speed a goal, and must not be violated from the start. Readings with provably the same meaning count as one
and the majority decides, like self-consistency over formal meanings in SELP (arXiv 2409.19471). Here equivalence is
proved over the letters that can occur in the scene, and a vote without a majority becomes a question in plain words.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.model import Attempt, ReadConstraint, Reading
from llm_planner.language.understanding.equivalence import in_general
from llm_planner.language.understanding.wording import UNITS, arguments_of, full_names_in, plain
from llm_planner.ltl.formula import Constraint, Formula, conj
from llm_planner.ltl.monitor import Monitor, Verdict
from llm_planner.ltl.parser import parse
from llm_planner.ltl.phrases import momentary
from llm_planner.ltl.verbalization import read_back
from llm_planner.scene.driven_base import fixed_places
from llm_planner.scene.propositions import Moment, check_proposition, holds, parse_proposition
from llm_planner.scene.scene import Scene
from llm_planner.text import plain_text, shortened

Same = Callable[[Formula, Formula], bool]


@dataclass(frozen=True)
class Grounded:
    """Reading with formulas about this scene: `task` ("" for none) and `constraints`, or else a `question`.

    `goals` hold in the last scene once the task is done. Tasks are compared by `content`, and by their goals if both
    readings state some.
    """

    task: str = ""
    constraints: tuple[Constraint, ...] = ()
    question: str = ""
    goals: tuple[Formula, ...] = ()
    content: Hashable = None

    @property
    def formula(self) -> Formula:
        """Conjunction of the constraints."""
        return conj(*(constraint.formula for constraint in self.constraints))


@dataclass(frozen=True)
class Group:
    """Readings with one meaning: the first, their count, and whether they include the model's best."""

    reading: Grounded
    count: int = 1
    has_best: bool = False


@dataclass(frozen=True)
class Vote:
    """State of a vote: readings grouped by meaning, the largest group first, and the reasons why other samples failed.

    A vote may end before all `wanted` samples are drawn. If the model is `sure` of its first reading, this one decides.
    """

    wanted: int
    groups: tuple[Group, ...] = ()
    failed: tuple[str, ...] = ()
    sure: bool = False

    @property
    def asked(self) -> int:
        return sum(group.count for group in self.groups) + len(self.failed)

    @property
    def decided(self) -> bool:
        """Whether one meaning has more than 1/2 of the wanted samples, or 3/4 if the model's best differs."""
        if not self.groups:
            return False
        needed = (0.5 if self.groups[0].has_best else 0.75) * self.wanted
        return self.sure or self.groups[0].count > needed

    @property
    def over(self) -> bool:
        """Whether further samples cannot change the result."""
        most = max((group.count for group in self.groups), default=0)
        return self.decided or 2 * (most + self.wanted - self.asked) <= self.wanted

    def __str__(self) -> str:
        counts = ", ".join(str(group.count) for group in self.groups) or "none"
        failed = f"; {len(self.failed)} had no meaning here" if self.failed else ""
        return f"{self.asked} of {self.wanted} readings asked for, by meaning: {counts}{failed}"


def count(vote: Vote, reading: Grounded, same: Same) -> Vote:
    """Add a reading to a vote, the model's best first; `same` decides whether formulas are equivalent."""
    groups, best = list(vote.groups), not vote.groups  # the first reading with a meaning here
    for index, group in enumerate(groups):
        if _same_meaning(group.reading, reading, same):
            groups[index] = replace(group, count=group.count + 1)
            break
    else:
        groups.append(Group(reading, has_best=best))
    return replace(vote, groups=tuple(sorted(groups, key=lambda group: -group.count)))


def _same_meaning(a: Grounded, b: Grounded, same: Same) -> bool:
    if a.question or b.question:
        return bool(a.question and b.question)
    if bool(a.task) != bool(b.task) or a.content != b.content:
        return False
    if a.goals and b.goals and not same(conj(*a.goals), conj(*b.goals)):
        return False
    return a.formula is b.formula or same(a.formula, b.formula)


MAX_OPTIONS = 3
MAX_CHARACTERS = 500  # of a model's question


def unclear_question(vote: Vote) -> QuestionError:
    """Create the question for a vote: the model's own, the readings to choose from, or why there is none."""
    if not vote.groups:
        return QuestionError(f"I cannot tell what this means here: {vote.failed[0]}. Please say it in another way.")
    readings = [group.reading for group in vote.groups if not group.reading.question][:MAX_OPTIONS]
    if vote.decided or not readings:
        return QuestionError(shortened(plain_text(vote.groups[0].reading.question), MAX_CHARACTERS))
    if len(readings) == 1:
        return QuestionError(f"I am not sure that I understand. Do you mean: {_in_words(readings[0])}?")
    options = "; ".join(f"{number}) {_in_words(reading)}" for number, reading in enumerate(readings, 1))
    return QuestionError(f"I can read this in more than one way. Which do you mean? {options}")


def _in_words(reading: Grounded) -> str:
    """Describe task and constraints in plain words."""
    rules = [read_back(constraint.formula) for constraint in reading.constraints]
    return "; ".join([part for part in (f"“{reading.task}”" if reading.task else "", *rules) if part])


def contradiction_question(findings: Sequence[str], reading: Grounded) -> QuestionError:
    """Create the question about a reading that contradicts the words."""
    goals = "; ".join(momentary(goal) for goal in reading.goals)
    meant = "; ".join(filter(None, (_in_words(reading), f"in the end: {goals}" if goals else "")))
    return QuestionError(
        f"I am not sure that I understand: {'; '.join(findings)}. Do you mean: {meant}? Please say it in another way."
    )


def conflict_question(constraints: Sequence[Constraint]) -> QuestionError:
    """Create the question about constraints that cannot all hold."""
    if len(constraints) == 1:
        return QuestionError(f"“{constraints[0].words}” cannot be done here. What should I do instead?")
    quoted = " and ".join(f"“{constraint.words}”" for constraint in constraints)
    return QuestionError(f"I cannot do all of this together: {quoted}. Which should I leave out?")


def check_substance(constraint: Constraint) -> None:
    """Raise InputError for a constraint without words, or that every run satisfies."""
    if not constraint.words.strip():
        raise InputError(f"{constraint.formula} stands for no words of the command")
    if Monitor(constraint.formula).verdict is Verdict.SATISFIED:
        raise InputError(f"“{constraint.words}” must rule something out, but every run keeps {constraint.formula}")


def check_reachable(constraint: Constraint) -> None:
    """Raise InputError for a goal about a speed, because the planner does not predict speeds."""
    if constraint.goal and any(name.startswith("speed(") for name in constraint.formula.propositions):
        raise InputError(
            f"“{constraint.words}” makes a speed part of a goal, but a speed can only be watched, not planned for; say "
            "what to do without it, and the speed as a limit on all of it: G speed(robot) < 0.3"
        )


def check_present(constraint: Constraint, scene: Scene) -> None:
    """Raise InputError for a constraint that requires at once what does not hold in `scene`.

    "Stay in the lab" cannot begin elsewhere. A forbidden state that holds already is allowed: "not again".
    """
    formula = constraint.formula
    moment = Moment(scene, fixed_places(scene))
    now = frozenset(name for name in formula.propositions if holds(parse_proposition(name), moment))
    if all(Monitor(formula).observe(letter, scene.time).lost for letter in (now, frozenset[str]())):
        raise InputError(f"“{constraint.words}” as {formula} demands at once what is not so now")


_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)?")


def ground(reading: Reading, scene: Scene, propositions: tuple[str, ...] = (), insisted: bool = False) -> Grounded:
    """Parse the formulas of a reading and check them against the scene.

    A formula must have every name and number in the words of its constraint, unless the reading is `whole`.

    Args:
        reading: Reading of a model.
        scene: Scene that the formulas refer to.
        propositions: Bare propositions to check against instead.
        insisted: Whether the model repeats its reading; the formula may then omit a name if it lists all others of its
            kind ("every room except the lab").

    Raises:
        InputError: A formula has no meaning here; the message says which and why.
        QuestionError: The reading refers to what is not here.
    """
    if reading.question:
        return Grounded(question=reading.question)
    constraints = tuple(_constraint(written, scene, propositions) for written in reading.constraints)
    goals = tuple(_goal(text, scene) for text in reading.goals)
    if not reading.task and not constraints:
        raise InputError("the reading has neither a task nor a constraint; give one of them, or a question")
    if not (reading.whole or propositions):
        for constraint in constraints:
            _check_said(constraint, scene, insisted)
    return Grounded(reading.task, constraints, goals=goals)


def _constraint(written: ReadConstraint, scene: Scene, propositions: tuple[str, ...]) -> Constraint:
    constraint = Constraint(in_general(parse(written.formula), scene), written.words, written.goal)
    check_substance(constraint)
    if propositions:
        unknown = [name for name in constraint.formula.propositions if name not in propositions]
        if unknown:
            known = ", ".join(propositions)
            raise InputError(f"{unknown[0]!r} in {constraint.formula} is none of the propositions: {known}")
        return constraint
    for name in constraint.formula.propositions:
        check_proposition(parse_proposition(name), scene)
    check_reachable(constraint)
    check_present(constraint, scene)
    return constraint


def _goal(text: str, scene: Scene) -> Formula:
    """Parse a goal, a literal about the last scene; raise InputError for other formulas or unknown names."""
    goal = parse(text)
    literal = goal.operands[0] if goal.operator == "!" else goal
    if literal.operands or not literal.name:
        raise InputError(f"the goal {text} is not a single proposition or its negation; give a list of these")
    check_proposition(parse_proposition(literal.name), scene)
    return goal


def _check_said(constraint: Constraint, scene: Scene, insisted: bool) -> None:
    """Raise InputError if the formula lacks a name or a number of its words, in any human language."""
    about, named = {*arguments_of(constraint.formula)}, full_names_in(plain(constraint.words), scene)
    missing = [name for name in named if name not in about]
    kinds = {item.kind for item in scene.objects if item.name in missing}
    rooms = scene.building.names if scene.building and {*missing} & {*scene.building.names} else ()
    alike = {item.name for item in scene.objects if item.kind in kinds} | {*rooms}
    if missing and not (insisted and about >= alike - {*named}):
        raise InputError(f"“{constraint.words}” speaks of {missing[0]!r}, but {constraint.formula} does not")
    bounds = amounts_of(constraint.formula)
    for found in _NUMBER.findall(constraint.words) if bounds else ():
        number = float(found.replace(",", "."))
        if not any(math.isclose(number * unit, bound, rel_tol=2e-3) for unit in UNITS for bound in bounds):
            raise InputError(f"“{constraint.words}” says {found}, but {constraint.formula} has no such bound")


def amounts_of(formula: Formula) -> list[float]:
    """Return the bounds of measures [m, m/s, degrees] and time windows [s] in a formula."""
    found = [bound for bound in formula.window or () if 0.0 < bound < math.inf]
    if formula.name and (item := parse_proposition(formula.name)).comparison:
        found.append(item.bound)
    return [*found, *(bound for operand in formula.operands for bound in amounts_of(operand))]


def as_attempt(reading: Reading, problem: InputError) -> Attempt:
    """Convert a refused reading and its problem into an attempt for the next round."""
    values = asdict(reading)
    answer = {name: values[name] for name in ("reasoning", "task", "goals", "constraints", "sure", "question")}
    return Attempt(str(reading), (str(problem),), json.dumps(answer, ensure_ascii=False))
