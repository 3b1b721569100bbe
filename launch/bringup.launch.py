"""ros2 launch llm_planner bringup.launch.py world:=tabletop: the system that `llm-planner up` starts, with its options.

simulator:=false robot:=ur5e leaves the simulated robot out and commands the controllers that robot.yaml names.
"""

import os
import shlex
import time
from contextlib import ExitStack

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from llm_planner.cli.processes import ros_arguments
from llm_planner.cli.system_options import OPTIONS, requested_system
from llm_planner.errors import InputError
from llm_planner.ros.other_systems import claim_system
from llm_planner.ros.processes import RestartLimit, prefix

CLAIMS = ExitStack()  # kept, so that the names stay ours until this process ends


def generate_launch_description() -> LaunchDescription:
    """Every node of the system; a node that dies is started again, one that cannot start ends the launch."""
    arguments = (
        DeclareLaunchArgument(option.name, default_value=option.default, description=option.told) for option in OPTIONS
    )
    return LaunchDescription([*arguments, OpaqueFunction(function=start_system)])


def start_system(context) -> list[Node]:
    """Check all arguments and be the only system of each namespace; an error ends the launch with its message."""
    given = {option.name: context.perform_substitution(LaunchConfiguration(option.name)) for option in OPTIONS}
    system = requested_system(given)
    CLAIMS.enter_context(claim_system(system.names, on_network=False))  # parts may run on several machines
    return [node_action(entry, system.options) for entry in system.entries]


def node_action(entry, options) -> Node:
    """The launch action of one node."""
    return Node(
        package="llm_planner",
        executable=entry.name,
        exec_name=entry.label,  # labels its output
        name=entry.name,
        namespace=options.namespace_of(entry),
        arguments=ros_arguments(entry, options),
        prefix=[shlex.join(prefix(os.getpid())), " ", LaunchConfiguration("launch-prefix", default="")],
        output="screen",
        respawn=True,
        respawn_delay=10.0 if entry.on_request else 1.0,
        on_exit=None if entry.on_request else end_where_hopeless(entry.label),
    )


def end_where_hopeless(label):
    """End the launch, with exit status 1, where a node ends again and again."""
    limit = RestartLimit()

    def on_exit(event, context) -> None:
        given_up = limit.ended(event.returncode, time.monotonic())
        if given_up:
            raise InputError(
                f"the node {label} {given_up}, so everything is ended. Its last lines above say why: mend that and "
                "launch again"
            )

    return on_exit
