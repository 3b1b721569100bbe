"""The checks of `llm-planner doctor`, each by itself."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata

import pytest

from llm_planner.cli import doctor
from llm_planner.cli.main import main


def test_versions_that_agree_are_well(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text(f"# pins\nnumpy=={metadata.version('numpy')}\n", encoding="utf-8")
    finding = doctor.check_pins(path)
    assert (finding.detail, finding.mend) == ("1 pinned packages as wanted", "")


@pytest.mark.parametrize(
    ("line", "words"),
    [("numpy==0.0.1", "wanted 0.0.1"), ("no-such-thing==1.0", "no-such-thing missing, wanted 1.0")],
)
def test_a_version_that_differs_is_named_with_what_to_do(tmp_path, line, words):
    path = tmp_path / "requirements.txt"
    path.write_text(line, encoding="utf-8")
    finding = doctor.check_pins(path)
    assert words in finding.detail
    assert finding.mend == "run: make setup"


def test_pins_of_other_pythons_are_left_alone(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text(
        "numpy==0.0.1 ; python_version < '3.5'\nnumpy==0.0.2 ; python_version >= '3.99'\n", encoding="utf-8"
    )
    assert doctor.check_pins(path).mend == ""


@pytest.mark.parametrize(
    "check",
    [
        doctor.check_python,
        doctor.check_ros,
        doctor.check_interfaces,
        doctor.check_safety_filter,
        doctor.check_round_trip,
        doctor.check_skills,
    ],
)
def test_this_installation_is_well(check):
    finding = check()
    assert finding.mend == "", finding.detail


def test_a_user_who_may_not_run_in_real_time_is_told_how_to_permit_it():
    finding = doctor.check_real_time()
    assert finding.detail == "the safety filter may use SCHED_FIFO" or "rtprio" in finding.mend
    assert finding.optional == bool(finding.mend)


def test_the_whole_report_names_every_part(capsys):
    main(["doctor"])
    shown = capsys.readouterr().out
    for part in (
        "Python",
        "requirements",
        "ROS 2",
        "interfaces",
        "safety filter",
        "real time",
        "DDS",
        "skills",
        "embedded model",
        "rendering",
    ):
        assert part in shown


def doctor_of(monkeypatch, capsys, **environment):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "LLM_PLANNER_OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    status = main(["doctor", "--model"])
    return status, capsys.readouterr().out


def test_a_server_that_is_not_set_is_told_with_what_to_set(monkeypatch, capsys):
    status, shown = doctor_of(monkeypatch, capsys)
    assert status == 1
    assert "set LLM_PLANNER_OPENAI_MODEL to one that your server offers" in shown


def test_a_server_that_answers_is_told_in_one_paragraph(monkeypatch, capsys, chat_server):
    url = chat_server('{"reasoning": "", "program": "go_home()", "question": ""}')
    status, shown = doctor_of(monkeypatch, capsys, OPENAI_BASE_URL=url, LLM_PLANNER_OPENAI_MODEL="m")
    assert status == 0
    assert "answered “go home” with 'go_home()' (1 request, 11 + 7 tokens" in shown
    assert "It takes every part of the request. It may be silent for 120 s" in shown


@pytest.fixture
def chat_server():
    """The address of a server that answers every request with one text."""
    servers = []

    def serve(text):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                choices = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]
                usage = {"prompt_tokens": 11, "completion_tokens": 7}
                body = json.dumps({"choices": choices, "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,)).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()
