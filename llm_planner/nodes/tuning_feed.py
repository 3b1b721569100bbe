"""How the person wants the step under way to be done: as its goal said, or as was said since."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner_interfaces.msg import MotionTuning
from rclpy.node import Node

from llm_planner.errors import InputError
from llm_planner.nodes.correction_messages import tuning_from_msg
from llm_planner.nodes.shell import LATCHED
from llm_planner.nodes.stamps import seconds
from llm_planner.skills.tuning import Tuning


class TuningFeed:
    """Hears `motion_tuning`."""

    def __init__(self, node: Node) -> None:
        self._newest = MotionTuning()
        self._log = node.get_logger()
        node.create_subscription(MotionTuning, "motion_tuning", self._on_tuning, LATCHED)

    def of_step(self, asked: MotionTuning) -> Callable[[], Tuning]:
        """What is wanted of a step at any moment, whose goal has `asked` for so much, or InputError."""
        tuning_from_msg(asked)
        return lambda: tuning_from_msg(self._newest if _follows(self._newest, asked) else asked)

    def _on_tuning(self, message: MotionTuning) -> None:
        try:
            tuning_from_msg(message)
        except InputError as error:
            self._log.error(str(error), throttle_duration_sec=5.0)
            return
        self._newest = message


def _follows(new: MotionTuning, old: MotionTuning) -> bool:
    """Whether it is of the same step, not of one that another plan calls alike, and newer."""
    same = (new.executor, new.step_id) == (old.executor, old.step_id)
    return same and seconds(new.header.stamp) >= seconds(old.header.stamp)
