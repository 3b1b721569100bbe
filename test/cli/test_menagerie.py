"""Arms of MuJoCo Menagerie: described once, from the package that downloads them; without a network it is said so."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from llm_planner.cli.main import main
from llm_planner.cli.new_robot import fetched_model, fetched_robot
from llm_planner.errors import InputError
from llm_planner.robots.arm_file import ROBOT_FILE
from llm_planner.robots.arm_model import arm_model, default_arm

ARM = "menagerie:franka_emika_panda"


@pytest.fixture
def menagerie(tmp_path, monkeypatch):
    """A copy of Menagerie on the disk, whose one arm is the default one."""
    package = pytest.importorskip("mujoco_menagerie")
    arm = package.get(ARM.partition(":")[2])
    folder = tmp_path / "menagerie" / arm.name
    folder.mkdir(parents=True)
    shutil.copy(default_arm().source, folder / arm.entry(arm.default_model).file)
    monkeypatch.setenv("MENAGERIE_ROOT", str(folder.parent))
    return package


def test_names_of_other_arms_stay_as_they_are():
    assert fetched_robot("./my_robots/mine") == "./my_robots/mine"


def test_a_model_is_described_once(menagerie, tmp_path, monkeypatch):
    folder = fetched_robot(ARM, tmp_path / "cache")
    assert arm_model(folder).joints == default_arm().joints
    assert (tmp_path / "cache" / "franka_emika_panda" / ROBOT_FILE).is_file()
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path / "gone"))
    assert fetched_robot(ARM, tmp_path / "cache") == folder


def test_without_a_network_it_is_said_what_to_do(menagerie, tmp_path, monkeypatch):
    monkeypatch.delenv("MENAGERIE_ROOT")
    monkeypatch.setenv("MENAGERIE_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setenv("MENAGERIE_BASE_URL", (tmp_path / "nothing").as_uri())
    with pytest.raises(InputError, match=r"cannot be downloaded .*; connect to the network .* set MENAGERIE_ROOT"):
        fetched_model(ARM)


def test_an_unknown_robot_or_model_is_refused_with_the_choices(menagerie):
    with pytest.raises(InputError, match=r"no robot 'arm9'; its arms are: .*franka_emika_panda"):
        fetched_model("menagerie:arm9")
    with pytest.raises(InputError, match=r"'franka_emika_panda' has no entry point 'arm'; available: .*panda"):
        fetched_model(f"{ARM}/arm")


def test_without_the_package_it_is_said_which_to_install():
    code = (
        "import sys; sys.modules['mujoco_menagerie'] = None\n"
        "from llm_planner.cli.main import main\n"
        f"sys.exit(main(['run', '--robot', {ARM!r}, 'wait']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "pip install 'llm_planner[menagerie]'" in done.stderr


def test_a_robot_is_added_from_an_mjcf(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "robot", "mine", "--urdf", str(default_arm().source)]) == 0, capsys.readouterr().err
    arm = arm_model("./my_robots/mine")
    assert arm.joints == default_arm().joints
    assert arm.source.is_relative_to(tmp_path / "my_robots" / "mine")
    assert main(["new", "robot", "arm", "--urdf", str(tmp_path / "no.xml")]) == 1
    assert "MuJoCo refuses" in capsys.readouterr().err
    assert not (tmp_path / "my_robots" / "arm" / "description").exists()
