"""Who sent a message or a goal, which rclpy of Jazzy does not tell, and whether that node may move the robot.

rcl knows the DDS identity (GID) of each message's publisher; rclpy hands it on as `publisher_gid` since Kilted. For an
older rclpy, `take` asks rcl itself, by the C functions and structures of `rcl/subscription.h` and `rmw/types.h`
(`docs/decisions/ros-from-pip.md` says why). Of a goal, rclpy holds the identity (`rmw_request_id_t` of `rmw/types.h`)
in an object of pybind11 and shows only its number: `requester_gid` reads the rest, and reads nothing where the number
is not the one that rclpy shows.

Nodes take what moves the robot only from the node that `node_table.SENDERS` names (`PublisherCheck`). A command, a
motion reference or a lease from elsewhere, such as the shell, would move the robot without plan, rules and privileges.
Names of nodes are no secrets: on a network that is not your own, SROS 2 enforces the same table.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import rclpy.subscription
from rclpy._rclpy_pybind11 import RMWError
from rclpy.action import ActionServer
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

RCLPY_NAMES_PUBLISHERS = hasattr(rclpy.subscription, "MessageInfo")
_TAKE_FAILED = 401  # RCL_RET_SUBSCRIPTION_TAKE_FAILED: no message waits


class _Allocator(ctypes.Structure):
    """`rcutils_allocator_t`."""

    _fields_ = tuple(
        (name, ctypes.c_void_p) for name in ("allocate", "deallocate", "reallocate", "zero_allocate", "state")
    )


class _SerializedMessage(ctypes.Structure):
    """`rcl_serialized_message_t`."""

    _fields_ = (
        ("buffer", ctypes.c_void_p),
        ("buffer_length", ctypes.c_size_t),
        ("buffer_capacity", ctypes.c_size_t),
        ("allocator", _Allocator),
    )


class _MessageInfo(ctypes.Structure):
    """`rmw_message_info_t`, with its `rmw_gid_t`."""

    _fields_ = (
        ("source_timestamp", ctypes.c_int64),
        ("received_timestamp", ctypes.c_int64),
        ("publication_sequence_number", ctypes.c_uint64),
        ("reception_sequence_number", ctypes.c_uint64),
        ("implementation_identifier", ctypes.c_char_p),
        ("gid", ctypes.c_uint8 * 16),
        ("from_intra_process", ctypes.c_bool),
    )


# rclpy has loaded both libraries.
_rcl, _rcutils = ctypes.CDLL("librcl.so"), ctypes.CDLL("librcutils.so")
_rcl.rcl_take_serialized_message.argtypes = (ctypes.c_void_p,) * 4
_rcutils.rcutils_uint8_array_fini.argtypes = (ctypes.c_void_p,)
_rcutils.rcutils_get_default_allocator.restype = _Allocator
_ALLOCATOR = _rcutils.rcutils_get_default_allocator()


def take(subscription: Subscription) -> tuple[Any, dict[str, Any]] | None:
    """Take the oldest waiting message of a subscription.

    Returns:
        Message, as bytes from a raw subscription, and its MessageInfo with `publisher_gid`; None if no message
        waits, or the one taken cannot be read as the subscription's type.

    Raises:
        InvalidHandle: The subscription was destroyed.
        RuntimeError: The middleware failed.
    """
    handle = subscription.handle
    with handle:
        if RCLPY_NAMES_PUBLISHERS:
            return handle.take_message(subscription.msg_type, subscription.raw)
        serialized, info = _SerializedMessage(allocator=_ALLOCATOR), _MessageInfo()
        try:
            status = _rcl.rcl_take_serialized_message(
                handle.pointer, ctypes.byref(serialized), ctypes.byref(info), None
            )
            if status == _TAKE_FAILED:
                return None
            if status:
                _rcutils.rcutils_reset_error()
                raise RuntimeError(f"no message of {subscription.topic} could be taken: rcl returned {status}")
            data = ctypes.string_at(serialized.buffer, serialized.buffer_length)
        finally:
            _rcutils.rcutils_uint8_array_fini(ctypes.byref(serialized))
    try:
        message = data if subscription.raw else deserialize_message(data, subscription.msg_type)
    except RMWError:
        return None
    return message, {
        "source_timestamp": info.source_timestamp,
        "received_timestamp": info.received_timestamp,
        "publication_sequence_number": info.publication_sequence_number,
        "reception_sequence_number": None,
        "publisher_gid": {"implementation_identifier": info.implementation_identifier, "data": bytes(info.gid)},
    }


def backlog(subscription: Subscription, most: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Take up to `most` waiting messages from a subscription, oldest first, each with its MessageInfo."""
    for _ in range(most):
        taken = take(subscription)
        if taken is None:
            return
        yield taken


class _RequestId(ctypes.Structure):
    """`rmw_request_id_t`."""

    _fields_ = (("writer_guid", ctypes.c_uint8 * 16), ("sequence_number", ctypes.c_int64))


_VALUE = 2 * ctypes.sizeof(ctypes.c_void_p)  # offset of the pointer to the C value, behind CPython's object header


def requester_gid(header: object) -> bytes:
    """Return the DDS identity of the reader to which the response to a request goes; b"" if it cannot be known."""
    address = ctypes.c_void_p.from_address(id(header) + _VALUE).value
    if not address:
        return b""
    found = _RequestId.from_address(address)
    return bytes(found.writer_guid) if found.sequence_number == header.sequence_number else b""


class IdentifyingActionServer(ActionServer):
    """Action server whose goal callback may ask for the `sender`."""

    def __init__(self, node: Node, action_type: type, name: str, *arguments: object, **options: object) -> None:
        self._service, self._gid = f"{name}/_action/send_goal", b""
        super().__init__(node, action_type, name, *arguments, **options)

    @property
    def sender(self) -> str:
        """Name of the node that sent the goal being considered, relative to the server's namespace; "" if unknown."""
        topic = f"rr{self._node.resolve_service_name(self._service)}Reply"
        name = _owner(self._node.get_subscriptions_info_by_topic(topic, no_mangle=True), self._gid)
        return name.removeprefix(self._node.get_namespace().rstrip("/") + "/")

    async def _execute_goal_request(self, request_header_and_message: tuple[object, object]) -> None:
        self._gid = requester_gid(request_header_and_message[0])
        await super()._execute_goal_request(request_header_and_message)


UNKNOWN_FOR = 0.2  # [s, wall time] until a publisher that was refused is looked up again: discovery may be late
UNDISCOVERED = "_NODE_NAME_UNKNOWN_"  # the name that rmw gives a publisher's node until it is known
TRIES = 25  # to find out who sent a latched message
MOST_KNOWN = 256  # publishers that are remembered


def publisher_gid(info: dict[str, Any]) -> bytes:
    """Return the DDS identity of a message's publisher; b"" if the middleware does not provide it."""
    gid = info.get("publisher_gid") or b""
    return bytes(gid["data"] if isinstance(gid, dict) else gid)


def publisher_name(node: Node, topic: str, gid: bytes) -> str:
    """Return the full name of the node that publishes on `topic` with this identity; "" if it is not known."""
    return _owner(node.get_publishers_info_by_topic(topic), gid)


def stop_of(node: Node, topic: str, info: dict[str, Any]) -> str:
    """Return the reason of a stop that came by this topic, with its sender if that is known."""
    sender = ""
    with suppress(Exception):  # nothing keeps a stop from stopping
        sender = publisher_name(node, topic, publisher_gid(info))
    return "a stop came by the topic stop" + (f", from the node {sender}" if sender else "")


def _owner(endpoints: Iterable[TopicEndpointInfo], gid: bytes) -> str:
    for known in endpoints:
        if gid and bytes(known.endpoint_gid)[: len(gid)] == gid and known.node_name != UNDISCOVERED:
            return f"{known.node_namespace.rstrip('/')}/{known.node_name}"
    return ""


class PublisherCheck:
    """Refuses messages on `topic` from other nodes than those called `names`, relative to the namespace of `node`.

    Without names it refuses nothing.
    """

    def __init__(self, node: Node, topic: str, names: Iterable[str]) -> None:
        self._node, self._topic = node, topic
        self._names = [f"{node.get_namespace().rstrip('/')}/{name}" for name in names]
        self._accepted: set[bytes] = set()
        self._refused: dict[bytes, float] = {}  # until when [s, monotonic]
        self._waiting: dict[bytes, Callable[[], object]] = {}  # what takes the newest message of an unknown publisher
        self._tries: dict[bytes, int] = {}

    def passes(self, info: dict[str, Any], again: Callable[[], object] | None = None) -> bool:
        """Return whether the message with this MessageInfo may be taken; log it if another node sent it.

        A latched message comes once: if its publisher is not known yet, `again` takes it later, or that of a newer one.
        """
        if not self._names:
            return True
        gid = publisher_gid(info)
        if gid in self._accepted:
            return True
        if time.monotonic() < self._refused.get(gid, 0.0):
            if again is not None and gid in self._waiting:
                self._waiting[gid] = again
            return False
        found = publisher_name(self._node, self._topic, gid)
        if found in self._names:
            self._accepted.add(gid)
            return True
        if len(self._refused) > MOST_KNOWN:
            self._refused.clear()
            self._tries.clear()
        self._refused[gid] = time.monotonic() + UNKNOWN_FOR
        if found:
            self._node.get_logger().warning(
                f"{self._topic} of {found} is refused: only {' or '.join(self._names)} sends it, for the running step "
                "of a plan. Command the robot by language_command or the action execute_command",
                throttle_duration_sec=5.0,
            )
        elif again is not None:
            self._try_again(gid, again)
        return False

    def _try_again(self, gid: bytes, again: Callable[[], object]) -> None:
        self._tries[gid] = self._tries.get(gid, 0) + 1
        if self._tries[gid] > TRIES:
            return

        def take() -> None:
            self._node.destroy_timer(timer)
            self._waiting.pop(gid)()

        self._waiting[gid] = again
        timer = self._node.create_timer(1.1 * UNKNOWN_FOR, take, clock=Clock(clock_type=ClockType.STEADY_TIME))
