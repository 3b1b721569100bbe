"""Dialogue about a command that runs in this process; each step of a turn is carried out at once."""

from __future__ import annotations

from llm_planner.corrections.dialogue_session import (
    AnswerWithoutPlan,
    Consult,
    DialogueSession,
    EditResult,
    EditStatus,
    Read,
    Recall,
    ResultT,
    Send,
    Step,
    Tell,
    Turn,
    reading_of,
)
from llm_planner.corrections.draft import StaleEditError
from llm_planner.corrections.editing import Edited, acts_in_motion, edited, with_lesson
from llm_planner.corrections.edits import NO_PLAN, Answer, Edit, Outcome
from llm_planner.corrections.learner import PlanFollower, Seen
from llm_planner.corrections.preferences.memory import Memory
from llm_planner.corrections.preferences.preference import Occasion
from llm_planner.corrections.reading import CorrectionReader
from llm_planner.corrections.situation import situation_of
from llm_planner.errors import LlmPlannerError
from llm_planner.execution.execution_state import Command, Execution, Phase
from llm_planner.plans.plan import Outcome as Ended


class InProcessDialogue:
    """Dialogue with one person about one command; `occasion` gives the person, the command and the time.

    `state` is the execution with all edits, `commands` are the commands that the edits have issued, and `told` are the
    sentences that the person has received.
    """

    def __init__(self, reader: CorrectionReader, memory: Memory, occasion: Occasion) -> None:
        self.session, self.follower = DialogueSession(), PlanFollower(memory, lambda command: occasion)
        self.commands, self.told = list[Command](), list[str]()
        self._reader, self._command = reader, occasion.command
        self._edits, self._last = tuple[Edit, ...](), tuple[object, ...]()

    def look(self, state: Execution) -> Execution:
        """Process a state of the plan that has observed a scene; return the state to continue with."""
        self.state = state
        while (now := (self.state.phase, self.state.version, self.state.plan.steps)) != self._last:
            self._last = now
            moving = self.state.phase not in (Phase.PAUSED, Phase.ENDED)
            self._do(self.session.watch(Seen(self._command, situation_of(self.state, self._edits), moving)))
        return self.state

    def end(self, state: Execution) -> None:
        """Finish the command, with all plans made for it."""
        done = state.end is not None and state.end.reason.outcome is Ended.DONE
        self.state, situation = state, situation_of(state, self._edits)
        self._do(self.session.watch(Seen(self._command, situation, done=done, dropped=not done)))

    def hear(self, words: str, state: Execution) -> Answer:
        """Answer an utterance; the execution continues with `self.state`."""
        self.state = state
        try:
            answer = self._do(self.session.hear(words, self.session.question))
        except LlmPlannerError as error:
            answer = Answer(Outcome.REFUSED, str(error))
        question = self.session.new_question()
        self.told += [one.message for one in (answer, question) if one is not None]
        return answer

    def _do(self, turn: Turn[ResultT]) -> ResultT:
        reply: object = None
        while True:
            try:
                step = turn.send(reply)
            except StopIteration as end:
                result: ResultT = end.value
                return result
            reply = self._done(step)

    def _done(self, step: Step) -> object:
        match step:
            case Read(words, asked):
                situation = situation_of(self.state, self._edits, asked).past_the_grasp()
                is_running = self.state.phase is not Phase.ENDED
                is_held = self.state.phase is Phase.PAUSED
                return reading_of(self._reader.read(words, situation), situation, is_running, is_held)
            case Send():
                return self._sent(step)
            case Consult(work):
                return work(self.follower)
            case Tell(answer):
                self.told.append(answer.message)
                return None
            case Recall():
                return situation_of(self.state, self._edits)
            case AnswerWithoutPlan(edit):
                return Answer(Outcome.NOTHING, NO_PLAN, edit)

    def _sent(self, send: Send) -> EditResult:
        try:
            result = _edited(self.state, send)
        except StaleEditError as error:
            return EditResult(EditStatus.STALE, str(error), version=self.state.version)
        except LlmPlannerError as error:
            return EditResult(EditStatus.REFUSED, str(error))
        if not send.only_check:
            self.state, self._edits = result.state, (*self._edits, *([send.edit] if result.difference else ()))
            self.commands += result.commands
        return EditResult(EditStatus.ACCEPTED, difference=result.difference)


def _edited(state: Execution, send: Send) -> Edited:
    """Apply a lesson's motion change without a new version or undo; apply other edits as usual."""
    if not send.edit.words and acts_in_motion(send.edit):
        return Edited(with_lesson(state, send.edit.operations))
    return edited(state, send.edit, send.confirmed)
