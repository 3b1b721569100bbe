"""Node of the simulated robot and its world, with the interface of a robot driver, and the topic `scene`.

An arm subscribes to `joint_command` and publishes `joint_states`; a mobile base subscribes to `cmd_vel` and publishes
`odom`; an arm on a mobile base has both. Of several robots, these names and `scene` begin with the namespace of each.
Stamps start at the time of day when the node starts and keep increasing through resets, so messages of an earlier run
cannot pass for present ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import wraps

from llm_planner_interfaces.msg import Scene
from llm_planner_interfaces.srv import ResetWorld
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from llm_planner.errors import LlmPlannerError
from llm_planner.robots.arm_model import TABLE_FRAME
from llm_planner.robots.urdf import LinkFrame
from llm_planner.ros.base_node import ERROR, LATCHED, OK, SENSOR_DATA, STATES, WARN, BaseNode, run_node
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import stamp
from llm_planner.ros.conversions.scene_messages import scene_to_msg
from llm_planner.ros.idempotent_requests import answer_once
from llm_planner.ros.other_systems import claim_clock
from llm_planner.ros.parameters import CMD_VEL_TIMEOUT, ROBOT, STAMPED_CMD_VEL, Setting
from llm_planner.ros.simulated_robots import SimulatedArm, SimulatedBase, SimulatedMobileArm
from llm_planner.ros.transforms import TransformBroadcaster
from llm_planner.scene.scene import Pose, SceneObject
from llm_planner.simulation.loaded import open_loaded
from llm_planner.simulation.table_world import TableWorld
from llm_planner.simulation.two_tables import TwoTables
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_shared_world, read_objects

PERIOD = 0.01  # [s, simulated] between two states of the robot
RESET_GAP = 1.0  # [s] by which stamps leap at a reset; longer than any motion reference is valid
OBJECTS_MAX = 64  # in a reset request
REST_AFTER = 50  # periods of standing still, after which messages are sent less often, as they cost most of the time
REST_STATES, REST_SCENES = 3, 2  # times as seldom; the world then steps as many periods at once
REST_PACE = 0.5  # real-time factor below which nothing is sent less often: others wait in wall time
CLOCK_EVERY, TF_EVERY = 2, 4  # states between two times on /clock, and two transforms of the links
CATCH_UP = 4  # periods made up after a delay; the rest is dropped


class SimulatorNode(BaseNode):
    """Steps a world in real time, whose robot follows commands."""

    SETTINGS = (
        Setting("world", "tabletop", "name of the world, or its file"),
        Setting("robot", "", "what is moved, as for the other nodes; empty: arm, or mobile in a building"),
        Setting("seed", 0, "lays the objects out", 0, 2**31 - 1),
        Setting("objects", "", "what is in the scene, e.g. 'red block, green bowl'; empty: drawn from the seed"),
        Setting("real_time_factor", 1.0, "simulated seconds a wall second", 0.05, 20.0, may_change=True),
        Setting("scene_rate", 20.0, "scenes a simulated second [Hz]", 1.0, 100.0),
        Setting("payload", 0.0, "unannounced load on the arm's hand, to test its estimation [kg]", 0.0, 3.0),
        STAMPED_CMD_VEL,
        CMD_VEL_TIMEOUT,
    )

    def configure(self) -> None:
        name, text = self.setting("world"), self.setting("objects")
        objects, seed = read_objects(name, text) if text else None, self.setting("seed")
        self._shared = open_shared_world(name, seed, objects)
        self._world = self._shared or open_loaded(
            name, self.setting("payload"), seed, objects, self.setting(ROBOT.name)
        )
        self._clock_claim = claim_clock(self.context.get_domain_id())  # after what a wrong parameter would end
        self._robots = self._make_robots()
        for robot in self._robots:
            described = self.create_publisher(String, f"{robot.prefix}robot_description", LATCHED)
            described.publish(String(data=robot.urdf))
        self._scene_every = max(1, round(1.0 / (self.setting("scene_rate") * PERIOD)))
        self._scenes = [
            self.create_lifecycle_publisher(Scene, f"{robot.prefix}scene", STATES) for robot in self._robots
        ]
        self._clock_topic = self.create_lifecycle_publisher(Clock, "/clock", SENSOR_DATA)
        self._transforms = TransformBroadcaster(self)
        self.create_service(ResetWorld, "reset_world", answer_once(self._on_reset))
        self._ticks = self.create_timer(PERIOD, self._on_tick, clock=self._steady)
        self._behind = self.create_guard_condition(self._on_tick)
        self.report_with(self._on_diagnose)
        self._epoch, self._factor, self._periods = time.time(), 0.0, 1  # periods at once
        self._transforms.send_static(self._epoch, self._static_frames())
        self._restart()
        self._keep_pace()
        self._measured = time.monotonic(), self._now()  # at the last diagnosis: wall time and the robot's [s]

    def close(self) -> None:
        if hasattr(self, "_clock_claim"):
            self._clock_claim.close()

    def _make_robots(self) -> list[SimulatedArm | SimulatedBase]:
        if isinstance(self._shared, TableWorld):
            return [SimulatedArm(self, arm, f"{name}/") for name, arm in self._shared.robots.items()]
        if self._shared is not None:
            return [SimulatedBase(self, base, prefix=f"{name}/") for name, base in self._shared.robots.items()]
        if isinstance(self._world, TwoTables):
            return [SimulatedMobileArm(self, self._world)]
        is_arm = isinstance(self._world, World)
        return [SimulatedArm(self, self._world) if is_arm else SimulatedBase(self, self._world)]

    def _restart(self) -> None:
        self._run = time.time_ns()
        for robot in self._robots:
            robot.restart(self._epoch)
        self._count = self._still = self._sent = 0
        self._wall_start = time.monotonic()
        self._dropped = 0
        self._next_scene = self._scene_every
        self._publish_scene()

    def create_subscription(
        self, msg_type: type, topic: str, callback: Callable[..., object], qos_profile: object, **options: object
    ) -> object:
        """Subscribe to commands, before which the world catches up to less than `REST_STATES` periods.

        A command that moves the robot ends its rest.
        """

        @wraps(callback)
        def heard(*arguments: object) -> None:
            if self._periods > 1:
                self._on_tick()
            callback(*arguments)
            if self._periods > 1 and not all(robot.stands for robot in self._robots):
                self._still = 0
                self._keep_pace()
                self._ticks.reset()

        return super().create_subscription(msg_type, topic, heard, qos_profile, **options)

    def _keep_pace(self) -> None:
        """Adopt the real-time factor of the parameter, reduced while commands arrive late; tick seldom at rest."""
        factor = self.setting("real_time_factor") * self._pace
        changes = abs(factor - self._factor) > 0.02 * self._factor
        factor = factor if changes else self._factor
        periods = REST_STATES if self._still > REST_AFTER and factor >= REST_PACE else 1
        if changes or periods != self._periods:
            self._factor, self._periods = factor, periods
            self._ticks.timer_period_ns = round(1e9 * PERIOD * periods / factor)
        if changes:
            self._count_from_here()

    @property
    def _pace(self) -> float:
        return min((robot.pace.share for robot in self._robots if not robot.stands), default=1.0)

    def _count_from_here(self) -> None:
        """Count due periods from now on."""
        self._wall_start = time.monotonic() - self._count * PERIOD / self._factor

    def _on_tick(self) -> None:
        self._keep_pace()
        if not self.is_active:
            self._count_from_here()
            return
        due = int((time.monotonic() - self._wall_start) * self._factor / PERIOD) - self._count
        most = CATCH_UP + self._periods - 1
        if due > most:
            self._dropped += due - most
            self._wall_start += (due - most) * PERIOD / self._factor
            due = most
        due -= due % self._periods  # states at rest are equally far apart
        if due <= 0:
            return
        ahead = due if self._periods > 1 else 1
        while ahead > 0:
            self._advance()
            ahead, due = ahead - 1 if self._still else 0, due - 1
        self._publish()
        if due > 0:
            self._behind.trigger()  # catch up in single periods, so that the controller sees each state

    def _advance(self) -> None:
        for robot in self._robots:
            robot.advance(PERIOD)
        if self._shared is not None:
            self._shared.advance(PERIOD)
        self._count += 1
        self._still = self._still + 1 if all(robot.stands for robot in self._robots) else 0

    def _publish(self) -> None:
        if self._count >= self._next_scene:
            self._next_scene += self._scene_every * (REST_SCENES if self._periods > 1 else 1)
            self._publish_scene()
        for robot in self._robots:
            robot.publish()
        if self._sent % CLOCK_EVERY == 0 or self._periods > 1:
            self._clock_topic.publish(Clock(clock=stamp(self._now())))
        self._sent += 1
        if self._sent % TF_EVERY == 0 and self._transforms.has_listeners:
            self._transforms.send(self._now(), [one for robot in self._robots for one in robot.moving_frames()])

    def _now(self) -> float:
        """Return the present stamp [s]."""
        return self._epoch + self._world.time

    def _publish_scene(self) -> None:
        now = self._now()
        for robot, topic in zip(self._robots, self._scenes, strict=True):
            scene = replace(robot.world.scene(), time=now)
            topic.publish(scene_to_msg(scene, robot.frame, self._world.name, self._run))
            if self._transforms.has_listeners:
                self._transforms.send(now, [_frame_of(item, robot) for item in scene.objects])

    def _static_frames(self) -> list[LinkFrame]:
        frames = [frame for robot in self._robots for frame in robot.static_frames()]
        if not isinstance(self._shared, TableWorld):
            return frames
        at_table = [LinkFrame(TABLE_FRAME, robot.frame, robot.world.station.base) for robot in self._robots]
        return [*at_table, *frames]

    def _on_reset(self, request: ResetWorld.Request, response: ResetWorld.Response) -> ResetWorld.Response:
        try:
            checks.texts("objects", request.objects, OBJECTS_MAX)
            epoch = self._now() + RESET_GAP
            wanted = read_objects(self._world.name, ", ".join(request.objects)) if request.objects else None
            self._world.reset(request.seed, wanted)
        except LlmPlannerError as error:
            response.error_code, response.error_msg = ResetWorld.Response.INVALID_OBJECTS, str(error)
            return response
        self._epoch = epoch
        self._restart()
        response.error_code = ResetWorld.Response.DONE
        return response

    def _on_diagnose(self) -> None:
        (wall, then), self._measured = self._measured, (time.monotonic(), self._now())
        factor = (self._measured[1] - then) / max(self._measured[0] - wall, 1e-3)
        watches = [robot.world.limit_watch for robot in self._robots]
        values = [
            ("simulated_time", f"{self._world.time:.2f}"),
            ("dropped_periods", self._dropped),
            ("pace", f"{self._factor:.2f}"),
            ("real_time_factor", f"{factor:.2f}"),
            ("largest_velocity_share", f"{max(watch.qvel_ratio.max() for watch in watches):.3f}"),
            ("largest_acceleration_share", f"{max(watch.qacc_ratio.max() for watch in watches):.3f}"),
            ("largest_range_share", f"{max(robot.range_share for robot in self._robots):.3f}"),
        ]
        if self._shared is not None:
            values.append(("steps_in_contact", self._shared.touches))
        exceeded = next((watch for watch in watches if watch.exceeded), None)
        if exceeded:
            self.report(ERROR, f"a limit of the robot was exceeded: {exceeded}", values)
        elif self._shared is not None and self._shared.touches:
            self.report(ERROR, f"robots were in contact in {self._shared.touches} physics steps", values)
        elif self._dropped or self._pace < 1.0:
            self.report(WARN, "too slow for real time", values)
        else:
            self.report(OK, "in real time", values)


def _frame_of(item: SceneObject, robot: SimulatedArm | SimulatedBase) -> LinkFrame:
    child = robot.frame_prefix + item.name.replace(" ", "_")
    return LinkFrame(robot.frame, child, Pose(item.position, item.orientation))


def main() -> None:
    run_node(SimulatorNode, "simulator")


if __name__ == "__main__":
    main()
