"""A new plan for what is left of one that has ended and may go on: another branch, a search, or a large model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.errors import LlmPlannerError, QuestionError
from llm_planner.plan.action_tree import NO_PLANS, ActionTree
from llm_planner.plan.branches import other_branch
from llm_planner.plan.choices import Call, call_of
from llm_planner.plan.decoding.decode import Verdict, decode_plan
from llm_planner.plan.decoding.search import Limits
from llm_planner.plan.decoding.task import History
from llm_planner.plan.events import EndReason
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.failure_replanning import FailureReplanner
from llm_planner.plan.plan import Goal, Plan, StepStatus
from llm_planner.plan.planning import ImpossibleError, Planned
from llm_planner.plan.unroll import make_plan
from llm_planner.program.checker import check_program
from llm_planner.program.interpreter import Interpreter
from llm_planner.program.signatures import Signature
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene

MOST_REPAIRS = 3  # of the plan for one command


@dataclass(frozen=True)
class Remainder:
    """What is left to do: the plan with its steps as they ended and why it did, the effects wanted of it, and what the
    run has shown so far. `tree` has the programs that were sampled for the same; `replanner` writes another."""

    plan: Plan
    reason: EndReason
    goals: tuple[Goal, ...]
    history: History
    tree: ActionTree = NO_PLANS
    replanner: FailureReplanner | None = None


def remainder_of(state: Execution, tree: ActionTree = NO_PLANS, replanner: FailureReplanner | None = None) -> Remainder:
    """What an execution that has ended leaves. Effects of the steps ahead are those foreseen."""
    assert state.end is not None
    history = History(state.watch.trace, state.watch.origins)
    return Remainder(state.plan, state.end.reason, state.wanted, history, tree, replanner)


def remainder_ahead(planned: Planned, scene: Scene) -> Remainder:
    """What is left of a plan made for `scene` before it has begun: all of it."""
    origins = {item.name: item.position for item in scene.objects}
    history = History((), origins)
    return Remainder(planned.plan, EndReason.REPLAN, planned.plan.goals, history, planned.tree, planned.replanner)


def unrepaired(reason: EndReason, message: str, error: LlmPlannerError) -> str:
    """What to tell the person where nothing may go on. That there is no other way than the one that failed is no
    news; a question is."""
    return f"{message} {error}" if reason is EndReason.REPLAN or isinstance(error, QuestionError) else message


def plan_remainder(
    left: Remainder, scene: Scene, skills: Sequence[Signature], viewpoint: Viewpoint = BEHIND,
    limits: Limits | None = None,
) -> Planned:  # fmt: skip
    """The plan for `left` from `scene` on: after a step that failed another branch of the tree, or what its replanner
    writes; else by decoding within `limits`. Finished steps are not repeated.

    Raises ImpossibleError where there is none, with the reason, and as `FailureReplanner.program`.
    """
    failed = left.reason is EndReason.FAILED
    text = _branch(left, scene, skills, viewpoint) if failed else _decoded(left, scene, skills, viewpoint, limits)
    if not text:
        raise ImpossibleError("Nothing would be left to do then.")
    interpreter = Interpreter(check_program(text, skills, scene), viewpoint)
    plan = make_plan(left.plan.command, interpreter, scene, viewpoint)
    return Planned(plan, interpreter, tree=left.tree, replanner=left.replanner)


def _decoded(
    left: Remainder, scene: Scene, skills: Sequence[Signature], viewpoint: Viewpoint, limits: Limits | None
) -> str:
    # Distances are kept as they were asked for, with nothing to spare: what has been seen was judged by these.
    decoded = decode_plan(
        scene, skills, left.plan.constraints, left.goals, limits=limits, viewpoint=viewpoint, caution=0.0,
        history=left.history,
    )  # fmt: skip
    if decoded.verdict is not Verdict.PLAN:
        raise ImpossibleError(decoded.reason)
    return decoded.program


def _branch(left: Remainder, scene: Scene, skills: Sequence[Signature], viewpoint: Viewpoint) -> str:
    table = {skill.name: skill for skill in skills}

    def calls(status: StepStatus) -> list[Call]:
        return [call_of(step, table[step.skill], viewpoint) for step in left.plan.steps if step.status is status]

    found = other_branch(left.tree, left.goals, calls(StepStatus.DONE), calls(StepStatus.FAILED), scene, skills)
    if not found and left.replanner is not None and left.replanner.may_be_asked:
        return left.replanner.program(left, scene, skills)
    if not found:
        raise ImpossibleError("I know no other way.")
    return "".join(f"{call.text(table[call.skill], viewpoint)}\n" for call in found)
