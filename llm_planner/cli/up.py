"""`llm-planner up`: the nodes, until interrupted."""

from __future__ import annotations

import argparse

from llm_planner.cli.processes import NodeProcesses, end_like_an_interrupt
from llm_planner.cli.system_options import add_system_options, node_options
from llm_planner.nodes.node_table import NODES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_system_options(parser)
    parser.add_argument("--namespace", default="", help="namespace of all nodes, for a second robot")
    parser.add_argument("--use-sim-time", action="store_true", help="nodes take the time from /clock")
    parser.add_argument(
        "--no-simulator", action="store_true", help="leave the simulated robot out: there is a real one"
    )


def run(args: argparse.Namespace) -> int:
    """Start the nodes; returns only by interrupt."""
    from dataclasses import replace

    from llm_planner.nodes.company import check_nobody_else

    end_like_an_interrupt()
    options = replace(node_options(args, namespace=args.namespace), use_sim_time=args.use_sim_time)
    entries = [entry for entry in NODES if not (args.no_simulator and entry.simulated)]
    check_nobody_else([entry.name for entry in entries], args.namespace)
    with NodeProcesses(entries, options) as processes:
        print(f"started: {', '.join(entry.name for entry in entries)}")
        print('Tell the robot something from another terminal: llm-planner say "…"   Interrupt (Ctrl-C) ends it all.')
        try:
            processes.supervise(lambda text: print(text, flush=True))
        except KeyboardInterrupt:
            print("ending the nodes")
    return 0
