"""Simulated time without a callback for each message of /clock, which would wake every node a hundred times a second.

rclpy's time source subscribes to /clock. Here the executor does not wait for that subscription; DDS keeps the newest
message, and the node takes it when it asks for the time.
"""

from __future__ import annotations

from collections.abc import Callable

from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.subscription import Subscription
from rclpy.time_source import CLOCK_TOPIC as CLOCK_TOPIC


class Unattended(CallbackGroup):
    """Group whose subscriptions no executor waits for."""

    def can_execute(self, entity: object) -> bool:
        return False

    def beginning_execution(self, entity: object) -> bool:
        return False

    def ending_execution(self, entity: object) -> None:
        pass


class ClockTopic:
    """Subscription to /clock that is read on demand."""

    def __init__(
        self,
        create_subscription: Callable[..., Subscription],
        msg_type: type,
        on_time: Callable[[object], None],
        qos_profile: object,
    ) -> None:
        """Subscribe with rclpy's `create_subscription`; `on_time(message)` sets the clock."""
        self._on_time = on_time
        self.subscription = create_subscription(
            msg_type, CLOCK_TOPIC, on_time, qos_profile, callback_group=Unattended()
        )

    def read(self) -> None:
        """Set the clock to the newest message, if there is a new one."""
        topic = self.subscription.handle
        try:
            with topic:
                taken = topic.take_message(self.subscription.msg_type, False)
        except InvalidHandle:  # use_sim_time was switched off
            return
        if taken is not None:
            self._on_time(taken[0])
