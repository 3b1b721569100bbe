"""What an edge of an automaton says, in the fewest words: `kitchen & !lab` for all letters that lead along it.

Letters that cannot occur may count either way, so "in the kitchen and not in the lab" is just "in the kitchen". Prime
implicants by merging cubes that differ in one proposition (Quine 1952, McCluskey 1956), then a greedy cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, islice

from llm_planner.errors import InputError
from llm_planner.temporal.alphabet import Letter
from llm_planner.temporal.automaton import Automaton
from llm_planner.temporal.branches import Branch, Transition

MAX_EXACT = 7  # propositions; beyond, the paths of the decision tree are given as they are
MAX_PATHS = 1000  # more nobody can read
ALWAYS = "always"

Literal = tuple[str, bool]  # a proposition, and whether it holds
Cube = frozenset[Literal]  # all of these together


def conditions(automaton: Automaton, state: int) -> dict[int, tuple[Cube, ...]]:
    """For each state after `state`, the cubes of which one holds in every letter that leads there.

    Raises InputError for more than anybody could read.
    """
    paths = list(islice(_paths(automaton.transitions[state], frozenset()), MAX_PATHS + 1))
    if len(paths) > MAX_PATHS:
        raise InputError(f"an edge would need more than {MAX_PATHS} conditions; draw the formula in smaller parts")
    targets = dict.fromkeys(target for _, target in paths)
    names = sorted({name for cube, _ in paths for name, _ in cube})
    if len(names) > MAX_EXACT:
        return {target: tuple(cube for cube, other in paths if other == target) for target in targets}
    alphabet = automaton.alphabet.restricted(names)
    after = {letter: automaton.step(state, letter) for letter in alphabet.letters}
    impossible = set(_all_letters(names)) - after.keys()
    return {
        target: _fewest({letter for letter in after if after[letter] == target}, impossible, names)
        for target in targets
    }


def condition_text(cubes: Iterable[Cube]) -> str:
    """The cubes as text, the shortest first."""
    terms = sorted(
        (sorted(cube) for cube in cubes), key=lambda term: (len(term), [(not yes, name) for name, yes in term])
    )
    return " | ".join(_term(term) for term in terms)


def short_name(proposition: str) -> str:
    """A proposition without the robot, whom everything is about: `in(robot, lab)` is `in lab`, `near(robot, a)`."""
    predicate, _, rest = proposition.partition("(")
    arguments = rest.partition(")")[0]
    if not arguments.startswith("robot"):
        return proposition
    about = arguments.removeprefix("robot").removeprefix(",").strip()
    return f"{predicate} {about}{rest.partition(')')[2]}".replace("  ", " ").strip()


def _term(literals: list[Literal]) -> str:
    return " & ".join(("" if yes else "!") + short_name(name) for name, yes in literals) or ALWAYS


def _paths(branch: Transition, taken: Cube) -> Iterator[tuple[Cube, int]]:
    if isinstance(branch, Branch):
        yield from _paths(branch.low, taken | {(branch.proposition, False)})
        yield from _paths(branch.high, taken | {(branch.proposition, True)})
    else:
        yield taken, branch


def _all_letters(names: list[str]) -> Iterator[Letter]:
    return (frozenset(chosen) for size in range(len(names) + 1) for chosen in combinations(names, size))


def _fewest(wanted: set[Letter], free: set[Letter], names: list[str]) -> tuple[Cube, ...]:
    """Few and short cubes that cover all of `wanted` and nothing but these and the `free` letters."""
    primes = _primes({_cube(letter, names) for letter in wanted | free})
    left = {_cube(letter, names) for letter in wanted}
    chosen: list[Cube] = []
    while left:
        best = max(primes, key=lambda cube: (sum(cube <= letter for letter in left), -len(cube), _positive(cube)))
        chosen.append(best)
        left = {letter for letter in left if not best <= letter}
    return tuple(chosen)


def _primes(cubes: set[Cube]) -> list[Cube]:
    primes: list[Cube] = []
    while cubes:
        merged: set[Cube] = set()
        absorbed: set[Cube] = set()
        for cube in cubes:
            for name, yes in cube:
                rest = cube - {(name, yes)}
                if rest | {(name, not yes)} in cubes:
                    merged.add(rest)
                    absorbed.add(cube)
        primes.extend(sorted(cubes - absorbed, key=sorted))
        cubes = merged
    return primes


def _cube(letter: Letter, names: list[str]) -> Cube:
    return frozenset((name, name in letter) for name in names)


def _positive(cube: Cube) -> int:
    """How many propositions it says hold: `kitchen` tells more than `!lab`."""
    return sum(yes for _, yes in cube)
