"""Planning from words to a plan that may run: understand, write, rehearse and permit, or tell the person why not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from llm_planner.errors import (
    AlreadySatisfiedError,
    InputError,
    LanguageModelError,
    LlmPlannerError,
    ProposalError,
    QuestionError,
)
from llm_planner.execution.execution_state import start_execution
from llm_planner.language.model import CountedModel, LanguageModel, ProgramRequest, ReadConstraint, Reading
from llm_planner.language.program_synthesis import as_question, clean_command, write_program
from llm_planner.language.understanding.grounding import ground
from llm_planner.language.understanding.understand import Understood, understand
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.choices import Step, merged, promised_steps
from llm_planner.planning.model_feedback import Feedback, InsistedError, insist
from llm_planner.planning.planned import DEFAULTS, FailureReplanner, ImpossibleError, Planned, PlanningSettings
from llm_planner.planning.program_checks import check_skills, unfaithful
from llm_planner.planning.rehearsal import Advice, doubted, rehearse
from llm_planner.planning.repair import with_drives
from llm_planner.planning.search.decode import Decoded, Verdict, decode_plan
from llm_planner.planning.search.parts import InParts, steps_without_effects
from llm_planner.planning.search.prior import ModelPrior, StepPrior, TreePrior, Uniform
from llm_planner.plans.plan import WHEREABOUTS, Outcome
from llm_planner.plans.privileges.decision import review_plan, review_program
from llm_planner.plans.unroll import foresee_plan
from llm_planner.programs.checker import CheckedProgram, check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.programs.problems import Problem, ProgramError
from llm_planner.programs.signatures import Signature
from llm_planner.scene.names import check_names, the
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.text import in_one_sentence


def plan_command(
    command: str,
    scene: Scene,
    skills: Sequence[Signature],
    model: LanguageModel,
    viewpoint: Viewpoint = BEHIND,
    settings: PlanningSettings = DEFAULTS,
) -> Planned:
    """Plan a command; nothing moves.

    Raises:
        QuestionError: The person must be asked.
        ProgramError: The model wrote no program that can work.
        ImpossibleError: No plan can keep the constraints.
        PrivilegeError: The source may not call a skill of the plan.
        InputError: The command is too long or mentions skills that the robot does not have.
        LanguageModelError: The model does not answer.
    """
    command = clean_command(command)
    check_names(scene)  # before a model reads the names
    counted = CountedModel(model)
    planner = _Planner(command, scene, tuple(skills), counted, viewpoint, settings)
    try:
        return replace(planner.planned(), usage=counted.usage)
    except QuestionError as question:
        raise planner.asking(question) from question


def read_rules(
    rules: Sequence[str], scene: Scene, model: LanguageModel, viewpoint: Viewpoint, settings: PlanningSettings
) -> tuple[Constraint, ...]:
    """Read rules, each by itself; raise as `plan_command`, and InputError for words that are unclear or no rule."""
    check_names(scene)
    found: list[Constraint] = []
    for words in rules:
        try:
            understood = _understood(clean_command(words), scene, (), model, viewpoint, settings)
        except QuestionError as question:
            raise InputError(f"The rule “{words}” is not clear, so nothing is done: {question}") from question
        if understood.task or any(constraint.goal for constraint in understood.constraints):
            raise InputError(f"“{words}” asks for something to be done; a rule only forbids or limits what is done")
        found += understood.constraints
    return tuple(found)


def formal_rules(formulas: Sequence[str], scene: Scene) -> tuple[Constraint, ...]:
    """Check formulas against the scene, without a model; raise InputError for what is wrong with them here."""
    constraints = (ReadConstraint(formula, formula, False) for formula in formulas)
    return ground(Reading(constraints=tuple(constraints), whole=True), scene).constraints if formulas else ()


def asked_of_any_plan(
    command: str, scene: Scene, model: LanguageModel, settings: PlanningSettings = DEFAULTS
) -> tuple[Constraint, ...]:
    """Read the goals and rules of a command whose program is written by hand, for `plan_program`.

    Raises as `understand`; also InputError for a scene with unsafe names.
    """
    check_names(scene)
    return _understood(command, scene, (), model, BEHIND, settings).constraints


def _understood(
    command: str,
    scene: Scene,
    skills: tuple[Signature, ...],
    model: LanguageModel,
    viewpoint: Viewpoint,
    settings: PlanningSettings,
) -> Understood:
    return understand(
        command, scene, model, settings.samples, settings.temperature, settings.seed, exchanges=settings.exchanges,
        skills=skills, viewpoint=viewpoint,
    )  # fmt: skip


def plan_program(
    command: str,
    text: str,
    scene: Scene,
    skills: Sequence[Signature],
    viewpoint: Viewpoint = BEHIND,
    settings: PlanningSettings = DEFAULTS,
    constraints: tuple[Constraint, ...] = (),
) -> Planned:
    """Plan a program that was written by hand or received from elsewhere; raises as `plan_command`."""
    check_skills(constraints, skills)
    try:
        planned = rehearsed(command, check_program(text, skills, scene), constraints, scene, viewpoint)
    except ProgramError as error:
        raise as_question(error) from error
    return permitted(planned, scene, viewpoint, settings)


def rehearsed(
    command: str, program: CheckedProgram, constraints: tuple[Constraint, ...], scene: Scene, viewpoint: Viewpoint
) -> Planned:
    """Make the plan of a checked program and rehearse it over predicted scenes; raises as `foresee_plan`.

    Drives that a program for an arm on a mobile base lacks are put in.
    """
    program = with_drives(program, scene, viewpoint)
    interpreter = Interpreter(program, viewpoint)
    forecast = foresee_plan(interpreter, scene, viewpoint)
    plan = replace(forecast.plan(command, program.text), constraints=constraints)
    rehearsal = doubted(rehearse(start_execution(plan, interpreter, viewpoint, scene), scene), forecast.doubts)
    return Planned(plan, interpreter, rehearsal=rehearsal, last=forecast.scene, told=forecast.told)


def permitted(planned: Planned, scene: Scene, viewpoint: Viewpoint, settings: PlanningSettings) -> Planned:
    """Return the plan if its source may run it and its rehearsal has no objection.

    Raises ImpossibleError if the rehearsal blocks the plan, QuestionError if a person must be asked, and PrivilegeError
    if the source may not make a call.
    """
    program = planned.interpreter.program
    review_program(settings.policy, settings.source, program, scene, viewpoint)
    review_plan(settings.policy, settings.source, planned.plan, program.skills, scene, viewpoint)
    planned = replace(planned, permit=settings.permit)
    rehearsal = planned.rehearsal
    if settings.rehearse_fully is not None and rehearsal.verdict is not Advice.BLOCK:
        rehearsal = settings.rehearse_fully(planned, scene)
    steps = f" The steps of this plan: {planned.plan.listing}." if len(planned.plan.steps) > 1 else ""
    reasons = f"{in_one_sentence(rehearsal.reasons)}{steps}"  # a person has not seen the steps
    if rehearsal.verdict is Advice.BLOCK:
        raise ImpossibleError(f"This plan may not run: {reasons} Nothing has moved.")
    if rehearsal.verdict is Advice.ASK and settings.ask:
        raise QuestionError(f"I am not sure that this goes well: {reasons} What should I do?")
    return replace(planned, rehearsal=rehearsal)


@dataclass(frozen=True)
class _Planner:
    """Planning of one command."""

    command: str
    scene: Scene
    skills: tuple[Signature, ...]
    model: LanguageModel
    viewpoint: Viewpoint
    settings: PlanningSettings

    def planned(self) -> Planned:
        understood = _understood(self.command, self.scene, self.skills, self.model, self.viewpoint, self.settings)
        understood = replace(understood, constraints=(*understood.constraints, *self.settings.rules))
        check_skills(understood.constraints, self.skills)
        if understood.task:
            planned = self._for_task(understood)
            if not any(constraint.goal for constraint in understood.constraints) and self._is_so(planned):
                raise AlreadySatisfiedError(f"What you ask for is so already: “{self.command}”. What else should I do?")
        elif any(constraint.goal for constraint in understood.constraints):
            planned = self._decoded(understood)
        else:
            rules = "; ".join(told(understood.constraints))
            raise QuestionError(f"I understood a rule ({rules}), but nothing to do. What should I do under it?")
        if not self.model.is_large:  # a large one was told, and has written another plan
            insist(planned, unfaithful(planned, self.command, understood.goals, self.scene, self.viewpoint))
        return permitted(planned, self.scene, self.viewpoint, self.settings)

    def asking(self, question: QuestionError) -> QuestionError:
        """Return the question to ask instead of `question`.

        If the command would be clear with an empty gripper, ask about the held object first. Otherwise offer the plan
        of the model's best guess.
        """
        held, empty = self.scene.held, replace(self, scene=replace(self.scene, held=""))
        if held and not self.model.is_large and empty.outcome() is not None:
            where = "bring it to a room" if self.scene.building else "put it in the middle"
            first = f"First say where to put it, for instance “{where}”, and then say that again."
            return QuestionError(f"I hold {the(held)}. {first}")
        guess = self.model.guess
        if guess is None or isinstance(question, AlreadySatisfiedError):
            return question
        guessed = replace(self, model=guess).outcome()
        if guessed is None or not guessed.plan.steps:
            return question
        rules = (rule for rule in guessed.plan.constraints if not rule.goal)
        meant = "; and ".join((guessed.plan.listing, *told(tuple(rules))))
        return ProposalError(f"{question} Or shall I do this: {meant}? (yes / no)")

    def outcome(self) -> Planned | None:
        """Return the plan, or None if there is none."""
        try:
            return self.planned()
        except LlmPlannerError:
            return None

    def _for_task(self, understood: Understood) -> Planned:
        """Plan with the model's program if it keeps the rules; else decode its calls in another order, or others."""
        seen: dict[str, Planned] = {}
        said = (self.command, *(exchange.command for exchange in self.settings.exchanges))
        feedback = Feedback(understood.goals, self.scene, self.viewpoint, self.settings.ask, said)

        def review(program: CheckedProgram) -> None:
            try:
                planned = rehearsed(self.command, program, understood.constraints, self.scene, self.viewpoint)
            except QuestionError as question:
                if self.model.is_large:
                    feedback.once("question", [Problem(0, 0, str(question))])
                raise
            seen[program.text] = planned
            if planned.rehearsal.verdict is Advice.BLOCK:
                raise ProgramError(planned.rehearsal.problems)
            if self.model.is_large:
                feedback.check(planned)

        request = self._request(understood)
        try:
            synthesis = write_program(request, self.model, review, spare=not understood.constraints)
        except (ProgramError, QuestionError) as error:  # a model without another program asks what is meant
            return self._without_program(understood, tuple(seen.values()), error, feedback.doubted)
        chosen, others = seen[synthesis.program.text], [seen[program.text] for program in synthesis.others]
        large = self.model.is_large
        replanner = FailureReplanner(self.model, understood.task, request.rules, self.viewpoint) if large else None
        # Permitted programs that reach the same goals are other branches; other goals mean another reading.
        same = [one for one in others if one.plan.complete and _end(one) == _end(chosen) and self._may_run(one)]
        tree = merged(map(self._steps, (chosen, *same)))
        return replace(chosen, confidence=synthesis.confidence, tree=tree, replanner=replanner)

    def _is_so(self, planned: Planned) -> bool:
        """Return whether the scene already shows the effects of every step that has a lasting one.

        Picking up what is put back has none, and nor has going to where something is picked up or put down.
        """
        table = {skill.name: skill for skill in self.skills}
        steps = self._steps(planned)
        lasting = [
            step.promises
            for step, following in zip(steps, (*steps[1:], None), strict=False)
            if following is None or not self._is_means(table[step.call.skill], table[following.call.skill])
        ]
        # A thing in a bowl in the middle is in the middle too, and may still be wanted there by itself.
        is_at = any(goal.atom.predicate == "at" for some in lasting for goal in some)
        shown = bool(lasting) and all(some and all(goal.holds(self.scene) for goal in some) for some in lasting)
        return shown and not is_at and planned.plan.complete

    def _is_means(self, skill: Signature, following: Signature) -> bool:
        """Return whether a step only serves the next one."""
        goes = bool(skill.effects) and all(atom.predicate in WHEREABOUTS for atom in skill.effects)
        handles = following.fills_gripper or following.empties_gripper
        return (skill.fills_gripper and following.empties_gripper) or (goes and handles)

    def _without_program(
        self,
        understood: Understood,
        seen: tuple[Planned, ...],
        error: ProgramError | QuestionError,
        doubted: Planned | None,
    ) -> Planned:
        """Return a plan although the model wrote no usable program, or raise the error.

        A `doubted` plan goes to the person. A plan is decoded if the model's programs break a rule.
        """
        if not self.model.is_large:
            if not seen:
                raise error
            return self._decoded(understood, seen)
        if doubted and isinstance(error, ProgramError | InsistedError):
            return doubted
        blocked = tuple(one for one in seen if one.rehearsal.verdict is Advice.BLOCK)
        if not blocked:
            raise error
        if isinstance(error, ProgramError):
            return self._decoded(understood, blocked)
        try:
            return self._decoded(understood, blocked, model_chooses=False)
        except LlmPlannerError:  # the model's question takes the conflict into account
            raise error from None

    def _request(self, understood: Understood) -> ProgramRequest:
        """Return the request to the model; a large one writes one program and learns from its errors."""
        s, samples = self.settings, 1 if self.model.is_large else self.settings.samples
        return ProgramRequest(
            understood.task, self.scene, rules=told(understood.constraints), samples=samples, temperature=s.temperature,
            seed=s.seed, skills=self.skills, goals=tuple(map(str, understood.goals)), exchanges=s.exchanges,
            viewpoint=self.viewpoint, said=self.command,
        )  # fmt: skip

    def _may_run(self, planned: Planned) -> bool:
        try:
            permitted(planned, self.scene, self.viewpoint, replace(self.settings, rehearse_fully=None))
        except LlmPlannerError:
            return False
        return True

    def _decoded(
        self, understood: Understood, refused: tuple[Planned, ...] = (), model_chooses: bool = True
    ) -> Planned:
        """Decode a plan; with `model_chooses`, a model that can choose is asked about the permitted steps.

        `refused` plans do the task but break a constraint; they define the goals and the likely calls.
        """
        constraints, goals = understood.constraints, refused[0].plan.goals if refused else ()
        if refused and (kept := steps_without_effects(refused[0].plan.steps, self.skills)):
            return self._in_parts(refused[0], kept, constraints)
        tree = merged(map(self._steps, refused))

        def nearest(prior: StepPrior) -> Decoded:
            clock, viewpoint = self.settings.clock, self.viewpoint
            return decode_plan(
                self.scene, self.skills, constraints, goals, prior, tree.calls, viewpoint=viewpoint, clock=clock
            )

        decoded = None
        if refused and model_chooses and self.model.chooses:
            with suppress(LanguageModelError):  # the sampled programs suffice without the model
                decoded = nearest(ModelPrior(self.model, understood.task, told(constraints)))
        if decoded is None:
            decoded = nearest(TreePrior(tree) if refused else Uniform())
        if decoded.verdict is not Verdict.PLAN:
            found = " ".join(map(str, refused[0].rehearsal.findings)) if refused else ""
            raise ImpossibleError(f"{decoded.reason} Straight ahead: {found}" if found else decoded.reason)
        if not decoded.calls:
            words = ", ".join(one.words for one in constraints if one.goal) or understood.task
            raise AlreadySatisfiedError(f"What you ask for is so already: “{words}”. What else should I do?")
        program = check_program(decoded.program, self.skills, self.scene)
        planned = rehearsed(self.command, program, constraints, self.scene, self.viewpoint)
        return replace(planned, plan=replace(planned.plan, goals=goals))

    def _in_parts(self, refused: Planned, kept: Collection[str], constraints: tuple[Constraint, ...]) -> Planned:
        """Return the plan of `refused` decoded anew between its steps `kept`; raise why `refused` may not run."""
        rules = tuple(one for one in constraints if not one.goal)
        parts = InParts(self.scene, self.skills, rules, self.viewpoint, self.settings.clock)
        text = parts.program(refused.plan.steps, self._steps(refused), kept)
        planned = refused
        if text:
            program = check_program(text, self.skills, self.scene)
            planned = rehearsed(self.command, program, constraints, self.scene, self.viewpoint)
        if planned.rehearsal.verdict is Advice.BLOCK:
            return permitted(refused, self.scene, self.viewpoint, self.settings)
        return replace(planned, plan=replace(planned.plan, goals=refused.plan.goals))

    def _steps(self, planned: Planned) -> tuple[Step, ...]:
        return promised_steps(planned.plan.steps, self.skills, self.scene, self.viewpoint)


def _end(planned: Planned) -> frozenset[str]:
    return frozenset(map(str, planned.plan.goals))


def told(constraints: Sequence[Constraint]) -> tuple[str, ...]:
    """Return each constraint in plain words."""
    return tuple(read_back(constraint.formula) for constraint in constraints)


def outcome_of(error: LlmPlannerError) -> tuple[Outcome, str]:
    """Return the outcome of a command without a plan, and the message for the person."""
    if isinstance(error, QuestionError):
        return Outcome.QUESTION, str(error)
    if isinstance(error, LanguageModelError):
        return Outcome.FAILED, str(error)
    if isinstance(error, ProgramError):
        return Outcome.REFUSED, f"I found no program for this that may run: {error}"
    return Outcome.REFUSED, str(error)
