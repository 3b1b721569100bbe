"""Formulas for the states in rules and goals: bare propositions, or objects, rooms and people of a scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from llm_planner.errors import LanguageModelError, QuestionError
from llm_planner.language.embedded.expressions import amount
from llm_planner.language.embedded.forms import Term, Value, Words
from llm_planner.language.grounding.lifting import lift
from llm_planner.language.grounding.naming import PEOPLE, families, proposition_phrases, told
from llm_planner.language.grounding.resolution import Reference, Resolver
from llm_planner.ltl.formula import (
    Formula,
    atom,
    conj,
    disj,
    finally_,
    globally,
    iff,
    implies,
    neg,
    next_,
    until,
    weak_until,
)
from llm_planner.scene.names import the
from llm_planner.scene.predicates import is_portable
from llm_planner.scene.propositions import ANYTHING, ROBOT, SLOW, Moment, holds, parse_proposition

_OPERATORS: dict[str, Callable[..., Formula]] = {
    "and": conj, "or": disj, "not": neg, "iff": iff, "implies": implies, "next": next_,
    "eventually": finally_, "globally": globally, "until": until, "unless": weak_until,
}  # fmt: skip
_IN_ROOMS = {"in": f"in({ROBOT}, {{}})", "looked": "did(look, {})", "waited": f"in({ROBOT}, {{}})"}
_OF_THINGS = {
    "near": f"near({ROBOT}, {{x}})",
    "over": f"over({ROBOT}, {{x}})",
    "holding": "holding({x})",
    "moved": "moved({x})",
    "is_in": "in({x}, {y})",
    "is_on": "on({x}, {y})",
    "beside": "beside({x}, {y})",
    "is_at": "at({x}, {y})",
    "farther": f"distance({ROBOT}, {{x}}) > {{y}}",
    "lower": "height({x}) < {y}",
}
_MOVING = ("moved", "holding")
_OF_ONE_THING = (*_MOVING, "is_in", "is_on", "beside", "is_at")  # states of an object, not of the robot


@dataclass(frozen=True)
class States:
    """Writer of state formulas over a scene, or over bare `propositions` if there are any.

    `carried` are the objects in the gripper in the states under way.
    """

    here: Resolver
    propositions: tuple[str, ...] = ()
    carried: frozenset[str] = frozenset()

    @property
    def bare(self) -> bool:
        """Whether formulas use bare propositions instead of a scene."""
        return bool(self.propositions)

    def comes_about(self, state: Formula) -> bool:
        """Return whether the state is a new place of an object, which then lasts."""
        item = parse_proposition(state.name) if state.name else None
        is_place = item is not None and item.predicate in ("in", "on", "at", "beside") and ROBOT not in item.arguments
        return is_place and item is not None and not holds(item, Moment(self.here.scene))

    def handed_over(self, state: Formula) -> Formula | None:
        """Return the hand-over that follows a state near a person with an object held; None for other states."""
        items = [parse_proposition(part.name) for part in state.operands if state.operator == "&" and part.name]
        held = [atom(str(item)) for item in items if item.predicate == "holding"]
        people = {item.name for item in self.here.scene.objects if item.kind in PEOPLE}
        there = [atom(str(item)) for item in items if item.predicate == "near" and people.intersection(item.arguments)]
        return conj(*there, *map(neg, held)) if held and there else None

    def carrying(self, values: Iterable[Value]) -> States:
        """Return a writer for a context in which these states hold, with the objects that they hold as carried."""
        held = (value.arguments[0] for value in values if isinstance(value, Term) and value.name == "holding")
        names = {name for thing in held if isinstance(thing, Words) for name in self.things(thing, "holding")}
        return replace(self, carried=self.carried | names)

    def state(self, value: Value) -> Formula:
        """Write the formula of a state; raise QuestionError if it refers to what is not there."""
        match value:
            case Term("and" | "implies" as name, states) if not self.bare:
                return _OPERATORS[name](*map(self.carrying(states).state, states))
            case Term(name, states) if name in _OPERATORS:
                return _OPERATORS[name](*map(self.state, states))
            case Term("holds", (Words(said),)):
                return atom(self._proposition(said))
            case _ if self.bare:
                asked = "I do not see which of the propositions that is about. Please name them as they are."
                raise QuestionError(asked)
            case Term("holding_any"):
                return atom(f"holding({ANYTHING})")
            case Term("slower", speed):
                bound = amount(speed[0]) if speed else SLOW[self.here.scene.robot_kind]
                return atom(f"speed({ROBOT}) < {bound:g}")
            case Term(name, (room,)) if name in _IN_ROOMS:
                return disj(*self._in_rooms(name, self._rooms(room)))
            case Term("near" | "moved" | "over", (Term(_, (group,)),)) if self._family(group):
                return disj(*self._in_rooms("in", self._rooms_of(group)))  # touching an aisle means being in it
            case Term(name, (thing, *second)) if name in _OF_THINGS:
                other = self._second(name, second[0]) if second else ""
                names = [one for one in self.things(thing, name, other) if one != other]
                if name in ("near", "over") and (own := self.carried & {*names}):
                    raise QuestionError(f"I am {name} {the(min(own))} whenever I carry it. Which other thing is meant?")
                return _joined(name, thing, self._portable(names) if name == "holding" else names, other)
        raise LanguageModelError(f"{value} is not a state of a scene")

    def each(self, values: Iterable[Value]) -> list[Formula]:
        """Write the formulas of a list of states; "every room" gives one per room."""
        found: list[Formula] = []
        for value in values:
            match value:
                case Term(name, (Term() as rooms,)) if name in _IN_ROOMS:
                    found += self._in_rooms(name, self._rooms(rooms))
                case _:
                    found.append(self.state(value))
        return found

    def started(self, value: Value, before: Value) -> Formula:
        """Write a state as the start of its activity, which must not begin before the state `before`.

        Moving an object starts with holding it. A group excludes the objects of `before`.
        """
        match value:
            case Term("and" | "or" as name, states):
                return _OPERATORS[name](*(self.started(state, before) for state in states))
            case _ if self.bare:
                return self.state(value)
            case Term("holding_any") if first := self._things_in(before):
                others = (item.name for item in self.here.matching(Reference()) if item.name not in first)
                return disj(*(atom(f"holding({name})") for name in others))
            case Term("moved" | "holding", (thing,)):
                first = self._things_in(before) if isinstance(thing, Term) and thing.arguments else set()
                names = [name for name in self.things(thing, "moved") if name not in first]
                return _joined("holding", thing, self._portable(names))
        return self.state(value)

    def things(self, thing: Value, state: str, without: str = "") -> list[str]:
        """Return the names of the objects that a term refers to.

        Args:
            thing: Words or a group.
            state: Name of the state of the objects.
            without: Object that they are put in or on, which is never one of them.

        Raises:
            QuestionError: Nothing fits, or several objects fit a single one.
        """
        match thing:
            case Words(said):
                return [self.here.name(said, [without], moves=state in _MOVING)]
            case Term("anyone"):
                found = [item.name for item in self.here.scene.objects if item.kind in PEOPLE]
                if not found:
                    raise QuestionError("I know of nobody here. Whom do you mean?")
                return found
        (group,) = thing.arguments
        wanted = self._wanted(group)
        if wanted.entry == "person":
            return [wanted.name]
        spoken = self.here.spoken_of(plural=not wanted.kind) if _is_others(group) else ()
        found = [item.name for item in self.here.matching(wanted) if item.name not in self.carried.union(spoken)]
        if not found:
            raise self.here.absent(f"no {wanted}")
        return found

    def _portable(self, names: Sequence[str]) -> list[str]:
        """Keep the objects that can be held; raise QuestionError if none can."""
        things = [item.name for item in self.here.scene.objects if is_portable(item)]
        found = [name for name in names if name in things]
        if names and not found:
            raise QuestionError(f"I cannot pick up {the(names[0])}. What is it that I shall do, or not do, with it?")
        return found

    def _proposition(self, said: str) -> str:
        names = proposition_phrases(self.propositions)
        found = [word.name for word in lift(said, names) if word.name] or told(said, names)
        if len(found) != 1:
            known = ", ".join(self.propositions) or "there are none here"
            raise QuestionError(f"“{said}” is none of the propositions: {known}. Which do you mean?")
        return found[0]

    def _wanted(self, group: Value) -> Reference:
        """Return the kind and colour of a group; without words any."""
        match group:
            case Words(said) | Term("others", (Words(said),)):
                return self.here.known(said)
        return Reference()

    def _second(self, state: str, value: Value) -> str:
        if state in ("farther", "lower"):
            unit = "m" if self.here.rooms else "cm"  # of a bare number
            return f"{amount(value, 'quantity', unit=unit):g}"
        if isinstance(value, Words):
            return self.here.name(value.text)
        return value.name.replace("_", " ")  # a region

    def _things_in(self, value: Value) -> set[str]:
        """Return the names of the first object of every state in a term."""
        match value:
            case Term("and" | "or" | "not", states):
                return set().union(*map(self._things_in, states))
            case Term(name, (thing, *_)) if name in _OF_ONE_THING:
                return set(self.things(thing, "moved"))
        return set()

    # rooms

    def _in_rooms(self, state: str, rooms: Sequence[str]) -> list[Formula]:
        if not rooms:
            raise QuestionError("There are no such rooms here. Which do you mean?")
        return [atom(_IN_ROOMS[state].format(room)) for room in rooms]

    def _rooms(self, value: Value) -> Sequence[str]:
        match value:
            case Words(said):
                return [self.here.room(said)]
            case Term("rooms_of", (group,)):
                return self._rooms_of(group)
            case Term("other_rooms"):
                return self._others(self.here.rooms)
        return self.here.rooms

    def _rooms_of(self, group: Value) -> Sequence[str]:
        """Return the rooms of a family: "any aisle"."""
        return self._others(self._family(group)) if _is_others(group) else self._family(group)

    def _family(self, group: Value) -> Sequence[str]:
        wanted = self._wanted(group)
        return [wanted.name] if wanted.entry == "room" else families(self.here.rooms).get(wanted.kind, ())

    def _others(self, rooms: Sequence[str]) -> Sequence[str]:
        spoken = self.here.spoken_of(plural=False)
        return [room for room in rooms if room not in spoken]


def _is_others(group: Value) -> bool:
    return isinstance(group, Term) and group.name == "others"


def _joined(state: str, thing: Value, names: Sequence[str], other: str = "") -> Formula:
    """Join the states of several objects: all for "each" and for bounds on distance or height, else any."""
    every = isinstance(thing, Term) and (thing.name == "each" or state in ("farther", "lower"))
    return (conj if every else disj)(*(atom(_OF_THINGS[state].format(x=name, y=other)) for name in names))
