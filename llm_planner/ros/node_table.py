"""Tables of all nodes and of their topics, services and actions.

The launch file, `llm-planner up` and `setup.py` read `NODES`; `setup.py` reads this file as text, so names must be
literals. SROS 2 permissions derive from `GRAPH`, and a test compares it with the running nodes. Names in it are
relative to the namespace unless they begin with "/"; "~" is the node's own name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True)
class NodeEntry:
    """Node with its `name` in the graph, which is also its program; its module is `<name>_node` in `package`.

    `simulated` nodes replace a real robot and do not run beside one; `real` nodes run beside a real robot only.
    `on_request` nodes run only where an option asks for them, and may fail without ending the others.
    `of_robot` nodes run once for each robot, in its `namespace` below that of the system, others once.
    """

    name: str
    simulated: bool = False
    real: bool = False
    on_request: bool = False
    of_robot: bool = True
    namespace: str = ""
    package: str = "llm_planner.ros.nodes"

    @property
    def label(self) -> str:
        """Name with the namespace of the robot, if there are several."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def module(self) -> str:
        return f"{self.package}.{self.name}_node"


NODES = (
    NodeEntry("simulator", simulated=True, of_robot=False),
    NodeEntry("mpc_controller"),
    NodeEntry("safety_filter"),
    NodeEntry("skill_server"),
    NodeEntry("plan_executor"),
    NodeEntry("language_planner"),
    NodeEntry("correction_listener"),
    NodeEntry("camera", simulated=True),
    NodeEntry("gripper", real=True),
    NodeEntry("recorder", on_request=True, of_robot=False),
    NodeEntry("console", on_request=True, package="llm_planner.console"),
)
# Between this package and others that speak standard interfaces; each is started where it is wanted, by `ros2 run`.
ADAPTERS = (NodeEntry("detections"), NodeEntry("trajectory_action"), NodeEntry("planning_scene"))


def nodes_beside(simulator: bool, requested: Collection[str] = ()) -> tuple[NodeEntry, ...]:
    """Return the nodes of a system with the `simulator`, or with a real robot instead, and those `requested`."""
    there = (entry for entry in NODES if not (entry.real if simulator else entry.simulated))
    return tuple(entry for entry in there if not entry.on_request or entry.name in requested)


ON_REQUEST = tuple(entry.name for entry in NODES if entry.on_request)
NODES_IN_SIMULATION = nodes_beside(simulator=True)


REPLAY_STATUS, REPLAY_CONTROL = "/replay_status", "/replay_control"  # of `llm-planner replay` and the console
LISTENER = "correction_listener"
CLIENT = "llm_planner_client"  # the node of `llm-planner say`, `correct`, `listen`, `stop` and `up`


def nodes_of(robots: Sequence[str], nodes: Sequence[NodeEntry]) -> tuple[NodeEntry, ...]:
    """Return the `nodes` of a system with several robots by namespace; of one robot if there are no names."""
    single = tuple(entry for entry in nodes if not entry.of_robot)
    own = tuple(replace(entry, namespace=robot) for robot in robots for entry in nodes if entry.of_robot)
    return (*single, *own) if robots else tuple(nodes)


def enclave(namespace: str, node: str) -> str:
    """Return the SROS 2 enclave of a node, which is its fully qualified name."""
    return "/".join(["", *filter(None, namespace.split("/")), node])


@dataclass(frozen=True)
class Endpoints:
    """Names of a node's topics, services (`serves`, `calls`) and actions (server `executes`, client `sends`)."""

    publishes: frozenset[str] = frozenset()
    subscribes: frozenset[str] = frozenset()
    serves: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    executes: frozenset[str] = frozenset()
    sends: frozenset[str] = frozenset()

    def __or__(self, other: Endpoints) -> Endpoints:
        return Endpoints(**{one.name: getattr(self, one.name) | getattr(other, one.name) for one in fields(self)})


def endpoints(**names: str) -> Endpoints:
    """Make endpoints of names that are separated by spaces."""
    return Endpoints(**{kind: frozenset(listed.split()) for kind, listed in names.items()})


GRIPPER_ACTION = "gripper_cmd"  # stands for the real gripper's action, which robot.yaml names
# Both robots: an arm has joint_states and joint_command, a mobile base odom, cmd_vel and gripper_command.
GRAPH: Mapping[str, Endpoints] = {
    "simulator": endpoints(
        publishes="joint_states odom scene robot_description /clock /tf /tf_static /diagnostics",
        subscribes="joint_command cmd_vel gripper_command",
        serves="reset_world",
    ),
    "mpc_controller": endpoints(
        publishes="joint_command_wanted cmd_vel_wanted gripper_command motion_constraints motion_status diagnosis"
        " /diagnostics",
        subscribes="motion_reference motion_patch scene joint_states odom /strips",
    ),
    "safety_filter": endpoints(
        publishes="joint_command cmd_vel gripper_command /strips /diagnostics",
        subscribes="joint_command_wanted cmd_vel_wanted motion_patch scene joint_states odom /strips strips_wanted",
    ),
    "skill_server": endpoints(
        publishes="motion_reference strips_wanted /diagnostics",
        subscribes="scene joint_states odom plan_status motion_tuning motion_status motion_constraints diagnosis"
        " camera/image_raw /strips",
        executes="execute_skill",
    ),
    "plan_executor": endpoints(
        publishes="plan_status plan constraint_status motion_patch motion_tuning /diagnostics",
        subscribes="scene command_status diagnosis motion_constraints stop /diagnostics",
        serves="stop edit_plan",
        executes="execute_plan",
        sends="execute_skill",
    ),
    "language_planner": endpoints(
        publishes="command_status markers forecast model_exchange /diagnostics",
        subscribes="language_command scene plan_status diagnosis motion_constraints",
        calls="stop",
        executes="execute_command preview_command",
        sends="execute_plan",
    ),
    "correction_listener": endpoints(
        publishes="language_command transcript correction_result model_exchange /diagnostics",
        subscribes="correction correction_preview audio audio_data plan plan_status command_status scene diagnosis"
        " motion_constraints correction_result transcript",
        calls="stop edit_plan",
        sends="execute_command",
    ),
    "camera": endpoints(
        publishes="camera/image_raw camera/camera_info camera/depth camera/points /tf_static /diagnostics",
        subscribes="joint_states scene",
    ),
    "gripper": endpoints(publishes="/diagnostics", subscribes="gripper_command", sends=GRIPPER_ACTION),
    "console": endpoints(
        publishes="correction correction_preview audio stop /diagnostics",
        subscribes="robot_description joint_states scene plan plan_status constraint_status motion_constraints"
        " motion_status command_status correction_result transcript diagnosis /diagnostics markers camera/image_raw",
        sends="execute_command",
    ),
    CLIENT: endpoints(
        publishes="correction audio",
        subscribes="correction_result transcript diagnosis scene joint_states odom plan plan_status",
        calls="stop language_planner/get_parameters",
        sends="execute_command preview_command",
    ),
}
# Who sends what moves the robot, by topic. Nodes refuse such messages of others (`sender_identity`).
SENDERS: Mapping[str, tuple[str, ...]] = {
    "plan_status": ("plan_executor",),  # names the skill goal that may move the robot
    "motion_reference": ("skill_server",),
    "joint_command_wanted": ("mpc_controller",),
    "cmd_vel_wanted": ("mpc_controller",),
    "joint_command": ("safety_filter",),
    "cmd_vel": ("safety_filter",),
}
EVERY_NODE = endpoints(
    publishes="/rosout /parameter_events",
    subscribes="/parameter_events /clock",
    serves="~/describe_parameters ~/get_parameter_types ~/get_parameters ~/list_parameters ~/set_parameters"
    " ~/set_parameters_atomically ~/get_type_description",
)
LIFECYCLE = endpoints(
    publishes="~/transition_event",
    serves="~/change_state ~/get_state ~/get_available_states ~/get_available_transitions ~/get_transition_graph",
)
# Topics with a publisher among the nodes, and those that a recording leaves out: sound, the pictures as they are (a
# camera draws only while somebody listens), and commands to joints, which follow from references and joint states.
PUBLISHED = frozenset[str]().union(*(own.publishes for name, own in GRAPH.items() if name != CLIENT))
_UNRECORDED = endpoints(
    subscribes="audio audio_data camera/image_raw camera/camera_info camera/depth camera/points joint_command"
    " joint_command_wanted cmd_vel_wanted strips_wanted"
).subscribes
RECORDED = PUBLISHED.union({"/rosout"}, *(own.publishes | own.subscribes for own in GRAPH.values())) - _UNRECORDED
GRAPH = {**GRAPH, "recorder": endpoints(publishes="/diagnostics") | Endpoints(subscribes=RECORDED)}


def is_recorded(topic: str, namespace: str) -> bool:
    """Return whether a recorder in `namespace` records a topic (full names): its own, and those of its robots."""
    below = f"{namespace.rstrip('/')}/"
    if topic in RECORDED or not topic.startswith(below):
        return topic in RECORDED
    name = topic.removeprefix(below)
    return name in RECORDED or name.partition("/")[2] in RECORDED
