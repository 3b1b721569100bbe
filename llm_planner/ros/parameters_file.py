"""Check of parameters files and of the names of parameters, before any node starts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import rclpy
import yaml
from rclpy.context import Context
from rclpy.logging import LoggingSeverity, set_logger_level

from llm_planner.errors import InputError
from llm_planner.ros.node_table import NODES
from llm_planner.ros.parameters import Setting, plain

USE_SIM_TIME = Setting("use_sim_time", False, "take the time from /clock")  # rclpy declares it
OF_RCLPY = ("start_type_description_service", "qos_overrides.")  # names, or what they begin with


@cache
def settings_of(node: str) -> Mapping[str, Setting]:
    """Return the parameters of a node of the table, by name; imports the node's module."""
    from llm_planner.ros.base_node import BaseNode

    (entry,) = (entry for entry in NODES if entry.name == node)
    module = import_module(entry.module)
    (found,) = (
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, BaseNode) and one.__module__ == module.__name__
    )
    return {setting.name: setting for setting in (*found.SETTINGS, BaseNode.AUTOSTART, USE_SIM_TIME)}


def unknown_parameter(node: str, name: str, known: Iterable[str]) -> str:
    """Return the error for a parameter that a node does not have, with the nearest of those that are `known`."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return f"{node} has no parameter {name!r}; {meant}Its parameters: {', '.join(names)}"


def is_of_another_node(name: str) -> bool:
    """Return whether a node of the table has a parameter of this name, as one under `/**` in a file; imports them."""
    return any(name in settings_of(entry.name) for entry in NODES)


def check_parameters_file(path: Path) -> None:
    """Let rcl parse a parameters file, as the nodes will, and check the names and values of our nodes' parameters.

    Raises:
        InputError: The file cannot be parsed, or a node has no such parameter, or not with this value.
    """
    set_logger_level("rcl", LoggingSeverity.FATAL)  # the InputError reports it already
    context = Context()
    try:
        rclpy.init(args=["--ros-args", "--params-file", str(path)], context=context)
    except RuntimeError as error:
        raise InputError(
            f"the parameters file {path} cannot be used: {plain(error).rpartition('Error: ')[2]}"
        ) from None
    finally:
        set_logger_level("rcl", LoggingSeverity.UNSET)
    context.try_shutdown()
    for node, name, value in _entries(yaml.safe_load(path.read_text(encoding="utf-8"))):
        if problem := _problem(node, name, value):
            raise InputError(f"the parameters file {path} is wrong: {problem}")


def _entries(content: object, above: str = "") -> Iterator[tuple[str, str, object]]:
    """Yield node, parameter and value; the node is "*" for several."""
    for key, below in content.items() if isinstance(content, dict) else ():
        if key == "ros__parameters":
            node = above.rpartition("/")[2]
            yield from ((node.replace("**", "*"), name, value) for name, value in _flat(below))
        else:
            yield from _entries(below, f"{above}/{key}")


def _flat(values: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _problem(node: str, name: str, value: object) -> str:
    """Return what is wrong with a parameter of our nodes; "" if nothing is, or for nodes of others."""
    names = [entry.name for entry in NODES]
    if name.startswith(OF_RCLPY):
        return ""
    if node not in (*names, "*"):
        close = difflib.get_close_matches(node, names, n=1, cutoff=0.8)
        return f"there is no node {node!r}; did you mean {close[0]!r}?" if close else ""
    found = [own[name] for own in map(settings_of, names if node == "*" else [node]) if name in own]
    if not found:
        known = {one for own in map(settings_of, names if node == "*" else [node]) for one in own}
        return unknown_parameter("this system" if node == "*" else node, name, known)
    problems = (setting.problem(_as_rcl_reads(setting, value)) for setting in found)
    return next((f"{node}: {problem}" for problem in problems if problem), "")


def _as_rcl_reads(setting: Setting, value: object) -> object:
    """Return a number such as 1e-3, which YAML 1.1 takes for a text, as rcl reads it."""
    try:
        return float(value) if isinstance(setting.default, float) and isinstance(value, str) else value
    except ValueError:
        return value
