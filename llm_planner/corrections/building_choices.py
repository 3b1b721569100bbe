"""Ambiguous requests, which the plan resolves, and the wording of requests.

The plan decides whether an object is meant as the one to grasp or as a target, and whether any errand concerns it.
`in_words` words a request so that the reader reads it as the same request; questions offer these words as options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from llm_planner.corrections.building_objects import add, is_for_one, replaced_errand, same_kind, take_other, the_other
from llm_planner.corrections.building_order import first, skip, skip_this
from llm_planner.corrections.building_quantities import of_a_step, steps_with
from llm_planner.corrections.building_targets import retarget
from llm_planner.corrections.edits import AddRule, Operation
from llm_planner.corrections.references import AlreadySoError, UnclearError, candidates, described, is_region, is_room
from llm_planner.corrections.situation import (
    Errand,
    Situation,
    current,
    destinations_of,
    errands_ahead,
    is_rest,
    named,
    subject,
)
from llm_planner.corrections.sources import Sources
from llm_planner.language.correction_requests import Frame, Intent, Request, Scope, Sense, Size, When
from llm_planner.language.grounding.naming import CONTAINERS, SURFACES
from llm_planner.scene.names import the
from llm_planner.scene.predicates import is_container
from llm_planner.scene.scene import SceneObject

_SIZES = {Size.BIT: "a bit ", Size.PLAIN: "", Size.MUCH: "much "}
_SCOPES = {Scope.TASK: "for now ", Scope.SESSION: "today ", Scope.ALWAYS: "from now on "}
_FIXED: Mapping[Intent, str] = {
    Intent.HOLD: "wait", Intent.RESUME: "go on", Intent.CANCEL: "forget the whole plan",
    Intent.SKIP_THIS: "skip this one", Intent.SKIP_REST: "skip everything after this one", Intent.UNDO: "undo that",
    Intent.YES: "yes", Intent.NO: "no",
}  # fmt: skip
_MORE_LESS: Mapping[Intent, tuple[str, str]] = {
    Intent.SPEED: ("go {}faster", "go {}slower"),
    Intent.HEIGHT: ("carry it {}higher", "carry it {}lower"),
    Intent.CLEARANCE: ("leave {}more room", "leave {}less room"),
    Intent.DURATION: ("wait {}longer", "wait {}shorter"),
}
_DISTANCES: Mapping[str, tuple[str, str]] = {
    "push": ("push it {}further", "push it {}less far"),
    "place": ("leave a {}wider gap", "leave a {}smaller gap"),
    "follow": ("follow {}further behind", "follow {}closer"),
    "": ("push it {}further", "push it {}less far"),
}
_RELATIONS = {"beside": "next to", "left": "to the left of", "right": "to the right of", "top": "behind",
              "bottom": "in front of", "at": "on", "opposite": "to the other side of"}  # fmt: skip
_DETERMINERS = frozenset(("the", "a", "an", "my", "your", "our", "this", "that", "these", "those", "all", "both",
                          "every", "each", "any", "it", "everything", "some", "one"))  # fmt: skip
_MEMORY = {Scope.ONCE: "just this once", Scope.TASK: "only for now", Scope.SESSION: "only for today",
           Scope.ALWAYS: "remember that"}  # fmt: skip


def in_words(request: Request) -> str:
    """Word a request, with its scope but without `about`; "" if it is not a correction."""
    said = _FIXED.get(request.intent) or _said(request)
    return f"{_SCOPES.get(request.scope, '')}{said}" if said and request.intent is not Intent.REMEMBER else said


def _said(request: Request) -> str:
    thing, target = _the(request.thing) or "it", _the(request.target)
    words: Mapping[Intent, str] = {
        Intent.SHIFT: _shift(request),
        Intent.TOO_FAR: " ".join(filter(None, ("too far", request.direction))),
        Intent.OTHER_THING: f"take {thing} instead" if request.thing else f"not {_the(request.instead_of)}",
        Intent.OTHER_TARGET: _target(request),
        Intent.FIRST: f"do {thing} {request.relation} {target}" if request.relation else f"do {thing} first",
        Intent.LAST: f"do {thing} last" if request.thing else "leave it for last",
        Intent.SKIP: f"skip {'everything except ' if request.relation else ''}{_the(request.thing)}",
        Intent.SKIP_WAIT: f"do not wait at {target}" if target else "do not wait",
        Intent.AGAIN: _again(request),
        Intent.SWAP: f"{thing} and {target} the other way round" if request.target else "the other one first",
        Intent.PUT_BACK: f"put {thing} back",
        Intent.ADD: f"{_when(request)} {request.text}",
        Intent.RULE: request.text,
        Intent.LIFT: request.text,
        Intent.REMEMBER: _MEMORY[request.scope],
        Intent.FORGET: _forget(request.about),
    }
    if request.intent in _MORE_LESS or request.intent is Intent.DISTANCE:
        return _quantity(request)
    return words.get(request.intent, "")


def _again(request: Request) -> str:
    thing = _the(request.thing)
    if request.number is not None:
        more = " more" if request.sense is Sense.MORE else ""
        return f"do {thing or 'that'} {request.number:g}{more} times"
    return f"{thing} as well" if thing else "do that again"


def _when(request: Request) -> str:
    is_next = request.when is When.NEXT
    if request.target:
        return f"{'before' if is_next else 'after'} {_the(request.target)}"
    return "first" if is_next else "then"


def _the(words: str) -> str:
    """Add an article to words without a determiner."""
    first = words.split(" ")[0].lower()
    return f"the {words}" if words and first not in _DETERMINERS and not first[:1].isdigit() else words


def _quantity(request: Request) -> str:
    amount = f"{request.number:g} {request.unit}" if request.number is not None else ""
    if request.sense is Sense.NORMAL:
        return "normal speed"
    if request.sense is Sense.EXACT:
        verb = {"push": "push it", "place": "leave", "follow": "stay behind by", "wait": "wait"}.get(
            request.text, "make it"
        )
        return f"go at {amount}" if request.intent is Intent.SPEED else f"{verb} {amount.strip()}"
    wordings = _MORE_LESS.get(request.intent) or _DISTANCES[request.text]
    wording = wordings[request.sense is Sense.LESS]
    return wording.format(f"{amount} " if amount else _SIZES[request.size])


def _shift(request: Request) -> str:
    amount = f"{request.number:g} {request.unit} " if request.number is not None else _SIZES[request.size]
    if request.direction in ("towards", "away"):
        return f"{amount}{request.direction}{' from' if request.direction == 'away' else ''} {_the(request.target)}"
    side = request.direction in ("left", "right")
    if request.frame is Frame.ROBOT:
        ways = {"forward": "away from you", "backward": "towards you"}
        return f"{amount}{f'to your {request.direction}' if side else ways.get(request.direction, request.direction)}"
    ways = {"opposite": "the other way", "more": "further"}
    return f"{amount}{f'to the {request.direction}' if side else ways.get(request.direction, request.direction)}"


def _target(request: Request) -> str:
    if request.relation == "direction":
        return f"push it {request.direction} instead"
    relation = _RELATIONS.get(request.relation, request.relation or "in")
    gap = f"{request.number:g} {request.unit} " if request.number is not None else ""
    return f"put {_the(request.thing) or 'it'} {gap}{relation} {_the(request.target)} instead"


def _forget(about: str) -> str:
    return (
        "forget everything"
        if about == "everything"
        else f"forget what I told you about {about}"
        if about
        else "forget that"
    )


def other_thing(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Change the object to grasp, or the target if the named object is of the target's kind.

    A rejected object outside of the plan is ignored: "the blue, no, the green one".
    """
    if request.thing and request.instead_of and not _is_in_plan(request.instead_of, situation):
        request = replace(request, instead_of="")
    place = request.thing and (is_room(request.thing, situation.scene) or is_region(request.thing))
    if place or (request.thing and _is_target(request, situation)):
        return retarget(replace(request, target=request.thing, thing=""), situation)
    if request.negated and request.instead_of and not is_for_one(request.instead_of, situation):
        return _not_this(request, situation)
    errand = replaced_errand(request, situation)
    return take_other(errand, the_other(request, situation, errand).name, situation)


def _is_in_plan(words: str, situation: Situation) -> bool:
    names = {item.name for item in candidates(words, situation.scene, situation.viewpoint)}
    return not names or bool(names & _in_plan(situation)) or is_room(words, situation.scene)


def _in_plan(situation: Situation) -> set[str]:
    """Return the objects and destinations of the remaining errands."""
    left = errands_ahead(situation)
    return {name for errand in left for name in (subject(errand, situation), *_goals(errand, situation))}


def _not_this(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Take the other object of the kind ("not the mug"), or skip the errand if there is none."""
    errand = replaced_errand(request, situation)
    name = subject(errand, situation)
    same = [item for item in situation.scene.objects if name and item.kind == situation.scene.find(name).kind]
    if len(same) > 1 and errand is errands_ahead(situation)[0]:
        return take_other(errand, the_other(request, situation, errand).name, situation)
    return skip(replace(request, thing=request.instead_of), situation)


def _is_target(request: Request, situation: Situation) -> bool:
    """Whether the object is of a target's kind and not of the grasped kind; raise UnclearError if it may be both."""
    if request.target or not errands_ahead(situation):
        return False
    errand = current(situation)
    about = subject(errand, situation)
    targets = [name for step in errand for name in destinations_of(step, situation) if name != about]
    if request.instead_of:
        return not _is_taken(request.instead_of, situation)
    things = same_kind(request.thing, about, situation)
    goals = [item for name in targets for item in same_kind(request.thing, name, situation)]
    if list(things) == goals and len(goals) == 1 and situation.scene.held:
        _raise_either(things[0], situation)
    if things and goals and situation.scene.held:
        options = [the(item.name) for item in (*things, *goals)]
        raise UnclearError(
            f"Which one do you mean by “{request.thing}”: {' or '.join(options)}?", options, request.thing
        )
    found = candidates(request.thing, situation.scene, situation.viewpoint)
    holds_another = situation.scene.held and targets and not things and not goals
    if holds_another and len(found) == 1 and found[0].kind in (*CONTAINERS, *SURFACES):
        _raise_either(found[0], situation)
    return bool(goals) and not things


def _raise_either(item: SceneObject, situation: Situation) -> None:
    """Ask whether the held object goes to `item` or `item` is taken instead."""
    name, held = the(item.name), the(situation.scene.held)
    options = (f"put it {'in' if is_container(item) else 'on'} {name}", f"take {name}")
    raise UnclearError(f"Does {held} go to {name}, or shall I take {name} instead of it?", options)


def other_target(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Change a target; for an object that no errand grasps, or for several, add a new command."""
    if not (request.target or request.instead_of or request.relation):
        raise UnclearError(f"Where shall I put {the(situation.scene.held) if situation.scene.held else 'it'} down?")
    several = bool(request.thing) and described(request.thing, situation.scene).plural
    if several and "both" in request.thing.split() and len(taken := _taken(request.thing, situation)) == 2:
        return _each_elsewhere(request, taken, situation)
    if several or (request.thing and not _is_taken(request.thing, situation)):
        if request.instead_of and not several and _is_taken(request.instead_of, situation):
            return other_thing(replace(request, target="", relation=""), situation, sources)
        said = in_words(replace(request, scope=Scope.ONCE)).removesuffix(" instead")
        command = replace(request, text=request.text or said)
        _check_for_now(command)
        return add(command, situation, sources)
    place = is_region(request.instead_of) or is_room(request.instead_of, situation.scene)
    if request.instead_of and not place and not request.thing and _is_acted_on(request.instead_of, situation):
        return other_thing(replace(request, thing=request.target, target="", relation=""), situation, sources)
    return retarget(request, situation)


def _is_acted_on(words: str, situation: Situation) -> bool:
    """Whether a remaining step acts on a named object other than by placing something there."""
    names = named(words, situation)
    steps = (step for step in situation.ahead if not situation.skills[step.skill].empties_gripper)
    return any(step.arguments.get("object") in names for step in steps)


def _check_for_now(request: Request) -> None:
    """Raise UnclearError if a new command is to be remembered."""
    if request.scope is not Scope.ONCE:
        question = f"I remember how things are done, not what is to be done. Shall I {request.text} now?"
        raise UnclearError(question, (request.text,))


def _each_elsewhere(request: Request, names: Sequence[str], situation: Situation) -> tuple[Operation, ...]:
    """Change the target of each object; raise AlreadySoError if all have it already."""
    operations: list[Operation] = []
    is_so: AlreadySoError | None = None
    for name in names:
        try:
            operations += retarget(replace(request, thing=name), situation)
        except AlreadySoError as known:
            is_so = known
    if is_so is not None and not operations:
        raise is_so
    return tuple(operations)


def _is_taken(words: str, situation: Situation) -> bool:
    return bool(_taken(words, situation))


def _taken(words: str, situation: Situation) -> tuple[str, ...]:
    """Return the named objects that a remaining errand acts on."""
    names = named(words, situation)
    about = dict.fromkeys(subject(errand, situation) for errand in errands_ahead(situation))
    return tuple(name for name in about if name in names)


def skip_or_forbid(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Skip the errands of an object; if there are none, add a rule not to move the object."""
    if not request.thing:
        return skip_this(situation)
    if is_rest(request.thing) or request.relation or is_room(request.thing, situation.scene):
        return skip(request, situation)
    names = named(request.thing, situation)
    if _in_plan(situation) & set(names):
        return skip(request, situation)
    if len(names) > 1:
        raise UnclearError(f"Nothing that is left to do is about “{request.thing}”. What do you mean?")
    (name,) = names
    return (AddRule(f"G !moved({name})", request.text or f"leave {the(name)} alone"),)


def _goals(errand: Errand, situation: Situation) -> set[str]:
    return {name for step in errand for name in destinations_of(step, situation)}


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
        if request.relation == "after" or not _is_somewhere(request.thing, situation):
            raise
    way = replace(request, intent=Intent.ADD, text=f"go to {request.thing}", when=When.NEXT)
    return add(way, situation, sources)


def _is_somewhere(words: str, situation: Situation) -> bool:
    """Whether the words name a room or a person."""
    names = [name for name in situation.scene.names if name.lower() == words]
    return is_room(words, situation.scene) or any(situation.scene.find(name).kind == "person" for name in names)
