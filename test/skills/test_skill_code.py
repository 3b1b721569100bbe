"""The code of a skill: what a `skill.py` must define, and how a mistake in it is reported."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from llm_planner.errors import InputError
from llm_planner.session import Session
from llm_planner.skills.library import load_skills, read_skills
from llm_planner.skills.scripted import load_code

EXAMPLE = Path(__file__).parents[2] / "examples" / "skills" / "point_at"


@pytest.fixture
def write(tmp_path):
    """Writes a skill.py into a folder of its own and returns its path."""

    def written(code: str) -> Path:
        path = tmp_path / f"skill_{len(list(tmp_path.iterdir()))}" / "skill.py"
        path.parent.mkdir()
        path.write_text(code, encoding="utf-8")
        return path

    return written


def test_every_shipped_skill_has_code_that_can_be_loaded():
    for skill in load_skills(learned=False):
        assert skill.manifest.functions().move is not None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1\n", r"defines no function move\(robot, arguments\)"),
        ("def move(arm, arguments):\n    yield\n\nplan = 3\n", r"plan is 3, not a function of a SkillCall"),
        ("import math\n\nmath.no_such_thing\n", r"skill\.py, line 3: it cannot be imported: AttributeError"),
        ("def move(arm, arguments)\n", r"line 1: it cannot be imported: SyntaxError"),
    ],
)
def test_a_mistake_in_the_code_is_reported_with_its_place(write, code, message):
    with pytest.raises(InputError, match=message):
        load_code(write(code))


def test_a_folder_without_code_says_what_to_write(tmp_path):
    shutil.copy(EXAMPLE / "skill.yaml", _made(tmp_path / "point_at"))
    with pytest.raises(InputError, match=r"by a skill\.py beside, a recording or a server; there is none of them"):
        read_skills(tmp_path)


def test_a_folder_adds_its_skills_to_those_that_ship(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "point_at")
    skills = load_skills(tmp_path, learned=False).skills
    assert {"point_at", "pick", "go_to"} <= set(skills)


def test_a_skill_without_a_plan_is_asked_about_where_a_rule_speaks_of_its_motion(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "point_at")
    code = (EXAMPLE / "skill.py").read_text(encoding="utf-8")
    (tmp_path / "point_at" / "skill.py").write_text(code[: code.index("def plan(")], encoding="utf-8")
    with Session("tabletop", objects="red block, vase", skills=tmp_path) as session:
        free = session.run_program('point_at("red block")')
        ruled = session.run_program('point_at("red block")', rules="never reach over the vase")
    assert free.outcome.value == "done"
    assert ruled.outcome.value == "question"
    assert "how point_at moves is found as it runs" in ruled.message


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder / "skill.yaml"
