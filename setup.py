"""Builds the package for colcon (ament_python) and for pip alike."""

import ast
from pathlib import Path

from setuptools import Extension, find_packages, setup

ROOT = Path(__file__).parent.resolve()
NAME = "llm_planner"


def version() -> str:
    """The version that `llm_planner/__init__.py` states, read without importing the package."""
    for statement in ast.parse((ROOT / NAME / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == "__version__":
            return ast.literal_eval(statement.value)
    raise RuntimeError(f"{NAME}/__init__.py states no __version__")


def node_programs() -> list[str]:
    """One program a node, named in the table that launch files and `llm-planner up` read."""
    table = ast.parse((ROOT / NAME / "ros" / "node_table.py").read_text(encoding="utf-8"))
    programs = []
    for call in ast.walk(table):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "NodeEntry":
            name = ast.literal_eval(call.args[0])
            given = [ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg == "package"]
            programs.append(f"{name} = {(given or [f'{NAME}.ros.nodes'])[0]}.{name}_node:main")
    return programs


def shared_files(folder: str) -> list[tuple[str, list[str]]]:
    """The files under a top-level `folder` of data, to be installed under share/llm_planner/."""
    files = [path.relative_to(ROOT) for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    parents = sorted({path.parent for path in files if "__pycache__" not in path.parts})
    return [(f"share/{NAME}/{parent}", [str(path) for path in files if path.parent == parent]) for parent in parents]


setup(
    name=NAME,
    version=version(),
    description="Command and correct a robot in plain language, and prove what it will and will not do.",
    license="Apache-2.0",
    maintainer="llm_planner maintainers",
    maintainer_email="llm-planner@example.com",
    python_requires=">=3.10",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    ext_modules=[
        Extension(
            f"{NAME}.control.safety_filter.kernel",
            [f"{NAME}/control/safety_filter/kernel.cpp"],
            depends=[f"{NAME}/control/safety_filter/model.hpp"],
            language="c++",
            extra_compile_args=["-std=c++17", "-O2"],
        )
    ],
    package_data={"": ["py.typed", "*.pyi", "*.md", "weights/*", "written/*.txt", "*.jsgf", "page/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        ("bin", ["bin/llm-planner"]),  # colcon puts bin/ on the path; pip replaces the file by its own program
        *(entry for folder in ("config", "launch", "sim", "skills") for entry in shared_files(folder)),
    ],
    install_requires=[
        "daqp>=0.8",
        "imageio-ffmpeg",
        "mujoco>=3.3",
        "numpy>=1.26",
        "openai>=2.0",
        "pycollada>=0.9",
        "pydantic>=2.10",
        "pyyaml>=6",
        "rich>=13",
        "safetensors>=0.5",
        "scipy>=1.11",
        "setuptools",
        "trimesh>=4.6",
    ],
    extras_require={
        "console": ["pillow>=10", "viser>=1.1", "websockets>=13.1"],
        "learn": ["pyarrow>=20", "torch>=2.5"],
        "gym": ["gymnasium>=1.0"],
        "looks": ["example-robot-data>=6"],
        "mcp": ["mcp>=2.3,<3", "uvicorn>=0.31"],
        "menagerie": ["mujoco-menagerie>=2026.9"],
        "ray": ["ray>=2.50"],
        "record": ["lz4>=4", "mcap>=1.6", "mcap-ros2-support>=0.5", "pillow>=10", "zstandard>=0.22"],
        "test": ["pytest"],  # lets colcon test run pytest
        "ros": [
            "ros-jazzy-action-msgs",
            "ros-jazzy-builtin-interfaces",
            "ros-jazzy-diagnostic-msgs",
            "ros-jazzy-geometry-msgs",
            "ros-jazzy-nav-msgs",
            "ros-jazzy-rcl-interfaces",
            "ros-jazzy-rclpy",
            "ros-jazzy-rosgraph-msgs",
            "ros-jazzy-sensor-msgs",
            "ros-jazzy-std-msgs",
            "ros-jazzy-trajectory-msgs",
            "ros-jazzy-visualization-msgs",
        ],
        "speech": ["onnxruntime>=1.20", "pocketsphinx>=5", "silero-vad>=6", "sounddevice>=0.5"],
        "whisper": ["faster-whisper>=1.1"],
    },
    zip_safe=False,
    entry_points={"console_scripts": [f"llm-planner = {NAME}.cli.main:main", *node_programs()]},
)
