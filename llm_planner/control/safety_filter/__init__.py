"""Between anything that moves the robot and the robot: what is not safe does not pass.

It shares no model and no code with the controller: kinematics, shapes and distances are its own.
"""

from __future__ import annotations
