"""Commands for one skill as a person gives them: a drawn table, usual amounts, and a program of a call or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from llm_planner.errors import InputError
from llm_planner.program.signatures import REQUIRED, Parameter
from llm_planner.simulation.layout import default_objects
from llm_planner.simulation.objects import ObjectSpec, named
from llm_planner.simulation.world import World
from llm_planner.skills.contract import Argument
from llm_planner.skills.learning.cases import AMOUNTS
from llm_planner.skills.manifest import Manifest
from llm_planner.world.atoms import Moment, holds
from llm_planner.world.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.world.predicates import BUTTON, DRAWER, STAIN, is_portable
from llm_planner.world.scene import Scene

Rng = np.random.Generator
DRAWS = 300  # of arguments, before a scene is given up

# What the table has besides the usual things, where a skill's atoms speak of this.
BESIDES: Mapping[str, tuple[str, ...]] = {
    DRAWER: ("drawer",), BUTTON: ("button",), STAIN: ("stain", "sponge"), "toppled": ("mug", "vase"),
}  # fmt: skip
CLEANS = "sponge"
OPEN = 0.1  # [m] that a drawer is out which is to be closed
STANDING = frozenset({"mug", "vase"})  # kinds that are tall enough to be tipped over

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
}  # a skill that is not here is asked for by its program


@dataclass(frozen=True)
class SkillCommand:
    """A command for `skill` on the table that `seed` lays out with `objects`.

    `held` [name] is picked up before, "" where the hand is to be empty; `slid` says how far drawers are out [m]. The
    scene, and how the skill is disturbed, are drawn from `seed`; `number` counts the commands drawn for it.
    """

    skill: str
    seed: int
    number: int
    objects: tuple[ObjectSpec, ...]
    arguments: Mapping[str, Argument]
    held: str = ""
    slid: Mapping[str, float] | None = None

    @property
    def program(self) -> str:
        """What a language model would write for it."""
        first = f'pick("{self.held}")\n' if self.held else ""
        return f"{first}{self.skill}({', '.join(map(_literal, self.arguments.values()))})\n"

    @property
    def words(self) -> str:
        """The sentence of which a language model would write that."""
        sentence = _SENTENCES.get(self.skill, " and ".join(self.program.split("\n")[:-1]))
        return sentence.format(held=self.held, **{name: _said(value) for name, value in self.arguments.items()})

    def open_world(self) -> World:
        """The table as it is before the command."""
        world = World(self.seed, self.objects)
        for name, state in (self.slid or {}).items():
            world.slide_part(name, state)
        return world


def draw_command(manifest: Manifest, seed: int, number: int = 0) -> SkillCommand:
    """The command for a skill in the scene of a seed, another one for each `number`.

    Raises InputError where the table has nothing to do the skill with.
    """
    rng = np.random.default_rng((seed, 4, number))
    atoms = {atom.predicate for atom in (*(one.atom for one in manifest.preconditions), *manifest.effects)}
    objects = _objects(seed, atoms)
    slid = {item.name: OPEN for item in objects if item.kind == DRAWER and "closed" in atoms}
    command = SkillCommand(manifest.name, seed, number, objects, {}, slid=slid or None)
    scene = command.open_world().scene()
    held_first = any(one.atom.predicate == "holding" for one in manifest.preconditions)
    for _ in range(DRAWS):
        held = _thing(_carried(scene, atoms), rng) if held_first else ""
        arguments = {parameter.name: _drawn(parameter, scene, atoms, rng) for parameter in manifest.parameters}
        if _makes_sense(manifest, arguments, scene, held):
            return replace(command, arguments=arguments, held=held)
    raise InputError(f"the table of seed {seed} has nothing to {manifest.name} with, in {DRAWS} draws")


def _objects(seed: int, atoms: set[str]) -> tuple[ObjectSpec, ...]:
    """Those of the world's own table, as `run --seed` has it, and what the skill's atoms ask for."""
    usual = default_objects(np.random.default_rng(seed))
    kinds = {item.kind for item in usual}
    more = [kind for atom, kinds_asked in BESIDES.items() if atom in atoms for kind in kinds_asked if kind not in kinds]
    return (*usual, *named([("", kind) for kind in more]))


def _carried(scene: Scene, atoms: set[str]) -> list[str]:
    """What may be picked up first: for stains, what cleans."""
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
    words = {"direction": DIRECTIONS, "side": SIDES, "place": REGIONS, "region": REGIONS}
    if parameter.type not in words:
        raise InputError(f"no command can be drawn over {parameter.name}, a {parameter.type}")
    return _thing(list(words[parameter.type]), rng)


def _amount(parameter: Parameter, rng: Rng) -> float:
    """One that people say, within the bounds; where there are none, or for another unit, anything between them."""
    low, high = parameter.minimum, parameter.maximum
    if low is None or high is None:
        raise InputError(f"no amount can be drawn for {parameter.name}: its bounds are not both given")
    usual = [amount for amount in AMOUNTS if low <= amount <= high]
    if parameter.unit == "m" and usual:
        return float(rng.choice(usual))
    return float(parameter.default) if parameter.default is not REQUIRED else float(rng.uniform(low, high))


def _makes_sense(manifest: Manifest, arguments: Mapping[str, Argument], scene: Scene, held: str) -> bool:
    """Whether nobody is spoken of twice, the skill could begin, and it is not done already."""
    spoken = [str(arguments[one.name]) for one in manifest.parameters if one.type == "object"] + [held] * bool(held)
    if len(set(spoken)) < len(spoken):
        return False
    origins = {item.name: item.position for item in scene.objects}
    moment = Moment(replace(scene, held=held), arguments, held, origins)
    if not all(holds(one.atom, moment) for one in manifest.preconditions):
        return False
    before = Moment(scene, arguments, held, origins)
    return not all(holds(effect, before) for effect in manifest.effects)


def _literal(value: Argument) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _said(value: Argument) -> str:
    return f"{value * 100:g} cm" if isinstance(value, float) else str(value)
