"""`llm-planner new`: what it writes runs as it is, and writes over nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from llm_planner.cli.main import main
from llm_planner.skills.manifest import read_manifest


def test_a_new_skill_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "skill", "wave_at"]) == 0
    (tmp_path / "try.txt").write_text('wave_at("red block")', encoding="utf-8")
    assert main(["skills", "--skills", "my_skills", "--check"]) == 0
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
        (["skill", "pick"], "pick is a skill that ships, which yours would replace; choose another name, e.g. my_pick"),
        (
            ["skill", "objects"],
            "'objects' already has a meaning in policy programs; choose another name, e.g. my_objects",
        ),
        (["skill", "len"], "'len' already has a meaning in policy programs; choose another name, e.g. my_len"),
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


def test_a_new_skill_is_described_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "skill", "knock_on"]) == 0
    assert read_manifest(tmp_path / "my_skills" / "knock_on" / "skill.yaml").description == "Knock on an object."


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("source", ["new", "examples/skills/point_at/skill.yaml", "docs/concepts/skills.md"])
def test_the_examples_in_comments_of_a_manifest_can_be_used(tmp_path, source):
    if source == "new":
        assert main(["new", "skill", "point_at", "--folder", str(tmp_path)]) == 0
    else:
        (tmp_path / "point_at").mkdir()
        text = (ROOT / source).read_text(encoding="utf-8")
        block = re.search(r"```yaml\n(name: point_at.*?)```", text, re.DOTALL)
        (tmp_path / "point_at" / "skill.yaml").write_text(block[1] if block else text, encoding="utf-8")
        (tmp_path / "point_at" / "skill.py").write_text("", encoding="utf-8")
    path = tmp_path / "point_at" / "skill.yaml"
    text, count = re.subn(r"\[\] +# e\.g\. (\[.*\])", r"\1 #", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    manifest = read_manifest(path)
    assert count == 2
    assert manifest.preconditions[0].otherwise == "the gripper holds the {held}; put it down first"
    assert [str(effect) for effect in manifest.effects] == ["held(object)"]
