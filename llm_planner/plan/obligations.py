"""What a rule asks of the motion at this moment, read off its automaton and nothing else.

Some propositions of a letter follow from how the robot moves: where it is, how fast. For each state of a monitor some
ways to choose them lead on and others kill the automaton. An obligation is a choice that, as long as it is kept, leaves
every other choice free: `G !near(robot, vase)` obliges to stay away, `speed(robot) < 0.1 U holding(mug)` to be slow
until the mug is held, `near(robot, person) -> speed(robot) < 0.1` to one of the two. No shape of a formula is known
here: sets of choices without a fatal one are all that counts (the states from which a monitor can still accept; Bauer,
Leucker and Schallhart 2011, and the safety shields of Alshiekh et al., arXiv 1708.08611).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf

from llm_planner.temporal.alphabet import Letter
from llm_planner.temporal.monitor import Monitor, Verdict

MOST_CHOICES = 256  # that are tried before a proposition counts as one that matters


@dataclass(frozen=True)
class Lever:
    """A proposition that the controller has a hand in: it can be kept at `value`, at a `price` (what it costs the
    motion; of two ways to keep a rule the cheaper one is taken)."""

    proposition: str
    value: bool
    price: float


@dataclass(frozen=True)
class Obligation:
    """The proposition has to have this value as long as nothing else changes; `kept_by_motion` says whether the
    controller can see to it."""

    proposition: str
    value: bool
    kept_by_motion: bool = True


def obligations(
    monitor: Monitor, seen: Letter, levers: Iterable[Lever], ahead: Iterable[Letter] = ()
) -> tuple[Obligation, ...]:
    """What the motion has to keep after the letter `seen`, the last that `monitor` has read.

    `ahead` are letters that the robot is about to bring about: whichever of them comes first is reckoned with, too,
    where something can be done about it. Empty where the rule is lost, or kept whatever comes.
    """
    own = tuple(lever for lever in levers if lever.proposition in monitor.formula.propositions)
    if not own or monitor.verdict is not Verdict.PENDING:
        return ()
    names = frozenset(lever.proposition for lever in own)
    best, present = frozenset(lever.proposition for lever in own if lever.value), seen & names
    now = _Choices(monitor, (seen - names,))
    soon = _Choices(monitor, tuple(dict.fromkeys((seen - names, *(letter - names for letter in ahead)))))
    if not soon.lead_on(best):
        soon = now
    if not soon.lead_on(best):
        return now.cover(present, own)
    aims = soon.cover(best, own)
    if all((one.proposition in present) == one.value for one in aims):
        return aims
    # What the aims rest on has yet to come true: what has kept the rule up to now is kept until then.
    kept = (one for one in now.cover(present, own) if one.kept_by_motion)
    return tuple(dict.fromkeys((*aims, *kept)))


class _Choices:
    """Which choices of the levers lead on from the monitor's state, whichever of the other letters comes."""

    def __init__(self, monitor: Monitor, rests: Sequence[Letter]) -> None:
        self._monitor, self._rests = monitor, rests
        self._known: dict[Letter, bool] = {}

    def lead_on(self, choice: Letter) -> bool:
        """Whether none of them is fatal; what cannot occur does no harm."""
        if choice not in self._known:
            self._known[choice] = not any(map(self._fatal, (rest | choice for rest in self._rests)))
        return self._known[choice]

    def _fatal(self, letter: Letter) -> bool:
        return self._monitor.can_occur(letter) and self._monitor.doomed_by(letter)

    def cover(self, choice: Letter, levers: Sequence[Lever]) -> tuple[Obligation, ...]:
        """A smallest part of `choice` that is enough, the dearest left out first."""
        able = {lever.proposition: lever.value == (lever.proposition in choice) for lever in levers}
        dearest = sorted(levers, key=lambda lever: lever.price if able[lever.proposition] else inf, reverse=True)
        free: tuple[str, ...] = ()
        for name in (lever.proposition for lever in dearest):
            if 2 ** (len(free) + 1) <= MOST_CHOICES and all(map(self.lead_on, _choices(choice, (*free, name)))):
                free = (*free, name)
        fixed = sorted(able.keys() - free)
        return tuple(Obligation(name, name in choice, able[name]) for name in fixed)


def _choices(choice: Letter, free: Sequence[str]) -> Iterator[Letter]:
    """Those that differ from `choice` in the free ones only."""
    rest = choice.difference(free)
    for values in product((False, True), repeat=len(free)):
        yield rest.union(name for name, value in zip(free, values, strict=True) if value)
