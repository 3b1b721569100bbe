"""The public Python API: every name is there, documented, and loaded only when it is used."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import llm_planner

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("0*.py"))


@pytest.mark.parametrize("name", llm_planner.__all__)
def test_every_public_name_is_documented(name):
    if name in {"Client", "Script"}:  # needs ROS; an alias of a type
        return
    assert inspect.getdoc(getattr(llm_planner, name))


def test_an_unknown_name_is_refused_with_the_names_there_are():
    with pytest.raises(AttributeError, match="no public name 'Robots'; its names are: "):
        llm_planner.Robots  # noqa: B018


def test_importing_the_package_imports_nothing_slow():
    code = "import sys, llm_planner; print(sorted({'numpy', 'mujoco', 'torch', 'rclpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("example", [one for one in EXAMPLES if "ros" not in one.name], ids=lambda path: path.stem)
def test_every_example_runs(example):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert not {"failed", "question", "refused"} & set(done.stdout.replace(":", " ").split()), done.stdout
