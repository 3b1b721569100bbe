"""Folders of arms, `config/robots/NAME` or a user's own, and the arm that is meant where none is named."""

from __future__ import annotations

import re
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.share import share_folder

ROBOT_FILE = "robot.yaml"
DEFAULT = "arm"  # the name of the default arm in parameters and scenes


def shipped_names() -> list[str]:
    """Return the names of the arms that ship."""
    return sorted(path.parent.name for path in _shipped().glob(f"*/{ROBOT_FILE}"))


def mobile_names() -> list[str]:
    """Return the names of the arms on a mobile base that ship."""
    return [name for name in shipped_names() if has_key(_shipped() / name / ROBOT_FILE, "arm")]


def has_key(path: Path, key: str) -> bool:
    """Return whether a `robot.yaml` has a key at its top level, without reading it as YAML."""
    return re.search(rf"^{key}\s*:", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def default_name() -> str:
    """Return the name of the arm that `arm` means, which the file `config/robots/default` holds."""
    return (_shipped() / "default").read_text(encoding="utf-8").strip()


def listed() -> str:
    """Return the arms as help texts list them."""
    default = default_name()
    return ", ".join(f"{name} (default)" if name == default else name for name in shipped_names())


def robot_folder(name: str) -> Path:
    """Return the folder of an arm: its path or that of its robot.yaml, or the name of one that ships.

    Raises:
        InputError: There is no robot of this name; the message lists them.
    """
    if "/" in name:
        path = Path(name).expanduser().absolute()
        return path.parent if path.name == ROBOT_FILE else path
    folder = _shipped() / (default_name() if name == DEFAULT else name)
    if not (folder / ROBOT_FILE).is_file():
        raise InputError(
            f"there is no robot {name!r}; the robots are: {', '.join(shipped_names())}, and folders with a "
            f"{ROBOT_FILE}, such as ./my_robots/mine"
        )
    return folder


def folder_name(folder: Path) -> str:
    """Return the name by which a folder is found again."""
    return folder.name if folder.parent == _shipped() else str(folder.absolute())


def _shipped() -> Path:
    return share_folder("config") / "robots"
