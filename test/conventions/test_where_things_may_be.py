"""Rules of the layout: who may import ROS, what may never be called, what documents may say."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from llm_planner.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "llm_planner"
ROS = re.compile(r"^(rclpy|llm_planner_interfaces|\w+_msgs|builtin_interfaces|rcl_interfaces)(\.|$)")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TEXTS = [
    path
    for folder in ("llm_planner", "llm_planner_interfaces", "launch", "config", "docs", "sim", "skills", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".md", ".yaml", ".toml", ".xml", ".msg", ".srv", ".action", ".txt"}
]


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    return names


def test_only_nodes_import_ros():
    guilty = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in ("ros", "console")
        for name in imports(path)
        if ROS.match(name)
    ]
    assert guilty == []


def test_no_text_is_ever_executed():
    guilty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"exec", "eval", "compile", "__import__"}
    ]
    assert guilty == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
    broken = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert broken == []


def test_the_commands_in_the_readme_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    used = set(re.findall(r"llm-planner ([a-z][a-z-]*)", text))
    assert used <= set(COMMANDS)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE)) <= targets


def test_no_file_names_a_place_on_somebodys_machine():
    place = re.compile(r"(?<![\w.])/(work|home|root|tmp|opt/(?!ros)|Users)/")
    guilty = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in [*TEXTS, *ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "setup.py", ROOT / "pyproject.toml"]
        if (found := place.search(path.read_text(encoding="utf-8")))
    ]
    assert guilty == []


def test_no_code_and_no_skill_names_a_robot():
    """A robot is a folder in config/robots; an edit of the package never adds one."""
    names = re.compile("panda(?!s)|franka|fr3|ur5|xarm|kuka", re.IGNORECASE)  # pandas is a library
    texts = [path for path in TEXTS if path.is_relative_to(PACKAGE) or path.is_relative_to(ROOT / "skills")]
    guilty = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in texts
        if path.suffix in {".py", ".md", ".yaml"} and (found := names.search(path.read_text(encoding="utf-8")))
    ]
    assert texts
    assert guilty == []


def test_launch_and_test_folders_are_no_import_packages():
    assert not (ROOT / "launch" / "__init__.py").exists(), "it would shadow ROS's own launch package"
    assert list((ROOT / "test").rglob("__init__.py")) == []


def test_no_module_is_too_long():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    too_long = {str(path.relative_to(ROOT)): length for path, length in lengths.items() if length > 400}
    assert too_long == {}
