"""A table with blocks and a vase, the policy of a laboratory, and ways to ask it."""

import pytest

from llm_planner.plans.privileges.decision import check_call
from llm_planner.plans.privileges.policy import parse_policy
from llm_planner.programs.interpreter import SkillCall
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject
from llm_planner.skills.library import load_skills


def thing(name, x, y, kind="", color=""):
    return SceneObject(name, kind or name.split()[-1], color, (x, y, 0.02), IDENTITY, (0.04, 0.04, 0.04))


@pytest.fixture(scope="session")
def skills():
    return load_skills().signatures


@pytest.fixture(scope="session")
def scene():
    """The red block lies in the top left corner, the blue block in the middle, the vase to the right."""
    return Scene(
        0.0,
        (
            thing("red block", 0.60, 0.35, color="red"),
            thing("blue block", 0.46, 0.0, color="blue"),
            thing("vase", 0.46, -0.3),
            thing("bowl", 0.3, 0.0),
        ),
    )


@pytest.fixture(scope="session")
def policy(skills):
    """Reads a policy's rules; topic refuses, cli asks, and the button stops what no rule allows."""

    def read(rules, sources="{topic: refuse, cli: ask, button: stop}"):
        return parse_policy(f"sources: {sources}\nrules:\n{rules}", "lab.yaml", skills)

    return read


@pytest.fixture(scope="session")
def call():
    return lambda skill, **arguments: SkillCall(skill, arguments, 1)


@pytest.fixture(scope="session")
def verdict(policy, scene, call):
    """What becomes of a call under rules, as a word."""

    def ask(rules, skill, source="topic", where=None, **arguments):
        return check_call(policy(rules), source, call(skill, **arguments), where or scene).verdict.value

    return ask
