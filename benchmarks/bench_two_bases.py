"""Two mobile bases in one building do random jobs at the same time; contacts and entered rooms are counted.

Each base drives to rooms, people and things, and carries things to other rooms, in random buildings; it reserves every
room before it enters it. A thing is delivered if the simulator's scene shows it in its room. A job that the other base
stands in the way of is given up after a minute with a sentence that names the other base, and the next job follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import dist, hypot

import numpy as np
from reports import print_report
from two_robots import PERIOD, Call, WorkingRobot, run_scenes, scenes_parser

from llm_planner.control import formulation
from llm_planner.control.constraint_arbiter import ConstraintArbiter
from llm_planner.control.motion_constraints import FREE
from llm_planner.control.mpc import BaseController
from llm_planner.control.safety_filter.robots import HOLD, base_guard
from llm_planner.control.zone_reservation import ArmState, ZoneReservation
from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.scene.predicates import is_portable
from llm_planner.scene.scene import Building
from llm_planner.scene.shared_building import SharedBuilding, Start
from llm_planner.simulation.rooms.building_plan import ROOMS_MAX, ROOMS_MIN, draw_building
from llm_planner.simulation.rooms.shared_world import BaseInBuilding, BuildingWorld
from llm_planner.skills.base import own_base
from llm_planner.skills.contract import OriginTracker, Skill
from llm_planner.skills.library import load_skills
from llm_planner.skills.reserved_rooms import ReservedBase

TIMEOUT = 0.2  # [s] cmd_vel_timeout, as in ROS
TOLERATED = 0.001  # [m] into a room
CARELESS = 1.5  # [s] mean time between two wishes of a careless base
TIME = 900.0  # [s, simulated] for all jobs of a scene


class WorkingBase(WorkingRobot):
    """Does its jobs.

    A `careless` base asks for random rooms and drives as if it had all: only its safety filter knows better.
    """

    def __init__(self, world: BuildingWorld, name: str, rng: np.random.Generator, careless: bool = False) -> None:
        super().__init__(name, ZoneReservation(name, world.shared.boundaries(name)))
        self.base: BaseInBuilding = world.robots[name]
        self._careless, self._rng = careless, rng
        make_base = own_base if careless else lambda seen: ReservedBase(seen, self.reservation)
        self._library = load_skills(make_base=make_base, learned=False)
        self._controller, self._guard, self._board = BaseController(), base_guard(TIMEOUT), ConstraintArbiter()
        self._origins = OriginTracker()
        self.worked = self.waited = self.reserved = self.entered = 0  # periods, rooms, physics looks
        self._began = False  # it has the room where it starts
        self.nearest = np.inf  # [m] of the footprint to a room that it does not have

    def skill(self, name: str) -> Skill:
        return self._library.find(name)

    def plan(self) -> None:
        """Decide on the motion of the coming period."""
        observation = self.base.observation()
        observation = replace(observation, origins=self._origins.update(observation.scene))
        if self._careless and self._rng.random() < PERIOD / CARELESS:
            rooms = list(self.reservation.strips)
            self.reservation.want(self._rng.permutation(rooms)[: int(self._rng.integers(len(rooms) + 1))].tolist())
        failed = len(self.failures)
        reference = self.work(observation)
        if len(self.failures) > failed and observation.scene.held:
            self._jobs.insert(0, [("drop_off", {})])
        now = self.base.time
        self._board.keep_out(self.reservation.zones)
        keep = FREE if self._careless else self._board.at(now)
        self._plan = self._controller.step(self.base.joint_state(), reference, now, keep)
        self.base.grip(self._plan.gripper_width)
        self.worked += self.run is not None
        self.waited += self.run is not None and self.run.phase.startswith("wait for")

    def drive(self, told: Sequence[ArmState]) -> None:
        """Hear what the others tell, and command the velocity for the next `HOLD` s."""
        now, state = self.base.time, self.base.joint_state()
        self._guard.measured(state)
        for other in told:
            self.reservation.heard(other)
        before = self.reservation.held
        self.reservation.update(lambda zone: self._guard.keeps_out(zone, now))
        self.reserved += len(self.reservation.held - before)
        self._board.keep_out(self.reservation.zones)
        self._guard.hear(formulation.sample(self._plan, now + HOLD).qvel, now)
        velocity = self._guard.step(state, now, self._board.at(now))
        self.base.follow(_at(velocity, state, now), HOLD)

    def judge(self, building: Building) -> None:
        """Look where the base is."""
        self._began = self._began or bool(self.reservation.held)
        if not self._began:
            return
        x, y = self.base.position
        for room in building.rooms:
            if room.name not in self.reservation.held:
                area = room.area
                away = hypot(max(area.x_min - x, x - area.x_max, 0.0), max(area.y_min - y, y - area.y_max, 0.0))
                self.nearest = min(self.nearest, away - BASE_RADIUS)
                self.entered += away - BASE_RADIUS < -TOLERATED


def _at(velocity: np.ndarray, state: JointState, now: float) -> JointTrajectory:
    """One velocity in the map frame; the fingers stay as they are."""
    qpos = np.array([state.qpos, state.qpos])
    return JointTrajectory(now, HOLD, qpos, np.array([velocity, velocity]), np.zeros((1, 3)), float("nan"))


@dataclass(frozen=True)
class Outcome:
    """How one scene went; times in simulated s."""

    seed: int
    rooms: int
    contacts: int  # physics steps in which the bases touched, or a base and what the other one carried
    entered: int  # looks (every 20 ms) at which a footprint was in a room that the base did not have
    nearest_room_mm: float  # of a footprint to a room that the base did not have
    nearest_base: float  # [m] between the footprints
    jobs: int
    done: int
    gave_way: int  # jobs given up with a sentence that names the other base
    other: int  # jobs that failed otherwise
    reserved: int
    both_working: float  # share of the working time in which both worked
    waited: float  # [s]
    duration: float
    messages: tuple[str, ...]


def draw_world(seed: int) -> BuildingWorld:
    """A random building with a base in each of two rooms off the halls."""
    rng = np.random.default_rng([seed, 5])
    building = draw_building(int(rng.integers(ROOMS_MIN, ROOMS_MAX + 1)), rng)
    rooms = [room for room in building.rooms if room.name not in ("hall", "lobby")]
    left, right = (rooms[index].area.center for index in rng.permutation(len(rooms))[:2])
    shared = SharedBuilding((Start("left", *left), Start("right", *right)), building)
    return BuildingWorld(shared, seed)


def draw_jobs(
    world: BuildingWorld, rng: np.random.Generator, count: int
) -> tuple[dict[str, list[list[Call]]], dict[str, str]]:
    """Draw `count` jobs for each base, and the room of each thing that is carried; each thing belongs to one base."""
    building, items = world.shared.building, tuple(world.items.values())
    loose = [item for item in items if is_portable(item)]
    things = rng.permutation([item.name for item in loose]).tolist()
    people = [item.name for item in items if item.kind == "person"]
    jobs: dict[str, list[list[Call]]] = {}
    goals: dict[str, str] = {}
    for name, own in zip(world.robots, (things[::2], things[1::2]), strict=True):
        jobs[name] = []
        for _ in range(count):
            room, draw = str(rng.choice(building.names)), rng.random()
            if own and draw < 0.6:
                thing = own.pop()
                goals[thing] = room
                fetch: list[Call] = [("go_to", {"destination": thing}), ("pick_up", {"object": thing})]
                jobs[name].append([*fetch, ("go_to", {"destination": room}), ("drop_off", {})])
            else:
                target = str(rng.choice(people)) if draw > 0.9 else room
                jobs[name].append([("go_to", {"destination": target})])
    return jobs, goals


def run_scene(seed: int, careless: bool = False, jobs_each: int = 5) -> Outcome:
    """One scene with two bases that work until both are done."""
    rng, world = np.random.default_rng([seed, 6]), draw_world(seed)
    jobs, goals = draw_jobs(world, rng, jobs_each)
    workers = [WorkingBase(world, name, rng, careless) for name in world.robots]
    for worker in workers:
        worker.give(jobs[worker.name])
    both = some = 0
    apart = np.inf
    while world.time < TIME and not all(worker.is_done for worker in workers):
        for worker in workers:
            worker.plan()
        busy = [not worker.is_done for worker in workers]
        both, some = both + all(busy), some + any(busy)
        for _ in range(round(PERIOD / HOLD)):
            told = [worker.tell() for worker in workers]
            for worker in workers:
                worker.drive(told)
            world.advance(HOLD)
            for worker in workers:
                worker.judge(world.shared.building)
            apart = min(apart, dist(workers[0].base.position, workers[1].base.position) - 2 * BASE_RADIUS)
    failures = [message for worker in workers for message in worker.failures]
    named = [message for message in failures if "the way leads through" in message]
    count = sum(map(len, jobs.values()))
    return Outcome(
        seed, len(world.shared.building.rooms), world.touches, sum(one.entered for one in workers),
        1e3 * min(one.nearest for one in workers), apart, count, count - len(failures) - _wrong(world, goals, workers),
        len(named), len(failures) - len(named), sum(one.reserved for one in workers), both / max(some, 1),
        PERIOD * sum(one.waited for one in workers), world.time, tuple(failures),
    )  # fmt: skip


def _wrong(world: BuildingWorld, goals: dict[str, str], workers: Sequence[WorkingBase]) -> int:
    """Things that lie elsewhere although no job failed, and jobs for which there was no time."""
    if any(worker.failures for worker in workers) or not all(worker.is_done for worker in workers):
        return 0
    building = world.shared.building
    return sum(building.room_at(*world.items[name].position[:2]) != room for name, room in goals.items())


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The figures over all scenes."""
    total = Counter[str]()
    for one in outcomes:
        total.update(
            {name: getattr(one, name) for name in ("contacts", "entered", "jobs", "done", "gave_way", "other")}
        )
    return {
        "scenes": len(outcomes),
        **total,
        "nearest_room_mm": min(one.nearest_room_mm for one in outcomes),
        "nearest_base": min(one.nearest_base for one in outcomes),
        "done_share": total["done"] / max(1, total["jobs"]),
        "rooms_reserved": sum(one.reserved for one in outcomes),
        "both_working": float(np.mean([one.both_working for one in outcomes])),
        "waited": sum(one.waited for one in outcomes),
        "simulated": sum(one.duration for one in outcomes),
    }


def main() -> None:
    parser = scenes_parser(__doc__)
    parser.add_argument("--careless", action="store_true", help="only the safety filters know the rooms")
    parser.add_argument("--jobs", type=int, default=5, help="of each base")
    args = parser.parse_args()
    outcomes, wall = run_scenes(run_scene, args, args.careless, args.jobs)
    print_report(summary(outcomes) | {"wall_time": wall}, args.json)


if __name__ == "__main__":
    main()
