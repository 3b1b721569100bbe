"""From what was asked for to the operations that do it, for the plan and the scene of the moment.

Nothing that was said is dropped on the way: where something cannot be decided, the whole edit is a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from llm_planner.correction.building_additions import add
from llm_planner.correction.building_choices import duration, first_or_go, other_target, other_thing, skip_or_forbid
from llm_planner.correction.building_motion import shift, too_far
from llm_planner.correction.building_order import again, last, put_back, skip_rest, skip_this, swap_order
from llm_planner.correction.building_quantities import height_or_clearance, of_a_step, skip_wait, speed
from llm_planner.correction.building_rules import add_rule, lift_rule
from llm_planner.correction.coreference import with_names
from llm_planner.correction.pending import pending_of
from llm_planner.correction.references import AlreadySoError, UnclearError, described
from llm_planner.correction.requests import OF_MOTION, Intent, Request, When
from llm_planner.correction.situation import Situation
from llm_planner.correction.sources import Sources
from llm_planner.language.grounding.lifting import lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.language.grounding.resolution import is_indefinite
from llm_planner.plan.edits import (
    Adjust,
    Cancel,
    Change,
    Clarify,
    Confirm,
    Edit,
    Forget,
    Hold,
    Insert,
    Move,
    Operation,
    Remember,
    Remove,
    Resume,
    Scope,
    Undo,
)
from llm_planner.world.names import the

_Builder = Callable[[Request, Situation, Sources], tuple[Operation, ...]]
_NEXT = re.compile(r"\b(?:next|after this|after that|then)\b")
_FIRST = re.compile(r"\b(?:first|before)\b")
_FOR_EVER = re.compile(
    r"\b(?:never|always|from (?:now|here|today) on|in (?:the )?future|for good|ever again|all the time"
    r"|until further notice"
    r"|(?:at|for|in|on) (?:all|every)(?: the)?(?: next| later| future)? (?:times|ones|jobs?|tasks?|trips?))\b"
)
_CHOOSING = (Intent.OTHER_THING, Intent.OTHER_TARGET)


def build(requests: Sequence[Request], words: str, situation: Situation, sources: Sources) -> Edit:
    """The edit for these requests, in their order; a single `Clarify` where one of them cannot be decided."""
    requests = [_resolved(request, words, situation) for request in requests]
    back = [one for one in requests if one.intent is Intent.PUT_BACK]
    if any(one.thing for one in back):  # "take it out, put it back" is of one thing
        requests = [one for one in requests if one.intent is not Intent.PUT_BACK or one.thing]
    if situation.scene.held and any(one.intent is Intent.OTHER_THING for one in requests):
        requests = [one for one in requests if one.intent is not Intent.PUT_BACK]  # which takes another's place by that
    scope = max((one.scope for one in requests), key=list(Scope).index, default=Scope.ONCE)
    kept = [request.about or request.near or request.thing for request in requests if request.scope is not Scope.ONCE]
    about = next(iter(kept), "")
    operations: list[Operation] = []
    done = 0
    is_so: AlreadySoError | None = None
    try:
        _check_one_kind(requests)
        for request in requests:
            try:
                operations = _with(operations, _built(request, situation, sources), request)
            except AlreadySoError as known:
                is_so = known
            done += 1
        if is_so is not None and not operations:
            raise is_so
        found = tuple(_without_idle_moves(_settled(operations), situation))
        about = about_of(about, situation) if scope is not Scope.ONCE else ""
    except UnclearError as unclear:
        pending = pending_of(tuple(requests), min(done, len(requests) - 1), unclear.words, unclear.names)
        if pending is not None and pending.choices and is_indefinite(unclear.words, words):
            return build(pending.choices[_unused(unclear.names, situation)], words, situation, sources)
        return Edit((Clarify(str(unclear), unclear.options, pending),), words, situation.version)
    scope = Scope.ONCE if _only_remembers(found) else scope
    return Edit(found, words, situation.version, scope, about)


def _unused(options: Sequence[str], situation: Situation) -> int:
    """The number of the first of them that the plan has nothing to do with, else of the first."""
    used = {the(name) for step in situation.plan.steps for name in step.arguments.values() if isinstance(name, str)}
    return next((number for number, option in enumerate(options) if option not in used), 0)


def _with(before: list[Operation], added: tuple[Operation, ...], request: Request) -> list[Operation]:
    """What is to be done instead of what was just left out goes there: "skip the kitchen, go straight to the dock"."""
    removed = [one.step for one in before if isinstance(one, Remove)]
    again = [one.step for one in added if isinstance(one, Remove)]
    if again and {*again} <= {*removed}:
        return before  # "put it back and skip this": that is out already
    if request.intent is not Intent.ADD or request.when is not When.NEXT or not removed:
        return [*before, *added]
    there = [replace(one, before=removed[0]) if isinstance(one, Insert) else one for one in added]
    return [*there, *before]


def _settled(operations: Sequence[Operation]) -> list[Operation]:
    """Each once; of changes of one quantity of one step, those before an exact value do not count."""
    kept: list[Operation] = []
    for operation in operations:
        if isinstance(operation, Adjust) and operation.change is Change.SET:
            of = (operation.quantity, operation.step)
            kept = [one for one in kept if not (isinstance(one, Adjust) and (one.quantity, one.step) == of)]
        if isinstance(operation, Insert) or operation not in kept:
            kept.append(operation)
    return kept


def _resolved(request: Request, words: str, situation: Situation) -> Request:
    """The request with what its words leave to the others that were said."""
    if request.intent is Intent.FIRST and _NEXT.search(words.lower()) and not _FIRST.search(words.lower()):
        request = replace(request, when=When.NEXT)
    if request.intent is Intent.SHIFT:
        request = replace(request, text=words)
    if request.intent is Intent.RULE and request.scope is Scope.ONCE and _FOR_EVER.search(words.lower()):
        request = replace(request, scope=Scope.ALWAYS)
    if request.intent in OF_MOTION and request.scope is not Scope.ONCE and not _about_what(request):
        request = replace(request, about=_only_named(words, situation))
    return with_names(request, words, situation)


def _about_what(request: Request) -> str:
    return request.thing or request.about or request.near or request.instead_of


def _only_named(words: str, situation: Situation) -> str:
    """The one thing or kind that the words name, "" for none or several: of what it is to be so always."""
    lifted = lift(words, scene_phrases(situation.scene), slips=False)
    found = [word.text for word in lifted if word.segment in ("object", "kind", "person")]
    return found[0] if len(found) == 1 else ""


def _check_one_kind(requests: Sequence[Request]) -> None:
    """Raises UnclearError where one change of motion is to be remembered of several things."""
    kept = [request for request in requests if request.scope is not Scope.ONCE and request.about]
    for one, other in pairwise(kept):
        if one.intent is other.intent and one.about != other.about:
            raise UnclearError(f"One at a time, please: shall I remember that of “{one.about}” or of “{other.about}”?")


def _only_remembers(operations: Sequence[Operation]) -> bool:
    return all(isinstance(item, Remember | Forget) for item in operations)


def about_of(words: str, situation: Situation) -> str:
    """The name of the one thing that the words mean, else its kind with the colour that was said; "" for none."""
    if not words:
        return ""
    if words in ("people", "persons", "humans", "children", "kids"):
        return "person"
    description = described(words, situation.scene)
    if description.name:
        return description.name
    return " ".join(filter(None, (description.color, description.kind or description.unknown)))


def _built(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    found = _BUILDERS[request.intent](request, situation, sources)
    return _unless_it_is_so(found, situation) if request.negated and request.intent not in _CHOOSING else found


def _unless_it_is_so(operations: tuple[Operation, ...], situation: Situation) -> tuple[Operation, ...]:
    """ "Don't go slower" takes the last edit back where that made it slower; else all is as it should be."""
    newest = situation.edits[-1].operations if situation.edits else ()
    return (Undo(),) if newest == operations else ()


def _without_idle_moves(operations: Sequence[Operation], situation: Situation) -> list[Operation]:
    """Moves that leave the order as it is are none; raises UnclearError where nothing else was asked for."""
    order = [step.id for step in situation.ahead]
    kept: list[Operation] = []
    for operation in operations:
        if isinstance(operation, Move):
            left = [step for step in order if step not in operation.steps]
            at = left.index(operation.before) if operation.before in left else len(left)
            after = [*left[:at], *operation.steps, *left[at:]]
            if after == order:
                continue
            order = after
        kept.append(operation)
    if operations and not kept:
        raise AlreadySoError("That is the order of things already. What should be done otherwise?")
    return kept


_BUILDERS: dict[Intent, _Builder] = {
    Intent.HOLD: lambda request, situation, sources: (Hold(),),
    Intent.RESUME: lambda request, situation, sources: (Resume(),),
    Intent.CANCEL: lambda request, situation, sources: (Cancel(),),
    Intent.SHIFT: lambda request, situation, sources: shift(request, situation),
    Intent.TOO_FAR: lambda request, situation, sources: too_far(request, situation),
    Intent.SPEED: lambda request, situation, sources: speed(request, situation),
    Intent.HEIGHT: lambda request, situation, sources: height_or_clearance(request, situation),
    Intent.CLEARANCE: lambda request, situation, sources: height_or_clearance(request, situation),
    Intent.DISTANCE: lambda request, situation, sources: of_a_step(request, situation),
    Intent.DURATION: duration,
    Intent.OTHER_THING: other_thing,
    Intent.OTHER_TARGET: other_target,
    Intent.FIRST: first_or_go,
    Intent.LAST: lambda request, situation, sources: last(request, situation),
    Intent.SWAP: lambda request, situation, sources: swap_order(request, situation),
    Intent.SKIP: skip_or_forbid,
    Intent.SKIP_THIS: lambda request, situation, sources: skip_this(situation),
    Intent.SKIP_REST: lambda request, situation, sources: skip_rest(situation),
    Intent.SKIP_WAIT: lambda request, situation, sources: skip_wait(request, situation),
    Intent.PUT_BACK: lambda request, situation, sources: put_back(request, situation),
    Intent.ADD: add,
    Intent.AGAIN: lambda request, situation, sources: again(request, situation),
    Intent.RULE: add_rule,
    Intent.LIFT: lambda request, situation, sources: lift_rule(request, situation),
    Intent.REMEMBER: lambda request, situation, sources: (Remember(request.scope),),
    Intent.FORGET: lambda request, situation, sources: (Forget(_lesson(request.about, situation)),),
    Intent.UNDO: lambda request, situation, sources: (Undo(),),
    Intent.YES: lambda request, situation, sources: (Confirm(True),),
    Intent.NO: lambda request, situation, sources: (Confirm(False),),
    Intent.OPTION: lambda request, situation, sources: (),
    Intent.NOTHING: lambda request, situation, sources: (),
}


def _lesson(words: str, situation: Situation) -> str:
    return words if words == "everything" else about_of(words, situation)
