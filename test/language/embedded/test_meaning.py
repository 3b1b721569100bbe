"""What results come to in a scene: programs that the checker takes, formulas, and questions about what is not there."""

from __future__ import annotations

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.embedded.command_forms import COMMANDS
from llm_planner.language.embedded.meaning import Command, command_of
from llm_planner.language.embedded.terms import parse_result
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

THINGS = (("red block", "block", "red"), ("blue block", "block", "blue"), ("green bowl", "bowl", "green"),
          ("mug", "mug", ""), ("top drawer", "drawer", ""))  # fmt: skip
SCENE = Scene(0.0, tuple(SceneObject(name, kind, color, (0.0, 0.0, 0.0), IDENTITY, (0.04, 0.04, 0.04))
                         for name, kind, color in THINGS))  # fmt: skip
SAID = "put the red block in the green bowl"


def meant(result: str, said: str = SAID) -> Command:
    terms = parse_result(result)
    COMMANDS.check(terms)
    return command_of(terms, said, SCENE)


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ('put("red block", in("green bowl"))', ['pick("red block")', 'place_in("green bowl")']),
        ('put("red one", beside("bowl", left, "5 cm"))',
         ['pick("red block")', 'place_beside("green bowl", "left", distance=0.05)']),
        ('put(nth("block", left, n2), in("bowl"))',
         ['pick(from_side(objects("block"), "left")[1])', 'place_in("green bowl")']),
        ('push("mug", left, little)', ['push("mug", "left", 0.05)']),
        ('tower(list("red block", "blue one"))', ['pick("blue block")', 'place_on("red block")']),
        ('open_drawer("drawer"); close_drawer("drawer")', ['open_drawer("top drawer")', 'close_drawer("top drawer")']),
        ('turn("mug", "90 degrees", right)', ["achieve(\"reach(turned('mug') == -90)\")"]),
        ('when(empty("bowl"), pick("mug"))', ['if is_clear("green bowl"):', '    pick("mug")']),
    ],
)  # fmt: skip
def test_statements_become_a_program(result: str, lines: list[str]) -> None:
    assert meant(result).program.splitlines() == lines


@pytest.mark.parametrize(
    ("result", "formula"),
    [
        ('never(moved("mug"))', "G !moved(mug)"),
        ('never(moved(each("blocks")))', "G !(moved(blue block) | moved(red block))"),
        ('always(slower("20 cm per second"))', "G speed(robot) < 0.2"),
        ('whenever(holding("mug"), lower("mug", "10 cm"))', "G (holding(mug) -> height(mug) < 0.1)"),
        ('only_after(is_in("mug", "bowl"), holding("red block"))', "!holding(red block) W in(mug, green bowl)"),
        ('within("half a minute", holding("mug"))', "F[0,30] holding(mug)"),
    ],
)
def test_patterns_become_formulas(result: str, formula: str) -> None:
    assert [one.formula for one in meant(result).constraints] == [formula]


@pytest.mark.parametrize(
    "result",
    ["unclear", "cannot", 'pick("block")', 'pick("pink block")', 'never(in("kitchen"))', 'never(moved("cat"))'],
)
def test_what_is_not_there_is_a_question(result: str) -> None:
    with pytest.raises(QuestionError):
        meant(result)
