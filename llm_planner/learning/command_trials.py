"""Command trials: a skill is run by its policy and by its script, on the same commands and in the same scenes.

A trial follows the path of `llm-planner run` without the language model: the program is checked and rehearsed, the
in-process runner executes it with retries and repairs, and the simulator's scene decides. Commands are drawn as a
person would give them: a random table, usual amounts and a program of one or two calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from llm_planner.errors import InputError
from llm_planner.learning.cases import AMOUNTS
from llm_planner.learning.evaluating import Shove, goes_on
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planning import plan_program
from llm_planner.plans.plan import Outcome
from llm_planner.programs.signatures import REQUIRED, Parameter
from llm_planner.programs.values import Argument
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.robots.robot_folders import DEFAULT
from llm_planner.scene.atoms import Moment, holds
from llm_planner.scene.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.scene.predicates import BUTTON, DRAWER, STAIN, is_portable
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import ObjectSpec, named
from llm_planner.simulation.tabletop import default_objects
from llm_planner.simulation.world import World
from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.contract import SkillError, SkillResult, SkillRun
from llm_planner.skills.learned.loading import POLICY, SCRIPT, decision_of
from llm_planner.skills.library import CheckedSkill, SkillLibrary, load_skills
from llm_planner.skills.manifest import Manifest

Rng = np.random.Generator
DRAWS = 300  # draws of arguments before a scene is given up

# Additional kinds on the table, by predicate in a skill's conditions.
BESIDES: Mapping[str, tuple[str, ...]] = {
    DRAWER: ("drawer",), BUTTON: ("button",), STAIN: ("stain", "sponge"), "toppled": ("mug", "vase"),
}  # fmt: skip
CLEANS = "sponge"
OPEN = 0.1  # [m] initial opening of a drawer to close
STANDING = frozenset({"mug", "vase"})  # kinds that can be tipped over

_SENTENCES: Mapping[str, str] = {
    "close_drawer": "close the {object}",
    "open_drawer": "open the {object}",
    "pick": "pick up the {object}",
    "place_at": "put the {held} on the {place}",
    "place_beside": "put the {held} {distance} beside the {object}, {direction} of it",
    "place_in": "put the {held} in the {object}",
    "place_on": "put the {held} on the {object}",
    "press": "press the {object}",
    "push": "push the {object} {direction} by {distance}",
    "reach": "move the hand over the {object}",
    "stack": "stack the {object} on the {onto}",
    "sweep": "sweep the {object} to the {place}",
    "tip": "tip the {object} over",
    "wipe": "wipe the {object} away",
}  # the command for other skills is the program itself


@dataclass(frozen=True)
class SkillCommand:
    """Command for `skill` in the scene that `seed` lays out with `objects`; `number` counts the draws for this seed.

    `held` is the object to pick up first ("" for an empty hand); `slid` is the opening of drawers by name [m]; `robot`
    is the arm.
    """

    skill: str
    seed: int
    number: int
    objects: tuple[ObjectSpec, ...]
    arguments: Mapping[str, Argument]
    held: str = ""
    slid: Mapping[str, float] | None = None
    robot: str = DEFAULT

    @property
    def program(self) -> str:
        """Program that a language model would write for the command."""
        return program_of(self.skill, self.arguments, "pick" if self.held else "", self.held)

    @property
    def words(self) -> str:
        """Sentence of the command."""
        sentence = _SENTENCES.get(self.skill, " and ".join(self.program.split("\n")[:-1]))
        return sentence.format(held=self.held, **{name: _said(value) for name, value in self.arguments.items()})

    def open_world(self) -> World:
        """Create the simulated table before the command."""
        world = World(self.seed, self.objects, arm=arm_model(self.robot))
        for name, state in (self.slid or {}).items():
            world.slide_part(name, state)
        return world


def draw_command(manifest: Manifest, seed: int, number: int = 0, robot: str = DEFAULT) -> SkillCommand:
    """Draw a command for a skill of the arm `robot` from a seed and a draw number.

    Raises InputError if the scene offers no sensible command for the skill.
    """
    rng = np.random.default_rng((seed, 4, number))
    atoms = _predicates(manifest)
    objects = _objects(seed, atoms)
    slid = {item.name: OPEN for item in objects if item.kind == DRAWER and "closed" in atoms}
    command = SkillCommand(manifest.name, seed, number, objects, {}, slid=slid or None, robot=robot)
    arguments, held = draw_arguments(manifest, command.open_world().scene(), rng)
    return replace(command, arguments=arguments, held=held)


def draw_arguments(manifest: Manifest, scene: Scene, rng: Rng) -> tuple[dict[str, Argument], str]:
    """Draw arguments with which the skill makes sense in a scene, and the object to pick up first ("" for none).

    Raises InputError if there are none, or a parameter is of a type that cannot be drawn.
    """
    atoms = _predicates(manifest)
    held_first = any(one.atom.predicate == "holding" for one in manifest.preconditions)
    for _ in range(DRAWS):
        held = _thing(_carried(scene, atoms), rng) if held_first else ""
        arguments = {parameter.name: _drawn(parameter, scene, atoms, rng) for parameter in manifest.parameters}
        if _makes_sense(manifest, arguments, scene, held):
            return arguments, held
    raise InputError(f"the scene has nothing to {manifest.name} with, in {DRAWS} draws")


def _predicates(manifest: Manifest) -> set[str]:
    return {atom.predicate for atom in (*(one.atom for one in manifest.preconditions), *manifest.effects)}


def _objects(seed: int, atoms: set[str]) -> tuple[ObjectSpec, ...]:
    """Return the objects of `run --seed` and those that the skill's predicates require."""
    usual = default_objects(np.random.default_rng(seed))
    kinds = {item.kind for item in usual}
    more = [kind for atom, kinds_asked in BESIDES.items() if atom in atoms for kind in kinds_asked if kind not in kinds]
    return (*usual, *named([("", kind) for kind in more]))


def _carried(scene: Scene, atoms: set[str]) -> list[str]:
    """Return the objects that may be picked up first; for stains, only a sponge."""
    things = [item for item in scene.objects if is_portable(item)]
    return [item.name for item in things if STAIN not in atoms or item.kind == CLEANS]


def _thing(names: Sequence[str], rng: Rng) -> str:
    return str(rng.choice(list(names)))


def _drawn(parameter: Parameter, scene: Scene, atoms: set[str], rng: Rng) -> Argument:
    if parameter.type == "object":
        standing = [item.name for item in scene.objects if item.kind in STANDING]
        return _thing(standing if "toppled" in atoms else scene.names, rng)
    if parameter.type == "number":
        return _amount(parameter, rng)
    rooms = scene.building.names if scene.building else ()
    words = {
        "direction": DIRECTIONS, "side": SIDES, "place": REGIONS, "region": REGIONS,
        "destination": (*rooms, *scene.names),
    }  # fmt: skip
    if parameter.type not in words:
        raise InputError(f"no command can be drawn over {parameter.name}, a {parameter.type}")
    return _thing(list(words[parameter.type]), rng)


def _amount(parameter: Parameter, rng: Rng) -> float:
    """Draw a usual distance within the bounds; for other units use the default or a random value."""
    usual = [amount for amount in AMOUNTS if parameter.allows(amount)]
    if parameter.unit == "m" and usual:
        return float(rng.choice(usual))
    if parameter.default is not REQUIRED:
        return float(parameter.default)
    if parameter.minimum is None or parameter.maximum is None:
        raise InputError(f"no amount can be drawn for {parameter.name}: give its bounds or a default")
    return float(rng.uniform(parameter.minimum, parameter.maximum))


def _makes_sense(manifest: Manifest, arguments: Mapping[str, Argument], scene: Scene, held: str) -> bool:
    """Return whether the objects differ, the preconditions hold and the effects do not hold yet."""
    spoken = [str(arguments[one.name]) for one in manifest.parameters if one.type == "object"] + [held] * bool(held)
    if len(set(spoken)) < len(spoken):
        return False
    origins = {item.name: item.position for item in scene.objects}
    moment = Moment(replace(scene, held=held), arguments, held, origins)
    if not all(holds(one.atom, moment) for one in manifest.preconditions):
        return False
    before = Moment(scene, arguments, held, origins)
    return not manifest.effects or not all(holds(effect, before) for effect in manifest.effects)


def program_of(skill: str, arguments: Mapping[str, Argument], first: str = "", held: str = "") -> str:
    """Return the program that calls `skill`, after the skill `first` with the object `held`, if there is one."""
    before = f'{first}("{held}")\n' if first else ""
    return f"{before}{skill}({', '.join(map(_literal, arguments.values()))})\n"


def _literal(value: Argument) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _said(value: Argument) -> str:
    return f"{value * 100:g} cm" if isinstance(value, float) else str(value)


NUMBERS = 8  # commands to draw for a seed until the script accepts one
MOVERS = (POLICY, SCRIPT)
CONDITIONS = ("alone", "shoved")


@dataclass(frozen=True)
class CommandRun:
    """Result of one command; `done` if the report and the scene show success.

    `valid` is False for a failure after a disturbance that left the object where the script cannot act either.
    """

    done: bool
    outcome: str
    message: str
    seconds: float
    shoved: str = ""
    valid: bool = True


@dataclass(frozen=True)
class CommandTrial:
    """One command run by policy and script, undisturbed and disturbed: `runs[condition][mover]`.

    `weights` is the digest of the policy. `refused` are the messages of earlier draws that could not begin; `runs` is
    empty if no draw could.
    """

    skill: str
    seed: int
    weights: str
    words: str
    program: str
    refused: tuple[str, ...]
    runs: Mapping[str, Mapping[str, CommandRun]]

    def to_json(self) -> dict[str, Any]:
        """Convert to a JSON object."""
        return asdict(self)


def read_trial(table: Mapping[str, Any]) -> CommandTrial:
    """Read a trial from the output of `CommandTrial.to_json`; raise KeyError or TypeError if it is malformed."""
    runs = {
        condition: {mover: CommandRun(**run) for mover, run in movers.items()}
        for condition, movers in table["runs"].items()
    }
    return CommandTrial(**{**table, "refused": tuple(table["refused"]), "runs": runs})


@dataclass(frozen=True)
class CommandJob:
    """Trial to run: a skill of the library in the folder `skills`, on an arm, in the scene of one seed."""

    skills: Path
    skill: str
    seed: int
    weights: str
    robot: str = DEFAULT


def try_commands(job: CommandJob) -> CommandTrial:
    """Draw a command that the script accepts and run it by policy and script under both conditions."""
    scripted, learned = _libraries(job.skills)
    manifest = scripted.find(job.skill).manifest
    refused: list[str] = []
    for number in range(NUMBERS):
        command = draw_command(manifest, job.seed, number, job.robot)
        first = _carried_out(command, scripted, scripted.find(job.skill), shoved=False)
        if isinstance(first, str):
            refused.append(first)
            continue
        runs: dict[str, dict[str, CommandRun]] = {condition: {} for condition in CONDITIONS}
        for condition in CONDITIONS:
            for mover, library in zip(MOVERS, (learned, scripted), strict=True):
                known = (condition, mover) == ("alone", "script")
                run = first if known else _carried_out(command, scripted, library.find(job.skill), condition != "alone")
                # The script accepted this command, so a refusal counts as a failure.
                runs[condition][mover] = CommandRun(False, "refused", run, 0.0) if isinstance(run, str) else run
        return CommandTrial(job.skill, job.seed, job.weights, command.words, command.program, tuple(refused), runs)
    return CommandTrial(job.skill, job.seed, job.weights, "", "", tuple(refused), {})


@lru_cache(maxsize=2)
def _libraries(skills: Path) -> tuple[SkillLibrary, SkillLibrary]:
    """Load the library with scripts only, and with all policies."""
    return load_skills(skills, learned=False), load_skills(skills, unproven=True)


def _carried_out(command: SkillCommand, library: SkillLibrary, skill: CheckedSkill, shoved: bool) -> CommandRun | str:
    """Run the command with `skill` and `library`; return the message if the skill could not begin."""
    world = command.open_world()
    watched = _Watched(skill, world, np.random.default_rng((command.seed, 5)) if shoved else None)
    mixed = SkillLibrary({**library.skills, skill.name: CheckedSkill(skill.manifest, watched)})
    report = run_command(
        command.words,
        Workcell(world, mixed),
        lambda scene: plan_program(command.words, command.program, scene, mixed.for_scene(scene).signatures),
    )
    before, after = report.scene_before, report.scene_after
    if report.plan is None or watched.began is None:
        return report.message
    assert before is not None
    assert after is not None
    done = report.outcome is Outcome.DONE and _shows(skill.manifest, command, before, after)
    run = CommandRun(done, report.outcome.value, report.message, report.duration, watched.told)
    return run if done else replace(run, valid=watched.could_go_on())


def _shows(manifest: Manifest, command: SkillCommand, before: Scene, after: Scene) -> bool:
    """Return whether the effects hold, relative to the scene before the command."""
    origins = {item.name: item.position for item in before.objects}
    moment = Moment(after, command.arguments, command.held, origins)
    return all(holds(effect, moment) for effect in manifest.effects)


class _Watched:
    """Skill wrapper that disturbs it once, if asked, and records whether it began."""

    def __init__(self, skill: CheckedSkill, world: World, rng: np.random.Generator | None) -> None:
        self.name, self._skill, self._world, self._rng = skill.name, skill, world, rng
        self._shove: Shove | None = None
        self._arguments: Mapping[str, Argument] = {}
        self.began: Observation | None = None

    @property
    def told(self) -> str:
        """What was disturbed."""
        return self._shove.told if self._shove else ""

    def start(self, arguments: Mapping[str, Argument], observation: Observation) -> SkillRun:
        """See `Skill`."""
        run = self._skill.implementation.start(arguments, observation)
        if self.began is None and self._rng is not None:
            self._shove = Shove(self._world, arguments, self._rng, observation)
        return _WatchedRun(self, run, arguments, observation)

    def see(self, observation: Observation) -> None:
        if self._shove is not None:
            self._shove.see(observation)

    def moves(self, arguments: Mapping[str, Argument], began: Observation) -> None:
        """Record that the skill has begun to move."""
        if self.began is None:
            self._arguments, self.began = arguments, began

    def ended(self, observation: Observation) -> None:
        if self._shove is not None:
            self._shove.end(observation)

    def could_go_on(self) -> bool:
        """Return whether the script could continue from the state after the disturbance."""
        if self._shove is None or self._shove.left is None or self.began is None:
            return True
        decision = decision_of(self._skill.manifest, ArmSettings(), self._arguments, self.began)
        return goes_on(decision, self.began, self._shove.left)


class _WatchedRun:
    def __init__(self, watched: _Watched, run: SkillRun, arguments: Mapping[str, Argument], began: Observation) -> None:
        self._watched, self._run, self._arguments, self._began = watched, run, arguments, began

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """See `SkillRun`."""
        self._watched.see(observation)
        try:
            outcome = self._run.step(observation)
        except SkillError:
            self._watched.ended(observation)
            raise
        if isinstance(outcome, SkillResult):
            self._watched.ended(observation)
        else:
            self._watched.moves(self._arguments, self._began)
        return outcome
