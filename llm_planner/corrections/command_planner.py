"""Planner of successive commands, which remembers the latest ones and accepts answers to their questions.

An answer such as "the blue one" completes the command that raised the question; "yes" confirms the proposed reading.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from llm_planner.corrections.references import answered, unclear_words
from llm_planner.corrections.reflexes import plain_words, read_reflex
from llm_planner.errors import LlmPlannerError, ProposalError, QuestionError
from llm_planner.language.correction_requests import Intent
from llm_planner.language.model import CountedModel, Exchange, LanguageModel, Usage
from llm_planner.language.program_synthesis import clean_command
from llm_planner.language.prompt import MAX_EXCHANGES
from llm_planner.planning.planned import Planned, PlanningSettings
from llm_planner.planning.planning import asked_of_any_plan, formal_rules, plan_command, plan_program
from llm_planner.planning.report import Report
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import SkillLibrary


class CommandPlanner:
    """Planner of commands; a command may answer the question that the previous one raised.

    Args:
        open_model: Opens the language model when the first command needs it.
        library: Skills that plans may use.
        viewpoint: Where the speaker stands.
        settings: Settings of reading and rehearsal.
        waiting: Makes a context manager that is entered during requests to the model.
        rules: Formulas that every plan must keep.
    """

    def __init__(
        self,
        open_model: Callable[[], LanguageModel],
        library: SkillLibrary,
        viewpoint: Viewpoint,
        settings: PlanningSettings,
        waiting: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext,
        rules: tuple[str, ...] = (),
    ) -> None:
        self._model = functools.cache(lambda: CountedModel(open_model(), waiting))
        self._library, self._viewpoint, self._settings, self._rules = library, viewpoint, settings, rules
        self._exchanges: tuple[Exchange, ...] = ()
        self._asked: Asked | None = None

    def __call__(self, command: str, scene: Scene) -> Planned:
        """Plan the command; raises the errors of `plan_command`."""
        words, rules = clean_command(command), formal_rules(self._rules, scene)  # raise before the model is opened
        model = self._model()
        settings = replace(self._settings, exchanges=self._exchanges, rules=(*self._settings.rules, *rules))
        asked, self._asked = None if model.is_large else self._asked, None
        meant = meant_by(words, asked, scene, self._viewpoint)
        skills = self._library.for_scene(scene).signatures
        try:
            return plan_command(meant.command, scene, skills, meant.model(model), self._viewpoint, settings)
        except QuestionError as question:
            self._asked = meant.asked(question)
            raise

    def with_cost(self, report: Report) -> Report:
        """Return the report with the usage of the model since the previous report."""
        if not self._model.cache_info().currsize:
            return report
        model = self._model()
        counted, model.usage = replace(report, usage=model.usage), Usage()
        return counted

    def remember(self, report: Report) -> None:
        """Remember the command and its result as context for later requests to the model."""
        program = report.plan.program if report.plan else ""
        exchange = Exchange(report.command, program, f"{report.outcome.value}: {report.message}")
        self._exchanges = (*self._exchanges, exchange)[-MAX_EXCHANGES:]


def program_planner(
    text: str,
    model: Callable[[], LanguageModel] | None,
    library: SkillLibrary,
    viewpoint: Viewpoint,
    settings: PlanningSettings,
    rules: tuple[str, ...] = (),
) -> Callable[[str, Scene], Planned]:
    """Return a function that plans a written program for a command in a scene.

    Args:
        text: Policy program.
        model: Returns the model that reads goals and rules in the command; None if these are not asked for.
        library: Skills that the program may call.
        viewpoint: Viewpoint of the program's places.
        settings: Settings of the planning.
        rules: Formulas that the plan must keep.
    """

    def planned(command: str, scene: Scene) -> Planned:
        words = clean_command(command)
        asked = asked_of_any_plan(words, scene, model(), settings) if model else ()
        asked = (*formal_rules(rules, scene), *asked)
        return plan_program(words, text, scene, library.for_scene(scene).signatures, viewpoint, settings, asked)

    return planned


@dataclass(frozen=True)
class Asked:
    """Open question about `command`; if `proposed`, a yes confirms the proposed reading of the command."""

    command: str
    question: str
    proposed: bool = False


@dataclass(frozen=True)
class Meant:
    """Command that the person means; if `guessed`, the person wants the model's best guess of its meaning."""

    command: str
    guessed: bool = False

    def model(self, model: LanguageModel) -> LanguageModel:
        """Return the language model that reads the command."""
        return model.guess or model if self.guessed else model

    def asked(self, error: LlmPlannerError) -> Asked | None:
        """Return the question that is open after the command ended with `error`, None if it is not a question."""
        is_question = isinstance(error, QuestionError)
        return Asked(self.command, str(error), isinstance(error, ProposalError)) if is_question else None


def meant_by(words: str, asked: Asked | None, scene: Scene, viewpoint: Viewpoint = BEHIND) -> Meant:
    """Return the command that `words` mean while a question is open: a new command, or the completed old one.

    Raises QuestionError after a no, to ask for other words.
    """
    if asked is None:
        return Meant(words)
    reflex = read_reflex(words, asked=True)
    intent = reflex.intent if reflex is not None else None
    if asked.proposed and intent is Intent.YES:
        return Meant(asked.command, guessed=True)
    if asked.proposed and intent is Intent.NO:
        raise QuestionError("Nothing is done. Please say it in other words.")
    rooms, said = scene.building.names if scene.building else (), plain_words(words)
    names = [room for room in rooms if said.removeprefix("the ").removeprefix("in the ") == room]
    found = names or [item.name for item in answered(words, scene, viewpoint)]
    if len(found) > 1:
        found = [name for name in found if name in asked.question]
    unclear = unclear_words(asked.command, asked.question, found[0], scene) if len(found) == 1 else ""
    return Meant(asked.command.replace(unclear, found[0], 1) if unclear else words)
