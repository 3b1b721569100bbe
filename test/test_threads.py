"""The linear algebra of numpy runs in one thread: several wait for each other where the cores are busy."""

import os
import subprocess
import sys

COUNT = "import llm_planner, numpy, os; x = numpy.ones((512, 512)); x @ x; print(len(os.listdir('/proc/self/task')))"


def test_numpy_starts_no_threads() -> None:
    own = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    found = subprocess.run([sys.executable, "-c", COUNT], env=own, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "1"
