"""What the README says for a machine with ROS 2, done with its real command line tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("walkthrough.sh")
LONGEST = 3600.0  # [s]


@pytest.mark.skipif(
    not (shutil.which("ros2") and shutil.which("colcon")),
    reason="ros2 and colcon are not on the path: source the setup.bash of a ROS 2 installation",
)
def test_every_step_of_the_walkthrough_passes(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    run = subprocess.run(
        [str(SCRIPT)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONGEST, check=False
    )
    said = run.stdout.decode("utf-8", "replace")
    assert run.returncode == 0, said
    assert "FAIL" not in said
    assert "PASS" in said
