"""Protocol by which a node that cannot start reports to its supervisor: an exit status, and the reason in a pipe.

The status tells a supervisor that a restart would fail the same way, unlike after a crash.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NoReturn

CANNOT_START = os.EX_CONFIG  # exit status of a node whose parameters or files prevent its start
MOST_TRIES = 3  # failed starts in a row after which a supervisor gives up
REASON_PIPE = "LLM_PLANNER_REASON_PIPE"  # environment variable with the file descriptor for the reason


def end_unstarted(reason: str) -> NoReturn:
    """Report the reason to the supervisor and exit with `CANNOT_START`."""
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
