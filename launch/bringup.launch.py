"""ros2 launch llm_planner bringup.launch.py world:=tabletop: the nodes of the table that `llm-planner up` reads too."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from llm_planner.nodes.node_table import NODES

PACKAGE = "llm_planner"
CONFIG = PathJoinSubstitution([FindPackageShare(PACKAGE), "config", "bringup.yaml"])
ARGUMENTS = (
    DeclareLaunchArgument("namespace", default_value="", description="namespace of all nodes, for a second robot"),
    DeclareLaunchArgument("use_sim_time", default_value="false", description="take the time from /clock"),
    DeclareLaunchArgument("params_file", default_value=CONFIG, description="parameters of the nodes"),
    DeclareLaunchArgument("log_level", default_value="info", description="debug, info, warn, error or fatal"),
    DeclareLaunchArgument("world", default_value="tabletop", description="name of the simulated world"),
    DeclareLaunchArgument(
        "robot", default_value="arm", description="what is moved; mobile in the world rooms", choices=["arm", "mobile"]
    ),
)


def generate_launch_description() -> LaunchDescription:
    """Every node of the table; a node that dies is started again."""
    return LaunchDescription([*ARGUMENTS, *map(node_action, NODES)])


def node_action(entry) -> Node:
    """The launch action of one row of the table."""
    parameters = [LaunchConfiguration("params_file"), {"use_sim_time": LaunchConfiguration("use_sim_time")}]
    if entry.simulated and entry.name == "simulator":
        parameters.append({"world": LaunchConfiguration("world")})
    if entry.name in ("mpc_controller", "safety_filter", "skill_server"):
        parameters.append({"robot": LaunchConfiguration("robot")})
    return Node(
        package=PACKAGE,
        executable=entry.name,
        name=entry.name,
        namespace=LaunchConfiguration("namespace"),
        parameters=parameters,
        arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
        output="screen",
        respawn=True,
        respawn_delay=1.0,
    )
