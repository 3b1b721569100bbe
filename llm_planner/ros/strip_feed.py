"""Strips between the arms of a shared table, or rooms of bases, over ROS: the topic `/strips`, and wishes of skills.

Every safety filter publishes its arm's state on `/strips` ten times a second, and hears those of its neighbours there.
The controller and the skill server of an arm read the state of their own arm. The skill server repeats which strips it
wants on `strips_wanted`; a wish that is not repeated ends, so that a dead skill server keeps no strip.

Arms are named by their namespaces. Messages are texts with JSON, checked by the models below.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rclpy.node import Node
from std_msgs.msg import String

from llm_planner.control.zone_reservation import LATEST, ArmState, StripState, ZoneReservation, zones_of
from llm_planner.errors import InputError
from llm_planner.ros.base_node import LATCHED, BaseNode
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.parameters import TABLE
from llm_planner.scene.shared_table import Boundary
from llm_planner.scene.zones import Zone
from llm_planner.simulation.worlds import read_shared_world

TOPIC, WISHES = "/strips", "strips_wanted"
REPEATED = 0.1  # [s, wall time] between two states of an arm
WISH_LASTS = 1.0  # [s, wall time]
MOST_LETTERS = 20_000  # of a message

Ticket = Annotated[int, Field(ge=0, le=LATEST)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


Model = TypeVar("Model", bound=_Message)


class StripMessage(_Message):
    """State of an arm towards one strip; see `StripState`."""

    ticket: Ticket
    has: bool
    granted: Ticket
    inside: bool = False


class ArmMessage(_Message):
    """State of an arm on `/strips`; see `ArmState`."""

    arm: Name
    number: Ticket
    strips: Annotated[dict[Name, StripMessage], Field(max_length=64)]


class WishMessage(_Message):
    """Strips that the skills of an arm want."""

    strips: Annotated[list[Name], Field(max_length=64)]


def arm_state_to_msg(state: ArmState) -> String:
    return String(data=json.dumps(asdict(state)))


def arm_state_from_msg(message: String) -> ArmState:
    """Convert the state of an arm; raise InputError if it is invalid."""
    read = _read(ArmMessage, TOPIC, message)
    return ArmState(read.arm, read.number, {name: StripState(**dict(one)) for name, one in read.strips.items()})


def _read(model: type[Model], topic: str, message: String) -> Model:
    if len(message.data) > MOST_LETTERS:
        raise InputError(f"{topic} has {len(message.data)} letters; {MOST_LETTERS} is the most")
    try:
        return model.model_validate_json(message.data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{topic} is invalid: {where or 'the text'}: {first['msg']}") from error


def boundaries_of(node: Node) -> tuple[Boundary, ...]:
    """Return the boundaries of the node's robot in the world that the parameter `table` names; none if it is alone.

    Raises:
        InputError: There is no such world, or it has no robot of the node's namespace.
    """
    world = node.get_parameter(TABLE.name).value
    shared = read_shared_world(world) if world else None
    return () if shared is None else shared.boundaries(node.get_namespace().strip("/"))


class StripOwner:
    """Reservation of the filter's arm; call `update` with each state of the robot."""

    def __init__(self, node: BaseNode) -> None:
        """Read the parameter `table`, which the node must declare; raise InputError as `boundaries_of`."""
        boundaries = boundaries_of(node)
        self.reservation = ZoneReservation(node.get_namespace().strip("/"), boundaries)
        self._told, self._sent, self._wished = frozenset[str](), 0.0, 0.0
        if not boundaries:
            return
        self._topic = node.create_lifecycle_publisher(String, TOPIC, LATCHED)
        node.create_subscription(String, TOPIC, validated(node, arm_state_from_msg, self.reservation.heard), LATCHED)
        node.create_subscription(String, WISHES, validated(node, self._on_wish), LATCHED)

    def update(self, is_out: Callable[[Zone], bool]) -> tuple[Zone, ...]:
        """Update the reservation and return the zones in force; see `ZoneReservation.update`."""
        if not self.reservation.boundaries:
            return ()
        now = time.monotonic()
        if now > self._wished + WISH_LASTS:
            self.reservation.want(())
        self.reservation.update(is_out)
        if now > self._sent + REPEATED or self.reservation.held != self._told:
            self._sent, self._told = now, self.reservation.held
            self._topic.publish(arm_state_to_msg(self.reservation.state()))
        return self.reservation.zones

    def _on_wish(self, message: String) -> None:
        self.reservation.want(_read(WishMessage, WISHES, message).strips)
        self._wished = time.monotonic()


class StripView:
    """Strips that the node's arm has, as its filter tells; `skills.reserved.Strips` for the skill server."""

    def __init__(self, node: BaseNode, wishes: bool = False) -> None:
        """Read the parameter `table`; with `wishes`, `want` is possible. Raise InputError as `boundaries_of`."""
        self._node, self._arm, self.boundaries = node, node.get_namespace().strip("/"), boundaries_of(node)
        self._states: dict[str, ArmState] = {}  # the newest, by arm
        self._wanted = tuple[str, ...]()
        self._wishes = None
        if not self.boundaries:
            return
        node.create_subscription(String, TOPIC, validated(node, arm_state_from_msg, self._on_state), LATCHED)
        if wishes:
            self._wishes = node.create_lifecycle_publisher(String, WISHES, LATCHED)
            node.every(WISH_LASTS / 4, self._wish)

    @property
    def are_rooms(self) -> bool:
        """Whether the robot is a base that shares rooms, not an arm that shares strips."""
        return any(one.far is None for one in self.boundaries)

    @property
    def strips(self) -> Mapping[str, str]:
        """The neighbour with whom the arm shares a strip, by the name of the strip."""
        return {one.strip: one.neighbour for one in self.boundaries}

    @property
    def held(self) -> frozenset[str]:
        """Names of the strips that the arm has."""
        own = self._states.get(self._arm)
        return frozenset(name for name, one in own.strips.items() if one.has) if own else frozenset()

    @property
    def taken(self) -> frozenset[str]:
        """Names of the strips that its neighbours have or are in."""
        others = [state for arm, state in self._states.items() if arm != self._arm]
        return frozenset(name for state in others for name, one in state.strips.items() if one.is_taken)

    @property
    def zones(self) -> tuple[Zone, ...]:
        """Zones to keep out of now."""
        return zones_of(self.boundaries, self.held)

    def want(self, strips: Collection[str]) -> None:
        """Ask for these strips from now on, and for no others."""
        self._wanted = tuple(strips)
        self._wish()

    def _wish(self) -> None:
        if self._wishes is not None and self._node.is_active:
            self._wishes.publish(String(data=json.dumps({"strips": self._wanted})))

    def _on_state(self, state: ArmState) -> None:
        before = self._states.get(state.arm)
        if state.arm in (self._arm, *self.strips.values()) and (before is None or state.number > before.number):
            self._states[state.arm] = state
