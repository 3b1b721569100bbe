"""Planning settings from options and parameters: rehearsal, privileges and source of commands."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.errors import InputError
from llm_planner.planning.planned import PlanningSettings
from llm_planner.planning.rehearsal import Rehearsal
from llm_planner.plans.privileges.policy import EVERYTHING, read_policy
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import SkillLibrary

if TYPE_CHECKING:
    from llm_planner.planning.planned import Planned


REHEARSALS = ("off", "symbolic", "full")
PATIENCE = 30.0  # [s] wall time of a rehearsal in simulation


def planning_settings(
    rehearsal: str, privileges: Path | None, source: str, library: SkillLibrary, viewpoint: Viewpoint
) -> PlanningSettings:
    """Make the settings from a rehearsal (one of `REHEARSALS`), a policy file and a source of commands.

    Raises InputError for an unknown rehearsal and for an invalid policy file.
    """
    if rehearsal not in REHEARSALS:
        raise InputError(f"the rehearsal must be one of {', '.join(REHEARSALS)}, not {rehearsal!r}")
    policy = EVERYTHING if privileges is None else read_policy(privileges, library.signatures)
    fully = _in_simulation(library, viewpoint) if rehearsal == "full" else None
    return PlanningSettings(policy=policy, source=source, ask=rehearsal != "off", rehearse_fully=fully)


def _in_simulation(library: SkillLibrary, viewpoint: Viewpoint) -> Callable[[Planned, Scene], Rehearsal]:
    from llm_planner.planning.full_rehearsal import full_rehearsal
    from llm_planner.simulation.world import copy_of

    return full_rehearsal(library, copy_of, viewpoint, PATIENCE, time.monotonic)
