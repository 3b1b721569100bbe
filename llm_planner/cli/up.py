"""`llm-planner up`: run the nodes until interrupted."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from llm_planner.cli.processes import NodeOptions, NodeProcesses, end_like_an_interrupt
from llm_planner.cli.system_options import add_system_options, node_options
from llm_planner.ros.node_table import NodeEntry, nodes_beside


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_system_options(parser, real_robots=True)
    parser.add_argument("--namespace", default="", help="namespace of all nodes, for a second robot")
    parser.add_argument("--use-sim-time", action="store_true", help="nodes take the time from /clock")


def run(args: argparse.Namespace) -> int:
    """Run the nodes until interrupted; raise InputError if a node cannot start."""
    from dataclasses import replace

    from llm_planner.ros.other_systems import SYSTEM, check_nobody_else, claim_name, own_domain
    from llm_planner.ros.security import check_enclaves

    end_like_an_interrupt()
    options = replace(node_options(args, namespace=args.namespace), use_sim_time=args.use_sim_time)
    entries = nodes_beside(not args.no_simulator)
    check_enclaves(args.namespace, [entry.name for entry in entries], os.environ)
    domain = own_domain()
    with claim_name(SYSTEM, args.namespace, domain):
        check_nobody_else([entry.name for entry in entries], args.namespace, domain)
        return _run(entries, options)


def _run(entries: Sequence[NodeEntry], options: NodeOptions) -> int:
    with NodeProcesses(entries, options) as processes:
        try:
            print(f"started: {', '.join(entry.name for entry in entries)}")
            print('Tell the robot something from another terminal: llm-planner say "…"')
            print("Interrupt (Ctrl-C) ends it all.")
            processes.supervise(lambda text: print(text, flush=True))
        except KeyboardInterrupt:
            print("ending the nodes")
    return 0
