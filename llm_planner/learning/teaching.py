"""From demonstrations to a policy in its skill's folder: what a kill interrupts goes on where it was."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from llm_planner import __version__
from llm_planner.errors import InputError
from llm_planner.learning.recording import Recording
from llm_planner.learning.report import SkillReport, Trained, read_report, write_report
from llm_planner.learning.report_page import PICTURE_FILE, write_page
from llm_planner.learning.training_task import TrainingTask
from llm_planner.share import skill_command
from llm_planner.skills.learned.loading import CRITIC_FILE, REPORT_FILE, digest, notes_of
from llm_planner.skills.learned.weights_file import write_whole

CHECKPOINTS = 50  # in a training, and points of its curve
LIBRARIES = ("numpy", "mujoco", "torch")


def is_taught(lesson: TrainingTask, seed: int, objective: str) -> bool:
    """Whether the policy that is there was trained from this seed, for this objective, as the manifest asks."""
    if not (lesson.policy.exists() and (lesson.folder / REPORT_FILE).exists()):
        return False
    report = read_report(lesson.folder)
    trained = report.trained
    if trained is None or report.policy != digest(lesson.policy):
        return False
    return (trained.contract, trained.seed, trained.objective) == (lesson.contract, seed, objective)


def begin_anew(lesson: TrainingTask) -> None:
    """Forgets a training that was interrupted; the policy that is there stays until the new one is finished."""
    for path in (lesson.checkpoint, progress_file(lesson)):
        path.unlink(missing_ok=True)


def begin(lesson: TrainingTask, seed: int, objective: str, anew: bool) -> None:
    """From here on this training is under way, also where it is interrupted before its first step.

    Raises InputError where it would replace a policy that another training made, and not `anew`.
    """
    of = f"{lesson.folder.resolve()}: {objective}, seed {seed}, {lesson.contract}"
    under_way = Progress(progress_file(lesson), time.monotonic).of == of
    if anew:
        begin_anew(lesson)
    elif lesson.policy.is_file() and not under_way:
        raise InputError(
            f"{lesson.policy} is there already, and was not trained so; --anew replaces it, --skills FOLDER trains in "
            "a library of your own"
        )
    if anew or not under_way:
        Progress(progress_file(lesson), time.monotonic).begin(of)


def teach(
    lesson: TrainingTask,
    seed: int,
    objective: str,
    recordings: Sequence[Recording],
    report: Callable[[int, float], None],
) -> SkillReport:
    """Train and keep the policy with its report; `report` hears the steps done and the loss.

    Raises InputError where there is nothing to learn from, without torch, or for an objective that there is not.
    """
    require_torch()
    from llm_planner.learning.fitting import fit
    from llm_planner.learning.policy_training import TrainingSettings
    from llm_planner.skills.learned.weights_file import save_policy

    contract, spec = lesson.contract, replace(lesson.spec, objective=objective)
    settings = TrainingSettings(steps=contract.steps, checkpoint_every=max(1, contract.steps // CHECKPOINTS))
    progress = Progress(progress_file(lesson), time.monotonic)

    def told(step: int, loss: float) -> None:
        progress.add(step, loss)
        report(step, loss)

    policy = fit(lesson, spec, recordings, seed, settings, lesson.checkpoint, told)
    (lesson.folder / CRITIC_FILE).unlink(missing_ok=True)  # it knew the policy of before
    save_policy(lesson.policy, policy, notes_of(lesson.manifest) | {"seed": seed})
    trained = Trained(
        demonstrator=lesson.manifest.script,
        contract=contract,
        seed=seed,
        objective=objective,
        episodes=len({recording.seed for recording in recordings if recording.source == "demonstrator"}),
        recordings=len(recordings),
        moments=sum(map(len, recordings)),
        corrections=sum(recording.source == "correction" for recording in recordings),
        seconds=progress.seconds,
        curve=tuple(progress.curve),
        parameters=sum(weight.size for weight in policy.weights.values()),
        versions=versions(),
    )
    return trained_report(lesson, trained)


def new_report(lesson: TrainingTask, trained: Trained | None = None) -> SkillReport:
    """Of the policy that is there, not yet evaluated."""
    path = lesson.policy
    return SkillReport(lesson.name, lesson.manifest.robot, digest(path), path.stat().st_size, trained)


def trained_report(lesson: TrainingTask, trained: Trained) -> SkillReport:
    """Of a policy that is written, kept beside it; its training is over, and what the page told of another one too."""
    result = new_report(lesson, trained)
    (lesson.folder / PICTURE_FILE).unlink(missing_ok=True)
    write_page(lesson.folder, result)
    write_report(lesson.folder, result)
    begin_anew(lesson)
    return result


def report_of(lesson: TrainingTask) -> SkillReport:
    """What is known of the policy that is there; raises InputError where there is none."""
    if not lesson.policy.is_file():
        raise InputError(f"{lesson.name} has no policy yet; train it: {skill_command('train', lesson.folder)}")
    if (lesson.folder / REPORT_FILE).exists():
        report = read_report(lesson.folder)
        if report.policy == digest(lesson.policy):
            return report
    return new_report(lesson)


def versions() -> dict[str, str]:
    """Of what a policy is made with."""
    return {"llm_planner": __version__, "python": platform.python_version()} | {
        name: metadata.version(name) for name in LIBRARIES
    }


def require_torch() -> None:
    """Raises InputError where there is none."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise InputError("policies are trained with torch, which is not installed; pip install torch") from error


def progress_file(lesson: TrainingTask) -> Path:
    """Where the curve is kept that a training has got to."""
    return lesson.checkpoint.with_name("progress.json")


class Progress:
    """The curve and the seconds of a training, over all the times that it was interrupted."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self._path, self._clock, self._last = path, clock, clock()
        self.of = ""
        self.curve: list[tuple[int, float]] = []
        self.seconds = 0.0
        if path.exists():
            table = json.loads(path.read_text(encoding="utf-8"))
            self.curve, self.seconds = [(step, loss) for step, loss in table["curve"]], table["seconds"]
            self.of = table["of"]

    def add(self, step: int, loss: float) -> None:
        """The loss after a step; what an earlier time had counted from there on was lost with it."""
        now = self._clock()
        self.seconds, self._last = self.seconds + now - self._last, now
        self.curve = [*(point for point in self.curve if point[0] < step), (step, loss)]
        self._keep()

    def begin(self, of: str) -> None:
        """The training whose it is."""
        self.of = of
        self._keep()

    def _keep(self) -> None:
        table = {"of": self.of, "curve": self.curve, "seconds": self.seconds}
        write_whole(self._path, json.dumps(table).encode())
