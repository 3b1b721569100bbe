"""How much of this machine's time its host gave to others: what figures of fractions of a second have to be read with.

A virtual machine cannot answer while its host runs another one. Linux counts that time as "steal" (proc(5),
/proc/stat).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

QUIET = 0.05  # of the time: what may be stolen where a delay counts as the program's own; a tick of 10 ms in 0.2 s


@dataclass(frozen=True)
class CpuTime:
    """Time [ticks of 10 ms, over all cores] since the machine was started."""

    whole: int
    stolen: int

    @classmethod
    def now(cls, stat: Path = Path("/proc/stat")) -> CpuTime:
        """As the kernel counts it; nothing at all where there is no such file."""
        if not stat.exists():
            return cls(0, 0)
        ticks = [int(field) for field in stat.read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
        return cls(sum(ticks), ticks[7])

    def stolen_since(self, earlier: CpuTime) -> float:
        """The share (0 to 1) of the time between the two that others had."""
        return (self.stolen - earlier.stolen) / max(1, self.whole - earlier.whole)
