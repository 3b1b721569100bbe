"""What a rehearsed plan is expected to do, step by step, as facts for people and recordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llm_planner.planning.rehearsal import Rehearsal
from llm_planner.planning.report import rehearsal_json
from llm_planner.plans.plan import PlanStep, goals_of, in_base_words
from llm_planner.plans.trace import forecasts_of
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene, Vector3


def foretold(
    steps: Sequence[PlanStep],
    skills: Iterable[Signature],
    scene: Scene,
    viewpoint: Viewpoint,
    origins: Mapping[str, Vector3] | None = None,
) -> list[dict[str, Any]]:
    """Return what each step should bring about, up to the first one that cannot be foreseen.

    Args:
        steps: Steps to come, from `scene` on.
        skills: Skills that they may call.
        scene: Scene before the first step.
        viewpoint: Viewpoint of the arguments.
        origins: Position of each object when it last lay on its own [m]; by default that of `scene`.

    Returns:
        For each step `id`, `call`, `effects` (sentences), `seconds` and `metres` (approximate duration and distance),
        and `doubt`: why the motion is not foreseen, "" if it is.
    """
    known = {skill.name: skill for skill in skills}
    lay = {item.name: item.position for item in scene.objects} if origins is None else origins
    told = []
    for step, foreseen in forecasts_of(steps, known, scene, lay, viewpoint):
        skill = known[step.skill]
        goals = goals_of(skill, step.id, in_base_words(skill, step.arguments, viewpoint), foreseen.before, lay)
        told.append(
            {
                "id": step.id,
                "call": str(step),
                "effects": [goal.sentence(viewpoint) for goal in goals],
                "seconds": round(foreseen.seconds, 1),
                "metres": round(foreseen.way.metres, 2),
                "doubt": foreseen.doubt,
            }
        )
    return told


def forecast_json(plan_id: str, rehearsal: Rehearsal, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a rehearsal and what its plan's steps should bring about as plain values."""
    return {"plan_id": plan_id, "rehearsal": rehearsal_json(rehearsal), "steps": list(steps)}
