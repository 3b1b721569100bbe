"""What several files state must agree, and what is imported must be declared."""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import llm_planner
from llm_planner.ros.node_table import ADAPTERS, NODES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "llm_planner"
INTERFACES = ROOT / "llm_planner_interfaces"
BESIDE_ROS = ROOT / "requirements-ros.txt"
ROSDEP = {
    "numpy": "python3-numpy",
    "rich": "python3-rich",
    "scipy": "python3-scipy",
    "yaml": "python3-yaml",
}
PYPI_ONLY = {
    "anyio", "daqp", "httpx", "httpx2", "imageio_ffmpeg", "mcap", "mcap_ros2_support", "mcp", "mcp_types",
    "mujoco", "onnxruntime", "openai", "pillow", "pocketsphinx", "pycollada", "pydantic", "safetensors", "sounddevice",
    "starlette", "trimesh", "uvicorn", "websockets", "zstandard",
}  # fmt: skip
IMPORTED_AS = {"PIL": "pillow", "collada": "pycollada", "mcap_ros2": "mcap_ros2_support"}  # where PyPI has another name
OPTIONAL = {
    "audio_common_msgs", "example_robot_data", "faster_whisper", "gymnasium", "mujoco_menagerie", "PIL", "pyarrow",
    "ray", "torch", "viser",
}  # fmt: skip


def package_xml(folder: Path) -> ElementTree.Element:
    return ElementTree.parse(folder / "package.xml").getroot()


def imported_packages() -> set[str]:
    """Top-level names that the package imports and that are neither Python's nor its own."""
    names = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add(str(node.module).partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"llm_planner", "__future__"}


def test_every_file_states_the_same_version():
    stated = {
        "llm_planner/__init__.py": llm_planner.__version__,
        "package.xml": package_xml(ROOT).findtext("version"),
        "llm_planner_interfaces/package.xml": package_xml(INTERFACES).findtext("version"),
        "llm_planner_interfaces/pyproject.toml": re.search(
            r'^version = "(.+)"$', (INTERFACES / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE
        )[1],
        "CHANGELOG.md": re.search(r"^## (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1],
    }
    assert set(stated.values()) == {llm_planner.__version__}, stated


@pytest.mark.parametrize("folder", [ROOT, INTERFACES], ids=["llm_planner", "llm_planner_interfaces"])
def test_package_xml_is_what_colcon_and_ament_expect(folder):
    package = package_xml(folder)
    assert package.get("format") == "3"
    assert package.findtext("name") == folder.name.replace(ROOT.name, "llm_planner")
    assert package.findtext("license") == "Apache-2.0"
    maintainer = package.find("maintainer")
    assert re.fullmatch(r"[\w.+-]+@[\w-]+(\.[\w-]+)+", maintainer.get("email")), "colcon drops a wrong address silently"


def test_package_xml_parses_with_the_library_that_colcon_uses():
    catkin_pkg = pytest.importorskip("catkin_pkg.package")
    package = catkin_pkg.parse_package(str(ROOT / "package.xml"))
    package.validate()
    assert package.get_build_type() == "ament_python"


def test_everything_imported_is_declared():
    declared = {element.text for element in package_xml(ROOT) if element.tag.endswith("depend")}
    pinned = re.findall(r"^([\w-]+)==", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    beside_ros = re.findall(r"^([\w-]+)==", BESIDE_ROS.read_text(encoding="utf-8"), re.MULTILINE)
    on_pypi = {name.replace("-", "_").lower() for name in {*pinned} & {*beside_ros}}
    missing = [
        name
        for name in {IMPORTED_AS.get(name, name) for name in imported_packages()}
        if ROSDEP.get(name, name) not in declared and name not in OPTIONAL
        if not (name in PYPI_ONLY and name in on_pypi)
    ]
    assert missing == []


def test_versions_beside_an_installed_ros_are_those_of_the_pinned_ones():
    lines, pinned = (
        {line for line in path.read_text(encoding="utf-8").splitlines() if "==" in line}
        for path in (BESIDE_ROS, ROOT / "requirements.txt")
    )
    assert lines <= pinned
    assert not any(line.startswith(("ros-", "numpy", "scipy")) for line in lines), "those are the distribution's"


def test_every_node_of_the_table_is_a_module_with_a_main():
    for entry in (*NODES, *ADAPTERS):
        path = ROOT / Path(*entry.module.split(".")).with_suffix(".py")
        functions = [node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if hasattr(node, "name")]
        assert "main" in functions, path


def test_setup_declares_a_program_for_every_node():
    """setup.py reads the table as text; run the same reading here."""
    source = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    reading = next(node for node in source.body if getattr(node, "name", "") == "node_programs")
    assert "node_table.py" in ast.unparse(reading)
    table = ast.parse((PACKAGE / "ros" / "node_table.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(table) if isinstance(node, ast.Call) and ast.unparse(node.func) == "NodeEntry"]
    assert [ast.literal_eval(call.args[0]) for call in calls] == [entry.name for entry in (*NODES, *ADAPTERS)]


def test_error_codes_of_skills_are_those_of_the_action():
    from llm_planner.skills.contract import SkillErrorCode

    text = (INTERFACES / "action" / "ExecuteSkill.action").read_text(encoding="utf-8")
    constants = {name: int(number) for name, number in re.findall(r"^uint16 ([A-Z_]+)=(\d+)", text, re.MULTILINE)}
    assert constants == {code.name: code.value for code in SkillErrorCode}
