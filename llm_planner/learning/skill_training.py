"""Training of a policy from demonstrations or rendered pictures to the skill's folder; interrupted runs resume."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np

from llm_planner import __version__
from llm_planner.errors import InputError
from llm_planner.learning.recording import Recording, Windows, episode_windows, joined
from llm_planner.learning.report import SkillReport, Trained, read_report, write_report
from llm_planner.learning.report_page import PICTURE_FILE, write_page
from llm_planner.learning.sight_data import LAYOUTS, SIGHT_SPEC, Album
from llm_planner.learning.training_task import ACTION, GOAL, STATE, TrainingTask
from llm_planner.skills.learned.features import ACTIONS
from llm_planner.skills.learned.loading import CRITIC_FILE, REPORT_FILE, digest, notes_of, trained_on
from llm_planner.skills.learned.velocity_field import Array, PolicySpec
from llm_planner.skills.learned.weights_file import save_policy, write_atomically
from llm_planner.skills.sight_picking import save_sight

Report = Callable[[int, float], None]  # steps done, loss
CHECKPOINTS = 50  # checkpoints per training, and points of its curve
LIBRARIES = ("numpy", "mujoco", "torch")


def is_trained(task: TrainingTask, seed: int, objective: str) -> bool:
    """Return whether the current policy was trained on this robot, with this seed, objective and contract."""
    if not (task.policy.exists() and (task.folder / REPORT_FILE).exists()):
        return False
    report = read_report(task.folder)
    trained = report.trained
    if trained is None or trained_on(task.folder) != task.arm.name or report.policy != digest(task.policy):
        return False
    return (trained.contract, trained.seed, trained.objective) == (task.contract, seed, objective)


def discard_training(task: TrainingTask) -> None:
    """Discard an interrupted training; the current policy stays until a new one is finished."""
    for path in (task.checkpoint, task.progress):
        path.unlink(missing_ok=True)


def begin(task: TrainingTask, seed: int, objective: str, anew: bool) -> None:
    """Register a training as started, so that it can resume; `anew` discards an interrupted one.

    Raises InputError if the training would replace another policy, unless `anew`.
    """
    of = f"{task.folder.resolve()}: {objective}, seed {seed}, {task.contract}"
    under_way = Progress(task.progress).of == of
    if anew:
        discard_training(task)
    elif task.policy.is_file() and not under_way:
        raise InputError(
            f"{task.policy} is there already, and was not trained so; --anew replaces it, --skills FOLDER trains in "
            "a library of your own"
        )
    if anew or not under_way:
        Progress(task.progress).begin(of)


def train_skill(
    task: TrainingTask, seed: int, objective: str, recordings: Sequence[Recording], report: Report
) -> SkillReport:
    """Train a policy, and store it with its report; `report` receives the number of steps and the loss.

    Raises InputError if there are no recordings, the objective is unknown, or torch is not installed.
    """
    require_torch()
    import torch

    from llm_planner.learning.policy_training import TrainingSettings, train_policy

    torch.set_num_threads(1)  # two threads slow down a small network
    contract, spec = task.contract, replace(task.spec, objective=objective)
    settings = TrainingSettings(steps=contract.steps, checkpoint_every=max(1, contract.steps // CHECKPOINTS))
    progress, windows = Progress(task.progress, report), windows_of(spec, recordings)
    policy = train_policy(spec, windows, ACTIONS, seed, settings, task.checkpoint, progress.add)
    (task.folder / CRITIC_FILE).unlink(missing_ok=True)  # it was trained on the previous policy
    save_policy(task.policy, policy, notes_of(task.manifest) | {"seed": seed, "robot": task.arm.name})
    return _reported(
        task, seed, objective, progress, policy.weights,
        episodes=len({recording.seed for recording in recordings if recording.source == "demonstrator"}),
        recordings=len(recordings),
        moments=sum(map(len, recordings)),
        corrections=sum(recording.source == "correction" for recording in recordings),
    )  # fmt: skip


def _reported(
    task: TrainingTask, seed: int, objective: str, progress: Progress, weights: Mapping[str, Array], **amounts: int
) -> SkillReport:
    """Write the report of a new policy, and remove the old picture and the training state."""
    trained = Trained(
        demonstrator=task.manifest.demonstrator,
        contract=task.contract,
        seed=seed,
        objective=objective,
        seconds=progress.seconds,
        curve=tuple(progress.curve),
        parameters=sum(weight.size for weight in weights.values()),
        versions={"llm_planner": __version__, "python": platform.python_version()}
        | {name: metadata.version(name) for name in LIBRARIES},
        **amounts,
    )
    result = _new_report(task, trained)
    (task.folder / PICTURE_FILE).unlink(missing_ok=True)
    write_page(task.folder, result)
    write_report(task.folder, result)
    discard_training(task)
    return result


def _new_report(task: TrainingTask, trained: Trained | None = None) -> SkillReport:
    """Create a report on the current policy, not yet evaluated."""
    path = task.policy
    return SkillReport(task.name, task.arm.name, digest(path), path.stat().st_size, trained)


def report_of(task: TrainingTask) -> SkillReport:
    """Return the report on the current policy; raise InputError if there is no policy."""
    if not task.policy.is_file():
        raise InputError(f"{task.name} has no policy yet; train it: {task.command('train')}")
    if (task.folder / REPORT_FILE).exists():
        report = read_report(task.folder)
        if report.policy == digest(task.policy):
            return report
    return _new_report(task)


def require_torch() -> None:
    """Raise InputError if torch is not installed."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise InputError("policies are trained with torch, which is not installed; pip install torch") from error


class Progress:
    """Loss curve and duration of a training, across interruptions."""

    def __init__(self, path: Path, report: Report = lambda step, loss: None) -> None:
        self._path, self._report, self._last = path, report, time.monotonic()
        self.of = ""
        self.curve: list[tuple[int, float]] = []
        self.seconds = 0.0
        if path.exists():
            table = json.loads(path.read_text(encoding="utf-8"))
            self.curve, self.seconds = [(step, loss) for step, loss in table["curve"]], table["seconds"]
            self.of = table["of"]

    def add(self, step: int, loss: float) -> None:
        """Add the loss after a step, replacing points from there on that an interruption lost."""
        now = time.monotonic()
        self.seconds, self._last = self.seconds + now - self._last, now
        self.curve = [*(point for point in self.curve if point[0] < step), (step, loss)]
        self._keep()
        self._report(step, loss)

    def begin(self, of: str) -> None:
        """Store the identifier of the training."""
        self.of = of
        self._keep()

    def _keep(self) -> None:
        table = {"of": self.of, "curve": self.curve, "seconds": self.seconds}
        write_atomically(self._path, json.dumps(table).encode())


def windows_of(spec: PolicySpec, recordings: Sequence[Recording]) -> Windows:
    """Cut the recordings into training windows; raise InputError if there are none.

    Steps of a policy itself and failures have weight 0; they would teach what made a correction necessary.
    """
    if not recordings:
        raise InputError("there are no demonstrations to learn from: every one of them failed, or none was made")
    return joined([_windows(spec, recording) for recording in recordings])


def _windows(spec: PolicySpec, recording: Recording) -> Windows:
    columns = recording.columns
    goals = columns.get(GOAL, np.zeros((len(recording), 0), np.float32))
    windows = episode_windows(spec, columns[STATE], goals, columns[ACTION])
    taught = recording.success and recording.source != "policy"
    return replace(windows, weights=windows.weights * np.float32(taught))


SIGHT_OBJECTIVE = "likelihood"


def train_sight_skill(task: TrainingTask, seed: int, album: Album, report: Report) -> SkillReport:
    """Train a policy by sight, and store it with its report; see `train_skill`."""
    require_torch()
    from llm_planner.learning.sight_training import train_sight

    steps, progress = task.contract.steps, Progress(task.progress, report)
    every = max(1, steps // CHECKPOINTS)
    network = train_sight(SIGHT_SPEC, album, seed, steps, task.checkpoint, progress.add, every)
    save_sight(task.policy, network, {"skill": task.name, "seed": seed})
    return _reported(
        task, seed, SIGHT_OBJECTIVE, progress, network.weights,
        episodes=len(album) // LAYOUTS, recordings=len(album), moments=len(album.shown), corrections=0,
    )  # fmt: skip
