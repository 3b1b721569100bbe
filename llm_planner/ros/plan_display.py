"""What the planner shows people: markers for RViz and Foxglove (`markers`), and the forecast of each plan (`forecast`).

Markers show what the robot sees, plans and keeps out of. They are computed while somebody listens, on every change,
and latched. Forecasts run in threads of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from llm_planner_interfaces.msg import PlanStatus
from rclpy.task import Future
from std_msgs.msg import String

from llm_planner.errors import LlmPlannerError
from llm_planner.planning.planned import Planned
from llm_planner.planning.report import forecast_json, foretold
from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.plans.trace import drawn_ways
from llm_planner.ros.base_node import LATCHED, BaseNode
from llm_planner.ros.commands import UNDER_WAY
from llm_planner.ros.conversions.motion_messages import speed_limit_from_msg, zones_from_msg
from llm_planner.ros.conversions.plan_messages import steps_from_msg
from llm_planner.ros.message_types import optional_message
from llm_planner.ros.scene_feed import SceneFeed
from llm_planner.ros.waiting import Worker
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.skills.library import SkillLibrary

TOPIC = "markers"
PERIOD = 0.25  # [s, wall time] between two looks for changes
AHEAD = (StepStatus.RUNNING, StepStatus.PENDING)
Way = tuple[PlanStep, tuple[Vector3, ...]]


class MarkerFeed:
    """Publishes the markers; does nothing where visualization_msgs is not installed.

    `status()` is the newest plan status.
    """

    def __init__(
        self,
        node: BaseNode,
        scenes: SceneFeed,
        status: Callable[[], PlanStatus],
        library: SkillLibrary,
        viewpoint: Viewpoint,
    ) -> None:
        self._node, self._scenes, self._status = node, scenes, status
        self._library, self._viewpoint = library, viewpoint
        self._steps: tuple[PlanStep, ...] = ()  # whose ways are shown or being computed
        self._ways: tuple[Way, ...] = ()
        self._shown: object = None
        kind = optional_message(node, "visualization_msgs", "MarkerArray")
        self._topic = None if kind is None else node.create_lifecycle_publisher(kind, TOPIC, LATCHED)
        self._worker = Worker(node)
        node.every(PERIOD, self._on_look)

    def _on_look(self) -> None:
        """Publish the markers if somebody listens and something has changed."""
        watched = self._node.is_active and self._topic is not None and self._topic.get_subscription_count() > 0
        if not watched or self._scenes.scene is None:
            self._shown = None
            return
        try:
            self._forecast()
            self._show(self._scenes.scene)
        except LlmPlannerError as error:
            self._node.get_logger().warning(f"no markers: {error}", throttle_duration_sec=5.0)

    def _forecast(self) -> None:
        """Start to compute the ways of the steps ahead if these have changed."""
        status, scene = self._status(), self._scenes.scene
        ahead = tuple(step for step in steps_from_msg(status.steps) if step.status in AHEAD)
        if status.state not in UNDER_WAY:
            ahead = ()
        if _calls(ahead) == _calls(self._steps):
            return
        self._steps, self._ways = ahead, ()
        origins = {name: (at.x, at.y, at.z) for name, at in zip(status.things, status.origins, strict=False)}
        skills = {skill.name: skill for skill in self._library.for_scene(scene).signatures}

        def ways() -> tuple[Way, ...]:
            return tuple(drawn_ways(ahead, skills, scene, origins, self._viewpoint))

        self._worker.do(ways).add_done_callback(lambda done: self._on_ways(ahead, done))

    def _on_ways(self, steps: tuple[PlanStep, ...], done: Future) -> None:
        if steps is self._steps and done.exception() is None:
            self._ways = done.result()

    def _show(self, scene: Scene) -> None:
        from llm_planner.ros.conversions import marker_messages as convert  # needs visualization_msgs

        constraints, rules = self._scenes.constraints, self._rules()
        robot = scene.robot.position if scene.building and scene.robot else None
        shown = (scene.objects, scene.held, scene.building, robot, constraints, self._ways, rules)
        if shown == self._shown:
            return
        self._shown = shown
        running = [points for step, points in self._ways if step.status is StepStatus.RUNNING]
        later = [points for step, points in self._ways if step.status is not StepStatus.RUNNING]
        parts = [
            *convert.scene_markers(scene),
            *convert.zone_markers(zones_from_msg(constraints.zones)),
            *convert.path_markers(scene, running[0] if running else (), later),
            *([convert.rule_marker(scene, rules)] if rules else []),
        ]
        self._topic.publish(convert.markers(self._scenes.frame, parts))

    def _rules(self) -> tuple[str, ...]:
        status, limit = self._status(), speed_limit_from_msg(self._scenes.constraints)
        under_way = status.state in UNDER_WAY
        rules = [one.plain or one.words for one in status.constraints if not one.goal] if under_way else []
        return (*rules, *([f"at most {limit:.2f} m/s"] if limit != float("inf") else []))


def _calls(steps: Sequence[PlanStep]) -> list[tuple[str, StepStatus, str]]:
    return [(step.id, step.status, str(step)) for step in steps]


class ForecastFeed:
    """Publishes the forecast of each plan that is handed to the executor."""

    def __init__(self, node: BaseNode, library: SkillLibrary, viewpoint: Viewpoint) -> None:
        self._library, self._viewpoint = library, viewpoint
        self._topic = node.create_lifecycle_publisher(String, "forecast", LATCHED)
        self._worker = Worker(node)

    def tell(self, plan_id: str, planned: Planned, scene: Scene) -> None:
        """Publish what the plan is expected to do from `scene` on."""

        def forecast() -> str:
            skills = self._library.for_scene(scene).signatures
            steps = foretold(planned.plan.steps, skills, scene, self._viewpoint)
            return json.dumps(forecast_json(plan_id, planned.rehearsal, steps), ensure_ascii=False)

        self._worker.do(forecast).add_done_callback(
            lambda done: done.exception() or self._topic.publish(String(data=done.result()))
        )
