"""CPU time of the controller's tick in closed loop, tracking paths of a hand that crosses the whole table.

Once free, and once among zones and under a speed: four rows of zones at every stage, three of the speed at every end of
a block, between which velocities change evenly. The joints follow the plans exactly, so nothing but the controller is
measured. An episode is one tick of 10 ms.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from reports import print_report, report_parser, spread

from llm_planner.control import formulation
from llm_planner.control.keep_out import KeepOutSettings
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import MpcController
from llm_planner.control.tick_solver import ConstrainedSettings, MpcSettings
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState, MotionReference
from llm_planner.scene.places import WORKSPACE
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.hand_geometry import HandPose, comfortable_yaw, rest_pose
from llm_planner.skills.motion import PATH_DT, Leg, MotionLimits, plan_path

PANDA = arm_model("panda")

PERIOD = 0.01  # [s] of the controller
REFERENCE_TICKS = 10  # a skill sends the next piece of its path this often
AHEAD = 20  # poses
PAIRS, FACETS = 4, 3  # rows of zones at a stage, of the speed at the end of a block
AMONG_ZONES = MotionConstraints(
    speed=0.25,
    zones=(
        Zone("the vase", Shape.CYLINDER, (0.05, 0.12), Pose((0.5, 0.1, 0.12)), 0.03),
        Zone("the lamp", Shape.CAPSULE, (0.04, 0.15), Pose((0.45, -0.2, 0.15)), 0.03),
        Zone("the ball", Shape.SPHERE, (0.06,), Pose((0.6, -0.05, 0.06)), 0.03),
        Zone("the box", Shape.BOX, (0.06, 0.05, 0.04), Pose((0.4, 0.3, 0.04)), 0.03),
    ),
)


def references(rng: np.random.Generator) -> Iterator[MotionReference]:
    """What a skill would send every 100 ms, from one random place above the table to the next, for ever."""
    grip, now = rest_pose(PANDA.shape), 0.0
    while True:
        x, y = rng.uniform(WORKSPACE.x_min + 0.03, WORKSPACE.x_max), rng.uniform(WORKSPACE.y_min, WORKSPACE.y_max)
        goal = HandPose(x, y, rng.uniform(0.02, 0.2), comfortable_yaw(x, y, rng.uniform(-np.pi, np.pi)))
        over = HandPose(x, y, 0.22, goal.yaw)
        poses = plan_path(grip, [Leg(HandPose(grip.x, grip.y, 0.22, grip.yaw)), Leg(over), Leg(goal)], MotionLimits())
        for index in range(0, len(poses), round(REFERENCE_TICKS * PERIOD / PATH_DT)):
            yield MotionReference(now, PATH_DT, poses[index : index + AHEAD + 1], 0.08)
            now += REFERENCE_TICKS * PERIOD
        grip = goal


def run(ticks: int, seed: int, constraints: MotionConstraints = FREE) -> dict[str, object]:
    """Percentiles of tick and QP times [ms], the states of the controller, and the share of the limits used.

    Times are those of the ticks with all rows, whose number is `measured`.
    """
    settings = MpcSettings(constrained=ConstrainedSettings(KeepOutSettings(pairs=PAIRS, heed=0.3), heed_speed=0.0))
    controller = MpcController(settings, clock=time.thread_time)
    controller.prepare()
    horizon = settings.horizon
    rows = 0 if constraints is FREE else PAIRS * horizon.stages + FACETS * (len(horizon.blocks) - 1)
    stream = references(np.random.default_rng(seed))
    qpos, qvel = np.array(PANDA.home), np.zeros(len(PANDA.home))
    solve, tick, full, states = np.zeros(ticks), np.zeros(ticks), np.zeros(ticks, dtype=bool), Counter[str]()
    velocity = acceleration = 0.0
    for k in range(ticks):
        if k % REFERENCE_TICKS == 0:
            reference = next(stream)
        now = k * PERIOD
        plan = controller.step(JointState(now, qpos, qvel), reference, now, constraints)
        full[k] = controller.statistics.rows >= rows
        solve[k], tick[k] = 1e3 * controller.statistics.solve_time, 1e3 * controller.statistics.tick_time
        states[controller.statistics.status.value] += 1
        state = formulation.sample(plan, now + PERIOD)
        qpos, qvel = state.qpos, state.qvel
        velocity = max(velocity, float((np.abs(qvel) / PANDA.limits.qvel_max).max()))
        acceleration = max(acceleration, float((np.abs(state.qacc) / PANDA.limits.qacc_max).max()))
    return {
        "ticks": ticks,
        "measured": int(full.sum()),
        "qp_ms": spread(solve[full]),
        "tick_ms": spread(tick[full]),
        "states": dict(states),
        "largest_velocity_share": round(velocity, 3),
        "largest_acceleration_share": round(acceleration, 3),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--episodes", type=int, default=1000, help="ticks")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    report = run(options.episodes, options.seed)
    report["rows"] = run(options.episodes, options.seed, AMONG_ZONES)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
