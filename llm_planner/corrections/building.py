"""Construction of edits: requests become operations on the present plan and scene.

No request is dropped silently: if one cannot be decided, the whole edit becomes a question, and `Pending` keeps the
requests that an answer completes. The module also builds requests that add or lift rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from llm_planner.corrections.building_motion import shift, too_far
from llm_planner.corrections.building_objects import add
from llm_planner.corrections.building_order import again, last, put_back, skip_rest, skip_this, swap_order, without
from llm_planner.corrections.building_quantities import height_or_clearance, of_a_step, skip_wait, speed
from llm_planner.corrections.building_targets import duration, first_or_go, other_target, other_thing, skip_or_forbid
from llm_planner.corrections.coreference import with_names
from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Cancel,
    Change,
    Clarify,
    Confirm,
    Edit,
    Forget,
    Hold,
    Insert,
    LiftRule,
    Move,
    Operation,
    Remember,
    Remove,
    Resume,
    Undo,
)
from llm_planner.corrections.references import AlreadySoError, UnclearError, described, names_in
from llm_planner.corrections.situation import Errand, Situation, Sources, ahead
from llm_planner.errors import LlmPlannerError
from llm_planner.language.correction_requests import OF_MOTION, Intent, Request, Scope, When
from llm_planner.language.grounding.lifting import lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.language.grounding.resolution import is_indefinite
from llm_planner.language.understanding.wording import arguments_of
from llm_planner.ltl.formula import Formula
from llm_planner.ltl.verbalization import read_back
from llm_planner.scene.names import the

_UNTIL = re.compile(r"\b(?:until|till)\b(?! (?:i|we|further)\b)")  # "until I say otherwise" means for ever


def add_rule(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Return the operations for a new rule, and the removal of errands that it forbids.

    If the rule is not said to last, removing the errands is enough. Raises UnclearError if the words are not a rule.
    """
    try:
        at_rest = replace(situation.scene, speed=0.0)  # the present speed does not affect the meaning
        constraints = sources.formalise(request.text, at_rest)
    except LlmPlannerError as error:
        raise UnclearError(str(error)) from error
    kept = [one.formula for one in constraints if not one.goal]
    if kept and _UNTIL.search(request.text) and not any(map(_has_end, kept)):
        meant = " and ".join(map(read_back, kept))
        example = "for instance “until the green block is on the red block”"
        raise UnclearError(f"I understood that {meant}, but not until when. Please say what is where then, {example}.")
    rules = tuple(AddRule(str(one.formula), one.words) for one in constraints if not one.goal)
    if not rules:
        raise UnclearError(
            f"“{request.text}” is not a rule that I can keep. Please say what must never, or always, be so."
        )
    left_out = tuple(one for errand in _forbidden(kept, situation) for one in without(errand, situation))
    return left_out if left_out and request.scope is Scope.ONCE else (*left_out, *rules)


def _forbidden(rules: Sequence[Formula], situation: Situation) -> tuple[Errand, ...]:
    """Return the remaining errands that the rules forbid by their object or by the room they lead to."""
    if len(rules) != 1 or rules[0].operator != "G" or rules[0].operands[0].operator != "!":
        return ()
    name, about = rules[0].operands[0].operands[0].name, set(arguments_of(rules[0]))
    left = situation.errands_ahead
    if name.startswith("moved("):
        return tuple(one for one in left if situation.subject(one) in about)
    return tuple(one for one in left if situation.goals(ahead(one)) & about) if name.startswith("in(robot, ") else ()


def _has_end(formula: Formula) -> bool:
    ends = formula.window is not None or formula.operator in ("U", "W", "R", "M")
    return ends or any(map(_has_end, formula.operands))


def lift_rule(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Return the operation that lifts the rule about the same objects; raise UnclearError unless there is one."""
    rules = [one for one in situation.plan.constraints if not one.goal]
    if exact := [rule for rule in rules if rule.words == request.text]:
        return (LiftRule(str(exact[0].formula)),)
    names = set(names_in(request.text, situation.scene))
    fitting = [rule for rule in rules if names.intersection(arguments_of(rule.formula))] if names else rules
    if len(fitting) == 1:
        return (LiftRule(str(fitting[0].formula)),)
    if fitting:
        options = [f"forget the rule {rule.words}" for rule in fitting]
        words = [rule.words for rule in fitting]
        raise UnclearError("Which of these rules do you mean?", options, request.text, words)
    listed = "; ".join(rule.words for rule in rules) or "none"
    raise UnclearError(f"There is no rule about that. The rules are: {listed}. Which do you mean?")


Requests = tuple[Request, ...]
_NAMES = ("thing", "instead_of", "target", "about")  # slots with names


@dataclass(frozen=True)
class Pending:
    """Requests that an open question is about.

    `choices` are the requests for each option. `fill` completes the requests with a name; None if no name can answer.
    """

    choices: tuple[Requests, ...] = ()
    fill: Callable[[str], Requests] | None = None


def pending_of(requests: Requests, which: int, words: str, names: Sequence[str]) -> Pending | None:
    """Return what an answer completes after `words` of a request were unclear.

    Args:
        requests: All requests of the utterance.
        which: Index of the request that cannot be carried out.
        words: Its unclear words; "" if it names no object at all.
        names: Substitutes for the words, one for each option of the question.

    Returns:
        None if a name would not complete the request.
    """

    def fill(name: str) -> Requests:
        done = _filled(requests[which], words, name)
        return (*requests[:which], done, *requests[which + 1 :])

    if _filled(requests[which], words, "?") == requests[which]:
        return None
    return Pending(tuple(map(fill, names)), fill)


def _filled(request: Request, words: str, name: str) -> Request:
    if not words:
        lacks_thing = request.intent is Intent.OTHER_THING and not request.thing
        return replace(request, thing=name, negated=False, text="") if lacks_thing else request
    found: dict[str, Any] = {slot: name for slot in _NAMES if getattr(request, slot) == words}
    if not found and words in request.text:
        found = {"text": request.text.replace(words, name)}
    return replace(request, **found)


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
    """Build the edit for these requests, in order; it is a single `Clarify` if one of them cannot be decided."""
    requests = [_resolved(request, words, situation) for request in requests]
    back = [one for one in requests if one.intent is Intent.PUT_BACK]
    if any(one.thing for one in back):  # "take it out, put it back" concerns one object
        requests = [one for one in requests if one.intent is not Intent.PUT_BACK or one.thing]
    if situation.scene.held and any(one.intent is Intent.OTHER_THING for one in requests):
        requests = [one for one in requests if one.intent is not Intent.PUT_BACK]  # implied by the other object
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
    scope = Scope.ONCE if all(isinstance(one, Remember | Forget) for one in found) else scope
    return Edit(found, words, situation.version, scope, about)


def _unused(options: Sequence[str], situation: Situation) -> int:
    """Return the index of the first option that the plan does not use, 0 if it uses all."""
    used = {the(name) for step in situation.plan.steps for name in step.arguments.values() if isinstance(name, str)}
    return next((number for number, option in enumerate(options) if option not in used), 0)


def _with(before: list[Operation], added: tuple[Operation, ...], request: Request) -> list[Operation]:
    """Append operations; the replacement of a removed step goes in its place: "skip the kitchen, go to the dock"."""
    removed = [one.step for one in before if isinstance(one, Remove)]
    again = [one.step for one in added if isinstance(one, Remove)]
    if again and {*again} <= {*removed}:
        return before  # "put it back and skip this": removed already
    if request.intent is not Intent.ADD or request.when is not When.NEXT or not removed:
        return [*before, *added]
    there = [replace(one, before=removed[0]) if isinstance(one, Insert) else one for one in added]
    return [*there, *before]


def _settled(operations: Sequence[Operation]) -> list[Operation]:
    """Remove duplicates, and changes of a quantity of a step before an exact value."""
    kept: list[Operation] = []
    for operation in operations:
        if isinstance(operation, Adjust) and operation.change is Change.SET:
            of = (operation.quantity, operation.step)
            kept = [one for one in kept if not (isinstance(one, Adjust) and (one.quantity, one.step) == of)]
        if isinstance(operation, Insert) or operation not in kept:
            kept.append(operation)
    return kept


def _resolved(request: Request, words: str, situation: Situation) -> Request:
    """Complete the request with what the rest of the utterance says."""
    if request.intent is Intent.FIRST and _NEXT.search(words.lower()) and not _FIRST.search(words.lower()):
        request = replace(request, when=When.NEXT)
    if request.intent is Intent.SHIFT:
        request = replace(request, text=words)
    if request.intent is Intent.RULE and request.scope is Scope.ONCE and _FOR_EVER.search(words.lower()):
        request = replace(request, scope=Scope.ALWAYS)
    about = request.thing or request.about or request.near or request.instead_of
    if request.intent in OF_MOTION and request.scope is not Scope.ONCE and not about:
        request = replace(request, about=_only_named(words, situation))
    return with_names(request, words, situation)


def _only_named(words: str, situation: Situation) -> str:
    """Return the only object or kind that the words name, "" for none or several."""
    lifted = lift(words, scene_phrases(situation.scene), slips=False)
    found = [word.text for word in lifted if word.segment in ("object", "kind", "person")]
    return found[0] if len(found) == 1 else ""


def _check_one_kind(requests: Sequence[Request]) -> None:
    """Raise UnclearError if one change of motion is to be remembered for several objects."""
    kept = [request for request in requests if request.scope is not Scope.ONCE and request.about]
    for one, other in pairwise(kept):
        if one.intent is other.intent and one.about != other.about:
            raise UnclearError(f"One at a time, please: shall I remember that of “{one.about}” or of “{other.about}”?")


def about_of(words: str, situation: Situation) -> str:
    """Return the name of the object that the words mean, or else its kind with its colour; "" without words."""
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
    """Undo the last edit if a negated request ("don't go slower") rejects it; else change nothing."""
    newest = situation.edits[-1].operations if situation.edits else ()
    return (Undo(),) if newest == operations else ()


def _without_idle_moves(operations: Sequence[Operation], situation: Situation) -> list[Operation]:
    """Remove moves that keep the order; raise AlreadySoError if nothing else is requested."""
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
