"""Planner of successive commands, which remembers the latest ones and accepts answers to their questions."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from llm_planner.corrections.command_answers import Asked, meant_by
from llm_planner.errors import QuestionError
from llm_planner.language.model import CountedModel, Exchange, LanguageModel, Usage
from llm_planner.language.program_synthesis import clean_command
from llm_planner.language.prompt import MAX_EXCHANGES
from llm_planner.planning.planned import Planned, PlanningSettings
from llm_planner.planning.planning import plan_command
from llm_planner.planning.report import Report
from llm_planner.scene.places import Viewpoint
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
    """

    def __init__(
        self,
        open_model: Callable[[], LanguageModel],
        library: SkillLibrary,
        viewpoint: Viewpoint,
        settings: PlanningSettings,
        waiting: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext,
    ) -> None:
        self._model = functools.cache(lambda: CountedModel(open_model(), waiting))
        self._library, self._viewpoint, self._settings = library, viewpoint, settings
        self._exchanges: tuple[Exchange, ...] = ()
        self._asked: Asked | None = None

    def __call__(self, command: str, scene: Scene) -> Planned:
        """Plan the command; raises the errors of `plan_command`."""
        words = clean_command(command)  # raises before the model is opened
        model = self._model()
        settings = replace(self._settings, exchanges=self._exchanges)
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
