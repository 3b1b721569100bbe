"""Run the commands of README and docs as they stand, page by page, and say which do something else than the page says.

    python -m benchmarks.bench_documented_commands                     # all pages: half an hour
    python -m benchmarks.bench_documented_commands README.md rules.md  # some

The commands of a page run in order in a new folder with links to the files of the repository, with a home folder and a
ROS domain of their own; a file that the page says to write is written. `up` and the other commands that run until an
interrupt stay in the background until the next of them (unless that is typed in another terminal) or the end of the
page. A command is as written if its exit status is 0, or if most lines of the output that the page shows below it come
out, whatever their numbers. What needs a program that is not installed, a robot, a value of the reader, or a system
that the page does not start is left out, and named.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from llm_planner.cli.processes import own_network

ROOT = Path(__file__).parent.parent
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SERVERS = re.compile(r"llm-planner (up|replay|listen)\b|mock_ros2_control")
SYSTEM, ROBOT = re.compile(r"llm-planner up\b"), re.compile("mock_ros2_control")
INSTALLS = re.compile(
    r"^(apt|pip|make (setup|docs|bench|test|check|fix)|\S*pip install|source|git clone|rosdep|colcon|claude)\b"
)
OF_THE_READER = re.compile(
    r"THIS_REPOSITORY|\b(NAME|NUMBER|FOLDER)\b|/dev/tty|robot_ip|parameters\.yaml|arm\.yaml|base\.yaml|benchmarks/"
)
TRAINS = re.compile(r"llm-planner (train|evaluate|improve|demonstrate) (?!.*--skills)")
FILE = re.compile(r"`(my_\w+/[\w./]+\.(?:yaml|py))`")
READY = 300.0  # [s] for a server to start
MOVES = "▶"  # in the output of a command for which the robot moves
LONGEST = 900.0  # [s] for any other command
NO_SYSTEM = "no running system answers"
MISSING = {  # by what the command line says where it is missing
    NO_SYSTEM: "it needs a running system, which the page does not start",
    "the microphone cannot be used": "it needs a microphone",
    "is it running, and is OPENAI_BASE_URL right": "it needs a language model server",
    "has no security": "it needs a ROS 2 with security",
}
SHARE = 0.5  # of the lines that the page shows


@dataclass(frozen=True)
class Command:
    """Command of a page, at a line, with the output that the page shows below it."""

    page: Path
    line: int
    text: str
    shown: tuple[str, ...]
    remark: str = ""  # of the page, behind it
    content: str = ""  # of a file that the reader is to write; `text` is its path
    without_robot: bool = True  # the page starts none in place of a real one

    @property
    def is_beside(self) -> bool:
        """Whether it is typed while the command before runs."""
        return bool(re.search("while the|at the same time", self.remark))

    @property
    def needs(self) -> str:
        """What it needs that is not here; "" for nothing."""
        if self.content:
            return ""
        if found := INSTALLS.match(self.text):
            return f"installs or builds ({found[0]})"
        if found := OF_THE_READER.search(self.text):
            return f"a value of the reader, or a robot ({found[0]})"
        if self.without_robot and "--no-simulator" in self.text:
            return "a robot (--no-simulator)"
        if TRAINS.match(self.text):
            return "it would change the skills of this repository"
        program = self.text.split()[0]
        is_there = program == "export" or program.startswith(".venv") or shutil.which(program, path=PATH)
        return "" if is_there else f"{program} is not installed"


def commands_of(page: Path) -> Iterator[Command]:
    """Yield the commands of a page's shell blocks."""
    text = page.read_text(encoding="utf-8")
    without_robot = not ROBOT.search(text)
    blocks = list(BLOCK.finditer(text))
    for block, after in zip(blocks, [*blocks[1:], None][: len(blocks)], strict=True):
        at = text.count("\n", 0, block.start()) + 1
        named = FILE.findall(text[max(0, block.start() - 250) : block.start()])
        if block[2] in ("yaml", "python") and named:
            yield Command(page, at, named[-1], (), content=block[3])
        if block[2] not in ("sh", "bash"):
            continue
        follows = after is not None and after[2] == "text" and after.start() - block.end() < 600
        joined = re.sub(r"\\\n\s*", "", block[3])
        lines = [line.strip() for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]
        for number, line in enumerate(lines):
            shown = after[3].splitlines() if follows and number == len(lines) - 1 else []
            typed, *remarks = re.split(r"\s+#\s", line, maxsplit=1)
            output = tuple(filter(None, map(str.strip, shown)))
            yield Command(page, at, typed.strip(), output, " ".join(remarks), without_robot=without_robot)


def is_as_shown(output: str, shown: tuple[str, ...]) -> bool:
    """Return whether most lines of the page come out, numbers aside."""
    plain = [re.sub(r"[\d.,]+|\s+|…", "", line) for line in shown]
    plain, out = [line for line in plain if len(line) > 3], re.sub(r"[\d.,]+|\s+", "", output)
    return sum(line in out for line in plain) >= SHARE * max(1, len(plain))


class Reader:
    """Somebody who types the commands of one page."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._home, self._servers = folder, folder / "home", dict[str, subprocess.Popen[bytes]]()
        self._home.mkdir()
        self._count = 0  # of commands that ended or will
        for entry in ROOT.iterdir():
            if entry.name not in (".git", "runs", "my_skills", "my_worlds", "my_robots"):
                (folder / entry.name).symlink_to(entry)
        own = {"HOME": str(self._home), "ROS_HOME": str(folder / "ros"), "PATH": PATH, "PYTHONUNBUFFERED": "1"}
        self.environment = {**os.environ, **own_network(random.Random()), **own}

    def type(self, command: Command) -> Callable[[], str]:
        """Start a command; the result waits for its end, and returns what is not as the page says, "" for nothing."""
        if command.content:
            path = self.folder / command.text
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(command.content, encoding="utf-8")
            return str
        if command.text.startswith("export "):
            pairs = (pair.partition("=") for pair in shlex.split(command.text)[1:])
            known = [(name, value) for name, _, value in pairs if name.isidentifier() and "$(" not in value]
            self.environment |= {name: re.sub("^~", str(self._home), value) for name, value in known}
            return str
        if SERVERS.search(command.text):
            flaw = self._serve(command)
            return lambda: flaw
        newest = max(self.folder.glob("runs/*"), default=None)
        text = re.sub(r"runs/2026-[\d_-]+", f"runs/{newest.name}" if newest else "runs/none", command.text)
        folder = ROOT if text.startswith("make") else self.folder
        self._count += 1
        log = self.folder / f"output_{self._count}.txt"
        with log.open("w") as stream:
            process = subprocess.Popen(
                ["bash", "-c", text], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=stream,
                stderr=stream,
            )  # fmt: skip
        self._newest = process, log

        def ended() -> str:
            try:
                process.wait(LONGEST)
            except subprocess.TimeoutExpired:
                process.kill()
                return f"it does not end within {LONGEST:g} s"
            output = log.read_text(encoding="utf-8", errors="replace")
            if "Traceback (most recent call last)" in output:
                return f"a traceback: {output[-400:]}"
            if process.returncode == 0 or (command.shown and is_as_shown(output, command.shown)):
                return ""
            return f"exit status {process.returncode}: {output.strip()[-400:]}"

        return ended

    def wait_until_it_moves(self) -> None:
        """Wait until the robot moves for the newest command, or this has ended."""
        process, log = self._newest
        deadline = time.monotonic() + READY
        while process.poll() is None and MOVES not in log.read_text(errors="replace") and time.monotonic() < deadline:
            time.sleep(0.2)

    def lacks(self, flaw: str) -> str:
        """Return what a command needed that is not here, by its answer; "" where that says nothing of the kind."""
        has_system = any(SYSTEM.search(text) for text, server in self._servers.items() if server.poll() is None)
        there = (NO_SYSTEM,) if has_system else ()
        return next((need for said, need in MISSING.items() if said in flaw and said not in there), "")

    def _serve(self, command: Command) -> str:
        if "terminal" not in command.remark:
            self.end()
        log = self.folder / f"server_{len(self._servers)}.txt"
        with log.open("w") as output:
            server = self._servers[command.text] = subprocess.Popen(
                ["bash", "-c", f"exec {command.text}"], cwd=self.folder, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + READY
        while time.monotonic() < deadline and server.poll() is None:
            if re.search(r"ready|running|Ctrl-C|The recording ends|The console is at|moves", log.read_text()):
                return ""
            time.sleep(0.5)
        if server.poll() == 0:
            return ""
        said = log.read_text()[-400:]
        return f"it ended: {said}" if server.poll() is not None else f"it does not say that it is ready: {said}"

    def end(self) -> None:
        """Interrupt the servers, the newest first."""
        for server in reversed(self._servers.values()):
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGINT)
                try:
                    server.wait(30.0)
                except subprocess.TimeoutExpired:
                    os.killpg(server.pid, signal.SIGKILL)
        self._servers.clear()


def main() -> None:
    """Run the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="names of pages (default: README and all tutorials and concepts)")
    wanted = parser.parse_args().pages
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    done, wrong, left = 0, 0, 0
    for page in pages:
        commands = list(commands_of(page))
        if not commands or (wanted and page.name not in wanted):
            continue
        print(page.relative_to(ROOT), flush=True)
        with tempfile.TemporaryDirectory(prefix="reader_") as folder:
            reader = Reader(Path(folder))
            running: list[tuple[Command, float, Callable[[], str]]] = []
            try:
                for command, then in zip(commands, [*commands[1:], None], strict=True):
                    if command.needs:
                        left += 1
                        print(f"  left out {command.line}: {command.text[:90]}: {command.needs}", flush=True)
                        continue
                    running.append((command, time.monotonic(), reader.type(command)))
                    if then is not None and then.is_beside and not SERVERS.search(command.text):
                        if "while" in then.remark:
                            reader.wait_until_it_moves()
                        continue
                    for typed, began, ended in reversed(running):
                        flaw = ended()
                        if flaw and (need := reader.lacks(flaw)):
                            left += 1
                            print(f"  left out {typed.line}: {typed.text[:90]}: {need}", flush=True)
                            continue
                        done, wrong = done + 1, wrong + bool(flaw)
                        verdict, took = "WRONG" if flaw else "ok", time.monotonic() - began
                        print(f"  {verdict} {typed.line} ({took:.1f} s): {typed.text[:110]}", flush=True)
                        if flaw:
                            print(f"      {flaw}", flush=True)
                    running.clear()
            finally:
                reader.end()
    print(f"{done - wrong} of {done} commands as written; {left} left out")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
