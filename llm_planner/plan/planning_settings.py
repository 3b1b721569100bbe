"""What is settled before a command comes: how plans are rehearsed, what their source may do, how readings vote."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.errors import InputError
from llm_planner.language.model import Exchange
from llm_planner.language.understanding.understand import SAMPLES, TEMPERATURE
from llm_planner.plan.rehearsal import Rehearsal
from llm_planner.privileges.decision import Decision, check_call
from llm_planner.privileges.policy import EVERYTHING, Policy
from llm_planner.privileges.policy_file import read_policy
from llm_planner.program.interpreter import SkillCall
from llm_planner.skills.library import SkillLibrary
from llm_planner.world.places import Viewpoint
from llm_planner.world.scene import Scene

if TYPE_CHECKING:
    from llm_planner.plan.planning import Planned

REHEARSALS = ("off", "symbolic", "full")
PATIENCE = 30.0  # [s] of wall time for a rehearsal in simulation


@dataclass(frozen=True)
class PlanningSettings:
    """How a command is read, what its `source` may have the robot do, and how its plan is rehearsed.

    Up to `samples` readings vote, drawn at `temperature` from `seed`; as many programs are sampled, to choose among
    under constraints, and to go on with where a step fails. Every plan is rehearsed symbolically, and one that would
    break a constraint is refused. `ask`: the person is asked about one that only may, or shoves what it does not speak
    of. `rehearse_fully` runs the plan in a copy of the simulation besides. `clock` [s] is the one by which a search for
    a plan gives up. `exchanges` are the commands before, the newest last, for a large model.
    """

    samples: int = SAMPLES
    temperature: float = TEMPERATURE
    seed: int = 0
    policy: Policy = EVERYTHING
    source: str = "cli"
    ask: bool = True
    rehearse_fully: Callable[[Planned, Scene], Rehearsal] | None = None
    clock: Callable[[], float] = time.thread_time
    exchanges: tuple[Exchange, ...] = ()

    def permit(self, call: SkillCall, scene: Scene) -> Decision:
        """Whether the source may have a call done now."""
        return check_call(self.policy, self.source, call, scene)


DEFAULTS = PlanningSettings()


def planning_settings(
    rehearsal: str, privileges: Path | None, source: str, library: SkillLibrary, viewpoint: Viewpoint
) -> PlanningSettings:
    """The settings that options and parameters name: one of `REHEARSALS`, a policy file and the source of commands.

    Raises InputError for an unknown rehearsal and for a policy file that is wrong.
    """
    if rehearsal not in REHEARSALS:
        raise InputError(f"the rehearsal must be one of {', '.join(REHEARSALS)}, not {rehearsal!r}")
    policy = EVERYTHING if privileges is None else read_policy(privileges, library.signatures)
    fully = _in_simulation(library, viewpoint) if rehearsal == "full" else None
    return PlanningSettings(policy=policy, source=source, ask=rehearsal != "off", rehearse_fully=fully)


def _in_simulation(library: SkillLibrary, viewpoint: Viewpoint) -> Callable[[Planned, Scene], Rehearsal]:
    from llm_planner.plan.full_rehearsal import full_rehearsal
    from llm_planner.simulation.copies import copy_of

    return full_rehearsal(library, copy_of, viewpoint, PATIENCE, time.monotonic)
