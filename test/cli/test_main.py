"""The command line as a whole: help, unknown commands, errors as one paragraph."""

from __future__ import annotations

import subprocess
import sys

import pytest

from llm_planner.cli.main import COMMANDS, main


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)


def test_no_command_is_help(capsys):
    assert main([]) == 0
    assert "usage: llm-planner COMMAND" in capsys.readouterr().out


def test_the_version_is_told(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("llm-planner 0.")


def test_help_imports_nothing_slow():
    code = (
        "import sys; from llm_planner.cli.main import main; main(['--help'])\n"
        "print(sorted({'numpy', 'mujoco', 'torch', 'rclpy', 'rich', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_slip_of_the_finger_is_guessed(capsys):
    assert main(["dmeo"]) == 1
    assert "there is no command 'dmeo'; did you mean 'demo'?" in capsys.readouterr().err


def test_a_sentence_instead_of_a_command_is_sent_to_say(capsys):
    assert main(["tidy"]) == 1
    assert 'llm-planner say "tidy …"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["up", "--robot", "ur5"],
            "robot: there is no robot 'ur5'; the robots are: fr3, mobile_ur5e, panda, so_arm, ur5e",
        ),
        (["up", "--model", "gpt"], "model is 'gpt'; choose one of: embedded"),
        (["up", "--objects", "red dragon"], "'dragon'"),
        (["up", "--viewpoint", "above"], "viewpoint is 'above'; choose one of: behind"),
        (["up", "--params-file", "none.yaml"], "params_file: there is no file none.yaml"),
        (["demo", "--model", "scripted", "--model-script", "none.yaml"], "model_script: there is no file none.yaml"),
        (["up", "--rehearsal", "twice"], "rehearsal is 'twice'; choose one of: off, symbolic, full"),
        (["up", "--privileges", "none.yaml"], "none.yaml"),
        (["demo", "--robot", "ur5"], "robot: there is no robot"),
        (["demo", "--seed", "-1"], "seed must be a number from 0 to 2147483647, not '-1'"),
        (["demo", "--world", "moon"], "there is no world 'moon'"),
        (["edit", "--plan", "none.json"], "nothing is said: write the words"),
    ],
)
def test_wrong_options_are_told_before_anything_starts(arguments, words, capsys, tmp_path):
    out = ["--out", str(tmp_path / "run")] if arguments[0] == "demo" else []
    assert main([*arguments, *out]) == 1
    message = capsys.readouterr().err
    assert words in message
    assert len(message.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    assert f"usage: llm-planner {name}" in capsys.readouterr().out
