"""How fast simulated time goes on a busy machine: only as fast as commands come in time."""

from __future__ import annotations

LATE = 0.01  # [s] after its beginning that a command may come, in simulated time
LEAST = 0.05  # share of the pace that is asked for
SLOWER, FASTER = 0.9, 0.005  # factor for each command that came too late, summand for each that came in time
OF_ANOTHER_TIME = 1.0  # [s] late: such a command says nothing of the machine


class Pace:
    """The share of the pace asked for at which simulated time goes on: `share`, at most 1.

    A real robot does not wait for a controller that is late, and its driver refuses what comes too late. A simulated
    one waits: else commands of processes that share the machine with the simulation would be refused for ever.
    """

    def __init__(self) -> None:
        self.share = 1.0

    def heard(self, late: float) -> None:
        """A command came `late` [s, simulated time] after it was to begin."""
        if LATE < late < OF_ANOTHER_TIME:
            self.share = max(LEAST, self.share * SLOWER)
        else:
            self.share = min(1.0, self.share + FASTER)
