"""The whole system as real processes over real DDS, once for all tests, with a language model from a table."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import rclpy
from llm_planner_interfaces.msg import PlanStatus
from llm_planner_interfaces.srv import ResetWorld
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.corrections.edits import Outcome
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.client import CommandResult, Progress, Submission, SystemClient, SystemUnreachableError
from llm_planner.ros.idempotent_requests import new_id
from llm_planner.ros.node_executor import NodeExecutor
from llm_planner.ros.node_table import NODES_IN_SIMULATION
from llm_planner.ros.transport import use_sockets
from llm_planner.scene.scene import Scene

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"  # nothing leaves this machine
use_sockets()

OBJECTS = "red block, blue block, green bowl, mug"
PROGRAMS = """
put the red block in the green bowl: |
  pick("red block")
  place_in("green bowl")
tour: |
  for block in objects("block"):
      pick(block)
      place_beside("mug", "left", 0.05)
to and fro: |
  for k in range(6):
      pick("red block")
      place_at("right side")
      pick("red block")
      place_at("left side")
pick up the purple vase: pick("purple vase")
delete everything: |
  import os
  os.system("rm -rf /")
climb out: |
  pick.__class__.__bases__[0].__subclasses__()
wave: go_home()
lift the block:
  programs: [{question: "Which block do you mean: the red block or the blue block?"}]
lift the blue block: pick("blue block")
lay the red block down: |
  pick("red block")
  place_at(point(0.4, -0.28))
"""
PICK = 'pick("red block")\nplace_in("green bowl")'
TIMEOUT = 60.0  # [s] of wall time: generous, because the machine may be busy
SPEED = 2.0  # simulated seconds a wall second


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run what needs the shared system last, so that it takes no processor time from tests of other systems."""
    items.sort(key=lambda item: "system" in getattr(item, "fixturenames", ()) and not hasattr(item.module, "system"))


@dataclass
class System:
    """The running nodes, a client, and what it has seen last."""

    processes: NodeProcesses
    client: SystemClient
    environment: dict[str, str]
    notices: list[str]
    scene: Scene = field(default_factory=lambda: Scene(0.0, ()))
    time: float = 0.0
    started: float = 0.0  # when the robot's clock last leapt
    restarts: int = 0  # how often it did
    qpos: tuple[float, ...] = ()
    speed: float = 0.0  # of the fastest joint [rad/s]
    plan: PlanStatus = field(default_factory=PlanStatus)

    def on_plan(self, plan: PlanStatus) -> None:
        self.plan = plan

    def on_scene(self, scene: Scene) -> None:
        self.scene = scene

    def on_joints(self, time: float, qpos: list[float], qvel: list[float], width: float) -> None:
        if not self.time <= time < self.time + 0.5:
            self.restarts, self.started = self.restarts + 1, time
        self.time, self.qpos, self.speed = time, tuple(qpos), max(map(abs, qvel))

    @property
    def age(self) -> float:
        """How long the robot has been running since its last restart [s]."""
        return self.time - self.started

    def wait(self, condition: Callable[[], bool], timeout: float = TIMEOUT) -> None:
        self.client.wait_until(condition, timeout)

    def wait_until_at_rest(self, seconds: float = 0.3) -> None:
        """Wait until the arm has kept still for so long: at a turning point, too, its speed is zero for an instant."""
        moved = [self.time]

        def at_rest() -> bool:
            if self.speed >= 0.01 or self.time < moved[0]:
                moved[0] = self.time
            return self.time - moved[0] >= seconds

        self.wait(at_rest)

    def say(self, text: str) -> CommandResult:
        return self.client.execute(text, lambda progress: None)

    def call(self, kind: type, name: str, request: Any) -> Any:
        """The answer of a service to a request that may be repeated: rmw_fastrtps loses answers on a busy machine."""
        if hasattr(request, "id"):
            request.id = request.id or new_id()
        client, answers = self.client.node.create_client(kind, name), []
        self.wait(client.service_is_ready)
        for _ in range(int(TIMEOUT)):
            client.call_async(request).add_done_callback(lambda done: answers.append(done.result()))
            with suppress(SystemUnreachableError):
                self.wait(lambda: bool(answers), 1.0)
                break
        self.client.node.destroy_client(client)
        assert answers, f"{name} did not answer within {TIMEOUT:g} s"
        return answers[0]

    def set_parameter(self, node: str, name: str, value: ParameterValue) -> None:
        """Change a parameter of a running node, as `ros2 param set` does."""
        request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
        (result,) = self.call(SetParameters, f"{node}/set_parameters", request).results
        assert result.successful, result.reason

    @contextmanager
    def in_real_time(self) -> Iterator[None]:
        """For what a busy machine may be too slow for at twice the pace: how closely a limit is kept."""
        self._keep_pace(1.0)
        try:
            yield
        finally:
            self._keep_pace(SPEED)

    def _keep_pace(self, factor: float) -> None:
        value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=factor)
        self.set_parameter("simulator", "real_time_factor", value)

    def works_again(self) -> bool:
        """Whether a command succeeds, at the latest when whatever was restarted has had its time to come back."""
        self.client.wait_for_system(TIMEOUT)
        for _ in range(30):
            try:
                if self.say("wave").succeeded:
                    return True
            except SystemUnreachableError:  # the command went to a process that had just died
                continue
            self.client.spin_for(0.2)
        return False

    def start(self, text: str) -> Submission:
        """Send a command and return when the arm moves for it."""
        last, submission = self.plan.plan_id, self.client.submit(text)
        self.wait(lambda: (self.speed > 0.1 and self.plan.plan_id != last) or submission.is_done)
        assert not submission.is_done, submission.result.message
        return submission

    def finish(self, submission: Submission) -> CommandResult:
        self.wait(lambda: submission.is_done)
        return submission.result

    def forget_everything(self) -> None:
        """What it was taught is gone; where there is something, it asks first."""
        if self.client.correct("forget everything I told you").outcome is Outcome.QUESTION:
            assert "forgotten" in self.client.correct("yes").message

    def reset(self, seed: int = 1, objects: Sequence[str] = tuple(OBJECTS.split(", "))) -> None:
        """A fresh table with the arm at home, once everybody has seen it."""
        before = self.restarts
        answer = self.call(ResetWorld, "reset_world", ResetWorld.Request(seed=seed, objects=list(objects)))
        assert answer.error_code == ResetWorld.Response.DONE, answer.error_msg
        self.wait(lambda: self.restarts > before)
        self.wait(lambda: self.age > 0.3 and self.speed < 0.01 and len(self.scene.objects) == len(objects))


Follow = Callable[[str], tuple[CommandResult, list[Progress]]]


class NodesHere:
    """Nodes of this process, spun together."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        domain = int(own_network(random.Random())["ROS_DOMAIN_ID"])  # in which no other test runs a system
        rclpy.init(context=self.context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
        self.spinner = NodeExecutor(context=self.context)

    def add(self, *nodes: Node) -> None:
        for node in nodes:
            self.spinner.add_node(node)

    def spin(self, until: Callable[[], bool], seconds: float = 20.0) -> bool:
        """Whether it came to what is waited for, in time."""
        deadline = time.monotonic() + seconds
        while not until() and time.monotonic() < deadline:
            self.spinner.spin_once(timeout_sec=0.05)
        return until()

    def close(self) -> None:
        nodes = self.spinner.get_nodes()
        for node in nodes:
            for timer in node.timers:
                timer.cancel()
        for _ in range(3):  # a goal that has just been accepted begins
            if self.context.ok():
                self.spinner.spin_once(timeout_sec=0.0)
        self.spinner.shutdown()
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown(context=self.context)


@pytest.fixture
def here() -> Iterator[NodesHere]:
    nodes = NodesHere()
    yield nodes
    nodes.close()


@pytest.fixture
def fresh(system: System) -> System:
    """The system with a fresh table."""
    system.reset()
    return system


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """All nodes, supervised as `llm-planner up` does."""
    folder = tmp_path_factory.mktemp("system")
    script = folder / "programs.yaml"
    script.write_text(PROGRAMS, encoding="utf-8")
    with running_system(folder, {"model": "scripted", "model_script": str(script)}) as running:
        yield running


@pytest.fixture(scope="session")
def start_system() -> Callable[..., AbstractContextManager[System]]:
    """Starts a second system, on a network of its own."""
    return running_system


@contextmanager
def running_system(
    folder: Path,
    planner: dict[str, str],
    variables: dict[str, str] | None = None,
    executor: dict[str, str] | None = None,
    simulator: dict[str, str] | None = None,
    skill_server: dict[str, str] | None = None,
    listener: dict[str, str] | None = None,
    journal_file: Path | None = None,
) -> Iterator[System]:
    """All nodes, with these parameters of some of them and these environment variables."""
    environment = own_network(random.Random())
    domain = int(environment["ROS_DOMAIN_ID"])
    journal = {"journal": str(journal_file or folder / "journal.sqlite")}
    options = NodeOptions(
        {
            "simulator": {"objects": OBJECTS, "seed": "1", "real_time_factor": str(SPEED), **(simulator or {})},
            "skill_server": dict(skill_server or {}),
            "plan_executor": {**(executor or {}), **journal},
            "language_planner": {**planner, **journal},
            "correction_listener": {"memory": str(folder / "memory.sqlite"), **(listener or {})},
        },
        use_sim_time=True,
    )
    notices: list[str] = []
    with NodeProcesses(
        NODES_IN_SIMULATION, options, folder / "nodes.log", {**environment, **(variables or {})}
    ) as processes:
        threading.Thread(target=processes.supervise, args=(notices.append,), daemon=True).start()
        client = SystemClient(domain_id=domain)
        running = System(processes, client, environment, notices)
        client.watch_scene(running.on_scene)
        client.watch_joints(running.on_joints)
        client.node.create_subscription(PlanStatus, "plan_status", running.on_plan, LATCHED)
        client.wait_for_system(TIMEOUT)
        running.wait(lambda: running.age > 0.3 and running.plan.executor != 0)
        yield running
        client.close()


@pytest.fixture(scope="session")
def start_model() -> type[ModelServer]:
    """Starts a language model; whoever starts one ends it with `die`."""
    return ModelServer


def _completion(text: str, count: int) -> bytes:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return json.dumps({"choices": [{**choice, "index": n} for n in range(count)]}).encode()


class ModelServer:
    """Answers on loopback by the words of the command: "stall ...", "drop ...", anything else is `program`.

    `asked` is what it was asked, scene and command; `variables` lead a system to it.
    """

    def __init__(self, program: str = PICK) -> None:
        self.asked: list[str] = []
        self.program = program
        self._hold = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()
        self.variables = {
            "OPENAI_BASE_URL": f"http://127.0.0.1:{self._http.server_port}/v1",
            "OPENAI_API_KEY": "none",
            "LLM_PLANNER_OPENAI_MODEL": "m",
            "LLM_PLANNER_TIMEOUT": "1",
        }

    def die(self) -> None:
        self._hold.set()
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
            self._http.server_close()

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                said = body["messages"][1]["content"]
                server.asked.append(said)
                command = said.rpartition("Command: ")[2]  # without earlier ones
                if "stall" in command:
                    server._hold.wait(60)
                self._answer(_completion(_text(body, server.program), body.get("n", 1)), "drop" in command)

            def _answer(self, text: bytes, drop: bool) -> None:
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text[: len(text) // 2] if drop else text)
                except OSError:
                    pass  # the client has given up
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _text(body: dict[str, Any], program: str) -> str:
    reading = body.get("response_format", {}).get("json_schema", {}).get("name") == "reading"
    if reading:
        return json.dumps({"task": "put the red block in the green bowl", "constraints": [], "question": ""})
    return json.dumps({"program": program, "question": ""})
