"""The pages of the documentation that derive from code can be written, without the program that builds the site."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from llm_planner.ros.node_table import NODES

ROOT = Path(__file__).parents[2]
SITE = """
from pathlib import Path

def open(path, mode):
    file = Path(__file__).parent / "site" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.open(mode)
"""


def test_every_page_is_written_and_the_parameters_of_every_node_are_on_one(tmp_path):
    (tmp_path / "mkdocs_gen_files.py").write_text(SITE, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", f"import runpy; runpy.run_path({str(ROOT / 'docs' / 'generate.py')!r})"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    written = {file.stem for file in (tmp_path / "site" / "reference").iterdir()}
    assert {"api", "commands", "parameters", "messages", "robot_file"} <= written
    parameters = (tmp_path / "site" / "reference" / "parameters.md").read_text(encoding="utf-8")
    assert {f"## {node.name}" for node in NODES} <= set(parameters.splitlines())
