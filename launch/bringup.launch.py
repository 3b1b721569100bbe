"""ros2 launch llm_planner bringup.launch.py world:=tabletop: the nodes of the table that `llm-planner up` reads too.

simulator:=false robot:=ur5e leaves the simulated robot out and commands the controllers that robot.yaml names.
"""

import os
import shlex

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from llm_planner.errors import InputError
from llm_planner.robots.robot_folders import listed
from llm_planner.ros.node_table import NODES, enclave, nodes_of
from llm_planner.ros.other_systems import SYSTEM, claim_name, own_domain
from llm_planner.ros.processes import CANNOT_START, MOST_TRIES, prefix
from llm_planner.simulation.worlds import read_shared_table

PACKAGE = "llm_planner"
CONFIG = PathJoinSubstitution([FindPackageShare(PACKAGE), "config", "bringup.yaml"])
ARGUMENTS = (
    DeclareLaunchArgument("namespace", default_value="", description="namespace of all nodes, for a second robot"),
    DeclareLaunchArgument("use_sim_time", default_value="false", description="take the time from /clock"),
    DeclareLaunchArgument("params_file", default_value=CONFIG, description="parameters of the nodes"),
    DeclareLaunchArgument("log_level", default_value="info", description="debug, info, warn, error or fatal"),
    DeclareLaunchArgument(
        "simulator",
        default_value="true",
        description="false: there is a real robot, with the controllers of robot.yaml",
    ),
    DeclareLaunchArgument(
        "world", default_value="tabletop", description="name of the simulated world, or its file: robots and namespaces"
    ),
    DeclareLaunchArgument(
        "robot",
        default_value="arm",
        description=f"{listed()}, the folder of an arm of your own, or mobile in the world rooms",
    ),
)


CLAIMS = []  # kept, so that the names stay ours until this process ends


def generate_launch_description() -> LaunchDescription:
    """Every node of the table; a node that dies is started again, one that cannot start ends the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start_system)])


def start_system(context) -> list[Node]:
    """Be the only system of each namespace on this machine; an error ends the launch with its message.

    In a world whose arms share a table, each arm has its nodes in the namespace that the world gives it.
    """
    namespace, world = (context.perform_substitution(LaunchConfiguration(name)) for name in ("namespace", "world"))
    table = read_shared_table(world)
    if table is not None and namespace:
        raise InputError(f"leave the namespace {namespace!r} out: the world {world} gives {', '.join(table.names)}")
    for name in table.names if table else (namespace,):
        CLAIMS.append(claim_name(SYSTEM, name, own_domain()))
    return [node_action(entry, namespace, world, table) for entry in nodes_of(table.names if table else (), NODES)]


def node_action(entry, namespace, world, table) -> Node:
    """The launch action of one row of the table."""
    namespace = entry.namespace or namespace
    given = {name: LaunchConfiguration(name) for name in ("use_sim_time", "robot", "simulator")}
    if table is not None and entry.namespace:
        given |= {"robot": table.find(entry.namespace).robot, "table": world}
    parameters = [LaunchConfiguration("params_file"), given]
    if entry.name == "simulator":
        parameters.append({"world": world})
    return Node(
        package=PACKAGE,
        executable=entry.name,
        exec_name=entry.label,  # labels its output
        name=entry.name,
        namespace=namespace,
        parameters=parameters,
        arguments=[
            "--ros-args",
            "--log-level",
            LaunchConfiguration("log_level"),
            "--enclave",
            enclave(namespace, entry.name),
        ],
        prefix=[shlex.join(prefix(os.getpid())), " ", LaunchConfiguration("launch-prefix", default="")],
        condition=beside(entry),
        output="screen",
        respawn=True,
        respawn_delay=1.0,
        on_exit=end_of_refusals(entry.label),
    )


def beside(entry):
    """The condition on which a node runs: beside the simulator, beside a real robot, or always."""
    if not (entry.simulated or entry.real):
        return None
    return (UnlessCondition if entry.real else IfCondition)(LaunchConfiguration("simulator"))


def end_of_refusals(name):
    """Count the starts in a row that a node refuses; the last one that is tried ends the launch, with exit status 1."""
    refusals = 0

    def on_exit(event, context) -> None:
        nonlocal refusals
        refusals = refusals + 1 if event.returncode == CANNOT_START else 0
        if refusals == MOST_TRIES:
            raise InputError(
                f"the node {name} could not start {MOST_TRIES} times in a row, so everything is ended. Its last lines "
                "above say why: mend that and launch again"
            )

    return on_exit
