"""Client of a running system, for the command line: sends commands, corrections and stops, and follows progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import rclpy
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CorrectionResult
from llm_planner_interfaces.msg import Scene as SceneMsg
from rcl_interfaces.srv import GetParameters
from rclpy.context import Context
from rclpy.parameter import parameter_value_to_python
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import String

from llm_planner.corrections.edits import Answer, stop_answer
from llm_planner.errors import LlmPlannerError
from llm_planner.language.stop_words import Stop, heard_stop
from llm_planner.plans.plan import Plan, PlanStep
from llm_planner.robots.arm_model import arm_model, default_arm
from llm_planner.robots.motion import JointState
from llm_planner.ros.base_node import LATCHED, RELIABLE
from llm_planner.ros.conversions.correction_messages import result_from_msg
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.conversions.plan_messages import plan_from_msg, steps_from_msg
from llm_planner.ros.conversions.robot_messages import joint_state_from_msg
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.ros.heartbeat_monitor import HeartbeatMonitor
from llm_planner.ros.idempotent_requests import GoalClient, GoalEnd
from llm_planner.ros.node_executor import NodeExecutor
from llm_planner.ros.node_table import CLIENT, LISTENER
from llm_planner.ros.other_systems import SYSTEM, claim_name, is_claimed, is_known, join_network
from llm_planner.ros.parameters import MOBILE
from llm_planner.ros.stop_client import NO_SYSTEM, StopClient, StopResult, SystemUnreachableError
from llm_planner.scene.scene import Scene

ABSENT_MAX = 5.0  # [s, wall time] to discover a system of which no node is known
MEET_MAX = 30.0  # [s, wall time] to discover one that runs; on a busy machine discovery takes long
START_MAX = 120.0  # [s, wall time] for one that is starting on this machine
TOLD_AFTER = 2.0  # [s, wall time] of a wait, after which a person is told for what
WAITING = "waiting for the system, whose language planner does not answer yet"
REPEAT = 1.0  # [s, wall time] between requests for parameters
SILENCE_MAX = 5.0  # [s, wall time] without feedback of the planner, after which it counts as lost
BUSY_MAX = 30.0  # [s, wall time] the same while its process lives here: a busy machine holds it up while it starts
ANSWER_MAX = 20.0  # [s, wall time] for the planner to accept a command; allows for a restart
CORRECTION_MAX = 30.0  # [s, wall time] for the result of a correction
PLANNER = "language_planner"  # node that a system has whatever it moves
NOT_STARTED = (
    f"a system is starting here, but its language planner was not there within {START_MAX:g} s; look at what "
    "llm-planner up prints, and say it again once it is up"
)
PLANNER_LOST = (
    "the language planner fell silent, so nobody can tell what became of the command; the robot stops within seconds. "
    "Look at what the nodes print, and say it again once the system is up"
)
INACTIVE = "the language planner takes no commands: it is not active"
PLANNER_FAULT = "the language planner failed; see what its node prints"


@dataclass(frozen=True)
class Progress:
    """Progress of a command: a message for a person, and the plan with its steps once it exists."""

    message: str
    plan: Plan | None
    steps: tuple[PlanStep, ...]


@dataclass(frozen=True)
class CommandResult:
    """Result of a command; `code` is a constant of `ExecuteCommand.action`.

    `plan` is what would run, if the command was only to be planned and may run.
    """

    code: int
    message: str
    plan: Plan | None = None

    @property
    def succeeded(self) -> bool:
        return self.code == ExecuteCommand.Result.SUCCEEDED

    @property
    def is_question(self) -> bool:
        return self.code == ExecuteCommand.Result.QUESTION


class Submission:
    """Command sent to the planner; `result` is available once `is_done`.

    The client repeats the command under one id until the planner accepts it, so the planner executes it only once.
    """

    def __init__(self, client: GoalClient, goal: ExecuteCommand.Goal, on_progress: Callable[[Progress], None]) -> None:
        self._end: GoalEnd | None = None
        self._on_progress, self._client = on_progress, client
        self._silence = HeartbeatMonitor()
        self._silence.heard()
        self._sent = client.send(goal, ANSWER_MAX, self._on_feedback, self._on_end)

    @property
    def is_answered(self) -> bool:
        """Whether the planner has accepted or rejected the command."""
        return self._sent.is_taken or self.is_done

    @property
    def is_done(self) -> bool:
        return self._end is not None

    @property
    def result(self) -> CommandResult:
        """Result of the command; raises SystemUnreachableError if the planner did not accept it or has died since."""
        end = self._end
        if end is None or end.result is None:
            refused = INACTIVE if end is not None and end.was_refused else NO_SYSTEM
            raise SystemUnreachableError(PLANNER_LOST if self._sent.is_taken else refused)
        code, message = end.result.error_code, end.result.error_msg
        plan = plan_from_msg(end.result.plan) if end.result.plan.id else None
        return CommandResult(code, message or ("" if code == ExecuteCommand.Result.SUCCEEDED else PLANNER_FAULT), plan)

    def cancel(self) -> None:
        """Request cancellation; `is_done` shows when the command has ended."""
        self._client.cancel(self._sent)

    def check_alive(self, limit: float = SILENCE_MAX) -> None:
        """Raise SystemUnreachableError if the planner, which sends feedback every second, is silent for `limit` [s]."""
        self._silence.look(time.monotonic())
        if not self._sent.is_taken:
            self._silence.heard()
        if not self.is_done and self._silence.seconds > limit:
            raise SystemUnreachableError(PLANNER_LOST)

    def _on_feedback(self, feedback: ExecuteCommand.Feedback) -> None:
        self._silence.heard()
        progress = _progress(feedback)
        if progress is not None:
            self._on_progress(progress)

    def _on_end(self, end: GoalEnd) -> None:
        self._end = end


class SystemClient:
    """Client node of a running system.

    Callbacks run only while a method spins the node. Unreadable messages are logged and skipped. `robot` is the
    parameter `robot` of the nodes, whose joints `watch_joints` reads. A client with a `name` of its own can have its
    commands end with it (`submit`).
    """

    def __init__(
        self, namespace: str = "", domain_id: int | None = None, robot: str = "arm", name: str = CLIENT
    ) -> None:
        self.use_robot(robot)
        self._context = Context()
        self.node = join_network(self._context, namespace, domain_id, name)
        # The claim ends with this process, so that the planner sees at once when it is killed.
        self._claim = None if name == CLIENT else claim_name(name, namespace, self._context.get_domain_id())
        self._executor = NodeExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._commands = GoalClient(self.node, ExecuteCommand, "execute_command")
        self._previews = GoalClient(self.node, ExecuteCommand, "preview_command")
        self._stopping = StopClient(self.node, self._executor)
        self._talking: tuple[Publisher, Subscription, list[CorrectionResult]] | None = None

    def close(self) -> None:
        self._executor.shutdown()
        if self._claim is not None:
            self._claim.close()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def use_robot(self, robot: str) -> None:
        """Read joints and scenes as those of this robot from now on; call before `watch_scene` and `watch_joints`."""
        self._arm = default_arm() if robot == MOBILE else arm_model(robot)

    def parameters(self, *names: str) -> dict[str, object]:
        """Return the values of parameters of the planner; raise SystemUnreachableError if it does not answer."""
        caller = self.node.create_client(GetParameters, f"{PLANNER}/get_parameters")
        answers: list[GetParameters.Response] = []
        asked = -REPEAT

        def answered() -> bool:  # asks again, since rmw loses answers of services that were just discovered
            nonlocal asked
            if not answers and caller.service_is_ready() and time.monotonic() > asked + REPEAT:
                asked = time.monotonic()
                future = caller.call_async(GetParameters.Request(names=names))
                future.add_done_callback(lambda done: answers.append(done.result()))
            return bool(answers)

        self.wait_until(answered, MEET_MAX, otherwise=f"the {PLANNER} does not tell its parameters")
        return dict(zip(names, map(parameter_value_to_python, answers[0].values), strict=True))

    def wait_for_system(self, timeout: float, still_hoping: Callable[[], None] = lambda: None) -> None:
        """Wait until the planner accepts commands; arguments and errors are as in `wait_until`."""
        self.wait_until(lambda: self._commands.is_ready, timeout, still_hoping, NO_SYSTEM)

    def find_system(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """Wait until a running planner accepts commands; raise SystemUnreachableError if there is none.

        `tell` receives what is waited for, if that takes longer than `TOLD_AFTER`.
        """
        self._find(lambda: self._commands.is_ready, tell)

    def _find(self, is_found: Callable[[], bool], tell: Callable[[str], None] = lambda text: None) -> None:
        """Wait until `is_found`: briefly, or longer while a planner, or a system that starts here, is known."""
        began = starts = time.monotonic()
        told = False

        def check() -> None:
            nonlocal starts, told
            now, is_there = time.monotonic(), is_known(self.node, PLANNER)
            is_starting = not is_there and is_claimed(self.node, SYSTEM)
            starts = now if is_starting else starts
            if (is_there or is_starting) and now > began + TOLD_AFTER and not told:
                tell(WAITING)
                told = True
            if is_starting and now > began + START_MAX:
                raise SystemUnreachableError(NOT_STARTED)
            if not is_starting and now > (starts + MEET_MAX if is_there else began + ABSENT_MAX):
                raise SystemUnreachableError(NO_SYSTEM)

        self.wait_until(is_found, float("inf"), check)

    def submit(
        self,
        text: str,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        model: str = "",
        *,
        program: str = "",
        rules: Sequence[str] = (),
        source: str = "",
        only_plan: bool = False,
    ) -> Submission:
        """Send a command without waiting for its end.

        Args:
            text: Command in plain language; with a `program` only its name.
            on_progress: Called with each progress report, while this client spins.
            model: Language model that reads the command; "" for the planner's own.
            program: Policy program to carry out instead of one for the words; "" for none.
            rules: What the plan must keep besides the rules in the words, in plain language.
            source: What decides its privileges: "mcp" for an agent, "" for a person.
            only_plan: Whether to check, plan and rehearse only.

        The planner cancels the command once this client is gone, if it has a name of its own.
        """
        goal = ExecuteCommand.Goal(command=text, model=model, program=program, rules=list(rules), source=source)
        goal.client = "" if self._claim is None else self.node.get_name()
        return Submission(self._previews if only_plan else self._commands, goal, on_progress)

    def execute(
        self,
        text: str,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        still_hoping: Callable[[], None] = lambda: None,
        model: str = "",
        rules: Sequence[str] = (),
    ) -> CommandResult:
        """Submit a command and wait for its end, without a time limit; KeyboardInterrupt cancels it.

        The arguments are as in `submit` and `wait_until`.

        Raises:
            SystemUnreachableError: The planner does not accept the command, or has gone silent.
        """
        submission = self.submit(text, on_progress, model, rules=rules)

        def check() -> None:
            submission.check_alive(BUSY_MAX if is_claimed(self.node, PLANNER) else SILENCE_MAX)
            still_hoping()

        try:
            self.wait_until(lambda: submission.is_answered, ANSWER_MAX + 1.0, check, NO_SYSTEM)
            self.wait_until(lambda: submission.is_done, float("inf"), check)
        except KeyboardInterrupt:
            self.wait_until(lambda: submission.is_answered, 5.0, otherwise=NO_SYSTEM)  # else it cannot be canceled
            submission.cancel()
            self.wait_until(lambda: submission.is_done, 5.0)
        return submission.result

    def stop(self, reason: str) -> StopResult:
        """Stop the robot and wait until it is at rest.

        Raises:
            SystemUnreachableError: The executor does not answer, or the robot keeps moving.
        """
        return self._stopping.stop(reason)

    def correct(self, words: str, still_hoping: Callable[[], None] = lambda: None) -> Answer:
        """Send a correction and return its outcome; a bare stop goes to the executor directly.

        `still_hoping` is as in `wait_until`.

        Raises:
            SystemUnreachableError: No answer has come in time.
        """
        if heard_stop(words) is Stop.ONLY:
            stopped = self.stop(f"you said “{words}”")
            return stop_answer(stopped.was_running, stopped.message)
        said, listening, results = self._talk()

        def is_heard() -> bool:
            # A recorder may be matched before the listener, which would then never hear the words.
            infos = self.node.get_subscriptions_info_by_topic(said.topic_name)
            there = [one for one in infos if one.qos_profile.durability == DurabilityPolicy.VOLATILE]
            is_there = any(one.node_name == LISTENER for one in there)
            return is_there and said.get_subscription_count() >= len(there) and listening.get_publisher_count() > 0

        self._find(is_heard)
        results.clear()
        said.publish(String(data=words))
        self.wait_until(lambda: any(result.words == words for result in results), CORRECTION_MAX, still_hoping)
        return result_from_msg(next(result for result in results if result.words == words))

    def _talk(self) -> tuple[Publisher, Subscription, list[CorrectionResult]]:
        """Return publisher, subscription and results of corrections, created once because DDS discovery is slow."""
        if self._talking is None:
            results: list[CorrectionResult] = []
            listening = self.node.create_subscription(CorrectionResult, "correction_result", results.append, RELIABLE)
            self._talking = self.node.create_publisher(String, "correction", RELIABLE), listening, results
        return self._talking

    def watch_remarks(self, on_remark: Callable[[Answer], None]) -> None:
        """Call back with results and lessons that answer no correction."""

        heard = validated(self.node, result_from_msg, on_remark)
        self.node.create_subscription(
            CorrectionResult, "correction_result", lambda result: result.words or heard(result), RELIABLE
        )

    def watch_scene(self, on_scene: Callable[[Scene], None]) -> None:
        """Call back with every scene, while another method spins."""
        seen = validated(self.node, SceneReader.of(self.node, self._arm.name).read, on_scene)
        self.node.create_subscription(SceneMsg, "scene", seen, qos_profile_sensor_data)

    def watch_joints(self, on_joints: Callable[[float, list[float], list[float], float], None]) -> None:
        """Call back with time [s], qpos [rad], qvel [rad/s] and gripper width [m] of every joint state."""

        joints, fingers = self._arm.joints, self._arm.fingers

        def tell(read: tuple[JointState, float]) -> None:
            state, width = read
            on_joints(state.time, state.qpos.tolist(), state.qvel.tolist(), width)

        felt = validated(self.node, lambda message: joint_state_from_msg(message, joints, fingers), tell)
        self.node.create_subscription(JointStateMsg, "joint_states", felt, qos_profile_sensor_data)

    def watch_reports(self, on_report: Callable[[str], None]) -> None:
        """Call back with the robot's diagnosis, now and whenever it changes; "" means nothing to report."""
        self.node.create_subscription(String, "diagnosis", lambda message: on_report(message.data), LATCHED)

    def spin_for(self, duration: float) -> None:
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
        """Spin until `condition` holds.

        Args:
            condition: Checked after every spin.
            timeout: Longest wait [s].
            still_hoping: Called a few times a second; may raise to end the wait.
            otherwise: Message of the error; "" for a general one.

        Raises:
            SystemUnreachableError: The timeout has passed.
        """
        deadline = time.monotonic() + timeout
        while not condition():
            still_hoping()
            if time.monotonic() > deadline:
                raise SystemUnreachableError(otherwise or f"the system did not answer as expected within {timeout:g} s")
            self._executor.spin_once(timeout_sec=0.1)


def _progress(feedback: ExecuteCommand.Feedback) -> Progress | None:
    """Convert feedback; return None if it is unreadable, since the next feedback repeats it."""
    try:
        plan = plan_from_msg(feedback.plan) if feedback.plan.id else None
        steps = steps_from_msg(feedback.status.steps) or (plan.steps if plan else ())
    except LlmPlannerError:
        return None
    return Progress(feedback.message, plan, steps)
