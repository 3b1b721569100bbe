"""Every error a user can meet, as one tree.

LlmPlannerError            anything below; the command line prints it as one paragraph
├── InputError             what the user typed or configured: a value, its valid choices, the next step
├── ProgramError           a policy program that may not run (carries every problem found)
├── QuestionError          the command is unclear: ask the person, move nothing
├── PrivilegeError         the source of a command may not have that done (carries the decision)
├── SkillError             a skill cannot start or has failed (carries a typed code)
├── JobError               work handed to a process or another machine failed; the message names the job
├── EditError              a running plan cannot be edited so; StaleEditError: it has changed since
├── SpeechError            nothing can be heard: no microphone, no recogniser, sound that cannot be read
├── LanguageModelError     the language model did not answer, or not usably
└── SimulationError        the simulated world cannot be built, stepped or rendered
"""

from __future__ import annotations


class LlmPlannerError(Exception):
    """Base of all errors raised on purpose by this package."""


class InputError(LlmPlannerError):
    """A value given by the user is wrong; the message names it, the valid choices and the next step."""


class QuestionError(LlmPlannerError):
    """The command cannot be carried out without asking the person; the message is the question."""


class ProposalError(QuestionError):
    """Whether what the command probably asks for is to be done: a question to answer with yes or no."""


class SoAlreadyError(QuestionError):
    """What the command asks for is so already."""


class LanguageModelError(LlmPlannerError):
    """The language model did not answer in time, or its answer could not be used."""


class SimulationError(LlmPlannerError):
    """A simulated world cannot be built, stepped or rendered."""


def fault_message(error: BaseException) -> str:
    """Return what a person is told of an exception that nobody foresaw."""
    return f"this failed by a fault of this program ({type(error).__name__}: {error})"
