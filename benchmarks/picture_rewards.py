"""The picture of docs/concepts/rewards.md: three tasks before (above) and after (below) their reward programs.

Usage: picture_rewards.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.renderers import SceneRenderer, write_picture
from llm_planner.simulation.world import World
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "rewards.png"
TASKS = (
    ("vase, red block, green bowl", 3, "reach(tilt('vase') >= 80)"),
    ("mug, red block, green bowl", 1, "reach(facing('mug', 'red block') <= 8)"),
    ("green bowl, blue bowl, mug", 2, "reach(gap('green bowl', 'blue bowl') <= 0.003); keep(moved('mug') <= 0.01)"),
)


def drawn(world: World) -> np.ndarray:
    """The table as it is (height, width, 3)."""
    observed = world.observation()
    with SceneRenderer(world.objects, 400, 300) as renderer:
        return renderer.render(observed.qpos, observed.gripper_width, observed.scene)


def main(argv: list[str]) -> int:
    columns = []
    for things, seed, rewards in TASKS:
        world = World(seed, parse_objects(things))
        before = drawn(world)
        result = Episode(world).run(load_skills().find("achieve"), {"rewards": rewards})
        print(f"{rewards}: {result.code.name}")
        columns.append(np.vstack([before, drawn(world)]))
    write_picture(Path(argv[0]) if argv else PICTURE, np.hstack(columns))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
