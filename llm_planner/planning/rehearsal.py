"""Symbolic rehearsal of a plan before anything moves: the execution's state machine, driven by a simulated robot.

The course of a program depends only on the scenes that it sees. The branches of a rehearsal are therefore the possible
results of a skill: the promised effect, another place that the promise allows, a failure at any change on the way, a
dropped object. The nominal branch has no surprise; every other branch has exactly one. All constraints are monitored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from llm_planner.errors import InputError
from llm_planner.execution.execution import SETTLE_TIME, advance
from llm_planner.execution.execution_state import (
    Command,
    EndReason,
    Execution,
    SceneObserved,
    SkillFinished,
    StartSkill,
)
from llm_planner.execution.motion_rules import limit_of
from llm_planner.execution.watch import Watch, check_watchable
from llm_planner.ltl.alphabet import Trace
from llm_planner.planning.failure_outcomes import Course, SpeedOutlooks, surprises
from llm_planner.plans.prediction import is_push, pushed_by, shoved
from llm_planner.plans.trace import foresee_motion
from llm_planner.programs.problems import Problem
from llm_planner.scene.names import the
from llm_planner.scene.predicates import contents
from llm_planner.scene.scene import Scene
from llm_planner.skills.contract import SkillErrorCode, SkillResult

MAX_SCENES = 4000  # predicted scenes of one rehearsal: about one second

_OK = SkillResult(SkillErrorCode.SUCCEEDED)
_FAILED = SkillResult(SkillErrorCode.TIMEOUT, "it failed in the rehearsal")


class Advice(str, Enum):
    """Verdict of a rehearsal on a plan."""

    ALLOW = "allow"
    ASK = "ask"  # ask the person first
    BLOCK = "block"


@dataclass(frozen=True)
class Finding:
    """Something that goes wrong in a rehearsal.

    Attributes:
        line: Line of the program, 0 for none.
        sure: Whether it happens if every skill does as it promises.
        trace: Letters that show it.
        settled_by_physics: Whether only a rehearsal in simulation can decide it.
        surprise: Step that must deviate for it to happen, "" for none.
    """

    line: int
    message: str
    sure: bool
    trace: Trace = ()
    settled_by_physics: bool = False
    surprise: str = ""

    def __str__(self) -> str:
        return f"if {self.surprise}, goes otherwise than foreseen: {self.message}" if self.surprise else self.message


@dataclass(frozen=True)
class Rehearsal:
    """Result of a rehearsal: `branches` were followed, and `complete` is whether these are all with one surprise.

    `seconds` is the duration in simulation [s], 0 without one.
    """

    verdict: Advice
    findings: tuple[Finding, ...] = ()
    branches: int = 1
    complete: bool = True
    seconds: float = 0.0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the verdict is not ALLOW, and what was not covered, for a person."""
        notes = () if self.complete else (f"not all branches were looked at, only {self.branches}",)
        return (*map(str, self.findings), *notes)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """Letters up to each finding."""
        return tuple(finding.trace for finding in self.findings)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Findings as problems of the program, for a model to fix."""
        return tuple(Problem(finding.line, 1 if finding.line else 0, finding.message) for finding in self.findings)


def rehearse(state: Execution, scene: Scene, max_scenes: int = MAX_SCENES) -> Rehearsal:
    """Rehearse the plan that `state` is about to execute from `scene` on.

    Without constraints only shoves are checked: `foresee_plan` has already checked that the steps fit together.

    Args:
        max_scenes: Number of predicted scenes after which no further branch starts; the nominal branch always ends.

    Returns:
        BLOCK if the nominal branch breaks or misses a constraint, or one cannot be monitored. ASK if another branch may
        break a constraint, if the forecast cannot decide, or if a push shoves an object that its effect does not
        mention.
    """
    constraints = [one.constraint for one in state.watch.watched]
    try:
        check_watchable(constraints, scene)
    except InputError as error:
        return Rehearsal(Advice.BLOCK, (Finding(0, str(error), sure=True),))
    begin = _Point(*advance(state, SceneObserved(scene)))
    branches = _Branches(begin.state.watch)
    if not constraints:
        skills = state.interpreter.program.skills
        if any(is_push(effect) for step in state.plan.steps for effect in skills[step.skill].effects):
            branches.follow(begin)
        return Rehearsal(Advice.ASK if branches.shoves else Advice.ALLOW, tuple(branches.shoves))
    sure = branches.follow(begin, note=True)
    found = [_finding(sure), *branches.shoves]
    while branches.ahead and branches.scenes < max_scenes:
        turn = branches.ahead.pop(0)
        found.append(_finding(branches.follow(turn.point.after(turn.course)), turn))
    found += [Finding(0, doubt, sure=False, settled_by_physics=True) for doubt in branches.speeds.doubts()]
    found += branches.unknown
    findings = tuple({item.message: item for item in reversed(found) if item is not None}.values())[::-1]
    is_blocked = sure.end is not None and sure.end.reason in (EndReason.REPLAN, EndReason.BROKEN)
    verdict = Advice.BLOCK if is_blocked else Advice.ASK if findings else Advice.ALLOW
    return Rehearsal(verdict, findings, branches.count, not branches.ahead)


def doubted(rehearsal: Rehearsal, doubts: Iterable[Problem]) -> Rehearsal:
    """Add the forecast's doubts about occupied places to the rehearsal; physics may settle them."""
    found = tuple(Finding(doubt.line, doubt.message, sure=False, settled_by_physics=True) for doubt in doubts)
    verdict = Advice.ASK if found and rehearsal.verdict is Advice.ALLOW else rehearsal.verdict
    return replace(rehearsal, verdict=verdict, findings=(*rehearsal.findings, *found))


def _finding(end: Execution, turn: _Turn | None = None) -> Finding | None:
    """Return what the end of a branch shows, after its `turn`.

    A failing skill is a finding only in the nominal branch. After a mishap only a broken constraint is one: a plan that
    merely may not continue is made anew.
    """
    assert end.end is not None
    reason, message, sure = end.end.reason, end.end.message, turn is None
    if reason is EndReason.BROKEN or (reason is EndReason.REPLAN and (turn is None or turn.course.succeeds)):
        line, surprise = 0 if end.program_ended else end.interpreter.line, turn.point.step if turn else ""
        return Finding(line, message, sure, end.end.trace, surprise=surprise)
    if sure and reason is not EndReason.DONE:
        return Finding(end.interpreter.line, f"the plan fails in the forecast: {message}", sure)
    return None


@dataclass(frozen=True)
class _Point:
    """Position in a branch: the state and the commands that it has just issued."""

    state: Execution
    commands: tuple[Command, ...]

    def after(self, course: Course, speeds: SpeedOutlooks | None = None) -> _Point:
        """Return the position after the started skill takes this course; `speeds` observes it."""
        state, step_id = self.state, self.start.step_id
        for scene in course.scenes:
            state, commands = advance(state, SceneObserved(scene))
            if speeds:
                speeds.see(state.watch, scene)
        state, _ = advance(state, SkillFinished(step_id, _OK if course.succeeds else _FAILED))
        rested = replace(course.scenes[-1], time=course.scenes[-1].time + 2 * SETTLE_TIME)
        after, more = advance(state, SceneObserved(rested))
        if speeds:
            speeds.see(after.watch, rested)
        return _Point(after, more or commands)

    @property
    def start(self) -> StartSkill:
        (start,) = (command for command in self.commands if isinstance(command, StartSkill))
        return start

    def promised(self) -> Course:
        """Return the course of the started skill if it does what it promises."""
        state, start = self.state, self.start
        assert state.scene is not None
        skill = state.interpreter.program.skills[start.skill]
        every_point, limit = state.watch.needs_every_point, limit_of(state.watch, state.scene)
        foreseen = foresee_motion(skill, start.arguments, state.scene, state.origins, every_point, start.zones, limit)
        return Course(foreseen.scenes, doubt=foreseen.doubt)

    @property
    def step(self) -> str:
        """The step just started, for a person."""
        assert self.state.run is not None
        step = self.state.run.step
        return f"step {step.id}, {step}"

    def unknown(self, course: Course) -> Iterator[Finding]:
        """Report a step whose motion its skill cannot foresee: only physics shows where objects move."""
        if course.doubt:
            told = f"{course.doubt}, so that it keeps the rules cannot be foreseen; they are watched"
            yield Finding(self.state.interpreter.line, told, sure=False, settled_by_physics=True)

    def shoves(self, course: Course) -> Iterator[Finding]:
        """Report objects that a push moves besides its own and those lying on it."""
        assert self.state.run is not None
        for goal in self.state.run.goals:
            if name := pushed_by(goal):
                before, *_, after = course.scenes
                others = [other for other in shoved(before, after, name) if other not in contents(before, name)]
                if others:
                    told = f"{self.step}, would shove {' and '.join(map(the, others))} too"
                    yield Finding(self.state.interpreter.line, told, sure=True)


@dataclass(frozen=True)
class _Turn:
    """Branch to follow: another course at a point."""

    point: _Point
    course: Course


class _Branches:
    """Follows branches and counts them and their scenes.

    It collects the branches off the nominal one, the objects that the nominal one shoves, its unpredictable motions,
    and the state of the rules about speeds.
    """

    def __init__(self, watch: Watch) -> None:
        self.speeds = SpeedOutlooks(watch)
        self.ahead: list[_Turn] = []
        self.count = 0
        self.scenes = 0
        self.shoves: list[Finding] = []
        self.unknown: list[Finding] = []

    def follow(self, point: _Point, note: bool = False) -> Execution:
        """Follow a branch to its end state; `note` stores the surprises on its way as further branches."""
        self.count += 1
        first = self.count == 1
        while point.state.end is None:
            course = point.promised()
            if first:
                self.shoves += point.shoves(course)
                self.unknown += point.unknown(course)
            if note:
                goals = point.state.run.goals if point.state.run else ()
                self.ahead += [_Turn(point, other) for other in surprises(course, goals, point.state.watch)]
            self.scenes += len(course.scenes)
            point = point.after(course, self.speeds if first else None)
        return point.state
