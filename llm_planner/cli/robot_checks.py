"""Checks of an arm for `llm-planner robot check`: from its files to a block that is picked and placed in simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np

from llm_planner.cli.film import FilmedWorld, write_film
from llm_planner.cli.terminal import Finding, Grade
from llm_planner.control.reach_map import DownwardReach, measure_reach, pointing
from llm_planner.control.safety_filter.robots import arm_body, chain_of
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.robots.arm_discovery import FoundJoint, joints_of
from llm_planner.robots.arm_model import ON_TABLE, ArmModel, Description, arm_model
from llm_planner.robots.urdf import LIGHT, massless, read_urdf
from llm_planner.scene.geometry import rotation_matrix
from llm_planner.scene.places import TABLE
from llm_planner.scene.predicates import in_
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.renderers import SceneRenderer, show_whole, write_picture
from llm_planner.simulation.tabletop import tabletop_spec
from llm_planner.simulation.two_tables import TwoTables
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills

POSTURES = 1000
GRID = 6  # points along each edge of a solid of the hand
SAME = 1e-4  # [m] largest difference of the two models
UPRIGHT, PLACED = 0.02, 0.01  # [rad], [m] tolerances of the hand at home
CLOSE = 0.02  # [m] by which the stated reach may exceed the measured one
ROUNDED = 1e-3  # [rad, rad/s, Nm] by which a limit may exceed that of the URDF
BELOW = 0.01  # [m] under the table top at which a base still stands on it
BLOCK, BOWL = "red block", "green bowl"


class Subject:
    """Arm that is checked, with what several checks need."""

    def __init__(self, name: str) -> None:
        self.name, self.arm = name, arm_model(name)

    @cached_property
    def reach(self) -> DownwardReach:
        return DownwardReach(self.arm)

    @property
    def home(self) -> np.ndarray:
        return np.array(self.arm.home)


def checks(name: str) -> Iterator[Finding]:
    """Check the arm called `name`, or that in a folder; stop after what makes further checks impossible."""
    try:
        subject = Subject(name)
    except InputError as error:
        yield Finding("robot.yaml", str(error), "mend the file, or write it anew with llm-planner new robot")
        return
    arm = subject.arm
    yield Finding("robot.yaml", f"{arm.nq} joints, reach at {len(arm.shape.profile)} heights")
    yield Finding("gripper", arm.gripper.summary)
    for part in (_mounting(arm), _read(arm, arm.description) if arm.description else ()):
        findings = list(part)
        yield from findings
        if any(one.grade is Grade.WRONG for one in findings):
            return
    for check in (_home_in_range, _hand_at_home, _touches, _models, _covered, _reach):
        yield from check(subject)
    yield from _pick_and_place(subject)


def _mounting(arm: ArmModel) -> Iterator[Finding]:
    """Check that a base that hangs, hangs above the table, and that one that stands is not in it."""
    if arm.mounting == ON_TABLE:
        return
    pose = arm.mounting.pose()
    x, y, z = pose.position
    hangs, place = rotation_matrix(pose.orientation)[2][2] < 0.0, f"at ({x:g}, {y:g}, {z:g}) m"
    if hangs and z <= 0.0:
        yield Finding(
            "mounting", f"the base hangs {place}, below the table top", f"z is upwards: write {abs(z) or 1.0:g} for it"
        )
    elif z < -BELOW and TABLE.contains(x, y):
        yield Finding(
            "mounting", f"the base is {place}, under the table", "z is upwards from the table top: mend its sign"
        )
    else:
        yield Finding("mounting", f"the base {'hangs' if hangs else 'stands'} {place}")


def _upside_down(arm: ArmModel) -> str:
    """Return what to do about a hand that points up at home."""
    r, p, y = arm.mounting.rpy
    if abs(r) + abs(p) < UPRIGHT:
        return "choose another home; if the arm hangs, write mounting with rpy: [3.14159, 0, 0] and z above the table"
    return (
        f"mounting.rpy is [{r:g}, {p:g}, {y:g}]: an arm that hangs has roll or pitch 3.14159, one that is tilted may "
        "have the wrong sign; else choose another home"
    )


def draw(name: str, picture: Path) -> None:
    """Write a picture of the arm at home, with a block and a bowl; raises SimulationError if it cannot be drawn.

    An arm that stands fixed is shown as a whole, with the part of the table on which it works.
    """
    world = _world_of(arm_model(name))
    frame = FilmedWorld(world).frame()
    if world.arm.mount is not None:
        write_film([frame], None, picture)
        return
    spec = tabletop_spec(world.objects, world.arm)
    show_whole(spec, world.arm)
    with SceneRenderer(world.objects, arm=world.arm, room=spec) as renderer:
        write_picture(picture, renderer.render(frame.qpos, frame.width, frame.scene))


def _world_of(arm: ArmModel) -> World:
    """Open the table, or the two tables of an arm that drives, with a block and a bowl."""
    objects = parse_objects(f"{BLOCK}, {BOWL}")
    return TwoTables(0, objects, arm=arm) if arm.mount else World(0, objects, arm=arm)


def _read(arm: ArmModel, description: Description) -> Iterator[Finding]:
    """Check the URDF, the joints, limits, masses and collision bodies that it gives."""
    try:
        chain, given = chain_of(description), joints_of(description.path)
    except InputError as error:
        yield Finding("URDF", str(error), "mend the URDF, or name base and tool that it has")
        return
    yield Finding("URDF", f"{description.path.name}: from {description.base} to {description.tool}")
    if chain.joints != description.joints:
        listed, stated = ", ".join(chain.joints), ", ".join(description.joints)
        yield Finding("joints", f"{stated}, but the URDF has {listed}", f"list, in this order: {listed}")
        return
    yield Finding("joints", f"the {arm.nq} that turn between base and tool")
    yield _limits(arm, [given[name] for name in description.joints])
    try:
        arm.make().compile()
    except (InputError, ValueError) as error:
        yield Finding("simulation", f"cannot be built: {' '.join(str(error).split())}", "mend the URDF")
        return
    light = massless(read_urdf(description.path), description.joints)
    if light:
        yield Finding(
            "masses",
            f"none for {', '.join(light)}",
            f"{LIGHT:g} kg is taken; give the links an <inertial>",
            optional=True,
        )
    body, covered = arm_body(arm), {rod.link for rod in chain.rods}
    with_hand = {len(chain.joints) - 1} if description.bare else set()  # the hand is in place of its bodies
    bare = [name for index, name in enumerate(chain.joints[1:], 1) if index not in covered | with_hand]
    bodies = f"{len(chain.rods)} capsules and 2 of the hand, as {len(body.radii) - 1} spheres"
    if not chain.rods:
        yield Finding(
            "filter's body", "the URDF has no collision bodies", "give its links <collision> with STL or solids"
        )
    elif bare:
        mend = "check that the links without collision bodies are small"
        yield Finding("filter's body", f"{bodies}; none moved by {', '.join(bare)}", mend, optional=True)
    else:
        yield Finding("filter's body", bodies)


def _limits(arm: ArmModel, given: Sequence[FoundJoint]) -> Finding:
    """Compare ranges, velocities and torques with those of the URDF."""
    limits, beyond, unknown = arm.limits, list[str](), list[str]()
    for index, (name, one) in enumerate(zip(arm.joints, given, strict=True)):
        if one.range is None or one.velocity is None or one.torque is None:
            unknown.append(name)
        low, high = one.range or (-math.inf, math.inf)
        for what, value, most in (
            ("range", -limits.qpos_min[index], -low),
            ("range", limits.qpos_max[index], high),
            ("velocity", limits.qvel_max[index], one.velocity),
            ("torque", limits.torque_max[index], one.torque),
        ):
            if most is not None and value > most + ROUNDED:
                beyond.append(f"{what} of {name}: {abs(value):g}, in the URDF {abs(most):g}")
    if beyond:
        return Finding("limits", "; ".join(beyond), "keep within the URDF, or correct it")
    if unknown:
        mend = "look them up in the manufacturer's data sheet"
        return Finding("limits", f"the URDF does not give all of them for {', '.join(unknown)}", mend, optional=True)
    return Finding("limits", "within those of the URDF; it says nothing of accelerations")


def _home_in_range(subject: Subject) -> Iterator[Finding]:
    limits = subject.reach.limits
    outside = [
        f"{name} at {position:.3f} of [{low:.3f}, {high:.3f}]"
        for name, position, low, high in zip(
            subject.arm.joints, subject.home.tolist(), limits.lower.tolist(), limits.upper.tolist(), strict=True
        )
        if not low <= position <= high
    ]
    if outside:
        yield Finding(
            "home", f"{'; '.join(outside)} (0.02 rad are kept from the ends)", "move home, or widen the range"
        )


def _hand_at_home(subject: Subject) -> Iterator[Finding]:
    tilt, yaw = pointing(subject.reach.kinematics, subject.home)
    if tilt > math.pi / 2:
        yield Finding("hand at home", f"points up, by {tilt:.3f} rad from straight down", _upside_down(subject.arm))
        return
    place, rest = subject.reach.kinematics.forward(subject.home)[0], subject.arm.shape.rest
    shown = f"({place[0]:.3f}, {place[1]:.3f}, {place[2]:.3f}) m"
    if tilt > UPRIGHT or abs(yaw) > UPRIGHT:
        mend = "choose home such that the hand points straight down with its x axis forward; hand.turn turns it"
        yield Finding("hand at home", f"tilted by {tilt:.3f} rad, yaw {yaw:.3f} rad", mend)
    elif math.dist(place, rest) > PLACED:
        yield Finding(
            "hand at home",
            f"at {shown}, but rest is {rest}",
            f"write rest: [{place[0]:.3f}, {place[1]:.3f}, {place[2]:.3f}]",
        )
    else:
        yield Finding("hand at home", f"straight down with yaw 0 at {shown}")


def _touches(subject: Subject) -> Iterator[Finding]:
    touching = subject.reach.touches.at(subject.home)
    if touching:
        pairs = "; ".join(" and ".join(pair) for pair in touching)
        yield Finding("contacts at home", pairs, "choose another home, or mend the collision bodies of these links")
    else:
        yield Finding("contacts at home", "no link touches another, or the table")


def _models(subject: Subject) -> Iterator[Finding]:
    """Compare the controller's and the filter's model at random postures."""
    arm, rng = subject.arm, np.random.default_rng(0)
    qpos = rng.uniform(arm.limits.qpos_min, arm.limits.qpos_max, (POSTURES, arm.nq))
    filtered = arm_body(arm).place(qpos).points[:, :, 0].T
    controlled = np.array([subject.reach.kinematics.forward(row)[0] for row in qpos])
    largest = float(np.linalg.norm(filtered - controlled, axis=1).max())
    detail = f"{largest:.1e} m between the grip points of controller and filter, at most, in {POSTURES:,} postures"
    if largest > SAME:
        yield Finding("two models", detail, "the two readers of the URDF disagree; report it with the URDF")
    else:
        yield Finding("two models", detail)


def _covered(subject: Subject) -> Iterator[Finding]:
    """Compare the hand that the filter read from the gripper's data with that of the simulator, closed and open."""

    arm, model = subject.arm, subject.arm.make().compile()
    data, body, hand = mujoco.MjData(model), arm_body(arm), model.body(arm.hand).id
    owners = model.geom_bodyid
    solids = np.flatnonzero((owners == hand) | (model.body_parentid[owners] == hand))
    inside = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, GRID)] * 3), axis=-1).reshape(-1, 3)
    centres, outside = body.place(subject.home[None]).points[:, 0].T, -math.inf
    for width in arm.gripper.opening:
        data.qpos[: arm.nq], data.qpos[arm.nq : arm.nq + arm.gripper.joints] = arm.home, width / 2
        mujoco.mj_kinematics(model, data)
        for geom in solids:
            turned = (inside * model.geom_size[geom]) @ data.geom_xmat[geom].reshape(3, 3).T
            away = np.linalg.norm((turned + data.geom_xpos[geom])[:, None] - centres, axis=2) - body.radii
            outside = max(outside, float(away.min(axis=1).max()))
    if outside > SAME:
        mend = "the filter reads the gripper otherwise than the simulator; report it with the file"
        yield Finding("filter's hand", f"a solid of the hand stands out by {1000 * outside:.1f} mm", mend)
    else:
        yield Finding("filter's hand", "covers palm and fingers of the simulator, closed and open")


def _reach(subject: Subject) -> Iterator[Finding]:
    profile = subject.arm.shape.profile
    measured = {row[0]: row for row in measure_reach(subject.arm, [row[0] for row in profile], reach=subject.reach)}
    beyond = []
    for height, low, far in profile:
        if height not in measured:
            beyond.append(f"none at {height:g} m")
            continue
        _, nearest, farthest = measured[height]
        if low < nearest - CLOSE or far > farthest + CLOSE:
            beyond.append(f"{nearest:g} to {farthest:g} at {height:g} m (stated {low:g} to {far:g})")
    (nearest, farthest), area = subject.arm.shape.table_range, subject.arm.shape.workspace
    if beyond:
        yield Finding("reach", f"measured {'; '.join(beyond)}", "state less: correct these rows of reach")
    elif farthest < 0.7 * area.x_max or nearest > area.x_min + 0.12:
        mend = f"its workspace is at {area.x_min:g} to {area.x_max:g} m: leave objects where the arm reaches them"
        yield Finding("reach", f"{nearest:g} to {farthest:g} m at the table is little", mend, optional=True)
    else:
        yield Finding("reach", f"{nearest:g} to {farthest:g} m at the table, as measured")


def _pick_and_place(subject: Subject) -> Iterator[Finding]:
    """Put a block into a bowl in simulation, and go home."""
    name = "pick and place"
    options = f"{'--world two_tables ' if subject.arm.mount else ''}--robot {subject.name}"
    options += f' --objects "{BLOCK}, {BOWL}" --video try.mp4'
    mend = f'watch it: llm-planner run {options} "put the {BLOCK} in the {BOWL}"'
    try:
        episode, library = Episode(world := _world_of(subject.arm)), load_skills(learned=False)
        calls = [("pick", {"object": BLOCK}), ("place_in", {"object": BOWL}), ("go_home", {})]
        if subject.arm.mount:
            calls = [("approach", {"object": BLOCK}), calls[0], ("approach", {"object": BOWL}), *calls[1:]]
        for skill, arguments in calls:
            result = episode.run(library.find(skill), arguments)
            if result.code is not SkillErrorCode.SUCCEEDED:
                yield Finding(name, f"{skill}: {result.message}", mend)
                return
    except LlmPlannerError as error:
        yield Finding(name, str(error), mend)
        return
    if not in_(world.scene(), BLOCK, BOWL):
        yield Finding(name, f"the {BLOCK} is not in the {BOWL}", mend)
    elif world.limit_watch.exceeded:
        yield Finding(
            name,
            f"done in {world.time:.1f} s, but a joint exceeded its limits",
            "lower the accelerations",
            optional=True,
        )
    else:
        yield Finding(name, f"a block into a bowl in {world.time:.1f} s, within the limits")
