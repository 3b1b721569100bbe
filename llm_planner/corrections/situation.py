"""What a correction is read against: the running plan, the scene, what was said before, and what was asked.

Which errands of the plan are meant, what they are about, and where in the plan something new goes.
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
    """`plan` is at `version`; `origins` is where each object lay before anything moved [m]; `edits` were applied,
    the newest last; `asked` is the question that is open."""

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
        """The step under way."""
        return next((step for step in self.plan.steps if step.status is StepStatus.RUNNING), None)

    def past_the_grasp(self) -> Situation:
        """As words are to be read: a step that takes what is held already has nothing left that they could change, and
        who speaks means what comes after it."""
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
        """The step under way and those after it."""
        return tuple(step for step in self.plan.steps if step.status in _AHEAD)

    @property
    def errands(self) -> tuple[tuple[PlanStep, ...], ...]:
        """The steps of the plan in groups that belong together: what is taken is also put down, and a way leads to
        what is done there."""
        groups: list[tuple[PlanStep, ...]] = []
        open_group: list[PlanStep] = []
        holding = False
        for step in self.plan.steps:
            skill = self.skills[step.skill]
            leads = any(atom.predicate == "reached" for atom in skill.effects)
            if leads and open_group and not holding:  # with empty hands a way after a way was one by itself
                groups.append(tuple(open_group))
                open_group = []
            open_group.append(step)
            holding = skill.fills_gripper or (holding and not skill.empties_gripper)
            if not holding and not leads:
                groups.append(tuple(open_group))
                open_group = []
        return (*groups, tuple(open_group)) if open_group else tuple(groups)

    def errand_of(self, step_id: str) -> tuple[PlanStep, ...]:
        """The group that the step is in; raises KeyError."""
        for group in self.errands:
            if any(step.id == step_id for step in group):
                return group
        raise KeyError(f"no step is called {step_id!r}; the steps are: {self.plan.listing}")


def situation_of(state: Execution, edits: tuple[Edit, ...] = (), asked: Clarify | None = None) -> Situation:
    """That of an execution which has seen a scene; `edits` were applied to it, the newest last."""
    assert state.scene is not None
    skills = state.interpreter.program.skills
    return Situation(state.plan, state.scene, skills, state.viewpoint, state.version, state.places_before, edits, asked)


_REST = re.compile(
    r"(?:all )?(?:the )?(?:rest|others|other ones|other things|remaining \w+)|(?:everything|anything|all) else"
    r"|what(?:ever)? is left"
)
Errand = tuple[PlanStep, ...]


def puts_down(skill: Signature) -> bool:
    """Whether its effect is where what was held lies then."""
    return any(HELD in atom.arguments[:1] and not atom.negated for atom in skill.effects)


def leads(skill: Signature) -> bool:
    """Whether it is a way to somewhere."""
    return any(atom.predicate == "reached" for atom in skill.effects)


def subject_parameter(skill: Signature) -> str:
    """The parameter for what a step acts on: what it takes, pushes or presses; "" where it has none."""
    if puts_down(skill) or leads(skill):
        return ""
    return next((item.name for item in skill.parameters if item.type == "object"), "")


def subject_of(step: PlanStep, situation: Situation) -> str:
    """What the step acts on, "" where it only goes somewhere or puts down what is held."""
    parameter = subject_parameter(situation.skills[step.skill])
    return str(step.arguments[parameter]) if parameter else ""


def destinations_of(step: PlanStep, situation: Situation) -> tuple[str, ...]:
    """What the step puts something to, or goes to: things, rooms and places."""
    skill = situation.skills[step.skill]
    own = subject_parameter(skill)
    kinds = ("object", "destination", "place")
    values = (step.arguments.get(item.name) for item in skill.parameters if item.type in kinds and item.name != own)
    return tuple(value for value in values if isinstance(value, str))


def subject(errand: Errand, situation: Situation) -> str:
    """What the errand is about, "" for a way by itself."""
    return next(filter(None, (subject_of(step, situation) for step in errand)), "")


def ahead(errand: Errand) -> Errand:
    """Its steps that are not over."""
    return tuple(step for step in errand if step.status in (StepStatus.RUNNING, StepStatus.PENDING))


def has_begun(errand: Errand) -> bool:
    """Whether a step of it is under way or over."""
    return any(step.status is not StepStatus.PENDING for step in errand)


def errands_ahead(situation: Situation) -> tuple[Errand, ...]:
    """Those with something left to do."""
    return tuple(errand for errand in situation.errands if ahead(errand))


def current(situation: Situation) -> Errand:
    """The errand under way, or the next one; raises UnclearError where nothing is left to do."""
    left = errands_ahead(situation)
    if not left:
        raise UnclearError("Nothing of the plan is left to do. What should I do?")
    return next((errand for errand in left if has_begun(errand)), left[0])


def next_place(situation: Situation, besides: Sequence[Errand] = ()) -> str:
    """The id of the first step of the first errand that has not begun, "" after all: where what comes next goes."""
    waiting = (errand for errand in errands_ahead(situation) if not has_begun(errand) and errand not in besides)
    return next((errand[0].id for errand in waiting), "")


def meant(words: str, situation: Situation, option: str = "{}") -> tuple[Errand, ...]:
    """The errands ahead that the words speak of: of what they take, or else of where they lead.

    "The rest" is all but the one under way. Raises UnclearError where there are none, or those of several things; its
    options are `option` with their names.
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
    """Whether they speak of everything but what is being done."""
    return _REST.fullmatch(words) is not None


def _rest(situation: Situation) -> tuple[Errand, ...]:
    now = current(situation)
    others = tuple(errand for errand in errands_ahead(situation) if errand != now)
    if not others:
        raise UnclearError("Nothing else is left to do after this. What do you mean?")
    return others


def named(words: str, situation: Situation) -> tuple[str, ...]:
    """The names of the things or the room that the words fit; raises UnclearError where nothing here does."""
    if is_room(words, situation.scene):
        return (the_room(words, situation.scene),)
    found = candidates(words, situation.scene, situation.viewpoint)
    if not found:
        here = listed([the(name) for name in situation.scene.names], "and") or "nothing"
        raise UnclearError(f"I see nothing here that is “{words}”. There is {here}. Which do you mean?", words=words)
    return tuple(item.name for item in found)


def goals(errand: Errand, situation: Situation) -> set[str]:
    return {name for step in ahead(errand) for name in destinations_of(step, situation)}


def concerned(edit: Edit, situation: Situation) -> set[str]:
    """The things, people and rooms of the errands that the edit adds, changes, moves or leaves out, or puts something
    before: what is said of them besides is why, or when."""
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
