"""Context in which a correction is read: the running plan, the scene, earlier edits and the open question.

The steps of a plan form errands, groups of consecutive steps that serve one purpose. A situation finds the errands that
words refer to, the objects they concern, and the position of new steps in the plan. `Sources` give new rules and steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from llm_planner.corrections.edits import Adjust, Clarify, Edit, Insert, Move, Rebind, Remove, Replace, Shift
from llm_planner.corrections.references import (
    UnclearError,
    candidates,
    described,
    is_room,
    listed,
    only,
    the_room,
    which,
)
from llm_planner.language.model import LanguageModel
from llm_planner.ltl.formula import Constraint
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.programs.signatures import Signature
from llm_planner.scene.names import the
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene, SceneObject, Vector3

if TYPE_CHECKING:
    from llm_planner.execution.execution_state import Execution


Errand = tuple[PlanStep, ...]
_AHEAD = (StepStatus.RUNNING, StepStatus.PENDING)
_REST = re.compile(
    r"(?:all )?(?:the )?(?:rest|others|other ones|other things|remaining \w+)|(?:everything|anything|all) else"
    r"|what(?:ever)? is left"
)


@dataclass(frozen=True)
class Situation:
    """Running plan and scene that a correction is read against.

    `plan` is at `version`. `origins` maps objects to their initial positions [m]. `edits` have been applied, newest
    last. `asked` is the open question. `is_over` says that the plan has ended and its last errand is ahead once more.
    """

    plan: Plan
    scene: Scene
    skills: Mapping[str, Signature]
    viewpoint: Viewpoint = BEHIND
    version: int = 0
    origins: Mapping[str, Vector3] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    asked: Clarify | None = None
    is_over: bool = False

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
    def errands(self) -> tuple[Errand, ...]:
        """Steps of the plan in groups that belong together.

        Grasping an object and placing it belong together, and so do navigation and the action at its destination.
        """
        groups: list[Errand] = []
        open_group: list[PlanStep] = []
        holding = False
        for step in self.plan.steps:
            skill = self.skills[step.skill]
            if skill.leads and open_group and not holding:  # without a held object, each navigation is its own errand
                groups.append(tuple(open_group))
                open_group = []
            open_group.append(step)
            holding = skill.fills_gripper or (holding and not skill.empties_gripper)
            if not holding and not skill.leads:
                groups.append(tuple(open_group))
                open_group = []
        return (*groups, tuple(open_group)) if open_group else tuple(groups)

    @property
    def errands_ahead(self) -> tuple[Errand, ...]:
        """Errands with steps that have not ended."""
        return tuple(errand for errand in self.errands if ahead(errand))

    @property
    def names_ahead(self) -> set[str]:
        """Objects and destinations of the errands ahead."""
        return {name for errand in self.errands_ahead for name in (self.subject(errand), *self.goals(errand))}

    @property
    def current(self) -> Errand:
        """Errand under way, or the next one; raises UnclearError if nothing is left to do."""
        left = self.errands_ahead
        if not left:
            raise UnclearError("Nothing of the plan is left to do. What should I do?")
        return next((errand for errand in left if has_begun(errand)), left[0])

    def errand_of(self, step_id: str) -> Errand:
        """Return the errand that contains the step; raise KeyError if there is none."""
        for group in self.errands:
            if any(step.id == step_id for step in group):
                return group
        raise KeyError(f"no step is called {step_id!r}; the steps are: {self.plan.listing}")

    def next_place(self, besides: Sequence[Errand] = ()) -> str:
        """Return the id of the step before which new steps go: the first errand not begun; "" for the end."""
        waiting = (errand for errand in self.errands_ahead if not has_begun(errand) and errand not in besides)
        return next((errand[0].id for errand in waiting), "")

    def subject_of(self, step: PlanStep) -> str:
        """Return the object that the step acts on; "" if it only navigates or places the held object."""
        parameter = subject_parameter(self.skills[step.skill])
        return str(step.arguments[parameter]) if parameter else ""

    def subject(self, errand: Errand) -> str:
        """Return the object that the errand is about, "" for navigation alone."""
        return next(filter(None, map(self.subject_of, errand)), "")

    def destinations_of(self, step: PlanStep) -> tuple[str, ...]:
        """Return the objects, rooms and regions to which the step brings something or navigates."""
        skill = self.skills[step.skill]
        own = subject_parameter(skill)
        kinds = ("object", "destination", "place")
        values = (step.arguments.get(item.name) for item in skill.parameters if item.type in kinds and item.name != own)
        return tuple(value for value in values if isinstance(value, str))

    def goals(self, steps: Iterable[PlanStep]) -> set[str]:
        """Return the destinations of the steps."""
        return {name for step in steps for name in self.destinations_of(step)}

    def candidates(self, words: str, like: str = "") -> tuple[SceneObject, ...]:
        """Return all objects that the words fit; see `references.candidates`."""
        return candidates(words, self.scene, self.viewpoint, like)

    def named(self, words: str) -> tuple[str, ...]:
        """Return the names of the objects, or of the room, that the words describe; raise UnclearError if none fits."""
        if is_room(words, self.scene):
            return (the_room(words, self.scene),)
        found = self.candidates(words)
        return tuple(item.name for item in found or (only(found, words, self.scene),))

    def meant(self, words: str, option: str = "{}") -> tuple[Errand, ...]:
        """Return the remaining errands that the words refer to, by the object they act on, else by their destination.

        "The rest" means all errands except the one under way. Raises UnclearError if no errand fits, or errands with
        different objects do; its options are the names in the format `option`.
        """
        left = self.errands_ahead
        if is_rest(words):
            now = self.current
            others = tuple(errand for errand in left if errand != now)
            if not others:
                raise UnclearError("Nothing else is left to do after this. What do you mean?")
            return others
        names = self.named(words)
        found = [errand for errand in left if self.subject(errand) in names]
        found = found or [errand for errand in left if self.goals(ahead(errand)) & set(names)]
        if not found and self.is_over:
            raise UnclearError(f"What I did last is not about “{words}”. Say anything else as a new command.")
        if not found:
            about = [the(name) for name in dict.fromkeys(filter(None, map(self.subject, left)))]
            what = f"What is left is about {listed(about, 'and')}. Which do you mean?" if about else "What do you mean?"
            raise UnclearError(f"Nothing that is left to do is about “{words}”. {what}", words=words)
        things = [the(name) for name in dict.fromkeys(filter(None, map(self.subject, found)))]
        if len(things) > 1 and not described(words, self.scene).plural:
            raise UnclearError(which(words, things), [option.format(thing) for thing in things], words, things)
        return tuple(found)


def situation_of(state: Execution, edits: tuple[Edit, ...] = (), asked: Clarify | None = None) -> Situation:
    """Return the situation of an execution that has observed a scene; `edits` are its edits, the newest last."""
    assert state.scene is not None
    skills = state.interpreter.program.skills
    return Situation(state.plan, state.scene, skills, state.viewpoint, state.version, state.places_before, edits, asked)


def subject_parameter(skill: Signature) -> str:
    """Return the parameter for the object that the skill grasps, pushes or presses, "" if it has none."""
    if skill.puts_down or skill.leads:
        return ""
    return next((item.name for item in skill.parameters if item.type == "object"), "")


def ahead(errand: Errand) -> Errand:
    """Return the steps of the errand that have not ended."""
    return tuple(step for step in errand if step.status in _AHEAD)


def has_begun(errand: Errand) -> bool:
    """Whether a step of the errand is under way or has ended."""
    return any(step.status is not StepStatus.PENDING for step in errand)


def is_rest(words: str) -> bool:
    """Whether the words refer to everything except the errand under way."""
    return _REST.fullmatch(words) is not None


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


Formalise = Callable[[str, Scene], Sequence[Constraint]]  # raises LlmPlannerError if it is not a rule
WriteSteps = Callable[[str, Scene], Sequence[PlanStep]]  # raises LlmPlannerError if there is no plan


@dataclass(frozen=True)
class Sources:
    """`formalise` reads the constraints in a sentence; `write_steps` plans the steps of a command from a scene."""

    formalise: Formalise
    write_steps: WriteSteps


def sources_with(model: LanguageModel | None, skills: Sequence[Signature], viewpoint: Viewpoint) -> Sources:
    """Return sources that query this language model; None is the embedded one, opened at the first query."""

    def opened() -> LanguageModel:
        from llm_planner.language.factory import open_model

        return model or open_model()

    def formalise(sentence: str, scene: Scene) -> Sequence[Constraint]:
        from llm_planner.language.understanding.understand import understand

        return understand(sentence, scene, opened()).constraints

    def write_steps(command: str, scene: Scene) -> Sequence[PlanStep]:
        from llm_planner.planning.planning import plan_command

        return plan_command(command, scene, skills, opened(), viewpoint).plan.steps

    return Sources(formalise, write_steps)
