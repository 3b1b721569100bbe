"""What the process from which nodes are forked has imported."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, os, sys
from importlib import import_module
from llm_planner.ros.node_table import NODES

def imported():
    return {name for name in sys.modules if not name.startswith(LIGHT)}

LIGHT = tuple(f"llm_planner.{package}" for package in ("ros", "cli", "console"))

import llm_planner.ros.preloaded
before, tasks = imported(), len(os.listdir("/proc/self/task"))
for node in NODES:
    import_module(node.module)
own = sorted(name for name in imported() - before if name.startswith("llm_planner."))
print(json.dumps([tasks, "rclpy" in before, own]))
"""


def test_it_has_one_thread_no_rclpy_and_nearly_all_that_nodes_import():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    tasks, has_rclpy, left = json.loads(done.stdout)
    assert tasks == 1, "a fork copies only the thread that forks"
    assert not has_rclpy
    assert len(left) <= 10, f"add to llm_planner/ros/preloaded.py what imports these: {', '.join(left)}"
