"""How a node that cannot start says so: by an exit status of its own, and with the reason through a pipe.

A supervisor tells by the status that another start will end in the same way, unlike after a crash.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NoReturn

CANNOT_START = os.EX_CONFIG  # exit status of a node that its parameters or files keep from starting
MOST_TRIES = 3  # starts in a row that end so, until a supervisor gives up
REASON_PIPE = "LLM_PLANNER_REASON_PIPE"  # environment variable: file descriptor for the reason


def end_unstarted(reason: str) -> NoReturn:
    """End this process, and tell its supervisor why."""
    pipe = os.environ.pop(REASON_PIPE, "")
    if pipe:
        with suppress(OSError):  # nobody may be reading
            os.write(int(pipe), reason.encode()[:4096])
    raise SystemExit(CANNOT_START)


def read_reason(pipe: int) -> str:
    """What a process that has ended wrote into the pipe, "" for nothing; closes the reading end `pipe`."""
    os.set_blocking(pipe, False)
    try:
        return os.read(pipe, 4096).decode(errors="replace")
    except BlockingIOError:
        return ""
    finally:
        os.close(pipe)
