"""Commands that the kernel kills when their parent dies, however it dies (Linux, PR_SET_PDEATHSIG).

Run as a program, this file asks the kernel for that and then becomes the command: the setting survives `exec`, so there
is no moment at which the parent's death would leave the command behind, and the command itself knows nothing of it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>


def dies_with(parent: int, command: Sequence[str]) -> list[str]:
    """Make the command line that runs `command` for as long as the process `parent` lives.

    Args:
        parent: Number of the process that starts the command line. To the kernel the parent is the *thread* that
            starts it: start it in one that lives as long as the command is to run.
        command: Program and arguments.
    """
    return [*prefix(parent), *command]


def prefix(parent: int) -> list[str]:
    """What `dies_with` puts before the command."""
    return [sys.executable, "-I", "-S", __file__, str(parent)]


def main() -> None:
    """Become the command of the arguments, bound to the parent that the first argument names."""
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
