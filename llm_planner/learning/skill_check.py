"""Check of one skill: it is loaded, predicts its motion, and carries out a drawn call in simulation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.execution.execution_state import Execution, Phase
from llm_planner.learning.commands import draw_arguments, draw_command, program_of
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planning import plan_program
from llm_planner.planning.report import Report
from llm_planner.plans.plan import Outcome, in_base_words
from llm_planner.plans.trace import foresee_motion, no_forecast
from llm_planner.scene.places import BEHIND
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillError
from llm_planner.skills.library import SkillLibrary, load_skills, read_skill
from llm_planner.skills.manifest import Manifest
from llm_planner.skills.skill_code import MOBILE

CALLS = 3  # drawn calls, the scene of each from its own seed: a skill may refuse one with reason


@dataclass(frozen=True)
class SkillCheck:
    """Result of a check.

    Attributes:
        program: Program that was run, "" if none was.
        seconds: Its duration in simulation [s].
        fault: Why the skill fails the check, "" if it passes.
        doubt: Why its motion is not foreseen, "" if it is.
    """

    program: str = ""
    seconds: float = 0.0
    fault: str = ""
    doubt: str = ""


def check_skill(path: Path) -> SkillCheck:
    """Check the skill of the manifest `path`, moved by its code.

    It passes if one of `CALLS` drawn calls succeeds and its plan has no fault. If no call can be drawn, it passes
    without a `program`, and `doubt` gives the reason.
    """
    try:
        skill = read_skill(path, learned=False)
        shipped = load_skills(learned=False)
    except InputError as error:
        return SkillCheck(fault=str(error))
    if skill is None:
        return SkillCheck(doubt="it was not run: it sees where to act, which needs a camera")
    library = SkillLibrary({**shipped.skills, skill.name: skill})
    failed: SkillCheck | None = None
    undrawn = ""
    for seed in range(CALLS):
        try:
            program, world = _drawn(skill.manifest, seed)
        except InputError as error:
            undrawn = str(error)
            continue
        check = _run(program, world, library, skill.name)
        if not check.fault:
            return check
        failed = failed or check
    return failed or SkillCheck(doubt=f"it was not run: {undrawn}")


def _drawn(manifest: Manifest, seed: int) -> tuple[str, World | RoomsWorld]:
    """Draw a program that calls the skill, and a world to run it in."""
    if manifest.robot != MOBILE:
        command = draw_command(manifest, seed)
        return command.program, command.open_world()
    world = RoomsWorld(seed)
    arguments, held = draw_arguments(manifest, world.scene(), np.random.default_rng(seed))
    return program_of(manifest.name, arguments, "pick_up" if held else "", held), world


def _run(program: str, world: World | RoomsWorld, library: SkillLibrary, name: str) -> SkillCheck:
    doubts: list[str] = []
    skill = library.find(name).signature

    def foresee_call(state: Execution) -> None:
        """Forecast the call of the skill from the scene in which it starts."""
        if doubts or state.scene is None or state.run is None or state.run.step.skill != name:
            return
        if state.phase is Phase.RUNNING:
            values = in_base_words(skill, state.run.step.arguments, BEHIND)
            try:
                doubts.append(foresee_motion(skill, values, state.scene, state.origins).doubt)
            except (InputError, SkillError) as error:
                doubts.append(f"the plan of the skill {name} refuses the call: {error}")

    report: Report = run_command(
        program,
        Workcell(world, library),
        lambda scene: plan_program(program, program, scene, library.for_scene(scene).signatures),
        on_change=foresee_call,
    )
    doubt = doubts[0] if doubts else ""
    if report.outcome is not Outcome.DONE:
        return SkillCheck(program, report.duration, fault=report.message)
    if doubt not in ("", no_forecast(skill)):
        return SkillCheck(program, report.duration, fault=doubt)
    return SkillCheck(program, report.duration, doubt=doubt)
