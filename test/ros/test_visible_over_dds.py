"""What standard tools see of the running system: robot_description, transforms, camera, markers, quality of service."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from math import dist
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from llm_planner_interfaces.msg import MotionPatch
from llm_planner_interfaces.srv import StopRobot
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2
from std_msgs.msg import String

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.control.motion_constraints import Patch
from llm_planner.ros.base_node import PATCHES
from llm_planner.ros.client import SystemClient
from llm_planner.ros.conversions.motion_messages import patch_to_msg
from llm_planner.ros.node_table import NODES
from llm_planner.scene.geometry import compose, inverse
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

tf2 = pytest.importorskip("tf2_msgs.msg")
visualization = pytest.importorskip("visualization_msgs.msg")

TOPICS = Path(__file__).parents[2] / "docs" / "reference" / "topics.md"
TIMEOUT = 30.0  # [s] of wall time
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
BASE = "second"  # the namespace of a mobile base
OPTICAL = "overview_camera_optical"


class Frames:
    """The tree of transforms, as a listener of tf2 keeps it."""

    def __init__(self) -> None:
        self.above: dict[str, tuple[str, Pose]] = {}
        self.stamps: dict[str, float] = {}

    def hear(self, message) -> None:
        for one in message.transforms:
            t, r = one.transform.translation, one.transform.rotation
            parent, child = one.header.frame_id, one.child_frame_id
            assert self.above.get(child, (parent,))[0] == parent, f"{child} has two parents"
            self.above[child] = parent, Pose((t.x, t.y, t.z), (r.x, r.y, r.z, r.w))
            self.stamps[child] = one.header.stamp.sec + 1e-9 * one.header.stamp.nanosec

    def line(self, frame: str) -> list[str]:
        """The frame and those above it, up to the root."""
        return [frame, *self.line(self.above[frame][0])] if frame in self.above else [frame]

    def pose(self, frame: str, root: str) -> Pose:
        """Pose of a frame in one above it."""
        if frame == root:
            return Pose((0.0, 0.0, 0.0))
        parent, pose = self.above[frame]
        return compose(self.pose(parent, root), pose)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Iterator[SystemClient]:
    """A simulated mobile base in a namespace; on a network of its own, as a network has one clock."""
    environment = own_network(random.Random())
    simulator = [entry for entry in NODES if entry.name == "simulator"]
    options = NodeOptions({"simulator": {"world": "rooms"}}, namespace=BASE)
    log = tmp_path_factory.mktemp("base") / "nodes.log"
    with NodeProcesses(simulator, options, log, environment):
        client = SystemClient(BASE, int(environment["ROS_DOMAIN_ID"]))
        yield client
        client.close()


@contextmanager
def heard(client: SystemClient, wanted: set[str]) -> Iterator[Frames]:
    """The transforms that are on the client's network once those that are wanted have been heard."""
    found, node = Frames(), client.node
    moving = node.create_subscription(tf2.TFMessage, "/tf", found.hear, RELIABLE)
    static = node.create_subscription(tf2.TFMessage, "/tf_static", found.hear, LATCHED)
    client.wait_until(lambda: all(len(found.line(frame)) > 1 for frame in wanted), TIMEOUT)
    yield found
    node.destroy_subscription(moving)
    node.destroy_subscription(static)


@pytest.fixture(scope="module")
def frames(system) -> Iterator[Frames]:
    with heard(system.client, {"gripper", "panda_link7", "red_block"}) as found:
        yield found


@pytest.fixture
def listen(system):
    """Subscribe for the length of a test; gives the list that the messages come into."""
    subscriptions = []

    def subscribe(kind, topic, qos=RELIABLE) -> list:
        messages: list = []
        subscriptions.append(system.client.node.create_subscription(kind, topic, messages.append, qos))
        return messages

    yield subscribe
    for subscription in subscriptions:
        system.client.node.destroy_subscription(subscription)


def robot(system, listen, topic: str = "robot_description") -> ElementTree.Element:
    """The URDF that a tool receives which starts after the system."""
    messages = listen(String, topic, LATCHED)
    system.wait(lambda: bool(messages), TIMEOUT)
    assert len(messages) == 1
    return ElementTree.fromstring(messages[0].data)


def stop(system) -> None:
    answer = system.call(StopRobot, "stop", StopRobot.Request(reason="enough"))
    assert answer.error_code == StopRobot.Response.STOPPED


def test_every_link_of_the_description_has_a_transform_and_every_joint_a_state(system, frames, listen):
    described, states = robot(system, listen), listen(JointState, "joint_states")
    links = {link.get("name") for link in described.findall("link")}
    assert links - set(frames.above) == {"panda_link0"}, "the root"
    assert {"panda_link7", "panda_hand", "panda_leftfinger", "gripper"} <= links
    system.wait(lambda: bool(states), TIMEOUT)
    moving = {joint.get("name") for joint in described.findall("joint") if joint.get("type") != "fixed"}
    assert moving == set(states[-1].name)


def test_the_hand_is_where_the_scene_says_at_rest_and_in_motion(fresh, frames):
    def apart() -> float:
        pose = frames.pose("gripper", "panda_link0")
        return dist(pose.position, fresh.scene.robot.position)

    fresh.wait(lambda: apart() < 1e-3, TIMEOUT)
    home = frames.pose("gripper", "panda_link0").position
    submission = fresh.start("put the red block in the green bowl")
    fresh.wait(lambda: dist(frames.pose("gripper", "panda_link0").position, home) > 0.15, TIMEOUT)
    stop(fresh)
    fresh.finish(submission)
    fresh.wait_until_at_rest()
    fresh.wait(lambda: apart() < 1e-3, TIMEOUT)
    assert abs(frames.stamps["panda_link7"] - fresh.time) < 0.5, "stamps are those of the joint states"


def test_objects_are_frames(fresh, frames):
    for item in fresh.scene.objects:
        fresh.wait(lambda item=item: dist(_seen(frames, item).position, item.position) < 2e-3, TIMEOUT)


def _seen(frames: Frames, item) -> Pose:
    return frames.pose(item.name.replace(" ", "_"), "panda_link0")


def test_a_base_has_the_frames_of_rep_105_and_its_odometry_agrees(base):
    described, odometry = [], []
    base.node.create_subscription(String, "robot_description", described.append, LATCHED)
    base.node.create_subscription(Odometry, "odom", odometry.append, RELIABLE)
    base_link = f"{BASE}/base_link"
    with heard(base, {base_link, f"{BASE}/odom"}) as frames:
        base.wait_until(lambda: odometry and described, TIMEOUT)
        message = odometry[-1]
        assert (message.header.frame_id, message.child_frame_id) == (f"{BASE}/odom", base_link)
        assert frames.line(base_link) == [base_link, f"{BASE}/odom", "map"]
        links = ElementTree.fromstring(described[0].data).findall("link")
        assert [link.get("name") for link in links] == ["base_link"]
        at = message.pose.pose.position
        assert frames.pose(base_link, "map").position == pytest.approx((at.x, at.y, at.z), abs=1e-3)


@pytest.mark.usefixtures("off_screen")
def test_a_pixel_of_the_picture_its_depth_and_its_point_are_the_object_that_is_there(fresh, frames, listen):
    images, infos = listen(Image, "camera/image_raw"), listen(CameraInfo, "camera/camera_info")
    depths, clouds = listen(Image, "camera/depth"), listen(PointCloud2, "camera/points")
    fresh.wait(lambda: clouds and images and infos and depths and OPTICAL in frames.above, TIMEOUT)
    image, info, depth, cloud = images[-1], infos[-1], depths[-1], clouds[-1]
    assert {message.header.frame_id for message in (image, info, depth, cloud)} == {OPTICAL}
    assert (info.width, info.height) == (image.width, image.height) == (depth.width, depth.height)
    block = fresh.scene.find("red block")
    x, y, z = block.position
    top = (x, y, z + block.size[2] / 2)
    seen = compose(inverse(frames.pose(OPTICAL, "panda_link0")), Pose(top)).position
    f, cx, cy = info.k[0], info.k[2], info.k[5]
    u, v = int(cx + f * seen[0] / seen[2]), int(cy + f * seen[1] / seen[2])
    red, green, blue = np.frombuffer(image.data, np.uint8).reshape(image.height, image.width, 3)[v, u].astype(int)
    assert red > 2 * max(green, blue), "the pixel is red"
    measured = np.frombuffer(depth.data, "<f4").reshape(depth.height, depth.width)[v, u]
    assert measured == pytest.approx(seen[2], abs=2e-3)
    points = np.frombuffer(cloud.data, "<f4").reshape(cloud.height, cloud.width, 4)
    assert points[v // 2, u // 2, :3] == pytest.approx(seen, abs=4e-3)
    color = int(points[v // 2, u // 2, 3].view("<u4"))
    assert color >> 16 > 2 * max(color >> 8 & 255, color & 255)


def test_markers_show_objects_zones_limits_and_the_path_to_somebody_who_comes_late(fresh, listen):
    node = fresh.client.node
    patches = node.create_publisher(MotionPatch, "motion_patch", PATCHES)
    fresh.wait(lambda: patches.get_subscription_count() == 2, TIMEOUT)
    zone = Zone("the vase", Shape.CAPSULE, (0.04, 0.1), Pose((0.3, -0.5, 0.1)), clearance=0.02)
    patches.publish(patch_to_msg(Patch("me", fresh.time, fresh.time + 60.0, speed=0.15, zones=(zone,)), "panda_link0"))
    submission = fresh.start("put the red block in the green bowl")
    arrays = listen(visualization.MarkerArray, "markers", LATCHED)

    def shown(namespace: str) -> list:
        return [marker for marker in arrays[-1].markers if marker.ns == namespace] if arrays else []

    fresh.wait(lambda: shown("path") and shown("zones") and shown("rules"), TIMEOUT)
    first = arrays[-1].markers[0]
    assert first.action == visualization.Marker.DELETEALL, "what was shown before goes"
    assert {marker.header.frame_id for marker in arrays[-1].markers} == {"panda_link0"}
    assert len({(marker.ns, marker.id) for marker in arrays[-1].markers}) == len(arrays[-1].markers)
    assert {marker.text.removesuffix(" (held)") for marker in shown("names")} == set(fresh.scene.names)
    assert [marker.text for marker in shown("rules")] == ["at most 0.15 m/s"]
    kinds = [marker.type for marker in shown("zones")]
    assert kinds == [visualization.Marker.CYLINDER, visualization.Marker.SPHERE, visualization.Marker.SPHERE]
    fresh.wait(lambda: shown("zones")[0].scale.x == pytest.approx(2 * (0.04 + 0.02)), TIMEOUT)  # it grows at first
    bowl = next(item for item in fresh.scene.objects if item.name == "green bowl")
    ends = [(marker.points[-1].x, marker.points[-1].y) for marker in (*shown("path"), *shown("rehearsed"))]
    assert min(dist(end, bowl.position[:2]) for end in ends) < 0.03, "a path ends at the bowl"
    boxes = {(round(marker.pose.position.x, 2), round(marker.pose.position.y, 2)) for marker in shown("objects")}
    assert (round(bowl.position[0], 2), round(bowl.position[1], 2)) in boxes
    stop(fresh)
    fresh.finish(submission)
    fresh.wait(lambda: not shown("path"), TIMEOUT)
    patches.publish(patch_to_msg(Patch("me", fresh.time, fresh.time + 60.0), "panda_link0"))
    fresh.wait(lambda: not shown("zones") and not shown("rules"), TIMEOUT)
    node.destroy_publisher(patches)


def test_every_node_reports_its_health_with_its_rates_model_and_margin(fresh, listen):
    messages = listen(DiagnosticArray, "/diagnostics")
    wanted = {
        "simulator": "real_time_factor", "mpc_controller": "ticks", "safety_filter": "margin_mm", "camera": "pictures",
        "skill_server": "states", "language_planner": "model", "correction_listener": "model", "plan_executor": "",
    }  # fmt: skip

    def told() -> dict[str, dict[str, str]]:
        found = [status for message in messages for status in message.status]
        return {one.name.lstrip("/"): {pair.key: pair.value for pair in one.values} for one in found}

    fresh.wait(lambda: wanted.keys() <= told().keys(), TIMEOUT)
    for node, key in wanted.items():
        assert not key or key in told()[node], node
    fresh.wait(lambda: float(told()["simulator"]["real_time_factor"]) > 0.05, TIMEOUT)
    assert told()["language_planner"]["model"] == "scripted"


def rows() -> list[tuple[str, str, set[str], str, str]]:
    """The table of the documentation: topic, type, nodes of this package, reliability, durability."""
    lines = [
        line.split("|")[1:-1] for line in TOPICS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    table = [[cell.strip() for cell in line] for line in lines]
    names = {entry.name for entry in NODES}
    return [
        (topic.strip("`"), kind, names & set(re.findall(r"\w+", who)) or names, sure, latched)
        for topic, kind, who, sure, latched, *_ in table
    ]  # fmt: skip


def test_topics_have_the_quality_of_service_that_the_documentation_states(fresh, frames, listen):
    listen(visualization.MarkerArray, "markers", LATCHED)
    heard, node = set[str](), fresh.client.node
    for topic, kind, publishers, sure, latched in rows():
        found = node.get_publishers_info_by_topic(topic if topic.startswith("/") else f"/{topic}")
        ours = [one for one in found if one.node_name in publishers]
        heard |= {topic} if ours else set()
        for one in ours:
            assert one.topic_type == kind, topic
            assert one.qos_profile.reliability.name.lower() == sure, topic
            durable = one.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            assert durable == (latched == "yes"), topic
        if latched == "yes" and topic not in ("/tf_static", "/diagnostics", "motion_patch"):
            assert len(found) <= 1, f"{topic} has several latched publishers"
    of_base, of_real = {"odom", "cmd_vel", "cmd_vel_wanted"}, {"gripper_command"}
    assert {topic for topic, *_ in rows()} - heard == of_base | of_real


def test_no_topic_is_left_out_of_the_documentation(system, frames):
    told = {topic.lstrip("/") for topic, *_ in rows()} | {"rosout", "parameter_events"}
    names = [entry.name for entry in NODES if entry.name in {name for name, _ in _nodes(system)}]
    published = {
        topic.lstrip("/")
        for name in names
        for topic, _ in system.client.node.get_publisher_names_and_types_by_node(name, "/")
    }
    assert {one for one in published if "_action/" not in one and "transition_event" not in one} - told == set()


def _nodes(system) -> list[tuple[str, str]]:
    return system.client.node.get_node_names_and_namespaces()


def test_a_reliable_subscriber_that_never_reads_does_not_slow_the_states_of_others(fresh, listen):
    before = fresh.client.node.count_subscribers("joint_states")
    nobody_spins = Node("stalled", context=fresh.client.node.context)
    nobody_spins.create_subscription(JointState, "joint_states", lambda message: None, RELIABLE)
    fresh.wait(lambda: fresh.client.node.count_subscribers("joint_states") > before, TIMEOUT)
    states = listen(JointState, "joint_states", qos_profile_sensor_data)
    fresh.wait(lambda: len(states) >= 150, TIMEOUT)
    times = np.array([message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec for message in states])
    assert np.median(np.diff(times)) == pytest.approx(0.03, rel=0.01), "a third of a hundred a second, at rest"
    nobody_spins.destroy_node()
