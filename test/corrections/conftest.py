"""A table and a building with a plan each, at any of its steps, and sources that write down what they are asked."""

from dataclasses import replace

import pytest

from llm_planner.corrections.situation import Situation, Sources
from llm_planner.errors import QuestionError
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.scene.places import BEHIND, Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Door, Pose, Room, Scene, SceneObject
from llm_planner.skills.library import load_skills

BLOCK, BOWL, MUG, PLATE = (0.04, 0.04, 0.04), (0.128, 0.128, 0.045), (0.09, 0.07, 0.08), (0.15, 0.15, 0.017)
HAND = Pose((0.45, 0.05, 0.25))


def thing(name, x, y, size, kind="", z=0.0):
    color, _, noun = name.rpartition(" ")
    return SceneObject(name, kind or noun, color, (x, y, z + size[2] / 2), IDENTITY, size)


TABLE = Scene(
    0.0,
    (
        thing("red block", 0.36, -0.10, BLOCK),
        thing("blue block", 0.40, 0.02, BLOCK),
        thing("yellow block", 0.55, 0.33, BLOCK),
        thing("green bowl", 0.55, 0.18, BOWL),
        thing("blue bowl", 0.44, -0.28, BOWL),
        thing("plate", 0.53, -0.09, PLATE),
        thing("mug", 0.37, 0.18, MUG),
        thing("vase", 0.43, 0.31, (0.07, 0.07, 0.12)),
    ),
    robot=HAND,
)
TABLE_STEPS = (
    ("pick", {"object": "red block"}),
    ("place_in", {"object": "green bowl"}),
    ("pick", {"object": "mug"}),
    ("place_beside", {"object": "plate", "direction": "right", "distance": 0.04}),
    ("pick", {"object": "yellow block"}),
    ("place_at", {"place": "left side"}),
)
PUSHING_STEPS = (
    ("push", {"object": "red block", "direction": "right", "distance": 0.1}),
    ("pick", {"object": "mug"}),
    ("place_on", {"object": "red block"}),
)

ROOMS = ("kitchen", "hall", "office")
HOUSE = Building(
    tuple(Room(name, Rectangle(6.0 * k, 6.0 * k + 6.0, -3.0, 3.0)) for k, name in enumerate(ROOMS)),
    (Door(("kitchen", "hall"), (6.0, 0.0)), Door(("hall", "office"), (12.0, 0.0))),
)
ROOMS_SCENE = Scene(
    0.0,
    (
        thing("mug", 1.0, 1.0, (0.1, 0.1, 0.12)),
        thing("red parcel", 8.0, -2.0, (0.3, 0.22, 0.2)),
        thing("blue parcel", 14.0, 2.0, (0.3, 0.22, 0.2)),
        thing("Anna", 16.0, -2.0, (0.44, 0.44, 1.7), kind="person"),
    ),
    robot=Pose((8.0, 0.0, 0.0)),
    building=HOUSE,
)
ROOMS_STEPS = (
    ("go_to", {"destination": "mug"}),
    ("pick_up", {"object": "mug"}),
    ("go_to", {"destination": "office"}),
    ("drop_off", {}),
    ("go_to", {"destination": "Anna"}),
    ("follow", {"object": "Anna", "seconds": 60.0, "distance": 1.5}),
    ("go_to", {"destination": "kitchen"}),
    ("wait", {"seconds": 20.0}),
)


def status(number, running):
    if running and number <= running:
        return StepStatus.RUNNING if number == running else StepStatus.DONE
    return StepStatus.PENDING


@pytest.fixture(scope="session")
def signatures():
    return {skill.name: skill for skill in load_skills(learned=False).signatures}


@pytest.fixture(scope="session")
def situation_of(signatures):
    """Makes a situation: the step under way (0 for none), what is held, what was said, asked and ruled before."""

    def made(scene, calls, running=0, held="", edits=(), asked=None, rules=(), viewpoint=BEHIND):
        steps = [
            PlanStep(str(number), skill, arguments, number, status(number, running))
            for number, (skill, arguments) in enumerate(calls, start=1)
        ]
        constraints = tuple(Constraint(parse(formula), words) for formula, words in rules)
        origins = {item.name: item.position for item in scene.objects}
        moved = tuple(
            replace(item, position=(*scene.robot.position[:2], item.position[2])) if item.name == held else item
            for item in scene.objects
        )
        plan = Plan("as asked", "", tuple(steps), constraints=constraints)
        now = replace(scene, objects=moved, held=held)
        return Situation(plan, now, signatures, viewpoint, len(edits), origins, tuple(edits), asked)

    return made


@pytest.fixture(scope="session")
def at_table(situation_of):
    return lambda *args, **kwargs: situation_of(TABLE, TABLE_STEPS, *args, **kwargs)


@pytest.fixture(scope="session")
def table_with(situation_of):
    """The same table, with another plan."""
    return lambda *args, **kwargs: situation_of(TABLE, *args, **kwargs)


@pytest.fixture(scope="session")
def pushing(situation_of):
    return situation_of(TABLE, PUSHING_STEPS, 1)


@pytest.fixture(scope="session")
def in_house(situation_of):
    return lambda *args, **kwargs: situation_of(ROOMS_SCENE, ROOMS_STEPS, *args, **kwargs)


@pytest.fixture
def sources():
    """Knows one rule and one command, whatever the scene."""

    def formalise(sentence, scene):
        if "vase" not in sentence:
            raise QuestionError(f"What do you mean by “{sentence}”?")
        return (Constraint(parse("G !near(robot, vase)"), sentence),)

    def write_steps(command, scene):
        if "vase" not in command or "fry" in command:
            raise QuestionError(f"I cannot do “{command}”.")
        return (PlanStep("1", "pick", {"object": "vase"}, 1), PlanStep("2", "place_at", {"place": "middle"}, 2))

    return Sources(formalise, write_steps)
