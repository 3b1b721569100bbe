"""Commands as a person would give them, drawn at random: a table, usual amounts, and a program of one or two calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from llm_planner.errors import InputError
from llm_planner.programs.signatures import REQUIRED, Parameter
from llm_planner.programs.values import Argument
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.robot_folders import DEFAULT
from llm_planner.scene.atoms import Moment, holds
from llm_planner.scene.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.scene.predicates import BUTTON, DRAWER, STAIN, is_portable
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import ObjectSpec, named
from llm_planner.simulation.tabletop import default_objects
from llm_planner.simulation.world import World
from llm_planner.skills.contract import Arguments
from llm_planner.skills.manifest import Manifest

Rng = np.random.Generator
DRAWS = 300  # draws of arguments before a scene is given up
AMOUNTS = (0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)  # [m] usual distances in commands

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
    arguments: Arguments
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


def _makes_sense(manifest: Manifest, arguments: Arguments, scene: Scene, held: str) -> bool:
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


def program_of(skill: str, arguments: Arguments, first: str = "", held: str = "") -> str:
    """Return the program that calls `skill`, after the skill `first` with the object `held`, if there is one."""
    before = f'{first}("{held}")\n' if first else ""
    return f"{before}{skill}({', '.join(map(_literal, arguments.values()))})\n"


def _literal(value: Argument) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _said(value: Argument) -> str:
    return f"{value * 100:g} cm" if isinstance(value, float) else str(value)
