"""Rehearses a plan before anything moves: the same state machine that will carry it out, driven by a pretended robot.

A program's course depends on the scenes it sees and on nothing else, so its branches are those of what a skill may lead
to: what it promises, in other places that the promise allows, a failure at any change on its way, a thing dropped. The
course without a surprise is what the plan will surely take; each other branch has one. All constraints are watched.
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
from llm_planner.plans.trace import pass_through
from llm_planner.programs.problems import Problem
from llm_planner.scene.names import the
from llm_planner.scene.predicates import contents
from llm_planner.scene.scene import Scene
from llm_planner.skills.contract import SkillErrorCode, SkillResult

MAX_SCENES = 4000  # pretended in one rehearsal: about a second

_OK = SkillResult(SkillErrorCode.SUCCEEDED)
_FAILED = SkillResult(SkillErrorCode.TIMEOUT, "it failed in the rehearsal")


class Advice(str, Enum):
    """What a rehearsal makes of a plan."""

    ALLOW = "allow"
    ASK = "ask"  # the person, first
    BLOCK = "block"


@dataclass(frozen=True)
class Finding:
    """Something that goes wrong: at which line of the program (0: none), in words, and the trace that shows it.

    `sure` says that the plan will come to it if every skill does as it promises; `surprise` names the step that must go
    otherwise for it ("" for none); `settled_by_physics`, that only a rehearsal in simulation can tell.
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
    """The verdict on a plan. `branches` were followed; `complete` says that there are no others with one surprise.

    `seconds` is how long it took in simulation [s], 0 where it was not rehearsed there.
    """

    verdict: Advice
    findings: tuple[Finding, ...] = ()
    branches: int = 1
    complete: bool = True
    seconds: float = 0.0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the verdict is not ALLOW, and what could not be looked at: for a person."""
        notes = () if self.complete else (f"not all branches were looked at, only {self.branches}",)
        return (*map(str, self.findings), *notes)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """What each finding looks like: the letters up to it."""
        return tuple(finding.trace for finding in self.findings)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The findings as problems of the program, for a model to mend."""
        return tuple(Problem(finding.line, 1 if finding.line else 0, finding.message) for finding in self.findings)


def rehearse(state: Execution, scene: Scene, max_scenes: int = MAX_SCENES) -> Rehearsal:
    """What becomes of the plan that `state` is about to carry out, from `scene` on.

    After `max_scenes` pretended scenes no further branch is begun; the sure one is always followed to its end.
    BLOCK where a constraint is broken or missed on the course that the plan will surely take, or cannot be watched; ASK
    where one may be broken on another, where the forecast could not tell, or where a push shoves what it does not speak
    of. Without constraints there is nothing else to prove: that the steps fit together has been checked when the plan
    was made.
    """
    constraints = [one.constraint for one in state.watch.watched]
    try:
        check_watchable(constraints, scene)
    except InputError as error:
        return Rehearsal(Advice.BLOCK, (Finding(0, str(error), sure=True),))
    begin = _Point(*advance(state, SceneObserved(scene)))
    branches = _Branches(begin.state.watch)
    if not constraints:
        return _only_shoves(begin, branches)
    sure = branches.follow(begin, note=True)
    found = [_finding(sure), *branches.shoves]
    while branches.ahead and branches.scenes < max_scenes:
        turn = branches.ahead.pop(0)
        found.append(_finding(branches.follow(turn.taken()), turn))
    found += [*_of_speeds(branches.speeds), *_of_searched(begin.state)]
    findings = tuple({item.message: item for item in reversed(found) if item is not None}.values())[::-1]
    return Rehearsal(_verdict(findings, sure), findings, branches.count, not branches.ahead)


def doubted(rehearsal: Rehearsal, doubts: Iterable[Problem]) -> Rehearsal:
    """The rehearsal with what the forecast doubts about places that will be taken: physics may settle it."""
    found = tuple(Finding(doubt.line, doubt.message, sure=False, settled_by_physics=True) for doubt in doubts)
    verdict = Advice.ASK if found and rehearsal.verdict is Advice.ALLOW else rehearsal.verdict
    return replace(rehearsal, verdict=verdict, findings=(*rehearsal.findings, *found))


def _only_shoves(begin: _Point, branches: _Branches) -> Rehearsal:
    skills = begin.state.interpreter.program.skills
    if any(is_push(effect) for step in begin.state.plan.steps for effect in skills[step.skill].effects):
        branches.follow(begin)
    return Rehearsal(Advice.ASK if branches.shoves else Advice.ALLOW, tuple(branches.shoves))


def _verdict(findings: Iterable[Finding], sure: Execution) -> Advice:
    if sure.end is not None and sure.end.reason in _CONSTRAINT:
        return Advice.BLOCK
    return Advice.ASK if any(True for _ in findings) else Advice.ALLOW


_CONSTRAINT = (EndReason.REPLAN, EndReason.BROKEN)


def _finding(end: Execution, turn: _Turn | None = None) -> Finding | None:
    """What a branch that ended so shows, after its `turn`. That a skill may fail is no news; that the sure course fails
    is.

    After a mishap only a broken constraint is: a plan that may not go on then has broken nothing, and is made anew.
    """
    assert end.end is not None
    reason, message, sure = end.end.reason, end.end.message, turn is None
    if reason is EndReason.BROKEN or (reason is EndReason.REPLAN and (turn is None or turn.course.succeeds)):
        line, surprise = 0 if end.program_ended else end.interpreter.line, turn.step if turn else ""
        return Finding(line, message, sure, end.end.trace, surprise=surprise)
    if sure and reason is not EndReason.DONE:
        return Finding(end.interpreter.line, f"the forecast does not see it through: {message}", sure)
    return None


def _of_speeds(outlooks: SpeedOutlooks) -> list[Finding]:
    return [Finding(0, doubt, sure=False, settled_by_physics=True) for doubt in outlooks.doubts()]


def _of_searched(state: Execution) -> list[Finding]:
    """Steps whose motion is searched as they run: where things are on their way, only physics can tell."""
    skills = state.interpreter.program.skills
    searched = [step for step in state.plan.steps if any(p.type == "rewards" for p in skills[step.skill].parameters)]
    doubt = "how {} moves is found as it runs, so that it keeps the rules cannot be foreseen; they are watched"
    return [Finding(step.line, doubt.format(step.skill), sure=False, settled_by_physics=True) for step in searched]


@dataclass(frozen=True)
class _Point:
    """Where a branch has come: the state and what it has just asked for."""

    state: Execution
    commands: tuple[Command, ...]

    def after(self, course: Course, speeds: SpeedOutlooks | None = None) -> _Point:
        """Where it comes when the skill just started takes this course; `speeds` looks on."""
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
        """The course of the skill just started if it does what it promises."""
        state, start = self.state, self.start
        assert state.scene is not None
        skill = state.interpreter.program.skills[start.skill]
        every_point, limit = state.watch.needs_every_point, limit_of(state.watch, state.scene)
        passage = pass_through(skill, start.arguments, state.scene, state.origins, every_point, start.zones, limit)
        return Course(passage.scenes)

    @property
    def step(self) -> str:
        """The step just started, for a person."""
        assert self.state.run is not None
        step = self.state.run.step
        return f"step {step.id}, {step}"

    def shoves(self, course: Course) -> Iterator[Finding]:
        """What a push takes along on that course though its effect does not speak of it, save what lies on it."""
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
    """A branch not yet followed: another course at that point."""

    point: _Point
    course: Course

    def taken(self) -> _Point:
        return self.point.after(self.course)

    @property
    def step(self) -> str:
        """The step that takes the other course, for a person."""
        return self.point.step


class _Branches:
    """Follows branches to their ends, counts them and what they cost, and keeps those that lead off the first, what is
    shoved on that, and how it stands with the rules about speeds."""

    def __init__(self, watch: Watch) -> None:
        self.speeds = SpeedOutlooks(watch)
        self.ahead: list[_Turn] = []
        self.count = 0
        self.scenes = 0
        self.shoves: list[Finding] = []

    def follow(self, point: _Point, note: bool = False) -> Execution:
        """The state in which the branch ends; with `note` the surprises on its way are kept to be followed."""
        self.count += 1
        first = self.count == 1
        while point.state.end is None:
            course = point.promised()
            if first:
                self.shoves += point.shoves(course)
            if note:
                goals = point.state.run.goals if point.state.run else ()
                self.ahead += [_Turn(point, other) for other in surprises(course, goals, point.state.watch)]
            self.scenes += len(course.scenes)
            point = point.after(course, self.speeds if first else None)
        return point.state
