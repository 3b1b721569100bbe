"""What the nodes share: the process from which they are forked imports this module, and nothing starts in it.

It imports the nodes and the code of their message types, and reads what most of them need: skills, default arm and
embedded model, which are cached. Packages with other skills are left to the nodes: their code may start threads, which
a fork does not copy. rclpy starts two, for sessions of LTTng: what is forked here cannot be traced by it.
"""

import gc
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

from llm_planner.errors import LlmPlannerError
from llm_planner.ros.node_table import NODES
from llm_planner.ros.processes import NODE_ENVIRONMENT
from llm_planner.share import share_folder

SERVER = os.getpid()
LATE = ("mujoco", "tf2_msgs.msg", "visualization_msgs.msg")  # which several nodes import when they start


def _import_nodes() -> None:
    for entry in NODES:
        if entry.package == f"{__package__}.nodes":  # the console has large libraries of its own
            import_module(entry.module)
    for name in LATE:
        with suppress(ImportError):  # not every installation has all messages
            import_module(name)
    for module in [module for name, module in sys.modules.items() if name.endswith((".msg", ".srv", ".action"))]:
        for message in vars(module).values():
            if hasattr(message, "__import_type_support__"):
                message.__import_type_support__()


def _read_files() -> None:
    from llm_planner.control.safety_filter.robots import arm_body
    from llm_planner.language.embedded.model import load_model
    from llm_planner.robots.arm_model import default_arm
    from llm_planner.skills.library import read_skill, skill_packages

    skill_packages()
    for manifest in share_folder("skills").glob("*/skill.yaml"):
        read_skill(manifest)
    arm_body(default_arm())
    load_model()


os.environ.update(NODE_ENVIRONMENT)  # before NumPy and MuJoCo are imported
for number in (signal.SIGTERM, signal.SIGHUP):  # sent to the process group; the nodes have to end in order
    signal.signal(number, signal.SIG_IGN)
gc.disable()  # what is imported here stays
_import_nodes()
with suppress(LlmPlannerError):  # the nodes that need the file say what is wrong with it
    _read_files()
gc.freeze()  # a node that collects garbage would otherwise copy the pages of these modules
gc.enable()
