"""The nodes, in one table that the launch file, `llm-planner up` and `setup.py` read, so that they cannot drift.

`setup.py` reads this file as text: keep each name a literal.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodeEntry:
    """One node: its `name` in the graph (and of its program); its module is `llm_planner.nodes.<name>_node`.

    `simulated` nodes stand in for a real robot and are left out where there is one.
    """

    name: str
    simulated: bool = False

    @property
    def module(self) -> str:
        return f"llm_planner.nodes.{self.name}_node"


NODES = (
    NodeEntry("simulator", simulated=True),
    NodeEntry("mpc_controller"),
    NodeEntry("safety_filter"),
    NodeEntry("skill_server"),
    NodeEntry("plan_executor"),
    NodeEntry("language_planner"),
    NodeEntry("correction_listener"),
    NodeEntry("camera", simulated=True),
)
CLIENT = "llm_planner_client"  # the node of `llm-planner say`, `correct`, `listen`, `stop` and `up`


def enclave(namespace: str, node: str) -> str:
    """The name under which SROS 2 knows the process of a node: its full name."""
    return "/".join(["", *filter(None, namespace.split("/")), node])
