"""Which transport DDS uses: UDP sockets, not shared memory.

Fast DDS exchanges data between processes of one machine through shared memory. A process that is killed while it opens
a segment leaves it unfinished, and every other process that sends to it then waits for ever inside its publish call
(eProsima/Fast-DDS issues 1144, 2003, 6117; tried here: one of four kills of a simulator). A safety filter must not be
stopped by the death of its neighbour, and segments of killed processes stay in /dev/shm. Sockets have neither fault.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from llm_planner.share import share_folder

RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
PROFILES = "FASTRTPS_DEFAULT_PROFILES_FILE"
LOOPBACK, NETWORK = "fastdds_loopback.xml", "fastdds_network.xml"
# A cloud of points is 5 MB. What the socket of a reader cannot hold is lost; it never holds up the sender.
SOCKETS = "UDPv4?sockets_size=4MB&non_blocking=true"


def _profile(name: str) -> str:
    """Return the path of one of the two profiles, as `PROFILES` holds it."""
    return str(share_folder("config") / name)


def socket_transport(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make Fast DDS use sockets only; empty where the user chose a profile or another DDS.

    On the range LOCALHOST, rmw_fastrtps adds shared memory whatever else is set. There, the profile
    `config/fastdds_loopback.xml` takes its place: loopback only, without multicast. The range then reads
    SYSTEM_DEFAULT, which leaves it to the profile. Both profiles announce processes more often: a new one often misses
    the first answers of the others, and knows them after 0.5 instead of 3 s.

    Args:
        environ: Environment of the process that will join the network.
    """
    loopback, network = _profile(LOOPBACK), _profile(NETWORK)
    chosen = {environ.get(name, "") for name in (PROFILES, "FASTDDS_DEFAULT_PROFILES_FILE", "ROS_STATIC_PEERS")}
    if chosen - {"", loopback, network} or "fastrtps" not in environ.get("RMW_IMPLEMENTATION", "fastrtps"):
        return {}
    if environ.get(RANGE) == "LOCALHOST":
        return {RANGE: "SYSTEM_DEFAULT", PROFILES: loopback}
    if environ.get(PROFILES) == loopback:  # of the process that started this one
        return {}
    return {PROFILES: network, "FASTDDS_BUILTIN_TRANSPORTS": environ.get("FASTDDS_BUILTIN_TRANSPORTS", SOCKETS)}


def stays_on_this_machine(environ: Mapping[str, str]) -> bool:
    """Return whether DDS reaches no other machine with these variables, as far as this package set it up."""
    is_local = environ.get(RANGE) in ("LOCALHOST", "OFF") or environ.get(PROFILES) == _profile(LOOPBACK)
    return is_local and not environ.get("ROS_STATIC_PEERS")


def use_sockets() -> None:
    """Set `socket_transport` for this process and its future children; call it before rclpy.init."""
    os.environ.update(socket_transport(os.environ))
