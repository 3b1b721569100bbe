"""Planner of `llm-planner plan` and `run` that uses a language model and counts its usage."""

from __future__ import annotations

import contextlib
import functools
import sys
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
    """Plans commands, each of which may answer the last question; opens the model at the first command."""

    def __init__(
        self,
        open_model: Callable[[], LanguageModel],
        library: SkillLibrary,
        viewpoint: Viewpoint,
        settings: PlanningSettings,
    ) -> None:
        self._model = functools.cache(lambda: CountedModel(open_model(), waiting))
        self._library, self._viewpoint, self._settings = library, viewpoint, settings
        self._exchanges: tuple[Exchange, ...] = ()
        self._asked: Asked | None = None

    def __call__(self, command: str, scene: Scene) -> Planned:
        """Plan a command in a scene; raise as `plan_command`."""
        words = clean_command(command)  # before a model is opened
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

    def told(self, report: Report) -> Report:
        """Return the report with the model's usage since the last report."""
        if not self._model.cache_info().currsize:
            return report
        model = self._model()
        told, model.usage = replace(report, usage=model.usage), Usage()
        return told

    def remember(self, report: Report) -> None:
        """Add the result of a command to the exchanges that later commands show to the model."""
        program = report.plan.program if report.plan else ""
        exchange = Exchange(report.command, program, f"{report.outcome.value}: {report.message}")
        self._exchanges = (*self._exchanges, exchange)[-MAX_EXCHANGES:]


def waiting() -> AbstractContextManager[object]:
    """Show a spinner while a model runs, if standard error is a terminal."""
    if not sys.stderr.isatty():
        return contextlib.nullcontext()
    from rich.console import Console

    return Console(stderr=True).status("the model is thinking")
