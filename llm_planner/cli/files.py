"""The files named on the command line: checked before anything moves."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from llm_planner.errors import InputError


def check_output(option: str, path: Path, suffix: str, access: Callable[[Path, int], bool] = os.access) -> None:
    """Raises InputError where `path`, given to `option`, cannot become a file that ends in `suffix`.

    `access` says what the person who runs this may do, as `os.access`.
    """
    folder = path.parent
    if path.suffix.lower() != suffix:
        raise InputError(f"{option} writes a {suffix} file, but {path} does not end in {suffix}")
    if not folder.is_dir():
        raise InputError(f"{option}: there is no folder {folder}; make it first, or name another")
    if path.exists() and not path.is_file():
        raise InputError(f"{option}: {path} is no regular file; name another")
    if not access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"{option}: {path} cannot be written, permission is denied; name another")


def check_folder(option: str, folder: Path, access: Callable[[Path, int], bool] = os.access) -> None:
    """Raises InputError where nothing can be written into `folder`, given to `option`, which need not be there yet."""
    there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not there.is_dir():
        raise InputError(f"{option}: {there} is no folder; name another")
    if not access(there, os.W_OK | os.X_OK):
        raise InputError(f"{option}: {folder} cannot be written, permission is denied; name another")


def read_program(path: Path) -> str:
    """The text of a program; raises InputError that says why there is none."""
    from llm_planner.program.limits import MAX_PROGRAM_CHARACTERS

    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device may never end
            raise InputError(f"the program {path} cannot be read: it is no regular file")
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_PROGRAM_CHARACTERS + 1)
    except UnicodeDecodeError as error:
        raise InputError(f"the program {path} cannot be read: it is not UTF-8 text ({error.reason})") from error
    except (OSError, ValueError) as error:
        raise InputError(f"the program {path} cannot be read: {error}") from error
    if len(text) > MAX_PROGRAM_CHARACTERS:
        raise InputError(f"the program {path} is longer than {MAX_PROGRAM_CHARACTERS} characters: make it shorter")
    return text
