"""What the process from which nodes are forked has imported."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, os, sys
from importlib import import_module
from llm_planner.ros.node_table import NODES

def libraries():
    return {os.path.basename(line.split()[-1]) for line in open("/proc/self/maps") if ".so" in line}

import llm_planner.ros.preloaded
tasks, before, loaded = len(os.listdir("/proc/self/task")), set(sys.modules), libraries()
for node in NODES:
    if node.name != "console":
        import_module(node.module)
import rclpy
from llm_planner_interfaces.msg import Plan
Plan.__import_type_support__()
print(json.dumps([tasks, sorted(set(sys.modules) - before), sorted(libraries() - loaded), rclpy.ok()]))
"""


def test_it_has_imported_all_that_nodes_import_and_begun_nothing():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    tasks, modules, libraries, is_initialised = json.loads(done.stdout)
    assert tasks in (1, 3), "a fork copies only the thread that forks; LTTng's two, which wait, may be left behind"
    assert not [name for name in modules if name.startswith(("llm_planner", "rclpy"))]
    assert not [name for name in libraries if "typesupport" in name]
    assert not is_initialised
