"""Rollout model of a mobile base, and the motions drawn for it.

The base is its mass on three joints (x, y, yaw) with stiff servos of limited force, which imitates its controller
without the delay. Motions stay in the current room and away from its obstacles; other skills drive between rooms.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.programs.reward_terms import Course, Futures, Start, course_of, outlines_of, pose_in
from llm_planner.scene.geometry import yaw_of
from llm_planner.scene.propositions import ROBOT
from llm_planner.scene.scene import Pose, Scene
from llm_planner.scene.zones import Zone
from llm_planner.simulation.rooms.model import add_base_body
from llm_planner.skills.floor_paths import floor_of, least_gap
from llm_planner.skills.rewards.planner import KeepOut, Motions
from llm_planner.skills.rewards.sampling import ControlRange, Rolled, Rollouts, SamplingSettings, full_state

if TYPE_CHECKING:
    import mujoco


Array = NDArray[np.float64]

TIMESTEP = 0.02  # [s]
SERVO = 25.0  # [1/s], critically damped
ROLLOUTS, HORIZON, KNOTS, EVERY = 24, 2.0, 6, 5
SPREAD = np.array([0.25, 0.25, 0.5])  # standard deviation of the control points [m, rad]
FAST, TURNING = 0.7, 1.2  # [m/s], [rad/s]; higher speeds cost extra
ELSEWHERE = 14


class BaseModel:
    """Rollouts of the base in one scene, where only the base and its load move."""

    movers: tuple[str, ...] = ()

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.rollouts = Rollouts(_spec().compile())

    def state(self, scene: Scene, body: Array) -> Array:
        """Return the initial state (nstate,) with the base at rest at `body` (3,), x, y [m] and yaw [rad]."""
        import mujoco

        data = mujoco.MjData(self.rollouts.model)
        data.qpos[:] = body
        return full_state(self.rollouts.model, data)

    def futures(self, rolled: Rolled, start_qpos: Array, names: Collection[str], start: Start, every: int) -> Futures:
        """Return the trajectories of `names`, sampled every `every` physics steps.

        `start_qpos`, (3,) or (n, 3), precedes the rolled-out positions.
        """
        first = np.broadcast_to(start_qpos, (len(rolled.qpos), 3))[:, None]
        qpos = np.concatenate([first, rolled.qpos[:, every - 1 :: every]], axis=1)
        base = _course(qpos)
        courses = {
            name: base if name in (ROBOT, self.scene.held) else course_of(pose_in(self.scene, name), *qpos.shape[:2])
            for name in names
        }
        return Futures(courses, outlines_of(self.scene), start, every * TIMESTEP)


def base_of(pose: Pose) -> Array:
    """Return the joint positions (3,) of the base at T_map_base = `pose`."""
    return np.array([pose.position[0], pose.position[1], yaw_of(pose)])


def base_motions(scene: Scene) -> Motions:
    """Return motions within the current room of the base; raises InputError if it is in no room."""
    if scene.building is None or not scene.robot_room:
        raise InputError("the base is in no room of a building, so there is nothing to keep it from driving into walls")
    floor, room = floor_of(scene.building, scene), scene.robot_room
    area, obstacles = floor.area(room), floor.obstacles(room)
    centers = np.array([one.center for one in obstacles]).reshape(-1, 2)
    radii = np.array([one.radius for one in obstacles])

    def strain(rolled: Rolled, futures: Futures) -> Array:
        places = rolled.qpos[:, ::EVERY, :2]
        gaps = radii - np.linalg.norm(places[:, :, None] - centers, axis=-1)
        near: Array = np.maximum(gaps, 0.0).sum(axis=-1).mean(axis=1)
        return _hurry(rolled) + 30.0 * near

    spread = np.tile(SPREAD, (KNOTS, 1))
    spread[0] = 0.0  # the first control point is the current pose
    lower, upper = np.array([area.x_min, area.y_min, -np.inf]), np.array([area.x_max, area.y_max, np.inf])
    sampling = SamplingSettings(rollouts=ROLLOUTS, horizon=HORIZON, knots=KNOTS, finest=0.1)
    return Motions(sampling, ControlRange(lower, upper, spread), EVERY, strain, _elsewhere, ELSEWHERE, axes=2)


def base_keeps_out(zones: tuple[Zone, ...]) -> KeepOut:
    """Return the keep-out of `zones` with the same gap as the paths of other skills."""
    return KeepOut(zones, least_gap)


def _elsewhere(rng: np.random.Generator) -> Array:
    """Draw a straight drive over the horizon, with or without a turn, up to full speed."""
    heading, length = rng.uniform(-math.pi, math.pi), HORIZON * FAST * rng.random()
    turn = HORIZON * TURNING * rng.uniform(-1.0, 1.0)
    drives, turns = (rng.random(2) < (0.7, 0.6)) * 10.0 ** rng.uniform(-1.0, 0.0)  # scales from far to fine motion
    return np.array([drives * length * math.cos(heading), drives * length * math.sin(heading), turns * turn])


def _hurry(rolled: Rolled) -> Array:
    rates = np.diff(rolled.controls[:, ::EVERY], axis=1) / (EVERY * TIMESTEP)
    speed, turning = np.linalg.norm(rates[..., :2], axis=-1), np.abs(rates[..., 2])
    over = np.maximum(speed / FAST - 1.0, 0.0) + np.maximum(turning / TURNING - 1.0, 0.0)
    cost: Array = over.mean(axis=1) + 0.02 * speed.mean(axis=1) + 0.02 * turning.mean(axis=1)
    return cost


def _course(qpos: Array) -> Course:
    """Convert x, y, yaw (n, T, 3) to poses on the floor."""
    x, y, yaw = np.moveaxis(qpos, -1, 0)
    zero, one, c, s = np.zeros_like(x), np.ones_like(x), np.cos(yaw), np.sin(yaw)
    rows = [[c, -s, zero], [s, c, zero], [zero, zero, one]]
    rotation = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    return Course(np.stack([x, y, zero], axis=-1), rotation)


def _spec() -> mujoco.MjSpec:
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.integrator = TIMESTEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = [0.0, 0.0, 0.0]
    add_base_body(spec, ROBOT, lambda motor, mass: motor.set_to_position(kp=mass * SERVO**2, kv=2 * mass * SERVO))
    return spec
