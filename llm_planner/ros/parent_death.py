"""Commands that the kernel kills when their parent process dies (Linux, PR_SET_PDEATHSIG).

As a program, this file sets PR_SET_PDEATHSIG and then executes the command. The setting survives `exec`, so the command
never outlives its parent and needs no code for this.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

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


def main() -> None:
    """Execute the command in the arguments, bound to the parent process in the first argument."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        import ctypes

        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
            raise SystemExit(f"{command[0]} is not started: prctl failed ({os.strerror(ctypes.get_errno())})")
    if os.getppid() != parent:
        raise SystemExit(f"{command[0]} is not started: the process {parent}, which wanted it, has ended")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
