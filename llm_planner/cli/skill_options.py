"""Which skills a command or a system uses, and what moves the robot."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_planner.skills.camera import Camera
    from llm_planner.skills.library import SkillLibrary


def add_skill_options(parser: argparse.ArgumentParser) -> None:
    add_library_argument(parser)
    parser.add_argument("--scripted", action="store_true", help="let scripts move, also where a policy was learned")
    parser.add_argument("--camera", action="store_true", help="let skills see pictures: offers pick_by_sight")


def requested_camera(args: argparse.Namespace) -> Camera:
    """The simulated camera, if it is asked for; OpenGL is opened when a skill first looks."""
    from llm_planner.simulation.scene_camera import SceneCamera
    from llm_planner.skills.camera import blind

    return SceneCamera() if args.camera else blind


def requested_library(args: argparse.Namespace, moves: bool = True) -> SkillLibrary:
    """The skills that the options name; where nothing `moves` by them, policies are not opened."""
    from llm_planner.skills.library import load_skills

    return load_skills(args.skills, learned=moves and not args.scripted, camera=requested_camera(args))


def add_library_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--skills", type=Path, metavar="FOLDER", help="your own library (default: the one that ships)")
