"""Reservation of what robots share, by messages between them and without a master.

Arms at one table share the strips between them; mobile bases in one building share its rooms. Below, "arm" and "strip"
stand for both.

The algorithm is that of Ricart and Agrawala (CACM 24, 1981) on states instead of messages: each arm repeats, for every
strip, the ticket with which it asks for it (0: it does not) and the other arm's ticket that it has granted. An arm has
a strip once the other one has granted its present ticket. It grants the other's ticket only while it does not have the
strip, is out of it, and asks itself with no ticket or with a later one. Lost, late and repeated states do no harm:
older ones are dropped, and without an answer nobody gets the strip.

The safety filter owns the reservation, since it knows where the arm may go: a strip is given back only once the arm's
motion to rest is proved to lie outside. A base asks for each room that it is in by itself, so an idle base has the room
where it stands, and for none that its neighbour is in. All that is asked for at once has one ticket, so that two robots
agree on who is first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from llm_planner.errors import InputError
from llm_planner.scene.shared_table import Boundary
from llm_planner.scene.zones import Zone

LATEST = 2**63 - 1


@dataclass(frozen=True)
class StripState:
    """What an arm tells about one strip: its own ticket, whether it has the strip, and the ticket that it granted.

    `inside` says that a base is in the room, or would come to rest there.
    """

    ticket: int = 0
    has: bool = False
    granted: int = 0
    inside: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.ticket <= LATEST and 0 <= self.granted <= LATEST):
            raise InputError(f"tickets lie between 0 and {LATEST}, not {self.ticket} and {self.granted}")

    @property
    def is_taken(self) -> bool:
        """Whether nobody else gets the strip now."""
        return self.has or self.inside


@dataclass(frozen=True)
class ArmState:
    """What `arm` tells the others; `number` increases with every state of an arm, also after a restart."""

    arm: str
    number: int
    strips: Mapping[str, StripState]


@dataclass
class _Strip:
    boundary: Boundary
    own: StripState = StripState()
    other: StripState = StripState()


@dataclass
class ZoneReservation:
    """Reservations of one arm. Not thread-safe; it reads no clock but for numbers that increase over restarts."""

    arm: str
    boundaries: Sequence[Boundary]
    clock: Callable[[], int] = time.time_ns
    _strips: dict[str, _Strip] = field(init=False)
    _heard: dict[str, int] = field(init=False, default_factory=dict)
    _last: int = field(init=False, default=0)
    _wanted: frozenset[str] = field(init=False, default=frozenset())

    def __post_init__(self) -> None:
        self._strips = {one.strip: _Strip(one) for one in self.boundaries}

    @property
    def held(self) -> frozenset[str]:
        """Names of the strips that the arm has."""
        return frozenset(name for name, strip in self._strips.items() if strip.own.has)

    @property
    def taken(self) -> frozenset[str]:
        """Names of the strips that its neighbours have or are in, as they told last."""
        return frozenset(name for name, strip in self._strips.items() if strip.other.is_taken)

    @property
    def strips(self) -> Mapping[str, str]:
        """The neighbour with whom the arm shares a strip, by the name of the strip."""
        return {name: strip.boundary.neighbour for name, strip in self._strips.items()}

    @property
    def zones(self) -> tuple[Zone, ...]:
        """Zones to keep out of now, in the base frame of the arm."""
        return zones_of(self.boundaries, self.held)

    def want(self, strips: Collection[str]) -> None:
        """Ask for these strips from now on, and for no others.

        Raises:
            InputError: The arm has no such strip.
        """
        unknown = [name for name in strips if name not in self._strips]
        if unknown:
            raise InputError(f"{self.arm} has no strip {unknown[0]!r}; its strips are: {', '.join(self._strips)}")
        self._wanted = frozenset(strips)

    def heard(self, state: ArmState) -> None:
        """Take in what another arm tells; states that are older than the last one are dropped."""
        if state.arm == self.arm or state.number <= self._heard.get(state.arm, 0):
            return
        self._heard[state.arm] = state.number
        for name, strip in self._strips.items():
            if strip.boundary.neighbour == state.arm:
                strip.other = state.strips.get(name, StripState())

    def update(self, is_out: Callable[[Zone], bool]) -> None:
        """Ask, take, grant and give back.

        Args:
            is_out: Whether the arm's motion to its rest is proved to lie outside of a zone.
        """
        self._last = max(self._last, *(strip.other.ticket for strip in self._strips.values()), 0)
        ticket = self._number()
        for name, strip in self._strips.items():
            strip.own = self._grant(strip, self._ask(name, strip, ticket, is_out), is_out)

    def state(self) -> ArmState:
        """Return what the others must be told; a new state each time."""
        return ArmState(self.arm, self._number(), {name: strip.own for name, strip in self._strips.items()})

    def _ask(self, name: str, strip: _Strip, ticket: int, is_out: Callable[[Zone], bool]) -> StripState:
        own, other, boundary = strip.own, strip.other, strip.boundary
        inside = boundary.far is None and not is_out(boundary.near)
        if inside or (name in self._wanted and (own.has or not other.inside)):
            ticket = own.ticket or ticket
            return StripState(ticket, own.has or other.granted == ticket, own.granted, inside)
        return own if own.has and not is_out(boundary.near) else StripState(granted=own.granted)

    def _grant(self, strip: _Strip, own: StripState, is_out: Callable[[Zone], bool]) -> StripState:
        asked = strip.other.ticket
        if own.granted == asked:
            return own
        may = asked > 0 and not own.has and (not own.ticket or asked < own.ticket) and is_out(strip.boundary.near)
        return replace(own, granted=asked if may else 0)

    def _number(self) -> int:
        self._last = max(self._last + 1, self.clock())
        return self._last


def zones_of(boundaries: Sequence[Boundary], held: Collection[str]) -> tuple[Zone, ...]:
    """Return the zones that an arm keeps out of while it has the strips `held`."""
    zones = (one.far if one.strip in held else one.near for one in boundaries)
    return tuple(zone for zone in zones if zone is not None)
