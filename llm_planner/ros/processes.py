"""Protocol between a supervisor and its child processes.

A node that cannot start reports an exit status, and the reason in a pipe. The status tells the supervisor that a
restart would fail the same way, unlike after a crash.

`dies_with` binds a command to its parent: the kernel kills it when the parent dies (Linux, PR_SET_PDEATHSIG). As a
program, this file sets PR_SET_PDEATHSIG and then executes the command. The setting survives `exec`, so the command
never outlives its parent and needs no code for this. SIGINT waits until `ros.nodes` is imported, so that Ctrl-C ends a
starting node without a traceback.
"""

from __future__ import annotations

if __name__ == "__main__":
    import _signal  # without the imports of `signal`

    _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT,))

import os
import signal
import sys
from collections.abc import Sequence

TYPE_CHECKING = False  # instead of typing's, whose import would delay every start of this file as a program
if TYPE_CHECKING:
    from typing import NoReturn

CANNOT_START = os.EX_CONFIG  # exit status of a node whose parameters or files prevent its start
MOST_TRIES = 3  # failed starts in a row after which a supervisor gives up
MOST_DEATHS = 10  # the same for any ends, each less than STABLE after the one before
STABLE = 30.0  # [s]
NODE_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MUJOCO_GL": "disable"}  # MuJoCo would search for a display
REASON_PIPE = "LLM_PLANNER_REASON_PIPE"  # environment variable with the file descriptor for the reason


def end_unstarted(reason: str) -> NoReturn:
    """Report the reason to the supervisor and exit with `CANNOT_START`."""
    from contextlib import suppress

    pipe = os.environ.pop(REASON_PIPE, "")
    if pipe:
        with suppress(OSError):  # the pipe may have no reader
            os.write(int(pipe), reason.encode()[:4096])
    raise SystemExit(CANNOT_START)


def read_reason(pipe: int) -> str:
    """Return what an ended process wrote into the pipe, perhaps ""; close the read end `pipe`."""
    os.set_blocking(pipe, False)
    try:
        return os.read(pipe, 4096).decode(errors="replace")
    except BlockingIOError:
        return ""
    finally:
        os.close(pipe)


class RestartLimit:
    """Counts how often a node has ended in a row."""

    def __init__(self) -> None:
        self.deaths = self._refusals = 0
        self._last = float("-inf")  # [s]

    def ended(self, status: int, now: float) -> str:
        """Count an end with this exit status at `now` [s]; return why to give up, "" to start the node again."""
        self._refusals = self._refusals + 1 if status == CANNOT_START else 0
        self.deaths = self.deaths + 1 if now < self._last + STABLE else 1
        self._last = now
        if self._refusals == MOST_TRIES:
            return f"could not start {MOST_TRIES} times in a row"
        if self.deaths == MOST_DEATHS:
            return f"ended {MOST_DEATHS} times in a row, less than {STABLE:g} s apart"
        return ""


PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>


def dies_with(parent: int, command: Sequence[str]) -> list[str]:
    """Return the command line that runs `command` while the process `parent` lives.

    Args:
        parent: Id of the process that starts the command line. For the kernel, the parent is the *thread* that starts
            it, so this thread must live as long as the command.
        command: Program and arguments.
    """
    return [*prefix(parent), *command]


def prefix(parent: int) -> list[str]:
    """Return the words that `dies_with` puts before the command."""
    return [sys.executable, "-I", "-S", __file__, str(parent)]


def die_with_parent(parent: int, name: str) -> None:
    """Have the kernel kill this process when the thread that started it ends, where there is such a setting.

    Raises:
        SystemExit: It cannot, or the process `parent` has ended already; `name` is that of this process.
    """
    if sys.platform == "linux":
        import ctypes

        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
            raise SystemExit(f"{name} is not started: prctl failed ({os.strerror(ctypes.get_errno())})")
    if os.getppid() != parent:
        raise SystemExit(f"{name} is not started: the process {parent}, which wanted it, has ended")


def main() -> None:
    """Execute the command in the arguments, bound to the parent process in the first argument."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    die_with_parent(parent, command[0])
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
