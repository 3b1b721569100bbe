"""Choice of the trajectories that become goals of an action: few while they continue each other, at once if not."""

from __future__ import annotations

import numpy as np

from llm_planner.robots.motion import JointTrajectory, sample

SAME = 1e-4  # [rad, m] deviation up to which two trajectories count as one
LOOKS = 50  # times at which two trajectories are compared


class GoalPacing:
    """Decides which trajectory a controller gets, of those that follow each other a hundred times a second.

    Each of them continues to rest, so the robot may follow an older one for a while: it is one that was sent.
    """

    def __init__(self, period: float, urgent: float) -> None:
        """Send at most one trajectory every `period` [s].

        One that deviates by more than `urgent` [rad, m] within two periods is sent at once.
        """
        self._period, self._urgent = period, urgent
        self._sent: JointTrajectory | None = None

    def wants(self, plan: JointTrajectory) -> bool:
        """Return whether `plan` should be sent now, and count it as sent if so."""
        chosen = np.ptp(plan.qpos, axis=0).max() > SAME if self._sent is None else self._is_due(plan, self._sent)
        if chosen:
            self._sent = plan
        return bool(chosen)

    def forget(self) -> None:
        """Nothing that was sent is followed any more; the next trajectory that moves is sent."""
        self._sent = None

    def _is_due(self, plan: JointTrajectory, sent: JointTrajectory) -> bool:
        begins = plan.start_time
        ends = begins + plan.dt * (len(plan.qpos) - 1)
        times = np.linspace(begins, max(ends, begins + 2 * self._period), LOOKS)
        apart = np.abs(_at(plan, times) - _at(sent, times)).max(axis=1)
        if apart.max() <= SAME:
            return False
        return (
            begins >= sent.start_time + self._period or apart[times <= begins + 2 * self._period].max() > self._urgent
        )


def _at(plan: JointTrajectory, times: np.ndarray) -> np.ndarray:
    return sample(plan, times)[0]
