"""What nodes are told of the arm by their parameters."""

from __future__ import annotations

from pathlib import Path

from llm_planner.control.robot_file import PANDA, ArmDescription, read_arm
from llm_planner.nodes.settings import ROBOT_FILE
from llm_planner.nodes.shell import ShellNode


def arm_of(node: ShellNode) -> ArmDescription:
    """The arm in the node's `robot_file`; raises InputError."""
    file = node.setting(ROBOT_FILE.name)
    return read_arm(Path(file).expanduser()) if file else PANDA
