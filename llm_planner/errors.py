"""Exception hierarchy of the package.

LlmPlannerError            base class; the command line prints the message as one paragraph
├── InputError             the user typed or configured a wrong value
├── ProgramError           a policy program may not run (carries every problem found)
├── QuestionError          the command is unclear: ask the person, move nothing
├── PrivilegeError         the source of a command lacks a privilege (carries the decision)
├── SkillError             a skill cannot start or has failed (carries a typed code)
├── JobError               work handed to a process or another machine failed; the message names the job
├── EditError              a running plan cannot be edited this way; StaleEditError: it has changed since
├── SpeechError            speech cannot be heard: no microphone, no recogniser, unreadable sound
├── LanguageModelError     the language model did not answer, or its answer is unusable
└── SimulationError        the simulated world cannot be built, stepped or rendered
"""

from __future__ import annotations


class LlmPlannerError(Exception):
    """Base class of all errors that this package raises on purpose."""


class InputError(LlmPlannerError):
    """A value from the user is wrong; the message names the value, the valid choices and the next step."""


class QuestionError(LlmPlannerError):
    """The command needs an answer from the person first; the message is the question."""


class ProposalError(QuestionError):
    """The planner proposes what the command probably means; the person answers yes or no."""


class AlreadySatisfiedError(QuestionError):
    """The scene already satisfies the command."""


class LanguageModelError(LlmPlannerError):
    """The language model did not answer in time, or its answer could not be used."""


class SimulationError(LlmPlannerError):
    """A simulated world cannot be built, stepped or rendered."""


def fault_message(error: BaseException) -> str:
    """Return the user-facing message for an unexpected exception."""
    return f"this failed by a fault of this program ({type(error).__name__}: {error})"
