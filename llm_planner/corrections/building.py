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

from llm_planner.corrections.building_errands import (
    add,
    again,
    duration,
    first_or_go,
    last,
    put_back,
    skip_or_forbid,
    skip_rest,
    skip_this,
    swap_order,
    without,
)
from llm_planner.corrections.building_motion import shift, too_far
from llm_planner.corrections.building_quantities import height_or_clearance, of_a_step, skip_wait, speed
from llm_planner.corrections.building_targets import other_target, other_thing
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


_NEXT = re.compile(r"\b(?:next|after this|after that|then)\b")
_FIRST = re.compile(r"\b(?:first|before)\b")
_FOR_EVER = re.compile(
    r"\b(?:never|always|from (?:now|here|today) on|in (?:the )?future|for good|ever again|all the time"
    r"|until further notice"
    r"|(?:at|for|in|on) (?:all|every)(?: the)?(?: next| later| future)? (?:times|ones|jobs?|tasks?|trips?))\b"
)


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
        lasting = [request for request in requests if request.scope is not Scope.ONCE and request.about]
        for one, other in pairwise(lasting):
            if one.intent is other.intent and one.about != other.about:
                question = f"One at a time, please: shall I remember that of “{one.about}” or of “{other.about}”?"
                raise UnclearError(question)
        for request in requests:
            try:
                if request.intent in _PLANNERS:
                    added = _PLANNERS[request.intent](request, situation, sources)
                else:
                    added = _BUILDERS[request.intent](request, situation)
                if request.negated and request.intent not in (Intent.OTHER_THING, Intent.OTHER_TARGET):
                    # "don't go slower" undoes the edit that did so, and else changes nothing
                    added = (Undo(),) if situation.edits and situation.edits[-1].operations == added else ()
                operations = _with(operations, added, request)
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
            used = {
                the(value)
                for step in situation.plan.steps
                for value in step.arguments.values()
                if isinstance(value, str)
            }
            unused = (choice for name, choice in zip(unclear.names, pending.choices, strict=True) if name not in used)
            return build(next(unused, pending.choices[0]), words, situation, sources)
        return Edit((Clarify(str(unclear), unclear.options, pending),), words, situation.version)
    scope = Scope.ONCE if all(isinstance(one, Remember | Forget) for one in found) else scope
    return Edit(found, words, situation.version, scope, about)


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
        lifted = lift(words, scene_phrases(situation.scene), slips=False)
        named = [word.text for word in lifted if word.segment in ("object", "kind", "person")]
        request = replace(request, about=named[0] if len(named) == 1 else "")
    return with_names(request, words, situation)


def about_of(words: str, situation: Situation) -> str:
    """Return the name of the object that the words mean, else its kind with its colour; "" and "everything" stay."""
    if words in ("", "everything"):
        return words
    if words in ("people", "persons", "humans", "children", "kids"):
        return "person"
    description = described(words, situation.scene)
    if description.name:
        return description.name
    return " ".join(filter(None, (description.color, description.kind or description.unknown)))


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


_BUILDERS: dict[Intent, Callable[[Request, Situation], tuple[Operation, ...]]] = {
    Intent.HOLD: lambda request, situation: (Hold(),),
    Intent.RESUME: lambda request, situation: (Resume(),),
    Intent.CANCEL: lambda request, situation: (Cancel(),),
    Intent.SHIFT: shift,
    Intent.TOO_FAR: too_far,
    Intent.SPEED: speed,
    Intent.HEIGHT: height_or_clearance,
    Intent.CLEARANCE: height_or_clearance,
    Intent.DISTANCE: of_a_step,
    Intent.OTHER_THING: other_thing,
    Intent.LAST: last,
    Intent.SWAP: swap_order,
    Intent.SKIP: skip_or_forbid,
    Intent.SKIP_THIS: lambda request, situation: skip_this(situation),
    Intent.SKIP_REST: lambda request, situation: skip_rest(situation),
    Intent.SKIP_WAIT: skip_wait,
    Intent.PUT_BACK: put_back,
    Intent.AGAIN: again,
    Intent.LIFT: lift_rule,
    Intent.REMEMBER: lambda request, situation: (Remember(request.scope),),
    Intent.FORGET: lambda request, situation: (Forget(about_of(request.about, situation)),),
    Intent.UNDO: lambda request, situation: (Undo(),),
    Intent.YES: lambda request, situation: (Confirm(True),),
    Intent.NO: lambda request, situation: (Confirm(False),),
    Intent.OPTION: lambda request, situation: (),
    Intent.NOTHING: lambda request, situation: (),
}
_PLANNERS: dict[Intent, Callable[[Request, Situation, Sources], tuple[Operation, ...]]] = {
    Intent.DURATION: duration,
    Intent.OTHER_TARGET: other_target,
    Intent.FIRST: first_or_go,
    Intent.ADD: add,
    Intent.RULE: add_rule,
}
