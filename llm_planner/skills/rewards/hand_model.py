"""Rollout model of the hand: a position-controlled hand, the table, and the objects in reach.

The hand has the gripper's collision shapes on six joints (x, y, z, then yaw, pitch and roll from pointing straight
down) with stiff servos, which imitates the arm's controller without the arm. Only objects that a program may have to
move are free; the others are fixed, and the held object is fixed to the hand. A physics step is 10 ms, ten times that
of the simulated world: rollouts are approximate and the closed loop corrects them.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.programs.reward_terms import Course, Futures, Start, course_of, outlines_of
from llm_planner.robots.arm_model import arm_model, pose_from_mujoco
from llm_planner.scene.geometry import rotation_matrix
from llm_planner.scene.predicates import is_portable
from llm_planner.scene.propositions import ROBOT
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.simulation.objects import spec_of
from llm_planner.simulation.tabletop import add_parts
from llm_planner.skills.rewards.sampling import Rolled, Rollouts, full_state

if TYPE_CHECKING:
    import mujoco


Array = NDArray[np.float64]

TIMESTEP = 0.01  # [s]
HAND_JOINTS = ("x", "y", "z", "yaw", "pitch", "roll")
HAND_MASS = 2.0  # [kg]
HAND_INERTIA = 0.02  # [kg m^2]
SERVO = 50.0  # [1/s] natural frequency of the hand's servos, critically damped
_TABLE = ((0.39, 0.0, -0.02), (0.51, 0.58, 0.02))  # centre and half sizes [m], as in sim/worlds/tabletop.xml
_DOWN = np.diag([1.0, -1.0, -1.0])  # rotation of the downward hand: half a turn about x
_HALF_TURN = np.array([0.0, 0.0, math.pi])  # the same in yaw, pitch, roll [rad]


@dataclass(frozen=True)
class _Shape:
    """Box of the hand in the grip point frame: half sizes, centre [m] and quaternion (w, x, y, z)."""

    half: tuple[float, ...]
    center: tuple[float, ...]
    quaternion: tuple[float, ...]


class HandModel:
    """Rollouts of a hand among the objects of one scene; `movers` are the objects free to move."""

    def __init__(self, scene: Scene, movers: Collection[str], opening: float) -> None:
        self.scene = scene
        self.movers = tuple(
            item.name for item in scene.objects if item.name in movers and item.name != scene.held and is_portable(item)
        )
        model = _spec(scene, self.movers, opening).compile()
        self.rollouts = Rollouts(model)
        self._addresses = {name: int(model.joint(name).qposadr[0]) for name in self.movers}
        self._carried = _relative(scene, scene.held) if scene.held else None

    @property
    def load(self) -> float:
        """Reach of the held object from the grip point [m]; 0 if nothing is held."""
        if self._carried is None:
            return 0.0
        half = np.array(self.scene.find(self.scene.held).size) / 2
        return float(np.linalg.norm(self._carried[0]) + np.linalg.norm(half))

    def state(self, scene: Scene, body: Array) -> Array:
        """Return the initial state (nstate,): objects of the scene at rest, the hand at `body` (6,)."""
        import mujoco

        data = mujoco.MjData(self.rollouts.model)
        data.qpos[: len(HAND_JOINTS)] = body
        for name, address in self._addresses.items():
            item = scene.find(name)
            x, y, z, w = item.orientation
            data.qpos[address : address + 7] = (*item.position, w, x, y, z)
        return full_state(self.rollouts.model, data)

    def futures(self, rolled: Rolled, start_qpos: Array, names: Collection[str], start: Start, every: int) -> Futures:
        """Return the trajectories of `names`, sampled every `every` physics steps.

        `start_qpos`, (nq,) or (n, nq), precedes the rolled-out positions.
        """
        count = len(rolled.qpos)
        first = np.broadcast_to(start_qpos, (count, rolled.qpos.shape[2]))[:, None]
        qpos = np.concatenate([first, rolled.qpos[:, every - 1 :: every]], axis=1)
        courses = {name: self._course(name, qpos) for name in names}
        return Futures(courses, outlines_of(self.scene), start, every * self.rollouts.model.opt.timestep)

    def _course(self, name: str, qpos: Array) -> Course:
        if name in self._addresses:
            address = self._addresses[name]
            return Course(qpos[..., address : address + 3], _rotations(qpos[..., address + 3 : address + 7]))
        if name == ROBOT or name == self.scene.held:
            position, rotation = qpos[..., :3], hand_rotation(qpos[..., 3:6])
            if name == ROBOT or self._carried is None:
                return Course(position, rotation)
            offset, turn = self._carried
            return Course(position + rotation @ offset, rotation @ turn)
        item = self.scene.find(name)
        return course_of(Pose(item.position, item.orientation), *qpos.shape[:2])


def hand_of(pose: Pose) -> Array:
    """Return the joint positions (6,) of the hand at T_base_gripper = `pose`."""
    turn = np.array(rotation_matrix(pose.orientation)) @ _DOWN.T
    pitch = -math.asin(min(max(float(turn[2, 0]), -1.0), 1.0))
    angles = math.atan2(turn[1, 0], turn[0, 0]), pitch, math.atan2(turn[2, 1], turn[2, 2])
    return np.array([*pose.position, *angles])


def pose_of(hand: Array) -> Pose:
    """Return T_base_gripper for joint positions (6,) of the hand."""
    import mujoco

    quaternion = np.empty(4)
    mujoco.mju_euler2Quat(quaternion, hand[3:] + _HALF_TURN, "zyx")
    return pose_from_mujoco(hand[:3], quaternion)


def hand_rotation(angles: Array) -> Array:
    """Return rotation matrices (..., 3, 3) of the gripper frame for yaw, pitch and roll (..., 3) [rad]."""
    from scipy.spatial.transform import Rotation

    matrices: Array = Rotation.from_euler("ZYX", angles.reshape(-1, 3)).as_matrix() @ _DOWN
    return matrices.reshape(*angles.shape[:-1], 3, 3)


def _rotations(quaternions: Array) -> Array:
    """Return rotation matrices (..., 3, 3) for quaternions (..., 4), (w, x, y, z)."""
    from scipy.spatial.transform import Rotation

    matrices: Array = Rotation.from_quat(np.roll(quaternions.reshape(-1, 4), -1, axis=1)).as_matrix()
    return matrices.reshape(*quaternions.shape[:-1], 3, 3)


def _relative(scene: Scene, name: str) -> tuple[Array, Array]:
    """Return an object's position (3,) [m] and rotation (3, 3) in the gripper frame."""
    assert scene.robot is not None  # a scene with a held object has a robot pose
    item, robot = scene.find(name), np.array(rotation_matrix(scene.robot.orientation))
    offset = robot.T @ (np.array(item.position) - np.array(scene.robot.position))
    return offset, robot.T @ np.array(rotation_matrix(item.orientation))


def _spec(scene: Scene, movers: Collection[str], opening: float) -> mujoco.MjSpec:
    import mujoco

    spec = mujoco.MjSpec()
    option = spec.option
    option.timestep, option.integrator = TIMESTEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.iterations, option.ls_iterations, option.tolerance = 10, 10, 1e-5
    center, half = _TABLE
    spec.worldbody.add_geom(
        name="table", type=mujoco.mjtGeom.mjGEOM_BOX, pos=center, size=half, contype=4, conaffinity=1,
        friction=[0.5, 0.005, 0.0001],
    )  # fmt: skip
    hand = _add_hand(spec, scene.arm, opening)
    for item in scene.objects:
        if item.name == scene.held:
            _add_carried(hand, scene)
        else:
            _add_thing(spec, item, item.name in movers)
    return spec


def _add_hand(spec: mujoco.MjSpec, arm: str, opening: float) -> mujoco.MjsBody:
    import mujoco

    body = spec.worldbody.add_body(name=ROBOT, gravcomp=1.0)
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    axes = ([1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0])
    for index, (name, axis) in enumerate(zip(HAND_JOINTS, axes, strict=True)):
        body.add_joint(name=f"hand {name}", type=slide if index < 3 else hinge, axis=axis)
        motor = spec.add_actuator(name=f"hand {name}", target=f"hand {name}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        inertia = HAND_MASS if index < 3 else HAND_INERTIA
        motor.set_to_position(kp=inertia * SERVO**2, kv=2 * inertia * SERVO)
    body.mass, body.inertia, body.explicitinertial = HAND_MASS, [HAND_INERTIA] * 3, True
    frame = body.add_body(name="gripper", quat=[0.0, 1.0, 0.0, 0.0], gravcomp=1.0)
    frame.mass, frame.inertia, frame.explicitinertial = 1e-3, [1e-6] * 3, True
    for shape in _hand_shapes(arm, round(opening, 3)):
        frame.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, size=shape.half, pos=shape.center, quat=shape.quaternion,
            contype=1, conaffinity=0, condim=4, friction=[1.2, 0.02, 0.0001], priority=1,
        )  # fmt: skip
    return frame


def _add_carried(hand: mujoco.MjsBody, scene: Scene) -> None:
    import mujoco

    item = scene.find(scene.held)
    offset, turn = _relative(scene, scene.held)
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, turn.ravel())
    body = hand.add_body(name=item.name, pos=offset, quat=quaternion, gravcomp=1.0)
    add_parts(body, spec_of(item))


def _add_thing(spec: mujoco.MjSpec, item: SceneObject, free: bool) -> None:
    x, y, z, w = item.orientation
    body = spec.worldbody.add_body(name=item.name, pos=item.position, quat=[w, x, y, z])
    if free:
        body.add_freejoint(name=item.name)
    add_parts(body, spec_of(item), item.state)


@lru_cache(maxsize=8)
def _hand_shapes(name: str, opening: float) -> tuple[_Shape, ...]:
    """Return the boxes of palm and fingers of an arm with the fingertips `opening` [m] apart."""
    import mujoco

    arm = arm_model(name)
    model = arm.make().compile()
    data, hand = mujoco.MjData(model), model.body(arm.hand).id
    bodies = [hand, *np.flatnonzero(model.body_parentid == hand)]
    data.qpos[model.jnt_qposadr[np.isin(model.jnt_bodyid, bodies[1:])]] = opening / 2
    mujoco.mj_kinematics(model, data)
    site = data.site("gripper")
    frame, origin = site.xmat.reshape(3, 3), site.xpos
    shapes = []
    for geom in np.flatnonzero(np.isin(model.geom_bodyid, bodies)):
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, (frame.T @ data.geom_xmat[geom].reshape(3, 3)).ravel())
        center = frame.T @ (data.geom_xpos[geom] - origin)
        shapes.append(_Shape(tuple(model.geom_size[geom]), tuple(center.tolist()), tuple(quaternion.tolist())))
    return tuple(shapes)
