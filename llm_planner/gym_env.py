"""Gymnasium environment over worlds and skills: each action calls one skill, the goal is a proposition of the scene.

    import gymnasium, llm_planner.gym_env

    env = gymnasium.make(
        "llm_planner/Skills-v0",
        objects="red block, green bowl",
        calls=('pick("red block")', 'place_in("green bowl")'),
        goal="in(red block, green bowl)",
    )

Needs the extra `gym` (`pip install 'llm_planner[gym]'`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.programs.values import Argument
from llm_planner.scene.geometry import yaw_of
from llm_planner.scene.propositions import Moment, check_proposition, holds, parse_proposition
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.worlds import is_world_file, open_world, read_objects
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import SkillLibrary, check_arguments, load_skills

Observed = NDArray[np.float32]
FAR = 100.0  # [m] bound of positions


class SkillEnv(gymnasium.Env[Observed, np.int64]):
    """Choose skill calls until a goal holds.

    An observation has one row for each object: position [m], yaw as cosine and sine, and 1 where it is held. The reward
    of a step is 1 where the goal holds after it, else 0. A call whose preconditions are not met changes nothing.

    Args:
        calls: the actions, as they are written in programs, e.g. 'pick("red block")'.
        goal: a proposition, e.g. "in(red block, green bowl)".
        world: name of a world, or a world file.
        objects: what is in it; drawn where it is left out.
        skills: a library; the shipped one by default.

    Raises:
        InputError: a call, the goal, the world or an object is wrong; the message lists the choices.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(
        self,
        calls: Sequence[str],
        goal: str,
        world: str = "tabletop",
        objects: str | None = None,
        skills: SkillLibrary | None = None,
    ) -> None:
        self.world = open_world(world, 0, None if objects is None else read_objects(world, objects))
        scene = self.world.scene()
        drawn = tuple(ObjectSpec(item.name, item.kind, item.color) for item in scene.objects)
        self._wanted = None if is_world_file(world) else drawn
        self.library, self.goal = (skills or load_skills()).for_scene(scene), parse_proposition(goal)
        check_proposition(self.goal, scene)
        self._calls = tuple(self._checked(text, scene) for text in calls)
        self._origins: dict[str, Vector3] | None = None
        self.action_space = gymnasium.spaces.Discrete(len(self._calls))
        shape = (len(self.world.scene().objects), 6)
        self.observation_space = gymnasium.spaces.Box(-FAR, FAR, shape, np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Lay the world out anew from `seed`."""
        super().reset(seed=seed)
        self.world.reset(int(self.np_random.integers(2**31)) if seed is None else seed, self._wanted)
        self._origins = {item.name: item.position for item in self.world.scene().objects}
        return self._observed(), {}

    def step(self, action: np.int64) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Call the skill of that number and run it to its end in simulation."""
        if self._origins is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        if not self.action_space.contains(action):
            raise InputError(f"an action is a whole number from 0 to {len(self._calls) - 1}, not {action!r}")
        name, arguments = self._calls[int(action)]
        result = Episode(self.world).run(self.library.find(name), arguments)
        done = holds(self.goal, Moment(self.world.scene(), self._origins))
        info = {"succeeded": result.code is SkillErrorCode.SUCCEEDED, "message": result.message}
        return self._observed(), float(done), done, False, info

    def _checked(self, text: str, scene: Scene) -> tuple[str, dict[str, Argument]]:
        """Parse a call and check its skill and arguments."""
        name, given = _call(text)
        manifest = self.library.find(name).manifest
        names = [parameter.name for parameter in manifest.parameters]
        if len(given) > len(names):
            raise InputError(f"{name} takes {len(names)} arguments, not {len(given)}: {manifest.signature}")
        try:
            return name, check_arguments(manifest, dict(zip(names, given, strict=False)), scene)
        except SkillError as error:
            raise InputError(f"{text}: {error}") from error

    def _observed(self) -> Observed:
        scene = self.world.scene()
        rows = []
        for item in scene.objects:
            yaw = yaw_of(item)
            rows.append([*item.position, np.cos(yaw), np.sin(yaw), float(scene.held == item.name)])
        return np.array(rows, dtype=np.float32)


def _call(text: str) -> tuple[str, tuple[Argument, ...]]:
    """Parse a call as it is written in a program."""
    try:
        call = ast.parse(text, mode="eval").body
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.keywords):
            raise ValueError("not a call without keywords")
        return call.func.id, tuple(ast.literal_eval(argument) for argument in call.args)
    except (SyntaxError, ValueError) as error:
        raise InputError(f'{text!r} is not a skill call ({error}); write e.g. pick("red block")') from error


gymnasium.register("llm_planner/Skills-v0", entry_point="llm_planner.gym_env:SkillEnv")
