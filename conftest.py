"""Tests what is installed where the sources are not built: `colcon test` runs in the folder of the sources."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.resolve()
if not any((ROOT / "llm_planner" / "control" / "safety_filter").glob("kernel.*.so")):
    # Last, for `training`, which is not installed.
    sys.path[:] = [*(entry for entry in sys.path if Path(entry or ".").resolve() != ROOT), str(ROOT)]
