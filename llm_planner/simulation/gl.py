"""OpenGL without a screen: EGL where it works, else OSMesa."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from llm_planner.errors import SimulationError

BACKENDS = ("egl", "osmesa")
# What MuJoCo itself takes; with any other value it cannot be imported at all.
_TAKEN_BY_MUJOCO = frozenset(
    ("", *BACKENDS, "glfw", "glx", "enable", "enabled", "on", "true", "1", "disable", "disabled", "off", "false", "0")
)


def check_gl_setting(setting: str | None = None) -> None:
    """Raises SimulationError for a value of MUJOCO_GL (read from the environment by default) that nothing can use."""
    value = os.environ.get("MUJOCO_GL", "") if setting is None else setting
    if value.lower().strip() not in _TAKEN_BY_MUJOCO:
        raise SimulationError(
            f"the environment variable MUJOCO_GL is {value!r}; set it to one of: {', '.join(BACKENDS)}, or unset it"
        )


class GLContext(Protocol):
    """An off-screen OpenGL context of one thread."""

    def make_current(self) -> None: ...

    def free(self) -> None: ...


def open_gl_context(width: int, height: int, backends: Sequence[str] = BACKENDS) -> GLContext:
    """A current context for pictures of at most `width` x `height`, by the first of `backends` that works.

    The environment variable MUJOCO_GL, where it names one of the backends, decides alone. Raises SimulationError,
    saying why each backend failed and what to install, when none works.
    """
    check_gl_setting()
    asked = os.environ.get("MUJOCO_GL", "").lower().strip()
    reasons = []
    for backend in [asked] if asked in backends else backends:
        try:
            return _open(backend, width, height)
        except Exception as error:  # drivers fail in many ways, all of which mean: try the next
            reasons.append(f"{backend}: {str(error) or type(error).__name__}")
            _forget(backend)
    raise SimulationError(
        "pictures cannot be rendered, no off-screen OpenGL works here ("
        + "; ".join(reasons)
        + "). Install one, for instance: apt-get install libegl1 libgl1-mesa-dri, or: apt-get install libosmesa6"
    )


def _open(backend: str, width: int, height: int) -> GLContext:
    context: GLContext = import_module(f"mujoco.{backend}").GLContext(width, height)
    context.make_current()
    return context


def _forget(backend: str) -> None:
    """PyOpenGL binds to one platform when it is imported; lets the next backend import it afresh."""
    if os.environ.get("PYOPENGL_PLATFORM") == backend:
        del os.environ["PYOPENGL_PLATFORM"]
    for name in [name for name in sys.modules if name.split(".")[0] == "OpenGL" or name.endswith(f".{backend}")]:
        del sys.modules[name]
