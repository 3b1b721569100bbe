"""The robot as the tools need it: that of a running system, which a thread of its own talks with."""

from __future__ import annotations

import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from llm_planner.corrections.edits import Answer
from llm_planner.errors import LlmPlannerError
from llm_planner.execution.journal import Record, read_journal
from llm_planner.programs.signatures import Signature
from llm_planner.ros.client import CommandResult, Progress, Submission, SystemClient
from llm_planner.ros.commands import AGENTS
from llm_planner.ros.journal_file import journal_path, system_of
from llm_planner.ros.run_feed import RunFeed, RunView
from llm_planner.ros.scene_feed import NO_SCENE
from llm_planner.ros.stop_client import StopResult, SystemUnreachableError
from llm_planner.scene.places import Viewpoint, viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import load_skills

SOURCE = AGENTS  # of all commands, for privileges
NEW_SCENE = 3.0  # [s, wall time] to wait for a scene
TICK = 0.03  # [s, wall time] after which the thread looks for what else it should do
T = TypeVar("T")


class Robot:
    """Robot of the system that runs in this ROS domain and `namespace`, as the tools need it.

    Methods may be called from any thread, block for seconds, and raise LlmPlannerError. The system is looked for when
    it is first needed, so that an agent may start before the robot. One thread speaks ROS; while it waits for an answer
    it does what else is asked, so that a stop waits for nothing.

    Args:
        namespace: Namespace of the robot, where there are several.
        start: Longest time that a system which is being started takes [s]; 0 if it runs already.
        still_hoping: Called while it is waited for; may raise.
    """

    def __init__(
        self, namespace: str = "", start: float = 0.0, still_hoping: Callable[[], None] = lambda: None
    ) -> None:
        self._namespace, self._start, self._still_hoping = namespace, start, still_hoping
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._system: _System | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._serve, name="robot", daemon=True)
        self._thread.start()
        if start:
            self._jobs.put(self._try_to_connect)

    def close(self) -> None:
        """Leave the network; commands that still run are cancelled by the planner then."""
        self._closing = True
        self._thread.join(5.0)

    def scene(self) -> Scene:
        """Return what the robot sees now."""
        return self._do(lambda system: system.scene())

    def posture(self) -> tuple[tuple[float, ...], float]:
        """Return the arm's qpos (nq,) [rad], () for a base, and the gripper width [m]."""
        return self._do(lambda system: system.posture())

    def skills(self) -> Sequence[Signature]:
        """Return the skills that fit the scene."""
        return self._do(lambda system: system.library.for_scene(system.scene()).signatures)

    def viewpoint(self) -> Viewpoint:
        return self._do(lambda system: system.viewpoint)

    def run(self) -> RunView:
        """Return the run under way, or the last one."""
        return self._do(lambda system: system.run())

    def submit(
        self,
        words: str,
        on_progress: Callable[[Progress], None],
        *,
        program: str = "",
        rules: Sequence[str] = (),
        only_plan: bool = False,
    ) -> Sent:
        """Send a command, or a preview, as `SystemClient.submit` does."""
        sent = self._do(
            lambda system: system.client.submit(
                words, on_progress, program=program, rules=rules, source=SOURCE, only_plan=only_plan
            )
        )
        return Sent(sent, lambda: self._jobs.put(sent.cancel), watched=not only_plan)

    def correct(self, words: str) -> Answer:
        """Say something to the robot at work."""
        return self._do(lambda system: system.client.correct(words, self._do_others))

    def stop(self) -> StopResult:
        """Stop the robot, also while another method is under way."""
        return self._do(lambda system: system.client.stop("an agent said stop"))

    def remarks(self) -> list[str]:
        """Return what the robot has said of itself since the last call."""

        def taken(system: _System) -> list[str]:
            said = list(system.remarks)
            system.remarks.clear()
            return said

        return self._do(taken)

    def journal(self) -> Sequence[Record]:
        """Return what was commanded and done, the oldest first; () where the file is not on this machine."""
        return read_journal(self._do(lambda system: system.journal))

    # The thread

    def _do(self, job: Callable[[_System], T]) -> T:
        """Do `job` in the thread, and return what it returns or raise what it raises."""
        done: Future[T] = Future()

        def carried_out() -> None:
            try:
                done.set_result(job(self._connected()))
            except Exception as error:
                done.set_exception(error)

        self._jobs.put(carried_out)
        while not done.done():
            if not self._thread.is_alive():
                raise LlmPlannerError("the connection to the robot has ended; start the tool server again")
            wait([done], 1.0)
        return done.result()

    def _serve(self) -> None:
        while not self._closing:
            self._do_others()
            if self._system is None:
                time.sleep(TICK)
            else:
                self._system.client.spin_for(TICK)
        if self._system is not None:
            self._system.client.close()

    def _do_others(self) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return
            job()

    def _try_to_connect(self) -> None:
        try:
            self._connected()
        except LlmPlannerError:  # the next call that needs the robot raises it
            return

    def _connected(self) -> _System:
        if self._system is None:
            self._system = _System(self._namespace, self._start, self._still_hoping)
        return self._system


class Sent:
    """Command that was sent; `cancel` stops the robot if it moves for it."""

    def __init__(self, sent: Submission, cancel: Callable[[], None], watched: bool) -> None:
        self._sent, self.cancel, self._watched = sent, cancel, watched

    @property
    def is_done(self) -> bool:
        if self._watched and not self._sent.is_done:
            self._sent.check_alive()
        return self._sent.is_done

    @property
    def result(self) -> CommandResult:
        return self._sent.result


class _System:
    """Client of the system, used by the thread only, and what it has heard last."""

    def __init__(self, namespace: str, start: float, still_hoping: Callable[[], None]) -> None:
        # The planner cancels commands whose client, which has a name of its own, is gone.
        self.client: SystemClient = SystemClient(namespace, name=f"mcp_{uuid.uuid4().hex[:8]}")
        try:
            if start:
                self.client.wait_for_system(start, still_hoping)
            self.client.find_system()
            known = self.client.parameters("robot", "skills", "viewpoint", "journal")
            self.client.use_robot(str(known["robot"]))
        except BaseException:
            self.client.close()
            raise
        self.library = load_skills(Path(str(known["skills"])) if known["skills"] else None, learned=False)
        self.viewpoint = viewpoint(str(known["viewpoint"]))
        self.journal = journal_path(str(known["journal"]), *system_of(self.client.node))
        self.feed: RunFeed = RunFeed(self.client.node, self._warn)
        self.remarks: deque[str] = deque(maxlen=8)
        self._scene: Scene | None = None
        self._heard = 0.0  # [s, monotonic] when the scene came
        self._posture: tuple[tuple[float, ...], float] | None = None
        self.client.watch_scene(self._on_scene)
        self.client.watch_remarks(lambda answer: self.remarks.append(answer.message))

    def _warn(self, text: str) -> None:
        node: Any = self.client.node
        node.get_logger().warning(text, throttle_duration_sec=5.0)

    def _on_scene(self, scene: Scene) -> None:
        self._scene, self._heard = scene, time.monotonic()

    def scene(self) -> Scene:
        self.client.wait_until(lambda: time.monotonic() - self._heard < NEW_SCENE, NEW_SCENE, otherwise=NO_SCENE)
        assert self._scene is not None
        return self._scene

    def run(self) -> RunView:
        with suppress(SystemUnreachableError):  # then nothing is under way that it knows of
            self.client.wait_until(lambda: self.feed.is_known, NEW_SCENE)
        return self.feed.run

    def posture(self) -> tuple[tuple[float, ...], float]:
        if self.scene().building is not None and self.scene().base is None:
            return (), 0.0
        if self._posture is None:
            self.client.watch_joints(self._on_joints)
            silent = "no joint states of the robot arrive, so no picture can be drawn"
            self.client.wait_until(lambda: self._posture is not None, NEW_SCENE, otherwise=silent)
        assert self._posture is not None
        return self._posture

    def _on_joints(self, at: float, qpos: list[float], qvel: list[float], width: float) -> None:
        self._posture = tuple(qpos), width
