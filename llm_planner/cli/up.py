"""`llm-planner up`: run the nodes until interrupted."""

from __future__ import annotations

import argparse

from llm_planner.cli.processes import NodeProcesses, end_like_an_interrupt
from llm_planner.cli.system_options import System, add_system_options, requested_system


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_system_options(parser, of_launch=True)


def run(args: argparse.Namespace) -> int:
    """Run the nodes until interrupted; raise InputError if a node cannot start."""
    from llm_planner.ros.other_systems import claim_system

    end_like_an_interrupt()
    system = requested_system(vars(args))
    with claim_system(system.names, on_network=True):
        return _run(system)


def _run(system: System) -> int:
    with NodeProcesses(system.entries, system.options) as processes:
        try:
            print(f"started: {', '.join(entry.label for entry in system.entries)}")
            namespace = next((entry.namespace for entry in system.entries if entry.namespace), system.options.namespace)
            to = f"--namespace {namespace} " if namespace else ""
            print(f'Tell the robot something from another terminal: llm-planner say {to}"…"')
            print("Interrupt (Ctrl-C) ends it all.")
            processes.supervise(lambda text: print(text, flush=True))
        except KeyboardInterrupt:
            print("ending the nodes")
    return 0
