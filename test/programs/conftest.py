"""A table with three blocks and three bowls, and ways to check and step programs on it."""

import pytest

from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Finished, Interpreter
from llm_planner.programs.problems import ProgramError
from llm_planner.scene.places import BEHIND
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject
from llm_planner.skills.library import load_skills


def thing(name, x, y, size=(0.04, 0.04, 0.04)):
    color, _, kind = name.rpartition(" ")
    return SceneObject(name, kind, color, (x, y, size[2] / 2), IDENTITY, size)


BOWL = (0.128, 0.128, 0.045)


@pytest.fixture(scope="session")
def skills():
    """The signatures of the skills that ship with the package."""
    return load_skills().signatures


@pytest.fixture(scope="session")
def scene():
    """Seen from behind the robot: red block far left, green block in the middle, blue block near right."""
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


@pytest.fixture(scope="session")
def check(skills, scene):
    """Checks a program on the table, or on another scene."""

    def run(text, where=scene):
        return check_program(text, skills, where)

    return run


@pytest.fixture(scope="session")
def problems(check, scene):
    """The problems that the checker finds, as text."""

    def run(text, where=scene):
        with pytest.raises(ProgramError) as caught:
            check(text, where)
        return [str(problem) for problem in caught.value.problems]

    return run


@pytest.fixture(scope="session")
def calls(check, scene):
    """The skill calls of a program whose scene never changes, as (skill, argument, ...)."""

    def run(text, where=scene, viewpoint=BEHIND):
        interpreter = Interpreter(check(text, where), viewpoint)
        found = []
        while not isinstance(call := interpreter.advance(where), Finished):
            found.append((call.skill, *call.arguments.values()))
        return found

    return run


@pytest.fixture(scope="session")
def evaluate(check, scene):
    """The value of an expression, as the interpreter computes it."""

    def run(expression, where=scene):
        interpreter = Interpreter(check(f"result = {expression}\ngo_home()", where))
        interpreter.advance(where)
        return interpreter.variables["result"]

    return run
