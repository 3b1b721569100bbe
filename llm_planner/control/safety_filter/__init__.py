"""Safety filter between every source of motion and the robot; it passes only motions that it proves safe.

Its kinematics, shapes and distances are independent of those of the controller.
"""

from __future__ import annotations
