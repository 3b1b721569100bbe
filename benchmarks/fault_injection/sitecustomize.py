"""Faults for processes under test: Python imports this module by itself where its folder is on PYTHONPATH.

A fault is ordered by making a file of its name in the folder LLM_PLANNER_FAULTS, and happens once: whoever acts on it
removes the file. Nothing of the product knows of it.

    drop stop                    the next response of the service `stop`, or `edit_plan`, `reset_world`, is lost
    drop execute_skill.goal      so is that of an action: goal, result or cancel, of any action
    raise skill.start            the next call of this hook of a skill raises: start, step or phase

On the signal USR1 a process writes where each of its threads is to its standard error.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from pathlib import Path
from typing import Any

FOLDER = os.environ.get("LLM_PLANNER_FAULTS")


def _ordered(fault: str) -> bool:
    """Whether the fault is ordered; it is not any more then."""
    try:
        (Path(FOLDER) / fault).unlink()
    except OSError:
        return False
    return True


def _lose_responses() -> None:
    from rclpy.action import server
    from rclpy.impl.implementation_singleton import rclpy_implementation
    from rclpy.service import Service

    send = Service.send_response

    def send_response(self: Any, response: Any, header: Any) -> None:
        if not _ordered(f"drop {self.service_name.rpartition('/')[2]}"):
            send(self, response, header)

    Service.send_response = send_response

    names: dict[int, str] = {}
    made = server.ActionServer.__init__

    def init(self: Any, node: Any, action_type: Any, action_name: str, *arguments: Any, **options: Any) -> None:
        made(self, node, action_type, action_name, *arguments, **options)
        names[id(self._handle)] = action_name.rpartition("/")[2]

    server.ActionServer.__init__ = init

    def losing(kind: str) -> None:
        name = f"send_{kind}_response"
        send_one = getattr(rclpy_implementation.ActionServer, name)

        def send_unless_lost(handle: Any, header: Any, response: Any) -> None:
            if not _ordered(f"drop {names.get(id(handle), '')}.{kind}"):
                send_one(handle, header, response)

        setattr(rclpy_implementation.ActionServer, name, send_unless_lost)

    for kind in ("goal", "result", "cancel"):
        losing(kind)


class _Crashing:
    """A skill, or its run, whose hooks raise where that is ordered."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def phase(self) -> str:
        return self._crash("phase") or self._inner.phase

    def start(self, *arguments: Any) -> Any:
        return self._crash("start") or _Crashing(self._inner.start(*arguments))

    def step(self, *arguments: Any) -> Any:
        return self._crash("step") or self._inner.step(*arguments)

    def _crash(self, hook: str) -> None:
        if _ordered(f"raise skill.{hook}"):
            raise KeyError(f"injected into {hook}")


def _crash_skills() -> None:
    from llm_planner.skills import library

    started = library.started
    library.started = lambda name, skill, *arguments: started(name, _Crashing(skill), *arguments)


if FOLDER and any(word.startswith("llm_planner.ros.") for word in sys.orig_argv):  # no process that a node starts
    faulthandler.register(signal.SIGUSR1)
    _lose_responses()
    _crash_skills()
elif FOLDER and any(word.endswith("mock_ros2_control.py") for word in sys.orig_argv):
    _lose_responses()
