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
from llm_planner.scene.propositions import Moment, holds, parse_proposition
from llm_planner.simulation.world import open_world, read_objects
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import SkillLibrary, load_skills

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
        wanted = None if objects is None else read_objects(world, objects)
        self.world = open_world(world, 0, wanted)
        self.library, self.goal = skills or load_skills(), parse_proposition(goal)
        self._wanted, self._calls = wanted, tuple(map(_call, calls))
        for name, _ in self._calls:
            self.library.find(name)
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
        name, given = self._calls[int(action)]
        skill, episode = self.library.find(name), Episode(self.world)
        names = [parameter.name for parameter in skill.manifest.parameters]
        if len(given) > len(names):
            raise InputError(
                f"{name} takes at most {len(names)} arguments, not {len(given)}: {skill.manifest.signature}"
            )
        result = episode.run(skill, dict(zip(names, given, strict=False)))
        done = holds(self.goal, Moment(self.world.scene(), self._origins))
        info = {"succeeded": result.code is SkillErrorCode.SUCCEEDED, "message": result.message}
        return self._observed(), float(done), done, False, info

    def _observed(self) -> Observed:
        scene = self.world.scene()
        rows = []
        for item in scene.objects:
            x, y, z, w = item.orientation
            yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
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
