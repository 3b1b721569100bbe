"""`llm-planner doctor`: check the installation part by part, and say how to repair it."""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module, metadata
from pathlib import Path

from rich.console import Console
from rich.text import Text

from llm_planner.cli.processes import own_network
from llm_planner.cli.terminal import Finding, Grade, show_findings
from llm_planner.errors import InputError, LlmPlannerError

SETUP_AGAIN = "run: make setup"


def add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        action="store_true",
        help="try the language model server that the settings name, and only that",
    )
    parser.add_argument("--requirements", type=Path, help="file of pinned versions (default: requirements.txt)")


def run_doctor(args: argparse.Namespace) -> int:
    """Run the checks; return exit status 0 if every required part works."""
    console = Console(highlight=False)
    if args.model:
        finding = check_server()
        console.print(Text(finding.detail, style="red" if finding.mend else ""), soft_wrap=True)
        if finding.mend:
            console.print(Text(f"→ {finding.mend}", style="bold"), soft_wrap=True)
        return 1 if finding.mend else 0
    checks: tuple[Callable[[], Finding], ...] = (
        check_python,
        lambda: check_pins(args.requirements or Path(__file__).parents[2] / "requirements.txt"),
        check_ros,
        check_interfaces,
        check_safety_filter,
        check_real_time,
        check_round_trip,
        check_skills,
        check_model,
        check_rendering,
    )
    failed = Grade.WRONG in show_findings((check() for check in checks), console)
    print("Something needed is missing; see the arrows." if failed else "Everything needed is there.")
    return 1 if failed else 0


def check_python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    good = (3, 10) <= sys.version_info[:2] < (3, 14)
    return Finding("Python", f"{version} ({sys.executable})", "" if good else "use Python 3.10 to 3.13")


def check_pins(path: Path) -> Finding:
    """Compare the installed versions with the requirements file."""
    if not path.is_file():
        return Finding("requirements", "no requirements.txt beside the package: versions not compared")
    wrong = []
    pins = _pins(path.read_text(encoding="utf-8"))
    for name, wanted in pins:
        try:
            found = metadata.version(name).partition("+")[0]
        except metadata.PackageNotFoundError:
            found = "missing"
        if found != wanted:
            wrong.append(f"{name} {found}, wanted {wanted}")
    if wrong:
        return Finding("requirements", "; ".join(wrong[:5]) + (" …" if len(wrong) > 5 else ""), SETUP_AGAIN)
    return Finding("requirements", f"{len(pins)} pinned packages as wanted")


def _pins(text: str) -> list[tuple[str, str]]:
    """Parse name and version of each requirement that applies to this Python."""
    present = sys.version_info[:2]
    pins = []
    for line in text.splitlines():
        match = re.match(r"([\w.-]+)==([\w.]+)(?: ; python_version ([<>=]+) '3\.(\d+)')?\s*$", line)
        if match is None:
            continue
        name, version, relation, minor = match.groups()
        holds = {
            None: True,
            "<": present < (3, int(minor or 0)),
            ">=": present >= (3, int(minor or 0)),
            "==": present == (3, int(minor or 0)),
        }
        if holds[relation]:
            pins.append((name, version))
    return pins


def check_ros() -> Finding:
    try:
        rclpy = import_module("rclpy")
    except ImportError as error:
        mend = f"{SETUP_AGAIN}; or, where ROS 2 is installed: source /opt/ros/<distribution>/setup.bash"
        return Finding("ROS 2", f"rclpy cannot be imported: {error}", mend)
    return Finding("ROS 2", f"rclpy from {Path(str(rclpy.__file__)).parent}")


def check_interfaces() -> Finding:
    try:
        import_module("llm_planner_interfaces.msg")
        import_module("llm_planner_interfaces.action")
    except ImportError as error:
        mend = f"{SETUP_AGAIN}; or: colcon build --base-paths . llm_planner_interfaces, and source install/setup.bash"
        return Finding("interfaces", f"cannot be imported: {error}", mend)
    return Finding("interfaces", "messages, services and actions import")


def check_safety_filter() -> Finding:
    try:
        import_module("llm_planner.control.safety_filter")
    except (ImportError, InputError) as error:
        return Finding("safety filter", str(error), SETUP_AGAIN)
    return Finding("safety filter", "its compiled part loads")


def check_real_time() -> Finding:
    """Check whether this user may run the safety filter in real time, by doing so for a moment."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except OSError:
        detail = "SCHED_FIFO is not permitted: steps of the safety filter come late beside busy programs"
        mend = "write '<user> - rtprio 20' to /etc/security/limits.d/llm_planner.conf and log in again (see ulimit -r)"
        return Finding("real time", detail, mend, optional=True)
    return Finding("real time", "the safety filter may use SCHED_FIFO")


def check_round_trip() -> Finding:
    """Check that two processes on this machine exchange messages."""
    environment = {**os.environ, **own_network(random.Random())}
    mend = "look whether a firewall blocks UDP multicast on the loopback device, and whether /dev/shm is writable"
    command = [sys.executable, "-m", "llm_planner.ros.round_trip"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        return Finding("DDS", "two processes did not hear each other within 30 s", mend)
    if done.returncode != 0:
        return Finding("DDS", (done.stderr or done.stdout).strip()[-200:], mend)
    return Finding("DDS", f"two processes exchange messages: {done.stdout.strip()}")


def check_skills() -> Finding:
    from llm_planner.skills.library import load_skills

    try:
        names = ", ".join(load_skills().skills)
    except LlmPlannerError as error:
        return Finding("skills", str(error), "mend or remove the file that it names")
    return Finding("skills", names)


def check_model() -> Finding:
    from llm_planner.language.factory import open_model

    try:
        open_model("embedded")
    except (LlmPlannerError, ImportError, OSError) as error:
        mend = f"{SETUP_AGAIN}; the weights are part of the repository: git status tells whether they were removed"
        return Finding("embedded model", str(error), mend)
    return Finding("embedded model", "its weights load; no key and no network needed")


def check_server() -> Finding:
    """Ask the language model server for a small program, and describe the result in one paragraph."""
    from llm_planner.cli.planning_options import waiting
    from llm_planner.language.model import CountedModel, ProgramRequest
    from llm_planner.language.server.connection import settings_from_environment
    from llm_planner.language.server.model import ServerModel
    from llm_planner.programs.checker import check_program
    from llm_planner.scene.scene import Scene
    from llm_planner.skills.library import load_skills

    name, table = "language model server", Scene(0.0, ())
    try:
        settings = replace(settings_from_environment(), max_retries=0)
        model, skills = ServerModel(settings), load_skills().for_scene(table).signatures
        reply = CountedModel(model, waiting).write_program(ProgramRequest("go home", table, skills=skills))
        check_program(reply.program, skills, table)
    except LlmPlannerError as error:
        variables = "OPENAI_BASE_URL, OPENAI_API_KEY, LLM_PLANNER_OPENAI_MODEL"
        mend = f"set {variables}, or a setting of docs/concepts/language_models.md"
        return Finding(name, f"{error}".strip(), mend)
    refused = ", ".join(sorted(model.refused))
    without = f" It does not take {refused}, which is left out." if refused else " It takes every part of the request."
    limits = f"It may be silent for {settings.timeout:g} s and write {settings.max_tokens} tokens an answer."
    said = " ".join(reply.program.split())
    model.close()
    return Finding(name, f"{settings} answered “go home” with {said!r} ({reply.usage}).{without} {limits}")


def check_rendering() -> Finding:
    """Check off-screen OpenGL, which only pictures need."""
    code = "from llm_planner.simulation import offscreen as o\nprint(type(o.open_gl_context(32, 32)).__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 0:
        return Finding("rendering", f"off-screen OpenGL by {done.stdout.strip()}")
    reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    mend = "apt-get install libegl1 libgl1-mesa-dri, or: apt-get install libosmesa6; without it there are no pictures"
    return Finding("rendering", reason.partition(": ")[2] or reason, mend, optional=True)
