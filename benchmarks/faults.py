"""What can go wrong between a skill and the joints of an arm, one kind at a time, injected into a `GuardedArm`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from clearance_scenes import LASTING, ClearanceScene
from disturbed_world import Disturbance, DisturbedWorld
from guarded_arm import WIDTH, GuardedArm, Referee

from llm_planner.control.motion_constraints import Patch
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import MotionReference
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.motion import PATH_DT

PANDA = arm_model("panda")

Array = np.ndarray
Tick = Callable[[GuardedArm, MotionReference | None], None]  # one of the controller, with what a skill sends
LINKS = ("panda_link3", "panda_link4", "panda_link5", "panda_link6", "panda_hand")


@dataclass(frozen=True)
class Fault:
    """`tick` is drawn for each scene, with the moment [s] at which the fault begins if it begins at one."""

    name: str
    tick: Callable[[np.random.Generator, float], Tick]
    world: Callable[[np.random.Generator], World] = lambda rng: open_world(objects=())
    scene: Callable[[np.random.Generator, ClearanceScene], ClearanceScene] = lambda rng, scene: scene
    pushes: bool = False  # for PUSHED seconds from the moment on, the robot is not its own master
    ends_references: bool = False  # from the moment on no valid reference comes


PUSHED = 0.6  # [s] from the start of a push until what it did is over


def nothing(rng: np.random.Generator, moment: float) -> Tick:
    return lambda arm, reference: arm.step(reference)


def dropped(rng: np.random.Generator, moment: float) -> Tick:
    """Three of ten ticks of the controller do not happen."""

    def tick(arm: GuardedArm, reference: MotionReference | None) -> None:
        if rng.random() >= 0.3:
            arm.step(reference)
        else:
            arm.hear(reference)
            arm.drift()

    return tick


def delayed(rng: np.random.Generator, moment: float) -> Tick:
    """Plans take 10 to 30 ms."""

    def tick(arm: GuardedArm, reference: MotionReference | None) -> None:
        arm.late = rng.uniform(0.01, 0.03)
        arm.step(reference)

    return tick


def pushed(rng: np.random.Generator, moment: float) -> Tick:
    """A force of 40 to 250 N on a link, for 50 to 150 ms."""
    force, lasting = rng.uniform(40.0, 250.0) * _direction(rng), rng.uniform(0.05, 0.15)
    link = LINKS[rng.integers(len(LINKS))]

    def tick(arm: GuardedArm, reference: MotionReference | None) -> None:
        acts = moment <= arm.world.time < moment + lasting
        arm.world.data.xfrc_applied[arm.world.model.body(link).id, :3] = force if acts else 0.0
        arm.step(reference)

    return tick


def no_numbers(rng: np.random.Generator, moment: float) -> Tick:
    """Five states hold a NaN, in positions or in velocities."""
    joint, in_positions = int(rng.integers(7)), bool(rng.integers(2))

    def tick(arm: GuardedArm, reference: MotionReference | None) -> None:
        state = arm.state()
        if moment <= arm.world.time < moment + 0.05:
            (state.qpos if in_positions else state.qvel)[joint] = np.nan
        arm.step(reference, state)

    return tick


def states_jump(rng: np.random.Generator, moment: float) -> Tick:
    """One state has a joint where it cannot be."""
    joint, by = int(rng.integers(7)), rng.choice((-1, 1)) * rng.uniform(0.3, 1.5)

    def tick(arm: GuardedArm, reference: MotionReference | None) -> None:
        state = arm.state()
        if moment <= arm.world.time < moment + 0.01 - 1e-9:
            state.qpos[joint] += by
        arm.step(reference, state)

    return tick


def clock_leaps(rng: np.random.Generator, moment: float) -> Tick:
    """The robot's clock goes back or ahead by 1 to 5 s."""
    by, done = rng.choice((-1, 1)) * rng.uniform(1.0, 5.0), False

    def tick(arm: GuardedArm, reference: MotionReference | None) -> None:
        nonlocal done
        if arm.world.time >= moment and not done:
            done = True
            arm.leap(by)
        arm.step(reference and replace(reference, start_time=arm.now))

    return tick


def old_runs(rng: np.random.Generator, moment: float) -> Tick:
    """References of an earlier run of a skill, and old ones of this run, keep coming in between."""
    late: list[MotionReference] = []

    def tick(arm: GuardedArm, reference: MotionReference | None) -> None:
        if reference is not None:
            late.append(reference)
        if rng.random() < 0.2 and arm.world.time > 0.5:
            backwards = tuple(reversed(late[-1].poses))
            arm.hear(MotionReference(arm.now, PATH_DT, backwards, WIDTH, epoch=late[-1].epoch - 1))
        if rng.random() < 0.1 and arm.world.time > 2.0:
            arm.hear(late[0])
        arm.step(reference)

    return tick


def skill_dies(rng: np.random.Generator, moment: float) -> Tick:
    """From one moment on no reference comes."""
    return lambda arm, reference: arm.step(reference if arm.world.time < moment else None)


def states_stop(rng: np.random.Generator, moment: float) -> Tick:
    """From one moment on no state of the robot comes to the controller."""

    def tick(arm: GuardedArm, reference: MotionReference | None) -> None:
        if arm.world.time < moment:
            arm.step(reference)
        else:
            arm.ladder.watch(arm.world.time)
            arm.drift()

    return tick


def inside(rng: np.random.Generator, scene: ClearanceScene) -> ClearanceScene:
    """At the start a solid stands 2 to 4 cm from the arm, and 10 cm are asked."""
    zone = replace(_beside(scene, rng.uniform(0.02, 0.04), _direction(rng), "too near", 0.05), clearance=0.1)
    patch = Patch("safety", 0.0, LASTING, zones=(zone,))
    return replace(scene, solids=(*scene.solids, zone), patches=(patch, *scene.patches))


def squeezed(rng: np.random.Generator, scene: ClearanceScene) -> ClearanceScene:
    """Two balls of half a metre 4 cm from the arm, on both sides, each asking for 30 cm: nowhere in reach is room."""
    side = np.array([0.0, 1.0, 0.0])
    zones = [
        replace(_beside(scene, 0.04, sign * side, f"the {name}", 0.25), clearance=0.3)
        for name, sign in (("left", 1.0), ("right", -1.0))
    ]
    patch = Patch("safety", 0.0, LASTING, zones=tuple(zones))
    return replace(scene, solids=(*scene.solids, *zones), patches=(patch, *scene.patches))


def _beside(scene: ClearanceScene, gap: float, side: Array, name: str, radius: float) -> Zone:
    """A ball at `gap` [m] from the arm at the start, from its hand towards `side`."""
    hand, _ = PANDA.kinematics().forward(scene.qpos)
    near, far = 0.0, 1.2
    while far - near > 1e-3:
        middle = 0.5 * (near + far)
        zone = Zone(name, Shape.SPHERE, (radius,), Pose(tuple((hand + middle * side).tolist())))
        if Referee([zone]).distance(scene.qpos, zone) < gap:
            near = middle
        else:
            far = middle
    return zone


def _direction(rng: np.random.Generator) -> Array:
    direction = rng.standard_normal(3)
    return np.asarray(direction / np.linalg.norm(direction))


def _heavier(scale: float) -> Callable[[np.random.Generator], World]:
    return lambda rng: DisturbedWorld(Disturbance(masses=scale), 0, ())


FAULTS = (
    Fault("none", nothing),
    Fault("30 % of ticks dropped", dropped),
    Fault("plans 10 to 30 ms late", delayed),
    Fault("masses + 20 %", nothing, world=_heavier(1.2)),
    Fault("masses - 20 %", nothing, world=_heavier(0.8)),
    Fault("pushes of 40 to 250 N", pushed, pushes=True),
    Fault("states that are no numbers", no_numbers),
    Fault("a state that jumps", states_jump),
    Fault("clock leaps", clock_leaps),
    Fault("old references and epochs", old_runs),
    Fault("the skill dies", skill_dies, ends_references=True),
    Fault("the states stop", states_stop, ends_references=True),
    Fault("start inside a zone", nothing, scene=inside),
    Fault("contradictory zones", nothing, scene=squeezed),
)
