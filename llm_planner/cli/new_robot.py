"""Descriptions of arms: the robot.yaml of one from its URDF or MJCF, also of a model of MuJoCo Menagerie.

`llm-planner new robot NAME --urdf FILE` writes it, and `--robot menagerie:NAME` downloads and describes a model once.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_planner.control.reach_map import MARGIN, find_home, measure_reach
from llm_planner.errors import InputError
from llm_planner.robots.arm_discovery import FoundArm, FoundJoint, find_arm, with_tool
from llm_planner.robots.arm_entries import LARGE, SUFFIXES, ArmEntry, HandEntry, JointEntry
from llm_planner.robots.arm_file import arm_of
from llm_planner.robots.arm_model import Mounting, resolve
from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.robots.mjcf_urdf import write_as_urdf
from llm_planner.robots.robot_folders import listed
from llm_planner.strict_yaml import LocatedError, did_you_mean

TURN = 3.1  # [rad] range to either side of home of a joint that has more than a turn
ONE_TURN = math.tau + 0.1  # [rad]
VELOCITY, ACCELERATION, TORQUE = 1.5, 8.0, 40.0  # [rad/s], [rad/s^2], [Nm] defaults of what a URDF lacks
PACKAGE, ROBOT_FILE = "package://", "robot.yaml"
MENAGERIE = "menagerie:"
USUAL_REACH = 0.72  # [m] on the table, for which the usual workspace is made
SHORT = 0.65  # share of it below which an arm gets a workspace of its own
CONVERTED = "description"  # folder, in that of the robot, of a URDF that was written from an MJCF


@dataclass(frozen=True)
class NewRobot:
    """Texts of the files of a robot by name, and sentences on what was chosen."""

    files: Mapping[str, str]
    notes: tuple[str, ...]


def describe(
    urdf: str,
    folder: Path,
    base: str = "",
    tool: str = "",
    gripper: str = "",
    mounting: Sequence[float] = (0.0,) * 6,
) -> NewRobot:
    """Describe the arm in a URDF or MJCF, for a `robot.yaml` in `folder`; an MJCF is written there as a URDF.

    Args:
        urdf: Path of the URDF or MJCF (.xml), or `package://PACKAGE/...`.
        folder: Folder of the robot.
        base: Link that stands on the table, or is mounted elsewhere; found if empty.
        tool: Link that the gripper is mounted on; found if empty.
        gripper: Name of a gripper of `config/grippers`, or a .yaml file of one; the default hand if empty.
        mounting: x, y, z [m], roll, pitch and yaw [rad] of the base in the table's frame.

    Raises:
        InputError: The file is malformed, has no arm or several, the gripper is unknown, or the arm cannot point it
            down.
    """
    path, converted = resolve(urdf, Path()), folder / CONVERTED
    if path.suffix != ".xml":
        return _described(urdf, path, folder, base, tool, gripper, mounting)
    if converted.exists():
        raise InputError(f"{converted} is there already; choose another name, or move it away")
    try:
        written = write_as_urdf(path, converted)
        return _described(str(written), written, folder, base, tool, gripper, mounting)
    except InputError:
        shutil.rmtree(converted, ignore_errors=True)
        raise


def _described(
    urdf: str, path: Path, folder: Path, base: str, tool: str, gripper: str, mounting: Sequence[float]
) -> NewRobot:  # fmt: skip
    found = find_arm(path, base, tool)
    files, own = {}, gripper.endswith(SUFFIXES)
    mounts = str(Path(gripper).absolute()) if own else gripper
    with tempfile.TemporaryDirectory() as temporary:
        if found.grippers or found.mount is not None:
            urdf = f"{folder.name}.urdf"
            files[urdf] = with_tool(path, found, lambda mesh: os.path.relpath(mesh, folder))
            read = Path(temporary) / urdf
            read.write_text(with_tool(path, found, lambda mesh: str(mesh.absolute())), encoding="utf-8")
        else:
            read = path.absolute()
            urdf = urdf if urdf.startswith(PACKAGE) else os.path.relpath(path, folder)
        x, y, z, roll, pitch, yaw = mounting
        mounted = Mounting(position=(x, y, z), rpy=(roll, pitch, yaw))
        try:
            entry = _measured(_entry(str(read), found, mounts).model_copy(update={"mounting": mounted}), folder)
        except LocatedError as error:
            raise InputError(f"{' '.join(map(str, error.keys))} {error}") from error
    kept = {"gripper": os.path.relpath(gripper, folder)} if own else {}
    entry = entry.model_copy(update={"description": urdf, **kept})
    files[ROBOT_FILE] = _yaml(entry, found.joints, path.name)
    return NewRobot(files, (*found.notes, *_notes(entry, found, urdf)))


def _measured(entry: ArmEntry, folder: Path) -> ArmEntry:
    """Return the arm with its home, rest and reach; joints of more than a turn are kept to one about home."""
    home, joints = find_home(arm_of(entry, folder)), {}
    for (name, one), position in zip(entry.joints.items(), home.qpos, strict=True):
        low, high = one.range
        if high - low > ONE_TURN:
            low, high = max(low, position - TURN), min(high, position + TURN)
        inside = (math.ceil(low * 1e4) / 1e4, math.floor(high * 1e4) / 1e4)  # rounded, within the range
        joints[name] = one.model_copy(update={"range": inside, "home": round(position, 4)})
    hand = HandEntry(turn=round(home.turn, 7))
    entry = entry.model_copy(update={"joints": joints, "hand": hand, "rest": home.rest})
    reach = measure_reach(arm_of(entry, folder), margin=MARGIN)
    if len(reach) < 2:
        raise InputError(
            f"the hand reaches too little: straight down at {len(reach)} of the heights that were tried; look at the "
            "ranges of the joints and at the tool"
        )
    share, upright = reach[0][2] / USUAL_REACH, not any((*entry.mounting.position[:2], *entry.mounting.rpy))
    if upright and share < SHORT:  # a short arm has a smaller workspace, and smaller things on it
        (x_min, x_max), (y_min, y_max) = ((round(share * a, 2), round(share * b, 2)) for a, b in entry.workspace)
        entry = entry.model_copy(update={"workspace": ((x_min, x_max), (y_min, y_max))})
    return entry.model_copy(update={"reach": reach})


def _notes(entry: ArmEntry, found: FoundArm, urdf: str) -> list[str]:
    (x, y, z), (height, nearest, farthest) = entry.rest, entry.reach[0]
    notes = [
        f"home: the hand at ({x:g}, {y:g}, {z:g}) m, mounted at {entry.hand.turn:.4g} rad",
        f"reach: {nearest:g} to {farthest:g} m from the base axis at the height {height:g} m",
    ]
    if found.grippers:
        notes.append(f"{urdf}: a copy without the gripper of the description: {', '.join(found.grippers)}")
    notes.append(f"accelerations: {ACCELERATION:g} rad/s^2, a moderate default: a URDF has none")
    return notes + [f"{joint.name}: {said}" for joint in found.joints for said in _defaults(joint)]


def _entry(urdf: str, found: FoundArm, gripper: str) -> ArmEntry:
    """Return the arm with the hand at turn 0, at no particular home, with placeholders for its reach."""
    redundant = found.joints[2].name if len(found.joints) == 7 else ""
    joints = {}
    for one in found.joints:
        low, high = one.range or (-math.pi, math.pi)
        low, high = max(low, -math.tau), min(high, math.tau)
        joints[one.name] = JointEntry(
            range=(low, high),
            velocity=one.velocity or VELOCITY,
            acceleration=ACCELERATION,
            torque=one.torque or TORQUE,
            home=0.0 if low < 0.0 < high else (low + high) / 2,
            posture=1.0 if one.name == redundant else 0.0,
        )
    return ArmEntry(
        description=urdf, base=found.base, tool=found.tool, joints=joints,
        reach=((0.0, 0.2, 0.3), (0.5, 0.2, 0.3)), rest=(0.0, 0.0, 0.0), gripper=gripper or DEFAULT_HAND.name,
    )  # fmt: skip


def _defaults(joint: FoundJoint) -> list[str]:
    said = []
    if joint.range is None:
        said.append("no range in the URDF, kept to a turn")
    elif joint.range[1] - joint.range[0] > ONE_TURN:
        said.append(f"range of the URDF [{joint.range[0]:.4g}, {joint.range[1]:.4g}], kept to a turn about home")
    if joint.velocity is None:
        said.append(f"no velocity in the URDF: {VELOCITY:g} rad/s is a default")
    if joint.torque is None:
        said.append(f"no torque in the URDF: {TORQUE:g} Nm is a default")
    return said


def _yaml(entry: ArmEntry, joints: Sequence[FoundJoint], source: str) -> str:
    mounting = (*entry.mounting.position, *entry.mounting.rpy)
    place, rpy = (", ".join(f"{number:.9g}" for number in numbers) for numbers in (mounting[:3], mounting[3:]))
    mounted = f"mounting: {{position: [{place}], rpy: [{rpy}]}} # [m], [rad] of the base in the table's frame"
    lines = [
        f"# Written by llm-planner new robot from {source}. Ranges, velocities and torques are those of the URDF where",
        "# nothing else is said; a URDF has no accelerations, these are a moderate default: look them up.",
        f"description: {entry.description}",
        f"base: {entry.base} # x forward and z up; stands on the table unless mounted otherwise",
        *([mounted] if any(mounting) else []),
        f"tool: {entry.tool} # the hand is mounted on it, with z out of the arm",
        f"hand: {{turn: {entry.hand.turn:g}}} # [rad] about z of the tool: the last joint is near its middle at home",
        f"gripper: {entry.gripper} # on the tool, such as one of config/grippers; see docs/concepts/robots.md",
        "joints: # range and home [rad], velocity [rad/s], acceleration [rad/s^2], torque [Nm]",
    ]
    for joint in joints:
        one, said = entry.joints[joint.name], _defaults(joint)
        posture = f", posture: {one.posture:g}" if one.posture else ""
        lines += [f"  # {remark}" for remark in said]
        lines.append(
            f"  {joint.name}: {{range: [{one.range[0]:g}, {one.range[1]:g}], velocity: {one.velocity:g}, "
            f"acceleration: {one.acceleration:g}, torque: {one.torque:g}, home: {one.home:g}{posture}}}"
        )
    (x_min, x_max), (y_min, y_max) = entry.workspace
    if entry.workspace != LARGE:
        area = f"[[{x_min:g}, {x_max:g}], [{y_min:g}, {y_max:g}]]"
        lines.append(f"workspace: {area} # x, y [m]: where it puts things, as much smaller as the arm is shorter")
    rows = ", ".join(f"[{height:g}, {low:g}, {far:g}]" for height, low, far in entry.reach)
    lines += [
        "# height, least and largest distance of the grip point from the base axis [m], measured by inverse kinematics",
        f"reach: [{rows}]",
        f"rest: [{', '.join(f'{number:g}' for number in entry.rest)}] # position of the gripper at home [m]",
    ]
    return "\n".join(lines) + "\n"


def fetched_robot(robot: str, cache: Path | None = None) -> str:
    """Return the name or folder of a robot for `arm_model`; one of Menagerie is put into the cache first.

    Args:
        robot: Name or folder of an arm, or `menagerie:NAME` or `menagerie:NAME/MODEL`.
        cache: Folder of the cache; by default that of the user.

    Raises:
        InputError: There is no such model, it cannot be downloaded, or it is no arm that can be described.
    """
    if not robot.startswith(MENAGERIE):
        return robot
    place = cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llm_planner" / "robots"
    folder = place / robot.removeprefix(MENAGERIE).replace("/", "_")
    if not (folder / ROBOT_FILE).is_file():
        model = fetched_model(robot)
        print(f"{robot} is described for the first use, which takes a minute; it is kept in {folder}", file=sys.stderr)
        try:
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=place) as temporary:
                made = Path(temporary) / folder.name
                described = describe(str(model), made)
                for name, text in described.files.items():
                    (made / name).write_text(text, encoding="utf-8")
                made.rename(folder)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror}; set XDG_CACHE_HOME to a folder") from error
    return str(folder)


def fetched_model(robot: str) -> Path:
    """Return the MJCF of `menagerie:NAME` or `menagerie:NAME/MODEL`, downloaded on first use; see `fetched_robot`."""
    try:
        import mujoco_menagerie
    except ImportError as error:
        raise InputError(
            f"{robot} is fetched by a package that is not installed: pip install 'llm_planner[menagerie]'"
        ) from error
    name, _, model = robot.removeprefix(MENAGERIE).partition("/")
    try:
        found = mujoco_menagerie.get(name)
        return Path(found.xml(model or found.default_model))
    except mujoco_menagerie.UnknownRobotError as error:
        arms = [str(arm.name) for arm in mujoco_menagerie.robots("arm")]
        hint = did_you_mean(name, arms)
        raise InputError(f"MuJoCo Menagerie has no robot {name!r}; its arms are: {', '.join(arms)}{hint}") from error
    except mujoco_menagerie.DownloadError as error:
        raise InputError(
            f"{robot} cannot be downloaded ({error}); connect to the network for the first use, or set MENAGERIE_ROOT "
            f"to a copy of the repository mujoco_menagerie; these need no network: {listed()}"
        ) from error
    except mujoco_menagerie.MenagerieError as error:
        raise InputError(f"{robot}: {error}") from error
