"""Unrolling of a program over predicted scenes, so that a person sees the steps before anything moves.

The same pass rehearses the plan. A skill whose preconditions are not met stops the plan before it starts. The search of
the placing skills predicts where a held object will lie. If its place will be taken, the result names the obstacle and
the free alternatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from llm_planner.errors import QuestionError
from llm_planner.plans.plan import Goal, Plan, PlanStep, goals_of, in_base_words, still_wanted
from llm_planner.plans.prediction import predict
from llm_planner.programs.interpreter import Finished, Interpreter
from llm_planner.programs.problems import OutOfReachError, Problem, ProgramError
from llm_planner.programs.signatures import Precondition, Signature
from llm_planner.programs.values import Argument
from llm_planner.robots.arm_model import arm_shape
from llm_planner.scene.atoms import HELD, Moment, holds
from llm_planner.scene.driven_base import seen_anew
from llm_planner.scene.geometry import half_extents, product
from llm_planner.scene.names import the
from llm_planner.scene.places import DIRECTIONS, Viewpoint, direction_vector
from llm_planner.scene.predicates import FURNITURE, TABLE_KIND, is_container, is_vessel
from llm_planner.scene.scene import Scene, SceneObject, Vector3
from llm_planner.skills.contract import SkillError
from llm_planner.skills.grasps import choose_grasp
from llm_planner.skills.hand_geometry import check_reach
from llm_planner.skills.placement import Held, Release, held_in, inside, on_table, on_top, spread
from llm_planner.skills.spots import spot_at, spot_beside, spot_in, spot_offset, spot_on

FARTHER = (0.02, 0.04, 0.06, 0.08, 0.10, 0.12)  # [m] added to the requested distance, tried in turn
ERROR = 0.005  # [m] placement error of the plan's own objects; each side shrinks by it

Search = Callable[[Scene, Held], Release]  # raises SkillError if there is no room


@dataclass(frozen=True)
class NoRoom:
    """Why a step has no room, with alternatives, for a person.

    `certain` is whether the objects that the plan has not moved suffice as the reason.
    """

    reason: str
    certain: bool


def _still_known(known: frozenset[str], before: Scene, after: Scene, landed: SceneObject | None) -> frozenset[str]:
    """Return the `known` objects that have not moved, furniture, the `landed` object, and the held object.

    The pose of the held object follows from how it lay.
    """
    kept = {after.held, landed.name if landed else ""} | {item.name for item in after.objects if item.kind in FURNITURE}
    return frozenset(name for name in known if name in kept or before.find(name) == after.find(name))


def _landing(
    goal: Goal, before: Scene, scene: Scene, known: frozenset[str], viewpoint: Viewpoint
) -> SceneObject | NoRoom | None:
    """Return the held object at its pose after an effect of a step, or None if that cannot be known.

    The result is NoRoom if there is no room among the `known` objects, or if the step grasps an object that the plan
    itself, which begins in `before`, will have put too close to others.
    """
    name, search = goal.held_at_start, _search(goal, scene)
    if before.building or not goal.objects & set(scene.names) <= known:
        return None
    if search is None or name not in goal.origins:
        return _ungraspable(goal, before, scene, known)
    item = replace(scene.find(name), position=goal.origins[name])
    now = replace(scene, objects=(item, *_lying(scene, known - {name})), held="")
    try:
        held = _in_fingers(now, item)
    except SkillError:  # the step that grasps it reports this
        return None
    refused: SkillError | None = None
    for nearly in (now, _forgiving(now, (item, *before.objects))):
        try:
            return _landed(held, search(nearly, held))
        except SkillError as error:
            refused = refused or error
    return NoRoom(
        f"{refused}{_alternatives(goal, search, now, held, viewpoint)}", _is_certain(goal, search, before, now)
    )


def _lying(scene: Scene, names: Iterable[str]) -> tuple[SceneObject, ...]:
    kept = frozenset(names)
    return tuple(item for item in scene.objects if item.name in kept)


def _in_fingers(scene: Scene, item: SceneObject) -> Held:
    grasp = choose_grasp(scene, item)
    return held_in(replace(scene, held=item.name), grasp.grip, grasp.width)


def _ungraspable(goal: Goal, before: Scene, scene: Scene, known: frozenset[str]) -> NoRoom | None:
    """Return why the fingers cannot grasp the object of a step, if the plan's own placements are the cause."""
    if goal.atom.predicate != "held" or goal.atom.negated:
        return None
    now = replace(scene, objects=_lying(scene, known), held="")
    name = str(goal.values[goal.atom.arguments[0]])
    as_before = replace(now, objects=tuple(item for item in now.objects if item in before.objects))
    if name not in now.names or (name in as_before.names and _why_no_grasp(as_before, name)):
        return None  # the plan is not the cause: the skill reports it
    exact = (now.find(name), *(before.objects if name in as_before.names else ()))
    reason = _why_no_grasp(_forgiving(now, exact), name)
    return NoRoom(reason, certain=False) if reason else None


def _why_no_grasp(scene: Scene, name: str) -> str:
    try:
        choose_grasp(scene, scene.find(name))
    except SkillError as error:
        return str(error)
    return ""


def _forgiving(now: Scene, exact: Collection[SceneObject]) -> Scene:
    """Shrink all objects except the `exact` ones by the forecast's placement error."""

    def smaller(item: SceneObject) -> SceneObject:
        x, y = (max(extent - 2 * ERROR, extent / 2) for extent in item.size[:2])
        return item if item in exact else replace(item, size=(x, y, item.size[2]))

    return replace(now, objects=tuple(map(smaller, now.objects)))


def _is_certain(goal: Goal, search: Search, before: Scene, now: Scene) -> bool:
    """Return whether the objects that the plan has not moved already leave no room."""
    rest = replace(now, objects=tuple(item for item in now.objects if item in before.objects))
    if not goal.objects & set(now.names) <= set(rest.names):
        return False
    return not _has_room(search, rest, _in_fingers(rest, rest.find(goal.held_at_start)))


def _search(goal: Goal, scene: Scene) -> Search | None:
    """Return the search that the skill will make for the spot."""
    if goal.atom.negated or goal.atom.arguments[:1] != (HELD,):
        return None
    match [goal.atom.predicate, *(goal.values[name] for name in goal.atom.arguments[1:])]:
        case ["at", str(place)]:
            return lambda now, held: spot_in(now, held, place)
        case ["at", tuple(point)]:
            return lambda now, held: spot_at(now, held, (point[0], point[1]))
        case ["beside", str(other), str(side), float() | int() as distance] if other in scene.names:
            return _beside(scene.find(other), side, distance)
        case ["moved", str(direction), float() | int() as distance]:
            return _offset(direction, distance)
        case ["in" | "on", str(other)] if other in scene.names:
            support = scene.find(other)
            if support.kind == TABLE_KIND:
                return lambda now, held: spot_on(now, held, support)
            lies_inside = is_vessel(support) or (goal.atom.predicate == "in" and is_container(support))
            put = inside if lies_inside else on_top
            return lambda now, held: put(now, held, support)
    return None


def _beside(other: SceneObject, side: str, distance: float) -> Search:
    return lambda now, held: spot_beside(now, held, other, side, distance, held.item.position[:2])


def _offset(direction: str, distance: float) -> Search:
    ux, uy = direction_vector(direction)

    def search(now: Scene, held: Held) -> Release:
        x, y, _ = held.item.position
        return spot_offset(now, held, (x + ux * distance, y + uy * distance))

    return search


def _landed(held: Held, release: Release) -> SceneObject:
    """Return the released object, turned about the vertical with the hand."""
    half = (release.grip.yaw - held.yaw) / 2
    x, y = release.center
    return replace(
        held.item,
        position=(x, y, release.surface + half_extents(held.item)[2]),
        orientation=product((0.0, 0.0, math.sin(half), math.cos(half)), held.item.orientation),
    )


def _alternatives(goal: Goal, search: Search, now: Scene, held: Held, viewpoint: Viewpoint) -> str:
    """Return what a person could say instead, "" for nothing."""
    alone = replace(now, objects=_lying(now, goal.objects))
    found = ["move that away first"] if _has_room(search, alone, held) else []
    match [goal.atom.predicate, *(goal.values[name] for name in goal.atom.arguments[1:])]:
        case ["at", tuple(point)]:
            free = next(on_table(now, held, spread(now.workspace, (point[0], point[1])), ()), None)
            found += [f"put it at ({free.center[0]:.2f}, {free.center[1]:.2f})"] if free else []
        case ["beside", str(name), str(side), float() | int() as distance]:
            other = now.find(name)
            sides = [one for one in DIRECTIONS if _has_room(_beside(other, one, distance), now, held)]
            found += [f"choose its {' or '.join(map(viewpoint.from_base, sides))} side"] if sides else []
            found += _farther(distance, lambda longer: _has_room(_beside(other, side, longer), now, held))
        case ["moved", str(direction), float() | int() as distance]:
            found += _farther(distance, lambda longer: _has_room(_offset(direction, longer), now, held))
        case _:
            return ""
    return f": {', or '.join(found)}" if found else ""


def _farther(distance: float, has_room: Callable[[float], bool]) -> list[str]:
    free = next((distance + more for more in FARTHER if has_room(distance + more)), None)
    return [] if free is None else [f"choose a distance of {free:.2f} m"]


def _has_room(search: Search, now: Scene, held: Held) -> bool:
    try:
        search(now, held)
    except SkillError:
        return False
    return True


@dataclass(frozen=True)
class Forecast:
    """Steps ahead, the scene that they lead to, and the goals that judge it.

    Attributes:
        complete: False if the forecast ended early because the rest depends on the real scene.
        not_found: Descriptions of the searches that found nothing.
        told: What the program says to the person.
        doubts: Steps that will probably find no room to put something down.
    """

    steps: tuple[PlanStep, ...]
    scene: Scene
    goals: tuple[Goal, ...]
    complete: bool
    not_found: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    doubts: tuple[Problem, ...] = ()

    def plan(self, command: str, program: str) -> Plan:
        """Return the plan of a program with these steps and goals."""
        return Plan(command, program, self.steps, self.complete, goals=self.goals)


def foresee_plan(interpreter: Interpreter, scene: Scene, viewpoint: Viewpoint) -> Forecast:
    """Forecast a plan before its first step. The interpreter is not advanced.

    Raises:
        ProgramError: The plan cannot work (RunError if the program itself stops).
        QuestionError: The plan would do nothing because it found no objects.
    """
    forecast = look_ahead(interpreter, scene, viewpoint, rehearse=True)
    if not forecast.steps and not forecast.told and forecast.not_found:
        missing = " and no ".join(forecast.not_found)
        raise QuestionError(f"There is nothing to do: there is no {missing} here. What did you mean?")
    return forecast


def look_ahead(
    interpreter: Interpreter, scene: Scene, viewpoint: Viewpoint, first_number: int = 1, rehearse: bool = False,
    lay: Mapping[str, Vector3] | None = None,
) -> Forecast:  # fmt: skip
    """Run a fork of `interpreter` on from `scene`, with each skill doing exactly what its manifest promises.

    Args:
        first_number: Id of the first step.
        rehearse: Raise ProgramError for whatever would go wrong, doubt places that the plan itself fills, and place
            objects by the skills' own search. Otherwise the forecast ends where something goes wrong.
        lay: Positions where held objects lay before [m].
    """
    ahead = interpreter.fork()
    steps: list[PlanStep] = []
    goals: tuple[Goal, ...] = ()
    before, origins = scene, {item.name: item.position for item in scene.objects} | dict(lay or {}) | lying(scene)
    doubts: tuple[Problem, ...] = ()
    known = frozenset(scene.names) - {scene.held}  # how an object lies in the gripper is not known
    while True:
        try:
            call = ahead.advance(scene)
            if isinstance(call, Finished):
                return Forecast(tuple(steps), scene, goals, True, call.not_found, ahead.told, doubts)
            skill = interpreter.program.skills[call.skill]
            values = in_base_words(skill, call.arguments, viewpoint)
            if unmet := _unmet(skill, values, scene):
                reasons = [condition.explain(values, scene.held) for condition in unmet]
                problems = [Problem(call.line, 1, f"{call.skill} cannot start: {reason}") for reason in reasons]
                away = [one.atom.arguments[0] for one in unmet if one.atom.predicate == "within_reach"]
                raise OutOfReachError(problems, call, away[0]) if away else ProgramError(problems)
            promised = goals_of(skill, str(first_number + len(steps)), values, scene, dict(origins))
            step = PlanStep(str(first_number + len(steps)), call.skill, call.arguments, call.line)
            landed: SceneObject | None = None
            if rehearse:
                _check_reach(step, promised, scene, known)
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
        known = frozenset() if skill.is_searched else _still_known(known, scene, after, landed)
        origins = {**seen_anew(origins, scene, after), **lying(after)}
        scene = after


def lying(scene: Scene) -> dict[str, Vector3]:
    """Return the position of every object that is not held [m, base frame]."""
    return {item.name: item.position for item in scene.objects if item.name != scene.held}


def _check_reach(step: PlanStep, promised: tuple[Goal, ...], scene: Scene, known: frozenset[str]) -> None:
    """Raise ProgramError if a thing that the hand must get to in this step is out of the arm's reach."""
    if scene.building is not None or scene.base is not None:  # the preconditions say what a base drives to
        return
    problems = []
    for name in sorted({name for goal in promised for name in _touched(goal)} & known):
        x, y, _ = scene.find(name).position
        try:
            check_reach(x, y, the(name), arm_shape(scene.arm))
        except SkillError as error:
            problems.append(Problem(step.line, 1, f"{step.skill}: {error}", True))
    if problems:
        raise ProgramError(problems)


def _touched(goal: Goal) -> frozenset[str]:
    """Return the things that the hand gets to for a goal; what something is put beside is not among them."""
    if goal.atom.negated:
        return frozenset()
    return frozenset({str(goal.argument(0))}) if goal.atom.predicate == "beside" else goal.objects


def _put_down(
    step: PlanStep,
    promised: tuple[Goal, ...],
    before: Scene,
    scene: Scene,
    known: frozenset[str],
    viewpoint: Viewpoint,
) -> tuple[SceneObject | None, tuple[Problem, ...]]:
    """Predict the pose of what the step puts down, and the doubts about it.

    Raises ProgramError if there is certainly no room: only the person can choose another place.
    """
    foreseen = [_landing(goal, before, scene, known, viewpoint) for goal in promised]
    taken = [one for one in foreseen if isinstance(one, NoRoom)]
    certain = [Problem(step.line, 1, f"{step.skill}: {one.reason}", True) for one in taken if one.certain]
    if certain:
        raise ProgramError(certain)
    doubts = tuple(Problem(step.line, 1, f"in step {step.id}, {step}, {one.reason}") for one in taken)
    return next((one for one in foreseen if isinstance(one, SceneObject)), None), doubts


def unmet_preconditions(skill: Signature, values: Mapping[str, Argument], scene: Scene) -> tuple[str, ...]:
    """Return why the skill cannot start in `scene`, in sentences; empty if it can. `values` are in base words."""
    return tuple(condition.explain(values, scene.held) for condition in _unmet(skill, values, scene))


def _unmet(skill: Signature, values: Mapping[str, Argument], scene: Scene) -> list[Precondition]:
    moment = Moment(scene, values, scene.held, {})
    return [condition for condition in skill.preconditions if not holds(condition.atom, moment)]
