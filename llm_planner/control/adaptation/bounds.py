"""How far the operator lets adaptation go."""

from __future__ import annotations

from dataclasses import dataclass, fields

from llm_planner.errors import InputError


@dataclass(frozen=True)
class AdaptationBounds:
    """The largest deviations from the model that are believed, and the largest shift of a commanded joint.

    What is worse than this is no longer made up for, and still said.
    """

    payload: float = 3.0  # [kg]; the Panda's own limit
    reach: float = 0.15  # of the payload's centre from the gripper point [m]
    viscous: float = 15.0  # [Nm s/rad]
    coulomb: float = 8.0  # [Nm]
    gain: float = 0.3  # a share of the torque told, either way
    shift: float = 0.01  # of a commanded joint [rad]

    def __post_init__(self) -> None:
        for item in fields(self):
            if not getattr(self, item.name) > 0.0:
                raise InputError(
                    f"the bound of the adaptation's {item.name} must be above 0, not {getattr(self, item.name)}"
                )
        if self.gain >= 1.0:
            raise InputError(f"the bound of the adaptation's gain is a share below 1, not {self.gain}")
