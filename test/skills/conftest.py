"""Scenes to plan in, and a hand that is always exactly where it was told to be."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Pose, Scene, SceneObject, Vector3
from llm_planner.skills.contract import SkillResult, SkillRun
from llm_planner.skills.hand_geometry import rest_pose
from llm_planner.skills.library import SkillLibrary, load_skills

PANDA = arm_model("panda")

SIZES: Mapping[str, Vector3] = {
    "block": (0.04, 0.04, 0.04), "bowl": (0.128, 0.128, 0.0453), "vase": (0.048, 0.048, 0.12), "box": (0.2, 0.1, 0.05),
    "plate": (0.151, 0.151, 0.016),
}  # fmt: skip


def _thing(name: str, x: float, y: float, z: float | None = None, yaw: float = 0.0) -> SceneObject:
    """An object called by colour and kind, standing on the table unless its centre's height `z` is given."""
    color, _, kind = name.rpartition(" ")
    size = SIZES[kind]
    turned = (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))
    return SceneObject(name, kind, color, (x, y, size[2] / 2 if z is None else z), turned, size)


def _scene(*items: SceneObject, held: str = "") -> Scene:
    return Scene(0.0, items, held)


@dataclass
class GhostHand:
    """Jumps to wherever a skill's reference begins; grips what is between its fingers, and carries it along."""

    scene: Scene
    grasps: bool = True
    time: float = 0.0
    pose: Pose = field(default_factory=rest_pose(PANDA.shape).pose)
    width: float = 0.08
    references: list[MotionReference] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)
    origins: dict[str, Vector3] = field(default_factory=dict)

    def observation(self) -> Observation:
        now = replace(self.scene, time=self.time)
        return Observation(self.time, now, (0.0,) * 7, self.pose, self.width, self.origins)

    def run(self, run: SkillRun, steps: int = 600) -> SkillResult:
        """Lets the skill run to its end."""
        for _ in range(steps):
            outcome = run.step(self.observation())
            if isinstance(outcome, SkillResult):
                return outcome
            self.references.append(outcome)
            if run.phase not in self.phases[-1:]:
                self.phases.append(run.phase)
            self._obey(outcome)
        raise AssertionError("the skill does not end")

    def _obey(self, reference: MotionReference) -> None:
        self.time += 0.1
        place = min(round((self.time - reference.start_time) / reference.dt), len(reference.poses) - 1)
        before, self.pose = self.pose.position, reference.poses[place]
        shift = tuple(b - a for a, b in zip(before, self.pose.position, strict=True))
        self._move_fingers(reference.gripper_width)
        if self.scene.held:
            items = [_moved(item, shift) if item.name == self.scene.held else item for item in self.scene.objects]
            self.scene = replace(self.scene, objects=tuple(items))

    def _move_fingers(self, width: float) -> None:
        held = self.scene.held
        if held and width > self.width + 0.001:
            self.scene = replace(self.scene, held="")
        for item in self.scene.objects:
            near = math.dist(item.position, self.pose.position) < 0.03
            if not held and self.grasps and near and width < 0.035 < self.width:
                self.scene = replace(self.scene, held=item.name)
        self.width = max(width, 0.04) if self.scene.held else width


def _moved(item: SceneObject, shift: tuple[float, ...]) -> SceneObject:
    x, y, z = (a + b for a, b in zip(item.position, shift, strict=True))
    return replace(item, position=(x, y, z))


@pytest.fixture(scope="session")
def library() -> SkillLibrary:
    """Scripted: learned skills need physics."""
    return load_skills(learned=False)


@pytest.fixture
def thing() -> Callable[..., SceneObject]:
    """Makes an object: `thing("red block", x, y, z=None, yaw=0.0)`."""
    return _thing


@pytest.fixture
def scene_of() -> Callable[..., Scene]:
    """Makes a scene: `scene_of(*objects, held="")`."""
    return _scene


@pytest.fixture
def ghost() -> type[GhostHand]:
    """The hand that is always where it was told to be: `ghost(scene)`."""
    return GhostHand


class Here:
    """A pool of this process alone."""

    def results(self, function, jobs) -> Iterator[tuple[int, object]]:
        yield from ((position, function(job)) for position, job in enumerate(jobs))


@pytest.fixture
def here() -> Here:
    return Here()
