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
from llm_planner.ros.node_table import NODES
from llm_planner.ros.other_systems import SYSTEM, claim_name, own_domain
from llm_planner.ros.processes import CANNOT_START, MOST_TRIES, prefix

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
    DeclareLaunchArgument("world", default_value="tabletop", description="name of the simulated world, or its file"),
    DeclareLaunchArgument(
        "robot",
        default_value="arm",
        description=f"{listed()}, the folder of an arm of your own, or mobile in the world rooms",
    ),
)


CLAIMS = []  # kept, so that the names stay ours until this process ends


def generate_launch_description() -> LaunchDescription:
    """Every node of the table; a node that dies is started again, one that cannot start ends the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=claim_system), *map(node_action, NODES)])


def claim_system(context) -> None:
    """Be the only system of this namespace on this machine; an error ends the launch with its message."""
    CLAIMS.append(claim_name(SYSTEM, context.perform_substitution(LaunchConfiguration("namespace")), own_domain()))


def node_action(entry) -> Node:
    """The launch action of one row of the table."""
    given = {name: LaunchConfiguration(name) for name in ("use_sim_time", "robot", "simulator")}
    parameters = [LaunchConfiguration("params_file"), given]
    if entry.simulated and entry.name == "simulator":
        parameters.append({"world": LaunchConfiguration("world")})
    enclave = PathJoinSubstitution(["/", LaunchConfiguration("namespace"), entry.name])  # in the keystore of SROS 2
    return Node(
        package=PACKAGE,
        executable=entry.name,
        exec_name=entry.name,  # labels its output
        name=entry.name,
        namespace=LaunchConfiguration("namespace"),
        parameters=parameters,
        arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level"), "--enclave", enclave],
        prefix=[shlex.join(prefix(os.getpid())), " ", LaunchConfiguration("launch-prefix", default="")],
        condition=beside(entry),
        output="screen",
        respawn=True,
        respawn_delay=1.0,
        on_exit=end_of_refusals(entry.name),
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
