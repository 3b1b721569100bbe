"""Publisher of the zones of rules as a keep-out mask, which nav2's costmaps read (`nav2_costmap_2d::KeepoutFilter`)."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
from nav_msgs.msg import OccupancyGrid

from llm_planner.ros.base_node import LATCHED, BaseNode
from llm_planner.ros.conversions.message_checks import header
from llm_planner.ros.conversions.robot_messages import MAP_FRAME
from llm_planner.ros.message_types import required_type
from llm_planner.scene.scene import Scene
from llm_planner.scene.zones import Zone
from llm_planner.skills.keepout_mask import KeepoutMask, gaps_of, keepout_mask

INFO, MASK = "keepout_filter_info", "keepout_filter_mask"
KEEPOUT, CLOSED = 0, 100  # type of the filter; value of a cell that is closed
PERIOD = 0.2  # [s, wall time] at least between two masks: zones follow people who walk


class KeepoutFeed:
    """Publishes the mask whenever it changes, latched, as nav2's map server publishes the mask of a file."""

    def __init__(self, node: BaseNode) -> None:
        """Raise InputError if nav2_msgs is not installed."""
        info = required_type("nav2_msgs.msg", "CostmapFilterInfo", "the parameter navigate_action needs")
        self._node, self._info_type = node, info
        self._info = node.create_lifecycle_publisher(info, INFO, LATCHED)
        self._mask = node.create_lifecycle_publisher(OccupancyGrid, MASK, LATCHED)
        self._told: object = None
        self._at = -math.inf  # [s]

    def tell(self, scene: Scene, zones: Sequence[Zone]) -> None:
        """Publish the mask of `zones`, in the map frame, for the building and the base of `scene`.

        Call it with every scene: a mask that comes soon after another one waits for the next call.
        """
        now = time.monotonic()
        if scene.building is None or scene.robot is None or not self._node.is_active or now < self._at + PERIOD:
            return
        gaps = gaps_of(zones, scene.robot.position[:2])
        if (scene.building, gaps) == self._told:
            return
        first, self._told, self._at = self._told is None, (scene.building, gaps), now
        if first:
            topic = self._node.resolve_topic_name(MASK)
            about = self._info_type(type=KEEPOUT, filter_mask_topic=topic, base=0.0, multiplier=1.0)
            about.header = header(self._node.now(), MAP_FRAME)
            self._info.publish(about)
        self._mask.publish(mask_to_msg(keepout_mask(scene.building, gaps), self._node.now()))


def mask_to_msg(mask: KeepoutMask, now: float) -> OccupancyGrid:
    """Return the mask as a grid of the cells 0, free, and 100, closed; `now` is its stamp [s]."""
    message = OccupancyGrid(header=header(now, MAP_FRAME))
    about = message.info
    about.map_load_time, about.resolution = message.header.stamp, mask.resolution
    about.height, about.width = mask.closed.shape
    about.origin.position.x, about.origin.position.y = mask.origin
    about.origin.orientation.w = 1.0
    message.data.frombytes((CLOSED * mask.closed).astype(np.int8).tobytes())
    return message
