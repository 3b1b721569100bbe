"""Simulated table with an arm, stepped in-process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.formulation import hold
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, default_arm, pose_from_mujoco
from llm_planner.robots.gripper import SWITCH
from llm_planner.robots.limits import LimitWatch
from llm_planner.robots.motion import Array, JointState, JointTrajectory, Observation, sample
from llm_planner.scene.geometry import compose, wxyz
from llm_planner.scene.names import the
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.simulation.objects import ObjectSpec, object_kind, spec_of
from llm_planner.simulation.tabletop import LOOK, Fixture, default_objects, draw_layout, fitted, standing, tabletop_spec

if TYPE_CHECKING:
    import mujoco


SETTLE_TIME = 0.5  # [s] simulated before a world is ready
DRIVEN = 0.01  # [s] window of the acceleration check; one command of the driver
HOLDING_FORCE = 2.0  # [N] smallest closing force on a held object
CREEPING = 0.01  # [rad/s] below which the servos' model of dry friction falls to 0
WAKING = 1e-3  # [m/s], [rad/s] wakes a sleeping body


class World:
    """Robot at a table in MuJoCo. Only `follow` moves the joints; objects move by contact and friction."""

    name = "tabletop"

    def __init__(
        self,
        seed: int,
        objects: Sequence[ObjectSpec] | None = None,
        layout: Scene | None = None,
        arm: ArmModel | None = None,
    ) -> None:
        self.arm = arm or default_arm()
        self.limits, self._nq = self.arm.limits, self.arm.nq
        self._prefix, self._to_base = "", AT_ORIGIN  # of the arm's names in the model; T_base_physics
        self.objects: tuple[ObjectSpec, ...] = ()
        self._layout = layout
        self.reset(seed, objects)

    def reset(self, seed: int, objects: Sequence[ObjectSpec] | None = None) -> None:
        """Restart at time 0 with the arm at rest at home (see `open_world`). The limit watch keeps its values."""
        if self._layout is not None and objects is None:
            self.lay_out(self._layout)
            return
        rng = np.random.default_rng(seed)
        wanted = fitted(objects if objects is not None else default_objects(rng), self.arm.shape)
        placements = draw_layout(wanted, rng, self.arm.shape)
        if not self.objects or wanted != self.objects:
            self._build(wanted)
        self._place([standing(item, place) for item, place in zip(wanted, placements, strict=True)])
        self._settle()

    def lay_out(self, scene: Scene) -> None:
        """Restart at time 0 with the objects as in `scene` and the arm at rest at home.

        Raises InputError for an unknown kind or a held object, which cannot be copied.
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
        """Return the current scene: objects, held object, gripper pose and speed."""
        items = tuple(map(self._scene_object, self.objects))
        pose, speed = self._gripper_motion()
        return Scene(self.time, items, self.held(), pose, speed, arm=self.arm.name, workspace=self.arm.shape.workspace)

    def joint_state(self) -> JointState:
        """Return the measured joints of the arm, and the torques commanded in the last physics step."""
        return JointState(self.time, self.data.qpos[self._q].copy(), self.data.qvel[self._v].copy(), self.effort())

    def gripper_width(self) -> float:
        """Return the distance between the fingertips [m]; of a suction gripper, the commanded width."""
        fingers = self.data.qpos[self._fingers]
        return float(fingers[0] + fingers[1]) if len(fingers) else self._gripper_command

    def gripper_pose(self) -> Pose:
        """Return T_base_gripper: the point between the fingertips, z out of the hand."""
        self._mujoco.mj_kinematics(self.model, self.data)
        return self._hand_pose()

    def held(self) -> str:
        """Return the object that both fingertips touch while they close with force, or that the cup pulls."""
        data = self.data
        force = float(data.actuator_force[self._u.stop])
        if data.ncon == 0 or (force if self.arm.gripper.is_suction else -force) < HOLDING_FORCE:
            return ""
        owners = self._owner[data.contact.geom]  # (ncon, 2)
        touched = [set(owners[(owners == pad).any(axis=1)].ravel().tolist()) for pad in self._pads]
        common = [index for index in set.intersection(*touched) if index >= 0]
        return self.objects[min(common)].name if common else ""

    def observation(self) -> Observation:
        """Return the current observation for a skill."""
        qpos = tuple(self.data.qpos[self._q].tolist())
        return Observation(self.time, self.scene(), qpos, self.gripper_pose(), self.gripper_width())

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """Step the physics for `duration` [s], in whole steps, while the joints track `trajectory`.

        Outside its time span the arm holds the end posture. The gripper moves to its width at its own speed and force.
        """
        steps = max(1, round(duration / self.dt))
        ctrl = self._begin(trajectory, steps)
        step, model, data = self._mujoco.mj_step, self.model, self.data
        target, measured = data.ctrl[self._u.start : self._u.stop + 1], self._arm_qvel
        for index, (row, qvel) in enumerate(zip(ctrl, self.limit_watch.rows(steps), strict=True)):
            target[:] = row
            self._before_step()
            step(model, data)
            qvel[:] = measured
            if index % LOOK == 0:
                for fixture in self._fixtures.values():
                    fixture.see(model, data, self.wiping)

    def _before_step(self) -> None:
        """Do nothing; a world whose robot has drives besides those of the arm commands them here."""

    def _begin(self, trajectory: JointTrajectory, steps: int) -> Array:
        """Return the `controls` as the actuators take them, and remember the last width."""
        ctrl = self.controls(trajectory, steps)
        self._gripper_command = float(ctrl[-1, self._nq])
        if self.arm.gripper.is_suction:
            ctrl[:, self._nq] = ctrl[:, self._nq] < SWITCH / 2  # on or off
        return ctrl

    def controls(self, trajectory: JointTrajectory, steps: int) -> Array:
        """Compute the actuator controls (steps, nu) of the coming physics steps.

        The servo applies kp (ctrl - q) - kv dq, so velocity reference and feed-forward torques enter as displacements.
        MuJoCo moves a joint through a step with the velocity of its end, at which it also evaluates the damping term.
        The velocity reference is therefore the change of position over the step.
        """
        ahead: Array = np.arange(steps + 1, dtype=np.float64) * self.dt
        qpos, qvel = sample(trajectory, self.data.time + ahead)
        moved = (qpos[1:] - qpos[:-1]) / self.dt
        torque = self.feed_forward(moved, (qvel[1:] - qvel[:-1]) / self.dt)
        ctrl = np.empty((steps, self._nq + 1))
        ctrl[:, : self._nq] = qpos[:-1] + (self._kv * moved + torque) / self._kp
        ctrl[:, self._nq] = self._gripper_ramp(trajectory.gripper_width, ahead[1:])
        return ctrl

    def feed_forward(self, qvel: Array, qacc: Array) -> Array:
        """Compute the servo model's torques (n, nq) [Nm] for velocities and accelerations (n, nq), without gravity."""
        self._mujoco.mj_fullM(self.model, self.data, self._inertia)
        torque: Array = qacc @ self._inertia[self._v, self._v] + self._bias - self._gravcomp
        torque += self._viscous * qvel + self._coulomb * np.clip(qvel / CREEPING, -1.0, 1.0)
        return torque

    def effort(self) -> Array:
        """Return the torques commanded in the last physics step, including gravity, (nq,) [Nm]."""
        qpos, qvel = self.data.qpos[self._q], self.data.qvel[self._v]
        # MuJoCo evaluates the position term at the beginning of the step and the damping term at its end.
        servo = self._kp * (self.data.ctrl[self._u] - qpos + self.dt * qvel) - self._kv * qvel
        told: Array = np.clip(servo, -self.limits.torque_max, self.limits.torque_max) + self._gravcomp
        return told

    def spec(self, objects: Sequence[ObjectSpec]) -> mujoco.MjSpec:
        """Return the model of the table, the robot and `objects`."""
        return tabletop_spec(objects, self.arm)

    def push_hand(self, force: tuple[float, float, float]) -> None:
        """Apply `force` [N, base frame] to the hand until the next call."""
        self.data.xfrc_applied[self.model.body(self._prefix + self.arm.hand).id, :3] = force

    def shift(self, name: str, place: tuple[float, float], turn: float = 0.0, height: float | None = None) -> None:
        """Move the centre of an object to `place` [m] and `height` [m], turned by `turn` [rad] about the vertical."""
        pose = self.data.joint(name).qpos
        turned = np.zeros(4)
        self._mujoco.mju_mulQuat(turned, np.array([math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2)]), pose[3:])
        pose[:2], pose[3:] = place, turned
        pose[2] = pose[2] if height is None else height
        self.data.joint(name).qvel[:] = WAKING
        self._mujoco.mj_forward(self.model, self.data)

    def slide_part(self, name: str, state: float) -> None:
        """Move the sliding part of the furniture `name` to `state` [m], within its range."""
        joint = self.model.joint(name)
        self.data.joint(name).qpos[0] = min(max(state, joint.range[0]), joint.range[1])
        self.data.joint(name).qvel[0] = WAKING
        self._mujoco.mj_forward(self.model, self.data)

    def pose_arm(self, qpos: Array, width: float) -> None:
        """Put the arm at `qpos` (nq,) [rad] at rest, with the fingers `width` [m] apart, without a collision check."""
        self._pose_arm(qpos, width)
        self.data.ctrl[self._u] = qpos
        self._mujoco.mj_forward(self.model, self.data)
        self.limit_watch.restart(self._arm_qvel)

    def _pose_arm(self, qpos: Array, width: float) -> None:
        self.data.qpos[self._q], self.data.qvel[self._v] = qpos, 0.0
        self.data.qpos[self._fingers], self.data.qvel[self._finger_speeds] = width / 2, 0.0
        self._gripper_command = width

    def _scene_object(self, item: ObjectSpec) -> SceneObject:
        if item.name in self._fixtures:
            fixture = self._fixtures[item.name]
            pose, size, state = self._seen(fixture.pose(self.data)), fixture.size(self.data), fixture.state(self.data)
            return SceneObject(item.name, item.kind, item.color, pose.position, pose.orientation, size, state)
        qpos = self.data.qpos[self._object_qpos[item.name]]
        pose = self._seen(pose_from_mujoco(qpos[:3], qpos[3:]))
        return SceneObject(item.name, item.kind, item.color, pose.position, pose.orientation, item.shape.size)

    def _seen(self, pose: Pose) -> Pose:
        """Express a pose of the physics in the frame of the arm's base."""
        return pose if self._to_base is AT_ORIGIN else compose(self._to_base, pose)

    def _hand_pose(self) -> Pose:
        self._mujoco.mju_mat2Quat(self._quaternion, self.data.site_xmat[self._gripper])
        return self._seen(pose_from_mujoco(self.data.site_xpos[self._gripper], self._quaternion))

    def _gripper_motion(self) -> tuple[Pose, float]:
        """Return the gripper's pose and speed [m/s] at the beginning of the last physics step, 1 ms ago."""
        mujoco = self._mujoco
        mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_SITE, self._gripper, self._velocity, 0)
        return self._hand_pose(), math.hypot(*self._velocity[3:].tolist())

    def _gripper_ramp(self, width: float, ahead: Array) -> Array:
        """Return the commanded width `ahead` (n,) [s], limited by the gripper's speed and force."""
        if width != width:  # NaN keeps the last command
            width = self._gripper_command
        measured, gripper = self.gripper_width(), self.arm.gripper
        start = min(max(self._gripper_command, measured - self._gripper_lead), measured + self._gripper_lead)
        change = min(max(width, gripper.opening[0]), gripper.widest) - start
        ramp: Array = np.minimum(gripper.speed * ahead, abs(change))
        return start + ramp if change > 0 else start - ramp

    def _build(self, objects: tuple[ObjectSpec, ...]) -> None:
        import mujoco

        model = self.spec(objects).compile()
        fixtures = {item.name: Fixture(model, item) for item in objects if item.shape.fixed}
        self.move_in(model, mujoco.MjData(model), objects, fixtures)

    def move_in(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        objects: tuple[ObjectSpec, ...],
        fixtures: dict[str, Fixture],
    ) -> None:
        """Find the arm, whose names begin with the prefix, and the objects in a compiled model."""
        import mujoco

        self._mujoco, self.objects, self.model, self.data, self._fixtures = mujoco, objects, model, data, fixtures
        self.dt: float = model.opt.timestep  # [s] of one physics step
        nq, gripper, moved = self._nq, self.arm.gripper, model.actuator_trnid[:, 0]
        drives = np.flatnonzero(model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT).tolist()
        first = next(drive for drive in drives if model.joint(moved[drive]).name.startswith(self._prefix))
        joint, self._u = model.joint(moved[first]), slices(first, nq)  # the drive of the gripper follows
        self._q, self._v = slices(joint.qposadr[0], nq), slices(joint.dofadr[0], nq)
        self._fingers, self._finger_speeds = (slices(own.stop, gripper.joints) for own in (self._q, self._v))
        self._kp = model.actuator_gainprm[self._u, 0].copy()
        self._kv = -model.actuator_biasprm[self._u, 2].copy()
        self._viscous, self._coulomb = model.dof_damping[self._v].copy(), model.dof_frictionloss[self._v].copy()
        self._pads = {_LEFT: "cup"} if gripper.is_suction else {_LEFT: "left_pad", _RIGHT: "right_pad"}
        self._gripper_lead = 1.01 * gripper.force / float(model.actuator_gainprm[self._u.stop, 0])
        self._gripper = model.site(self._prefix + "gripper").id
        free = [item.name for item in objects if item.name not in self._fixtures]
        starts = {name: int(self.model.joint(name).qposadr[0]) for name in free}
        self._object_qpos = {name: np.arange(start, start + 7) for name, start in starts.items()}
        self._owner = self._geom_owners()
        self.wiping = np.flatnonzero(self._owner != _NOBODY)  # geoms of arms and loose objects
        self._quaternion = np.zeros(4)
        self._velocity = np.zeros(6)  # angular, then linear
        self._inertia = np.zeros((self.model.nv, self.model.nv))
        self._arm_qvel = self.data.qvel[self._v]  # a view
        self._bias, self._gravcomp = self.data.qfrc_bias[self._v], self.data.qfrc_gravcomp[self._v]  # views
        if not hasattr(self, "limit_watch"):
            self.limit_watch = LimitWatch(self.limits, self.dt, round(DRIVEN / self.dt))

    def _geom_owners(self) -> NDArray[np.intp]:
        """Map each geom to the index of the object that can be held, or to a fingertip."""
        owner = np.full(self.model.ngeom, _NOBODY)
        for index, item in enumerate(self.objects):
            if item.name in self._fixtures:
                continue
            owner[self.model.geom_bodyid == self.model.body(item.name).id] = index
        for pad, name in self._pads.items():
            owner[self.model.geom(self._prefix + name).id] = pad
        return owner

    def _place(self, items: Sequence[SceneObject]) -> None:
        """Put the arm at home and each object at its pose."""
        self._mujoco.mj_resetData(self.model, self.data)
        self._pose_arm(np.array(self.arm.home), self.arm.gripper.widest)
        for item in items:
            if item.name in self._fixtures:
                pose = Pose(item.position, item.orientation)
                self._fixtures[item.name].place(self.data, pose, item.state)
            else:
                self.data.qpos[self._object_qpos[item.name]] = (*item.position, *wxyz(item.orientation))
        self._mujoco.mj_forward(self.model, self.data)
        self.limit_watch.restart(self._arm_qvel)

    def _settle(self) -> None:
        """Simulate until everything is at rest, then set the time to 0."""
        self.follow(hold(np.array(self.arm.home), 0.0, 1.0, self.arm.gripper.widest), SETTLE_TIME)
        self.data.time = 0.0


_NOBODY, _LEFT, _RIGHT = -1, -2, -3
AT_ORIGIN = Pose((0.0, 0.0, 0.0))


def slices(start: int, count: int) -> slice:
    """Return the slice of `count` entries from `start`."""
    return slice(int(start), int(start) + count)
