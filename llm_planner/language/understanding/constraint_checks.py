"""Checks of a large model's reading against the command: goals and rules that contradict it or add to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from llm_planner.language.grounding.lifting import LENGTHS, TIMES, Lifted, lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.language.understanding.clauses import conditions, orders, times
from llm_planner.language.understanding.grounding import Grounded, amounts_of
from llm_planner.language.understanding.wording import (
    arguments_of,
    avoids,
    denies,
    exchanged,
    has_denial,
    is_english,
    is_known_language,
    limits_duration,
    numbers,
    plain_word,
    sign,
    words_of,
)
from llm_planner.ltl.formula import Constraint, Formula
from llm_planner.scene.driven_base import fixed_places
from llm_planner.scene.names import the
from llm_planner.scene.propositions import SLOW, Moment, holds, parse_proposition
from llm_planner.scene.scene import Scene

QUOTED = 0.7  # share of the words of a constraint that must come from the command
_ANY = frozenset((  # with one of these words a sentence may mean any object
    "everything", "everyone", "everybody", "anything", "anyone", "anybody", "nothing", "nobody", "things", "objects",
    "items", "stuff", "others", "rest", "else", "whatever", "them", "they", "same", "people", "somebody", "someone",
    "table", "rooms", "thing", "object", "item", "something",
))  # fmt: skip
_ANY_OF = frozenset((  # also with one of these, unless a kind follows: "all blocks"
    "all", "every", "each", "any", "other", "both", "whichever", "which", "what", "these", "those",
))  # fmt: skip
_NEAR = 4  # words after "all" within which the kind must follow


def unnamed(names: Iterable[str], words: Sequence[str], scene: Scene, goals: Sequence[Formula] = ()) -> tuple[str, ...]:
    """Find objects, people and rooms that no sentence mentions by name, kind or colour.

    If a word may mean any of them, or the language is unknown, names in `goals` count as mentioned.

    Args:
        names: Names to check.
        words: Sentences of the person.
        scene: Scene of the names.
        goals: Formulas whose names the person may mean.

    Returns:
        The unmentioned names; () if the words leave it open and there are no goals.
    """
    text = " . ".join(words)
    sentence = lift(text, scene_phrases(scene))
    named = {(word.segment, word.name) for word in sentence}
    known = {name for entry, name in named if entry in ("object", "person", "room")}
    kinds = {name for entry, name in named if entry == "kind"}
    known |= {item.name for item in scene.objects if item.kind in kinds or ("color", item.color) in named}
    known |= {item.name for item in scene.objects if item.name.rstrip("0123456789 ") in known}  # "the left red block"
    known |= {room for kind in kinds for room in (scene.building.names if scene.building else ())
              if room.startswith(f"{kind} ")}  # fmt: skip
    if not is_known_language(text, scene) or _means_any(sentence):
        if not goals:
            return ()
        known |= {name for goal in goals for name in arguments_of(goal)}
    return tuple(name for name in dict.fromkeys(names) if name not in known)


def _means_any(words: Sequence[Lifted]) -> bool:
    """Return whether a word may mean any object; the kind in "all blocks" excludes that."""
    texts = [plain_word(word) for word in words]
    things = [word.segment in ("object", "kind", "color") for word in words]
    return not _ANY.isdisjoint(texts) or any(
        (text in ("one", "ones") and not any(things[max(0, place - 2) : place]))
        or (text in _ANY_OF and not any(things[place + 1 : place + _NEAR]))
        for place, text in enumerate(texts)
    )


def is_quoted(constraint: Constraint, command: str) -> bool:
    """Return whether the words of a constraint come from the command."""
    said, command = words_of(constraint.words), command.lower()
    return sum(word in command for word in said) >= QUOTED * len(said)


def named_by(constraint: Constraint, scene: Scene) -> tuple[str, ...]:
    """Return the objects, people and rooms of the scene that a constraint names."""
    here = {*scene.names, *(scene.building.names if scene.building else ())}
    return tuple(one for one in arguments_of(constraint.formula) if one in here)


_ORDERED = frozenset(("!", "->", "<->", "U", "W", "R", "M", "|"))  # operators that may reverse an order in time


def unfaithful(reading: Grounded, command: str, said: Sequence[str], scene: Scene) -> tuple[str, ...]:
    """Describe each contradiction between a reading and the command; `said` also holds the earlier commands."""
    found = [*_of_goals(reading, command, said, scene)]
    for constraint in reading.constraints:
        found += [*_of_constraint(constraint, command, said, scene)]
    if sign(command, "speed") < 0 and not any(_is_of_speed(one.formula) for one in reading.constraints):
        found.append("the command asks for slowness, but no constraint limits the speed")
    return tuple(dict.fromkeys(found))


def _of_goals(reading: Grounded, command: str, said: Sequence[str], scene: Scene) -> Iterator[str]:
    rooms = scene.building.names if scene.building else ()
    items = {name: parse_proposition(name) for goal in reading.goals for name in goal.propositions}
    unnegated = [parse_proposition(goal.name) for goal in reading.goals if not goal.operator]
    about = [one for item in unnegated for one in item.arguments if one in (*scene.names, *rooms)]
    known = is_known_language(" . ".join(said), scene)
    others = [one.formula for one in reading.constraints] if known else []  # else the plan is checked instead
    for name in unnamed(about, said, scene, others):
        yield f"the command does not speak of {name!r}, but a goal does"
    moment = Moment(scene, fixed_places(scene))
    for goal in reading.goals:
        if goal.operator != "!" or has_denial(command):
            continue
        item = items[goal.operands[0].name]
        if item.predicate != "moved" and not holds(item, moment) and not unnamed(item.arguments, said, scene):
            yield f"{goal} is so already, and the command denies nothing"
    pairs = [(item.arguments[0], item.arguments[1]) for item in unnegated if len(item.arguments) == 2]
    for a, b in exchanged(pairs, command, scene):
        yield f"the command does not name {a!r} together with {b!r}, but a goal does"


def _of_constraint(constraint: Constraint, command: str, said: Sequence[str], scene: Scene) -> Iterator[str]:
    formula, words = constraint.formula, constraint.words
    yield from opposed(formula, words)
    yield from () if constraint.goal else turned(formula, words, scene)
    wanted = [number for text in said for number in numbers(text, scene)]
    told = bool(wanted) or is_english(command)  # numbers may be words that are not known here
    has_unit = not {*words_of(command)}.isdisjoint({*LENGTHS, *TIMES} - {"s", "m", "h"})  # of an unknown number
    usual = () if any(number.dimension == "m/s" for number in wanted) else (SLOW[scene.robot_kind],)
    for bound in amounts_of(formula) if told else ():
        if bound in usual and _is_of_speed(formula):
            continue
        if not any(number.is_among((bound,)) for number in wanted) and (wanted or not has_unit):
            yield f"the command does not say {bound:g}, but {formula} does"
    depths = dict[str, int]()
    if not _operators(formula) & _ORDERED:
        _nesting(formula, 0, depths)
        for order in orders(command, scene):
            if order.is_reversed(depths):
                yield f"the command tells one thing after the other, but {formula} has them in another order"


def opposed(formula: Formula, words: str) -> Iterator[str]:
    """Describe where a formula reverses its words: it lacks their negation, or has an upper bound for a lower."""
    operators = _operators(formula)
    measures = [item for item in map(parse_proposition, formula.propositions) if item.comparison]
    is_goal = formula.operator == "F" and "U" not in operators
    if avoids(words) and not operators & {"!", "W", "R", "M"} and not measures and (is_goal or "G" not in operators):
        yield f"“{words}” denies something, but {formula} does not"
    if limits_duration(words) and not _limits_duration(formula):
        yield f"“{words}” limits how long something lasts, but {formula} does not"
    wanted = 0 if denies(words) else sign(words, "bound")  # "not within 5 cm" sets a bound below
    if wanted and len(measures) == 1 and "!" not in operators:
        (measure,) = measures
        if (measure.comparison == ">") != (wanted > 0):
            yield f"“{words}” is {'at least' if wanted > 0 else 'at most'}, but {formula} is not"
    lifts = sign(words, "height")
    if lifts > 0 and denies(words):
        lifts = -lifts
    if lifts < 0 and denies(words) and len(measures) == 1 and "!" not in operators and measures[0].comparison == ">":
        yield f"“{words}” sets a bound above, but {formula} one below"


def turned(formula: Formula, words: str, scene: Scene) -> Iterator[str]:
    """Describe where a rule has the condition of its words the other way round: "never ... unless", "only if"."""
    signs = dict[str, set[bool]]()
    _signs(formula, True, signs)
    timed = [names for names, main in times(words, scene) if not main.isdisjoint(signs)]
    for condition in conditions(words, scene):
        if condition.main and condition.main.isdisjoint(signs):
            continue  # of another rule in the same words
        for name in sorted(condition.names & signs.keys() - frozenset[str]().union(*timed)):
            if signs[name] == {condition.excepts == condition.negated}:
                yield f"“{words}” has a condition about {the(name)}, but {formula} has it the other way round"


def _signs(formula: Formula, sign: bool, found: dict[str, set[bool]]) -> None:
    """Record for each name whether its propositions help the formula by being true, by being false, or both."""
    if formula.name:
        for name in parse_proposition(formula.name).arguments:
            found.setdefault(name, set()).add(sign)
    for index, operand in enumerate(formula.operands):
        turns = formula.operator == "!" or (formula.operator == "->" and index == 0)
        for one in (True, False) if formula.operator == "<->" else (sign ^ turns,):
            _signs(operand, one, found)


def _limits_duration(formula: Formula, denied: bool = False, always: bool = False) -> bool:
    """Return whether a formula says that something never lasts for longer than a window: G F[0,n] !p, G !G[0,n] p."""
    if formula.window and ((formula.operator == "F" and always and not denied) or (formula.operator == "G" and denied)):
        return True
    denied, always = denied ^ (formula.operator == "!"), always or formula.operator == "G"
    return any(_limits_duration(operand, denied, always) for operand in formula.operands)


def _operators(formula: Formula) -> set[str]:
    return {formula.operator}.union(*map(_operators, formula.operands))


def _is_of_speed(formula: Formula) -> bool:
    return any(parse_proposition(name).predicate == "speed" for name in formula.propositions)


def _nesting(formula: Formula, depth: int, found: dict[str, int]) -> None:
    """Record the nesting depth of each name in "F" operators."""
    if formula.name:
        for name in parse_proposition(formula.name).arguments:
            found.setdefault(name, depth)
    for operand in formula.operands:
        _nesting(operand, depth + (formula.operator == "F"), found)
