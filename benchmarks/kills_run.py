"""One run of the kill benchmark: what is to be said and killed when, done with the running system, and watched."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from kills_judge import Motion
from kills_system import UP, RunningUp
from llm_planner_interfaces.msg import CorrectionResult, PlanStatus
from llm_planner_interfaces.srv import ResetWorld
from std_msgs.msg import String

from llm_planner.corrections.dialogue_session import RULE_LEFT_OUT
from llm_planner.corrections.edits import Answer, Outcome
from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.base_node import LATCHED, RELIABLE
from llm_planner.ros.client import Submission, SystemClient, SystemUnreachableError
from llm_planner.ros.conversions.correction_messages import result_from_msg
from llm_planner.ros.heartbeat_monitor import Readiness
from llm_planner.ros.node_table import NODES_IN_SIMULATION

PANDA = arm_model("panda")

OBJECTS = "red block, blue block, green bowl, mug"
COMMANDS = ("put the red block in the green bowl", "lay the red block down", "tidy up")
SPOKEN = {  # by kind
    "motion": ("slower", "a bit to the left", "a bit higher", "faster"),
    "step": ("no, the blue one", "skip this one", "put it back"),
    "rule": ("keep away from the mug", "always keep away from the mug"),
    "lesson": ("always a bit slower with blocks", "always a bit to the left with blocks"),
    "dialogue": ("undo that", "hold on"),
}
LONGEST = 5.0  # [s, wall time] from the command to the kill
BESIDE = 0.03  # [s] between the kill and a correction that is said right beside it
WATCHED = 8.0  # [s, wall time] after the kill; the arm has to rest from the fifth on
PLAN_ENDS = 90.0  # [s, wall time] at most, where it may go on
WORKS_WITHIN = 30.0  # [s, wall time] from the kill
ORPHANS_END_WITHIN = 3.0  # [s] from the kill of the supervisor
TIMEOUT = 180.0  # [s] for a system to come up, of which another program may have most of the machine


@dataclass(frozen=True)
class Scenario:
    """When [s after the command] which node is killed, and what is said when."""

    node: str
    command: str
    kill: float
    spoken: tuple[tuple[float, str], ...]


def drawn(node: str, rng: random.Random) -> Scenario:
    """A command, one to three corrections before the kill, one of them right beside it in every third run."""
    kill = rng.uniform(0.0, LONGEST)
    spoken: list[tuple[float, str]] = []
    for _ in range(rng.randint(1, 3)):
        kind, at = rng.choice(list(SPOKEN)), rng.uniform(0.0, kill)
        spoken.append((at, rng.choice(SPOKEN[kind])))
        if kind == "lesson":
            spoken.append((at + 0.3, "remember that"))
    if rng.random() < 1 / 3:
        spoken.append((kill + rng.uniform(-BESIDE, BESIDE), rng.choice(SPOKEN[rng.choice(list(SPOKEN))])))
    said = tuple(sorted(one for one in spoken if one[0] <= kill + BESIDE))
    return Scenario(node, rng.choice(COMMANDS), kill, said)


@dataclass
class Observed:
    """What was heard: commands that were taken, what was answered to what was said, and how the arm moved.

    Wall times [s]; `restarted` is the first state of a new simulator, `spoken_again` the end of the silence after the
    kill. `gone_on`: “go on” had the rest done; `in_vain` what was told where it had not. `back_after` [s] is how long
    after the kill, or the end of a plan that went on, or the start of a new `up`, a command was said that succeeded,
    less the time of a vain “go on”; infinite where none was. Where `up` was killed: `orphans`, the nodes that did not
    end in time; `unfinished`, whether a plan was under way; `offer`, what the new executor says of it at first.
    """

    accepted: list[str] = field(default_factory=list)
    answers: list[tuple[str, Answer]] = field(default_factory=list)
    motions: list[Motion] = field(default_factory=list)
    killed: float = 0.0
    restarted: float = float("inf")
    spoken_again: float = float("inf")
    succeeded: bool = False
    message: str = ""
    gone_on: bool = False
    in_vain: str = ""
    back_after: float = float("inf")
    orphans: list[str] = field(default_factory=list)
    unfinished: bool = False
    offer: str = ""


class Bench:
    """The running system as a person has it before them: says things, kills processes, and looks."""

    def __init__(self, client: SystemClient, system: RunningUp) -> None:
        self._client, self._system = client, system
        self._said = client.node.create_publisher(String, "correction", RELIABLE)
        client.node.create_subscription(CorrectionResult, "correction_result", self._on_result, RELIABLE)
        client.node.create_subscription(PlanStatus, "plan_status", self._on_plan, LATCHED)
        client.watch_joints(self._on_joints)
        self._executor = 0
        self._seen = Observed()
        self._time, self._leaps = 0.0, 0

    def _on_result(self, message: CorrectionResult) -> None:
        self._seen.answers.append((message.words, result_from_msg(message)))

    def _on_plan(self, status: PlanStatus) -> None:
        if status.executor != self._executor:
            self._executor, self._seen.offer = status.executor, status.message

    def _on_joints(self, stamp: float, _qpos: list[float], qvel: list[float], _width: float) -> None:
        now = time.monotonic()
        if not self._time <= stamp < self._time + 0.5:  # the robot's clock has leapt
            self._leaps += 1
            self._seen.restarted = min(self._seen.restarted, now) if self._seen.killed else float("inf")
        self._time = stamp
        self._seen.motions.append(Motion(now, float(np.abs(np.array(qvel) / PANDA.limits.qvel_max).max())))

    def run(self, scenario: Scenario, seed: int) -> Observed:
        """The scenario from a fresh table on, and whether the system works again afterwards."""
        self._reset(seed)
        self._seen = seen = Observed()
        submission = self._played(scenario)
        free = seen.killed  # since when another command could be carried out
        if scenario.node == "correction_listener":
            if not self._until(lambda: submission.is_done, WATCHED):
                self._answered("go on")  # where it was told to hold
            self._until(lambda: submission.is_done, PLAN_ENDS)
            free = time.monotonic()
        else:
            self._until(lambda: False, seen.killed + WATCHED - time.monotonic())
        if scenario.node == UP:
            self.wait_until_ready()
            free = time.monotonic()
        if submission.is_answered:
            seen.accepted.append(scenario.command)
        if submission.is_answered and submission.is_done:
            seen.succeeded, seen.message = _ended(submission)
        self._after(seen, free)
        return seen

    def _played(self, scenario: Scenario) -> Submission:
        events: list[tuple[float, Callable[[], None]]] = [
            (at, partial(self._said.publish, String(data=words))) for at, words in scenario.spoken
        ]
        events.append((scenario.kill, partial(self._kill, scenario.node)))
        began, submission = time.monotonic(), self._client.submit(scenario.command)
        for at, happen in sorted(events, key=lambda event: event[0]):
            self._until(lambda: False, began + at - time.monotonic())
            happen()
        return submission

    def _kill(self, node: str) -> None:
        nodes = self._system.watched()
        self._system.kill(node)
        self._seen.killed = time.monotonic()
        if node == UP:
            self._until(lambda: not nodes.alive(), ORPHANS_END_WITHIN)
            self._seen.orphans = nodes.alive()
            self._seen.unfinished = self._system.left_unfinished()
            self._system.start()
        nodes.close()

    def wait_until_ready(self) -> None:
        """Return once every node reports that it is ready; raises SystemUnreachableError with what is missing."""
        readiness = Readiness(self._client.node, [entry.name for entry in NODES_IN_SIMULATION])
        if not self._until(lambda: not readiness.missing or not self._system.is_running, TIMEOUT) or readiness.missing:
            raise SystemUnreachableError(f"not ready: {readiness.missing}\n{self._system.last_words()}")

    def _after(self, seen: Observed, free: float) -> None:
        """Somebody speaks again: the rest is to be done; where there is none, something else. A command may be expected
        to succeed soon after `free` [s]."""
        said = seen.spoken_again = time.monotonic()
        if not seen.succeeded:
            seen.gone_on, seen.in_vain = self._tried("go on")
        in_vain = 0.0 if seen.gone_on else time.monotonic() - said
        self._stop()
        while not seen.gone_on and time.monotonic() - free - in_vain < WORKS_WITHIN:
            said = time.monotonic() - in_vain
            if self._tried("wave")[0]:
                break
            self._client.spin_for(0.5)
        else:
            said = said if seen.gone_on else float("inf")
        seen.back_after = said - free

    def _stop(self) -> None:
        with suppress(SystemUnreachableError):  # whether it works again is seen next
            self._client.stop("the run is over")

    def _tried(self, words: str) -> tuple[bool, str]:
        """Whether the command succeeds, and what is told where it does not. Where a rule that was told before cannot be
        kept, the robot waits, and is told to go on."""
        begun = len(self._seen.answers)

        def goes_on() -> None:
            nonlocal begun
            answers, begun = self._seen.answers[begun:], len(self._seen.answers)
            if any(answer.message == RULE_LEFT_OUT for _, answer in answers):
                self._said.publish(String(data="go on"))

        try:
            result = self._client.execute(words, lambda progress: None, goes_on)
        except SystemUnreachableError as error:
            return False, str(error)
        self._seen.accepted.append(words)
        return result.succeeded, "" if result.succeeded else result.message

    def forget(self) -> None:
        """The next run begins with an empty memory."""
        if self._answered("forget everything I told you") is Outcome.QUESTION:
            self._answered("yes")

    def _answered(self, words: str) -> Outcome | None:
        """What came of the words, None where nobody has answered."""
        before = len(self._seen.answers)
        self._until(lambda: self._said.get_subscription_count() > 0, TIMEOUT)
        self._said.publish(String(data=words))

        def outcomes() -> list[Outcome]:
            return [answer.outcome for said, answer in self._seen.answers[before:] if said == words]

        self._until(lambda: bool(outcomes()), 10.0)
        return next(iter(outcomes()), None)

    def _reset(self, seed: int) -> None:
        leaps, reset = self._leaps, self._client.node.create_client(ResetWorld, "reset_world")
        request = ResetWorld.Request(seed=seed, objects=OBJECTS.split(", "))
        for _ in range(10):  # a request is lost where the simulator has not met us yet
            reset.call_async(request)
            if self._until(lambda: self._leaps > leaps, TIMEOUT / 10):
                break
        else:
            raise SystemUnreachableError(f"the world is not reset\n{self._system.last_words()}")
        self._client.node.destroy_client(reset)
        self._client.spin_for(1.0)  # everybody has seen it

    def _until(self, condition: Callable[[], bool], timeout: float) -> bool:
        try:
            self._client.wait_until(condition, timeout)
        except SystemUnreachableError:
            return False
        return True


def _ended(submission: Submission) -> tuple[bool, str]:
    """Whether the command succeeded, and what was told at its end."""
    try:
        return submission.result.succeeded, submission.result.message
    except SystemUnreachableError as error:
        return False, str(error)
