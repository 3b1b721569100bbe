"""Looks ahead: runs a program over predicted scenes, so that a person sees the steps before anything moves.

The same walk rehearses the plan: a skill whose preconditions would not be met stops it before it starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from llm_planner.errors import QuestionError
from llm_planner.plan.foresight import NoRoom, known_things, landing, still_known
from llm_planner.plan.plan import Goal, Plan, PlanStep, goals_of, in_base_words, still_wanted
from llm_planner.plan.prediction import predict
from llm_planner.program.interpreter import Finished, Interpreter, SkillCall
from llm_planner.program.problems import Problem, ProgramError
from llm_planner.program.signatures import Signature
from llm_planner.skills.contract import Argument
from llm_planner.world.atoms import Moment, holds
from llm_planner.world.places import Viewpoint
from llm_planner.world.scene import Scene, SceneObject, Vector3


@dataclass(frozen=True)
class Forecast:
    """The steps that lie ahead, the scene they should lead to and the goals it will be judged by.

    `complete` is False where the forecast had to end early: the rest depends on what only the real scene can show.
    `told` is what the program says to the person on the way; `doubts` are steps that put something where there will be
    no room, as far as can be foreseen.
    """

    steps: tuple[PlanStep, ...]
    scene: Scene
    goals: tuple[Goal, ...]
    complete: bool
    not_found: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    doubts: tuple[Problem, ...] = ()


def make_plan(command: str, interpreter: Interpreter, scene: Scene, viewpoint: Viewpoint) -> Plan:
    """The plan as it looks before the first step.

    Raises ProgramError when it cannot work (RunError when the program itself stops), QuestionError when it would do
    nothing for want of things to do it with. The interpreter is left where it is.
    """
    return plan_of(command, interpreter, foresee(interpreter, scene, viewpoint))


def plan_of(command: str, interpreter: Interpreter, forecast: Forecast) -> Plan:
    """The plan with the steps and goals of its `forecast`."""
    return Plan(command, interpreter.program.text, forecast.steps, forecast.complete, goals=forecast.goals)


def foresee(interpreter: Interpreter, scene: Scene, viewpoint: Viewpoint) -> Forecast:
    """What lies ahead before the first step; raises as `make_plan`."""
    forecast = look_ahead(interpreter, scene, viewpoint, rehearse=True)
    if not forecast.steps and not forecast.told and forecast.not_found:
        missing = " and no ".join(forecast.not_found)
        raise QuestionError(f"There is nothing to do: there is no {missing} here. What did you mean?")
    return forecast


def look_ahead(
    interpreter: Interpreter, scene: Scene, viewpoint: Viewpoint, first_number: int = 1, rehearse: bool = False,
    lay: Mapping[str, Vector3] | None = None,
) -> Forecast:  # fmt: skip
    """Run a fork of `interpreter` on from `scene`, each skill doing exactly what its manifest promises.

    `lay` is where objects that are held lay before [m].

    With `rehearse`, whatever would go wrong raises ProgramError, places that the plan itself fills are doubted, and
    things come to lie where the skills' own search puts them; without, the forecast just ends where it goes wrong.
    """
    ahead = interpreter.fork()
    steps: list[PlanStep] = []
    goals: tuple[Goal, ...] = ()
    before, origins = scene, {item.name: item.position for item in scene.objects} | dict(lay or {}) | lying(scene)
    doubts: tuple[Problem, ...] = ()
    known = known_things(scene)
    while True:
        try:
            call = ahead.advance(scene)
            if isinstance(call, Finished):
                return Forecast(tuple(steps), scene, goals, True, call.not_found, ahead.told, doubts)
            skill = interpreter.program.skills[call.skill]
            values = in_base_words(skill, call.arguments, viewpoint)
            _rehearse(call, skill, values, scene)
            promised = goals_of(skill, str(first_number + len(steps)), values, scene, dict(origins))
            step = PlanStep(str(first_number + len(steps)), call.skill, call.arguments, call.line)
            landed: SceneObject | None = None
            if rehearse:
                landed, doubt = _put_down(step, promised, before, scene, known, viewpoint)
                doubts += doubt
        except ProgramError:
            if rehearse:
                raise
            return Forecast(tuple(steps), scene, goals, False)
        steps.append(step)
        goals = still_wanted(goals, promised)
        after = replace(predict(scene, promised), time=scene.time + 1.0)
        after = after.with_object(landed) if landed else after
        known = still_known(known, scene, after, landed) if _is_foreseen(skill) else frozenset()
        scene = after
        origins.update(lying(scene))


def lying(scene: Scene) -> dict[str, Vector3]:
    """Where everything lies that is not held [m, base frame]."""
    return {item.name: item.position for item in scene.objects if item.name != scene.held}


def _rehearse(call: SkillCall, skill: Signature, values: Mapping[str, Argument], scene: Scene) -> None:
    reasons = unmet_preconditions(skill, values, scene)
    if reasons:
        raise ProgramError([Problem(call.line, 1, f"{call.skill} cannot start: {reason}") for reason in reasons])


def _put_down(
    step: PlanStep,
    promised: tuple[Goal, ...],
    before: Scene,
    scene: Scene,
    known: frozenset[str],
    viewpoint: Viewpoint,
) -> tuple[SceneObject | None, tuple[Problem, ...]]:
    """Foresee how what the step puts down will lie, and what is doubted about it.

    Raises ProgramError where it is certain that there is no room: only the person can say where else it may go.
    """
    foreseen = [landing(goal, before, scene, known, viewpoint) for goal in promised]
    taken = [one for one in foreseen if isinstance(one, NoRoom)]
    certain = [Problem(step.line, 1, f"{step.skill}: {one.reason}", True) for one in taken if one.certain]
    if certain:
        raise ProgramError(certain)
    doubts = tuple(Problem(step.line, 1, f"in step {step.id}, {step}, {one.reason}") for one in taken)
    return next((one for one in foreseen if isinstance(one, SceneObject)), None), doubts


def _is_foreseen(skill: Signature) -> bool:
    """Whether its effects tell all that it moves: a motion that is searched by rewards may move anything."""
    return all(parameter.type != "rewards" for parameter in skill.parameters)


def unmet_preconditions(skill: Signature, values: Mapping[str, Argument], scene: Scene) -> tuple[str, ...]:
    """Why the skill cannot begin in `scene`, in sentences for a person; empty when it can. `values` in base words."""
    moment = Moment(scene, values, scene.held, {})
    return tuple(
        condition.explain(values, scene.held) for condition in skill.preconditions if not holds(condition.atom, moment)
    )
