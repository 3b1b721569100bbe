"""Safety filter between every source of motion and the robot; it passes only motions that it proves safe.

Its kinematics, shapes and distances are independent of those of the controller.
"""

from __future__ import annotations

from llm_planner.errors import InputError

try:
    from llm_planner.control.safety_filter.kernel import Ahead, Model  # noqa: F401
except ImportError as error:
    raise InputError(
        "the compiled part of the safety filter is missing, or older than this code; build it with: make setup   "
        "(or, in the environment in use: python setup.py build_ext --inplace)"
    ) from error
