"""The simulated world, stepped in-process: what skills, tests, benchmarks, training and the simulator node use.

Copies of a scene to try things out in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.robots.motion import JointState, JointTrajectory, Observation, sample
from llm_planner.robots.robots import (
    ARM_JOINTS,
    GRIPPER_FORCE,
    GRIPPER_SPEED,
    GRIPPER_WIDTH_MAX,
    HOME_QPOS,
    PANDA_LIMITS,
    RobotLimits,
    pose_from_mujoco,
)
from llm_planner.scene.names import the
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.simulation.limit_watch import LimitWatch
from llm_planner.simulation.objects import ObjectSpec, object_kind, parse_objects, spec_of
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.tabletop import LOOK, Fixture, default_objects, draw_layout, standing, tabletop_spec

if TYPE_CHECKING:
    import mujoco


Array = NDArray[np.float64]

WORLDS = ("tabletop", "rooms")
SETTLE_TIME = 0.5  # [s] stepped before a world is handed out
DRIVEN = 0.01  # [s] over which accelerations are watched: a command of the driver lasts as long
HOLDING_FORCE = 2.0  # [N] of closing force below which nothing counts as held
NQ = len(ARM_JOINTS)
WAKING = 1e-3  # [m/s], [rad/s] that wakes a body that sleeps


@overload
def open_world(
    name: Literal["tabletop"] = ..., seed: int = ..., objects: Sequence[ObjectSpec] | None = ..., rooms: None = ...
) -> World: ...


@overload
def open_world(
    name: Literal["rooms"], seed: int = ..., objects: Sequence[ObjectSpec] | None = ..., rooms: int | None = ...
) -> RoomsWorld: ...


@overload
def open_world(
    name: str, seed: int = ..., objects: Sequence[ObjectSpec] | None = ..., rooms: int | None = ...
) -> World | RoomsWorld: ...


def open_world(
    name: str = "tabletop", seed: int = 0, objects: Sequence[ObjectSpec] | None = None, rooms: int | None = None
) -> World | RoomsWorld:
    """The world called `name`, its objects (drawn from `seed` when none are given) laid out from `seed` and at rest.

    `rooms` is how many the building of the world `rooms` has, drawn too when not given. Raises InputError for an
    unknown world, more objects than fit, or a number of rooms that no building has.
    """
    if name not in WORLDS:
        raise InputError(f"there is no world {name!r}; the worlds are: {', '.join(WORLDS)}")
    if name == "rooms":
        return RoomsWorld(seed, objects, rooms)
    if rooms is not None:
        raise InputError(f"the world {name!r} has no rooms; leave their number out or open the world 'rooms'")
    return World(seed, objects)


def read_objects(world: str, text: str) -> tuple[ObjectSpec, ...]:
    """The objects that a person has listed for the world called `world`; raises InputError that lists the choices."""
    return parse_things(text) if world == "rooms" else parse_objects(text)


@dataclass(frozen=True)
class WorldSnapshot:
    """Everything that decides how a world goes on; only for the world, or a copy of the world, that gave it."""

    data: mujoco.MjData
    gripper_command: float
    done: tuple[NDArray[np.bool_], ...]  # to furniture, see `Fixture`


class World:
    """A robot at a table in MuJoCo. Joints are moved by `follow` alone; objects only by contact and friction."""

    name = "tabletop"
    limits: RobotLimits = PANDA_LIMITS

    def __init__(self, seed: int, objects: Sequence[ObjectSpec] | None = None) -> None:
        self.objects: tuple[ObjectSpec, ...] = ()
        self.reset(seed, objects)

    def reset(self, seed: int, objects: Sequence[ObjectSpec] | None = None) -> None:
        """Starts again at time 0 with the arm at rest at home; see `open_world`. The limit watch goes on."""
        rng = np.random.default_rng(seed)
        wanted = tuple(objects) if objects is not None else default_objects(rng)
        placements = draw_layout(wanted, rng)
        if not self.objects or wanted != self.objects:
            self._build(wanted)
        self._place([standing(item, place) for item, place in zip(wanted, placements, strict=True)])
        self._settle()

    def lay_out(self, scene: Scene) -> None:
        """Starts again at time 0 with everything where `scene` says and the arm at rest at home.

        Raises InputError for what cannot be copied: an unknown kind, or a thing in the hand.
        """
        if scene.held:
            raise InputError(
                f"{the(scene.held)} is in the hand, and how it is held cannot be copied; put it down first"
            )
        for item in scene.objects:
            object_kind(item.kind)
        wanted = tuple(map(spec_of, scene.objects))
        if wanted != self.objects:
            self._build(wanted)
        self._place(scene.objects)
        self._settle()

    @property
    def time(self) -> float:
        """Simulated time since the reset [s]."""
        return float(self.data.time)

    def scene(self) -> Scene:
        """Where every object is now, which one is between the fingers, and where these are and how fast they move."""
        items = tuple(map(self._scene_object, self.objects))
        return Scene(self.time, items, self._held(), *self._gripper_motion())

    def joint_state(self) -> JointState:
        """The arm's joints as they are, and what their drives were told in the last physics step."""
        return JointState(self.time, self.data.qpos[:NQ].copy(), self.data.qvel[:NQ].copy(), self.effort())

    def gripper_width(self) -> float:
        """Distance between the fingertips [m]."""
        return float(self.data.qpos[NQ] + self.data.qpos[NQ + 1])

    def gripper_pose(self) -> Pose:
        """T_base_gripper: the point between the fingertips, z out of the hand."""
        self._mujoco.mj_kinematics(self.model, self.data)
        self._mujoco.mju_mat2Quat(self._quaternion, self.data.site_xmat[self._gripper])
        return pose_from_mujoco(self.data.site_xpos[self._gripper], self._quaternion)

    def observation(self) -> Observation:
        """What a skill sees now."""
        qpos = tuple(self.data.qpos[:NQ].tolist())
        return Observation(self.time, self.scene(), qpos, self.gripper_pose(), self.gripper_width())

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """Steps the physics for `duration` [s] (whole steps) while the joints track `trajectory`.

        Before its start and after its end the end posture is held. The gripper's width follows at its own speed and
        with its own force.
        """
        steps = max(1, round(duration / self.dt))
        ctrl = self.controls(trajectory, steps)
        step, model, data = self._mujoco.mj_step, self.model, self.data
        target, measured = data.ctrl, self._arm_qvel
        for index, (row, qvel) in enumerate(zip(ctrl, self.limit_watch.rows(steps), strict=True)):
            target[:] = row
            step(model, data)
            qvel[:] = measured
            if index % LOOK == 0:
                for fixture in self._fixtures.values():
                    fixture.see(model, data, self._wiping)
        self._gripper_command = float(ctrl[-1, NQ])

    def controls(self, trajectory: JointTrajectory, steps: int) -> Array:
        """What `follow` tells the actuators in each of the coming physics steps (steps, nu).

        The servo pushes with kp (ctrl - q) - kv dq, so velocity reference and inertia feed-forward enter as
        displacements. MuJoCo takes the damping term at the end of the step, hence the velocity reference too.
        """
        ahead: Array = np.arange(steps + 1, dtype=np.float64) * self.dt
        qpos, qvel = sample(trajectory, self.data.time + ahead)
        torque = self.feed_forward((qvel[1:] - qvel[:-1]) / self.dt)
        ctrl = np.empty((steps, NQ + 1))
        ctrl[:, :NQ] = qpos[:-1] + (self._kv * qvel[1:] + torque) / self._kp
        ctrl[:, NQ] = self._gripper_ramp(trajectory.gripper_width, ahead[1:])
        return ctrl

    def feed_forward(self, qacc: Array) -> Array:
        """What the servo's model says that accelerations `qacc` (n, nq) take now, gravity apart: (n, nq) [Nm]."""
        self._mujoco.mj_fullM(self.model, self.data, self._inertia)
        torque: Array = qacc @ self._inertia[:NQ, :NQ] + self._bias - self._gravcomp
        return torque

    def effort(self) -> Array:
        """What the drives were told to give in the last physics step, gravity included (nq,) [Nm].

        MuJoCo takes the position at the beginning of the step and the damping term at its end.
        """
        qpos, qvel = self.data.qpos[:NQ], self.data.qvel[:NQ]
        servo = self._kp * (self.data.ctrl[:NQ] - qpos + self.dt * qvel) - self._kv * qvel
        told: Array = np.clip(servo, -self.limits.torque_max, self.limits.torque_max) + self._gravcomp
        return told

    def spec(self, objects: Sequence[ObjectSpec]) -> mujoco.MjSpec:
        """The model of the table, the robot and `objects`."""
        return tabletop_spec(objects)

    def snapshot(self) -> WorldSnapshot:
        """The state of the world, to come back to with `restore`."""
        data = self._mujoco.MjData(self.model)
        self._mujoco.mj_copyData(data, self.model, self.data)
        return WorldSnapshot(data, self._gripper_command, tuple(one.done for one in self._fixtures.values()))

    def restore(self, snapshot: WorldSnapshot) -> None:
        """Makes the world as it was when `snapshot` was taken."""
        self._mujoco.mj_copyData(self.data, self.model, snapshot.data)
        self._gripper_command = snapshot.gripper_command
        for fixture, done in zip(self._fixtures.values(), snapshot.done, strict=True):
            fixture.done = done
        self.limit_watch.restart(self._arm_qvel)

    def push_hand(self, force: tuple[float, float, float]) -> None:
        """Something pushes the hand with `force` [N] in the base frame, until it is told otherwise."""
        self.data.xfrc_applied[self.model.body("panda_hand").id, :3] = force

    def shift(self, name: str, place: tuple[float, float], turn: float = 0.0, height: float | None = None) -> None:
        """Somebody moves the object's middle to `place` [m], turned by `turn` [rad] about the vertical; at the `height`
        [m] at which it is, or another."""
        pose = self.data.joint(name).qpos
        turned = np.zeros(4)
        self._mujoco.mju_mulQuat(turned, np.array([math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2)]), pose[3:])
        pose[:2], pose[3:] = place, turned
        pose[2] = pose[2] if height is None else height
        self.data.joint(name).qvel[:] = WAKING
        self._mujoco.mj_forward(self.model, self.data)

    def slide_part(self, name: str, state: float) -> None:
        """Somebody opens the furniture `name` to `state` [m], or as far as it goes."""
        joint = self.model.joint(name)
        self.data.joint(name).qpos[0] = min(max(state, joint.range[0]), joint.range[1])
        self.data.joint(name).qvel[0] = WAKING
        self._mujoco.mj_forward(self.model, self.data)

    def pose_arm(self, qpos: Array, width: float) -> None:
        """Puts the arm at `qpos` (nq,) [rad], at rest, with the fingers `width` [m] apart; whatever is there."""
        self.data.qpos[:NQ], self.data.qvel[: NQ + 2] = qpos, 0.0
        self.data.qpos[NQ : NQ + 2] = width / 2
        self.data.ctrl[:NQ] = qpos
        self._gripper_command = width
        self._mujoco.mj_forward(self.model, self.data)
        self.limit_watch.restart(self._arm_qvel)

    def _scene_object(self, item: ObjectSpec) -> SceneObject:
        if item.name in self._fixtures:
            fixture = self._fixtures[item.name]
            pose, size, state = fixture.pose(self.data), fixture.size(self.data), fixture.state(self.data)
            return SceneObject(item.name, item.kind, item.color, pose.position, pose.orientation, size, state)
        x, y, z, qw, qx, qy, qz = self.data.qpos[self._object_qpos[item.name]].tolist()
        return SceneObject(item.name, item.kind, item.color, (x, y, z), (qx, qy, qz, qw), item.shape.size)

    def _gripper_motion(self) -> tuple[Pose, float]:
        """As `gripper_pose`, and its speed [m/s], both as the last physics step began: a millisecond ago."""
        mujoco = self._mujoco
        mujoco.mju_mat2Quat(self._quaternion, self.data.site_xmat[self._gripper])
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_SITE, self._gripper, self._velocity, 0)
        pose = pose_from_mujoco(self.data.site_xpos[self._gripper], self._quaternion)
        return pose, math.hypot(*self._velocity[3:].tolist())

    def _gripper_ramp(self, width: float, ahead: Array) -> Array:
        """The commanded width `ahead` (n,) [s]: at the gripper's speed, no farther than its full force asks for."""
        if width != width:  # not a number: as told before
            width = self._gripper_command
        measured = self.gripper_width()
        start = min(max(self._gripper_command, measured - self._gripper_lead), measured + self._gripper_lead)
        change = min(max(width, 0.0), GRIPPER_WIDTH_MAX) - start
        ramp: Array = np.minimum(GRIPPER_SPEED * ahead, abs(change))
        return start + ramp if change > 0 else start - ramp

    def _held(self) -> str:
        """The object that both fingertips touch while they push against each other."""
        data = self.data
        if data.ncon == 0 or data.actuator_force[NQ] > -HOLDING_FORCE:
            return ""
        owners = self._owner[data.contact.geom]  # (ncon, 2)
        touched = [set(owners[(owners == pad).any(axis=1)].ravel().tolist()) for pad in (_LEFT, _RIGHT)]
        common = [index for index in touched[0] & touched[1] if index >= 0]
        return self.objects[min(common)].name if common else ""

    def _build(self, objects: tuple[ObjectSpec, ...]) -> None:
        import mujoco

        self._mujoco = mujoco
        self.objects = objects
        self.model = self.spec(objects).compile()
        self.data = mujoco.MjData(self.model)
        self.dt: float = self.model.opt.timestep  # [s] of one physics step
        self._kp = self.model.actuator_gainprm[:NQ, 0].copy()
        self._kv = -self.model.actuator_biasprm[:NQ, 2].copy()
        self._gripper_lead = 1.01 * GRIPPER_FORCE / float(self.model.actuator_gainprm[NQ, 0])
        self._gripper = self.model.site("gripper").id
        self._fixtures = {item.name: Fixture(self.model, item) for item in objects if item.shape.fixed}
        free = [item.name for item in objects if item.name not in self._fixtures]
        starts = {name: int(self.model.joint(name).qposadr[0]) for name in free}
        self._object_qpos = {name: np.arange(start, start + 7) for name, start in starts.items()}
        self._owner = self._geom_owners()
        self._wiping = np.flatnonzero(self._owner != _NOBODY)
        self._quaternion = np.zeros(4)
        self._velocity = np.zeros(6)  # angular, then linear
        self._inertia = np.zeros((self.model.nv, self.model.nv))
        self._arm_qvel = self.data.qvel[:NQ]  # a view
        self._bias, self._gravcomp = self.data.qfrc_bias[:NQ], self.data.qfrc_gravcomp[:NQ]  # views
        if not hasattr(self, "limit_watch"):
            self.limit_watch = LimitWatch(self.limits, self.dt, round(DRIVEN / self.dt))

    def _geom_owners(self) -> NDArray[np.intp]:
        """For each geom the index of the object that can be held, or which fingertip it is."""
        owner = np.full(self.model.ngeom, _NOBODY)
        for index, item in enumerate(self.objects):
            if item.name in self._fixtures:
                continue
            owner[self.model.geom_bodyid == self.model.body(item.name).id] = index
        owner[self.model.geom("left_pad").id], owner[self.model.geom("right_pad").id] = _LEFT, _RIGHT
        return owner

    def _place(self, items: Sequence[SceneObject]) -> None:
        """The arm at home and each object where it is said to be."""
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:NQ] = HOME_QPOS
        self.data.qpos[NQ : NQ + 2] = GRIPPER_WIDTH_MAX / 2
        for item in items:
            if item.name in self._fixtures:
                pose = Pose(item.position, item.orientation)
                self._fixtures[item.name].place(self.data, pose, item.state)
            else:
                x, y, z, w = item.orientation
                self.data.qpos[self._object_qpos[item.name]] = (*item.position, w, x, y, z)
        self._gripper_command = GRIPPER_WIDTH_MAX
        self._mujoco.mj_forward(self.model, self.data)
        self.limit_watch.restart(self._arm_qvel)

    def _settle(self) -> None:
        """Lets everything come to rest; time starts at 0 afterwards."""
        home = np.array(HOME_QPOS)
        still = JointTrajectory(
            0.0, 1.0, np.tile(home, (2, 1)), np.zeros((2, NQ)), np.zeros((1, NQ)), GRIPPER_WIDTH_MAX
        )
        self.follow(still, SETTLE_TIME)
        self.data.time = 0.0


_NOBODY, _LEFT, _RIGHT = -1, -2, -3


def copy_of(scene: Scene) -> World | RoomsWorld:
    """A world at time 0 with everything where `scene` says; raises InputError for what cannot be copied."""
    world = RoomsWorld(0, ()) if scene.building else World(0, ())
    world.lay_out(scene)
    return world
