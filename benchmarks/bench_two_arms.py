"""Two arms at one table put blocks into bowls at the same time; contacts and entered zones are counted.

The arms stand side by side or face each other at random distances, as Panda, UR5e or xArm 7. A third of the things lies
in the strip between them, which one arm at a time may reserve. A job is done if the simulator's scene shows the block
in its bowl.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from guarded_arm import Referee
from reports import print_report
from two_robots import PERIOD, Call, WorkingRobot, run_scenes, scenes_parser

from llm_planner.control.constraint_arbiter import ConstraintArbiter
from llm_planner.control.controlled_robot import arm as controlled_arm
from llm_planner.control.motion_constraints import FREE
from llm_planner.control.mpc import MpcController
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.control.zone_reservation import ArmState, ZoneReservation
from llm_planner.errors import InputError
from llm_planner.robots.carried import Grip
from llm_planner.robots.motion import MotionReference, sample
from llm_planner.scene import predicates
from llm_planner.scene.geometry import rotation_matrix
from llm_planner.scene.scene import SceneObject
from llm_planner.scene.shared_table import SharedTable, Station
from llm_planner.scene.zones import Zone
from llm_planner.simulation.objects import COLORS, named
from llm_planner.simulation.table_world import ArmAtTable, TableWorld, can_work_at, check_homes
from llm_planner.skills.contract import OriginTracker, Skill
from llm_planner.skills.library import SkillLibrary, load_skills
from llm_planner.skills.reserved import ReservedSkill

TOLERATED = 0.001  # [m] into a zone; the filter's own margin is larger


@dataclass
class Tally:
    """What happened to one arm."""

    commanded: int = 0  # periods in which the commanded posture was in a zone
    measured: int = 0  # periods in which the measured one was, what it carries included
    nearest: float = np.inf  # [m] least distance of the measured arm from its zones
    worked: int = 0  # periods with a skill
    waited: int = 0  # of these, periods spent waiting for a strip
    reserved: int = 0  # times that a strip was got


class WorkingArm(WorkingRobot):
    """Does its jobs, each a pair of skill calls, one after the other.

    Skills and controller of a `careless` arm know no sides; only its safety filter keeps it on its own.
    """

    def __init__(self, world: TableWorld, name: str, library: SkillLibrary, careless: bool = False) -> None:
        super().__init__(name, ZoneReservation(name, world.table.boundaries(name)))
        self.tally, self._careless = Tally(), careless
        self.arm: ArmAtTable = world.robots[name]
        model = self.arm.arm
        self._controller = MpcController(robot=controlled_arm(model=model))
        self._guard = Guard(SafetyFilter(arm_body(model), model.limits))
        self._board, self._grip, self._origins = ConstraintArbiter(), Grip(), OriginTracker()
        self._library = library
        zones = [zone for one in self.reservation.boundaries for zone in (one.near, one.far)]
        self._referee = Referee(zones, model)

    def skill(self, name: str) -> Skill:
        known = self._library.find(name)
        return known if self._careless else ReservedSkill(known, self.reservation)

    def plan(self, told: list[ArmState]) -> None:
        """Decide on the motion of the coming period, and let the arm follow it."""
        now = self.arm.time
        self._guard.measured(self.arm.joint_state())
        for state in told:
            self.reservation.heard(state)
        before = self.reservation.held
        self.reservation.update(lambda zone: self._guard.keeps_out(zone, now))
        self.tally.reserved += len(self.reservation.held - before)
        self._board.keep_out(self.reservation.zones)
        keep = self._board.at(now)
        scene = self.arm.scene()
        if self._grip.see(scene):
            self._guard.judged_by(SafetyFilter(arm_body(self.arm.arm, self._grip.carried), self.arm.limits))
            self._controller.carry(self._grip.carried)
        plan = self._controller.step(self.arm.joint_state(), self._work(), now, FREE if self._careless else keep)
        self.commanded = self._guard.hear(plan, now, keep) or self._guard.steps(now, PERIOD, keep)
        self.arm.follow(self.commanded, PERIOD)

    def judge(self) -> None:
        """Look where the arm is commanded to be and is, after the period."""
        tally, fingers = self.tally, self.arm.gripper_width() / 2
        name = self.arm.held()
        held = self.arm.scene().find(name) if name else None
        qpos = sample(self.commanded, np.array([self.arm.time]))[0][0]
        measured = self.arm.joint_state().qpos
        for zone in self.reservation.zones:
            commanded = self._referee.distance(np.concatenate([qpos, [fingers, fingers]]), zone)
            distance = self._referee.distance(np.concatenate([measured, [fingers, fingers]]), zone)
            distance = min(distance, _corners_from(held, zone) if held else np.inf)
            tally.commanded += commanded < -TOLERATED
            tally.measured += distance < -TOLERATED
            tally.nearest = min(tally.nearest, distance)
        tally.worked += self.run is not None
        tally.waited += self.run is not None and self.run.phase == "wait for the strip"

    def _work(self) -> MotionReference | None:
        observation = self.arm.observation()
        return self.work(replace(observation, origins=self._origins.update(observation.scene)))


def _corners_from(item: SceneObject, zone: Zone) -> float:
    """Distance [m] of the corners of a box from a half space, which is a huge box with its face towards -x."""
    half = np.array(item.size) / 2
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    corners = np.array(item.position) + (signs * half) @ np.array(rotation_matrix(item.orientation)).T
    local = (corners - zone.pose.position) @ np.array(rotation_matrix(zone.pose.orientation))
    return float((-zone.size[0] - local[:, 0]).min())


ARMS = ("panda", "ur5e", "xarm7")
BLOCKS, BOWLS = 4, 3
TIME = 240.0  # [s, simulated] for all jobs of a scene


@dataclass(frozen=True)
class Outcome:
    """How one scene went; times in simulated s."""

    seed: int
    arms: tuple[str, str]
    layout: str
    contacts: int  # physics steps in which the arms touched, or an arm and what the other one held
    commanded: int  # periods in which an arm was sent into its zone
    measured: int  # periods in which an arm was in its zone
    nearest_mm: float  # of an arm to its zone
    jobs: int
    done: int
    in_strip: int  # jobs for which an arm had to reserve the strip
    reserved: int
    both_working: float  # share of the working time in which both worked
    waited: float  # [s]
    duration: float
    messages: tuple[str, ...]


def draw_table(rng: np.random.Generator, arms: Sequence[str]) -> tuple[SharedTable, str]:
    """A table with two arms, `left` and `right`, that stand at home on their own sides."""
    while True:
        table, layout = _drawn(rng, arms)
        try:
            check_homes(table)
        except InputError:
            continue
        return table, layout


def _drawn(rng: np.random.Generator, arms: Sequence[str]) -> tuple[SharedTable, str]:
    left, right = (str(rng.choice(list(arms))) for _ in range(2))
    if rng.random() < 0.5:
        apart = float(rng.uniform(0.75, 1.0))
        stations = Station("left", left, 0.0, apart / 2), Station("right", right, 0.0, -apart / 2)
        return SharedTable(stations), "side by side"
    stations = (
        Station("left", left, 0.0, 0.0),
        Station("right", right, float(rng.uniform(1.45, 1.6)), float(rng.uniform(-0.1, 0.1)), math.pi),
    )
    return SharedTable(stations), "facing"


def jobs_of(
    world: TableWorld, rng: np.random.Generator, anywhere: bool = False
) -> tuple[dict[str, list[list[Call]]], list[tuple[str, str]], int]:
    """Jobs by arm, the pairs of block and bowl, and how many of them lie in a strip; `anywhere`, out of reach too."""
    items = {item.name: item for item in world.robots["left"].scene().objects}
    places = {name: world.data.joint(name).qpos[:2].tolist() for name in items}
    jobs: dict[str, list[list[Call]]] = {name: [] for name in world.robots}
    pairs, shared = [], 0
    for block in rng.permutation([name for name, item in items.items() if item.kind == "block"]).tolist():
        choices = [
            (arm, bowl)
            for arm in jobs
            for bowl, item in items.items()
            if item.kind == "bowl"
            and (anywhere or all(can_work_at(world.table, arm, *places[one], True) for one in (block, bowl)))
        ]
        if not choices:
            continue
        arm, bowl = choices[int(rng.integers(len(choices)))]
        jobs[arm].append([("pick", {"object": block}), ("place_in", {"object": bowl})])
        pairs.append((block, bowl))
        shared += not all(can_work_at(world.table, arm, *places[one], False) for one in (block, bowl))
    return jobs, pairs, shared


def run_scene(seed: int, arms: Sequence[str], careless: bool = False) -> Outcome:
    """One scene with two arms that work until both are done."""
    rng = np.random.default_rng([seed, 3])
    table, layout = draw_table(rng, arms)
    colors = rng.permutation(list(COLORS)).tolist()
    blocks, bowls = [(color, "block") for color in colors[:BLOCKS]], [(color, "bowl") for color in colors[:BOWLS]]
    wanted = named([bowls[0], bowls[1], bowls[2], *blocks])
    world = TableWorld(table, seed, wanted)
    library = load_skills(learned=False)
    workers = [WorkingArm(world, name, library, careless) for name in world.robots]
    jobs, pairs, shared = jobs_of(world, rng, anywhere=careless)
    for worker in workers:
        worker.give(jobs[worker.name])
    both = some = 0
    while world.time < TIME and not all(worker.is_done for worker in workers):
        told = [worker.tell() for worker in workers]
        for worker in workers:
            worker.plan(told)
        busy = [not worker.is_done for worker in workers]
        both, some = both + all(busy), some + any(busy)
        world.advance(PERIOD)
        for worker in workers:
            worker.judge()
    scene, tallies = workers[0].arm.scene(), [worker.tally for worker in workers]
    failed = [message for worker in workers for message in worker.failures]
    done = sum(predicates.in_(scene, block, bowl) for block, bowl in pairs)
    return Outcome(
        seed, (table.stations[0].robot, table.stations[1].robot), layout, world.touches,
        sum(tally.commanded for tally in tallies), sum(tally.measured for tally in tallies),
        1e3 * min(tally.nearest for tally in tallies), len(pairs), done, shared,
        sum(tally.reserved for tally in tallies), both / max(some, 1), PERIOD * sum(t.waited for t in tallies),
        world.time, tuple(failed),
    )  # fmt: skip


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The figures over all scenes."""
    return {
        "scenes": len(outcomes),
        "contacts": sum(one.contacts for one in outcomes),
        "violations_commanded": sum(one.commanded for one in outcomes),
        "violations_measured": sum(one.measured for one in outcomes),
        "nearest_mm": min(one.nearest_mm for one in outcomes),
        "jobs": sum(one.jobs for one in outcomes),
        "done": sum(one.done for one in outcomes) / max(1, sum(one.jobs for one in outcomes)),
        "jobs_in_strip": sum(one.in_strip for one in outcomes),
        "reservations": sum(one.reserved for one in outcomes),
        "both_working": float(np.mean([one.both_working for one in outcomes])),
        "waited": sum(one.waited for one in outcomes),
    }


def main() -> None:
    parser = scenes_parser(__doc__)
    parser.add_argument("--arms", nargs="+", default=list(ARMS))
    parser.add_argument("--careless", action="store_true", help="only the safety filters know the sides")
    args = parser.parse_args()
    outcomes, wall = run_scenes(run_scene, args, args.arms, args.careless)
    print_report(summary(outcomes) | {"wall_time": wall}, args.json)


if __name__ == "__main__":
    main()
