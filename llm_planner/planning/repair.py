"""Repair of a plan that has ended but may go on: another branch, a search, or a large model's program.

After a failed step another branch of the action tree is taken (Tree-Planner, arXiv:2310.08582). A program for an arm on
a mobile base that lacks drives gets one before each call that cannot reach its object.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import Any

from llm_planner.errors import LlmPlannerError, QuestionError
from llm_planner.execution.execution_state import EndReason, Execution
from llm_planner.planning.choices import NO_PLANS, ROOT, ActionTree, Call, call_of, can_start
from llm_planner.planning.planned import FailureReplanner, ImpossibleError, Planned, Remainder
from llm_planner.planning.search.decode import Verdict, decode_plan
from llm_planner.planning.search.search import Limits
from llm_planner.planning.search.task import History
from llm_planner.plans.plan import Goal, StepStatus, goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.unroll import foresee_plan, look_ahead, lying
from llm_planner.programs.checker import CheckedProgram, check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.programs.problems import OutOfReachError, ProgramError
from llm_planner.programs.signatures import Signature, bind
from llm_planner.scene.driven_base import fixed_places
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene


def other_branch(
    tree: ActionTree,
    goals: Sequence[Goal],
    done: Iterable[Call],
    failed: Collection[Call],
    scene: Scene,
    skills: Sequence[Signature],
) -> tuple[Call, ...]:
    """Return calls from `scene` to all `goals` by another branch than the failed one, or () if there is none.

    A failed call may not come first, but may succeed after other calls. Scenes on the way are predicted.

    Args:
        done: Calls that have succeeded, in order.
        failed: Calls that have failed.
    """
    table = {skill.name: skill for skill in skills}

    def startable(number: int) -> bool:
        step = tree.nodes[number].step
        if step is None or step.call.skill not in table or (not calls and step.call in failed):
            return False
        return can_start(step.call, table[step.call.skill], scene)

    node, origins = reduce(tree.after, done, ROOT), dict(lying(scene))
    calls: list[Call] = []
    while len(calls) < len(tree.nodes) and not all(goal.holds(scene) for goal in goals):
        number = tree.next(node, scene, startable)
        if number is None:
            return ()
        step = tree.nodes[number].step
        assert step is not None  # the root is never the next node
        calls.append(step.call)
        skill = table[step.call.skill]
        scene = predict(scene, goals_of(skill, "", step.call.values(skill), scene, origins))
        node, origins = number, {**origins, **lying(scene)}
    return tuple(calls) if all(goal.holds(scene) for goal in goals) else ()


MOST_REPAIRS = 3  # repairs per command


def remainder_of(state: Execution, tree: ActionTree = NO_PLANS, replanner: FailureReplanner | None = None) -> Remainder:
    """Return what an ended execution leaves to do; its goals are those predicted for the whole plan."""
    assert state.end is not None
    history = History(state.watch.trace, state.watch.origins)
    return Remainder(state.plan, state.end.reason, state.wanted, history, tree, replanner)


def remainder_ahead(planned: Planned, scene: Scene) -> Remainder:
    """Return the remainder of a plan for `scene` that has not begun: all of it."""
    origins = fixed_places(scene)
    history = History((), origins)
    return Remainder(planned.plan, EndReason.REPLAN, planned.plan.goals, history, planned.tree, planned.replanner)


def unrepaired(reason: EndReason, message: str, error: LlmPlannerError) -> str:
    """Return the final message for the person; the error is added after a rule problem or if it is a question."""
    return f"{message} {error}" if reason is EndReason.REPLAN or isinstance(error, QuestionError) else message


def plan_remainder(
    left: Remainder, scene: Scene, skills: Sequence[Signature], viewpoint: Viewpoint = BEHIND,
    limits: Limits | None = None,
) -> Planned:  # fmt: skip
    """Plan the rest from `scene` on; finished steps are not repeated.

    After a failed step the plan is another branch of the tree, or a program of the replanner; otherwise it is decoded
    within `limits`.

    Raises:
        ImpossibleError: There is no plan. Other errors are those of `FailureReplanner.program`.
    """
    failed = left.reason is EndReason.FAILED
    text = _branch(left, scene, skills, viewpoint) if failed else _decoded(left, scene, skills, viewpoint, limits)
    if not text:
        raise ImpossibleError("Nothing would be left to do then.")
    program = with_drives(check_program(text, skills, scene), scene, viewpoint)
    interpreter = Interpreter(program, viewpoint)
    plan = foresee_plan(interpreter, scene, viewpoint).plan(left.plan.command, program.text)
    return Planned(plan, interpreter, tree=left.tree, replanner=left.replanner)


def _decoded(
    left: Remainder, scene: Scene, skills: Sequence[Signature], viewpoint: Viewpoint, limits: Limits | None
) -> str:
    # Distances have no extra margin: the constraints have judged the past without one.
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


MOST_DRIVES = 20  # drives put into one program


def with_drives(program: CheckedProgram, scene: Scene, viewpoint: Viewpoint) -> CheckedProgram:
    """Return the program with a drive before each call whose object is out of reach in the forecast.

    A program that goes wrong otherwise, or that no drive helps, is returned as far as it is mended: its rehearsal says
    what is wrong.
    """
    drives = [skill for skill in program.skills.values() if is_drive(skill)]
    if scene.base is None or not drives:
        return program
    for _ in range(MOST_DRIVES):
        try:
            look_ahead(Interpreter(program, viewpoint), scene, viewpoint, rehearse=True)
        except OutOfReachError as error:
            text = _with_drive(program, error, drives[0])
            if not text:
                return program
            program = check_program(text, program.skills.values(), scene)
        except ProgramError:
            return program
        else:
            return program
    return program


def is_drive(skill: Signature) -> bool:
    """Return whether the skill drives the robot to its only argument."""
    return len(skill.parameters) == 1 and skill.leads


def _with_drive(program: CheckedProgram, error: OutOfReachError, drive: Signature) -> str:
    """Return the program with `drive` to the object out of reach before the call; "" if it stands there already."""
    tree = ast.parse(program.text)
    called = program.skills[error.call.skill]
    blocks: list[Any] = [getattr(node, key, None) for node in ast.walk(tree) for key in ("body", "orelse")]
    for block in (one for one in blocks if isinstance(one, list)):
        for index, statement in enumerate(block):
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or call.lineno != error.call.line or _name(call) != error.call.skill:
                continue
            keywords = [(str(keyword.arg), keyword.value) for keyword in call.keywords]
            what = bind(called, call.args, keywords).given[error.parameter]
            new = ast.Expr(ast.Call(ast.Name(drive.name), [what], []))
            if ast.unparse(new) in _drives_before(block, index, drive):
                return ""
            block.insert(index, new)
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return ""


def _drives_before(block: list[ast.stmt], index: int, drive: Signature) -> list[str]:
    """Return the drives directly before a statement; one of them once more would lead in a circle."""
    found: list[str] = []
    for statement in reversed(block[:index]):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or _name(call) != drive.name:
            break
        found.append(ast.unparse(statement))
    return found


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""
