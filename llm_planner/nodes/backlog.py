"""What waits in a topic behind the message that has just come, taken in one callback."""

from __future__ import annotations

from collections.abc import Iterator

from rclpy.subscription import MessageInfo, Subscription


def backlog(subscription: Subscription, most: int) -> Iterator[tuple[object, MessageInfo]]:
    """At most so many messages, the oldest first, each with what the middleware says of it."""
    topic = subscription.handle
    with topic:
        for _ in range(most):
            taken = topic.take_message(subscription.msg_type, False)
            if taken is None:
                return
            yield taken
