"""One command's conversation: what is said to a plan under way, what comes of it, and what is remembered.

With no ROS and no clock of its own: whoever drives the plan shows each state, hands in what is said, and goes on with
the state that comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from llm_planner.correction.dialogue import SILENT, Answer, Outcome, Send, heard, is_reflex, made
from llm_planner.correction.learner import Learner, Told, of_memory
from llm_planner.correction.lesson_application import Application, applied_to_plan, applied_to_step
from llm_planner.correction.memory.lesson import Occasion
from llm_planner.correction.memory.memory import Memory
from llm_planner.correction.memory.retrieval import Use
from llm_planner.correction.reading import CorrectionReader
from llm_planner.correction.situation import Situation, situation_of
from llm_planner.errors import LlmPlannerError
from llm_planner.plan.draft import StaleEditError
from llm_planner.plan.edit_motion import step_under_way
from llm_planner.plan.editing import edited
from llm_planner.plan.edits import Clarify, Edit
from llm_planner.plan.events import Command
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.plan import Outcome as Ended
from llm_planner.plan.plan import StepStatus


@dataclass(frozen=True)
class Reply:
    """The execution to go on with, what is to be done at once, and what the person is told and asked.

    `answer` is what became of their words, None where they said nothing.
    """

    state: Execution
    commands: tuple[Command, ...] = ()
    told: Told = ()
    question: Clarify | None = None
    answer: Answer | None = None


class Conversation:
    """With one person about one command. `occasion()` says who that is, during which command, and when."""

    def __init__(self, reader: CorrectionReader, memory: Memory, occasion: Callable[[], Occasion]) -> None:
        self._reader, self._learner = reader, Learner(memory, occasion)
        self._dialogue, self._edits = SILENT, tuple[Edit, ...]()
        self._over, self._step = frozenset[str](), ""

    @property
    def question(self) -> Clarify | None:
        """The one that is open."""
        return self._dialogue.asked or self._learner.question

    @property
    def uses(self) -> tuple[Use, ...]:
        """The lessons that have come into force, and for which steps."""
        return self._learner.uses

    def _situation(self, state: Execution) -> Situation:
        return situation_of(state, self._edits, self.question)

    def _spoken_of(self, state: Execution) -> Situation:
        """What words are about."""
        return self._situation(state).past_the_grasp()

    # The plan goes on

    def planned(self, state: Execution) -> Reply:
        """What lessons are for the steps ahead is applied to the plan, and told. `state` has seen a scene."""
        found = self._learner.recall(self._situation(state))
        told = self._learner.announcement(found)
        done = applied_to_plan(state, found)
        told += self._applied(done)
        return Reply(done.state, done.commands, told, self.question)

    def looked(self, state: Execution) -> Reply:
        """To be shown every state of the plan: what lessons are for a step comes into force when it begins, before the
        robot has moved."""
        told, step = self._steps_ended(state), state.run.step.id if state.run else ""
        if step in ("", self._step):
            return Reply(state, told=told, question=self.question)
        begun = self.planned(state)
        now = step_under_way(begun.state)
        if now is None or now.id != step:  # lessons have put something else before it
            return replace(begun, told=told + begun.told)
        self._step = step
        done = applied_to_step(begun.state, self._learner.uses_in(step))
        told += begun.told + self._applied(done)
        return replace(begun, state=done.state, told=told, question=self.question)

    def ended(self, state: Execution) -> Reply:
        """The command is over; what was told of it is kept if it has succeeded."""
        succeeded = state.end is not None and state.end.reason.outcome is Ended.DONE
        told = self._steps_ended(state) + self._learner.command_ended(succeeded)
        return Reply(state, told=told, question=self.question)

    def _steps_ended(self, state: Execution) -> Told:
        told: Told = ()
        for step in state.plan.steps:
            if step.status in (StepStatus.DONE, StepStatus.FAILED) and step.id not in self._over:
                told += self._learner.step_ended(step.id, step.status is StepStatus.DONE)
                self._over |= {step.id}
        return told

    def _applied(self, done: Application) -> Told:
        self._edits += (done.edit,) if done.edit else ()
        self._learner.applied(done.uses)
        return self._learner.refused(done.refused)

    # Something is said

    def heard(self, words: str, state: Execution) -> Reply:
        """What the words do: to the plan, to what is remembered, or to the question that is open."""
        situation = self._spoken_of(state)
        by_memory = self._dialogue.asked is None and self._learner.question is not None
        if by_memory and (told := self._learner.chosen(words)):
            return self._said(state, told, Edit((), words))
        edit = self._reader.read(words, situation)
        if by_memory and edit.operations:
            told = self._learner.answered(edit)
            if told:
                return self._said(state, told, edit)
        asked, rest = of_memory(edit)
        reply = self._carried_out(state, rest) if rest.operations or not asked else self._said(state, (), edit)
        told = tuple(line for one in asked for line in self._learner.asked_for(one))
        return replace(reply, told=reply.told + told, question=self.question)

    def _said(self, state: Execution, told: Told, edit: Edit) -> Reply:
        return Reply(state, (), told, self.question, Answer(Outcome.APPLIED, "", edit))

    def _carried_out(self, state: Execution, edit: Edit) -> Reply:
        self._dialogue, step = heard(self._dialogue, edit)
        reply = Reply(state)
        while isinstance(step, Send):
            edit = step.edit
            try:
                reply, step = self._made(state, step)
            except StaleEditError as error:  # it was asked before the plan changed
                anew = self._reader.read(edit.words, self._spoken_of(state))
                self._dialogue, step = heard(SILENT, anew)
                if anew == edit:  # what is over was meant
                    step = Answer(Outcome.REFUSED, str(error), edit)
            except LlmPlannerError as error:
                step = Answer(Outcome.REFUSED, str(error), edit)
        told = (step.message, *reply.told) if step.outcome is not Outcome.QUESTION else reply.told
        return replace(reply, told=told, question=self.question, answer=step)

    def _made(self, state: Execution, send: Send) -> tuple[Reply, Answer]:
        """The edit made, and what it teaches; only looked at where it has to be confirmed first."""
        result = edited(state, send.edit, send.confirmed)
        situation = self._spoken_of(state)
        self._dialogue, answer = made(send, result.difference)
        if send.only_check:
            return Reply(state), answer
        if is_reflex(send.edit):
            return Reply(result.state, result.commands), answer
        self._edits += (send.edit,)
        return Reply(result.state, result.commands, self._learner.taught(send.edit, situation)), answer
