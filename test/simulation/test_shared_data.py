import subprocess
import sys
from pathlib import Path

import pytest

from llm_planner.errors import InputError
from llm_planner.share import share_folder


def test_the_models_are_found():
    assert (share_folder("sim") / "worlds" / "tabletop.xml").is_file()


def test_a_ros_workspace_is_searched_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "share" / "llm_planner" / "extras").mkdir(parents=True)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert share_folder("extras") == tmp_path / "share" / "llm_planner" / "extras"


def test_missing_data_is_reported_with_the_places_looked_at():
    with pytest.raises(InputError, match=r"data folder 'nowhere' is missing; looked in .*share.llm_planner.nowhere"):
        share_folder("nowhere")


def test_importing_the_world_does_not_load_mujoco():
    code = (
        "import sys, llm_planner.simulation.world, llm_planner.simulation.renderers;sys.exit('mujoco' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path.cwd()).returncode == 0
