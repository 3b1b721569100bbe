"""`llm-planner new robot` and `llm-planner robot`: an arm is added from its URDF, and a wrong description is found."""

from __future__ import annotations

import shutil

import pytest

from llm_planner.cli.main import main
from llm_planner.cli.robot_checks import checks
from llm_planner.cli.terminal import Grade
from llm_planner.robots.robot_folders import ROBOT_FILE, robot_folder, shipped_names

SHIPPED = robot_folder("ur5e")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Folder `my_robots/mine` with a copy of an arm that ships, whose file a test edits."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my_robots" / "mine"
    shutil.copytree(SHIPPED, folder)

    def edit(old, new, file=ROBOT_FILE):
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")
        return str(folder)

    return edit


def first(grade, folder):
    """What is found first with this grade; the slow checks after it are not run."""
    return next(one for one in checks(folder) if one.grade is grade)


def test_a_robot_is_added_from_its_urdf_and_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(SHIPPED / "ur5e.urdf", tmp_path)
    assert main(["new", "robot", "arm", "--urdf", "ur5e.urdf"]) == 0
    said = capsys.readouterr().out
    assert "tool: tool0 (of wrist_3_link, tool0; another with --tool)" in said
    assert "accelerations: 8 rad/s^2, a moderate default" in said
    text = (tmp_path / "my_robots" / "arm" / ROBOT_FILE).read_text(encoding="utf-8")
    assert "description: ../../ur5e.urdf" in text
    assert "gripper: default_hand" in text
    assert len(text.splitlines()) < 30

    assert main(["robot", "check", "my_robots/arm"]) == 0, capsys.readouterr().out
    assert "a block into a bowl in" in capsys.readouterr().out
    assert main(["robot", "list"]) == 0
    listed = capsys.readouterr().out
    assert "xarm7" in listed
    assert "my_robots/arm" in listed


def test_a_robot_is_added_whose_links_are_collada_files_and_turn_around_their_neighbours(tmp_path, monkeypatch, capsys):
    pytest.importorskip("example_robot_data", reason="the model of the arm is in example-robot-data")
    monkeypatch.chdir(tmp_path)
    urdf = "package://example-robot-data/robots/kinova_description/robots/kinova.urdf"
    assert main(["new", "robot", "kinova", "--urdf", urdf]) == 0, capsys.readouterr().err
    assert {one.grade for one in checks("my_robots/kinova")} == {Grade.RIGHT, Grade.DOUBTFUL}, "ranges are doubtful"


@pytest.mark.parametrize("name", shipped_names())
def test_every_robot_that_ships_passes_its_check(name, capsys):
    assert main(["robot", "check", name]) == 0, capsys.readouterr().out


def test_a_robot_is_added_with_another_gripper(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(SHIPPED / "ur5e.urdf", tmp_path)
    assert main(["new", "robot", "cup", "--urdf", "ur5e.urdf", "--gripper", "suction_cup"]) == 0
    found = {one.name: one for one in checks("my_robots/cup")}
    assert found["gripper"].detail.startswith("suction_cup: suction cup of 3 cm that pulls 30 N, 12 cm in front")
    assert {one.grade for one in found.values()} == {Grade.RIGHT}


@pytest.mark.parametrize(
    ("old", "new", "name", "told", "mend"),
    [
        ("tool: tool0", "tool: flange0", "URDF", "no link 'flange0'; it has: base_link", "mend the URDF"),
        ("description: ur5e.urdf", "description: no.urdf", "URDF", "no.urdf cannot be read: [Errno 2] No", "mend"),
        ("  elbow_joint", "  # elbow_joint", "joints", "but the URDF has shoulder_pan_joint", "list, in this order"),
        ("range: [0.0, 3.0], velocity: 3.14", "range: [0.0, 9.0], velocity: 9.0", "limits",
         "range of elbow_joint: 9, in the URDF 3.14159; velocity of elbow_joint: 9", "keep within the URDF"),
        ("home: 1.6215", "home: 2.999", "home", "elbow_joint at 2.999 of [0.020, 2.980]", "move home"),
        ("turn: -1.5707963", "turn: -1.2", "hand at home", "yaw -0.371 rad", "hand.turn turns it"),
        ("rest: [0.40, 0.0, 0.45]", "rest: [0.5, 0, 0.45]", "hand at home", "but rest is (0.5, 0.0, 0.45)",
         "write rest: [0.400, 0.000, 0.450]"),
        ("[0.0, 0.285, 0.86]", "[0.0, 0.2, 0.98]", "reach", "at 0 m (stated 0.2 to 0.98)", "state less"),
        ("joints:", "mounting: {position: [0.5, 0, -1.2], rpy: [3.14159, 0, 0]}\njoints:", "mounting",
         "the base hangs at (0.5, 0, -1.2) m, below the table top", "z is upwards: write 1.2 for it"),
        ("joints:", "mounting: {position: [0.5, 0, 1.2], rpy: [3.14159, 0, 0]}\njoints:", "hand at home", "points up",
         "an arm that hangs has roll or pitch 3.14159"),
        ("velocity: 3.14,", "velocity: fast,", "robot.yaml", "velocity must be a number, not", "mend"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_what_to_do(mine, old, new, name, told, mend):
    found = first(Grade.WRONG, mine(old, new))
    assert found.name == name
    assert told in found.detail
    assert mend in found.mend


@pytest.mark.parametrize(
    ("old", "new", "name", "told", "mend"),
    [
        ('<inertial><mass value="0.365"/>', '<inertial><mass value="0"/>', "masses", "none for wrist_3_link",
         "0.05 kg is taken; give the links an <inertial>"),
        ('effort="28" velocity', "velocity", "limits", "not give all of them for wrist_1_joint, wrist_2_joint, wrist_3",
         "data sheet"),
    ],
)  # fmt: skip
def test_what_a_urdf_lacks_is_doubtful(mine, old, new, name, told, mend):
    found = first(Grade.DOUBTFUL, mine(old, new, "ur5e.urdf"))
    assert found.name == name
    assert told in found.detail
    assert mend in found.mend


def test_a_wrong_robot_gives_exit_status_1(mine, capsys):
    folder = mine("tool: tool0", "tool: flange0")
    assert main(["robot", "check", folder]) == 1
    assert "1 wrong; see the arrows." in capsys.readouterr().out
    assert main(["robot", "list"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["robot", "chekc"], "llm-planner robot lists or checks: 'list' or 'check NAME', not 'chekc'"),
        (["robot", "check"], "name the arm to check"),
        (["new", "robot", "arm"], "name the URDF of the robot: llm-planner new robot arm --urdf FILE"),
        (["new", "robot", "arm", "--urdf", "no.urdf"], "the robot description no.urdf cannot be read"),
        (["robot", "check", "ur5e", "--picture", "a.jpg"], "--picture writes a .png file"),
    ],
)
def test_a_wrong_command_is_refused(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
