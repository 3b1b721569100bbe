"""Feedback to a large model about its plan before the person is asked: missed goals, unasked actions, rehearsal doubts.

Each kind goes back once. After that the person settles the rehearsal's doubts, and what is still wrong becomes a
question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from llm_planner.errors import QuestionError
from llm_planner.language.understanding.constraint_checks import unnamed
from llm_planner.language.understanding.wording import is_known_language
from llm_planner.ltl.formula import Formula
from llm_planner.ltl.phrases import momentary
from llm_planner.planning.program_checks import unfaithful
from llm_planner.planning.rehearsal import Advice, Rehearsal
from llm_planner.plans.trace import event_of
from llm_planner.programs.problems import Problem, ProgramError
from llm_planner.scene.atoms import HELD
from llm_planner.scene.driven_base import fixed_places
from llm_planner.scene.names import the
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.propositions import Moment, holds, parse_proposition
from llm_planner.scene.scene import Scene

if TYPE_CHECKING:
    from llm_planner.planning.planned import Planned


def missed_goals(planned: Planned, goals: Sequence[Formula], scene: Scene, viewpoint: Viewpoint) -> tuple[Formula, ...]:
    """Return the `goals` that the plan's predicted last scene does not show.

    The result is () if the forecast ends early or if a step's motion is found at run time. Goals name regions as seen
    from behind the robot, so region goals of a speaker elsewhere are skipped.
    """
    last, skills = planned.last, planned.interpreter.program.skills
    is_searched = any(skills[step.skill].is_searched for step in planned.plan.steps)
    if last is None or not planned.plan.complete or is_searched:
        return ()
    # "And finish on the dock": an event that occurred counts in the last scene.
    done = (event_of(skills[step.skill], step.arguments, last) for step in planned.plan.steps if step.arguments)
    moment = Moment(last, fixed_places(scene), frozenset(done))
    missed = []
    for goal in goals:
        (name,) = goal.propositions
        is_said = viewpoint == BEHIND or not name.startswith("at(")
        if is_said and holds(parse_proposition(name), moment) is (goal.operator == "!"):
            missed.append(goal)
    return tuple(missed)


_WHERE_THE_ROBOT_IS = frozenset(("reached", "followed", "docked", "above"))  # effects that change no object


class InsistedError(QuestionError):
    """Question about a plan that still differs from the request after feedback to the model."""


class Feedback:
    """Feedback on each plan that a model writes for one command.

    `goals` are those that the model stated, `said` the command and those before it. `doubted` is the first plan with
    doubts that does what was said; the person is asked about it if no better one follows.
    """

    def __init__(
        self, goals: Sequence[Formula], scene: Scene, viewpoint: Viewpoint, asks: bool, said: Sequence[str] = ()
    ) -> None:
        self._goals, self._scene, self._viewpoint, self._asks, self._said = goals, scene, viewpoint, asks, said
        self._given: set[str] = set()
        self.doubted: Planned | None = None

    def once(self, kind: str, problems: Sequence[Problem]) -> None:
        """Raise ProgramError with the problems, the first time that this kind has any."""
        if problems and kind not in self._given:
            self._given.add(kind)
            raise ProgramError(problems)

    def check(self, planned: Planned) -> None:
        """Raise ProgramError with problems for the model, or QuestionError if the model has not fixed them."""
        missed = missed_goals(planned, self._goals, self._scene, self._viewpoint)
        self.once(
            "goals", [Problem(0, 0, f"in the last scene {goal} would not hold, but it is a goal") for goal in missed]
        )
        if missed:
            words = "; ".join(momentary(goal) for goal in missed)
            steps = planned.plan.listing or "none"
            raise InsistedError(
                f"I found no program after which {words}. The steps that I have are: {steps}. What should I do?"
            )
        self._check_unasked(planned)
        if self._asks and (doubts := _doubts(planned.rehearsal)):
            self.doubted = self.doubted or planned
            self.once("doubts", doubts)

    def _check_unasked(self, planned: Planned) -> None:
        """Check for actions of the plan that the command does not mention."""
        if not self._said:
            return
        names = unnamed(handled(planned), self._said, self._scene, self._goals)
        used = tuple(name for name in visited(planned, self._scene) if name not in names)
        places = unnamed(used, self._said, self._scene, self._goals)
        listed = " and ".join(map(the, names or places))
        known = is_known_language(" . ".join(self._said), self._scene)
        unasked = f"the command does not speak of {listed}: leave it alone"
        unsure = f"no goal names {listed}: leave it alone, or write the same again if the command speaks of it"
        told = (unasked if known else unsure,) if listed else ()
        otherwise = unfaithful(planned, self._said[0], self._goals, self._scene, self._viewpoint)
        self.once("unasked", [Problem(0, 0, one) for one in (*told, *otherwise)])
        if listed and known:
            what = f"also move {listed}" if names else f"go to {listed}"
            raise InsistedError(
                f"For that I would {what}, which you have not named. If I shall, please say it with the names."
            )
        insist(planned, otherwise)


def insist(planned: Planned, otherwise: Sequence[str]) -> None:
    """Raise InsistedError, a question to the person, if a plan deviates from the command."""
    if otherwise:
        steps = planned.plan.listing or "none"
        raise InsistedError(
            f"I am not sure that this is what you mean: {'; '.join(otherwise)}. The steps: {steps}. What should I do?"
        )


def handled(planned: Planned) -> tuple[str, ...]:
    """Return the objects that the plan's steps change according to the skills' effects, without tools."""
    skills = planned.interpreter.program.skills
    tools = _tools(planned)
    changed = ((step, atom.arguments[0]) for step in planned.plan.steps for atom in skills[step.skill].effects
               if atom.arguments and not atom.negated and atom.predicate not in _WHERE_THE_ROBOT_IS)  # fmt: skip
    found = (step.arguments.get(argument) for step, argument in changed)
    return tuple(dict.fromkeys(name for name in found if isinstance(name, str) and name not in tools))


def _tools(planned: Planned) -> set[str]:
    """Return what a step needs in the gripper without putting it down, such as a sponge."""
    skills, held, found = planned.interpreter.program.skills, "", set[str]()
    for step in planned.plan.steps:
        skill = skills[step.skill]
        needs = any(condition.atom.predicate == "holding" for condition in skill.preconditions)
        if needs and not any(HELD in atom.arguments for atom in skill.effects):
            found.add(held)
        taken = [atom.arguments[0] for atom in skill.effects if atom.predicate == "held"]
        held = str(step.arguments.get(taken[0], "")) if taken else held
    return found


def visited(planned: Planned, scene: Scene) -> tuple[str, ...]:
    """Return the other objects, people and rooms that steps mention.

    The rooms of those, the robot's own room, and rooms of a detour that rules may require are left out.
    """
    steps, tools = planned.plan.steps, _tools(planned)
    rooms = scene.building.names if scene.building else ()
    named = {*scene.names, *rooms} - tools
    names = [value for step in steps for value in step.arguments.values() if isinstance(value, str) and value in named]
    around = {scene.robot_room} | {
        scene.building.room_at(*scene.find(n).position[:2]) for n in names if n in scene.names and scene.building
    }
    if scene.building and planned.plan.constraints:
        around |= {*rooms}
    return tuple(dict.fromkeys(str(name) for name in names if name not in around))


def _doubts(rehearsal: Rehearsal) -> list[Problem]:
    """Return what the person would be asked about, empty if the plan is allowed."""
    told = (
        "the person will be asked about this; if another program avoids it without moving what the command does not "
        "name, write that, else the same again"
    )
    asked = rehearsal.problems if rehearsal.verdict is Advice.ASK else ()
    return [replace(problem, message=f"{problem.message} ({told})") for problem in asked]
