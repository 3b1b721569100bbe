"""What a reading claims to stand for, held against its formulas: no thing named and no condition may get lost."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.understanding.wording import plain
from llm_planner.temporal.constraint import Constraint
from llm_planner.world.propositions import parse_proposition
from llm_planner.world.scene import Scene

EXCEPTION = re.compile(r"\b(?:except|but|besides|other than|apart from|excluding)\b.*")
RETRACTION = re.compile(
    r"\b(?:no,? wait|(?:wait|sorry|actually),? no|i mean|i meant|make that|scratch that|or rather"
    r"|(?:no|oh|oops|ah),? sorry)\b"
    r"|(?:,|\.\.+|…|[–—-])\s*no\s*(?:,|\.\.+|…)"
)
CONDITION = re.compile(
    r"\b(?:never|dont|mustnt|until|till|unless|whenever|always|avoid|within|not before|only after|as soon as"
    r"|each time|every time|as long as|nothing|nobody)\b"
)
OF_A_STEP = frozenset(("until", "till", "within", "whenever", "as soon as", "each time", "every time", "as long as"))
PEOPLE = re.compile(r"\b(?:persons?|people|humans?|any(?:body|one)|every(?:body|one))\b")
SPEED = re.compile(r"\b(?:[kcm]?m ?/ ?[smh]|(?:met(?:er|re)s?|cm) (?:a|per) second|faster|slower|speed)\b")
LENGTH = re.compile(r"\d ?(?:cm|mm|m|(?:centi|milli)?met(?:er|re)s?)\b")
DURATION = re.compile(r"\d ?(?:s|secs?|seconds?|min|minutes?)\b")


def check_names(constraint: Constraint, scene: Scene) -> None:
    """Raises InputError when the words name a thing or a room that the formula says nothing of.

    What is named after "except" and the like may be left out: "every room except the lab" lists the others. So may
    what is taken back, the last name before "no, sorry": "to the lab, no, sorry, the hall".
    """
    *taken_back, said = RETRACTION.split(constraint.words.lower())
    for name in [name for part in taken_back for name in _named(part, scene)[:-1]] + _named(said, scene):
        if name not in arguments_of(constraint):
            raise InputError(f"“{constraint.words}” speaks of {name!r}, but {constraint.formula} does not")


def arguments_of(constraint: Constraint) -> set[str]:
    """Every thing, place and skill that its propositions name."""
    return {name for item in constraint.formula.propositions for name in parse_proposition(item).arguments}


def _named(words: str, scene: Scene) -> list[str]:
    return names_in(EXCEPTION.sub("", plain(words)), scene)


def names_in(text: str, scene: Scene) -> list[str]:
    """Things and rooms whose full names are in a plain text, in their order; one within a longer one is not meant."""
    rooms = scene.building.names if scene.building else ()
    places: dict[int, str] = {}
    for name in sorted((*scene.names, *rooms), key=len, reverse=True):
        pattern = rf"\b{re.escape(plain(name))}\b"
        for found in re.finditer(pattern, text):
            places[found.start()] = name
        text = re.sub(pattern, lambda found: "_" * len(found[0]), text)
    return [places[start] for start in sorted(places)]


def check_conditions(task: str, constraints: tuple[Constraint, ...], insisted: bool = False) -> None:
    """Raises InputError when the task has a word that sets a condition and no constraint stands for it.

    Where it is `insisted` that these are of the task, words that may say how long a step goes on
    are left to the program.
    """
    covered = " ".join(plain(constraint.words) for constraint in constraints)
    lost = [word for word in CONDITION.findall(plain(task)) if word not in covered]
    if lost := [word for word in lost if not (insisted and word in OF_A_STEP)]:
        raise InputError(f"the task “{task}” has a condition ({lost[0]!r}) that is in no constraint; make it one")


def check_amounts(constraint: Constraint) -> None:
    """Raises InputError when the words speak of a speed, a length or a time and the formula does not."""
    text, formula = constraint.words.lower(), constraint.formula
    meant = {parse_proposition(item).predicate for item in formula.propositions} | arguments_of(constraint)
    others = SPEED.sub("", text)
    for what, said, predicates in (
        ("a speed", SPEED.search(text), {"speed"}),
        ("a length", LENGTH.search(others), {"distance", "height"}),
        ("a time", DURATION.search(others), meant if formula.timed else {"wait"}),
    ):
        if said and meant.isdisjoint(predicates):
            raise InputError(f"“{constraint.words}” speaks of {what} ({said[0]!r}), but {formula} does not")


def check_people(constraint: Constraint, scene: Scene) -> None:
    """Raises InputError when the words speak of people and the formula of none."""
    people = {item.name for item in scene.objects if item.kind == "person"}
    said = PEOPLE.search(constraint.words.lower())
    if said and people.isdisjoint(arguments_of(constraint)):
        raise InputError(f"“{constraint.words}” speaks of people ({said[0]!r}), but {constraint.formula} does not")
