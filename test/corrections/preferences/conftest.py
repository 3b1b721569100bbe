"""A table with things of several kinds and colours, plans on it, and somebody who corrects them."""

from dataclasses import replace
from math import cos, pi, sin

import pytest

from llm_planner.corrections.edits import Edit
from llm_planner.corrections.preferences.memory import Memory, PreferenceStore
from llm_planner.corrections.preferences.preference import Occasion, State
from llm_planner.corrections.situation import Situation
from llm_planner.language.correction_requests import Scope
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.scene.places import BEHIND, Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Pose, Room, Scene, SceneObject
from llm_planner.skills.library import load_skills

CUP = (0.08, 0.08, 0.1)
THIRD_OF_NOVEMBER = 1_793_701_800.0  # 2026, late in Greenwich's morning: the third everywhere


def thing(name, x, y, size=(0.04, 0.04, 0.04), orientation=IDENTITY):
    color, _, kind = name.rpartition(" ")
    if name[:1].isupper():
        color, kind = "", "person"
    return SceneObject(name, kind, color, (x, y, size[2] / 2), orientation, size)


TABLE = Scene(
    0.0,
    (
        thing("red mug", 0.55, 0.25, CUP),
        thing("blue mug", 0.45, 0.1, CUP),
        thing("red block", 0.35, -0.25),
        thing("green block", 0.35, 0.0),
        thing("green bowl", 0.55, -0.3, CUP),
        thing("blue bowl", 0.35, 0.25, CUP),
        thing("white plate", 0.45, -0.1, CUP),
        thing("vase", 0.6, 0.0, CUP),
    ),
)
BUILDING = Building((Room("kitchen", Rectangle(0, 4, 0, 4)), Room("lab", Rectangle(4, 8, 0, 4))), ())
ROOMS = Scene(
    0.0,
    (thing("red parcel", 6, 1), thing("blue parcel", 7, 1), thing("Anna", 1, 1), thing("Ben", 2, 3)),
    robot=Pose((2.0, 2.0, 0.0)),
    building=BUILDING,
)


@pytest.fixture(scope="session")
def library():
    return load_skills()


@pytest.fixture
def planned(library):
    """A function that makes the situation of a plan: its command, then its steps as (skill, *arguments).

    `running` counts from 1; steps before it are done.
    """

    def make(command, *calls, scene=TABLE, running=0, viewpoint=BEHIND, **others):
        skills = {skill.name: skill for skill in library.for_scene(scene).signatures}
        steps = []
        for number, (skill, *values) in enumerate(calls, 1):
            names = [parameter.name for parameter in skills[skill].parameters]
            status = StepStatus.DONE if number < running else StepStatus.PENDING
            status = StepStatus.RUNNING if number == running else status
            steps.append(PlanStep(f"s{number}", skill, dict(zip(names, values, strict=False)), number, status))
        return Situation(Plan(command, "", tuple(steps), **others), scene, skills, viewpoint)

    return make


@pytest.fixture
def tidy(planned):
    """The situation while a thing is put somewhere: its first step, which takes it, is under way."""

    def make(name, target="white plate", running=1, scene=TABLE):
        return planned("tidy up", ("pick", name), ("place_on", target), running=running, scene=scene)

    return make


@pytest.fixture
def in_rooms(planned):
    """As `planned`, in a building with a kitchen and a lab, parcels, Anna and Ben."""
    return lambda command, *calls, **others: planned(command, *calls, scene=ROOMS, **others)


@pytest.fixture
def turned():
    """The table, with a long box on it that is turned by so many quarters."""

    def make(quarters):
        angle = quarters * pi / 4
        box = thing("long box", 0.45, -0.3, (0.12, 0.04, 0.04), (0.0, 0.0, sin(angle), cos(angle)))
        return replace(TABLE, objects=(*TABLE.objects, replace(box, kind="box", color="")))

    return make


@pytest.fixture
def store(tmp_path):
    store = PreferenceStore(tmp_path / "memory.sqlite")
    yield store
    store.close()


class Person:
    """Somebody who corrects plans, one command after the other, a minute apart."""

    def __init__(self, store, name="", time=THIRD_OF_NOVEMBER, session="today"):
        self.memory, self._store = Memory(store), store
        self.now = Occasion(time, name, session, "c0")

    def commands(self, situation):
        """A new command is planned; what memory says to it."""
        number = int(self.now.command[1:]) + 1
        self.now = replace(self.now, time=self.now.time + 60, command=f"c{number}")
        return self.memory.recall(situation, self.now)

    def says(self, words, situation, *operations, scope=Scope.ONCE, about="", used=()):
        self.now = replace(self.now, time=self.now.time + 1)
        return self.memory.taught(Edit(operations, words, 0, scope, about), situation, self.now, used)

    def sees(self, step, succeeded=True, used=()):
        return self.memory.step_ended(replace(self.now, step=step), succeeded, used)

    def sees_the_end(self, succeeded=True):
        return self.memory.command_ended(self.now.command, succeeded)

    @property
    def learned(self):
        return [lesson for lesson in self._store.lessons() if lesson.state is State.LEARNED]


@pytest.fixture
def person(store):
    return Person(store)


@pytest.fixture
def anna_and_ben(store):
    return Person(store, "Anna"), Person(store, "Ben")
