"""The people of the memory benchmark say what is not as they wish it when they see it, and not without end."""

from __future__ import annotations

from dataclasses import replace

import memory_tasks as tasks
import memory_wishes as wishes
import pytest

from llm_planner.scene.scene import IDENTITY, Pose, Scene, SceneObject

MUG = SceneObject("red mug", "mug", "red", (0.4, 0.2, 0.04), IDENTITY, (0.08, 0.08, 0.08))
BEGINNING = Scene(0.0, (MUG,), robot=Pose((0.4, 0.2, 0.2)))
SLOWLY = wishes.slow("mug", "slower", "not so fast")


def carried(time, speed, y=0.0):
    held = replace(MUG, position=(0.4, y, 0.2))
    return replace(BEGINNING, time=time, objects=(held,), held="red mug", robot=Pose((0.4, y, 0.2)), speed=speed)


def test_somebody_speaks_up_when_a_mug_is_carried_too_fast():
    anna = wishes.Person((SLOWLY,), 0)
    assert [anna.sees(scene) for scene in (BEGINNING, carried(1.0, 0.2), carried(1.1, 0.5))] == ["", "", "slower"]


def test_in_another_round_it_is_said_in_other_words():
    anna = wishes.Person((SLOWLY,), 1)
    anna.sees(BEGINNING)
    assert anna.sees(carried(1.0, 0.5)) == "not so fast"


def test_the_same_is_not_said_again_before_it_could_help_nor_forever():
    anna = wishes.Person((SLOWLY,), 0)
    anna.sees(BEGINNING)
    for time in range(1, 100):
        anna.sees(carried(time / 10, 0.5))
    assert len(anna.said) == wishes.PATIENCE


def test_what_others_carry_is_nothing_to_speak_of():
    anna = wishes.Person((wishes.slow("block", "slower"),), 0)
    anna.sees(BEGINNING)
    assert anna.sees(carried(1.0, 0.5)) == ""


def test_a_thing_that_is_put_down_elsewhere_is_not_as_wished():
    there = wishes.in_region("mug", "left side", "on the left side")
    left, right = carried(1.0, 0.1, 0.3), carried(1.0, 0.1, -0.3)
    assert there.kept(BEGINNING, left, left.find("red mug"))
    assert not there.kept(BEGINNING, right, right.find("red mug"))


@pytest.mark.parametrize("task", tasks.TASKS, ids=lambda task: task.name)
def test_each_round_has_a_scene_of_its_own_and_every_name_is_filled_in(task):
    first, second = (tasks.setting(task, number) for number in (0, 1))
    assert first.objects != second.objects
    assert first.seed != second.seed
    assert "{" not in first.program + first.objects
