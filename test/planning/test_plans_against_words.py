"""A plan that contradicts the order, a condition, a number or the extent of its words is described."""

from __future__ import annotations

from itertools import pairwise

import pytest

from llm_planner.planning.planning import plan_program
from llm_planner.planning.program_checks import unfaithful
from llm_planner.simulation.worlds import open_world, read_objects
from llm_planner.skills.library import load_skills

LIBRARY = load_skills(learned=False)
TABLE = open_world(
    "tabletop", 13, read_objects("tabletop", "red block, blue block, green block, mug, plate, bowl, button")
)
SCENE = TABLE.scene()
SKILLS = LIBRARY.for_scene(SCENE).signatures
MUG, RED = 'pick("mug")\nplace_on("plate")\n', 'pick("red block")\nplace_in("bowl")\n'


def findings(words: str, program: str) -> tuple[str, ...]:
    return unfaithful(plan_program(words, program, SCENE, SKILLS), words, (), SCENE)


@pytest.mark.parametrize(
    "words",
    [
        "before you put the red block in the bowl, put the mug on the plate",
        "put the red block in the bowl, but first put the mug on the plate",
        "put the mug on the plate, then the red block in the bowl",
        "put the red block in the bowl only after the mug is on the plate",
    ],
)
def test_steps_in_another_order_than_the_words_tell(words: str) -> None:
    assert not findings(words, MUG + RED)
    assert findings(words, RED + MUG) == (
        "the command tells one thing after the other, but the steps come in another order",
    )


def test_a_step_that_comes_before_as_well_as_after_is_in_order() -> None:
    again = 'pick("mug")\nplace_at("left side")\n'
    assert not findings("put the red block in the bowl, and then the mug to the left side", MUG + RED + again)


def test_a_block_and_what_it_is_put_on_begin_together() -> None:
    program = 'pick("red block")\nplace_on("blue block")\npick("green block")\nplace_on("red block")\n'
    assert not findings("make a tower, the blue block at the bottom, then the red block, then the green block", program)


@pytest.mark.parametrize(
    ("words", "test"),
    [
        ("press the button if the mug is on the plate", 'is_on("mug", "plate")'),
        ("press the button unless the mug is on the plate", 'not is_on("mug", "plate")'),
        ("don't press the button unless the mug is on the plate", 'is_on("mug", "plate")'),
        ("press the button if the bowl is empty", 'is_clear("bowl")'),
        ("press the button only if nothing is in the bowl", 'is_clear("bowl")'),
    ],
)
def test_a_condition_the_other_way_round(words: str, test: str) -> None:
    other = test.removeprefix("not ") if test.startswith("not ") else f"not {test}"
    assert not findings(words, f'if {test}:\n    press("button")\n')
    (found,) = findings(words, f'if {other}:\n    press("button")\n')
    assert found == "the program has the condition of the command the other way round"
    assert not findings(words, f'if {other}:\n    tell("no")\nelse:\n    press("button")\n')


def tower(*names: str) -> str:
    return "".join(f'pick("{top}")\nplace_on("{below}")\n' for below, top in pairwise(names))


def test_towers_have_as_many_blocks_as_the_words_say() -> None:
    three, two = tower("red block", "blue block", "green block"), tower("red block", "blue block")
    for words in ("make a tower of three", "stack three blocks", "I'd like three blocks on top of each other"):
        assert not findings(words, three)
        assert findings(words, two) == ("the command says “three”, but no step has it",)
    assert findings("build a tower of five blocks", three)
    assert findings("build two towers", two) == ("the command speaks of 2 towers, but the steps build 1",)


def test_a_place_to_be_cleared_is_left_empty() -> None:
    there = [item.name for item in SCENE.objects if SCENE.region("left side").area.contains(*item.position[:2])]
    assert len(there) > 1
    steps = [f'pick("{name}")\nplace_at("right side")\n' for name in there]
    assert not findings("clear the left side", "".join(steps))
    (found,) = findings("clear the left side", steps[0])
    assert found.startswith("the command clears the left side, but no step is about ")
    other = next(item.name for item in SCENE.objects if item.name not in there and item.kind == "block")
    (found,) = findings("clear the left side", f'pick("{other}")\nplace_at("left side")\n')
    assert found == f"the command clears the left side, but steps bring the {other} there"
