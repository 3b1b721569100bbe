"""Fetch and deliver between two tables by an arm on a mobile base, from words to what the simulator shows.

Each seed draws a room with two tables, things on them, and a task: bring a thing to the other table, or put it into or
onto a thing there. The command is read by the embedded model (`--model truth`: a hand-written program), planned and run
in-process. Success is judged by the bodies of the physics engine, not by the scene that the robot sees. Every step of
the physics is watched for contacts of the arm or the base with tables, walls or the floor, and for both moving at once.

    python benchmarks/bench_mobile_manipulator.py --seed 4 --picture docs/images/mobile_ur5e.png
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import mujoco
import numpy as np
from reports import print_report, report_parser

from llm_planner import Session
from llm_planner.execution.execution_state import Execution
from llm_planner.plans.plan import StepStatus
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory, Observation
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.simulation.renderers import make_renderer, write_picture
from llm_planner.simulation.two_tables import TwoTables

FORMS = (
    "put the {thing} on the {table}",
    "bring the {thing} to the {table}",
    "fetch the {thing} from the {here} and put it on the {table}",
    "take the {thing} to the {table}",
    "move the {thing} from the {here} to the {table}",
    "deliver the {thing} to the {table}",
)
INTO = ("put the {thing} in the {target}", "fetch the {thing} and drop it into the {target}")
ONTO = ("put the {thing} on the {target}", "stack the {thing} on the {target}")
REST = 0.02  # [m] between the lower side of a thing and the top of what it stands on
MOVES = 0.02  # [rad/s], [m/s] of arm and base: both at once would break the interlock


@dataclass(frozen=True)
class Task:
    """What is asked of a world: the words, the program that does it, and whether the physics shows it."""

    kind: str
    words: str
    program: str
    done: Callable[[TwoTables], bool]


@dataclass
class Contacts:
    """Watches every step of the physics."""

    world: TwoTables
    touched: Counter[str] = field(default_factory=Counter)
    both: int = 0

    def __post_init__(self) -> None:
        model = self.world.model
        self._robot = np.zeros(model.ngeom, dtype=bool)
        self._fixed = np.zeros(model.ngeom, dtype=bool)
        root = model.body("mobile base").id
        tables = {model.body(item.name).id for item in self.world.scene().objects if item.kind == TABLE_KIND}
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            self._robot[geom] = model.body_rootid[body] == root
            self._fixed[geom] = body in tables or body == 0
        self._base = slice(0, 3)
        self._arm = slice(3, 3 + self.world.arm.nq)

    def __call__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Look at the contacts and speeds of a step."""
        if data.ncon:
            pairs = data.contact.geom[:, :2]
            for one, other in ((0, 1), (1, 0)):
                for hit in np.flatnonzero(self._robot[pairs[:, one]] & self._fixed[pairs[:, other]]):
                    geoms = pairs[hit, one], pairs[hit, other]
                    names = (model.geom(g).name or model.body(model.geom_bodyid[g]).name for g in geoms)
                    self.touched[" and ".join(names)] += 1
        moves = np.abs(data.qvel[self._base]).max() > MOVES and np.abs(data.qvel[self._arm]).max() > MOVES
        self.both += bool(moves)


class WatchedTables(TwoTables):
    """World whose every step is watched once `watch` is set."""

    watch: Contacts | None = None

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """See `World`."""
        with self._watched():
            super().follow(trajectory, duration)

    def drive(self, trajectory: JointTrajectory, duration: float) -> None:
        """See `TwoTables`."""
        with self._watched():
            super().drive(trajectory, duration)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        mujoco.set_mjcb_control(self.watch)
        try:
            yield
        finally:
            mujoco.set_mjcb_control(None)


@dataclass(frozen=True)
class Outcome:
    """How one scene went; `duration` in simulated s, `wall` in s."""

    seed: int
    kind: str
    words: str
    success: bool
    outcome: str
    message: str
    contacts: int
    both: int
    duration: float
    wall: float


def draw_task(world: TwoTables, rng: np.random.Generator) -> Task:
    """Draw a task for the world: of delivery to the other table in two of three scenes, else into or onto a thing."""
    names = [item.name for item in world.objects]
    lies = {name: table_of(world, name) for name in names}
    movable = [name for name in names if name.split()[-1] in ("block", "bowl", "mug")]
    thing = str(rng.choice(movable))
    here = lies[thing]
    there = next(item.name for item in world.scene().objects if item.kind == TABLE_KIND and item.name != here)
    targets = [name for name in names if lies[name] == there and name.split()[-1] in ("bowl", "block")]
    if thing.endswith("block") and targets and rng.random() < 0.5:
        target = str(rng.choice(targets))
        into = target.endswith("bowl")
        words = str(rng.choice(INTO if into else ONTO)).format(thing=thing, target=target)
        call = f'place_{"in" if into else "on"}("{target}")'
        program = f'approach("{thing}")\npick("{thing}")\napproach("{target}")\n{call}\n'
        return Task("into" if into else "onto", words, program, lambda w: lies_on_thing(w, thing, target, into))
    words = str(rng.choice(FORMS)).format(thing=thing, table=there, here=here)
    program = f'approach("{thing}")\npick("{thing}")\napproach("{there}")\nplace_on("{there}")\n'
    return Task("deliver", words, program, lambda w: stands_on_table(w, thing, there))


def table_of(world: TwoTables, name: str) -> str:
    """Return the table below a thing, "" for none."""
    tables = [item.name for item in world.scene().objects if item.kind == TABLE_KIND]
    return next((table for table in tables if _over_table(world, name, table)), "")


def _over_table(world: TwoTables, name: str, table: str) -> bool:
    thing, board = world.data.body(name), world.data.body(table)
    x, y, _ = board.xmat.reshape(3, 3).T @ (thing.xpos - board.xpos)
    half = world.model.geom(f"{table} 0").size
    return bool(abs(x) <= half[0] and abs(y) <= half[1])


def _bottom(world: TwoTables, name: str) -> float:
    """Return the height of the lowest point of a thing [m]."""
    body = world.model.body(name)
    first = int(body.geomadr[0])
    lowest = math.inf
    for geom in range(first, first + int(body.geomnum[0])):
        rows = world.data.geom_xmat[geom].reshape(3, 3)
        lowest = min(lowest, float(world.data.geom_xpos[geom][2] - np.abs(rows[2]) @ world.model.geom_size[geom]))
    return lowest


def _touches(world: TwoTables, name: str) -> set[str]:
    """Return the bodies that touch a thing."""
    world_model = world.model
    bodies = world_model.geom_bodyid[world.data.contact.geom[:, :2]]
    own = world_model.body(name).id
    rows = bodies[(bodies == own).any(axis=1)]
    return {world_model.body(int(body)).name for body in set(rows.ravel().tolist()) - {own}}


def stands_on_table(world: TwoTables, name: str, table: str) -> bool:
    """Return whether a thing stands upright on a table, at rest and free of the hand."""
    up = world.data.body(name).xmat.reshape(3, 3)[2, 2] > math.cos(math.radians(10.0))
    return bool(up and _over_table(world, name, table) and abs(_bottom(world, name)) < REST and _is_free(world, name))


def lies_on_thing(world: TwoTables, name: str, target: str, into: bool) -> bool:
    """Return whether a thing lies in or on another one, at rest and free of the hand."""
    thing, under = world.data.body(name).xpos, world.data.body(target).xpos
    width, _, height = next(item.shape.size for item in world.objects if item.name == target)
    above = _bottom(world, name) - under[2]
    lies = above < height / 2 and thing[2] > under[2] - height / 2 if into else abs(above - height / 2) < REST
    return bool(math.dist(thing[:2], under[:2]) < width / 2 and lies and _is_free(world, name))


def _is_free(world: TwoTables, name: str) -> bool:
    still = float(np.abs(world.data.joint(name).qvel).max()) < 0.05
    return still and not any("finger" in body or body == "hand" for body in _touches(world, name))


def run_scene(seed: int, model: str) -> Outcome:
    """Run the task of one seed."""
    world = WatchedTables(seed, arm=arm_model("mobile_ur5e"))
    task = draw_task(world, np.random.default_rng(1000 + seed))
    watch, began = Contacts(world), time.perf_counter()
    world.watch = watch
    with Session(world) as session:
        report = session.run(task.words) if model == "embedded" else session.run_program(task.program)
    return Outcome(
        seed, task.kind, task.words, task.done(world), report.outcome.value, report.message,
        sum(watch.touched.values()), watch.both, world.time, time.perf_counter() - began,
    )  # fmt: skip


def picture(seed: int, path: Path) -> None:
    """Write the scene of a seed after each step of its task, in rows of two."""
    world = TwoTables(seed, arm=arm_model("mobile_ur5e"))
    task = draw_task(world, np.random.default_rng(1000 + seed))
    seen: dict[str, Observation] = {}

    def look(state: Execution) -> None:
        done = [step.id for step in state.plan.steps if step.status is StepStatus.DONE]
        seen.setdefault(" ".join(done), world.observation())

    with Session(world) as session:
        session.run_program(task.program, on_change=look)
    with make_renderer(world.scene(), (640, 480)) as renderer:
        images = [renderer.render(one.qpos, one.gripper_width, one.scene)[:340] for key, one in seen.items() if key]
    rows = [np.hstack(images[k : k + 2]) for k in range(0, len(images) // 2 * 2, 2)]
    write_picture(path, np.vstack(rows))


def main() -> int:
    """Run the scenes and print what became of them."""
    parser = report_parser(__doc__)
    parser.add_argument("--scenes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--model", choices=("embedded", "truth"), default="embedded")
    parser.add_argument("--show", action="store_true", help="print each scene as it ends")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="only write the steps of the first scene (.png)")
    args = parser.parse_args()
    if args.picture:
        picture(args.seed, args.picture)
        return 0
    outcomes = []
    for seed in range(args.seed, args.seed + args.scenes):
        outcomes.append(run_scene(seed, args.model))
        if args.show:
            print(outcomes[-1], file=sys.stderr, flush=True)
    done, count = sum(one.success for one in outcomes), len(outcomes)
    summary = {
        "scenes": count,
        "success": done / count,
        "contacts": sum(one.contacts for one in outcomes),
        "both_moved": sum(one.both for one in outcomes),
        "duration": sum(one.duration for one in outcomes) / count,
    }
    return print_report({**summary, "outcomes": [asdict(one) for one in outcomes]}, args.json)


if __name__ == "__main__":
    sys.exit(main())
