"""Action server that knows which node sent a goal, which rclpy does not tell.

rclpy holds the identity (`rmw_request_id_t` of `rmw/types.h`) of each request in an object of pybind11 and shows only
its number. `requester_gid` reads the rest, and reads nothing where the number is not the one that rclpy shows.
"""

from __future__ import annotations

import ctypes

from rclpy.action import ActionServer
from rclpy.node import Node

from llm_planner.ros.publisher_check import UNDISCOVERED


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


def requester_name(node: Node, service: str, gid: bytes) -> str:
    """Return the full name of the node whose client of `service` reads responses with this identity; "" if unknown."""
    topic = f"rr{node.resolve_service_name(service)}Reply"
    for known in node.get_subscriptions_info_by_topic(topic, no_mangle=True):
        if gid and bytes(known.endpoint_gid)[: len(gid)] == gid and known.node_name != UNDISCOVERED:
            return f"{known.node_namespace.rstrip('/')}/{known.node_name}"
    return ""


class IdentifyingActionServer(ActionServer):
    """Action server whose goal callback may ask for the `sender`."""

    def __init__(self, node: Node, action_type: type, name: str, *arguments: object, **options: object) -> None:
        self._service, self._gid = f"{name}/_action/send_goal", b""
        super().__init__(node, action_type, name, *arguments, **options)

    @property
    def sender(self) -> str:
        """Name of the node that sent the goal being considered, relative to the server's namespace; "" if unknown."""
        name = requester_name(self._node, self._service, self._gid)
        return name.removeprefix(self._node.get_namespace().rstrip("/") + "/")

    async def _execute_goal_request(self, request_header_and_message: tuple[object, object]) -> None:
        self._gid = requester_gid(request_header_and_message[0])
        await super()._execute_goal_request(request_header_and_message)
