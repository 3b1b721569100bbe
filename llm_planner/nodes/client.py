"""Talks to a running system on behalf of the command line: sends a command and follows it, stops, records."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import rclpy
from action_msgs.msg import GoalStatus
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CorrectionResult
from llm_planner_interfaces.msg import Scene as SceneMsg
from llm_planner_interfaces.srv import StopRobot
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.publisher import Publisher
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from rclpy.task import Future
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import String
from unique_identifier_msgs.msg import UUID

from llm_planner.correction.dialogue import Answer, stop_answer
from llm_planner.errors import LlmPlannerError
from llm_planner.language.stop_words import is_stop
from llm_planner.nodes.correction_messages import result_from_msg
from llm_planner.nodes.message_conversions import joint_state_from_msg, scene_from_msg
from llm_planner.nodes.plan_messages import plan_from_msg, step_from_msg
from llm_planner.nodes.shell import LATCHED, RELIABLE
from llm_planner.plan.plan import Plan, PlanStep
from llm_planner.world.scene import Scene

NO_SYSTEM = (
    "no running system answers. Start one with: llm-planner up   (the same ROS_DOMAIN_ID and "
    "ROS_AUTOMATIC_DISCOVERY_RANGE must be set here and there)"
)
SILENCE_MAX = 5.0  # wall seconds without a word of the planner
ANSWER_MAX = 20.0  # wall seconds until it takes a command: enough to be started again
CORRECTION_MAX = 30.0  # wall seconds until it is known what became of a correction
SAID_AGAIN = 2.0  # wall seconds after which a command that nobody has answered is sent again


class SystemUnreachableError(LlmPlannerError):
    """No running system answers, or it fell silent."""


@dataclass(frozen=True)
class Progress:
    """How far a command is: a message for a person, and the plan with its steps once there is one."""

    message: str
    plan: Plan | None
    steps: tuple[PlanStep, ...]


@dataclass(frozen=True)
class CommandResult:
    """How a command ended; `code` is a constant of `ExecuteCommand.action`."""

    code: int
    message: str

    @property
    def succeeded(self) -> bool:
        return self.code == ExecuteCommand.Result.SUCCEEDED

    @property
    def is_question(self) -> bool:
        return self.code == ExecuteCommand.Result.QUESTION


class Submission:
    """A command that was sent: `result` is there once `is_done`.

    It may be sent again, for the planner may have died with it: under the same id, so none takes it twice.
    """

    def __init__(self, client: ActionClient, text: str, on_progress: Callable[[Progress], None]) -> None:
        self.is_answered = False
        self.is_done = False
        self._result = CommandResult(ExecuteCommand.Result.EXECUTOR_LOST, "")
        self._handle: ClientGoalHandle | None = None
        self._on_progress = on_progress
        self._client, self._goal = client, ExecuteCommand.Goal(command=text)
        self._id = UUID(uuid=list(uuid.uuid4().bytes))
        self._unanswered = 0
        self._send(time.monotonic())

    def _send(self, now: float) -> None:
        self._heard, self._sent = now, now
        self._unanswered += 1
        sent = self._client.send_goal_async(self._goal, feedback_callback=self._on_feedback, goal_uuid=self._id)
        sent.add_done_callback(self._on_answer)

    def insist(self, now: float) -> None:
        """To be called now and then, at the wall's time `now` [s], until it is answered."""
        if not self.is_answered and now > self._sent + SAID_AGAIN:
            self._send(now)

    @property
    def result(self) -> CommandResult:
        """How it ended; raises SystemUnreachableError where the planner did not take it."""
        if self._handle is None or not self._handle.accepted:
            raise SystemUnreachableError("the language planner takes no commands: it is not active")
        return self._result

    def cancel(self) -> None:
        """Ask for its end; `is_done` tells when it has come."""
        if self._handle is not None:
            self._handle.cancel_goal_async()

    def check_alive(self) -> None:
        """Raises SystemUnreachableError when the planner, which speaks every second, has fallen silent."""
        if not self.is_done and time.monotonic() - self._heard > SILENCE_MAX:
            raise SystemUnreachableError(
                "the language planner fell silent, so nobody can tell what became of the command; the robot stops "
                "within seconds. Look at what the nodes print, and say it again once the system is up"
            )

    def _on_feedback(self, message: ExecuteCommand.Impl.FeedbackMessage) -> None:
        self._heard = time.monotonic()
        self._on_progress(_progress(message.feedback))

    def _on_answer(self, future: Future) -> None:
        handle, self._unanswered = future.result(), self._unanswered - 1
        if self.is_answered or (not handle.accepted and self._unanswered):
            return  # a planner that is not active yet, or that has it already and will say so
        self._handle, self.is_answered, self._heard = handle, True, time.monotonic()
        if handle.accepted:
            handle.get_result_async().add_done_callback(self._on_done)
        else:
            self.is_done = True

    def _on_done(self, future: Future) -> None:
        answer = future.result()
        code, message = answer.result.error_code, answer.result.error_msg
        if code == ExecuteCommand.Result.SUCCEEDED and answer.status != GoalStatus.STATUS_SUCCEEDED:
            # a planner that fails inside leaves an empty result, whose code reads as success
            code, message = ExecuteCommand.Result.EXECUTOR_LOST, "the language planner failed; see what its node prints"
        self._result, self.is_done = CommandResult(code, message), True


class SystemClient:
    """A node of its own; every method spins it, so nothing runs between calls."""

    def __init__(self, namespace: str = "", domain_id: int | None = None) -> None:
        self._context = Context()
        no_handlers = SignalHandlerOptions.NO  # an interrupt stays Python's
        rclpy.init(context=self._context, domain_id=domain_id, signal_handler_options=no_handlers)
        self.node = rclpy.create_node("llm_planner_client", namespace=namespace or None, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._commands = ActionClient(self.node, ExecuteCommand, "execute_command")
        self._stop = self.node.create_client(StopRobot, "stop")
        self._talking: tuple[Publisher, Subscription, list[CorrectionResult]] | None = None

    def close(self) -> None:
        """Leave the network."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def wait_for_system(self, timeout: float, still_hoping: Callable[[], None] = lambda: None) -> None:
        """Return once commands are taken; raises SystemUnreachableError after `timeout` [s].

        `still_hoping` is called a few times a second and may raise to end the wait.
        """
        self.wait_until(self._commands.server_is_ready, timeout, still_hoping, NO_SYSTEM)

    def submit(self, text: str, on_progress: Callable[[Progress], None] = lambda progress: None) -> Submission:
        """Send a command; it is followed while a method of this client spins."""
        return Submission(self._commands, text, on_progress)

    def execute(
        self, text: str, on_progress: Callable[[Progress], None], still_hoping: Callable[[], None] = lambda: None
    ) -> CommandResult:
        """Send a command and follow it to its end, however long it takes. An interrupt cancels it.

        Raises SystemUnreachableError when the planner does not take it.
        """
        submission = self.submit(text, on_progress)

        def insist() -> None:
            submission.insist(time.monotonic())
            still_hoping()

        def check() -> None:
            submission.check_alive()
            still_hoping()

        try:
            self.wait_until(lambda: submission.is_answered, ANSWER_MAX, insist, NO_SYSTEM)
            self.wait_until(lambda: submission.is_done, float("inf"), check)
        except KeyboardInterrupt:
            self.wait_until(lambda: submission.is_answered, 5.0, otherwise=NO_SYSTEM)  # only then can it be called off
            submission.cancel()
            self.wait_until(lambda: submission.is_done, 5.0)
        return submission.result

    def stop(self, reason: str) -> CommandResult:
        """Stop the arm; raises SystemUnreachableError where nobody answers."""
        self.wait_until(self._stop.service_is_ready, 5.0, otherwise=NO_SYSTEM)
        answer = self._stop.call_async(StopRobot.Request(reason=reason))
        self.wait_until(answer.done, 5.0, otherwise=NO_SYSTEM)
        response = answer.result()
        return CommandResult(response.error_code, response.error_msg)

    def correct(self, words: str) -> Answer:
        """Say something to a robot at work; what became of it. Raises SystemUnreachableError where nobody answers.

        A stop goes to the executor itself: it does not wait for whoever reads words.
        """
        if is_stop(words):
            stopped = self.stop(f"you said “{words}”")
            return stop_answer(stopped.code == StopRobot.Response.STOPPED, stopped.message)
        said, listening, results = self._talk()

        def is_heard() -> bool:
            return said.get_subscription_count() > 0 and listening.get_publisher_count() > 0

        self.wait_until(is_heard, 5.0, otherwise=NO_SYSTEM)
        results.clear()
        said.publish(String(data=words))
        self.wait_until(lambda: any(result.words == words for result in results), CORRECTION_MAX)
        return result_from_msg(next(result for result in results if result.words == words))

    def _talk(self) -> tuple[Publisher, Subscription, list[CorrectionResult]]:
        """What corrections go out on and come back to: made once, for it takes a while until everybody has met."""
        if self._talking is None:
            results: list[CorrectionResult] = []
            listening = self.node.create_subscription(CorrectionResult, "correction_result", results.append, RELIABLE)
            self._talking = self.node.create_publisher(String, "correction", RELIABLE), listening, results
        return self._talking

    def watch_remarks(self, on_remark: Callable[[Answer], None]) -> None:
        """Call back with what the robot says of corrections and lessons without having been spoken to."""

        def unasked(message: CorrectionResult) -> None:
            if not message.words:
                on_remark(result_from_msg(message))

        self.node.create_subscription(CorrectionResult, "correction_result", unasked, RELIABLE)

    def watch_scene(self, on_scene: Callable[[Scene], None]) -> None:
        """Call back with every scene from now on, while another method spins."""
        self.node.create_subscription(
            SceneMsg, "scene", lambda message: on_scene(scene_from_msg(message)), qos_profile_sensor_data
        )

    def watch_joints(self, on_joints: Callable[[float, list[float], list[float], float], None]) -> None:
        """Call back with time [s], qpos [rad], qvel [rad/s] and gripper width [m] of every joint state."""

        def convert(message: JointStateMsg) -> None:
            state, width = joint_state_from_msg(message)
            on_joints(state.time, state.qpos.tolist(), state.qvel.tolist(), width)

        self.node.create_subscription(JointStateMsg, "joint_states", convert, qos_profile_sensor_data)

    def watch_reports(self, on_report: Callable[[str], None]) -> None:
        """Call back with what the robot says of itself now, and whenever that changes; "" is nothing."""
        self.node.create_subscription(String, "diagnosis", lambda message: on_report(message.data), LATCHED)

    def spin_for(self, duration: float) -> None:
        """Listen for `duration` wall seconds."""
        deadline = time.monotonic() + duration
        while (left := deadline - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)

    def wait_until(
        self,
        condition: Callable[[], bool],
        timeout: float,
        still_hoping: Callable[[], None] = lambda: None,
        otherwise: str = "",
    ) -> None:
        """Listen until `condition` holds; raises SystemUnreachableError, saying `otherwise`, after `timeout` [s]."""
        deadline = time.monotonic() + timeout
        while not condition():
            still_hoping()
            if time.monotonic() > deadline:
                raise SystemUnreachableError(otherwise or f"the system did not answer as expected within {timeout:g} s")
            self._executor.spin_once(timeout_sec=0.1)


def _progress(feedback: ExecuteCommand.Feedback) -> Progress:
    plan = plan_from_msg(feedback.plan) if feedback.plan.id else None
    steps = tuple(map(step_from_msg, feedback.status.steps)) or (plan.steps if plan else ())
    return Progress(feedback.message, plan, steps)
