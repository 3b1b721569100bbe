"""What tools return: a short text that ends with what to do next, the same as structured content, and pictures."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel, Field

from llm_planner.plans.plan import PlanStep
from llm_planner.plans.trace import drawn_ways
from llm_planner.programs.signatures import Signature
from llm_planner.ros.client import CommandResult
from llm_planner.ros.commands import code_name
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.text import plain_text, shortened

MESSAGE_MAX = 2000  # [characters] of a text from the robot
STEPS_MAX = 40  # that are listed
Outcome = Literal[
    "done", "planned", "running", "applied", "question", "refused", "failed", "stopped", "nothing", "information"
]
ERRORS = ("refused", "failed")
_OUTCOMES: dict[str, Outcome] = {
    "SUCCEEDED": "done",
    "CANCELED": "stopped",
    "STOPPED": "stopped",
    "QUESTION": "question",
    "REFUSED": "refused",
    "QUEUE_FULL": "refused",
}


class StepRow(BaseModel):
    """One step: a call of a skill."""

    id: str
    call: str = Field(description='for example pick("red block")')
    status: str = Field(description="pending, running, done, failed or skipped")
    message: str = Field(default="", description="why it failed, or what it is doing")


class RuleRow(BaseModel):
    """A rule in force."""

    words: str
    formula: str = Field(
        default="", description="how it was understood, in linear temporal logic; G: always, F: in the end"
    )
    of: Literal["you", "run"] = Field(
        default="you", description="you: of this tool server, for your commands; run: of the run"
    )


class RobotResult(BaseModel):
    """What became of a call."""

    outcome: Outcome
    message: str = Field(description="what the robot says")
    next: str = Field(description="what you can do now")
    steps: list[StepRow] = []
    rules: list[RuleRow] = []
    program: str = Field(default="", description="the policy program of a plan; execute takes it as it is or changed")
    remarks: list[str] = Field(default=[], description="what the robot has said of itself since the last call")

    def shown(self, picture: ImageContent | None = None, is_news: bool = True) -> CallToolResult:
        """Return it as the result of a tool: an error where the robot did not do what was asked, and that is news."""
        parts = [f"{self.outcome.upper()}: {self.message}"]
        if not self.program:  # which has the steps
            parts += [
                f"  {step.id} {step.call} {step.status} {step.message}".rstrip() for step in self.steps[:STEPS_MAX]
            ]
        parts += [f"  rule: {rule.words} ({rule.formula or 'not read yet'})" for rule in self.rules]
        parts += [f"Program:\n{self.program.rstrip()}"] if self.program else []
        parts += [f"The robot says: {remark}" for remark in self.remarks]
        text = TextContent(type="text", text="\n".join((*parts, f"Next: {self.next}")))
        return CallToolResult(
            content=[text] if picture is None else [text, picture],
            structured_content=self.model_dump(),
            is_error=is_news and self.outcome in ERRORS,
        )


def said(text: str) -> str:
    """Return a text from the robot as one printable line."""
    return shortened(plain_text(text), MESSAGE_MAX)


def rows(steps: Iterable[PlanStep]) -> list[StepRow]:
    """Return steps as rows."""
    return [
        StepRow(id=step.id, call=said(str(step)), status=step.status.value, message=said(step.message))
        for step in steps
    ]


def outcome_of(result: CommandResult) -> Outcome:
    """Return the outcome of a command that has ended."""
    return _OUTCOMES.get(code_name(result.code), "failed")


def planned_way(
    steps: Sequence[PlanStep], skills: Mapping[str, Signature], scene: Scene, viewpoint: Viewpoint
) -> list[Vector3]:
    """Return the points [m] of the way of the steps from `scene` on, up to the first one that cannot be foreseen."""
    origins = {item.name: item.position for item in scene.objects}
    return [point for _, points in drawn_ways(steps, skills, scene, origins, viewpoint) for point in points]


def picture(scene: Scene, posture: tuple[tuple[float, ...], float], way: Sequence[Vector3] = ()) -> ImageContent:
    """Draw the scene with the robot in this posture, and a line along `way` [m].

    Raises:
        SimulationError: No off-screen OpenGL works.
    """
    from llm_planner.simulation.renderers import make_renderer, write_picture

    qpos, width = posture
    with make_renderer(scene) as renderer, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.png"
        write_picture(path, renderer.render(qpos, width, scene, way))
        data = base64.b64encode(path.read_bytes()).decode()
    return ImageContent(type="image", data=data, mime_type="image/png")
