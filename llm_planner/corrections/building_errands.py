"""Requests about which errands are done, and in which order, and requests for more of them.

The planner writes the steps of a new command for the predicted scene at their position in the plan.
"""

from __future__ import annotations

import math
from dataclasses import replace

from llm_planner.corrections.building_quantities import of_a_step, steps_with
from llm_planner.corrections.edits import AddRule, Insert, Move, Operation, Remove
from llm_planner.corrections.handling import has_moved, lay_back, laying, now, taking
from llm_planner.corrections.references import AlreadySoError, UnclearError, described, is_room, only, unclear_words
from llm_planner.corrections.situation import Errand, Situation, Sources, ahead, has_begun, is_rest, subject_parameter
from llm_planner.errors import AlreadySatisfiedError, LlmPlannerError
from llm_planner.language.correction_requests import Intent, Request, Sense, When
from llm_planner.language.grounding.lifting import amounts_in
from llm_planner.plans.plan import PlanStep, StepStatus, goals_of, in_base_words
from llm_planner.scene.names import the
from llm_planner.scene.predicates import on
from llm_planner.scene.scene import Scene

MOST_TIMES = 10  # repetitions in one request


def first(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Move the errands of the object to the front, or before or after those of another object."""
    errands = situation.meant(request.thing, "{} first")
    if request.relation:
        others = situation.meant(request.target)
        if request.relation == "before":
            return (Move(_waiting(errands, situation), start(others, situation)),)
        steps = tuple(step.id for errand in errands for step in ahead(errand))
        held = situation.scene.held  # an errand under way counts only while no object is held
        return (Move(_waiting(errands, situation) if held else steps, after(others, situation)),)
    return (Move(_waiting(errands, situation), _next_or_now(errands, situation, request.when is When.NEXT)),)


def _next_or_now(errands: tuple[Errand, ...], situation: Situation, may_wait: bool) -> str:
    """Return the step that first errands precede: of the errand under way if it can wait, else of the next one."""
    waiting = [errand for errand in situation.errands_ahead if not has_begun(errand)]
    is_next = bool(waiting) and waiting[0] == errands[0]
    if (is_next or not may_wait) and not situation.scene.held and has_begun(situation.current):
        return ahead(situation.current)[0].id
    return situation.next_place(errands)


def last(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Move the errands of the object, or the one under way, to the end."""
    errands = situation.meant(request.thing, "{} last") if request.thing else (situation.current,)
    held = situation.scene.held
    if held and any(situation.subject(errand) == held for errand in errands):
        left = tuple(step.id for errand in errands for step in ahead(errand))
        return *lay_back(held, situation), *taking(held, situation, ""), Move(left)
    return (Move(tuple(step.id for errand in errands for step in ahead(errand))),)


def swap_order(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Swap two errands, by default the next two; one under way counts only while no object is held."""
    left = situation.errands_ahead
    errands = [one for one in left if not (situation.scene.held and has_begun(one))]
    if request.thing and request.target:
        named = (situation.meant(request.thing)[0], situation.meant(request.target)[0])
        errands = [one for one in errands if one in named]
    if len(errands) < 2:
        raise UnclearError("There are no two errands left whose order could change. What should be done first?")
    earlier, later = errands[:2]
    following = left[left.index(later) + 1 :]
    moves = [Move(tuple(step.id for step in ahead(later)), ahead(earlier)[0].id)]
    if left.index(later) > left.index(earlier) + 1:
        moves.append(Move(tuple(step.id for step in ahead(earlier)), following[0][0].id if following else ""))
    return tuple(moves)


def skip(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Remove the errands of the object, or all others; a held object is put back first."""
    errands = situation.meant(request.thing, "skip {}")
    if request.relation == "except":
        errands = tuple(errand for errand in situation.errands_ahead if errand not in errands)
        if not errands:
            raise UnclearError("Nothing else is left to do. What do you mean?")
    return tuple(operation for errand in errands for operation in without(errand, situation))


def skip_this(situation: Situation) -> tuple[Operation, ...]:
    """Remove the errand under way."""
    return without(situation.current, situation)


def skip_rest(situation: Situation) -> tuple[Operation, ...]:
    """Remove all errands except the one under way."""
    now = situation.current
    return tuple(Remove(step.id) for errand in situation.errands_ahead if errand != now for step in ahead(errand))


def without(errand: Errand, situation: Situation) -> tuple[Operation, ...]:
    """Remove the errand's steps, after putting back an object that is held for it."""
    removed = tuple(Remove(step.id) for step in ahead(errand))
    held = situation.scene.held
    if held and has_begun(errand) and situation.subject(errand) == held:
        return *lay_back(held, situation), *removed
    return removed


def put_back(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Return the held object, or the one moved last, to its initial position."""
    held = situation.scene.held
    moved = _moved_last(situation)
    name = held or moved
    if request.thing:
        found = situation.candidates(request.thing, name)
        name = held if held in [one.name for one in found] else only(found, request.thing, situation.scene).name
    elif not name:
        raise UnclearError("What should go back? Nothing has been moved yet.")
    if held and name == held:
        begun = next((errand for errand in situation.errands_ahead if has_begun(errand)), None)
        return without(begun, situation) if begun else lay_back(held, situation)
    if name not in situation.origins:
        raise UnclearError(f"I do not know where {the(name)} lay before. Where should it go?")
    if not moved and not has_moved(name, situation):
        raise AlreadySoError(f"{the(name).capitalize()} is where it lay already. What should go back?")
    before = situation.next_place() if held else now(situation)  # once the gripper is empty
    return *taking(name, situation, before), *laying(name, situation, before)


def again(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Repeat the last finished errand, or else the one under way.

    With an object, do the errand under way with it as well. With a number, repeat the object's errand after itself.
    """
    if request.number is not None:
        return _repeated(request, situation)
    if request.thing:
        return _as_well(request, situation)
    done = [errand for errand in situation.errands if all(step.status is StepStatus.DONE for step in errand)]
    errand = done[-1] if done else situation.current
    before = situation.next_place((errand,))
    return repeated(errand, before)


def _repeated(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Repeat an errand up to the requested number, or by it for the sense `MORE`."""
    more = round(request.number or 0) - (request.sense is not Sense.MORE)
    if not 0 < more < MOST_TIMES:
        raise UnclearError(f"I can do it 2 to {MOST_TIMES} times. How many times shall it be?")
    left = situation.errands_ahead
    begun = [errand for errand in situation.errands if has_begun(errand)]
    errand = situation.meant(request.thing)[-1] if request.thing and left else (begun or left or [()])[-1]
    if not errand:
        raise UnclearError("What should I do again? Nothing is left of the plan.")
    before = after((errand,), situation) if errand in left else situation.next_place()
    return repeated(errand, before) * more


def _as_well(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Do the last errand with other objects ("the vase too"), or again with its own if it grasps nothing."""
    begun = [errand for errand in situation.errands if has_begun(errand)] or list(situation.errands_ahead[:1])
    kind_of = {item.name: item.kind for item in situation.scene.objects}
    like = []  # errands about an object of the named kind
    for errand in situation.errands:
        about = situation.subject(errand)
        kinds = {item.kind for item in situation.candidates(request.thing, about)} if about else set()
        like += [errand] if kinds == {kind_of.get(about)} else []
    errand = next((one for one in begun[-1:] if not like or one in like), like[-1] if like else ())
    old = situation.subject(errand)
    if not old:
        raise UnclearError(f"What should I do with {request.thing}? Nothing is being done with anything else.")
    before = situation.next_place((errand,)) if has_begun(errand) else after((errand,), situation)
    found = situation.candidates(request.thing, old)
    target = errand[-1].arguments.get("object") if situation.skills[errand[-1].skill].puts_down else None
    if target and all(on(situation.scene, item.name, str(target)) for item in found):
        raise AlreadySoError(f"That is in or on {the(str(target))} already. What should be done with it?")
    once_more = [item.name for item in found] == [old] and not any(
        situation.skills[step.skill].fills_gripper for step in errand
    )
    return tuple(
        Insert(step.skill, {name: new if value == old else value for name, value in step.arguments.items()}, before)
        for new in ([old] if once_more else _others(request.thing, old, situation))
        for step in errand
    )


def _others(words: str, old: str, situation: Situation) -> list[str]:
    """Return the object that the words mean, or all for a plural; raise UnclearError if the plan uses them all."""
    names = [item.name for item in situation.candidates(words, old)]
    if names and described(words, situation.scene).plural:
        spoken_of = {value for step in situation.plan.steps for value in step.arguments.values()}
    else:
        names = [only(situation.candidates(words, old), words, situation.scene).name]
        spoken_of = {situation.subject(errand) for errand in situation.errands_ahead}
    left = [name for name in names if name not in spoken_of]
    if not left:
        raise UnclearError(f"{the(names[0]).capitalize()} is part of the plan already. What should be done with it?")
    return left


def repeated(errand: Errand, before: str) -> tuple[Insert, ...]:
    """Do the steps of an errand once more before a step."""
    return tuple(Insert(step.skill, dict(step.arguments), before) for step in errand)


def _moved_last(situation: Situation) -> str:
    """Return the object that was moved last, "" for none."""
    done = [step for step in situation.plan.steps if step.status is StepStatus.DONE]
    for step in reversed(done):
        skill = situation.skills[step.skill]
        if skill.puts_down:
            again = situation.ahead if situation.is_over else ()
            return situation.subject(situation.errand_of(step.id)) or situation.subject(again)
        if any(atom.predicate in ("moved", "at", "on") for atom in skill.effects):
            return str(step.arguments[subject_parameter(skill)])
    return ""


def _waiting(errands: tuple[Errand, ...], situation: Situation) -> tuple[str, ...]:
    """Return the step ids of errands that have not begun; raise AlreadySoError if there are none."""
    steps: list[PlanStep] = [step for errand in errands if not has_begun(errand) for step in errand]
    if not steps:
        raise AlreadySoError(f"{the(situation.subject(errands[0]) or 'That').capitalize()} is under way already. What "
                           "should be done first?")  # fmt: skip
    return tuple(step.id for step in steps)


def start(errands: tuple[Errand, ...], situation: Situation) -> str:
    """Return the first step id of these errands; an errand under way counts only while no object is held."""
    waiting = (errand for errand in errands if not (situation.scene.held and has_begun(errand)))
    return next((ahead(errand)[0].id for errand in waiting), "") or situation.next_place()


def after(errands: tuple[Errand, ...], situation: Situation) -> str:
    """Return the id of the step that follows the last of these errands, "" for the end."""
    left = situation.errands_ahead
    following = left[left.index(errands[-1]) + 1 :]
    return following[0][0].id if following else ""


# New errands, and requests that become one where the plan has no errand of theirs


def add(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Insert the steps of a new command, next or at the end; raise UnclearError with the planner's objections."""
    if not request.text:
        raise UnclearError("What should I do besides? Please say it as a command.")
    if request.target and request.when is When.END:
        before = after(situation.meant(request.target), situation)
    elif request.target:
        before = start(situation.meant(request.target), situation)
    else:
        before = "" if request.when is When.END else situation.next_place()
    try:
        steps = sources.write_steps(request.text, scene_before(before, situation))
    except AlreadySatisfiedError as error:
        raise AlreadySoError(str(error)) from error
    except LlmPlannerError as error:
        raise _with_options(request.text, str(error), situation.scene) from error
    if request.when is When.NEXT and not request.target and all(step.skill == "wait" for step in steps):
        before = now(situation)  # a wait starts at once
    added = repeated(tuple(steps), before)
    if planned := _as_planned(added, situation):
        return (Move(planned, before),)
    if _is_next_already(added, situation):
        return skip_this(situation)
    if more := _more_of_it(added, situation):
        return more
    values = [value for insert in added for value in insert.arguments.values() if isinstance(value, float)]
    for said, amount in amounts_in(request.text):
        if not any(math.isclose(amount.value, value, abs_tol=1e-3) for value in values):
            raise UnclearError(f"I found no way to do “{request.text}” with {said}. Please say it in another way.")
    return added


def _with_options(command: str, question: str, scene: Scene) -> UnclearError:
    """Return the planner's question; if it lists objects, these are the options for the unclear words."""
    listed = question.partition(" do you mean: ")[2]
    names = sorted((name for name in scene.names if the(name) in listed), key=listed.index)
    words = unclear_words(command, question, names[0], scene) if len(names) > 1 else ""
    return UnclearError(question, [the(name) for name in names], words, names) if words else UnclearError(question)


def _as_planned(added: tuple[Insert, ...], situation: Situation) -> tuple[str, ...]:
    """Return the ids of a waiting errand of several steps that equals the added steps, and moves instead."""
    calls = [(one.skill, dict(one.arguments)) for one in added]
    for errand in situation.errands_ahead:
        same = [(step.skill, dict(step.arguments)) for step in errand] == calls
        if same and len(calls) > 1 and not has_begun(errand):
            return tuple(step.id for step in errand)
    return ()


def _more_of_it(added: tuple[Insert, ...], situation: Situation) -> tuple[Insert, ...]:
    """Drop one repetition of a step that is planned once already: "and press the button twice"."""
    calls = [(one.skill, dict(one.arguments)) for one in added]
    for errand in situation.errands_ahead:
        planned = [(step.skill, dict(step.arguments)) for step in errand]
        if len(planned) == 1 < len(added) and not has_begun(errand) and calls == planned * len(calls):
            return tuple(replace(one, before=after((errand,), situation)) for one in added[1:])
    return ()


def _is_next_already(added: tuple[Insert, ...], situation: Situation) -> bool:
    """Whether the added step is the next one after a wait: "go to the kitchen" then ends the wait."""
    now, left = situation.running, situation.errands_ahead
    if now is None or "seconds" not in now.arguments or len(added) != 1 or len(left) < 2:
        return False
    (way,), following = added, left[1][0]
    return (way.skill, dict(way.arguments)) == (following.skill, dict(following.arguments))


def scene_before(step_id: str, situation: Situation) -> Scene:
    """Predict the scene before the step, or at the end of the plan for ""."""
    from llm_planner.plans.prediction import predict  # loads MuJoCo

    scene = situation.scene
    origins = {item.name: item.position for item in scene.objects}
    for step in situation.ahead:
        if step.id == step_id:
            break
        skill = situation.skills[step.skill]
        values = in_base_words(skill, step.arguments, situation.viewpoint)
        scene = replace(predict(scene, goals_of(skill, step.id, values, scene, origins)), time=scene.time + 1.0)
        origins.update({item.name: item.position for item in scene.objects if item.name != scene.held})
    return scene


def duration(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Change the duration of a step, or add a wait if no remaining step waits."""
    waits = request.text == "wait" or (bool(request.target) and request.text != "follow" and not request.thing)
    is_new = waits and request.sense is Sense.EXACT and not steps_with("seconds", request, situation)
    if not is_new or request.number is None:
        return of_a_step(request, situation)
    command = f"wait {request.number:g} {request.unit or 'seconds'}"
    when = When.END if request.target else When.NEXT
    return add(replace(request, intent=Intent.ADD, text=command, when=when), situation, sources)


def first_or_go(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Move errands to the front, or add navigation if no errand leads there: "go to the kitchen first"."""
    try:
        return first(request, situation)
    except UnclearError:
        called = (item for item in situation.scene.objects if item.name.lower() == request.thing)
        is_somewhere = is_room(request.thing, situation.scene) or any(item.kind == "person" for item in called)
        if request.relation == "after" or not is_somewhere:
            raise
    way = replace(request, intent=Intent.ADD, text=f"go to {request.thing}", when=When.NEXT)
    return add(way, situation, sources)


def skip_or_forbid(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Skip the errands of an object; if there are none, add a rule not to move the object."""
    if not request.thing:
        return skip_this(situation)
    if is_rest(request.thing) or request.relation or is_room(request.thing, situation.scene):
        return skip(request, situation)
    names = situation.named(request.thing)
    if situation.names_ahead & set(names):
        return skip(request, situation)
    if len(names) > 1:
        raise UnclearError(f"Nothing that is left to do is about “{request.thing}”. What do you mean?")
    (name,) = names
    return (AddRule(f"G !moved({name})", request.text or f"leave {the(name)} alone"),)
