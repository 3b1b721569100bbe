"""What the nodes share: the process from which they are forked imports this module, and nothing starts in it.

It imports the nodes, loads the code of their message types, and the embedded model. rclpy starts two threads when it is
imported, which wait for a session of LTTng; the forked nodes do not have them, so they cannot be traced by LTTng.
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

SERVER = os.getpid()
gc.disable()  # until the nodes are forked, so that it does not look through the imports again and again
os.environ.update(NODE_ENVIRONMENT)
for number in (signal.SIGTERM, signal.SIGHUP):  # sent to the process group; the nodes have to end in order
    signal.signal(number, signal.SIG_IGN)
for entry in NODES:
    if entry.package == __package__ + ".nodes":  # the console has large libraries of its own
        import_module(entry.module)
for name in [name for name in sys.modules if name.endswith((".msg", ".srv", ".action"))]:
    for message in vars(sys.modules[name]).values():
        if hasattr(message, "__import_type_support__"):
            message.__import_type_support__()
with suppress(LlmPlannerError):  # where its weights are missing, the nodes say so
    import_module("llm_planner.language.embedded.model").load_model()  # for planner and listener
gc.freeze()  # a node that collects garbage would otherwise copy the pages of these modules
gc.enable()
