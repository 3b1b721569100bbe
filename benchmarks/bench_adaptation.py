"""Tracking errors of an arm that is not what it is taken for, with and without adaptation, in physics.

Each case runs the same motions twice: paths from one random place above the table to the next, at full speed, slowly,
and with long rests. A nominal arm must stay silent, there and through pick and place and pushes with scripted skills.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from bench_mpc import references
from bench_pick_place import SCENES, draw_task, things
from disturbed_world import Disturbance, DisturbedWorld
from reports import print_report, report_parser

from llm_planner.control import formulation
from llm_planner.control.adaptation import Adaptation, Diagnosis, Fault
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import MpcController
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference
from llm_planner.skills.episode import Episode, EpisodeSettings
from llm_planner.skills.library import load_skills

PANDA = arm_model("panda")

PERIOD = 0.01  # [s] of the controller
SKILL_TICKS = 10
LEARNT = 5.0  # [s] after the start of a run that the figure "learnt" leaves out


def joint(number: int, value: float) -> np.ndarray:
    """`value` at that joint, which counts from 1, and 0 at the others."""
    return np.eye(7)[number - 1] * value


@dataclass(frozen=True)
class Case:
    """A disturbance, and what should be said of it."""

    disturbance: Disturbance
    faults: frozenset[tuple[Fault, int]] = frozenset()


CASES = {
    "nominal": Case(Disturbance()),
    "payload 1.5 kg": Case(Disturbance(payload=1.5), frozenset({(Fault.PAYLOAD, 0)})),
    "payload 1.5 kg, off centre": Case(
        Disturbance(payload=1.5, payload_at=(0.05, 0.03, 0.04)), frozenset({(Fault.PAYLOAD, 0)})
    ),
    "joint 4 drags, 3 Nm": Case(Disturbance(coulomb=joint(4, 3.0)), frozenset({(Fault.FRICTION, 4)})),
    "joint 2 drags, 6 Nm s/rad": Case(Disturbance(viscous=joint(2, 6.0)), frozenset({(Fault.FRICTION, 2)})),
    "drive 2 gives 15 % less": Case(Disturbance(gain=joint(2, -0.15)), frozenset({(Fault.GAIN, 2)})),
    "payload, and joint 4 drags": Case(
        Disturbance(payload=1.5, coulomb=joint(4, 3.0)), frozenset({(Fault.PAYLOAD, 0), (Fault.FRICTION, 4)})
    ),
    # Two that no single fault is: tracking is judged, words are not.
    "links 20 % heavier": Case(Disturbance(masses=1.2)),
    "links 20 % lighter": Case(Disturbance(masses=0.8)),
}
JUDGED = tuple(CASES)[1:7]
Motion = Callable[[int, MotionReference], MotionReference | None]
MOTIONS: dict[str, Motion] = {
    "full speed": lambda tick, reference: reference,
    "slowly": lambda tick, reference: replace(reference, speed_scale=0.3),
    "with rests": lambda tick, reference: reference if tick % 800 < 400 else None,
}


@dataclass
class Run:
    """What happened in one run: errors of the joints [rad] and of the gripper [m], what was said, and ticks [s CPU]."""

    joints: np.ndarray
    gripper: np.ndarray
    said: dict[tuple[Fault, int], Diagnosis]
    ticks: list[float]
    limits_kept: bool


class Watched:
    """A controller with adaptation, or without; keeps what each diagnosis said last."""

    def __init__(self, adaptation: Adaptation | None) -> None:
        self.said: dict[tuple[Fault, int], Diagnosis] = {}
        self.ticks: list[float] = []
        self.plan: JointTrajectory | None = None
        self._controller, self._adaptation = MpcController(), adaptation

    def step(
        self, state: JointState, reference: MotionReference | None, now: float, constraints: MotionConstraints = FREE
    ) -> JointTrajectory:
        self.plan = self._controller.step(state, reference, now, constraints)
        if self._adaptation is None:
            return self.plan
        began = time.thread_time()
        command = self._adaptation.adapted(self.plan, state)
        self.ticks.append(time.thread_time() - began)
        self.said |= {(diagnosis.fault, diagnosis.joint): diagnosis for diagnosis in self._adaptation.diagnoses}
        return command


def drive(disturbance: Disturbance, motion: Motion, adapting: bool, seconds: float, seed: int) -> Run:
    """Moves a disturbed arm over an empty table."""
    world, arm = DisturbedWorld(disturbance, seed, []), PANDA.kinematics()
    controller = Watched(Adaptation(PANDA) if adapting else None)
    stream = references(np.random.default_rng(seed))
    joints, gripper = [], []
    for tick in range(round(seconds / PERIOD)):
        if tick % SKILL_TICKS == 0:
            reference = motion(tick, next(stream))
        state = world.joint_state()
        if controller.plan is not None:
            wanted = formulation.sample(controller.plan, state.time).qpos
            joints.append(wanted - state.qpos)
            gripper.append(np.linalg.norm(arm.forward(wanted)[0] - arm.forward(state.qpos)[0]))
        world.follow(controller.step(state, reference, state.time), PERIOD)
    return Run(np.array(joints), np.array(gripper), controller.said, controller.ticks, not world.limit_watch.exceeded)


def compare(case: Case, seconds: float, seeds: Sequence[int]) -> dict[str, Any]:
    """Errors with and without adaptation over all motions and seeds, and what was said."""
    runs = [(drive(case.disturbance, motion, adapting, seconds, seed) for adapting in (False, True))
            for motion in MOTIONS.values() for seed in seeds]  # fmt: skip
    without, adapted = zip(*(tuple(pair) for pair in runs), strict=True)
    errors = {"without": _errors(without), "adapted": _errors(adapted)}
    said = [set(run.said) for run in adapted]
    return {
        **errors,
        "ratio": {key: round(value / errors["without"][key], 3) for key, value in errors["adapted"].items()},
        "right things said": round(float(np.mean([case.faults <= found for found in said])), 3),
        "wrong things said": sum(len(found - case.faults) for found in said),
        "values": _values(adapted),
        "limits kept": all(run.limits_kept for run in adapted),
        "runs": len(adapted),
    }


def _errors(runs: Sequence[Run]) -> dict[str, float]:
    """RMS and largest error of joints [mrad] and gripper [mm]; "learnt" leaves out the first seconds."""
    skip = min(round(LEARNT / PERIOD), len(runs[0].joints) // 2)
    joints, gripper = np.concatenate([run.joints for run in runs]), np.concatenate([run.gripper for run in runs])
    late = np.concatenate([run.joints[skip:] for run in runs]), np.concatenate([run.gripper[skip:] for run in runs])
    return {
        "rms": _milli(np.sqrt(np.mean(joints**2))),
        "max": _milli(np.abs(joints).max()),
        "rms learnt": _milli(np.sqrt(np.mean(late[0] ** 2))),
        "max learnt": _milli(np.abs(late[0]).max()),
        "gripper rms": _milli(np.sqrt(np.mean(gripper**2))),
        "gripper max learnt": _milli(late[1].max()),
    }


def _milli(value: float) -> float:
    return round(1e3 * float(value), 4)


def _values(runs: Sequence[Run]) -> dict[str, float]:
    """The mean of what each diagnosis said last, by fault."""
    values: dict[str, list[float]] = {}
    for run in runs:
        for (fault, number), diagnosis in run.said.items():
            values.setdefault(f"{fault.value} {number}".removesuffix(" 0"), []).append(diagnosis.value)
    return {name: round(float(np.mean(found)), 3) for name, found in values.items()}


def silent_at_work(scenes: int, seed: int) -> dict[str, Any]:
    """What a nominal arm says of itself through pick and place, stacking and pushing."""
    library, kinds = load_skills(), tuple(SCENES)
    said: list[str] = []
    simulated, done, ticks = 0.0, 0, []
    for number in range(scenes):
        kind, rng = kinds[number % len(kinds)], np.random.default_rng([seed + number, 7])
        blocks, bowls, others = SCENES[kind]
        world = DisturbedWorld(Disturbance(), seed + number, things(rng, blocks, bowls, others))
        controller = Watched(Adaptation(PANDA))
        episode = Episode(world, controller, EpisodeSettings(control_period=PERIOD))
        before = world.scene()
        task = draw_task(kind, before, rng)
        for name, arguments in task.calls:
            episode.run(library.find(name), arguments)
        said += [diagnosis.words(world.time) for diagnosis in controller.said.values()]
        simulated, done = simulated + world.time, done + task.done(before, world.scene())
        ticks += controller.ticks
    return {"scenes": scenes, "done": done, "simulated s": round(simulated, 1), "said": said, "tick": _times(ticks)}


def _times(ticks: Sequence[float]) -> dict[str, float]:
    return {name: _milli(np.percentile(ticks or [0.0], q)) for name, q in (("median_ms", 50), ("p99_ms", 99))}


def report(seconds: float, seeds: int, scenes: int, seed: int) -> dict[str, Any]:
    """All cases, and the nominal arm at work."""
    cases = {name: compare(case, seconds, range(seed, seed + seeds)) for name, case in CASES.items()}
    work = silent_at_work(scenes, seed)
    return {
        "cases": cases,
        "at work": work,
        "nothing wrong, things said": cases["nominal"]["wrong things said"] + len(work["said"]),
        "worst ratio": max(cases[name]["ratio"]["rms"] for name in JUDGED),
        "right things said": round(float(np.mean([cases[name]["right things said"] for name in JUDGED])), 3),
        "wrong things said": sum(cases[name]["wrong things said"] for name in JUDGED),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=12.0, help="simulated, of each run")
    parser.add_argument("--seeds", type=int, default=2, help="of each case and motion")
    parser.add_argument("--scenes", type=int, default=24, help="of skills at work with a nominal arm")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    result = report(options.seconds, options.seeds, options.scenes, options.seed)
    return print_report(result, options.json)


if __name__ == "__main__":
    sys.exit(main())
