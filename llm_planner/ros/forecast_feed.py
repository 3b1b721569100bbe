"""What the rehearsal foresees of a plan, on the topic `forecast` as JSON; computed in a thread of its own."""

from __future__ import annotations

import json

from std_msgs.msg import String

from llm_planner.planning.planned import Planned
from llm_planner.planning.report import forecast_json, foretold
from llm_planner.ros.base_node import LATCHED, BaseNode
from llm_planner.ros.waiting import Worker
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import SkillLibrary


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
