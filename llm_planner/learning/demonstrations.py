"""Demonstrations of scripted skills in random worlds, with disturbances.

After a disturbance the script starts again from the new state. Each undisturbed piece becomes a recording of what the
demonstrator observed and where it moved the hand next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from llm_planner.control.inverse_kinematics import IkSettings, InverseKinematics
from llm_planner.learning.cases import Case
from llm_planner.learning.dataset import arrow, read_recordings, sessions_in, write_session
from llm_planner.learning.pool import Pool
from llm_planner.learning.recording import Recording
from llm_planner.learning.training_task import SEEDS, TrainingTask, demonstrators
from llm_planner.robots.arm_model import ArmShape, arm_model, arm_shape
from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.geometry import top
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.objects import spec_of
from llm_planner.simulation.world import World
from llm_planner.skills.arm import Arm, ArmSettings, Script
from llm_planner.skills.contract import Arguments, SkillError, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.episode import Episode
from llm_planner.skills.footprints import footprint, separation
from llm_planner.skills.hand_geometry import HandPose, grip_of, hand_slices, into_reach, room
from llm_planner.skills.learned.chunk import Decision
from llm_planner.skills.learned.features import STEP, Frame, Place, View, frame_of, goal_numbers, observed
from llm_planner.skills.learned.velocity_field import Array
from llm_planner.skills.library import SkillLibrary
from llm_planner.skills.motion import Leg
from llm_planner.skills.scripted import ScriptedRun


@dataclass
class Piece:
    """Consecutive undisturbed steps in one frame."""

    frame: Frame
    states: list[Array] = field(default_factory=list)
    goals: list[Array] = field(default_factory=list)
    actions: list[tuple[float, ...]] = field(default_factory=list)

    def columns(self) -> dict[str, Array]:
        tables = {"observation.state": self.states, "action": self.actions}
        if self.goals and len(self.goals[0]):
            tables["observation.goal"] = self.goals
        return {name: np.array(rows, np.float32) for name, rows in tables.items()}


class RecordedRun:
    """Run of a demonstrator that is recorded piece by piece."""

    def __init__(
        self, run: SkillRun, observe: tuple[str, ...], goal: tuple[str, ...], decision: Decision,
        arguments: Arguments,
    ) -> None:  # fmt: skip
        self._run, self._observe, self._goal, self._decision, self._arguments = run, observe, goal, decision, arguments
        self.pieces: list[Piece] = []

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        outcome = self._run.step(observation)
        if isinstance(outcome, MotionReference):
            try:
                self.write(observation, outcome)
            except SkillError as refusal:  # the target cannot be determined any more, such as after it fell over
                return SkillResult(refusal.code, str(refusal))
        return outcome

    def write(self, observation: Observation, reference: MotionReference, done: float = 0.0) -> None:
        """Record one step; raise SkillError if the demonstrator cannot determine its target any more."""
        aim = self._decision.aim(observation)
        frame = frame_of(aim)
        if not self.pieces or self.pieces[-1].frame != frame:
            self.pieces.append(Piece(frame))
        piece = self.pieces[-1]
        piece.states.append(observed(self._observe, View(observation, aim, self._arguments)))
        piece.goals.append(goal_numbers(self._goal, aim))
        place = place_wanted(reference, observation.time + STEP, frame)
        piece.actions.append((*place, reference.gripper_width, done))


class Finished:
    """Run that holds the hand still and is recorded as done, so that a policy learns the end of the skill."""

    def __init__(self, shown: RecordedRun, observation: Observation, width: float) -> None:
        self._shown, self._pose, self._width = shown, grip_of(observation.T_base_gripper).pose(), width

    phase = "done"

    def step(self, observation: Observation) -> MotionReference:
        reference = MotionReference(observation.time, STEP, (self._pose,), self._width)
        self._shown.write(observation, reference, 1.0)
        return reference


def place_wanted(reference: MotionReference, time: float, frame: Frame) -> Place:
    """Interpolate the reference at `time` [s], as a hand placement in `frame`."""
    at = min(max((time - reference.start_time) / reference.dt, 0.0), len(reference.poses) - 1.0)
    low = min(math.floor(at + 1e-6), len(reference.poses) - 1)
    share, high = at - low, min(low + 1, len(reference.poses) - 1)
    a, b = (frame.place_of(grip_of(reference.poses[index])) for index in (low, high))
    x, y, z, turn = (p + share * (q - p) for p, q in zip(a, b, strict=True))
    return x, y, z, turn


FINISHED = 4  # recorded skill periods at the end
SHOVES_MAX = 4
SHOVED_AFTER = (0.2, 4.0)  # [s] between disturbances
ASTRAY = (0.004, 0.15)  # [m] deviation of the hand from its path
ASTRAY_TURN = 0.8  # [rad] bound of the hand rotation
ROOM = 0.01  # [m] clearance around an initial hand pose
AT_HOME = 0.4  # share of cases without setup that start at home, as most commands do
AZIMUTH = 0.9  # [rad] bound of the initial azimuth
TURN = 1.2  # [rad] bound of the initial hand rotation
BESIDE = 0.15  # [m] distance and height that count as near an object


FORCE = (130.0, 190.0)  # [N] horizontal force on the hand, above what the joint drives hold
FORCE_TIME = 0.1  # [s] duration of the force; it displaces the hand by 2 to 15 cm
MOVED = (0.01, 0.04)  # [m]
TURNED = math.radians(30)
SLID = 0.03  # [m] largest displacement of a drawer
GAP = 0.02  # [m] clearance of a moved object
TRIES = 20


def shove_hand(world: World, rng: np.random.Generator) -> None:
    """Apply a random force to the hand until `release_hand`."""
    angle, force = rng.uniform(0, 2 * math.pi), rng.uniform(*FORCE)
    world.push_hand((force * math.cos(angle), force * math.sin(angle), rng.uniform(0.0, 0.3) * force))


def release_hand(world: World) -> None:
    """Remove the force on the hand."""
    world.push_hand((0.0, 0.0, 0.0))


def shove_thing(world: World, names: Sequence[str], rng: np.random.Generator) -> bool:
    """Move a random free object to a nearby free place; return whether an object was moved."""
    scene = world.scene()
    free = [name for name in names if _lies_free(scene, name)]
    for name in rng.permutation(free)[:1]:
        item = scene.find(str(name))
        kind = spec_of(item).shape
        if kind.opens:
            world.slide_part(item.name, item.state + rng.uniform(-SLID, SLID))
            return True
        if kind.fixed:
            return False
        for _ in range(TRIES):
            angle, way, turn = rng.uniform(0, 2 * math.pi), rng.uniform(*MOVED), rng.uniform(-TURNED, TURNED)
            x, y = item.position[0] + way * math.cos(angle), item.position[1] + way * math.sin(angle)
            shape = footprint(item).at((x, y), footprint(item).yaw + turn)
            others = [footprint(other) for other in scene.objects if other.name != item.name]
            if arm_shape(scene.arm).reaches(x, y) and all(separation(shape, other) > GAP for other in others):
                world.shift(item.name, (x, y), turn)
                return True
    return False


def _lies_free(scene: Scene, name: str) -> bool:
    if scene.held == name or scene.robot is None:
        return False
    return math.dist(scene.robot.position, scene.find(name).position) > 0.10


def demonstrate(task: TrainingTask, case: Case, library: SkillLibrary, seed: int) -> list[Recording]:
    """Record one episode; return its undisturbed pieces, or an empty list if it failed."""
    rng = np.random.default_rng((seed, 2))
    episode = Episode(World(seed, case.objects, arm=task.arm))
    if begin(case, episode, library, rng).code is not SkillErrorCode.SUCCEEDED:
        return []
    pieces = _shown(task, case.arguments, episode, rng)
    return [Recording(task.name, piece.columns(), True, seed) for piece in pieces if len(piece.actions) > 1]


def begin(case: Case, episode: Episode, library: SkillLibrary, rng: np.random.Generator) -> SkillResult:
    """Prepare the world of `episode` for the case, with the hand at home or anywhere.

    Returns the first failure of a preparing skill, or success.
    """
    world = episode.world
    assert isinstance(world, World)
    case.prepare(world)
    for name, arguments in case.before:
        result = episode.run(library.find(name), arguments)
        if result.code is not SkillErrorCode.SUCCEEDED:
            return result
    if not case.before and rng.random() >= AT_HOME:
        begin_anywhere(world, named_in(world.scene(), case.arguments), rng)
    return SkillResult(SkillErrorCode.SUCCEEDED)


def _shown(task: TrainingTask, arguments: Arguments, episode: Episode, rng: np.random.Generator) -> list[Piece]:
    began = episode.observe()
    script, contract, settings = task.manifest.functions().move, task.contract, ArmSettings()
    decision = Decision(script, settings, arguments, began)
    pieces: list[Piece] = []
    for shove in range(SHOVES_MAX + 1):
        last = shove == SHOVES_MAX or rng.random() < 0.2
        until = math.inf if last else episode.world.time + rng.uniform(*SHOVED_AFTER)
        arm = Arm(episode.observe(), settings, began)
        run = ScriptedRun(task.name, arm, script(arm, arguments), task.manifest.timeout)
        shown = RecordedRun(run, contract.observe, contract.goal, decision, arguments)
        result = _follow(episode, shown, until)
        if result is None:
            pieces += shown.pieces
            _disturb(episode, run, began, arguments, rng)
            continue
        if result.code is not SkillErrorCode.SUCCEEDED:
            return []
        finished = Finished(shown, episode.observe(), arm.width)
        with suppress(SkillError):  # the effect may be lost again
            for _ in range(FINISHED):
                episode.advance(finished, episode.observe())
        return pieces + shown.pieces
    return []


def named_in(scene: Scene, arguments: Arguments) -> list[str]:
    """Return the names of the scene's objects that the arguments refer to."""
    return [item.name for item in scene.objects if item.name in arguments.values()]


def _follow(episode: Episode, run: SkillRun, until: float = math.inf) -> SkillResult | None:
    """Step the run until it ends; return None if `until` [s] comes first."""
    while episode.world.time < until:
        result = episode.advance(run, episode.observe())
        if result is not None:
            return result
    return None


def _disturb(
    episode: Episode, run: SkillRun, began: Observation, arguments: Arguments, rng: np.random.Generator
) -> None:  # fmt: skip
    """Move an object, push the hand while `run` continues, or lead the hand off its path."""
    world, observation = episode.world, episode.observe()
    assert isinstance(world, World)
    kind = rng.random()
    if kind < 0.3 and shove_thing(world, named_in(observation.scene, arguments), rng):
        return
    if kind < 0.65:
        shove_hand(world, rng)
        _follow(episode, run, world.time + FORCE_TIME)
        release_hand(world)
    else:
        arm = Arm(observation, ArmSettings(), began)
        if not observation.scene.held and rng.random() < 0.5:
            arm.width = rng.uniform(0.0, arm.gripper.widest)
        _follow(episode, ScriptedRun("astray", arm, _astray(arm, rng), 5.0))


def _astray(arm: Arm, rng: np.random.Generator) -> Script:
    angle, way = rng.uniform(0, 2 * math.pi), math.exp(rng.uniform(*np.log(ASTRAY)))
    up = rng.uniform(-0.5, 1.0) * way
    here = arm.grip
    z = min(max(here.z + up, min(here.z, 0.03)), arm.shape.heights.cruise_max)
    there = HandPose(
        here.x + way * math.cos(angle),
        here.y + way * math.sin(angle),
        z,
        here.yaw + rng.uniform(-ASTRAY_TURN, ASTRAY_TURN),
    )
    if room(hand_slices(there, arm.width, arm.gripper), arm.scene, {arm.scene.held})[0] < ROOM:
        there = here.raised(max(z, here.z + 0.03))
    yield from arm.move("astray", [Leg(into_reach(there, arm.shape))], stop_early=True)


def begin_anywhere(world: World, near: Sequence[str], rng: np.random.Generator) -> None:
    """Place the hand at a random free pose with a random opening, half of the time near one of the objects.

    The hand stays at home if no free pose is found.
    """
    scene = world.scene()
    shape = arm_shape(scene.arm)
    close = bool(near) and rng.random() < 0.5
    for _ in range(40):
        grip = _beside(scene.find(str(rng.choice(list(near)))), shape, rng) if close else _anywhere(shape, rng)
        width = rng.uniform(0, shape.gripper.widest)
        if room(hand_slices(grip, width, shape.gripper), scene)[0] >= ROOM and put_hand(world, grip, width):
            return


def put_hand(world: World, grip: HandPose, width: float) -> bool:
    """Place the hand at `grip`, at rest and opened by `width` [m], if the arm reaches it.

    Returns whether the arm reaches the pose; otherwise it does not move.
    """
    posture = np.array(world.arm.home)
    posture[0] = math.atan2(grip.y, grip.x)
    solution = arm_solver(world.arm.name).solve(grip.pose(), posture)
    if solution.converged:
        world.pose_arm(solution.qpos, width)
    return solution.converged


@lru_cache(maxsize=1)  # compiles a model of the arm
def arm_solver(name: str) -> InverseKinematics:
    """Return the solver for all of the range of the arm called `name`."""
    arm = arm_model(name)
    limits = JointLimits(arm.limits.qpos_min, arm.limits.qpos_max, arm.limits.qvel_max, arm.limits.qacc_max)
    return InverseKinematics(arm.kinematics(), limits, IkSettings.of(arm))


def _anywhere(shape: ArmShape, rng: np.random.Generator) -> HandPose:
    radius, azimuth = rng.uniform(0.32, 0.72), rng.uniform(-AZIMUTH, AZIMUTH)
    x, y, z = radius * math.cos(azimuth), radius * math.sin(azimuth), rng.uniform(0.02, 0.42)
    return into_reach(HandPose(x, y, z, azimuth + rng.uniform(-TURN, TURN)), shape)


def _beside(item: SceneObject, shape: ArmShape, rng: np.random.Generator) -> HandPose:
    angle, way = rng.uniform(0, 2 * math.pi), rng.uniform(0.0, BESIDE)
    x, y = item.position[0] + way * math.cos(angle), item.position[1] + way * math.sin(angle)
    z = rng.uniform(0.015, top(item) + BESIDE)
    return into_reach(HandPose(x, y, z, math.atan2(y, x) + rng.uniform(-TURN, TURN)), shape)


SESSION = 10  # episodes per session


@dataclass(frozen=True)
class _Job:
    task: TrainingTask
    session: int
    seeds: Sequence[int]

    @property
    def seed(self) -> int:
        """Seed of the first episode, for error messages."""
        return self.seeds[0]


def collect(task: TrainingTask, episodes: int, seed: int, pool: Pool, report: Callable[[int], None]) -> None:
    """Collect demonstrations until `episodes` episodes are on disk, skipping finished sessions.

    `report` receives the number of episodes just finished. Raises InputError if pyarrow is not installed.
    """
    arrow()
    there = sessions_in(task.demonstrations)
    jobs = []
    for first in range(seed * SEEDS, seed * SEEDS + episodes, SESSION):
        seeds = range(first, min(first + SESSION, seed * SEEDS + episodes))
        session = first // SESSION
        if session in there:
            report(len(seeds))
        else:
            jobs.append(_Job(task, session, seeds))
    for position, recordings in pool.results(_demonstrated, jobs):
        if recordings:
            write_session(task.demonstrations, task.format, recordings, jobs[position].session)
        report(len(jobs[position].seeds))


def collected(task: TrainingTask, episodes: int, seed: int) -> list[Recording]:
    """Read the recordings that `collect` wrote for the same arguments; raise InputError if there is no dataset."""
    wanted = range(seed * SEEDS, seed * SEEDS + episodes)
    _, recordings = read_recordings(task.demonstrations)
    return [recording for recording in recordings if recording.seed in wanted]


def _demonstrated(job: _Job) -> list[Recording]:
    task, library = job.task, demonstrators(job.task.skills)
    episodes = (demonstrate(task, task.draw_case(seed), library, seed) for seed in job.seeds)
    return [recording for recordings in episodes for recording in recordings]
