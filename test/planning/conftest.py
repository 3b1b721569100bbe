"""A table, the shipped skills' manifests, and a robot that does what they promise unless a test tells it otherwise."""

from dataclasses import replace

import pytest

from llm_planner.execution.execution import advance
from llm_planner.execution.execution_state import (
    Finish,
    Phase,
    SceneObserved,
    SkillFinished,
    StartSkill,
    start_execution,
)
from llm_planner.planning.planned import DEFAULTS
from llm_planner.planning.planning import plan_program
from llm_planner.plans.plan import goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.privileges.policy import parse_policy
from llm_planner.scene.places import BEHIND
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.library import load_skills

BOWL = (0.128, 0.128, 0.045)
OK = SkillResult(SkillErrorCode.SUCCEEDED)


def thing(name, x, y, size=(0.04, 0.04, 0.04), bottom=0.0):
    color, _, kind = name.rpartition(" ")
    return SceneObject(name, kind, color, (x, y, bottom + size[2] / 2), IDENTITY, size)


@pytest.fixture(scope="session")
def skills():
    return {skill.name: skill for skill in load_skills().signatures}


@pytest.fixture
def scene():
    return Scene(
        0.0,
        (
            thing("red block", 0.55, 0.25),
            thing("green block", 0.45, 0.0),
            thing("blue block", 0.35, -0.25),
            thing("red bowl", 0.45, -0.12, BOWL),
            thing("green bowl", 0.55, -0.3, BOWL),
            thing("blue bowl", 0.35, 0.15, BOWL),
        ),
    )


class Robot:
    """Applies each skill's effects to its scene. `mishaps` maps the number of a skill started (from 1) to what happens
    instead: a function of the scene before and the scene promised that gives the scene and the skill's result."""

    def __init__(self, scene, skills, mishaps=None):
        self.scene = scene
        self.started = []
        self._skills = skills
        self._mishaps = mishaps or {}
        self._origins = {}

    def obey(self, start):
        before = self.scene
        self._origins |= {item.name: item.position for item in before.objects if item.name != before.held}
        self.started.append((start.skill, *start.arguments.values()))
        goals = goals_of(self._skills[start.skill], start.step_id, start.arguments, before, self._origins)
        promised = predict(before, goals)
        mishap = self._mishaps.get(len(self.started))
        after, result = mishap(before, promised) if mishap else (promised, OK)
        self.scene = replace(after, time=before.time + 5.0)
        return result


class Play:
    """An execution and the robot that obeys it, with everything that was said."""

    def __init__(self, planned, robot, viewpoint=BEHIND):
        self.robot = robot
        self.state = start_execution(planned.plan, planned.interpreter, viewpoint, permit=planned.permit)
        self.commands = []

    def tell(self, event):
        """One event; gives the commands in answer."""
        self.state, commands = advance(self.state, event)
        self.commands += commands
        return commands

    def observe(self):
        return self.tell(SceneObserved(self.robot.scene))

    def step(self):
        """From one skill's start to the next command."""
        (start,) = (command for command in self.commands[-1:] if isinstance(command, StartSkill))
        result = self.robot.obey(start)
        self.tell(SkillFinished(start.step_id, result))
        return self.observe()

    def to_the_end(self):
        self.observe()
        while self.state.phase is not Phase.ENDED:
            self.step()
        assert isinstance(self.commands[-1], Finish)
        return self

    @property
    def statuses(self):
        return {step.id: step.status.value for step in self.state.plan.steps}


@pytest.fixture
def play(scene, skills):
    """Plans a program for the table and gives it to a robot."""

    def make(text, mishaps=None, where=scene, viewpoint=BEHIND, settings=DEFAULTS, skills=skills):
        planned = plan_program("do it", text, where, tuple(skills.values()), viewpoint, settings)
        return Play(planned, Robot(where, skills, mishaps), viewpoint)

    return make


CAREFUL = """
sources: {action: refuse, cli: refuse}
rules:
  - {name: everything else, allow: any, from: any}
  - {name: hands off, deny: pick, from: any, where: {object: blue block}}
  - {name: no tours with a block, deny: go_home, from: any, while: {held: {kind: block}}, otherwise: OTHERWISE}
"""


@pytest.fixture(scope="session")
def careful(skills):
    """A policy whose last rule only the scene of the moment can decide, and says what becomes of a call then."""

    def make(otherwise="refuse"):
        return parse_policy(CAREFUL.replace("OTHERWISE", otherwise), "careful.yaml", tuple(skills.values()))

    return make
