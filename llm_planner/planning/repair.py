"""A new plan for what is left of one that has ended and may go on: another branch, a search, or a large model's.

Another way to the same end: the branch of an action tree that is taken when a step has failed (arXiv:2310.08582).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce

from llm_planner.errors import LlmPlannerError, QuestionError
from llm_planner.execution.execution_state import EndReason, Execution
from llm_planner.planning.choices import NO_PLANS, ROOT, ActionTree, Call, Walk, call_of, can_start
from llm_planner.planning.planned import FailureReplanner, ImpossibleError, Planned, Remainder
from llm_planner.planning.search.decode import Verdict, decode_plan
from llm_planner.planning.search.search import Limits
from llm_planner.planning.search.task import History
from llm_planner.plans.plan import Goal, StepStatus, goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.unroll import lying, make_plan
from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene


def next_step(walk: Walk, scene: Scene, skills: Sequence[Signature], barred: Collection[Call] = ()) -> int | None:
    """The node of the tree to carry out in the scene as it is, none of the `barred` calls; None where no branch is
    left."""
    table = {skill.name: skill for skill in skills}

    def startable(call: Call) -> bool:
        return call not in barred and call.skill in table and can_start(call, table[call.skill], scene)

    return walk.next(scene, startable)


def other_branch(
    tree: ActionTree,
    goals: Sequence[Goal],
    done: Iterable[Call],
    failed: Collection[Call],
    scene: Scene,
    skills: Sequence[Signature],
) -> tuple[Call, ...]:
    """The calls that lead from `scene` to all `goals` by another branch than the one that `failed`; () for none.

    `done` are the calls that have succeeded, in order. What has failed is put off: it does not come next, but perhaps
    it goes better once other things have been done. Scenes on the way are predicted.
    """
    table = {skill.name: skill for skill in skills}
    node, origins = reduce(tree.after, done, ROOT), dict(lying(scene))
    calls: list[Call] = []
    while len(calls) < len(tree.nodes) and not all(goal.holds(scene) for goal in goals):
        number = next_step(Walk(tree, node), scene, skills, () if calls else failed)
        if number is None:
            return ()
        step = tree.nodes[number].step
        assert step is not None  # the root is never next
        calls.append(step.call)
        skill = table[step.call.skill]
        scene = predict(scene, goals_of(skill, "", step.call.values(skill), scene, origins))
        node, origins = number, {**origins, **lying(scene)}
    return tuple(calls) if all(goal.holds(scene) for goal in goals) else ()


MOST_REPAIRS = 3  # of the plan for one command


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
