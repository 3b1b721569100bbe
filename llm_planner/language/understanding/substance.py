"""A constraint must say something that can be done or kept: it rules something out, no goal is a speed, and it does not
demand at once what is not so."""

from __future__ import annotations

from llm_planner.errors import InputError
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.monitor import Monitor, Verdict
from llm_planner.world.propositions import Moment, holds, parse_proposition
from llm_planner.world.scene import Scene


def check_substance(constraint: Constraint) -> None:
    """Raises InputError for a constraint without words, or one that every run keeps."""
    if not constraint.words.strip():
        raise InputError(f"{constraint.formula} stands for no words of the command")
    if Monitor(constraint.formula).verdict is Verdict.SATISFIED:
        raise InputError(f"“{constraint.words}” must rule something out, but every run keeps {constraint.formula}")


def check_reachable(constraint: Constraint) -> None:
    """Raises InputError for a goal that speaks of a speed: what is not foreseen cannot be planned for."""
    if constraint.goal and any(name.startswith("speed(") for name in constraint.formula.propositions):
        raise InputError(
            f"“{constraint.words}” makes a speed part of a goal, but a speed can only be watched, not planned for; say "
            "what to do without it, and the speed as a limit on all of it: G speed(robot) < 0.3"
        )


def check_present(constraint: Constraint, scene: Scene) -> None:
    """Raises InputError for a constraint that is lost at once in `scene`, for something that is not so in it.

    "Stay in the lab" cannot begin elsewhere. What is forbidden and is so already is another matter: "not again".
    """
    formula = constraint.formula
    moment = Moment(scene, {item.name: item.position for item in scene.objects})
    now = frozenset(name for name in formula.propositions if holds(parse_proposition(name), moment))
    if all(Monitor(formula).observe(letter, scene.time).lost for letter in (now, frozenset[str]())):
        raise InputError(f"“{constraint.words}” as {formula} demands at once what is not so now")
