"""How much longer whole episodes take than the physics alone: skills, controller and scene against bare mj_step.

Every episode is run once through the loop; then the same motor commands are played to a world in the same start state
by nothing but `mj_step`. Both are CPU time of one process. The arm moves and grasps in both, so both meet the same
contacts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import mujoco
import numpy as np
from reports import print_report, report_parser

from llm_planner.programs.values import Argument
from llm_planner.robots.motion import JointState, JointTrajectory, Observation
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills

OBJECTS = "red block, blue block, green block, yellow block, green bowl, purple bowl, orange bowl, mug"
CALLS: tuple[tuple[str, dict[str, Argument]], ...] = (
    ("pick", {"object": "red block"}),
    ("place_on", {"object": "blue block"}),
    ("pick", {"object": "green block"}),
    ("place_in", {"object": "purple bowl"}),
    ("pick", {"object": "yellow block"}),
    ("place_at", {"place": "top left corner"}),
    ("go_home", {}),
)  # fmt: skip


class RecordingWorld:
    """The world as the loop sees it; writes down what the motors were told, and takes that out of the time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.commands: list[np.ndarray] = []  # (steps, nu) each
        self.aside = 0.0  # [s] of CPU spent on writing down

    @property
    def time(self) -> float:
        return self.world.time

    def observation(self) -> Observation:
        return self.world.observation()

    def joint_state(self) -> JointState:
        return self.world.joint_state()

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        began = time.process_time()
        steps = max(1, round(duration / self.world.dt))
        self.commands.append(self.world.controls(trajectory, steps))
        self.aside += time.process_time() - began
        self.world.follow(trajectory, duration)


def run(episodes: int, seed: int) -> dict[str, float]:
    """CPU seconds of the loop and of the bare physics over `episodes` scenes."""
    library = load_skills()
    loop = bare = simulated = apart = 0.0
    steps = failed = 0
    world = open_world(seed=seed, objects=parse_objects(OBJECTS))
    for k in range(episodes):
        world.reset(seed + k, parse_objects(OBJECTS))
        start = mujoco.MjData(world.model)
        mujoco.mj_copyData(start, world.model, world.data)
        recording = RecordingWorld(world)
        episode = Episode(recording)
        began = time.process_time()
        codes = [episode.run(library.find(name), arguments).code for name, arguments in CALLS]
        loop += time.process_time() - began - recording.aside
        failed += sum(code is not SkillErrorCode.SUCCEEDED for code in codes)
        simulated += world.time
        commands = np.concatenate(recording.commands)
        steps += len(commands)
        end = world.data.qpos.copy()
        mujoco.mj_copyData(world.data, world.model, start)
        bare += _replay(world, commands)
        apart = max(apart, float(np.abs(world.data.qpos - end).max()))
    return {
        "episodes": episodes,
        "failed_skills": failed,
        "simulated_seconds": round(simulated, 2),
        "loop_cpu_seconds": round(loop, 3),
        "bare_cpu_seconds": round(bare, 3),
        "states_apart": apart,  # 0 when the physics alone went the same way
        "microseconds_per_step": round(1e6 * bare / steps, 2),
        "ratio": round(loop / bare, 3),
        "times_real_time": round(simulated / loop, 1),
    }


def _replay(world: World, commands: np.ndarray) -> float:
    step, model, data = mujoco.mj_step, world.model, world.data
    ctrl = data.ctrl
    began = time.process_time()
    for row in commands:
        ctrl[:] = row
        step(model, data)
    return time.process_time() - began


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a few lines or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    report = run(options.episodes, options.seed)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
