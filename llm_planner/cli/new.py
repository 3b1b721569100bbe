"""`llm-planner new KIND NAME` and `schema KIND`: write a runnable skill, world or robot, and describe such files.

Editors complete and check the files by their JSON Schema.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError
from llm_planner.share import share_folder

SKILL_YAML = """\
name: {name}
description: {words} an object.  # say what it does: a large model chooses the skill by this sentence
timeout: 20.0                # [s] until it counts as failed
parameters:
  - name: object
    type: object             # or number, point, place, direction, side (see docs/concepts/skills.md)
    description: what to {lower}
preconditions: []            # e.g. [{{atom: empty(), otherwise: "the gripper holds the {{held}}; put it down first"}}]
effects: []                  # e.g. [held(object)]: what the scene shows once it has succeeded
"""
SKILL_CODE = '''\
"""{words} an object.

The motion is an example: the hand points at the object from above. Write your own in `move` and `plan`.
"""

from llm_planner import Arm, Leg, MotionPath, Script, SkillCall
from llm_planner.skills.paths import hover_over
from llm_planner.skills.scripts.basic import hover


def move(arm: Arm, arguments: dict) -> Script:
    """Each `yield from` is one movement; the controller keeps every limit. Units: m, rad."""
    goal = hover(arm.find(arguments["object"]))  # a HandPose: x, y, z of the fingertips and the yaw of the hand
    yield from arm.move("approach", arm.travel(goal, arm.cruise_height()))
    yield from arm.move("point", [Leg(goal.raised(goal.z + 0.03)), Leg(goal)])


def plan(call: SkillCall) -> MotionPath | None:
    """The path that rehearsal, rules and search go by; None where it cannot be foreseen."""
    return hover_over(call)
'''
WORLD_YAML = """\
robot: arm                   # or another's name; or mobile, with rooms, doors and start (docs/tutorials/own_world.md)
objects:                     # x, y [m] and yaw [rad] in the base frame of the arm
  - {name: red block, x: 0.45, y: 0.15}
  - {name: blue block, x: 0.45, y: -0.05, yaw: 0.4}
  - {name: green bowl, x: 0.50, y: -0.25}
"""
NAME = re.compile(r"[a-z][a-z0-9_]*")
FORMATS = {  # kind: module and class of its model, and an example in the repository, or a folder of them
    "skill": ("llm_planner.skills.manifest", "SkillFile", "examples/skills/point_at/skill.yaml"),
    "world": ("llm_planner.simulation.worlds", "WorldFile", "examples/worlds/small_office.yaml"),
    "robot": ("llm_planner.robots.arm_entries", "ArmEntry", "config/robots"),
    "envelope": ("llm_planner.control.envelope", "EnvelopeFile", "config/envelope.yaml"),
    "privileges": ("llm_planner.plans.privileges.policy", "PrivilegesFile", "config/privileges.yaml"),
}


def add_new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", help="skill, world or robot")
    parser.add_argument("name", help="lower case letters, digits and _, e.g. wave_at")
    parser.add_argument("--folder", type=Path, help="where it is written (default: my_skills, my_worlds or my_robots)")
    parser.add_argument(
        "--urdf", metavar="FILE", help="robot: its URDF or MJCF, package://PACKAGE/... or menagerie:NAME"
    )
    parser.add_argument("--base", default="", metavar="LINK", help="robot: link that stands on the table (found)")
    parser.add_argument(
        "--gripper", default="", metavar="NAME", help="robot: what it holds with, or a .yaml file (default_hand)"
    )
    parser.add_argument("--tool", default="", metavar="LINK", help="robot: link that takes the hand (found)")
    parser.add_argument(
        "--mounting", type=float, nargs=6, default=(0.0,) * 6, metavar=("X", "Y", "Z", "ROLL", "PITCH", "YAW"),
        help="robot: pose of its base in the table's frame [m, rad]; for a pedestal, a wall or a ceiling",
    )  # fmt: skip


def run_new(args: argparse.Namespace) -> int:
    """Write the files without overwriting any, and print how to try them."""
    if not NAME.fullmatch(args.name):
        raise InputError(f"{args.name!r} is not a valid name; use lower case letters, digits and _, e.g. wave_at")
    if args.kind == "skill":
        _check_skill_name(args.name)
        folder = args.folder or Path("my_skills")
        words = args.name.replace("_", " ").strip()
        manifest = SKILL_YAML.format(name=args.name, words=words.capitalize(), lower=words)
        code = SKILL_CODE.replace("{words}", words.capitalize(), 1)
        _write(folder / args.name, {"skill.yaml": manifest, "skill.py": code})
        print(f"wrote {folder / args.name}: skill.yaml says what it is, skill.py how it moves. Check and try it:")
        print(f"  llm-planner skills --skills {folder} --check")
        print(f"  echo '{args.name}(\"red block\")' > try.txt")
        print(f"  llm-planner run --skills {folder} --program try.txt --objects 'red block, mug' --picture try.png")
    elif args.kind == "world":
        folder = args.folder or Path("my_worlds")
        _write(folder, {f"{args.name}.yaml": WORLD_YAML})
        print(f"wrote {folder / args.name}.yaml. Try it:")
        print(f"  llm-planner run --world {folder / args.name}.yaml --picture try.png 'put the red block in the bowl'")
    elif args.kind == "robot":
        _write_robot(args)
    else:
        raise InputError(f"llm-planner new makes a skill, a world or a robot, not {args.kind!r}")
    return 0


def _check_skill_name(name: str) -> None:
    """Raise InputError for the name of a shipped skill, which it would replace, or one that programs cannot call."""
    from llm_planner.programs.functions import skill_name_problem

    if problem := skill_name_problem(name):
        raise InputError(problem)
    if (share_folder("skills") / name).is_dir():
        raise InputError(
            f"{name} is a skill that ships, which yours would replace; choose another name, e.g. my_{name}"
        )


def _write_robot(args: argparse.Namespace) -> None:
    """Describe the arm of a URDF, write its folder and say what was chosen."""
    from llm_planner.cli.new_robot import MENAGERIE, ROBOT_FILE, describe, fetched_model

    if args.urdf is None:
        raise InputError(f"name the URDF of the robot: llm-planner new robot {args.name} --urdf FILE")
    folder = (args.folder or Path("my_robots")) / args.name
    _check_free(folder, [ROBOT_FILE])
    source = str(fetched_model(args.urdf)) if args.urdf.startswith(MENAGERIE) else args.urdf
    described = describe(source, folder, args.base, args.tool, args.gripper, args.mounting)
    _write(folder, described.files)
    print(f"wrote {folder / ROBOT_FILE}")
    for note in described.notes:
        print(f"  {note}")
    shown = folder if "/" in str(folder) else f"./{folder}"
    print("Read the file and correct what you know better. Then:")
    print(f"  llm-planner robot check {shown} --picture {args.name}.png")
    print(f"  llm-planner run --robot {shown} --objects 'red block, green bowl' 'put the red block in the bowl'")


def _write(folder: Path, files: Mapping[str, str]) -> None:
    _check_free(folder, files)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}; choose another with --folder") from error


def _check_free(folder: Path, names: Iterable[str]) -> None:
    taken = [folder / name for name in names if (folder / name).exists()]
    if taken:
        raise InputError(f"{taken[0]} is there already; choose another name, or move it away")


def add_schema_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=FORMATS, help="kind of file")


def run_schema(args: argparse.Namespace) -> int:
    print(json.dumps(schema(args.kind), indent=2))
    return 0


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file, a key of `FORMATS`; keys may be left out, but not be null."""
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

    class WithoutNull(GenerateJsonSchema):
        def nullable_schema(self, schema: Any) -> JsonSchemaValue:
            return self.generate_inner(schema["schema"])

    module, name, _ = FORMATS[kind]
    model = getattr(importlib.import_module(module), name)
    return dict(model.model_json_schema(schema_generator=WithoutNull))
