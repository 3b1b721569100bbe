"""What results of commands and rules come to in a scene: a policy program, and formulas for rules and goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.errors import QuestionError
from llm_planner.language.embedded.command_forms import SPECIFICATIONS
from llm_planner.language.embedded.formulas import specification
from llm_planner.language.embedded.programs import program
from llm_planner.language.embedded.states import States
from llm_planner.language.embedded.terms import Term, Value, Words
from llm_planner.language.grounding.resolution import Resolver
from llm_planner.language.model import ReadConstraint
from llm_planner.world.propositions import Moment, holds, parse_proposition
from llm_planner.world.scene import Scene

OF_PLACES = frozenset(("visit", "sequence", "ordered"))  # goals that are errands one after the other
_GOALS = frozenset((
    "visit", "sequence", "ordered", "strictly", "patrol", "at_least", "exactly", "at_least_steps", "exactly_steps",
    "within", "lasting", "finish", "next",
))  # fmt: skip


@dataclass(frozen=True)
class Command:
    """What a command asks for: the `program`, "" for none, and its rules and goals."""

    program: str = ""
    constraints: tuple[ReadConstraint, ...] = ()


def command_of(terms: Sequence[Term], command: str, scene: Scene) -> Command:
    """Turn a result into a program and formulas; raise QuestionError where it speaks of what is not there."""
    _check_understood(terms, command)
    here = Resolver(command, scene)
    statements = _statements(terms, here)
    return Command(
        program(statements, here) if statements else "",
        _constraints([term for term in terms if term.name in SPECIFICATIONS], command, States(here)),
    )


def requirements_of(terms: Sequence[Term], sentence: str, propositions: Sequence[str]) -> tuple[ReadConstraint, ...]:
    """Turn a result about bare propositions into formulas; raise QuestionError for what is none of them."""
    _check_understood(terms, sentence)
    return _constraints(terms, sentence, States(Resolver(sentence, Scene(0.0, ())), tuple(propositions)))


def _statements(terms: Sequence[Term], here: Resolver) -> list[Term]:
    """The statements, and among them those that say more of how the goals are reached than their formulas do, unless a
    goal has none: what is brought to a person is handed over there, and to stay for some time is to wait."""
    goals = {term: _errand(term, here) for term in terms if term.name in _GOALS} if here.rooms else {}
    reached = goals if all(goals.values()) else {}
    return [one for term in terms for one in reached.get(term, () if term.name in SPECIFICATIONS else (term,))]


def _errand(goal: Term, here: Resolver) -> tuple[Term, ...]:
    match goal:
        case Term(name, states) if name in OF_PLACES:
            errands = tuple(map(errand_of, states))
            to_somebody = any(_hands_over(one, here) for one in errands)
            return errands if to_somebody and "visit" not in {one.name for one in errands} else ()
        case Term("lasting", (time, Term("in" | "near", (Words() as place,)) as there)):
            state = parse_proposition(States(here).state(there).name)
            is_there = holds(state, Moment(here.scene))
            return (*(() if is_there else (Term("go", (place,)),)), Term("wait", (time,)))
    return ()


def errand_of(state: Value) -> Term:
    """The statement that brings a state of a building about, else to visit it."""
    match state:
        case Term("is_in", (Term("each", (things,)), place)):
            return Term("each", (things, Term("bring", (Term("item"), place))))
        case Term("is_in", (Words() as thing, Words() as place)):
            return Term("bring", (thing, place))
        case Term("and", (Term("holding", (Words() as thing,)), Term("near", (Words() as who,)))):
            return Term("bring", (thing, who))
        case Term("in" | "near", (Words() as place,)):
            return Term("go", (place,))
    return Term("visit", (state,))


def _hands_over(errand: Term, here: Resolver) -> bool:
    match errand:
        case Term("bring", (_, Words(said))):
            return here.refer(said).entry == "person"
    return False


def _check_understood(terms: Sequence[Term], command: str) -> None:
    if terms[0].name == "unclear":
        raise QuestionError(f'I did not understand "{command}". Please say what should happen, or what must not.')
    if terms[0].name == "cannot":
        raise QuestionError(f'I cannot do that: "{command}". What should I do instead?')


def _constraints(terms: Sequence[Term], command: str, states: States) -> tuple[ReadConstraint, ...]:
    formulas = ((term.name, specification(term, states)) for term in terms)
    return tuple(ReadConstraint(str(formula), command, name in _GOALS) for name, formula in formulas)
