"""Context in which a correction is read: the running plan, the scene, earlier edits and the open question.

The steps of a plan form errands, groups of consecutive steps that serve one purpose. The module finds the errands that
words refer to, the objects they concern, and the position of new steps in the plan.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from llm_planner.corrections.edits import Adjust, Clarify, Edit, Insert, Move, Rebind, Remove, Replace, Shift
from llm_planner.corrections.references import UnclearError, candidates, described, is_room, listed, the_room, which
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.programs.signatures import Signature
from llm_planner.scene.atoms import HELD
from llm_planner.scene.names import the
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene, Vector3

if TYPE_CHECKING:
    from llm_planner.execution.execution_state import Execution


_AHEAD = (StepStatus.RUNNING, StepStatus.PENDING)


@dataclass(frozen=True)
class Situation:
    """Running plan and scene that a correction is read against.

    `plan` is at `version`. `origins` maps objects to their initial positions [m]. `edits` have been applied, newest
    last. `asked` is the open question.
    """

    plan: Plan
    scene: Scene
    skills: Mapping[str, Signature]
    viewpoint: Viewpoint = BEHIND
    version: int = 0
    origins: Mapping[str, Vector3] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    asked: Clarify | None = None

    @property
    def running(self) -> PlanStep | None:
        """Step under way."""
        return next((step for step in self.plan.steps if step.status is StepStatus.RUNNING), None)

    def past_the_grasp(self) -> Situation:
        """Mark the step under way as done if it has already grasped its object.

        Words can no longer change such a step, so the person means what comes after it.
        """
        now = self.running
        if now is None or not self.skills[now.skill].has_taken(self.scene.held):
            return self
        place = self.plan.steps.index(now)
        done, ahead = (*self.plan.steps[:place], replace(now, status=StepStatus.DONE)), self.plan.steps[place + 1 :]
        if ahead:
            ahead = (replace(ahead[0], status=StepStatus.RUNNING), *ahead[1:])
        return replace(self, plan=replace(self.plan, steps=(*done, *ahead)))

    @property
    def ahead(self) -> tuple[PlanStep, ...]:
        """Step under way and the steps after it."""
        return tuple(step for step in self.plan.steps if step.status in _AHEAD)

    @property
    def errands(self) -> tuple[tuple[PlanStep, ...], ...]:
        """Steps of the plan in groups that belong together.

        Grasping an object and placing it belong together, and so do navigation and the action at its destination.
        """
        groups: list[tuple[PlanStep, ...]] = []
        open_group: list[PlanStep] = []
        holding = False
        for step in self.plan.steps:
            skill = self.skills[step.skill]
            leads = any(atom.predicate == "reached" for atom in skill.effects)
            if leads and open_group and not holding:  # without a held object, each navigation step is its own errand
                groups.append(tuple(open_group))
                open_group = []
            open_group.append(step)
            holding = skill.fills_gripper or (holding and not skill.empties_gripper)
            if not holding and not leads:
                groups.append(tuple(open_group))
                open_group = []
        return (*groups, tuple(open_group)) if open_group else tuple(groups)

    def errand_of(self, step_id: str) -> tuple[PlanStep, ...]:
        """Return the errand that contains the step; raise KeyError if there is none."""
        for group in self.errands:
            if any(step.id == step_id for step in group):
                return group
        raise KeyError(f"no step is called {step_id!r}; the steps are: {self.plan.listing}")


def situation_of(state: Execution, edits: tuple[Edit, ...] = (), asked: Clarify | None = None) -> Situation:
    """Return the situation of an execution that has observed a scene; `edits` are its edits, the newest last."""
    assert state.scene is not None
    skills = state.interpreter.program.skills
    return Situation(state.plan, state.scene, skills, state.viewpoint, state.version, state.places_before, edits, asked)


_REST = re.compile(
    r"(?:all )?(?:the )?(?:rest|others|other ones|other things|remaining \w+)|(?:everything|anything|all) else"
    r"|what(?:ever)? is left"
)
Errand = tuple[PlanStep, ...]


def puts_down(skill: Signature) -> bool:
    """Whether the skill places the held object."""
    return any(HELD in atom.arguments[:1] and not atom.negated for atom in skill.effects)


def leads(skill: Signature) -> bool:
    """Whether the skill navigates to a destination."""
    return any(atom.predicate == "reached" for atom in skill.effects)


def subject_parameter(skill: Signature) -> str:
    """Return the parameter for the object that the skill grasps, pushes or presses, "" if it has none."""
    if puts_down(skill) or leads(skill):
        return ""
    return next((item.name for item in skill.parameters if item.type == "object"), "")


def subject_of(step: PlanStep, situation: Situation) -> str:
    """Return the object that the step acts on; "" if it only navigates or places the held object."""
    parameter = subject_parameter(situation.skills[step.skill])
    return str(step.arguments[parameter]) if parameter else ""


def destinations_of(step: PlanStep, situation: Situation) -> tuple[str, ...]:
    """Return the objects, rooms and regions to which the step brings something or navigates."""
    skill = situation.skills[step.skill]
    own = subject_parameter(skill)
    kinds = ("object", "destination", "place")
    values = (step.arguments.get(item.name) for item in skill.parameters if item.type in kinds and item.name != own)
    return tuple(value for value in values if isinstance(value, str))


def subject(errand: Errand, situation: Situation) -> str:
    """Return the object that the errand is about, "" for navigation alone."""
    return next(filter(None, (subject_of(step, situation) for step in errand)), "")


def ahead(errand: Errand) -> Errand:
    """Return the steps of the errand that have not ended."""
    return tuple(step for step in errand if step.status in (StepStatus.RUNNING, StepStatus.PENDING))


def has_begun(errand: Errand) -> bool:
    """Whether a step of the errand is under way or has ended."""
    return any(step.status is not StepStatus.PENDING for step in errand)


def errands_ahead(situation: Situation) -> tuple[Errand, ...]:
    """Return the errands with steps that have not ended."""
    return tuple(errand for errand in situation.errands if ahead(errand))


def current(situation: Situation) -> Errand:
    """Return the errand under way, or the next one; raise UnclearError if nothing is left to do."""
    left = errands_ahead(situation)
    if not left:
        raise UnclearError("Nothing of the plan is left to do. What should I do?")
    return next((errand for errand in left if has_begun(errand)), left[0])


def next_place(situation: Situation, besides: Sequence[Errand] = ()) -> str:
    """Return the id of the step before which new steps go: the first errand not begun; "" for the end of the plan."""
    waiting = (errand for errand in errands_ahead(situation) if not has_begun(errand) and errand not in besides)
    return next((errand[0].id for errand in waiting), "")


def meant(words: str, situation: Situation, option: str = "{}") -> tuple[Errand, ...]:
    """Return the remaining errands that the words refer to, by the object they act on, else by their destination.

    "The rest" means all errands except the one under way. Raises UnclearError if no errand fits, or errands with
    different objects do; its options are the names in the format `option`.
    """
    if is_rest(words):
        return _rest(situation)
    names = named(words, situation)
    left = errands_ahead(situation)
    found = [errand for errand in left if subject(errand, situation) in names]
    found = found or [errand for errand in left if goals(errand, situation) & set(names)]
    if not found:
        raise UnclearError(f"Nothing that is left to do is about “{words}”. {_left(situation)}", words=words)
    about = list(dict.fromkeys(filter(None, (subject(errand, situation) for errand in found))))
    if len(about) > 1 and not described(words, situation.scene).plural:
        things = [the(name) for name in about]
        options = [option.format(thing) for thing in things]
        raise UnclearError(which(words, things), options, words, things)
    return tuple(found)


def is_rest(words: str) -> bool:
    """Whether the words refer to everything except the errand under way."""
    return _REST.fullmatch(words) is not None


def _rest(situation: Situation) -> tuple[Errand, ...]:
    now = current(situation)
    others = tuple(errand for errand in errands_ahead(situation) if errand != now)
    if not others:
        raise UnclearError("Nothing else is left to do after this. What do you mean?")
    return others


def named(words: str, situation: Situation) -> tuple[str, ...]:
    """Return the names of the objects, or of the room, that the words describe; raise UnclearError if none fits."""
    if is_room(words, situation.scene):
        return (the_room(words, situation.scene),)
    found = candidates(words, situation.scene, situation.viewpoint)
    if not found:
        here = listed([the(name) for name in situation.scene.names], "and") or "nothing"
        raise UnclearError(f"I see nothing here that is “{words}”. There is {here}. Which do you mean?", words=words)
    return tuple(item.name for item in found)


def goals(errand: Errand, situation: Situation) -> set[str]:
    """Return the destinations of the remaining steps of the errand."""
    return {name for step in ahead(errand) for name in destinations_of(step, situation)}


def concerned(edit: Edit, situation: Situation) -> set[str]:
    """Return the objects, people and rooms of the errands that the edit adds, changes, moves, removes or precedes.

    Other words about them only give a reason or a time.
    """
    now = situation.running.id if situation.running else ""
    ids: set[str] = set()
    values: list[object] = []
    for one in edit.operations:
        match one:
            case Insert():
                ids.add(one.before)
                values += one.arguments.values()
            case Move():
                ids |= {*one.steps, one.before}
            case Shift():
                ids.add(now)
            case Remove() | Rebind() | Replace() | Adjust():
                ids.add(one.step or now)
    steps = [step for errand in situation.errands if ids & {step.id for step in errand} for step in errand]
    values += (value for step in steps for value in step.arguments.values())
    return {value for value in values if isinstance(value, str)}


def _left(situation: Situation) -> str:
    subjects = [subject(errand, situation) for errand in errands_ahead(situation)]
    names = [the(name) for name in dict.fromkeys(filter(None, subjects))]
    return f"What is left is about {listed(names, 'and')}. Which do you mean?" if names else "What do you mean?"
