"""The safety filter among four zones, with commanders that mean harm, in MuJoCo; and whether it keeps 250 Hz.

Every scene has a table and three solids near the hand. For 0 to 5 s each an adversary wants accelerations at the limits
of the joints: at random, straight at a zone, or held. The arm follows what the filter lets through; distances are
MuJoCo's, between the robot's real solids and the zones. Then the filter ticks at 250 Hz by the wall clock while another
process uses a core; a tick is on time that has ended when the next one is due.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from clearance_scenes import TABLE
from guarded_arm import Referee
from reports import print_report, report_parser, spread

from llm_planner.control import formulation
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.bodies import SerialArm
from llm_planner.control.safety_filter.distances import surroundings, zone_clearance
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.motion import JointState
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import SIZES, Shape, Zone
from llm_planner.simulation.world import World

PANDA = arm_model("panda")

Array = np.ndarray
Adversary = Callable[[Array], Array]  # from joint positions to wanted accelerations
PERIOD = 0.004  # [s] of the filter
SCENE_SECONDS = 5.0
FREE_AT_START = 0.02  # [m] of the zones
OWN_AT_START = 0.002  # [m] between links
VIOLATION = 0.001  # [m]
FIRST = np.zeros(3, dtype=np.intp)


@dataclass
class Tally:
    """Of all scenes; clearances are what is left of those asked for [m]."""

    tick_ms: list[float] = field(default_factory=list)
    clearances: list[float] = field(default_factory=list)
    touching: int = 0
    changed: int = 0
    refused: int = 0
    infeasible: int = 0
    velocity: float = 0.0  # share of the limit


def draw_zones(rng: np.random.Generator, body: SerialArm, qpos: Array, count: int = 3) -> tuple[Zone, ...]:
    """The table and solids within 35 cm of the hand that the arm does not touch."""
    tip, zones = body.place(qpos[None]).points[:, 0, 0], [TABLE]
    while len(zones) <= count:
        shape = list(Shape)[rng.integers(len(Shape))]
        turned = rng.normal(size=4)
        x, y, z, w = (turned / np.linalg.norm(turned)).tolist()
        place = tip + rng.uniform(-0.35, 0.35, 3)
        size = tuple(rng.uniform(0.03, 0.12, SIZES[shape]).tolist())
        name, pose = f"thing {len(zones)}", Pose(tuple(place.tolist()), (x, y, z, w))
        zone = Zone(name, shape, size, pose, float(rng.uniform(0.0, 0.05)))
        if zone_clearance(body, zone, qpos) > FREE_AT_START:
            zones.append(zone)
    return tuple(zones)


def adversaries(rng: np.random.Generator, arm: ArmModel, body: SerialArm, zones: Sequence[Zone]) -> Iterator[Adversary]:
    """For every tick what is wanted, as one way to do harm follows another."""
    most = arm.limits.qacc_max
    while True:
        goal = np.array(zones[rng.integers(1, len(zones))].pose.position)
        held = rng.uniform(-1, 1, arm.nq) * most

        def at_zone(qpos: Array, goal: Array = goal) -> Array:
            placed = body.place(qpos[None])
            return np.sign(placed.slopes(FIRST, FIRST, np.eye(3)).T @ (goal - placed.points[:, 0, 0])) * most

        ways: tuple[Adversary, ...] = (
            lambda qpos: rng.uniform(-1, 1, arm.nq) * most,
            at_zone,
            lambda qpos, held=held: held,
        )
        way = ways[rng.integers(len(ways))]
        for _ in range(round(rng.uniform(0.0, 5.0) / PERIOD)):
            yield way


def run_scene(rng: np.random.Generator, world: World, body: SerialArm, seconds: float, tally: Tally) -> None:
    """One scene, its figures added to `tally`."""
    world.reset(0, ())
    arm, nq = world.arm, world.arm.nq
    own = surroundings(body, ())
    qpos = np.array(arm.home) + rng.uniform(-0.25, 0.25, nq)
    while own.clearance(qpos) <= OWN_AT_START:
        qpos = np.array(arm.home) + rng.uniform(-0.25, 0.25, nq)
    world.data.qpos[:nq] = qpos
    world.data.qvel[:] = 0.0
    zones = draw_zones(rng, body, qpos)
    constraints, referee = MotionConstraints(zones=zones), Referee(zones, arm)
    guard, wants = Guard(SafetyFilter(body, arm.limits)), adversaries(rng, arm, body, zones)
    command = formulation.hold(qpos, world.time, 0.1, 0.08)
    guard.measured(JointState(world.time, qpos, np.zeros(nq)))
    for _ in range(round(seconds / PERIOD)):
        now = world.time
        wanted = next(wants)(formulation.sample(command, now).qpos)
        began = time.thread_time()
        command = guard.accelerate(wanted, now, constraints) or command
        tally.tick_ms.append(1e3 * (time.thread_time() - began))
        world.follow(command, PERIOD)
        guard.measured(world.joint_state())
        tally.changed += guard.filtered.changed
        tally.refused += guard.filtered.refused
        tally.infeasible += guard.filtered.infeasible
        measured = world.data.qpos[: nq + 2]
        distances = [referee.distance(measured, zone) for zone in zones]
        tally.clearances.append(min(d - zone.clearance for d, zone in zip(distances, zones, strict=True)))
        tally.touching += min(distances) <= 0.0
        share = np.abs(world.data.qvel[:nq]) / arm.limits.qvel_max
        tally.velocity = max(tally.velocity, float(share.max()))


def on_time(arm: ArmModel, body: SerialArm, seconds: float, seed: int) -> dict[str, float]:
    """The share of ticks that end before the next is due, while another process uses a core."""
    rng = np.random.default_rng(seed)
    qpos = np.array(arm.home)
    zones = draw_zones(rng, body, qpos)
    constraints, wants = MotionConstraints(zones=zones), adversaries(rng, arm, body, zones)
    guard = Guard(SafetyFilter(body, arm.limits))
    guard.measured(JointState(0.0, qpos, np.zeros(arm.nq)))
    command, kept, took = formulation.hold(qpos, 0.0, 0.1, 0.08), 0, []
    count, tick = round(seconds / PERIOD), 0
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        start = time.perf_counter() + 0.2
        while tick < count:
            due = start + tick * PERIOD
            time.sleep(max(0.0, due - time.perf_counter()))
            began = time.perf_counter()
            now = tick * PERIOD
            wanted = next(wants)(formulation.sample(command, now).qpos)
            command = guard.accelerate(wanted, now, constraints) or command
            ended = time.perf_counter()
            took.append(1e3 * (ended - began))
            kept += ended <= due + PERIOD
            tick = max(tick + 1, int((ended - start) / PERIOD))  # ticks that are over are missed, not made up for
        busy.kill()
    return {"ticks": count, "on_time": round(kept / count, 4), "median_wall_ms": round(float(np.median(took)), 3)}


def run(scenes: int, seconds: float, seed: int, robot: str = PANDA.name) -> dict[str, object]:
    """All figures."""
    arm = arm_model(robot)
    world, body, tally = World(0, (), arm=arm), arm_body(arm), Tally()
    for scene in range(scenes):
        run_scene(
            np.random.default_rng((seed, scene)), world, body, SCENE_SECONDS if seconds >= 1.0 else seconds, tally
        )
    left = np.array(tally.clearances)
    return {
        "robot": robot,
        "scenes": scenes,
        "ticks": len(left),
        "tick_ms": spread(tally.tick_ms),
        "touching": tally.touching,
        "violations": int((left < -VIOLATION).sum()),
        "least_clearance_mm": round(1e3 * float(left.min()), 3),
        "changed": round(tally.changed / len(left), 3),
        "refused": round(tally.refused / len(left), 4),
        "infeasible": tally.infeasible,
        "largest_velocity_share": round(tally.velocity, 3),
        "beside_a_busy_core": on_time(arm, body, seconds, seed),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--robot", default=PANDA.name, help="name or folder of the arm")
    parser.add_argument("--scenes", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=5.0, help="of ticks by the wall clock")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    report = run(options.scenes, options.seconds, options.seed, options.robot)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
