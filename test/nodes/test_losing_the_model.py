"""Whatever becomes of the model, its server, the language planner or the executor: no robot moves without a plan."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import PlanStatus

from llm_planner.nodes.shell import LATCHED

Code = ExecuteCommand.Result
PICK = 'pick("red block")\nplace_in("green bowl")'


def signal_to(system, name: str, number: signal.Signals) -> None:
    os.kill(system.processes.pid(name), number)


@pytest.fixture
def plan_state(fresh) -> Iterator[Callable[[], int]]:
    """What the executor said last of its plan."""
    heard = [PlanStatus()]
    node = fresh.client.node
    subscription = node.create_subscription(
        PlanStatus, "plan_status", lambda status: heard.__setitem__(0, status), LATCHED
    )
    yield lambda: heard[0].state
    node.destroy_subscription(subscription)


def test_when_the_language_planner_dies_its_plan_ends_and_the_arm_rests(fresh, plan_state):
    fresh.start("tour")
    fresh.wait(lambda: plan_state() == PlanStatus.RUNNING)
    signal_to(fresh, "language_planner", signal.SIGKILL)
    fresh.wait(lambda: plan_state() != PlanStatus.RUNNING)
    fresh.wait(lambda: fresh.speed < 0.01)
    resting = fresh.qpos
    fresh.client.spin_for(1.0)
    assert fresh.qpos == pytest.approx(resting, abs=0.02)
    assert fresh.works_again()


def test_when_the_language_planner_is_held_up_for_long_its_plan_ends_and_it_tells_the_truth_after(fresh, plan_state):
    running = fresh.start("tour")
    fresh.wait(lambda: plan_state() == PlanStatus.RUNNING)
    signal_to(fresh, "language_planner", signal.SIGSTOP)
    fresh.wait(lambda: plan_state() != PlanStatus.RUNNING)
    fresh.wait(lambda: fresh.speed < 0.01)
    signal_to(fresh, "language_planner", signal.SIGCONT)
    result = fresh.finish(running)
    assert result.code == Code.STOPPED
    assert "the language planner fell silent" in result.message
    assert fresh.works_again()


def test_an_executor_that_was_held_up_does_not_go_on_with_a_plan_that_was_given_up(fresh, plan_state):
    running = fresh.start("tour")
    fresh.wait(lambda: plan_state() == PlanStatus.RUNNING)
    signal_to(fresh, "plan_executor", signal.SIGSTOP)
    result = fresh.finish(running)
    assert result.code == Code.EXECUTOR_LOST
    fresh.wait(lambda: fresh.speed < 0.01)
    resting = fresh.qpos
    signal_to(fresh, "plan_executor", signal.SIGCONT)
    fresh.wait(lambda: plan_state() != PlanStatus.RUNNING)
    fresh.client.spin_for(1.0)
    assert fresh.qpos == pytest.approx(resting, abs=0.02)
    assert fresh.works_again()


def _completion(text: str, count: int) -> bytes:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return json.dumps({"choices": [{**choice, "index": n} for n in range(count)]}).encode()


class ModelServer:
    """Answers on loopback by the words of the command: "stall ...", "drop ...", anything else is picking."""

    def __init__(self) -> None:
        self._hold = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

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
                if "stall" in said:
                    server._hold.wait(60)
                self._answer(_completion(_text(body), body.get("n", 1)), "drop" in said)

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


def _text(body: dict[str, Any]) -> str:
    reading = body.get("response_format", {}).get("json_schema", {}).get("name") == "reading"
    if reading:
        return json.dumps({"task": "put the red block in the green bowl", "constraints": [], "question": ""})
    return json.dumps({"program": PICK, "question": ""})


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, start_system: Callable[..., AbstractContextManager[Any]]
) -> Iterator[Any]:
    """A system whose model is a server on loopback, and that server."""
    server = ModelServer()
    variables = {
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "none",
        "LLM_PLANNER_OPENAI_MODEL": "m",
        "LLM_PLANNER_TIMEOUT": "1",
    }
    with start_system(tmp_path_factory.mktemp("served"), {"model": "openai"}, variables) as system:
        yield system, server
    server.die()


@pytest.mark.parametrize(
    ("text", "words"),
    [("stall for ever", "did not answer within 1 s, 3 times"), ("drop the line", "broke off in the middle")],
)
def test_a_server_that_does_not_answer_well_is_told_in_time_and_nothing_moves(served, text, words):
    system, _ = served
    system.reset()
    before = system.qpos
    result = system.say(text)
    assert (result.code, words in result.message) == (Code.MODEL_UNAVAILABLE, True), result.message
    assert system.qpos == pytest.approx(before, abs=1e-3)


def test_a_plan_needs_no_model_any_more_and_without_one_the_next_command_is_refused(served):
    system, server = served
    system.reset()
    running = system.start("put the red block in the green bowl")
    server.die()
    assert system.finish(running).succeeded
    resting = system.qpos
    result = system.say("put the red block in the green bowl")
    assert result.code == Code.MODEL_UNAVAILABLE
    assert "cannot be reached; is it running" in result.message
    assert system.qpos == pytest.approx(resting, abs=0.02)
