"""Imports, and the embedded model, that nodes share: the process from which nodes are forked imports this module first.

rclpy is not among them, because importing it starts threads, which a fork does not copy. Messages are: their classes
load the library of their type only when they are first used.
"""

import gc
import os
import signal
from contextlib import suppress
from importlib import import_module

from llm_planner.errors import LlmPlannerError
from llm_planner.ros.processes import NODE_ENVIRONMENT

SERVER = os.getpid()
COMMON = (  # they import the rest
    "llm_planner.control.adaptation",
    "llm_planner.control.fallback_supervisor",
    "llm_planner.corrections.command_planner",
    "llm_planner.corrections.dialogue_session",
    "llm_planner.corrections.resume",
    "llm_planner.execution.journal_buffer",
    "llm_planner.planning.in_process",
    "llm_planner.robots.robot_description",
    "llm_planner.simulation.loaded",
    "llm_planner.simulation.renderers",
    "llm_planner.skills.base",
    "llm_planner.recording.writing",
    "llm_planner.ros.conversions.scene_messages",
    "llm_planner.ros.conversions.correction_messages",
    "llm_planner.ros.conversions.motion_messages",
    "llm_planner.ros.conversions.plan_messages",
    "llm_planner.speech.recognisers",
    "diagnostic_msgs.msg",
    "lifecycle_msgs.srv",
    "llm_planner_interfaces.action",
    "llm_planner_interfaces.srv",
    "rcl_interfaces.srv",
    "rosgraph_msgs.msg",
    "type_description_interfaces.srv",
)

os.environ.update(NODE_ENVIRONMENT)
for number in (signal.SIGTERM, signal.SIGHUP):  # sent to the process group; the nodes have to end in order
    signal.signal(number, signal.SIG_IGN)
for module in COMMON:
    import_module(module)
with suppress(LlmPlannerError):  # where its weights are missing, the nodes say so
    import_module("llm_planner.language.embedded.model").load_model()  # for planner and listener
gc.collect()
gc.freeze()  # a node that collects garbage would otherwise copy the pages of these modules
