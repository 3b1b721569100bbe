"""Node that turns commands in plain language into plans and sends them to the executor, one at a time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import CommandStatus, Plan, PlanStatus
from llm_planner_interfaces.srv import StopRobot
from rclpy.task import Future
from std_msgs.msg import String

from llm_planner.corrections.command_planner import Asked
from llm_planner.corrections.resume import Rest, is_of_work, left_over, plan_rest
from llm_planner.errors import InputError, LanguageModelError, LlmPlannerError
from llm_planner.execution.execution_state import EndReason
from llm_planner.execution.journal import RecordKind
from llm_planner.execution.journal_buffer import OPENING
from llm_planner.language.model import Exchange, LanguageModel
from llm_planner.language.prompt import MAX_EXCHANGES
from llm_planner.language.stop_words import is_stop
from llm_planner.planning.planned import Planned, planning_settings
from llm_planner.planning.planning import outcome_of
from llm_planner.planning.repair import MOST_REPAIRS, plan_remainder, remainder_ahead, unrepaired
from llm_planner.plans.plan import Outcome
from llm_planner.plans.privileges.decision import PrivilegeError
from llm_planner.plans.privileges.policy import Verdict
from llm_planner.ros.background_work import Answer, PlannerModels
from llm_planner.ros.base_node import COMMANDS, OK, WARN, BaseNode, run_node
from llm_planner.ros.commands import Command, code_name, foreseen
from llm_planner.ros.conversions.plan_messages import plan_to_msg, steps_from_msg, trace_from_msg
from llm_planner.ros.execution_clients import EXECUTOR_LOST, NOT_BEGUN, STARTED_MAX, PlanClient
from llm_planner.ros.idempotent_requests import GoalServer, ServiceCaller, SharedGoal
from llm_planner.ros.journal_file import close_journal, log_news, note, open_planners_journal, with_notice
from llm_planner.ros.parameters import JOURNAL, PLAN_SETTINGS, PRIVILEGES, REHEARSAL, Setting
from llm_planner.ros.plan_display import ForecastFeed, MarkerFeed
from llm_planner.ros.scene_feed import NO_SCENE, SceneFeed, library_of
from llm_planner.ros.sender_identity import backlog
from llm_planner.ros.waiting import ConditionWait
from llm_planner.scene.places import viewpoint
from llm_planner.scene.scene import Scene

Result, Feedback = ExecuteCommand.Result, ExecuteCommand.Feedback
QUEUE_LENGTH = 8  # commands that may wait
HELD = "if it is held, say “go on” as a correction"
NO_ROOM = f"{QUEUE_LENGTH} commands are waiting already; wait for one to end, or say stop to drop them all."
STOP_MAX = 2.0  # [s, wall time] for the executor to answer a stop
FAULT = "The language planner failed by a fault of its own; see what its node prints."
RESTART = 15.0  # [s, wall time] for a dead node to restart
_OUTCOMES = {Outcome.QUESTION: Result.QUESTION, Outcome.REFUSED: Result.REFUSED, Outcome.FAILED: Result.REFUSED}
_REASONS = {Result.REPLAN: EndReason.REPLAN, Result.SKILL_FAILED: EndReason.FAILED}  # ends that a new plan may repair
_MISSING = {Result.NO_SCENE: NO_SCENE, Result.EXECUTOR_LOST: NOT_BEGUN.format("the plan executor")}


class LanguagePlannerNode(BaseNode):
    """Plans commands from a bounded queue; a person's stop bypasses the queue and empties it."""

    SETTINGS = (
        Setting("model", "embedded", "language model that reads commands", choices=("embedded", "openai", "scripted")),
        Setting("model_script", "", "YAML file of the scripted model: command to program"),
        Setting("scene_timeout", 1.0, "time without a scene after which nothing is planned [s]", 0.2, 10.0),
        Setting("patience", 3.0, "wall time that a command waits for the scene and the executor [s]", 0.0, 60.0),
        REHEARSAL,
        PRIVILEGES,
        JOURNAL,
        *PLAN_SETTINGS,
    )

    def configure(self) -> None:
        self._viewpoint, self._library = viewpoint(self.setting("viewpoint")), library_of(self)
        policy = Path(self.setting("privileges")) if self.setting("privileges") else None
        rehearsal = str(self.setting("rehearsal") or "off")  # ROS reads off as False
        self._planning = planning_settings(rehearsal, policy, "topic", self._library, self._viewpoint)
        self._journal = open_planners_journal(self, self.setting("journal"))
        self._accepted, self._waiting = dict[str, Command](), deque[Command]()  # by goal id, not begun yet; in order
        self._exchanges: deque[Exchange] = deque(maxlen=MAX_EXCHANGES)  # for a large model, newest last
        self._asked: dict[str, Asked | None] = {}  # by asker: question with which the last command ended, if it did
        self._current: Command | None = None
        self._patience, self._started = ConditionWait(self.setting("patience")), time.monotonic()
        self._status = self.create_lifecycle_publisher(CommandStatus, "command_status", COMMANDS)
        self._stop = ServiceCaller(self, StopRobot, "stop")
        self._plans = PlanClient(self, self._drop_all, self._patience.look)
        self._scenes = SceneFeed(self, self.setting("scene_timeout"), lambda restarted: self._patience.look())
        MarkerFeed(self, self._scenes, lambda: self._plans.status, self._library, self._viewpoint)
        self._forecasts = ForecastFeed(self, self._library, self._viewpoint)
        self._topic = self.create_subscription(String, "language_command", self._on_text, COMMANDS)
        for name, only_plan in (("execute_command", False), ("preview_command", True)):
            accepts = partial(self._on_goal, only_plan)
            GoalServer(self, ExecuteCommand, name, self._on_execute, self._on_cancel, accepts, COMMANDS)
        self.every(0.25, self._on_watch)
        self.report_with(self._on_second)
        self._models = PlannerModels(self, self.setting("model"), self.setting("model_script"))

    def close(self) -> None:
        if hasattr(self, "_journal"):
            close_journal(self, self._journal)

    def on_fault(self, error: BaseException) -> None:
        """End the current command as failed; the executor then ends its plan, and the next command begins."""
        if self._current is not None:
            self._end(self._current, Result.UNKNOWN, FAULT)

    def _on_goal(self, only_plan: bool, goal: SharedGoal) -> bool:
        """Accept a command goal if active, and record it in the journal before the sender learns of it."""
        if self.is_active:
            command = Command(goal.request.command, goal, only_plan, is_recorded=not only_plan)
            self._accepted[goal.id] = command
            if command.is_recorded and not is_stop(command.text):  # a stop must not wait for the journal
                note(self._journal, RecordKind.COMMAND, command.id, command=command.text)
        return self.is_active

    def _on_text(self, message: String) -> None:
        """Take all waiting commands of the topic at once; a stop among them drops those before it."""
        others = [one for one, _ in backlog(self._topic, COMMANDS.depth)]
        commands = [Command(one.data, None) for one in (message, *others)]
        if not self.is_active:
            return
        last = max((k for k, command in enumerate(commands) if is_stop(command.text)), default=-1)
        before = commands[: last + 1]
        if before:
            self._stop_robot([command for command in before if is_stop(command.text)])
        for command in before:
            if not is_stop(command.text):
                self._turn_away(command, Result.STOPPED, "Stopped before it began.")
        for command in commands[last + 1 :]:
            self._arrive(command)

    def _turn_away(self, command: Command, code: int, message: str) -> None:
        """End a command that never began; if it came by topic, skip the slow journal."""
        command.is_recorded = command.goal is not None
        self._end(command, code, message)

    async def _on_execute(self, goal: SharedGoal) -> Result:
        command = self._accepted.pop(goal.id)
        self._arrive(command)
        await command.done
        return command.result

    def _arrive(self, command: Command) -> None:
        self.tell(f"{'preview of' if command.only_plan else 'command'} “{command.shown}” by {command.source}")
        if command.only_plan:  # beside the one under way
            self._ask_model(command) if self._scenes.scene else self._end(command, Result.NO_SCENE, NO_SCENE)
            return
        if is_stop(command.text):
            self._stop_robot([command])
            return
        if self._current is not None and command.goes_on and not self._plans.is_silent:
            self._turn_away(command, Result.REFUSED, f"“{self._current.shown}” is still under way; {HELD}.")
            return
        if self._current is not None and len(self._waiting) >= QUEUE_LENGTH:
            self._turn_away(command, Result.QUEUE_FULL, NO_ROOM)
            return
        if command.goal is None:
            note(self._journal, RecordKind.COMMAND, command.id, command=command.text)
        if self._current is None:
            self._begin(command)
            return
        ahead = self._waiting[-1] if self._waiting else self._current
        self._waiting.append(command)
        self._tell(command, f"queued behind “{ahead.shown}”")

    def _stop_robot(self, commands: Sequence[Command]) -> None:
        """Stop the robot without asking a model, and drop the command being planned and all waiting ones."""
        self._drop_all()
        request = StopRobot.Request(reason=f"you said “{commands[-1].shown}”")
        self._stop.call(request, STOP_MAX, EXECUTOR_LOST).add_done_callback(lambda done: self._stopped(commands, done))
        for command in commands:
            note(self._journal, RecordKind.COMMAND, command.id, command=command.text)

    def _stopped(self, commands: Sequence[Command], answer: Future) -> None:
        error = answer.exception()
        code, message = (Result.SUCCEEDED, "Stopped.") if error is None else (Result.EXECUTOR_LOST, str(error))
        for command in commands:
            self._end(command, code, message)

    def _drop_all(self) -> None:
        while self._waiting:
            self._end(self._waiting.popleft(), Result.STOPPED, "Stopped before it began.")
        if self._current is not None and self._current.state == CommandStatus.PLANNING:
            self._end(self._current, Result.STOPPED, self._current.over("Stopped"))

    def _on_cancel(self, goal: SharedGoal) -> None:
        for command in self._known():
            if command.goal is goal:
                self._cancel(command)

    def _known(self) -> list[Command]:
        return [*([self._current] if self._current else []), *self._waiting]

    def _cancel(self, command: Command) -> None:
        if command.state == CommandStatus.EXECUTING:
            self._plans.cancel()
            return
        if command in self._waiting:
            self._waiting.remove(command)
        # In a separate callback, since rclpy marks the goal as being canceled only after this one.
        self.background(self._end, command, Result.CANCELED, command.over("Canceled"))

    # Planning

    def _begin(self, command: Command) -> None:
        self._current = command
        command.state = CommandStatus.PLANNING
        seconds = RESTART if command.goes_on else self._started + STARTED_MAX - time.monotonic()
        if not self._scenes.is_fresh or not self._plans.is_heard():
            self._tell(command, f"waiting for {'the plan executor' if self._scenes.is_fresh else 'the scene'}")

        def begin() -> None:
            self._tell(command, "planning")
            self._ask_model(command)

        self._once(
            lambda: self._scenes.is_fresh,
            lambda: self._once(self._plans.is_heard, begin, Result.EXECUTOR_LOST, seconds),
            Result.NO_SCENE,
            seconds,
        )

    def _ask_model(self, command: Command) -> None:
        scene, status, exchanges = self._scenes.scene, self._plans.status, tuple(self._exchanges)
        command.asked = self._asked.pop(command.asker, None)
        try:
            model = self._models.named(str(command.request.model))
        except InputError as error:
            self._end(command, Result.REFUSED, str(error))
            return
        model.ask(
            lambda model: self._planned(command, scene, command.asks(model), exchanges),
            lambda answer: self._on_answer(command, answer, scene, status),
        )

    def _planned(
        self, command: Command, scene: Scene, model: LanguageModel, exchanges: tuple[Exchange, ...]
    ) -> Planned | Rest:
        """Plan the command; runs in a thread."""
        skills = self._library.for_scene(scene).signatures
        settings = replace(self._planning, source=command.source, exchanges=exchanges)
        if command.goes_on:
            left = left_over(self._journal.tail(is_of_work, command.id, OPENING), command.id)
            return plan_rest(left, scene, skills, self._viewpoint, settings)
        return command.planned(scene, skills, model, self._viewpoint, settings)

    def _on_answer(self, command: Command, answer: Answer | Rest, scene: Scene, status: PlanStatus) -> None:
        if command is not self._current and not command.only_plan:
            return  # stopped or canceled while the model was running
        if isinstance(answer, LanguageModelError):
            self._end(command, Result.MODEL_UNAVAILABLE, str(answer))
        elif isinstance(answer, LlmPlannerError):
            outcome, message = outcome_of(answer)
            self._asked[command.asker] = command.meant.asked(answer)
            if isinstance(answer, PrivilegeError) and answer.decision.verdict is Verdict.STOP and not command.only_plan:
                self._stop.call(StopRobot.Request(reason=message), STOP_MAX, EXECUTOR_LOST)  # drops waiting ones too
            self._end(command, _OUTCOMES[outcome], message)
        else:
            planned, continues = answer, ""
            if isinstance(answer, Rest):
                planned, continues = answer.planned, answer.continues
                self._tell(command, answer.told)
            plan = plan_to_msg(planned.plan, command.id, self.now(), continues)
            if command.only_plan:
                command.plan = plan
                self._end(command, Result.SUCCEEDED, foreseen(planned))
                return
            command.left = remainder_ahead(planned, scene)
            self._forecasts.tell(command.id, planned, scene)
            self.tell(f"plan: {', '.join(map(str, planned.plan.steps)) or 'nothing to do'}")
            self._send(command, plan, status)

    # Execution

    def _send(self, command: Command, plan: Plan, known: PlanStatus | Plan) -> None:
        """Send the plan, valid only for the executor and its number of stops in `known`."""
        plan.source, plan.executor, plan.stops = command.source, known.executor, known.stops
        command.plan = plan
        self._once(self._plans.is_heard, lambda: self._hand_over(command), Result.EXECUTOR_LOST)

    def _hand_over(self, command: Command) -> None:
        command.state = CommandStatus.EXECUTING
        self._tell(command, "executing")
        self._plans.start(
            command.plan,
            lambda status: self._feed_back(command, status.message, status),
            lambda result: self._on_plan_end(command, result),
        )

    def _on_plan_end(self, command: Command, result: ExecutePlan.Result) -> None:
        if result.may_go_on and result.error_code in _REASONS and command.repairs < MOST_REPAIRS:
            command.ended, command.repairs, command.state = result, command.repairs + 1, CommandStatus.PLANNING
            self._tell(command, f"planning anew: {result.error_msg}")
            self._once(lambda: self._scenes.is_fresh, lambda: self._plan_anew(command), Result.NO_SCENE)
        elif result.error_code == Result.REFUSED and command.repairs:
            self._end_unrepaired(command, InputError(result.error_msg))
        else:
            self._end(command, result.error_code, result.error_msg)

    def _plan_anew(self, command: Command) -> None:
        """Plan the remainder of the command in a thread, as this may take seconds."""
        before, ended, scene = command.left, command.ended, self._scenes.scene
        try:
            steps, letters = steps_from_msg(ended.steps), trace_from_msg(ended.seen)
        except LlmPlannerError as error:
            self._end_unrepaired(command, error)
            return
        plan, history = replace(before.plan, steps=steps), replace(before.history, letters=letters)
        left = replace(before, plan=plan, reason=_REASONS[ended.error_code], history=history)
        self._models.own.ask(
            lambda model: plan_remainder(left, scene, self._library.for_scene(scene).signatures, self._viewpoint),
            lambda answer: self._on_new_plan(command, answer),
        )

    def _on_new_plan(self, command: Command, answer: Answer) -> None:
        if command is not self._current:
            return  # stopped or canceled meanwhile
        if isinstance(answer, LlmPlannerError):
            self._end_unrepaired(command, answer)
        else:
            self.tell(f"new plan: {', '.join(map(str, answer.plan.steps))}")
            self._send(command, plan_to_msg(answer.plan, command.id, self.now(), continues=command.id), command.plan)

    def _end_unrepaired(self, command: Command, error: LlmPlannerError) -> None:
        code, message = command.ended.error_code, command.ended.error_msg
        self._end(command, code, unrepaired(_REASONS[code], message, error))

    def _end(self, command: Command, code: int, message: str) -> None:
        if command.done.done():
            return
        command.state, command.code = CommandStatus.ENDED, code
        lost = code == Result.EXECUTOR_LOST  # the executor reports the rest once it is back
        if command.is_recorded:
            note(self._journal, RecordKind.OUTCOME, command.id, code=code_name(code), message=message, lost=lost)
        command.message = message if is_stop(command.text) else with_notice(message, self._journal) + command.cost
        if command.model is not None and not command.only_plan:
            self._exchanges.append(Exchange(command.shown, command.plan.program, f"{code_name(code)}: {message}"))
        self._tell(command, command.message)
        self.tell(f"{code_name(code).lower()}: {command.message}")
        command.done.set_result(None)
        if command is self._current:
            self._current = None
            self._patience.forget()
            if self._waiting:
                self._begin(self._waiting.popleft())

    def _tell(self, command: Command, message: str) -> None:
        command.status = CommandStatus(id=command.id, command=command.shown, state=command.state, message=message)
        command.status.error_code = command.code
        self._publish(command)
        if command.state != CommandStatus.ENDED:
            self._feed_back(command, message, PlanStatus())

    def _publish(self, command: Command) -> None:
        if not command.only_plan:
            command.status.header.stamp = self.get_clock().now().to_msg()
            self._status.publish(command.status)

    def _feed_back(self, command: Command, message: str, status: PlanStatus) -> None:
        kind = ExecuteCommand.Feedback
        command.feedback = kind(state=command.state, message=message, plan=command.plan, status=status)
        command.repeat_feedback()

    def _once(
        self, condition: Callable[[], bool], proceed: Callable[[], None], otherwise: int, seconds: float = 0.0
    ) -> None:
        """Proceed with the current command when `condition` holds, or end it with the code `otherwise` if too late."""
        self._patience.once(
            condition, proceed, lambda: self._end(self._current, otherwise, _MISSING[otherwise]), seconds
        )

    def _on_watch(self) -> None:
        self._plans.watch()
        self._scenes.watch()
        self._patience.look()

    def _on_second(self) -> None:
        log_news(self, self._journal)
        for command in self._known():
            self._publish(command)  # the executor ends a plan whose command is no longer reported
            command.repeat_feedback()
            if command.is_abandoned(self):
                self.tell(f"canceled, because the program that wanted it is gone: “{command.shown}”")
                self._cancel(command)
        waiting = [("waiting_commands", len(self._waiting)), ("model", self.setting("model"))]
        trouble = self._journal.trouble if self._models.own.is_ready else "the language model is not ready"
        idle_or_busy = self._current.shown if self._current else "idle"
        self.report(WARN if trouble else OK, trouble or idle_or_busy, waiting)


def main() -> None:
    run_node(LanguagePlannerNode, "language_planner")


if __name__ == "__main__":
    main()
