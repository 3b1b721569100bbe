"""Tokens that tasks with failing steps cost: one action tree of sampled plans, or a new query at every failure.

A scripted server on loopback, asked through the real client over HTTP, plays the language model: it knows what is still
to be done and writes programs for it, in another order for every sample. Both ways meet the same failures: a step fails
with the probability `--failing`, at the table of a symbolic robot. The server counts what it is sent and what it sends,
four characters a token, prompts once for each request; nothing is cached.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import ceil
from typing import Any

import numpy as np
from action_trees import TEMPERATURE, Sampled, Walk, sample_plans
from reports import print_report, report_parser

from llm_planner.language.model import ProgramRequest, Usage
from llm_planner.language.server.connection import ServerSettings
from llm_planner.language.server.model import ServerModel
from llm_planner.planning.choices import Call
from llm_planner.plans.plan import goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.unroll import lying
from llm_planner.programs.signatures import Signature
from llm_planner.scene.predicates import in_
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject
from llm_planner.skills.library import load_skills

COLORS = ("red", "green", "blue", "yellow", "pink", "white", "black", "orange")
BLOCK, BOWL = (0.04, 0.04, 0.04), (0.128, 0.128, 0.045)
MOST_STEPS = 400  # of one task; a run that needs more is stuck


def tokens(text: str) -> int:
    """About four characters a token."""
    return ceil(len(text) / 4)


@dataclass(frozen=True)
class Errand:
    """Which block goes into which bowl."""

    command: str
    scene: Scene
    pairs: tuple[tuple[str, str], ...]

    def left(self, scene: Scene) -> list[tuple[str, str]]:
        """What is still to be done, first of all with what is in the gripper."""
        open_pairs = [pair for pair in self.pairs if not in_(scene, *pair)]
        return sorted(open_pairs, key=lambda pair: pair[0] != scene.held)


def draw_errand(seed: int) -> Errand:
    """Four to six blocks and as many bowls on a table."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 7))
    cells = rng.permutation([(x, y) for x in (0.32, 0.46, 0.60) for y in np.linspace(-0.36, 0.36, 5)])
    colors = [str(color) for color in rng.permutation(COLORS)]
    blocks = [_thing(f"{colors[k]} block", cells[k], BLOCK) for k in range(count)]
    bowls = [_thing(f"{colors[k]} bowl", cells[count + k], BOWL) for k in range(count)]
    targets = rng.permutation(count)
    pairs = tuple((blocks[k].name, bowls[int(targets[k])].name) for k in range(count))
    command = " and ".join(f"put the {block} in the {bowl}" for block, bowl in pairs)
    return Errand(command, Scene(0.0, (*blocks, *bowls)), pairs)


def _thing(name: str, at: Sequence[float], size: tuple[float, float, float]) -> SceneObject:
    color, _, kind = name.partition(" ")
    return SceneObject(name, kind, color, (float(at[0]), float(at[1]), size[2] / 2), IDENTITY, size)


class Robot:
    """Does what skills promise, unless a step fails: then nothing happens, or what was held is back where it lay."""

    def __init__(self, scene: Scene, skills: Sequence[Signature], failing: float, seed: int) -> None:
        self.scene, self.failures, self.steps = scene, 0, 0
        self._skills = {skill.name: skill for skill in skills}
        self._origins = lying(scene)
        self._failing, self._rng = failing, np.random.default_rng(seed)

    def do(self, call: Call) -> bool:
        """Whether the step succeeded."""
        self.steps += 1
        before, skill = self.scene, self._skills[call.skill]
        self._origins |= lying(before)
        if self._rng.random() < self._failing:
            self.failures += 1
            self.scene = self._dropped(before) if before.held else before
            return False
        promises = goals_of(skill, "", call.values(skill), before, self._origins)
        self.scene = predict(before, promises)
        return True

    def _dropped(self, scene: Scene) -> Scene:
        lost = replace(scene.find(scene.held), position=self._origins[scene.held])
        objects = tuple(lost if item.name == lost.name else item for item in scene.objects)
        return replace(scene, objects=objects, held="")


class Scripted:
    """A server that writes programs for what `errand` still wants of the robot's scene, and counts tokens."""

    def __init__(self) -> None:
        self.errand: Errand | None = None
        self.robot: Robot | None = None
        self.usage = Usage()
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = json.dumps(scripted.answer(body)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, body: Any) -> dict[str, Any]:
        """A completion with as many choices as asked for."""
        rng = np.random.default_rng(int(body.get("seed") or 0))
        texts = [self._program(rng if body.get("temperature") else None) for _ in range(body.get("n") or 1)]
        prompt = tokens("".join(message["content"] for message in body["messages"]))
        completion = sum(map(tokens, texts))
        self.usage = self.usage + Usage(prompt, completion, 1)
        choices = [
            {"index": k, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            for k, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        return {"id": "1", "object": "chat.completion", "model": "scripted", "choices": choices, "usage": usage}

    def _program(self, rng: np.random.Generator | None) -> str:
        assert self.errand is not None
        assert self.robot is not None
        scene = self.robot.scene
        left = self.errand.left(scene)
        first = [pair for pair in left if pair[0] == scene.held]
        others = [pair for pair in left if pair[0] != scene.held]
        if rng is not None:
            others = [others[k] for k in rng.permutation(len(others))]
        lines = [line for pair in (*first, *others) for line in _lines(*pair, held=scene.held)]
        return json.dumps({"program": "\n".join(lines), "question": ""})


def _lines(block: str, bowl: str, held: str) -> list[str]:
    return [*([] if block == held else [f'pick("{block}")']), f'place_in("{bowl}")']


def with_tree(errand: Errand, robot: Robot, skills: Sequence[Signature], model: ServerModel, samples: int) -> int:
    """Carries the task out by walking a tree; returns how many trees it took."""
    trees = 0
    while robot.steps < MOST_STEPS:
        sampled = _sample(errand, robot, skills, model, samples)
        trees += 1
        walk = Walk(sampled.tree)
        while robot.steps < MOST_STEPS and not sampled.is_reached(robot.scene):
            number = walk.next_step(robot.scene, skills)
            if number is None:
                break
            step = sampled.tree.nodes[number].step
            assert step is not None  # the root is never next
            walk = walk.succeeded(number) if robot.do(step.call) else walk.failed(number)
        if not errand.left(robot.scene):
            break
    return trees


def with_queries(errand: Errand, robot: Robot, skills: Sequence[Signature], model: ServerModel, samples: int) -> int:
    """Carries the task out by asking for a new program at every failure; returns how many programs it took."""
    programs = 0
    while errand.left(robot.scene) and robot.steps < MOST_STEPS:
        sampled = _sample(errand, robot, skills, model, 1)
        programs += 1
        for node in sampled.tree.nodes[1:]:
            assert node.step is not None  # only the root has none
            if not robot.do(node.step.call):
                break
    return programs


def _sample(errand: Errand, robot: Robot, skills: Sequence[Signature], model: ServerModel, samples: int) -> Sampled:
    temperature = TEMPERATURE if samples > 1 else 0.0
    request = ProgramRequest(errand.command, robot.scene, samples=samples, temperature=temperature)
    return sample_plans(request, skills, model)


Way = Callable[[Errand, Robot, Sequence[Signature], ServerModel, int], int]


def measure(way: Way, tasks: int, failing: float, samples: int) -> dict[str, Any]:
    """Totals of one way over all tasks, as the server counted them."""
    server = Scripted()
    model = ServerModel(ServerSettings("scripted", server.url, "key", 10.0, 0))
    skills = load_skills().for_scene(Scene(0.0, ())).signatures
    done = failures = steps = 0
    try:
        for seed in range(tasks):
            errand = draw_errand(seed)
            robot = Robot(errand.scene, skills, failing, 10_000 + seed)
            server.errand, server.robot = errand, robot
            way(errand, robot, skills, model, samples)
            done += not errand.left(robot.scene)
            failures, steps = failures + robot.failures, steps + robot.steps
    finally:
        model.close()
        server.close()
    spent = server.usage
    return {
        "tokens a task": (spent.prompt_tokens + spent.completion_tokens) / tasks,
        "prompt tokens a task": spent.prompt_tokens / tasks,
        "completion tokens a task": spent.completion_tokens / tasks,
        "requests a task": spent.requests / tasks,
        "failures a task": failures / tasks,
        "steps a task": steps / tasks,
        "done": done / tasks,
    }


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Run and print; returns the figures of both ways and the share of tokens that the tree saves."""
    parser = report_parser(__doc__)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--failing", type=float, default=0.4, help="probability that a step fails")
    parser.add_argument("--samples", type=int, default=5, help="programs sampled for a tree")
    args = parser.parse_args(arguments)
    tree = measure(with_tree, args.tasks, args.failing, args.samples)
    queries = measure(with_queries, args.tasks, args.failing, args.samples)
    saved = 1.0 - tree["tokens a task"] / queries["tokens a task"]
    report = {"action tree": tree, "query at every failure": queries, "tokens saved": saved}
    print_report(report, args.json)
    return report


if __name__ == "__main__":
    main()
