"""`llm-planner new`: what it writes runs as it is, and writes over nothing."""

from __future__ import annotations

import pytest

from llm_planner.cli.main import main


def test_a_new_skill_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "skill", "wave_at"]) == 0
    (tmp_path / "try.txt").write_text('wave_at("red block")', encoding="utf-8")
    command = ["run", "--skills", "my_skills", "--program", "try.txt", "--objects", "red block, mug"]
    assert main(command) == 0, capsys.readouterr().out


def test_a_new_world_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "world", "table"]) == 0
    assert main(["run", "--world", "my_worlds/table.yaml", "put the red block in the green bowl"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["arm", "r2"], "llm-planner new makes a skill, a world or a robot, not 'arm'"),
        (["skill", "Wave At"], "'Wave At' is not a valid name; use lower case letters"),
    ],
)
def test_what_cannot_be_made_is_refused(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["new", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "skill", "wave_at"]) == 0
    (tmp_path / "my_skills" / "wave_at" / "skill.py").write_text("mine", encoding="utf-8")
    assert main(["new", "skill", "wave_at"]) == 1
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "my_skills" / "wave_at" / "skill.py").read_text(encoding="utf-8") == "mine"
