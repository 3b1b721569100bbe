"""The controller and mink (a differential inverse kinematics, on PyPI) track the same motions of the hand in MuJoCo.

Both get the same shares of the joint limits; mink knows none of accelerations. Three motions: the paths of skills as
they are, the same taken faster than the joints allow, and goals that jump as corrections do. Errors are between the
hand in MuJoCo and where the motion has it at that moment. CPU time is that of a tick of 10 ms.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import mink
import numpy as np
from reports import print_report, report_parser
from scipy.interpolate import CubicSpline, interp1d

from llm_planner.control.mpc import MpcController
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference
from llm_planner.scene.places import WORKSPACE
from llm_planner.scene.scene import Pose
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.hand_geometry import HandPose, comfortable_yaw, rest_pose
from llm_planner.skills.motion import PATH_DT, Leg, MotionLimits, plan_path

PANDA = arm_model("panda")

PERIOD = 0.01  # [s] of both
REFERENCE_TICKS = 10
AHEAD = 20  # poses of a reference
WIDTH = 0.08
JUMP = 0.6  # [s] between goals that jump
Array = np.ndarray


class Motion:
    """Poses every PATH_DT from time 0 on, and between them a smooth curve, or each held until the next."""

    def __init__(self, poses: Sequence[Pose], smooth: bool = True) -> None:
        self.poses = tuple(poses)
        numbers = np.array([[*pose.position, *pose.orientation] for pose in poses])  # (n, 7)
        turned = np.cumprod(np.sign(np.sum(numbers[1:, 3:] * numbers[:-1, 3:], axis=1)))
        numbers[1:, 3:] *= turned[:, None]  # q and -q are one rotation; neighbours shall be near
        times = PATH_DT * np.arange(len(poses))
        self._curve = CubicSpline(times, numbers) if smooth else interp1d(times, numbers, "previous", axis=0)
        self._end = float(times[-1])

    def at(self, moment: float) -> Pose:
        """The pose at `moment` [s]."""
        numbers = self._curve(min(moment + 1e-9, self._end))
        x, y, z, *orientation = numbers[:3].tolist() + (numbers[3:] / np.linalg.norm(numbers[3:])).tolist()
        return Pose((x, y, z), tuple(orientation))


class Tracker(Protocol):
    """Whatever follows a motion."""

    def step(self, state: JointState, motion: Motion, now: float) -> JointTrajectory: ...


class Ours:
    """The controller, with a piece of the path every 100 ms as from a skill."""

    def __init__(self) -> None:
        self._controller = MpcController()
        self._reference: MotionReference | None = None

    def step(self, state: JointState, motion: Motion, now: float) -> JointTrajectory:
        if round(now / PERIOD) % REFERENCE_TICKS == 0:
            first = min(round(now / PATH_DT), len(motion.poses) - 1)
            self._reference = MotionReference(now, PATH_DT, motion.poses[first : first + AHEAD + 1], WIDTH)
        return self._controller.step(state, self._reference, now)


class Mink:
    """Set up as in its example of an arm, from the last command on; the velocity changes evenly over a tick."""

    def __init__(self) -> None:
        model = PANDA.fixed_fingers_spec().compile()
        self._configuration = mink.Configuration(model)
        self._hand = mink.FrameTask("gripper", "site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        self._posture = mink.PostureTask(model, cost=1e-3)
        share = LimitShare().velocity * PANDA.limits.qvel_max
        self._limits = [
            mink.ConfigurationLimit(model),
            mink.VelocityLimit(model, dict(zip(PANDA.joints, share.tolist(), strict=True))),
        ]
        self._qpos = self._qvel = np.zeros(0)

    def step(self, state: JointState, motion: Motion, now: float) -> JointTrajectory:
        if not self._qpos.size:
            self._qpos, self._qvel = state.qpos, np.zeros_like(state.qpos)
            self._configuration.update(self._qpos)
            self._posture.set_target_from_configuration(self._configuration)
        self._configuration.update(self._qpos)
        self._hand.set_target(_transform(motion.at(now + PERIOD)))
        tasks = [self._hand, self._posture]
        qvel = mink.solve_ik(self._configuration, tasks, PERIOD, "daqp", damping=1e-5, limits=self._limits)
        qpos = self._qpos + PERIOD * (self._qvel + qvel) / 2
        knots = np.array([self._qpos, qpos]), np.array([self._qvel, qvel]), (qvel - self._qvel)[None] / PERIOD
        self._qpos, self._qvel = qpos, qvel
        return JointTrajectory(now, PERIOD, *knots, WIDTH)


def _transform(pose: Pose) -> mink.SE3:
    x, y, z, w = pose.orientation
    return mink.SE3.from_rotation_and_translation(mink.SO3(np.array([w, x, y, z])), np.array(pose.position))


def skill_paths(rng: np.random.Generator, seconds: float, limits: MotionLimits) -> Motion:
    """From one random place above the table to the next, as skills move."""
    grip, poses = rest_pose(PANDA.shape), []
    while len(poses) * PATH_DT <= seconds:
        goal = _anywhere(rng)
        over = (Leg(HandPose(grip.x, grip.y, 0.22, grip.yaw)), Leg(HandPose(goal.x, goal.y, 0.22, goal.yaw)), Leg(goal))
        poses.extend(plan_path(grip, over, limits))
        grip = goal
    return Motion(poses)


def jumps(rng: np.random.Generator, seconds: float) -> Motion:
    """Goals that lie up to 10 cm from the last one in each direction, each for a while."""
    grip, poses = rest_pose(PANDA.shape), []
    while len(poses) * PATH_DT <= seconds:
        x, y, z = (float(np.clip(c + rng.uniform(-0.1, 0.1), low, high)) for c, low, high in _sides(grip))
        grip = HandPose(x, y, z, comfortable_yaw(x, y, 0.0))
        poses.extend(plan_path(grip, [Leg(grip)], MotionLimits())[-1:] * round(JUMP / PATH_DT))
    return Motion(poses, smooth=False)


def _anywhere(rng: np.random.Generator) -> HandPose:
    x, y = rng.uniform(WORKSPACE.x_min + 0.03, WORKSPACE.x_max), rng.uniform(WORKSPACE.y_min, WORKSPACE.y_max)
    return HandPose(x, y, rng.uniform(0.05, 0.2), comfortable_yaw(x, y, rng.uniform(-np.pi, np.pi)))


def _sides(grip: HandPose) -> tuple[tuple[float, float, float], ...]:
    area = WORKSPACE
    return (grip.x, area.x_min + 0.05, area.x_max), (grip.y, area.y_min, area.y_max), (grip.z, 0.1, PANDA.shape.rest[2])


def follow(tracker: Tracker, motion: Motion, seconds: float) -> dict[str, float]:
    """Errors [m], the largest shares of the robot's limits, and CPU times [ms] of one run in the simulated world."""
    world = open_world(objects=())
    errors, spent = [], []
    for _ in range(round(seconds / PERIOD)):
        state, now = world.joint_state(), world.time
        began = time.thread_time()
        plan = tracker.step(state, motion, now)
        spent.append(1e3 * (time.thread_time() - began))
        world.follow(plan, PERIOD)
        wanted = motion.at(world.time).position
        errors.append(float(np.linalg.norm(np.subtract(world.gripper_pose().position, wanted))))
    return {
        "error, rms": float(np.sqrt(np.mean(np.square(errors)))),
        "error, p99": float(np.percentile(errors, 99)),
        "velocity / limit": float(world.limit_watch.qvel_ratio.max()),
        "acceleration / limit": float(world.limit_watch.qacc_ratio.max()),
        "cpu, median": float(np.median(spent)),
        "cpu, p99": float(np.percentile(spent, 99)),
    }


MOTIONS: dict[str, Callable[[np.random.Generator, float], Motion]] = {
    "as skills move": lambda rng, seconds: skill_paths(rng, seconds, MotionLimits()),
    "faster than allowed": lambda rng, seconds: skill_paths(rng, seconds, MotionLimits(1.5, 8.0, 3.5, 15.0)),
    "goals that jump": jumps,
}
TRACKERS: dict[str, Callable[[], Tracker]] = {"ours": Ours, "mink": Mink}


def run(seconds: float, seed: int) -> dict[str, Any]:
    """For each motion and tracker what `follow` measures."""
    return {
        name: {
            who: follow(make(), motion(np.random.default_rng(seed), seconds), seconds) for who, make in TRACKERS.items()
        }
        for name, motion in MOTIONS.items()
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    report = run(options.seconds, options.seed)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
