"""Node that receives corrections of the running plan, reads them, and has the executor make the edits."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from llm_planner_interfaces.msg import CommandStatus, CorrectionResult, PlanStatus
from llm_planner_interfaces.srv import EditPlan, StopRobot
from rclpy.task import Future
from std_msgs.msg import Header, String

from llm_planner.corrections.dialogue_session import (
    AnswerWithoutPlan,
    Consult,
    DialogueSession,
    EditResult,
    EditStatus,
    Read,
    Reading,
    Recall,
    ResultT,
    Send,
    Step,
    Tell,
    Turn,
    is_reflex,
    reading_of,
)
from llm_planner.corrections.edits import NO_PLAN, Answer, Cancel, Clarify, Edit, Hold, Outcome, stop_answer
from llm_planner.corrections.learner import Seen
from llm_planner.corrections.reading import open_reader, warm_up
from llm_planner.corrections.situation import Situation
from llm_planner.errors import LlmPlannerError, fault_message
from llm_planner.language.stop_words import GO_ON, Stop, heard_stop, is_go_on
from llm_planner.ros.background_work import MEMORY, ModelThread, PreferenceFeed, published_exchanges
from llm_planner.ros.base_node import COMMANDS, LATCHED, OK, RELIABLE, SPOKEN, WARN, BaseNode, run_node
from llm_planner.ros.commands import UNDER_WAY
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.correction_messages import (
    checked_status,
    edit_to_text,
    result_to_msg,
    situation_from_msg,
)
from llm_planner.ros.follow_ups import NO_PLANNER, FollowUps
from llm_planner.ros.heartbeat_monitor import HeartbeatMonitor
from llm_planner.ros.idempotent_requests import ServiceCaller
from llm_planner.ros.parameters import PLAN_SETTINGS, Setting
from llm_planner.ros.scene_feed import NO_SCENE, SceneFeed, library_of
from llm_planner.ros.speech_topics import SETTINGS as AUDIO
from llm_planner.ros.speech_topics import AudioFeed, SpokenAnswers
from llm_planner.ros.waiting import Deadlines, NoAnswerError
from llm_planner.scene.places import viewpoint
from llm_planner.scene.scene import Scene

if TYPE_CHECKING:
    from llm_planner.speech.recognisers import Vocabulary


WORDS_MAX = 4000  # [characters] of an utterance
MOST_WAITING = 8  # utterances
MOST_LOOKS = 4  # repeated readings, LOOK apart, until this node sees what the executor has done
LOOK = 0.5  # [s, wall time]
UNSEEN_MAX = 5.0  # [s, wall time] to wait for a scene
EXECUTOR_PATIENCE = 5.0  # [s, wall time] without a plan status, after which the executor is lost
EDIT_MAX = 30.0  # [s, wall time] for an edit while the executor is alive
COMMAND_MAX = 3.0  # [s, wall time] without a status of a command, after which the command is gone
HOLD_MAX = 1.0  # [s, wall time] after which an unanswered hold is pointless
LOST = f"the plan executor does not answer; the robot stops by itself; once it is back, {GO_ON}"
_EDIT_STATUS = {
    EditPlan.Response.ACCEPTED: EditStatus.ACCEPTED,
    EditPlan.Response.STALE: EditStatus.STALE,
    EditPlan.Response.NO_PLAN: EditStatus.NO_PLAN,
}
_WATCHED = PlanStatus.RUNNING, PlanStatus.SUCCEEDED, PlanStatus.STOPPED
ReadWords = Callable[[str, Situation], Edit]


@dataclass
class Utterance:
    """Utterance on its way to a result.

    Attributes:
        words: Text of the utterance.
        asked: Question that was open when the utterance came.
        before: Completes when the utterance before this one is settled; None if there is none.
        preview: Whether its edit is only shown, and made after a yes.
        edit: Edit that the utterance asks for, once it is read.
        settled: Completes when the utterance is done.
    """

    words: str
    asked: Clarify | None
    before: Future | None
    preview: bool = False
    edit: Edit | None = None
    settled: Future = field(default_factory=Future)


class CorrectionListenerNode(BaseNode):
    """Reads utterances in threads and makes their edits in spoken order; a stop waits for none of this."""

    SETTINGS = (
        Setting("user", "", "who speaks, and whose lessons hold", may_change=True),
        Setting("patience", 10.0, "wall time after which words that are still being read are given up [s]", 0.5, 60.0),
        Setting("model", "embedded", "language model that reads corrections", choices=("embedded", "openai")),
        MEMORY,
        *AUDIO,
        *PLAN_SETTINGS,
    )

    def __init__(self, name: str, opened: Callable[[str], ReadWords] | None = None, **options: object) -> None:
        super().__init__(name, **options)
        self._opened = opened or self._open_reader

    def configure(self) -> None:
        self._viewpoint, self._library = viewpoint(self.setting("viewpoint")), library_of(self)
        self._session, self._waiting = DialogueSession(), list[Utterance]()
        self._status, self._next_status, self._silence = PlanStatus(), Future(), HeartbeatMonitor()
        self._planned, self._told = None, 0.0  # last status of a command that has no plan yet, and when [s, monotonic]
        self._deadlines = Deadlines(self)
        self._result = self.create_lifecycle_publisher(CorrectionResult, "correction_result", SPOKEN)
        self._transcript = self.create_lifecycle_publisher(String, "transcript", RELIABLE)
        self._commands = self.create_lifecycle_publisher(String, "language_command", RELIABLE)
        self._hear_model = published_exchanges(self)
        self._edit_plan = ServiceCaller(self, EditPlan, "edit_plan")
        self._stop = ServiceCaller(self, StopRobot, "stop")
        self._scenes = SceneFeed(self, 1.0, lambda restarted: restarted and self._follow_ups.forget())
        self._follow_ups = FollowUps(self, lambda: self._scenes.scene.held if self._scenes.scene else "", self._tell)
        self._voice, heard = SpokenAnswers(self), lambda words: self._on_text(String(data=words))
        self._lessons = PreferenceFeed(self, self._watch_plan)
        convert, unusable = lambda status: checked_status(status) and status, "a plan_status cannot be used: "
        told = checks.validated(self, convert, self._on_status, unusable)
        self.create_subscription(PlanStatus, "plan_status", told, LATCHED)
        self.create_subscription(CommandStatus, "command_status", self._on_command, COMMANDS)
        self.create_subscription(String, "correction", self._on_text, SPOKEN)
        self.create_subscription(String, "correction_preview", partial(self._on_text, preview=True), SPOKEN)
        voice = self._voice
        AudioFeed(self, self._vocabulary, self._hold, heard, lambda: voice.is_heard, voice.silence)
        self.every(0.25, self._watch)
        self.report_with(self._on_second)
        self._reader = ModelThread(self, lambda: self._opened(self.setting("model")))

    def _open_reader(self, model: str) -> ReadWords:
        """Open the reader; warm up the embedded one, since its first reading takes longest."""
        if model == "embedded":
            warm_up()
        return open_reader(model, self._hear_model).read

    def close(self) -> None:
        if hasattr(self, "_lessons"):
            self._lessons.close()
            self._voice.silence()

    def _watch(self) -> None:
        self._deadlines.watch()
        self._scenes.watch()
        self._silence.look(time.monotonic())
        if self._silence.seconds > EXECUTOR_PATIENCE:
            self._edit_plan.drop(LOST)

    # Arrival

    def _on_text(self, message: String, *, preview: bool = False) -> None:
        if not self.is_active:
            return
        try:
            checks.text("correction", message.data, WORDS_MAX)
        except LlmPlannerError as error:
            self._tell(message.data[:WORDS_MAX], Answer(Outcome.REFUSED, str(error)))
            return
        self._transcript.publish(message)
        self._hear(message.data, preview)

    def _hear(self, words: str, preview: bool) -> None:
        self.tell(f"correction “{words}”")
        stop = heard_stop(words)
        if stop in (Stop.AND_MORE, Stop.OF_SOMETHING):
            self._hold(words)
        if stop is Stop.ONLY:
            self._session.close_question()
            self._drop("dropped, because you said stop")
            self.background(self._stop_robot, words)
        elif len(self._waiting) >= MOST_WAITING:
            told = f"{MOST_WAITING} corrections are being read already; wait for one, or say stop to drop them all"
            self._tell(words, Answer(Outcome.REFUSED, told))
        else:
            before = self._waiting[-1].settled if self._waiting else None
            utterance = Utterance(words, self._session.question, before, preview)
            self._waiting.append(utterance)
            self.background(self._settle, utterance)

    def _drop(self, reason: str) -> None:
        """Abandon all waits that concern the running plan."""
        self._deadlines.drop(reason)
        self._edit_plan.drop(reason)

    def _hold(self, words: str) -> None:
        """Hold the robot at once after a stop word; the whole utterance is read later."""
        is_idle = self._status.executor != 0 and self._status.state not in UNDER_WAY  # False before the first status
        if self.is_active and not is_idle:
            request = EditPlan.Request(edit=edit_to_text(Edit((Hold(),), words)))
            self._edit_plan.call(request, HOLD_MAX, LOST).add_done_callback(Future.exception)

    def _vocabulary(self) -> Vocabulary:
        from llm_planner.speech.recognisers import vocabulary_of

        scene, asked = self._scenes.scene or Scene(0.0, ()), self._session.asked
        places = scene.building.names if scene.building else ()
        skills = (skill.name for skill in self._library.for_scene(scene).signatures)
        return vocabulary_of(scene.objects, places, asked.options if asked else (), skills)

    async def _stop_robot(self, words: str) -> None:
        """Stop the robot without asking a model, and publish the answer."""
        self._tell(words, await self._stopped(words))

    async def _stopped(self, words: str) -> Answer:
        """Stop the robot and return the answer; a stop also drops a command whose plan has not begun."""
        not_begun = self._not_begun
        try:
            request = StopRobot.Request(reason=f"you said “{words}”")
            response = await self._stop.call(request, EXECUTOR_PATIENCE, LOST)
        except LlmPlannerError as error:
            return Answer(Outcome.REFUSED, str(error))
        if response.error_code != StopRobot.Response.STOPPED and not_begun:
            return Answer(Outcome.APPLIED, f"“{not_begun}” had not begun and is dropped")
        return stop_answer(response.error_code == StopRobot.Response.STOPPED, response.error_msg)

    @property
    def _not_begun(self) -> str:
        """Command that waits or is being planned, as the planner reports every second; "" if there is none."""
        is_known = time.monotonic() - self._told <= COMMAND_MAX
        return self._planned.command if self._planned is not None and is_known else ""

    def _on_command(self, status: CommandStatus) -> None:
        if status.state in (CommandStatus.QUEUED, CommandStatus.PLANNING):
            self._planned, self._told = status, time.monotonic()
        elif self._planned is not None and status.id == self._planned.id:
            self._planned = None

    def _on_status(self, status: PlanStatus) -> None:
        before, self._status = self._status, status
        self._follow_ups.on_status(before, status)
        self._silence.heard()
        if before.executor not in (0, status.executor):
            self._drop(f"the plan executor was restarted, and the robot has stopped; {GO_ON}")
        following, self._next_status = self._next_status, Future(executor=self.executor)
        following.set_result(None)
        if self.is_active and self._scenes.scene is not None:
            self._lessons.on_status(status)

    # From utterance to result

    async def _settle(self, utterance: Utterance) -> None:
        """Process an utterance and publish its answer; only reflexes overtake earlier utterances."""
        try:
            turn = self._session.hear(utterance.words, utterance.asked, utterance.preview)
            answer = await _performed(turn, partial(self._perform_for, utterance))
        except LlmPlannerError as error:
            answer = Answer(Outcome.REFUSED, str(error), utterance.edit)
        except Exception as error:
            self.fault(f"the correction “{utterance.words}”", error)
            answer = Answer(Outcome.REFUSED, fault_message(error), utterance.edit)
        self._waiting.remove(utterance)
        utterance.settled.set_result(None)
        self._tell(utterance.words, answer)
        if (question := self._session.new_question()) is not None:
            self._tell("", question)

    async def _perform_for(self, utterance: Utterance, step: Step) -> object:
        match step:
            case Read():
                reading = await self._read(utterance, step)
                if utterance.before is not None and not is_reflex(reading.edit):
                    await utterance.before
                state, may_follow = self._status.state, self._follow_ups.may_follow(self._status, self._not_begun)
                held = state == PlanStatus.PAUSED
                return replace(reading, is_running=state in UNDER_WAY, is_held=held, is_over=may_follow)
            case Send(edit, only_check=only_check) if self._follow_ups.may_follow(self._status, self._not_begun):
                made = self._follow_ups.make(edit, self._follow_ups.reopened(self._situation(self._status)), only_check)
                return await self._deadlines.within(EDIT_MAX, made, NO_PLANNER)
            case AnswerWithoutPlan(edit) if self._not_begun and any(
                isinstance(one, Hold | Cancel) for one in edit.operations
            ):
                return await self._stopped(utterance.words)
            case AnswerWithoutPlan(edit):
                return self._without_plan(utterance.words, edit)
            case _:
                return await self._perform(step, self._status.plan_id)

    async def _watch_plan(self, status: PlanStatus) -> None:
        """Apply lessons to the plan in this state."""
        try:
            moving, done, dropped = (status.state == state for state in _WATCHED)
            seen = Seen(status.plan_id, self._situation(status), moving=moving, done=done, dropped=dropped)
            await _performed(self._session.watch(seen), partial(self._perform, plan_id=status.plan_id))
        except LlmPlannerError as error:
            self.get_logger().warning(f"no lessons are used for what the executor tells of: {error}")

    async def _perform(self, step: Step, plan_id: str) -> object:
        match step:
            case Send(edit, confirmed, only_check):
                text, late = edit_to_text(edit), f"the plan executor has not made the edit in {EDIT_MAX:g} s"
                request = EditPlan.Request(plan_id=plan_id, edit=text, confirmed=confirmed, only_check=only_check)
                response = await self._edit_plan.call(request, EDIT_MAX, late)
                status = _EDIT_STATUS.get(response.error_code, EditStatus.REFUSED)
                return EditResult(status, response.error_msg, tuple(response.difference), response.version)
            case Recall():
                return self._situation(self._status)
            case Consult(work):
                return await self._lessons.consult(work)
            case Tell(answer):
                return self._tell("", answer)

    async def _read(self, utterance: Utterance, step: Read) -> Reading:
        """Read an utterance; if the edit equals a stale one, read it again until a newer state shows."""
        while self._status.version < step.version:
            await self._deadlines.within(EXECUTOR_PATIENCE, self._next_status, LOST)
        reading, looks = await self._read_once(step.words, step.asked), 0
        while reading.edit == step.stale and looks < MOST_LOOKS:  # its effect has not arrived here yet
            await self._wait(LOOK)
            reading, looks = await self._read_once(step.words, step.asked), looks + 1
        utterance.edit = reading.edit
        return reading

    async def _read_once(self, words: str, asked: Clarify | None) -> Reading:
        await self._informed()
        if self._follow_ups.may_follow(self._status, self._not_begun):
            situation = self._follow_ups.reopened(self._situation(self._status, asked))
        else:
            status = self._status if self._status.state in UNDER_WAY else PlanStatus()
            situation = self._situation(status, asked).past_the_grasp()
        patience, reading = self.setting("patience"), self._reader.asked(lambda read: read(words, situation))
        late = f"I have not made out in {patience:g} s what that means; say it in other words"
        edit = replace(await self._deadlines.within(patience, reading, late), words=words)
        return reading_of(edit, situation, is_running=True)

    async def _informed(self) -> None:
        """Wait for the first plan status and a fresh scene, which a new node may not have received yet."""
        deadline = time.monotonic() + UNSEEN_MAX
        while (self._status.executor == 0 or not self._scenes.is_fresh) and time.monotonic() <= deadline:
            await self._deadlines.within(EXECUTOR_PATIENCE, self._next_status, LOST)
        if self._scenes.scene is None:
            raise NoAnswerError(NO_SCENE)

    async def _wait(self, seconds: float) -> None:
        """Wait for `seconds` [s, wall time] while the executor is alive."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            await self._deadlines.within(EXECUTOR_PATIENCE, self._next_status, LOST)

    def _situation(self, status: PlanStatus, asked: Clarify | None = None) -> Situation:
        scene = self._scenes.scene or Scene(0.0, ())
        skills = {skill.name: skill for skill in self._library.for_scene(scene).signatures}
        return situation_from_msg(status, scene, skills, self._viewpoint, asked)

    def _without_plan(self, words: str, edit: Edit) -> Answer:
        """Answer an utterance while no plan is running; pass "go on" to the planner as a command."""
        if not is_go_on(words):
            left = self._status.message if self._status.state == PlanStatus.IDLE else ""
            return Answer(Outcome.NOTHING, f"{NO_PLAN} ({left})" if left else NO_PLAN, edit)
        if self._commands.get_subscription_count() == 0:
            return Answer(Outcome.REFUSED, NO_PLANNER, edit)
        self._commands.publish(String(data=words))
        return Answer(Outcome.APPLIED, "the language planner is asked to go on with what was left", edit)

    def _tell(self, words: str, answer: Answer) -> None:
        self.tell(f"{answer.outcome.value}: {answer.message}")
        stamp = Header(stamp=self.get_clock().now().to_msg())
        self._result.publish(result_to_msg(answer, words, self.setting("user"), stamp))

    def _on_second(self) -> None:
        level, told = (OK, "reads") if self._reader.is_ready else (WARN, "what reads corrections is not ready")
        self.report(level, told, [("waiting", len(self._waiting)), ("model", self.setting("model"))])


async def _performed(turn: Turn[ResultT], perform: Callable[[Step], Awaitable[object]]) -> ResultT:
    """Perform the steps of a turn and return its result; raise what `perform` raises."""
    reply: object = None
    while True:
        try:
            step = turn.send(reply)
        except StopIteration as end:
            result: ResultT = end.value
            return result
        reply = await perform(step)


def main() -> None:
    run_node(CorrectionListenerNode, "correction_listener")


if __name__ == "__main__":
    main()
