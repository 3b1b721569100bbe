"""An arm, its driver, the safety filter and a commander as four processes that may stall, in simulated time.

Every process handles one message or timer at a time, as nodes do: what comes meanwhile waits, the newest alone. A
stall stops one of them, at rest or in the middle of its work, when what it worked out leaves late. The filter does as
its node does, without the messages; the driver is the simulator's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.bodies import SerialArm
from llm_planner.control.safety_filter.command_timing import RobotClock
from llm_planner.control.safety_filter.distances import surroundings
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory
from llm_planner.simulation.arm_drive import CommandQueue, RateLimiter
from llm_planner.simulation.world import World

PANDA = arm_model("panda")

Array = np.ndarray
PERIOD, CATCH_UP = 0.01, 4  # [s] of driver and commander; periods that the driver makes up for at once
STEP = 0.004  # [s] of the filter where it steps
WAY = 0.001  # [s] that a message takes
THINKING = {"commander": 0.004, "filter": 0.001}  # [s] from what comes in to what goes out
LEAD = 0.02  # [s] after which a command begins
TICK = 0.001  # [s] of the wall clock
WIDTH = 0.08
BODY: SerialArm = arm_body(PANDA)


@dataclass(frozen=True)
class Stall:
    """`party` stands still from `since` to `until` [s, wall]; `at_work`: before what it has just worked out leaves."""

    party: str
    since: float
    until: float
    at_work: bool = False


@dataclass
class Log:
    """What came of it: clearances beyond the promised one [m], below 0 where the promise was broken."""

    commanded: float = np.inf
    measured: float = np.inf
    measured_at: float = 0.0
    nearest: list[float] = field(default_factory=list)  # every driver's period
    refused: int = 0
    sent: int = 0
    travelled: float = 0.0  # [rad] by the first joint


@dataclass
class Party:
    """One process: what it has not read yet, and until when it is busy."""

    name: str
    inbox: dict[str, object] = field(default_factory=dict)  # topic: the newest
    busy_until: float = 0.0


class StalledArm:
    """`speed` [rad/s] at which the commander turns the first joint to and fro between `ends` [rad]."""

    def __init__(
        self, world: World, constraints: MotionConstraints, speed: float, ends: tuple[float, float],
        stalls: Sequence[Stall],
    ) -> None:  # fmt: skip
        self.world, self.log, self.stalls = world, Log(), list(stalls)
        self.constraints, self._speed, self._ends = constraints, speed, ends
        self._around = surroundings(BODY, constraints.zones)
        self.wall = 0.0
        self._mail: deque[tuple[float, str, str, object]] = deque()  # due, party, topic, message
        self.parties = {name: Party(name) for name in ("commander", "filter", "driver", "publisher")}
        qpos = np.array(PANDA.home)
        world.data.qpos[: world.arm.nq], world.data.qvel[:] = qpos, 0.0
        self._queue = CommandQueue(formulation.hold(qpos, 0.0, 0.1, WIDTH))
        self._limiter = RateLimiter(world.limits, qpos)
        self._guard = Guard(SafetyFilter(BODY, PANDA.limits))
        self._clock, self._time = RobotClock(), -np.inf
        self._steps, self._stepping = 0.0, False
        self._count, self._driver_start, self._next = 0, 0.0, 0.0
        self._next_publish = 0.0

    def clearance(self, qpos: Array) -> float:
        return self._around.clearance(qpos)

    def run(self, seconds: float) -> Log:
        while self.wall < seconds:
            self.wall += TICK
            self._deliver()
            for name in ("driver", "publisher", "filter", "commander"):
                if self._runs(name):
                    getattr(self, f"_{name}")()
        return self.log

    def _stalled(self, name: str) -> Stall | None:
        return next((s for s in self.stalls if s.party == name and s.since <= self.wall < s.until), None)

    def _runs(self, name: str) -> bool:
        stall = self._stalled(name)
        if stall is not None and not stall.at_work:
            return False
        return self.wall >= self.parties[name].busy_until

    def _send(self, name: str, party: str, topic: str, message: object) -> None:
        """It leaves after the work, or when a stall at work ends; the sender is busy until then."""
        stall, leaves = self._stalled(name), self.wall + THINKING.get(name, 0.0)
        if stall is not None and stall.at_work:
            leaves = stall.until
        self.parties[name].busy_until = leaves
        self._mail.append((leaves + WAY, party, topic, message))

    def _deliver(self) -> None:
        late = []
        for item in self._mail:
            due, party, topic, message = item
            if due > self.wall:
                late.append(item)
            elif topic == "command":
                self.parties[party].inbox.setdefault(topic, []).append(message)
            else:
                self.parties[party].inbox[topic] = message
        self._mail = deque(late)

    # The robot: its driver and physics stop together, and the time that it loses is lost.

    def _driver(self) -> None:
        for command in self.parties["driver"].inbox.pop("command", []):
            self._take(command)
        if self.wall < self._next:
            return
        self._next = self.wall + PERIOD
        due = int((self.wall - self._driver_start) / PERIOD) - self._count
        if due > CATCH_UP:
            self._driver_start += (due - CATCH_UP) * PERIOD
            due = CATCH_UP
        for _ in range(due):
            for _ in range(2):
                now, before = self.world.time, self.world.data.qpos[0]
                self.world.follow(self._limiter.advance(self._queue.at, now, PERIOD / 2), PERIOD / 2)
                self._look()
                self.log.travelled += abs(self.world.data.qpos[0] - before)
            self._count += 1
        if due:
            stall = self._stalled("driver")
            if stall is None or not stall.at_work:
                self.parties["publisher"].inbox["state"] = self.world.joint_state()
            else:
                self._send("driver", "publisher", "state", self.world.joint_state())

    def _take(self, command: JointTrajectory) -> None:
        now = self.world.time
        if self._queue.refusal(command, now, self.world.joint_state().qpos):
            self.log.refused += 1
        else:
            self._queue.add(command, now)

    def _publisher(self) -> None:
        state = self.parties["publisher"].inbox.pop("state", None)
        if state is not None:
            self._send("publisher", "filter", "state", state)
            self._mail.append((self._mail[-1][0], "commander", "state", state))

    def _look(self) -> None:
        measured = self.clearance(self.world.data.qpos[: self.world.arm.nq])
        self.log.nearest.append(measured)
        if measured < self.log.measured:
            self.log.measured, self.log.measured_at = measured, self.world.time

    # Whoever wants motions: it knows no zones, and where it should be by now goes on whatever the robot does.

    def _commander(self) -> None:
        state = self.parties["commander"].inbox.pop("state", None)
        if state is None:
            return
        now = state.time + 0.03
        low, high = self._ends
        phase = (now * self._speed) % (2 * (high - low))
        forth = phase < high - low
        start, turn = np.array(PANDA.home), np.zeros(7)
        start[0] += low + (phase if forth else 2 * (high - low) - phase)
        turn[0] = self._speed if forth else -self._speed
        qacc = np.zeros((10, 7))
        qacc[5:, 0] = -turn[0] / 0.25
        self._send(
            "commander", "filter", "plan", formulation.integrate(StartState(start, turn, turn), qacc, now, 0.05, WIDTH)
        )

    # The filter, as its node has it.

    def _now(self) -> float:
        return self._clock.now(self.wall) + LEAD

    def _filter(self) -> None:
        inbox = self.parties["filter"].inbox
        if self._stepping and self.wall >= self._steps:
            self._steps = self.wall + STEP
            self._step()
            if not self._guard.is_stepping or self._guard.rests(self._now()):
                self._stepping = False
        elif "state" in inbox:
            state = inbox.pop("state")
            if state.time <= self._time:
                return
            self._time = state.time
            self._clock.heard(state.time, self.wall)
            self._guard.measured(state)
            if not self._guard.rests(self._now()):
                self._step()
        elif "plan" in inbox and np.isfinite(self._time):
            plan = inbox.pop("plan")
            begins = max(plan.start_time, self._now())
            command = self._guard.hear(plan, begins, self.constraints)
            if command is not None:
                self._command(command)
            elif not self._stepping:
                self._stepping, self._steps = True, self.wall + STEP
                self._step()

    def _step(self) -> None:
        if not self._clock.is_known(self.wall):
            return
        command = self._guard.step(self._now(), self.constraints)
        if command is not None:
            self._command(command)

    def _command(self, command: JointTrajectory) -> None:
        self.log.sent += 1
        self.log.commanded = min(self.log.commanded, self.clearance(command.qpos))
        self._send("filter", "driver", "command", command)
