"""Off-screen OpenGL: EGL where it works, otherwise OSMesa."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from llm_planner.errors import SimulationError

BACKENDS = ("egl", "osmesa")
# Values that MuJoCo accepts; its import fails with any other.
_TAKEN_BY_MUJOCO = frozenset(
    ("", *BACKENDS, "glfw", "glx", "enable", "enabled", "on", "true", "1", "disable", "disabled", "off", "false", "0")
)


def check_gl_setting(setting: str | None = None) -> None:
    """Check the value of MUJOCO_GL, by default from the environment. Raises SimulationError if MuJoCo rejects it."""
    value = os.environ.get("MUJOCO_GL", "") if setting is None else setting
    if value.lower().strip() not in _TAKEN_BY_MUJOCO:
        raise SimulationError(
            f"the environment variable MUJOCO_GL is {value!r}; set it to one of: {', '.join(BACKENDS)}, or unset it"
        )


class GLContext(Protocol):
    """Off-screen OpenGL context of one thread."""

    def make_current(self) -> None: ...

    def free(self) -> None: ...


def open_gl_context(width: int, height: int, backends: Sequence[str] = BACKENDS) -> GLContext:
    """Open and activate a context for images of at most `width` x `height` pixels, with the first backend that works.

    If the environment variable MUJOCO_GL names one of the backends, only that one is tried. Raises SimulationError with
    the reasons and what to install if none works.
    """
    check_gl_setting()
    asked = os.environ.get("MUJOCO_GL", "").lower().strip()
    reasons = []
    for backend in [asked] if asked in backends else backends:
        try:
            return _open(backend, width, height)
        except Exception as error:  # drivers fail in many ways
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
    """Unload PyOpenGL, which binds to one platform on import, so that the next backend can import it."""
    if os.environ.get("PYOPENGL_PLATFORM") == backend:
        del os.environ["PYOPENGL_PLATFORM"]
    for name in [name for name in sys.modules if name.split(".")[0] == "OpenGL" or name.endswith(f".{backend}")]:
        del sys.modules[name]
