"""Node that serves the console: it reads what the system publishes, and says what the person says in the page."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import (
    CommandStatus,
    ConstraintStatus,
    CorrectionResult,
    MotionConstraints,
    MotionStatus,
    Plan,
    PlanStatus,
)
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty, String, UInt8MultiArray

from llm_planner.console import messages as views
from llm_planner.console.access import Access
from llm_planner.console.board import Board, Talk
from llm_planner.console.camera_feed import CameraFeed
from llm_planner.console.robot_view import RobotBuilder
from llm_planner.console.scene_view import SceneView, open_view, seen_from
from llm_planner.errors import LlmPlannerError
from llm_planner.robots.arm_model import default_arm
from llm_planner.ros.base_node import LATCHED, NEWEST_ONLY, OK, RELIABLE, SPOKEN, BaseNode, run_node
from llm_planner.ros.commands import CONSOLE, UNDER_WAY
from llm_planner.ros.conversions.motion_messages import zones_from_msg
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.ros.idempotent_requests import GoalClient, GoalEnd
from llm_planner.ros.message_types import optional_message
from llm_planner.ros.node_executor import Unattended
from llm_planner.ros.node_table import REPLAY_CONTROL, REPLAY_STATUS
from llm_planner.ros.other_systems import join_network
from llm_planner.ros.parameters import REHEARSAL, ROBOT, Setting, arm_of
from llm_planner.ros.sender_identity import backlog
from llm_planner.ros.stop_client import StopClient, SystemUnreachableError
from llm_planner.ros.waiting import Worker
from llm_planner.scene.scene import Scene
from llm_planner.speech.speaking import spoken

TOKEN = "LLM_PLANNER_CONSOLE_TOKEN"  # environment variable
DRAWN = 0.06  # [s, wall time] between two pictures of the 3D view
OLD = 1.5  # [s, wall time] after which a source counts as silent
TAKEN_MAX = 5.0  # [s, wall time] for the planner to take a command
WORDS_MAX = 2000  # [characters]
PROGRESS = ("planning", "executing")  # messages of a command that the page shows as its state


class ConsoleNode(BaseNode):
    """Puts what it hears on the board of the page and into the 3D view; the person's words go to the other nodes."""

    SETTINGS = (
        Setting("host", "127.0.0.1", "address to listen on; beside loopback, a browser must show a token"),
        Setting("port", 8090, "port to listen on; if it is taken, one of the next", 0, 65_000),
        Setting("names", "", "further host names by which people reach the console, separated by commas"),
        Setting("certificate", "", "file of the certificate for https (PEM); not given: http"),
        Setting("key", "", "file of the certificate's key (PEM)"),
        Setting(
            "replay", False, "show a recording that `llm-planner replay --console` plays, with a bar to go through it"
        ),
        REHEARSAL,
        ROBOT,
    )

    def configure(self) -> None:
        self._board = Board()
        self._replay, self._jumped = dict[str, Any](), 0  # when a recording last went to another time [ns]
        self._talk = Talk()
        self.senders = {} if self.setting("replay") else self.senders
        self._forget()
        self._scene: Scene | None = None
        self._frame = ""
        self._plan, self._status, self._watched = Plan(), PlanStatus(), ConstraintStatus()
        self._limits, self._motion = MotionConstraints(speed=float("inf")), MotionStatus(state=MotionStatus.RESTING)
        self._asked = False  # whether the last answer to a correction was a question
        self._reports: dict[str, DiagnosticStatus] = {}
        self._heard: dict[str, float] = {}  # [s, monotonic] by source
        self._paths: tuple[Any, Any] = ((), ())
        self._camera = CameraFeed(self, self._board, self._careful)
        self._open_view()
        self._open_stop()
        self._subscribe()
        self._commands = GoalClient(self, ExecuteCommand, "execute_command")
        self._say_correction = self.create_lifecycle_publisher(String, "correction", SPOKEN)
        self._say_preview = self.create_lifecycle_publisher(String, "correction_preview", SPOKEN)
        self._stop_topic = self.create_lifecycle_publisher(Empty, "stop", RELIABLE)
        self._audio = self.create_lifecycle_publisher(UInt8MultiArray, "audio", RELIABLE)
        from llm_planner.console.server import ConsoleServer, tls_context  # needs websockets

        host, names = str(self.setting("host")), str(self.setting("names"))
        access = Access.to(host, tuple(filter(None, map(str.strip, names.split(",")))), os.environ.get(TOKEN, ""))
        tls = tls_context(str(self.setting("certificate")), str(self.setting("key")))
        port, view = int(self.setting("port")), self._view_address
        self._server = ConsoleServer(access, port, self._board, self._say, self._hear, self._stop_now, view, tls)
        self._show_talk()
        self.every(DRAWN, self._draw)
        self.every(0.25, self._look)
        self.report_with(self._on_second)
        print(f"The console is at {self._server.address}", flush=True)  # not to the log: it may have the token

    def _forget(self) -> None:
        """Forget what was gathered over time."""
        self._talk.forget(self._jumped)
        self._command: tuple[str, dict[str, Any]] = ("", {"state": "", "outcome": "", "message": ""})
        self._margins = views.RuleMargins()

    def close(self) -> None:
        if hasattr(self, "_server"):
            self._server.close()
            self._view.stop()
            self._stop_executor.shutdown()
            self._stop_node.destroy_node()
            rclpy.try_shutdown(context=self._stop_context)
            del self._server

    def _open_view(self) -> None:
        self._view, self._view_address = open_view()
        self._scene_view, self._robot_view = SceneView(self._view.scene), None
        self._builder = RobotBuilder(self._view.scene)
        self._worker = Worker(self)

    def _open_stop(self) -> None:
        """Open the way of a stop, which shares nothing with the rest of the node."""
        self._stop_context, self._stop_lock = Context(), threading.Lock()
        domain = self.context.get_domain_id()
        self._stop_node = join_network(self._stop_context, self.get_namespace().strip("/"), domain)
        self._stop_executor = SingleThreadedExecutor(context=self._stop_context)
        self._stop_executor.add_node(self._stop_node)
        self._stop_client = StopClient(self._stop_node, self._stop_executor)

    def _subscribe(self) -> None:
        arm = arm_of(self) or default_arm()
        self._scenes = SceneReader(lambda flaw: self.get_logger().warning(flaw, throttle_duration_sec=5.0), arm.name)
        for kind, topic, callback, quality in (
            (String, "robot_description", self._on_description, LATCHED),
            (SceneMsg, "scene", self._on_scene, NEWEST_ONLY),
            (Plan, "plan", self._on_plan, LATCHED),
            (PlanStatus, "plan_status", self._on_status, LATCHED),
            (ConstraintStatus, "constraint_status", self._on_watched, LATCHED),
            (MotionConstraints, "motion_constraints", self._on_limits, LATCHED),
            (MotionStatus, "motion_status", self._on_motion, LATCHED),
            (CommandStatus, "command_status", self._on_command, SPOKEN),
            (CorrectionResult, "correction_result", self._on_answer, SPOKEN),
            (String, "transcript", self._on_transcript, SPOKEN),
            (String, "diagnosis", self._on_diagnosis, LATCHED),
            (DiagnosticArray, "/diagnostics", self._on_reports, RELIABLE),
        ):
            self.create_subscription(kind, topic, self._careful(topic, callback), quality)
        self._joints = self.create_subscription(
            JointState, "joint_states", lambda message: None, NEWEST_ONLY, callback_group=Unattended()
        )
        if self.setting("replay"):
            self._replay_control = self.create_lifecycle_publisher(String, REPLAY_CONTROL, RELIABLE)
            self.create_subscription(String, REPLAY_STATUS, self._on_replay, LATCHED)
        markers = optional_message(self, "visualization_msgs", "MarkerArray")
        if markers is not None:
            self.create_subscription(markers, "markers", self._on_markers, LATCHED)

    def _careful(self, topic: str, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        """Log what cannot be read, and go on with what was known."""

        def heard(message: Any, info: dict[str, Any]) -> None:
            self._talk.at = info["source_timestamp"]
            if self._talk.at < self._jumped:
                return
            try:
                callback(message)
            except LlmPlannerError as error:
                self.get_logger().warning(f"{topic} cannot be shown: {error}", throttle_duration_sec=5.0)

        return heard

    # What the system says

    def _on_description(self, message: String) -> None:
        if self._builder.wants(message.data):  # a player sends the same anew at each jump
            self._robot_view = None
            self._worker.do(lambda: self._builder.build(message.data)).add_done_callback(self._on_robot)

    def _on_robot(self, done: Future) -> None:
        if done.exception() is not None:
            self.get_logger().warning(f"the robot cannot be shown: {done.exception()}")
            return
        if not self._builder.is_wanted(done.result()):
            return
        self._robot_view = done.result()
        for reason in self._robot_view.missing:
            self.get_logger().warning(f"the robot is shown without a mesh of {reason}")
        self._place()

    def _place(self) -> None:
        if self._robot_view is not None and self._scene is not None:
            self._robot_view.place(self._frame, self._scene.robot)

    def _on_scene(self, message: SceneMsg) -> None:
        scene = self._scenes.read(message)
        self._heard["scene"] = time.monotonic()
        is_new = self._scene is None or message.header.frame_id != self._frame
        self._scene, self._frame = scene, message.header.frame_id
        if is_new:
            self._view.initial_camera.position, self._view.initial_camera.look_at = seen_from(scene)
        if is_new or scene.building is not None:
            self._place()
        self._board.put("motion", views.motion_view(scene, self._limits, self._motion))
        margins = self._margins.view(scene, self._status)
        if margins is not None:
            self._board.put("margins", margins)

    def _on_plan(self, message: Plan) -> None:
        self._plan = message
        self._show_plan()

    def _on_status(self, message: PlanStatus) -> None:
        self._heard["executor"] = time.monotonic()
        self._status = message
        self._show_plan()

    def _on_watched(self, message: ConstraintStatus) -> None:
        self._watched = message
        self._show_plan()

    def _show_plan(self) -> None:
        self._board.put("plan", views.plan_view(self._plan, self._status))
        self._board.put("rules", views.rules_view(self._status, self._watched))

    def _on_limits(self, message: MotionConstraints) -> None:
        self._limits = message

    def _on_motion(self, message: MotionStatus) -> None:
        self._motion = message

    def _on_command(self, message: CommandStatus) -> None:
        view = views.command_view(message)
        if message.id != self._command[0]:
            self._talk.update(f"{message.id} said", "person", message.command)
        self._command = (message.id, view)
        if view["outcome"]:
            said = {key: view[key] for key in ("outcome", "options")}
            self._talk.update(f"{message.id} end", "robot", view["message"], **said)
        elif view["message"] not in PROGRESS:  # queued, or planning anew with the reason
            self._talk.update(f"{message.id} {view['message']}", "robot", view["message"])
        self._board.put("rehearsal", views.rehearsal_view(view, str(self.setting("rehearsal") or "off")))
        self._show_talk()
        self._show_model()

    def _on_transcript(self, message: String) -> None:
        self._talk.add("person", message.data[:WORDS_MAX])
        self._show_talk()

    def _on_answer(self, message: CorrectionResult) -> None:
        view = views.answer_view(message)
        self._asked = view["outcome"] == "question"
        self._talk.add("robot", view.pop("text"), **view)
        self._show_talk()

    def _on_replay(self, message: String) -> None:
        told = json.loads(message.data)
        if told["jumps"] != self._replay.get("jumps"):
            self._jumped = int(told["jumped"])
            self._forget()
            self._show_talk()
        self._replay = told
        self._board.put("replay", told)

    def _on_diagnosis(self, message: String) -> None:
        self._board.put("diagnosis", message.data[:WORDS_MAX])

    def _on_reports(self, message: DiagnosticArray) -> None:
        inside = self.get_namespace().rstrip("/") + "/"
        for one in message.status:
            if one.name.startswith(inside):
                self._reports[one.name.removeprefix(inside)] = one
        self._show_model()

    def _show_model(self) -> None:
        command = self._command[1]
        planning = self._talk.text_of(f"{self._command[0]} said") if command["state"] == "planning" else ""
        planner, listener = (self._reports.get(name) for name in ("language_planner", "correction_listener"))
        self._board.put("model", views.model_view(planner, listener, planning))
        self._board.put("trouble", views.trouble_view(list(self._reports.values())))

    def _on_markers(self, message: Any) -> None:
        lines = [(one.ns, [(p.x, p.y, p.z) for p in one.points]) for one in message.markers if one.points]
        now = next((points for name, points in lines if name == "path"), [])
        self._paths = (now, [points for name, points in lines if name == "rehearsed"])

    # What the person says: in threads of the server

    def _say(self, request: Mapping[str, object]) -> None:
        self.background(self._do, request)

    def _do(self, request: Mapping[str, object]) -> None:
        """Do what a page asks for."""
        kind, words = request.get("do"), request.get("words")
        if kind == "camera":
            self._camera.want()
        elif kind == "replay" and self._replay:
            self._replay_control.publish(String(data=json.dumps(request)))
        elif kind in ("say", "correct", "preview") and isinstance(words, str) and words.strip():
            words = " ".join(words.split())[:WORDS_MAX]
            planning = self._command[1]["state"] in ("planning", "queued")
            if kind == "preview":
                self._publish(self._say_preview, words, "correction_listener")
            elif kind == "correct" or self._status.state in UNDER_WAY or self._asked or planning:
                self._publish(self._say_correction, words, "correction_listener")
            else:
                self._command_robot(words)

    def _command_robot(self, words: str) -> None:
        goal = ExecuteCommand.Goal(command=words, source=CONSOLE)
        self._asked = False

        def ended(end: GoalEnd) -> None:  # else the command's status tells
            if end.result is None and not sent.is_taken:
                self._unanswered(words, "language_planner")

        sent = self._commands.send(goal, TAKEN_MAX, lambda feedback: None, ended)

    def _publish(self, publisher: Any, words: str, reader: str) -> None:
        if publisher.get_subscription_count() == 0:
            self._unanswered(words, reader)
            return
        self._asked = False
        publisher.publish(String(data=words))

    def _unanswered(self, words: str, reader: str) -> None:
        self._talk.at = time.time_ns()
        self._talk.add("person", words)
        self._talk.add("robot", f"The node {reader} does not answer; nothing came of it.", outcome="refused")
        self._show_talk()

    def _hear(self, sound: bytes) -> None:
        self._audio.publish(UInt8MultiArray(data=sound))

    def _stop_now(self) -> str:
        """Stop the robot, in the thread of the page's connection for stops."""
        self._stop_topic.publish(Empty())
        if not self._stop_lock.acquire(blocking=False):
            return "stopping"
        try:
            self._stop_client.stop("the stop of the console was pressed")
            return "Stopped; the robot is at rest."
        except SystemUnreachableError as error:
            return str(error)
        finally:
            self._stop_lock.release()

    # Showing

    def _show_talk(self) -> None:
        self._board.put("talk", [{**line, "spoken": spoken(line["text"])} for line in self._talk.lines])

    def _draw(self) -> None:
        """Bring the 3D view up to date, if somebody looks."""
        if self._scene is None or not self._server.viewers:
            return
        with self._view.atomic():
            if self._robot_view is not None:
                for joints, _ in backlog(self._joints, 1):  # taken once a picture: they come 250 times a second
                    self._robot_view.move(dict(zip(joints.name, joints.position, strict=False)))
            self._scene_view.show(self._scene)

    def _look(self) -> None:
        """Update what need not be smooth: zones, paths, ages of the sources, the camera."""
        now = time.monotonic()
        is_live = {
            name: bool(self._replay) or now - self._heard.get(name, -OLD) < OLD for name in ("scene", "executor")
        }
        self._board.put("live", is_live)
        if self._scene is not None and self._server.viewers:
            robot = self._scene.robot
            with self._view.atomic():
                self._scene_view.show_zones(zones_from_msg(self._limits.zones), robot.position if robot else None)
                self._scene_view.show_paths(*self._paths, width=0.03 if self._scene.building else 0.006)
        self._camera.look(now)

    def _on_second(self) -> None:
        self.report(OK, "serves the page", [("viewers", self._server.viewers), ("port", self._server.port)])


def main() -> None:
    run_node(ConsoleNode, "console")


if __name__ == "__main__":
    main()
