"""CPU time of the controller's tick in closed loop, tracking paths of a hand that crosses the whole table.

The joints follow the plans exactly, so nothing but the controller is measured.
Usage: bench_mpc.py [--episodes 1000] [--seed 0] [--json]; an episode is one tick of 10 ms.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from llm_planner.control import fallback
from llm_planner.control.mpc import MpcController
from llm_planner.control.reference import JointState, MotionReference
from llm_planner.simulation.panda import HOME_QPOS, PANDA_LIMITS
from llm_planner.skills.gripper_shape import Grip, comfortable_yaw
from llm_planner.skills.motion import PATH_DT, Leg, MotionLimits, plan_path
from llm_planner.skills.scripts.basic import HOME
from llm_planner.world.places import WORKSPACE

PERIOD = 0.01  # [s] of the controller
REFERENCE_TICKS = 10  # a skill sends the next piece of its path this often
AHEAD = 20  # poses


def references(rng: np.random.Generator) -> Iterator[MotionReference]:
    """What a skill would send every 100 ms, from one random place above the table to the next, for ever."""
    grip, now = HOME, 0.0
    while True:
        x, y = rng.uniform(WORKSPACE.x_min + 0.03, WORKSPACE.x_max), rng.uniform(WORKSPACE.y_min, WORKSPACE.y_max)
        goal = Grip(x, y, rng.uniform(0.02, 0.2), comfortable_yaw(x, y, rng.uniform(-np.pi, np.pi)))
        over = Grip(x, y, 0.22, goal.yaw)
        poses = plan_path(grip, [Leg(Grip(grip.x, grip.y, 0.22, grip.yaw)), Leg(over), Leg(goal)], MotionLimits())
        for index in range(0, len(poses), round(REFERENCE_TICKS * PERIOD / PATH_DT)):
            yield MotionReference(now, PATH_DT, poses[index : index + AHEAD + 1], 0.08)
            now += REFERENCE_TICKS * PERIOD
        grip = goal


def run(ticks: int, seed: int) -> dict[str, object]:
    """Percentiles of tick and QP times [ms], the states of the controller, and the share of the limits used."""
    controller = MpcController(clock=time.thread_time)
    stream = references(np.random.default_rng(seed))
    qpos, qvel = np.array(HOME_QPOS), np.zeros(len(HOME_QPOS))
    solve, tick, states = np.zeros(ticks), np.zeros(ticks), Counter[str]()
    velocity = acceleration = 0.0
    for k in range(ticks):
        if k % REFERENCE_TICKS == 0:
            reference = next(stream)
        now = k * PERIOD
        plan = controller.step(JointState(now, qpos, qvel), reference, now)
        solve[k], tick[k] = 1e3 * controller.statistics.solve_time, 1e3 * controller.statistics.tick_time
        states[controller.statistics.status.value] += 1
        state = fallback.sample(plan, now + PERIOD)
        qpos, qvel = state.qpos, state.qvel
        velocity = max(velocity, float((np.abs(qvel) / PANDA_LIMITS.qvel_max).max()))
        acceleration = max(acceleration, float((np.abs(state.qacc) / PANDA_LIMITS.qacc_max).max()))
    return {
        "ticks": ticks,
        "qp_ms": _percentiles(solve),
        "tick_ms": _percentiles(tick),
        "states": dict(states),
        "largest_velocity_share": round(velocity, 3),
        "largest_acceleration_share": round(acceleration, 3),
    }


def _percentiles(values: np.ndarray) -> dict[str, float]:
    return {name: round(float(np.percentile(values, q)), 4) for name, q in (("median", 50), ("p99", 99), ("max", 100))}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=1000, help="ticks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    report = run(options.episodes, options.seed)
    if options.json:
        print(json.dumps(report, indent=2))
        return 0
    print(f"{'CPU ms':8} {'median':>8} {'99 %':>8} {'max':>8}")
    for name, key in (("QP", "qp_ms"), ("tick", "tick_ms")):
        row = report[key]
        print(f"{name:8} {row['median']:8.3f} {row['p99']:8.3f} {row['max']:8.3f}")  # type: ignore[index]
    print(
        f"{report['ticks']} ticks: {report['states']}; largest joint velocity {report['largest_velocity_share']:.0%}"
        f" and acceleration {report['largest_acceleration_share']:.0%} of the limit"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
