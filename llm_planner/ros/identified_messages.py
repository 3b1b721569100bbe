"""Messages together with the identity of their publisher, which rclpy of Jazzy leaves out.

rcl knows the DDS identity (GID) of each message's publisher; rclpy hands it on as `publisher_gid` since Kilted. For an
older rclpy, `take` asks rcl itself, by the C functions and structures of `rcl/subscription.h` and `rmw/types.h`
(`docs/decisions/ros-from-pip.md` says why).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import rclpy.subscription
from rclpy._rclpy_pybind11 import RMWError
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

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
        Message and its MessageInfo with `publisher_gid`; None if no message waits, or the one taken cannot be read as
        the subscription's type.

    Raises:
        InvalidHandle: The subscription was destroyed.
        RuntimeError: The middleware failed.
    """
    handle = subscription.handle
    with handle:
        if RCLPY_NAMES_PUBLISHERS:
            return handle.take_message(subscription.msg_type, False)
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
        message = deserialize_message(data, subscription.msg_type)
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
