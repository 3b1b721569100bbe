"""Seeded tasks in buildings: what a person says, and the goals and rules that it means.

Which rooms, things and people are named is drawn for the scene; whether the task can be done is searched for over the
graph of rooms and doors, so that a rule may close a way but not all of them. Some tasks are impossible on purpose.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from llm_planner.ltl.alphabet import Alphabet, Letter
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.formula import Formula
from llm_planner.ltl.parser import parse
from llm_planner.scene.predicates import FIXED_KINDS
from llm_planner.scene.scene import Scene

MAX_RULES = 5
IMPOSSIBLE_SHARE = 0.1
DRAWS = 400  # tasks drawn before a building counts as one in which nothing fits
FOCUS_SHARE = 0.6  # of the rules


@dataclass(frozen=True)
class Clause:
    """Some words, and the formula that they stand for."""

    words: str
    formula: str


@dataclass(frozen=True)
class RoomsTask:
    """One task: the whole command, what it means, and whether anybody could do it."""

    seed: int
    command: str
    goals: tuple[Clause, ...]
    rules: tuple[Clause, ...]
    possible: bool = True

    @property
    def formulas(self) -> tuple[Formula, ...]:
        return tuple(parse(clause.formula) for clause in (*self.goals, *self.rules))


@dataclass(frozen=True)
class Cast:
    """What a task may speak of: rooms (not the robot's own), things to carry with their rooms, people.

    Rules speak of the rooms and things in `focus` more often than of others: those that the goals have to do with.
    """

    start: str
    rooms: tuple[str, ...]
    things: dict[str, str]
    people: tuple[str, ...]
    focus: frozenset[str] = frozenset()


def cast_of(scene: Scene) -> Cast:
    """Reads it off the scene, which must have a building and a robot in it."""
    assert scene.building is not None
    assert scene.robot is not None
    where = {item.name: scene.building.room_at(*item.position[:2]) for item in scene.objects}
    start = scene.building.room_at(*scene.robot.position[:2])
    rooms = tuple(name for name in scene.building.names if name != start)
    things = {item.name: where[item.name] for item in scene.objects if item.kind not in FIXED_KINDS}
    return Cast(start, rooms, things, tuple(item.name for item in scene.objects if item.kind == "person"))


def draw_task(scene: Scene, seed: int, rules: int) -> RoomsTask:
    """A task with so many `rules` in this scene; about one in ten of all seeds is impossible.

    Raises ValueError when nothing fits the building.
    """
    rng = np.random.default_rng([seed, rules])
    cast = cast_of(scene)
    impossible = rng.random() < IMPOSSIBLE_SHARE
    for _ in range(DRAWS):
        task = _draw(cast, rng, seed, rules, impossible)
        if can_be_done(task, scene) is not impossible:
            return replace(task, possible=not impossible)
    raise ValueError(f"no task with {rules} rules fits the building of seed {seed}; take another seed")


def _draw(cast: Cast, rng: np.random.Generator, seed: int, count: int, impossible: bool) -> RoomsTask:
    """A task that may be possible or not; one that is to be impossible gets a rule that aims at its first goal."""
    goals = _goals(cast, rng)
    rules: list[Clause] = [_obstacle(cast, goals[0], rng)] if impossible else []
    said = " ".join(goal.formula for goal in goals)
    aimed = replace(cast, focus=frozenset(name for name in (*cast.rooms, *cast.things) if name in said))
    kinds = rng.permutation(len(RULES))[: count - len(rules)]
    rules += [RULES[kind](aimed, rng) for kind in kinds]
    return RoomsTask(seed, _sentence(goals, rules, rng), tuple(goals), tuple(rules))


def _pick(rng: np.random.Generator, choices: list[str] | tuple[str, ...], count: int = 1) -> list[str]:
    return [str(name) for name in rng.permutation(choices)[:count]]


def _say(rng: np.random.Generator, wordings: tuple[str, ...], **names: str) -> str:
    return str(rng.choice(wordings)).format(**names)


def _rooms(cast: Cast, rng: np.random.Generator, count: int = 1) -> list[str]:
    """Different rooms, the first of them often in focus."""
    chosen = _pick(rng, cast.rooms, len(cast.rooms))
    if rng.random() < FOCUS_SHARE:
        chosen.sort(key=lambda name: name not in cast.focus)
        chosen[1:] = _pick(rng, chosen[1:], len(chosen))
    return chosen[:count]


def _thing(cast: Cast, rng: np.random.Generator) -> str:
    chosen = _pick(rng, list(cast.things), len(cast.things))
    return min(chosen, key=lambda name: name not in cast.focus) if rng.random() < FOCUS_SHARE else chosen[0]


def at(room: str) -> str:
    return f"in(robot, {room})"


def _goals(cast: Cast, rng: np.random.Generator) -> list[Clause]:
    """One or two things to do, never two with the same object."""
    kinds: list[Callable[[Cast, np.random.Generator], Clause]] = [_visit, _sequence, _several, _deliver, _see]
    chosen = rng.permutation(len(kinds))[: int(rng.integers(1, 3))]
    return [kinds[k](cast, rng) for k in chosen]


def _visit(cast: Cast, rng: np.random.Generator) -> Clause:
    (a,) = _pick(rng, cast.rooms)
    return Clause(_say(rng, ("go to the {a}", "visit the {a}", "drive to the {a}"), a=a), f"F {at(a)}")


def _sequence(cast: Cast, rng: np.random.Generator) -> Clause:
    a, b = _pick(rng, cast.rooms, 2)
    words = ("go to the {a} and then to the {b}", "visit the {a} and then the {b}", "visit first the {a}, then the {b}")
    return Clause(_say(rng, words, a=a, b=b), f"F ({at(a)} & F {at(b)})")


def _several(cast: Cast, rng: np.random.Generator) -> Clause:
    a, b, c = _pick(rng, cast.rooms, 3)
    words = ("visit the {a}, the {b} and the {c} in any order", "go to the {a}, the {b} and the {c}, in whatever order")
    return Clause(_say(rng, words, a=a, b=b, c=c), f"F {at(a)} & F {at(b)} & F {at(c)}")


def _deliver(cast: Cast, rng: np.random.Generator) -> Clause:
    (thing,) = _pick(rng, list(cast.things))
    (room,) = _pick(rng, [name for name in cast.rooms if name != cast.things[thing]])
    words = ("bring the {o} to the {r}", "take the {o} to the {r}", "put the {o} in the {r}")
    return Clause(_say(rng, words, o=thing, r=room), f"F in({thing}, {room})")


def _see(cast: Cast, rng: np.random.Generator) -> Clause:
    (person,) = _pick(rng, cast.people)
    return Clause(_say(rng, ("go to {p}", "visit {p}", "go and see {p}"), p=person), f"F near(robot, {person})")


def _avoid(cast: Cast, rng: np.random.Generator) -> Clause:
    (a,) = _rooms(cast, rng)
    words = ("stay out of the {a}", "never enter the {a}", "do not go into the {a}", "keep out of the {a}")
    return Clause(_say(rng, words, a=a), f"G !{at(a)}")


def _avoid_two(cast: Cast, rng: np.random.Generator) -> Clause:
    a, b = _rooms(cast, rng, 2)
    words = ("stay out of the {a} and the {b}", "never go into the {a} or the {b}")
    return Clause(_say(rng, words, a=a, b=b), f"G !({at(a)} | {at(b)})")


def _first(cast: Cast, rng: np.random.Generator) -> Clause:
    a, b = _rooms(cast, rng, 2)
    words = (
        "never enter the {a} before you have been to the {b}",
        "do not go into the {a} until you have visited the {b}",
        "the {a} is off limits until you have been in the {b}",
    )
    return Clause(_say(rng, words, a=a, b=b), f"!{at(a)} W {at(b)}")


def _no_return(cast: Cast, rng: np.random.Generator) -> Clause:
    a, b = _rooms(cast, rng, 2)
    words = ("once you have been in the {a}, never go into the {b}", "after visiting the {a} do not enter the {b}")
    return Clause(_say(rng, words, a=a, b=b), f"G ({at(a)} -> G !{at(b)})")


def _response(cast: Cast, rng: np.random.Generator) -> Clause:
    a, b = _rooms(cast, rng, 2)
    words = (
        "whenever you have been in the {a}, visit the {b} afterwards",
        "if you enter the {a}, you must go to the {b} later",
    )
    return Clause(_say(rng, words, a=a, b=b), f"G ({at(a)} -> F {at(b)})")


def _once(cast: Cast, rng: np.random.Generator) -> Clause:
    (a,) = _rooms(cast, rng)
    words = ("enter the {a} at most once", "do not go into the {a} more than once")
    return Clause(_say(rng, words, a=a), f"!{at(a)} W ({at(a)} W G !{at(a)})")


def _while_carrying(cast: Cast, rng: np.random.Generator) -> Clause:
    thing, (room,) = _thing(cast, rng), _rooms(cast, rng)
    words = ("while carrying the {o}, stay out of the {r}", "never take the {o} into the {r}")
    return Clause(_say(rng, words, o=thing, r=room), f"G (holding({thing}) -> !{at(room)})")


def _empty_handed(cast: Cast, rng: np.random.Generator) -> Clause:
    (room,) = _rooms(cast, rng)
    words = ("never carry anything into the {r}", "do not enter the {r} while you are carrying something")
    return Clause(_say(rng, words, r=room), f"G !(holding(anything) & {at(room)})")


def _not_yet(cast: Cast, rng: np.random.Generator) -> Clause:
    thing, (room,) = _thing(cast, rng), _rooms(cast, rng)
    words = (
        "do not pick up the {o} before you have been to the {r}",
        "leave the {o} alone until you have visited the {r}",
    )
    return Clause(_say(rng, words, o=thing, r=room), f"!holding({thing}) W {at(room)}")


def _end(cast: Cast, rng: np.random.Generator) -> Clause:
    (room,) = _pick(rng, [*cast.rooms, cast.start])
    words = ("finish in the {r}", "be in the {r} at the end", "in the end come to the {r}")
    return Clause(_say(rng, words, r=room), f"F G {at(room)}")


RULES: tuple[Callable[[Cast, np.random.Generator], Clause], ...] = (
    _avoid, _avoid_two, _first, _no_return, _response, _once, _while_carrying, _empty_handed, _not_yet, _end,
)  # fmt: skip


def _obstacle(cast: Cast, goal: Clause, rng: np.random.Generator) -> Clause:
    """A rule that may stand in the way of a goal: a room closed, or closed to what is carried."""
    rooms = [name for name in cast.rooms if f", {name})" in goal.formula] or list(cast.rooms)
    aimed = replace(cast, rooms=tuple(rooms))
    carried = [name for name in cast.things if f"in({name}," in goal.formula]
    if carried and rng.random() < 0.5:
        return _while_carrying(replace(aimed, things={carried[0]: ""}), rng)
    return _avoid(aimed if rng.random() < 0.5 else cast, rng)


def _sentence(goals: list[Clause], rules: list[Clause], rng: np.random.Generator) -> str:
    """Goals, then rules, in one sentence or several, as people type them."""
    task = _say(rng, (", and ", " and also ")).join(goal.words for goal in goals)
    start = _say(rng, ("", "", "please "))
    link, between = [(", but ", " and "), ("; ", "; "), (". ", ". "), (", and ", ", and ")][int(rng.integers(4))]
    return start + task + link + between.join(rule.words for rule in rules)


def can_be_done(task: RoomsTask, scene: Scene) -> bool:
    """Whether some way through the rooms fulfils everything: breadth first, exact but for who is near whom.

    A person is near somewhere in the person's room, whenever the robot wants to be.
    """
    return any(True for _ in _solutions(task, scene))


@dataclass(frozen=True)
class _State:
    room: str
    held: str
    lying: tuple[tuple[str, str], ...]  # thing and room, of the things that the task names
    near: str
    automata: tuple[int, ...]


def _solutions(task: RoomsTask, scene: Scene) -> Iterator[_State]:
    cast, formulas = cast_of(scene), task.formulas
    automata = [automaton(f, Alphabet(f.propositions)) for f in formulas]
    named = {name for f in formulas for name in f.propositions}
    things = [name for name in cast.things if any(f"({name}" in p for p in named)]
    people = {p: _room_of(scene, p) for p in cast.people if any(f", {p})" in name for name in named)}
    building = scene.building
    assert building is not None

    def read(state: _State) -> _State:
        letter = _letter(state)
        return replace(state, automata=tuple(a.step(s, letter) for a, s in zip(automata, state.automata, strict=True)))

    start = _State(cast.start, "", tuple((t, cast.things[t]) for t in things), "", tuple(a.initial for a in automata))
    waiting, seen = deque([read(start)]), {read(start)}
    while waiting:
        state = waiting.popleft()
        if all(s in a.accepting for a, s in zip(automata, state.automata, strict=True)):
            yield state
        for after in map(read, _moves(state, partial(building.neighbours), people)):
            alive = all(s in a.live for a, s in zip(automata, after.automata, strict=True))
            if alive and after not in seen:
                seen.add(after)
                waiting.append(after)


def _room_of(scene: Scene, name: str) -> str:
    assert scene.building is not None
    return scene.building.room_at(*scene.find(name).position[:2])


def _letter(state: _State) -> Letter:
    true = {at(state.room), f"near(robot, {state.near})"}
    true |= {f"in({thing}, {room})" for thing, room in state.lying}
    return frozenset(true | ({f"holding({state.held})", "holding(anything)"} if state.held else set()))


def _moves(state: _State, neighbours: Callable[[str], tuple[str, ...]], people: dict[str, str]) -> Iterator[_State]:
    for room in neighbours(state.room):
        yield replace(state, room=room, near="")
    for person, room in people.items():
        if room == state.room and state.near != person:
            yield replace(state, near=person)
    if state.held:
        yield replace(state, held="", lying=tuple(sorted([*state.lying, (state.held, state.room)])))
    else:
        for thing, room in state.lying:
            if room == state.room:
                yield replace(state, held=thing, lying=tuple(pair for pair in state.lying if pair[0] != thing))
