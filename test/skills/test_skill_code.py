"""The code of a skill: what a `skill.py` must define, and how a mistake in it is reported."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from llm_planner.errors import InputError
from llm_planner.scene.scene import Pose, Scene
from llm_planner.session import Session
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.library import load_skills
from llm_planner.skills.paths import SkillCall
from llm_planner.skills.skill_code import load_code

EMPTY = Scene(0.0, (), robot=Pose((0.3, 0.0, 0.4)))
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
        ("import sys\n\nsys.exit()\n", r"skill\.py, line 3: it cannot be imported: SystemExit$"),
        ("raise GeneratorExit('over')\n", r"skill\.py, line 1: it cannot be imported: GeneratorExit: over"),
    ],
)
def test_a_mistake_in_the_code_is_reported_with_its_place(write, code, message):
    with pytest.raises(InputError, match=message):
        load_code(write(code))


def test_a_folder_without_code_says_what_to_write(tmp_path):
    shutil.copy(EXAMPLE / "skill.yaml", _made(tmp_path / "point_at"))
    with pytest.raises(InputError, match=r"by a skill\.py beside, a recording or a server; there is none of them"):
        load_skills(tmp_path)


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


MOVE = "def move(arm, arguments):\n    yield arm.hold()\n"
PLAN = """
from llm_planner import MotionPath
from llm_planner.skills.paths import Waypoint

def plan(call):
    {body}
"""


def test_an_interrupt_ends_the_import(write):
    with pytest.raises(KeyboardInterrupt):
        load_code(write("raise KeyboardInterrupt\n"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "return 1 / 0",
            r"the plan of the skill .* failed by a fault of its own: ZeroDivisionError.*skill\.py, line 8\)",
        ),
        ("raise SystemExit(2)", r"failed by a fault of its own: SystemExit: 2 \(skill\.py, line 8\)"),
        ("return [(0.5, 0, 0.2)]", r"returned \[\(0\.5, 0, 0\.2\)\] instead of a MotionPath or None"),
        ("return MotionPath(((0.5, 0, 0.2),), 0.1)", "whose points are not a tuple of Waypoints"),
        ("return MotionPath((Waypoint((0.5, 0.0, float('nan'))),), 0.1)", "must be three finite numbers"),
        ("return MotionPath((Waypoint((0.5, 0.0)),), 0.1)", "must be three finite numbers"),
        ("return MotionPath((Waypoint((0.5, 0.0, 0.2), done=2.0),), 0.1)", r"done=2\.0; it must lie in \[0, 1\]"),
        ("return MotionPath((Waypoint((0.5, 0.0, 0.2), holds='cup'),), 0.1)", "holds 'cup'; the scene contains: "),
        ("return MotionPath((), float('inf'))", "returned a MotionPath of inf m"),
    ],
)
def test_a_faulty_plan_names_skill_file_and_line(write, body, message):
    plan = load_code(write(MOVE + PLAN.format(body=body))).plan
    with pytest.raises(SkillError, match=message) as raised:
        plan(SkillCall({}, EMPTY, EMPTY))
    assert raised.value.code is SkillErrorCode.SKILL_FAULT


@pytest.mark.parametrize("error", ["InputError('no way leads there')", "KeyboardInterrupt"])
def test_what_a_plan_refuses_passes_and_so_does_an_interrupt(write, error):
    code = MOVE + PLAN.format(body=f"from llm_planner.errors import InputError; raise {error}")
    with pytest.raises((InputError, KeyboardInterrupt)):
        load_code(write(code)).plan(SkillCall({}, EMPTY, EMPTY))


def test_a_faulty_plan_is_a_motion_that_is_not_foreseen(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "point_at")
    code = (EXAMPLE / "skill.py").read_text(encoding="utf-8")
    faulty = code.replace("return hover_over(call)", "return call.no_such_thing")
    (tmp_path / "point_at" / "skill.py").write_text(faulty, encoding="utf-8")
    with Session("tabletop", objects="red block, vase", skills=tmp_path) as session:
        free = session.run_program('point_at("red block")')
        ruled = session.run_program('point_at("red block")', rules="never reach over the vase")
    assert free.outcome.value == "done"
    assert ruled.outcome.value == "question"
    assert "the plan of the skill point_at failed by a fault of its own: AttributeError" in ruled.message
    assert "(skill.py, line 17), so that it keeps the rules cannot be foreseen" in ruled.message


def test_an_edited_file_is_loaded_again(write):
    path = write(MOVE + "speed = 1\n")
    first = load_code(path)
    assert load_code(path) is first
    path.write_text(MOVE.replace("hold", "rest") + "speed = 2\n", encoding="utf-8")
    assert load_code(path).move.__code__.co_names != first.move.__code__.co_names


def test_modules_beside_the_code_are_imported_and_loaded_again_after_an_edit(write):
    path = write("from .helpers import height\n\n" + MOVE + "\ndef plan(call):\n    raise SystemExit(height())\n")
    for height in (1, 2):
        (path.parent / "helpers.py").write_text(f"def height():\n    return {height}\n", encoding="utf-8")
        with pytest.raises(SkillError, match=f"SystemExit: {height}"):
            load_code(path).plan(SkillCall({}, EMPTY, EMPTY))
    assert {file.name for file in path.parent.iterdir()} == {"helpers.py", "skill.py"}


def test_an_absolute_import_of_a_module_beside_the_code_says_what_to_write(write):
    path = write("from helpers_of_mine import height\n\n" + MOVE)
    (path.parent / "helpers_of_mine.py").write_text("height = 1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"it lies beside: write `from \.helpers_of_mine import \.\.\.`"):
        load_code(path)


def test_a_mistake_in_a_module_beside_the_code_is_reported_with_its_place(write):
    path = write("from .helpers import height\n\n" + MOVE)
    (path.parent / "helpers.py").write_text("\nheight = 1 / 0\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"helpers\.py, line 2: it cannot be imported: ZeroDivisionError"):
        load_code(path)


def test_skills_of_one_name_in_two_folders_keep_their_own_modules(tmp_path):
    plans = []
    for folder in "ab":
        path = tmp_path / folder / "same" / "skill.py"
        path.parent.mkdir(parents=True)
        path.write_text(MOVE + "def plan(call):\n    from .helpers import name\n    raise SystemExit(name)\n")
        path.with_name("helpers.py").write_text(f"name = {folder!r}\n")
        plans.append(load_code(path).plan)
    for plan, folder in zip(plans, "ab", strict=True):
        with pytest.raises(SkillError, match=f"SystemExit: {folder}"):
            plan(SkillCall({}, EMPTY, EMPTY))


def test_a_library_keeps_the_plan_with_which_it_was_loaded(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "point_at")
    library = load_skills(tmp_path)
    before = library.find("point_at").signature
    (tmp_path / "point_at" / "skill.py").write_text("this is being edited\n", encoding="utf-8")
    (after,) = (one for one in library.signatures if one.name == "point_at")
    assert after.forecast is before.forecast


NAN_HEAD = """
from dataclasses import replace

from llm_planner import Leg
from llm_planner.robots.motion import MotionReference
from llm_planner.scene.scene import Pose
from llm_planner.skills.scripts.basic import hover

NAN, INF = float("nan"), float("inf")


def move(arm, arguments):
    goal = hover(arm.find(arguments["object"]))
    """


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "yield from arm.move('go', [Leg(goal), Leg(replace(goal, x=NAN))])",
            r"leads to HandPose\(x=nan.*skill\.py, line",
        ),
        ("yield from arm.move('go', [Leg(goal), Leg(replace(goal, yaw=INF))])", r"yaw=inf.*, which is not finite"),
        ("yield from arm.move('go', arm.travel(replace(goal, y=NAN), 0.3))", "which is not finite"),
        ("yield from arm.follow('go', [goal.pose(), Pose((NAN, 0.0, 0.3))])", r"holds a number that is not.*skill\.py"),
        (
            "yield MotionReference(arm.observation.time, 0.05, (goal.pose(), Pose((INF, 0.0, 0.3))), 0.04)",
            "refused: a pose",
        ),
        (
            "yield from arm.fingers('open', NAN)",
            "gave a motion that is refused: .* gripper_width is not a finite number",
        ),
        ("yield 'go'", "gave 'go' instead of a MotionReference or a SkillResult"),
        ("return [3]", "gave 3 instead of a MotionReference or a SkillResult"),
        ("raise SystemExit(3)\n    yield", r"failed by a fault of its own: SystemExit: 3 \(skill\.py, line"),
    ],
)
def test_a_motion_that_is_none_is_refused_before_anything_moves(tmp_path, body, message):
    _with_code(tmp_path, NAN_HEAD + body + "\n")
    with Session("tabletop", objects="red block, mug", skills=tmp_path) as session:
        before = session.scene.robot.position
        report = session.run_program('point_at("red block")')
        assert session.scene.robot.position == pytest.approx(before, abs=1e-3)
    assert report.outcome.value == "failed"
    assert re.search(f"point_at .*{message}", report.message)


def test_a_move_that_yields_nothing_says_what_to_write(tmp_path):
    _with_code(tmp_path, "def move(arm, arguments):\n    arm.move('go', [])\n")
    with Session("tabletop", objects="red block, mug", skills=tmp_path) as session:
        report = session.run_program('point_at("red block")')
    assert "move of the skill point_at gave None; write its motion with `yield from arm.move(...)`" in report.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("base.drive('go', (NAN, 1.0))", r"the point \(nan, 1\.00\) lies outside the building"),
        ("base.turn('go', NAN)", "the skill point_at failed by a fault of its own: .* a number that is not finite"),
        ("base.creep('go', Pose((INF, 0.0, 0.0)), 0.1, 0.1, 0.1)", "a number that is not finite.*skill\\.py, line 6"),
        ("base.pursue('go', 1.0, lambda: ([base.position, (NAN, 1.0)], (NAN, 1.0)))", "point_at gave a motion that is"),
    ],
)
def test_a_base_refuses_targets_that_are_not_finite(tmp_path, body, message):
    code = f"from llm_planner.scene.scene import Pose\n\nNAN, INF = float('nan'), float('inf')\n\n{BASE}{body}\n"
    _with_code(tmp_path, code)
    manifest = (EXAMPLE / "skill.yaml").read_text(encoding="utf-8").replace("timeout:", "robot: mobile\ntimeout:")
    (tmp_path / "point_at" / "skill.yaml").write_text(manifest, encoding="utf-8")
    with Session("rooms", objects="parcel, Anna", skills=tmp_path) as session:
        before = session.scene.robot
        report = session.run_program('point_at("parcel")')
        assert session.scene.robot == before
    assert re.search(message, report.message)


BASE = "def move(base, arguments):\n    yield from "


def _with_code(folder: Path, code: str) -> None:
    shutil.copytree(EXAMPLE, folder / "point_at")
    (folder / "point_at" / "skill.py").write_text(code, encoding="utf-8")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder / "skill.yaml"
