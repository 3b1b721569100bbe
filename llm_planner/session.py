"""Session of one person with one simulated robot in this process: plan, run and correct from Python, without ROS.

from llm_planner import Session

with Session("tabletop", objects="red block, blue block") as session:
    report = session.run("stack the red block on the blue block")
    print(report.outcome.value, report.message)
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import TracebackType

from llm_planner.corrections.command_planner import CommandPlanner, program_planner
from llm_planner.corrections.edits import Answer
from llm_planner.corrections.in_process import InProcessDialogue
from llm_planner.corrections.preferences.memory import Memory, PreferenceStore
from llm_planner.corrections.preferences.preference import Occasion
from llm_planner.corrections.reading import CorrectionReader, open_reader
from llm_planner.errors import InputError
from llm_planner.execution.execution_state import Execution
from llm_planner.language.factory import open_model
from llm_planner.language.model import LanguageModel
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planned import Planned, planning_settings
from llm_planner.planning.report import Report
from llm_planner.scene.places import viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world, read_objects
from llm_planner.skills.library import SkillLibrary, load_skills


class Session:
    """Simulated world, skill library, language model and dialogue with one person.

    Args:
        world: Name of a world, path of a world file, or an open world.
        objects: Objects in it, for example "red block, mug"; drawn at random by default.
        seed: Seed of the layout.
        robot: Name (as `llm-planner robot list` shows) or folder of the arm at the table; "" for that of the world
            file or the default one.
        skills: Library, or folder of skills to add to the shipped ones.
        model: "embedded", "openai" (any compatible server, see docs/concepts/language_models.md), or an open model.
        rehearsal: "symbolic", "full" (also in a copy of the simulation) or "off".
        privileges: YAML policy file that defines what `source` may command.
        source: Identity of the person, for the policy file.
        stands: Where the person stands: "behind" the robot, "facing" it, "left" or "right".
        memory: File of the preferences learned from corrections; by default they end with the session.

    Raises:
        InputError: A name, file or folder is wrong; the message lists the choices.
    """

    def __init__(
        self,
        world: str | Path | World | RoomsWorld = "tabletop",
        *,
        objects: str | None = None,
        seed: int = 0,
        robot: str | Path = "",
        skills: SkillLibrary | str | Path | None = None,
        model: str | LanguageModel = "embedded",
        rehearsal: str = "symbolic",
        privileges: str | Path | None = None,
        source: str = "cli",
        stands: str = "behind",
        memory: str | Path | None = None,
    ) -> None:
        self.world = _opened_world(world, seed, objects, str(robot))
        self.library = skills if isinstance(skills, SkillLibrary) else load_skills(Path(skills) if skills else None)
        self.replies: list[str] = []  # answers and questions of the robot, to commands and corrections
        self._viewpoint, self._source = viewpoint(stands), source
        self._settings = planning_settings(
            rehearsal, Path(privileges) if privileges else None, source, self.library, self._viewpoint
        )
        self._open: Callable[[], LanguageModel] = (
            partial(open_model, model) if isinstance(model, str) else lambda: model
        )
        self._planner = CommandPlanner(self._open, self.library, self._viewpoint, self._settings)
        self._folder = tempfile.TemporaryDirectory()
        self._store = PreferenceStore(Path(memory) if memory else Path(self._folder.name) / "memory.sqlite")
        self._reader = open_reader(model) if isinstance(model, str) else CorrectionReader(model=model)
        self._said: deque[tuple[str, Future[Answer]]] = deque()
        self._running = threading.Lock()
        self._stopped = self._closed = False
        self._commands = 0

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file of preferences and delete temporary files; the session cannot be used any more."""
        self._closed = True
        self._store.close()
        self._folder.cleanup()

    @property
    def scene(self) -> Scene:
        """Current scene, with poses in the base frame of the arm or in the map [m]."""
        return self.world.scene()

    def plan(self, command: str) -> Planned:
        """Plan a command without moving the robot.

        Raises:
            QuestionError: The command is unclear; the message is a question that the next command may answer.
            LlmPlannerError: No plan keeps the rules, or a skill is not allowed; the message gives the reason.
        """
        self._check(command)
        return self._planner(command, self.scene)

    def run_program(
        self, program: str, rules: str = "", on_change: Callable[[Execution], None] = lambda state: None
    ) -> Report:
        """Check a policy program, execute it in simulation and report the result that the scene shows.

        Args:
            program: Policy program (see docs/concepts/policy_programs.md).
            rules: Rules in words that the program must keep, for example "never reach over the vase".
            on_change: Callback, as for `run`.
        """
        self._check(program)
        words, model = rules or "run a program", self._open if rules else None
        planner = program_planner(program, model, self.library, self._viewpoint, self._settings)
        return self._run(words, lambda scene: planner(words, scene), on_change)

    def run(self, command: str, on_change: Callable[[Execution], None] = lambda state: None) -> Report:
        """Plan a command, execute it in simulation and report the result that the scene shows.

        Args:
            command: Command in plain words.
            on_change: Callback that receives every new state of the plan; it may call `correct` and `stop`.

        Raises:
            InputError: The session is closed, or runs a command already: it moves one robot.
        """
        self._check(command)
        report = self._run(command, lambda scene: self._planner(command, scene), on_change)
        report = self._planner.with_cost(report)
        self._planner.remember(report)
        return report

    def correct(self, words: str) -> Future[Answer]:
        """Say something to the robot while `run` is under way; it is read at the next look at the scene.

        May be called from `on_change` or from another thread.

        Returns:
            The future answer. It is cancelled if the command ends first. Do not wait for it in `on_change`.

        Raises:
            InputError: Nothing is running.
        """
        self._check(words)
        if not self._running.locked():
            raise InputError(f"nothing is running that {words!r} could correct; give a command with run first")
        answer: Future[Answer] = Future()
        self._said.append((words, answer))
        return answer

    def stop(self) -> bool:
        """Stop the robot and discard the plan; needs no language model.

        Returns:
            Whether a command was running.
        """
        self._stopped = True
        return self._running.locked()

    def _check(self, words: object) -> None:
        if self._closed:
            raise InputError("this session is closed; open a new one")
        if not isinstance(words, str):
            raise InputError(f"words must be a text, not {words!r:.80}")

    def _run(self, words: str, make_plan: Callable[[Scene], Planned], on_change: Callable[[Execution], None]) -> Report:
        if not self._running.acquire(blocking=False):
            raise InputError("this session runs a command already; wait for its report, or open another session")
        try:
            return self._run_alone(words, make_plan, on_change)
        finally:
            self._running.release()
            while self._said:
                self._said.popleft()[1].cancel()

    def _run_alone(
        self, words: str, make_plan: Callable[[Scene], Planned], on_change: Callable[[Execution], None]
    ) -> Report:
        self._commands += 1
        self._stopped = False
        last: list[Execution] = []
        occasion = Occasion(time.time(), self._source, "", f"command {self._commands}")
        dialogue = InProcessDialogue(self._reader, Memory(self._store), occasion)

        def changed(state: Execution) -> None:
            last[:] = [state]
            on_change(state)

        report = run_command(
            words,
            Workcell(self.world, self.library),
            make_plan,
            self._viewpoint,
            on_change=changed,
            stop_requested=lambda: self._stopped,
            steer=lambda state: self._steer(dialogue, state),
        )
        if last:
            dialogue.end(last[-1])
        self.replies.append(report.message)
        return report

    def _steer(self, dialogue: InProcessDialogue, state: Execution) -> Execution:
        state = dialogue.look(state)
        while self._said:
            words, future = self._said.popleft()
            answer = dialogue.hear(words, state)
            self.replies.append(answer.message)
            future.set_result(answer)
            state = dialogue.state
        return state


def _opened_world(
    world: str | Path | World | RoomsWorld, seed: int, objects: str | None, robot: str
) -> World | RoomsWorld:
    if not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number from 0, not {seed!r}")
    if not isinstance(objects, str | None):
        raise InputError(f'objects must be a text such as "red block, mug", not {objects!r:.80}')
    if isinstance(world, World | RoomsWorld):
        if objects is not None or robot:
            raise InputError("objects and robot are for a world that is opened by its name; this one is open already")
        return world
    if not isinstance(world, str | Path):
        raise InputError(f"world must be a name, a file or an open world, not {world!r:.80}")
    things = None if objects is None else read_objects(str(world), objects)
    return open_world(str(world), seed, things, robot=robot)
