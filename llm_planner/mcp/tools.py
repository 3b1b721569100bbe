"""The tools: what an agent may do with a robot, with the words that a model reads, and the state between its calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ImageContent, TextContent, ToolAnnotations
from pydantic import Field

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.prompt import describe_regions, describe_scene, describe_skills
from llm_planner.language.stop_words import is_stop
from llm_planner.mcp.results import Outcome, RobotResult, RuleRow, outcome_of, picture, planned_way, rows, said
from llm_planner.mcp.robot import SOURCE, Robot, Sent
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.programs.problems import MAX_PROGRAM_CHARACTERS
from llm_planner.ros.client import CommandResult, Progress
from llm_planner.ros.run_feed import RunView
from llm_planner.scene.names import check_names
from llm_planner.scene.scene import Scene

LOOK = 0.1  # [s, wall time] between two looks at a run
PREVIEW_MAX = 120.0  # [s, wall time] for a preview; a large model may take long
REPORT_MAX = 1.0  # [s, wall time] to send a progress report
CANCEL_MAX = 5.0  # [s, wall time] for a cancelled run to end
WAIT_MAX = 120.0  # [s] that a call follows a run
RULES_MAX = 16
WORDS_MAX, RULE_MAX = 1000, 500  # [characters]
ON_RULE = 'tell("checked")'  # a program that moves nothing, to read a rule with

Words = Annotated[str, Field(max_length=WORDS_MAX)]
Sentence = Annotated[
    str, Field("", max_length=WORDS_MAX, description="what to do, in plain English; leave it out with a program")
]
Program = Annotated[
    str,
    Field(
        "",
        max_length=MAX_PROGRAM_CHARACTERS,
        description="a policy program instead of a sentence (see the resource llm-planner://program-language). It is "
        "checked and rehearsed like any other plan, and keeps your rules",
    ),
]
Wait = Annotated[
    float,
    Field(30.0, ge=0.0, le=WAIT_MAX, description="longest time [s] that this call follows the run; the run goes on"),
]
Rule = Annotated[str, Field(min_length=1, max_length=RULE_MAX, description="in plain English")]
Picture = Annotated[bool, Field(False, description="also return a picture (PNG)")]
RobotCall = Annotated[CallToolResult, RobotResult]
LOOKS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
MOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)
SETS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
STOPS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)

F = TypeVar("F", bound=Callable[..., Any])


def tool(annotations: ToolAnnotations, **options: Any) -> Callable[[F], F]:
    """Mark a method as a tool; its docstring is what a model reads, `options` go to the SDK."""

    def marked(method: F) -> F:
        method.__dict__["tool"] = {"annotations": annotations, **options}
        return method

    return marked


@dataclass
class Task:
    """Command under way for an agent."""

    words: str
    sent: Sent | None = None
    progress: list[Progress] = field(default_factory=list)  # the newest one
    why_ended: str = ""  # where the server ended it
    is_reported: bool = False  # whether an agent knows its end

    def on_progress(self, progress: Progress) -> None:
        self.progress[:] = [progress]

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        return self.progress[-1].steps if self.progress else ()

    @property
    def message(self) -> str:
        running = [str(step) for step in self.steps if step.status is StepStatus.RUNNING]
        return (self.progress[-1].message or "; ".join(running) or "under way") if self.progress else "sent"


class Tools:
    """What agents may do with `robot`. All agents of one server share its rules, its question and the robot.

    A run that an agent began ends once no call of an agent has been open for `lease` [s]; `clock` gives the time [s].
    Methods raise LlmPlannerError.
    """

    def __init__(self, robot: Robot, lease: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._robot, self._lease, self._clock = robot, lease, clock
        self._rules: list[RuleRow] = []
        self._asked = ""  # name of the tool that answers go to; "" while no question is open
        self._task: Task | None = None
        self.plan_made: Plan | None = None  # by the last preview
        self._starting, self._correcting = anyio.Lock(), anyio.Lock()
        self._open, self._last = 0, clock()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count a call of an agent as open, for the lease."""
        self._open += 1
        try:
            yield
        finally:
            self._open, self._last = self._open - 1, self._clock()

    def check_lease(self) -> None:
        """End the run if no agent follows it any more; call about once a second."""
        if not self._open and self._clock() - self._last > self._lease:
            self.end_run(f"stopped, because no call came for {self._lease:g} s")

    def end_run(self, why: str) -> Sent | None:
        """Cancel the run that an agent began, if it is under way, and return its command."""
        task = self._task
        if task is None or task.sent is None or task.sent.is_done:
            return None
        task.why_ended = task.why_ended or why
        task.sent.cancel()
        return task.sent

    # Looking

    @tool(LOOKS, structured_output=False)
    async def see_scene(self, with_picture: Picture = False) -> list[TextContent | ImageContent]:
        """See what is where now: the robot, bounds, and each thing with name, kind, colour, position [m], size [m] and
        what it is in or on, as JSON lines. Use these names in commands. Nothing moves."""
        scene = await run_sync(self._robot.scene)
        check_readable(scene)
        text = TextContent(type="text", text=describe_scene(scene))
        return [text, await self._picture(())] if with_picture else [text]

    @tool(LOOKS, structured_output=False)
    async def list_skills(self) -> str:
        """List what the robot can do: each skill with parameters, bounds, units, what it needs and what it leads to.
        Sentences need no skill names; programs call skills by these names. Nothing moves."""
        scene, skills = await run_sync(self._robot.scene), await run_sync(self._robot.skills)
        where = "" if scene.building else f"\nRegions of the table [m]: {describe_regions(scene)}"
        return f"{describe_skills(skills)}{where}"

    @tool(LOOKS)
    async def status(self, ctx: Context, wait_seconds: Wait = 0.0) -> RobotCall:
        """Tell how the run stands: steps, what the robot says, and its end. With wait_seconds it follows your run until
        that ends. Once you know its end, it shows the newest run of anybody."""
        if self._task is not None and not self._task.is_reported:
            return (await self._followed(self._task, wait_seconds, ctx)).shown(is_news=False)
        run = await run_sync(self._robot.run)
        whose = f"“{run.command}”, commanded by {_whose(run)}, {run.state}" if run.command else "no plan yet"
        told = f"{whose}: {run.message}" if run.message else whose
        outcome: Outcome = "running" if run.is_under_way else "information"
        return (await self._result(outcome, told, steps=run.steps)).shown(is_news=False)

    # Planning and running

    @tool(LOOKS)
    async def plan(self, command: Sentence = "", program: Program = "", with_picture: Picture = False) -> RobotCall:
        """Preview a command: how it is understood, the steps, the program and the rules, after all checks and a
        rehearsal; or the question or refusal that execute would give. The picture shows the way of the motion. Nothing
        moves, also while a run is under way."""
        if is_stop(command):  # not what a preview is for, but a stop never waits
            return await self.stop()
        task = await self._submitted(command, program, only_plan=True)
        ended = await self._planned(task)
        outcome = outcome_of(ended)
        self._asked = "plan" if outcome == "question" else ""
        self.plan_made = plan = ended.plan
        result = await self._result("planned" if plan else outcome, ended.message)
        if plan is None:
            return result.shown()
        rules = [
            RuleRow(words=one.words, formula=str(one.formula), of="run") for one in plan.constraints if not one.goal
        ]
        result = result.model_copy(update={"steps": rows(plan.steps), "program": plan.program, "rules": rules})
        return result.shown(await self._picture(plan.steps) if with_picture else None)

    @tool(MOVES)
    async def execute(
        self, ctx: Context, command: Sentence = "", program: Program = "", wait_seconds: Wait = 30.0
    ) -> RobotCall:
        """Have the robot do something: it MOVES if the plan passes all checks. Returns when it is done, when the robot
        asks or refuses, or after wait_seconds with outcome `running`; then follow it with status. `done` is measured in
        the scene. Cancelling this call stops the robot."""
        if is_stop(command):
            return await self.stop()
        async with self._starting:
            if self._task is not None and self._task.sent is not None and not self._task.sent.is_done:
                raise InputError(
                    f"“{self._task.words}” is still under way. Change it with correct, follow it with status, end it "
                    "with stop, or wait until it is done"
                )
            task = self._task = await self._submitted(command, program, only_plan=False)
        try:
            return (await self._followed(task, wait_seconds, ctx)).shown()
        except anyio.get_cancelled_exc_class():
            self.end_run("the agent cancelled its call")
            raise

    @tool(MOVES)
    async def answer(self, ctx: Context, words: Words, wait_seconds: Wait = 30.0) -> RobotCall:
        """Answer the robot's question (outcome `question`), e.g. "the blue one", "yes". It goes on with what raised the
        question: a preview stays a preview, an execute moves. Answer only what your user has said or clearly wants."""
        if is_stop(words):
            return await self.stop()
        match self._asked:
            case "plan":
                return await self.plan(words)
            case "execute":
                return await self.execute(ctx, words, wait_seconds=wait_seconds)
            case "correct":
                return await self.correct(words)
        raise InputError("no question is open; call execute with a whole command instead")

    @tool(MOVES)
    async def correct(self, words: Words) -> RobotCall:
        """Change your run while the robot moves: "slower", "a bit to the left", "no, the blue one", "also put the mug
        in the bowl", "wait", "go on", "undo". The changed plan is checked before it takes effect; finished steps stay
        finished. Runs that a person commanded cannot be corrected, only stopped."""
        return await self.stop() if is_stop(words) else (await self._corrected(words)).shown()

    @tool(STOPS)
    async def stop(self) -> RobotCall:
        """Stop the robot now, also one that another person commanded, and drop its plan. Works while other calls are
        open, and asks no language model. It does not replace the emergency stop."""
        self._asked = ""
        stopped = await run_sync(self._robot.stop)
        if stopped.was_running:
            return (await self._result("stopped", "the robot is at rest, and its plan is dropped")).shown()
        return (await self._result("nothing", stopped.message)).shown()

    # Rules

    @tool(LOOKS)
    async def list_rules(self) -> RobotCall:
        """List the rules in force: those that you added for your commands, and those of the run under way."""
        run = await run_sync(self._robot.run)
        known = run.rules if run.is_under_way else ()
        of_run = [RuleRow(words=said(words), formula=formula, of="run") for words, formula in known]
        told = "these rules are in force" if self._rules or of_run else "no rule is in force"
        result = await self._result("information", told)
        return result.model_copy(update={"rules": [*self._rules, *of_run]}).shown()

    @tool(SETS)
    async def add_rule(self, rule: Rule) -> RobotCall:
        """Add a rule that every later command of yours must keep, e.g. "never reach over the vase", "stay slower than
        0.1 m/s near the mug". It says how it was understood. A run of yours that is under way gets it too."""
        if any(one.words == rule for one in self._rules):
            return await self.list_rules()
        if len(self._rules) >= RULES_MAX:
            raise InputError(f"{RULES_MAX} rules are in force already; remove one first")
        task = Task(rule)
        task.sent = await run_sync(
            lambda: self._robot.submit("a rule", task.on_progress, program=ON_RULE, rules=(rule,), only_plan=True)
        )
        ended = await self._planned(task)
        if ended.plan is None:
            return (await self._result(outcome_of(ended), ended.message)).shown()
        read = " and ".join(str(one.formula) for one in ended.plan.constraints)
        self._rules.append(RuleRow(words=rule, formula=read))
        now = ""
        run = await run_sync(self._robot.run)
        if run.is_under_way and run.source == SOURCE:
            answer = await self._corrected(rule)
            now = f"; the run under way: {answer.outcome}, {answer.message}"
        told = f"every command of yours keeps “{rule}” from now on, read as {read}{now}"
        return (await self._result("applied", told)).model_copy(update={"rules": list(self._rules)}).shown()

    @tool(SETS)
    async def remove_rule(self, rule: Rule) -> RobotCall:
        """Remove a rule that you added, by its exact words. Rules of people and of the operator cannot be removed."""
        kept = [one for one in self._rules if one.words != rule]
        if len(kept) == len(self._rules):
            yours = "; ".join(f"“{one.words}”" for one in self._rules) or "none"
            raise InputError(f"you have added no rule “{rule}”; yours are: {yours}. Rules of others stay")
        self._rules = kept
        told = f"commands from now on need not keep “{rule}”; a run under way still does"
        return (await self._result("applied", told)).model_copy(update={"rules": list(kept)}).shown()

    # Parts

    async def _corrected(self, words: str) -> RobotResult:
        run = await run_sync(self._robot.run)
        if not run.is_under_way:
            raise InputError("nothing is under way that could be corrected; say the whole command with execute")
        if run.source != SOURCE:
            raise InputError(
                f"“{said(run.command)}” was commanded by {_whose(run)}, who alone corrects it; you may only stop it. "
                "Follow it with status, and ask your user"
            )
        async with self._correcting:
            answer = await run_sync(self._robot.correct, words)
        outcome: Outcome = answer.outcome.value
        self._asked = "correct" if outcome == "question" else ""
        difference = "".join(f"\n  {said(line)}" for line in answer.difference if line not in answer.message)
        return await self._result(outcome, answer.message, difference)

    async def _submitted(self, command: str, program: str, only_plan: bool) -> Task:
        if not command.strip() and not program.strip():
            raise InputError("say what to do: a command in plain language, or a policy program")
        task, rules = Task(command or "a program of an agent"), [one.words for one in self._rules]
        self._asked = ""
        task.sent = await run_sync(
            lambda: self._robot.submit(task.words, task.on_progress, program=program, rules=rules, only_plan=only_plan)
        )
        return task

    async def _planned(self, task: Task) -> CommandResult:
        """Wait for the end of a preview."""
        assert task.sent is not None
        with anyio.move_on_after(PREVIEW_MAX):
            while not task.sent.is_done:
                await anyio.sleep(LOOK)
            return task.sent.result
        raise LanguageModelError(
            f"the planner has not answered within {PREVIEW_MAX:g} s; try again, and look at what its node prints"
        )

    async def _followed(self, task: Task, wait_seconds: float, ctx: Context) -> RobotResult:
        """Follow a run until it ends, at most so long [s], and report its progress."""
        assert task.sent is not None
        until, shown = self._clock() + min(wait_seconds, WAIT_MAX), ""
        while not task.sent.is_done and self._clock() < until:
            done = sum(step.status is StepStatus.DONE for step in task.steps)
            if (news := f"{task.message} ({done} of {len(task.steps)} steps)") != shown:
                shown = news
                with anyio.move_on_after(REPORT_MAX):  # the agent may be gone, and nobody reads
                    await ctx.report_progress(done, len(task.steps) or None, said(news))
            await anyio.sleep(LOOK)
        if not task.sent.is_done:
            return await self._result("running", task.message, steps=task.steps)
        ended, task.is_reported = task.sent.result, True
        outcome = outcome_of(ended)
        self._asked = "execute" if outcome == "question" else ""
        why = f" ({task.why_ended})" if outcome == "stopped" and task.why_ended else ""
        run = await run_sync(self._robot.run)  # the executor's word on the last steps, which progress may lack
        same = [step.id for step in run.steps] == [step.id for step in task.steps] and run.source == SOURCE
        return await self._result(outcome, ended.message, why, steps=run.steps if same else task.steps)

    async def _result(
        self, outcome: Outcome, message: str, more: str = "", steps: Sequence[PlanStep] = ()
    ) -> RobotResult:
        remarks = list(map(said, await run_sync(self._robot.remarks)))
        nexts = _NEXT[outcome].format(lease=f"{self._lease:g}")
        return RobotResult(
            outcome=outcome, message=said(message) + more, next=nexts, steps=rows(steps), remarks=remarks
        )

    async def _picture(self, steps: Sequence[PlanStep]) -> ImageContent:
        def drawn() -> ImageContent:
            scene = self._robot.scene()
            skills = {skill.name: skill for skill in self._robot.skills()}
            way = planned_way(steps, skills, scene, self._robot.viewpoint())
            return picture(scene, self._robot.posture(), way)

        return await run_sync(drawn)


def check_readable(scene: Scene) -> None:
    """Raise InputError, which quotes nothing, for names that could be read as instructions."""
    try:
        check_names(scene)
    except InputError:
        raise InputError(
            "a thing in the scene has a name that could be mistaken for something else, so the scene is not shown and "
            "nothing is planned in it; your user must mend what names the things there"
        ) from None


def _whose(run: RunView) -> str:
    return {SOURCE: "an agent", "": "somebody"}.get(run.source, f"a person ({run.source})")


_NEXT: dict[Outcome, str] = {
    "done": "nothing; the scene shows that it is done. see_scene shows it",
    "planned": "show it to your user if it matters, then execute the same words or program. Nothing has moved",
    "running": "status(wait_seconds=60) follows it, correct changes it, stop ends it. It is stopped if no call comes "
    "for {lease} s",
    "applied": "go on; status shows what is under way",
    "question": "answer(words) with what your user means, or say it anew. Ask your user unless you know; do not guess",
    "refused": "read the reason. Change what you ask for, or tell your user; do not look for a way round a rule",
    "failed": "see_scene shows how things are now; then say what is left to do, or tell your user",
    "stopped": "execute a new command, or execute('go on') for the rest of this one",
    "information": "execute commands the robot; plan shows beforehand what it would do",
    "nothing": "execute commands the robot; plan shows beforehand what it would do",
}
