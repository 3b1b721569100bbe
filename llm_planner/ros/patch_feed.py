"""Motion patches from the network for the controller and the safety filter, and tunings of steps for the skill server.

Arriving patches are only queued by publisher and source. Each tick offers the newest patches of a bounded number of
sources to the arbiter, one publisher after the other, so a publisher that floods the topic delays only itself.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from llm_planner_interfaces.msg import MotionPatch, MotionTuning
from rclpy.node import Node
from rclpy.subscription import Subscription

from llm_planner.control.constraint_arbiter import AHEAD, ConstraintArbiter, Feasible
from llm_planner.control.envelope import FROM_THE_ROBOT, Envelope, read_envelope
from llm_planner.control.motion_constraints import InvalidParts, MotionConstraints, Patch
from llm_planner.errors import InputError
from llm_planner.ros.base_node import LATCHED, PATCHES, BaseNode
from llm_planner.ros.conversions.correction_messages import tuning_from_msg
from llm_planner.ros.conversions.message_checks import seconds, validated
from llm_planner.ros.conversions.motion_messages import head_from_msg, patch_from_msg
from llm_planner.ros.parameters import ENVELOPE
from llm_planner.ros.sender_identity import backlog, publisher_gid
from llm_planner.scene.zones import Zone
from llm_planner.skills.tuning import Tuning

REFUSALS = 8  # recent refusals that are reported
LETTERS = 300  # [characters] of each
LOGGED_AFTER = 1_000_000_000  # [ns] between log messages
LEAP = 5.0  # [s] a longer gap between ticks means that the robot's clock leapt; patches do not expire by that
AT_ONCE = 100  # messages taken from the topic (100 us each) per callback
A_TICK = 32  # sources whose patch is offered per tick
NEWEST = 4  # patches kept per source; an older one fills in for unreadable parts of a newer one
MOST_WAITING = 1000  # queued sources per publisher
MOST_QUEUES = 64  # publishers with their own queue; all others share one
EPOCH_AHEAD = 86_400_000_000_000  # [ns] largest lead of a publisher's clock over this machine's clock
_Queue = dict[tuple[str, str], list[MotionPatch]]  # by publisher and source
_OTHERS = ""  # queue of publishers without a name or without a queue of their own


def envelope_of(node: BaseNode) -> Envelope:
    """Read the operator's envelope from the file that the node's parameter names; raise InputError."""
    file = node.setting(ENVELOPE.name)
    return read_envelope(Path(file).expanduser()) if file else FROM_THE_ROBOT


class PatchFeed:
    """Constraint arbiter fed by the topic `motion_patch`; its time is that of the robot's states.

    `wall` is this machine's clock [ns since 1970]; epochs are such times, or small numbers. `waiting` takes up to a
    number of waiting messages from a subscription.
    """

    def __init__(
        self,
        node: BaseNode,
        envelope: Envelope,
        frame: str,
        feasible: Feasible,
        wall: Callable[[], int] = time.time_ns,
        waiting: Callable[[Subscription, int], Iterable[tuple[MotionPatch, dict]]] = backlog,
    ) -> None:
        self.arbiter, self._operators = ConstraintArbiter(envelope, feasible), envelope.zones
        self.refused: deque[str] = deque(maxlen=REFUSALS)
        self.heard = self.accepted = self.superseded = self.turned_down = self.missed = 0
        self._node, self._frame, self._wall, self._backlog = node, frame, wall, waiting
        self._logged = 0  # [ns] time of the last log message
        self._now = self._since = math.nan  # [s] the robot's time, and its value at the first tick
        self._waiting: dict[str, _Queue] = {}
        self._numbers: dict[str, int] = {}  # sequence number of the last message, by publisher
        self._topic = node.create_subscription(MotionPatch, "motion_patch", self._on_patch, PATCHES)

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """Message counts; `patches_heard` is the sum of the next four, `patches_missed` never arrived."""
        return (
            ("patches_heard", self.heard),
            ("patches_accepted", self.accepted),
            ("patches_superseded", self.superseded),
            ("patches_refused", self.turned_down),
            ("patches_waiting", sum(len(messages) for queue in self._waiting.values() for messages in queue.values())),
            ("patches_missed", self.missed),
        )

    def at(self, now: float, moving: float = math.inf) -> MotionConstraints:
        """Offer waiting patches and return the constraints in force.

        Args:
            now: The robot's time [s].
            moving: Speed of the robot's reference point [m/s].
        """
        if now > self._now + LEAP:
            self.started_over(now)
        if math.isnan(self._now):
            self._since = now
        self._now = now
        for _ in range(A_TICK):
            if not self._waiting:
                break
            self._offer_next()
        constraints = self.arbiter.at(now, moving)
        for source, what in self.arbiter.left_out():
            self._tell(source, "not heeded in all", what)
        return constraints

    def keep_out(self, zones: tuple[Zone, ...]) -> None:
        """Keep out of `zones` besides those of the operator's envelope, whatever the patches say."""
        self.arbiter.keep_out((*self._operators, *zones))

    def started_over(self, now: float) -> None:
        """Adapt to a leap of the robot's clock to `now` [s]."""
        self._now = self._since = now
        self.arbiter.started_over(now)

    # Arrival

    def _on_patch(self, message: MotionPatch, info: dict) -> None:
        self._file(message, info)
        for one, its in self._backlog(self._topic, AT_ONCE - 1):
            self._file(one, its)

    def _file(self, message: MotionPatch, info: dict) -> None:
        """Queue a patch by publisher and source, or refuse it if it can never be in force."""
        self.heard += 1
        publisher = publisher_gid(info).hex()
        self._count_missed(message.source, publisher, info.get("publication_sequence_number"))
        reason = self._objection(message)
        if reason:
            self._refuse(message.source, reason)
            return
        name = publisher if publisher in self._waiting or len(self._waiting) < MOST_QUEUES else _OTHERS
        queue, key = self._waiting.setdefault(name, {}), (publisher, message.source)
        if key not in queue and len(queue) >= MOST_WAITING:
            self._refuse(message.source, f"patches of {MOST_WAITING} other sources of its publisher wait already")
            return
        messages = queue.setdefault(key, [])
        messages.append(message)
        if len(messages) > NEWEST:
            messages.remove(min(messages, key=self._age))
            self.superseded += 1

    def _objection(self, message: MotionPatch) -> str:
        ahead = message.epoch - self._wall()
        if ahead > EPOCH_AHEAD:
            return f"its epoch {message.epoch} lies {ahead / 1e9:.3g} s ahead of the clock here; a day is the most"
        try:
            head_from_msg(message)
        except InputError as error:
            return str(error)
        return ""

    def _count_missed(self, source: str, publisher: str, number: int | None) -> None:
        """Count missed messages by the publisher's sequence numbers, if the middleware provides them."""
        if number is None:
            return
        last = self._numbers.pop(publisher, number)
        self._numbers[publisher] = max(last, number)
        if len(self._numbers) > MOST_QUEUES:
            del self._numbers[next(iter(self._numbers))]
        gap = number - last - 1
        if gap > 0:
            self.missed += gap
            self._tell(source, "missing", f"{gap} patches of its publisher came faster than they could be taken")

    # Offers to the arbiter

    def _offer_next(self) -> None:
        """Offer the patches of the longest-waiting source of the publisher whose turn it is."""
        name, queue = next(iter(self._waiting.items()))
        del self._waiting[name]
        publisher, source = next(iter(queue))
        messages = sorted(queue.pop((publisher, source)), key=self._age)
        if queue:
            self._waiting[name] = queue  # at the end
        readings = []
        while messages:
            readings.append(patch_from_msg(messages.pop(), self._frame))
            if not readings[-1][1].told:
                break
        self.superseded += len(messages)
        for patch, unread in reversed(readings):
            self._offer(publisher, patch, unread)

    def _offer(self, publisher: str, patch: Patch, unread: InvalidParts) -> None:
        if patch.expires <= self._since and not (patch.says_nothing or unread.told):
            self.superseded += 1  # the topic's history: it had expired before this node started
            return
        answer = self.arbiter.offered(patch, self._now, publisher, unread)
        if not answer.accepted:
            self._refuse(patch.source, answer.reason)
            return
        self.accepted += 1
        if answer.reason:
            self._tell(patch.source, "not heeded in all", answer.reason)

    def _age(self, message: MotionPatch) -> tuple[int, float]:
        """Sort key with the newest last; stamps are clamped to the lead that the arbiter accepts."""
        return message.epoch, min(seconds(message.header.stamp), self._now + AHEAD)

    def _refuse(self, source: str, reason: str) -> None:
        self.turned_down += 1
        self._tell(source, "refused", reason)

    def _tell(self, source: str, how: str, reason: str) -> None:
        told = f"{source[:LETTERS]}: {reason}"[:LETTERS]
        if told not in self.refused:
            self.refused.append(told)
        now = self._wall()
        if not 0 <= now - self._logged < LOGGED_AFTER:  # even a log call that rclpy throttles takes a millisecond
            self._logged = now
            so_far = f"{self.turned_down} refused until now"
            self._node.get_logger().warning(f"a patch of {source[:LETTERS]!r} is {how}: {reason[:LETTERS]} ({so_far})")


class TuningFeed:
    """Newest message of `motion_tuning`: how the person wants the running step done."""

    def __init__(self, node: Node) -> None:
        self._newest = MotionTuning()
        node.create_subscription(MotionTuning, "motion_tuning", validated(node, self._take), LATCHED)

    def of_step(self, asked: MotionTuning) -> Callable[[], Tuning]:
        """Return a function for the step's current tuning: `asked` by its goal, or a newer message for the same step.

        Raises:
            InputError: `asked` is invalid.
        """
        tuning_from_msg(asked)

        def current() -> Tuning:
            new = self._newest
            is_of_step = (new.executor, new.step_id) == (asked.executor, asked.step_id)
            is_newer = is_of_step and seconds(new.header.stamp) >= seconds(asked.header.stamp)
            return tuning_from_msg(new if is_newer else asked)

        return current

    def _take(self, message: MotionTuning) -> None:
        tuning_from_msg(message)
        self._newest = message
