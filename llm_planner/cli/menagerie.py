"""Arms of MuJoCo Menagerie: `--robot menagerie:NAME` downloads a model once, and describes it as `new robot` does."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.strict_yaml import did_you_mean

PREFIX = "menagerie:"


def fetched_robot(robot: str, cache: Path | None = None) -> str:
    """Return the name or folder of a robot for `arm_model`; one of Menagerie is put into the cache first.

    Args:
        robot: Name or folder of an arm, or `menagerie:NAME` or `menagerie:NAME/MODEL`.
        cache: Folder of the cache; by default that of the user.

    Raises:
        InputError: There is no such model, it cannot be downloaded, or it is no arm that can be described.
    """
    if not robot.startswith(PREFIX):
        return robot
    from llm_planner.cli.new_robot import ROBOT_FILE, describe

    place = cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llm_planner" / "robots"
    folder = place / robot.removeprefix(PREFIX).replace("/", "_")
    if not (folder / ROBOT_FILE).is_file():
        model = fetched_model(robot)
        print(f"{robot} is described for the first use, which takes a minute; it is kept in {folder}", file=sys.stderr)
        try:
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=place) as temporary:
                made = Path(temporary) / folder.name
                described = describe(str(model), made)
                for name, text in described.files.items():
                    (made / name).write_text(text, encoding="utf-8")
                made.rename(folder)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror}; set XDG_CACHE_HOME to a folder") from error
    return str(folder)


def fetched_model(robot: str) -> Path:
    """Return the MJCF of `menagerie:NAME` or `menagerie:NAME/MODEL`, downloaded on first use; see `fetched_robot`."""
    from llm_planner.robots.robot_folders import listed

    try:
        import mujoco_menagerie
    except ImportError as error:
        raise InputError(
            f"{robot} is fetched by a package that is not installed: pip install 'llm_planner[menagerie]'"
        ) from error
    name, _, model = robot.removeprefix(PREFIX).partition("/")
    try:
        found = mujoco_menagerie.get(name)
        return Path(found.xml(model or found.default_model))
    except mujoco_menagerie.UnknownRobotError as error:
        arms = [str(arm.name) for arm in mujoco_menagerie.robots("arm")]
        hint = did_you_mean(name, arms)
        raise InputError(f"MuJoCo Menagerie has no robot {name!r}; its arms are: {', '.join(arms)}{hint}") from error
    except mujoco_menagerie.DownloadError as error:
        raise InputError(
            f"{robot} cannot be downloaded ({error}); connect to the network for the first use, or set MENAGERIE_ROOT "
            f"to a copy of the repository mujoco_menagerie; these need no network: {listed()}"
        ) from error
    except mujoco_menagerie.MenagerieError as error:
        raise InputError(f"{robot}: {error}") from error
