"""Rendering: descriptions are resolved against the scene, and what cannot be resolved becomes a question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.grounding.descriptions import Entries
from llm_planner.language.grounding.program_writer import render_program
from llm_planner.language.grounding.tree import Node, Pointer
from llm_planner.language.grounding.words import split_words
from llm_planner.world.scene import IDENTITY, Scene, SceneObject


def scene(*names: str) -> Scene:
    def thing(name: str) -> SceneObject:
        words = name.rstrip(" 0123456789").split()
        return SceneObject(name, words[-1], " ".join(words[:-1]), (0.0, 0.0, 0.0), IDENTITY, (0.04, 0.04, 0.04))

    return Scene(0.0, tuple(thing(name) for name in names))


def node(step: str | Pointer, *children: Node | str | Pointer) -> Node:
    return Node(step, tuple(child if isinstance(child, Node) else Node(child) for child in children))


def entries(where: Scene) -> Entries:
    kinds, colors = ([getattr(item, part) for item in where.objects] for part in ("kind", "color"))
    return Entries(tuple(where.names), tuple(dict.fromkeys(kinds)), tuple(filter(None, dict.fromkeys(colors))))


def rendered(statement: Node, where: Scene, said: str = "") -> str:
    return render_program(node("program", node("last", statement)), split_words(said), where, entries(where))


TABLE = scene("red block", "blue block", "red bowl")
BLOCK, BOWL, RED, BLUE = Pointer("kind", 0), Pointer("kind", 1), Pointer("color", 0), Pointer("color", 1)


def test_a_description_becomes_the_name_of_the_one_thing_it_fits() -> None:
    program = rendered(node("put", node("the", BLOCK, BLUE), node("in", node("the", BOWL, "any_color"))), TABLE)
    assert program == 'pick("blue block")\nplace_in("red bowl")\n'


def test_what_is_held_is_not_picked_up_again_before_it_is_put_somewhere() -> None:
    held = replace(TABLE, held="red block")
    red, blue = node("the", BLOCK, RED), node("the", BLOCK, BLUE)
    assert rendered(node("put", red, node("in", node("the", BOWL, "any_color"))), held) == 'place_in("red bowl")\n'
    assert rendered(node("tower", node("pair", blue, red)), held) == 'place_on("blue block")\n'
    assert rendered(node("put", blue, node("on", red)), held) == 'pick("blue block")\nplace_on("red block")\n'
    again = node("program", node("more", node("home"), node("last", node("put", red, node("on", blue)))))
    program = render_program(again, [], held, entries(held))
    assert program == 'go_home()\npick("red block")\nplace_on("blue block")\n'


def test_a_description_that_fits_several_things_asks_which() -> None:
    with pytest.raises(QuestionError, match="Which block do you mean: the red block or the blue block"):
        rendered(node("pick", node("the", BLOCK, "any_color")), TABLE)


def test_the_red_one_takes_its_noun_from_the_rest_of_the_sentence() -> None:
    statement = node("put", node("the", "any_kind", RED), node("on", node("the", BLOCK, BLUE)))
    program = rendered(statement, TABLE, "put the red one on the blue block")
    assert program == 'pick("red block")\nplace_on("blue block")\n'
    with pytest.raises(QuestionError, match="Which red object do you mean: the red block or the red bowl"):
        rendered(node("pick", node("the", "any_kind", RED)), TABLE, "grab the red one")


def test_a_description_that_fits_nothing_says_what_there_is() -> None:
    with pytest.raises(QuestionError, match=r"I see no purple block here.*red block, blue block, red bowl"):
        rendered(node("pick", node("the", BLOCK, Pointer("word", 2))), TABLE, "grab the purple block")


def test_a_set_of_nothing_is_a_question_too() -> None:
    statement = node("tower", node("objects", Pointer("word", 1), "any_color"))
    with pytest.raises(QuestionError, match="I see no bananas here"):
        rendered(statement, TABLE, "stack bananas")


def test_leaving_out_an_unknown_color_is_a_question() -> None:
    statement = node("tower", node("not_color", BLOCK, Pointer("word", 0)))
    with pytest.raises(QuestionError, match="nothing that is 'mauve'"):
        rendered(statement, TABLE, "mauve")


def test_leaving_out_no_particular_kind_is_a_question() -> None:
    with pytest.raises(QuestionError, match="I see nothing that this could be about here"):
        rendered(node("tower", node("not_kind", "any_kind")), TABLE)


def test_asking_whether_something_exists_is_not_a_question() -> None:
    condition = node("exists", node("objects", BLOCK, Pointer("word", 0)))
    program = rendered(node("when", condition, node("last", node("home"))), TABLE, "mauve")
    assert program == "if len([]) > 0:\n    go_home()\n"


def test_a_tower_of_named_things_is_written_out_from_below() -> None:
    program = rendered(node("tower", node("pair", node("the", BLOCK, RED), node("the", BLOCK, BLUE))), TABLE)
    assert program == 'pick("blue block")\nplace_on("red block")\n'


def test_a_target_that_depends_on_the_scene_is_settled_before_anything_is_lifted() -> None:
    closest = node("closest", node("objects", BOWL, "any_color"), node("the", BLOCK, RED))
    program = rendered(node("put", node("the", BLOCK, RED), node("in", closest)), TABLE)
    assert program == 'target = closest(objects("bowl"), to="red block")\npick("red block")\nplace_in(target)\n'


def test_everything_into_the_bowl_leaves_the_bowl_itself_alone() -> None:
    goal = node("in", node("the", BOWL, "any_color"))
    body = node("last", node("put", "item", goal))
    program = rendered(node("each", node("objects", "any_kind", "any_color"), body), TABLE)
    assert program.startswith('for item in [each for each in objects() if each != "red bowl"]:')


def test_matching_colours_become_two_nested_loops() -> None:
    inner = node("each", node("objects", BOWL, "same_color"), node("last", node("put", "outer", node("in", "item"))))
    program = rendered(node("each", node("objects", BLOCK, "any_color"), node("last", inner)), TABLE)
    assert program == (
        'for block in objects("block"):\n'
        '    for bowl in objects("bowl", color=color(block)):\n'
        "        if not is_in(block, bowl):\n"
        "            pick(block)\n"
        "            place_in(bowl)\n"
    )


def test_a_name_of_its_own_is_an_entry_of_its_own() -> None:
    special = Scene(0.0, (SceneObject("bob's mug", "mug", "", (0.0, 0.0, 0.0), IDENTITY, (0.1, 0.1, 0.1)),))
    assert entries(special).objects == ("bob's mug",)
    assert rendered(node("pick", Pointer("object", 0)), special) == 'pick("bob\'s mug")\n'


def test_names_with_quotes_stay_inside_their_string() -> None:
    name = 'a "x"); go_home() #'
    hostile = Scene(0.0, (SceneObject(name, "mug", "", (0.0, 0.0, 0.0), IDENTITY, (0.1, 0.1, 0.1)),))
    assert rendered(node("pick", Pointer("object", 0)), hostile) == 'pick("a \\"x\\"); go_home() #")\n'


@pytest.mark.parametrize(
    "statement",
    [
        node("push", node("the", Pointer("kind", 1), "any_color"), "top", "usual"),
        node("pick", node("the", Pointer("kind", 1), "any_color")),
        node("put", node("the", Pointer("kind", 1), "any_color"), node("at", "left")),
    ],
)
def test_furniture_is_not_moved(statement: Node) -> None:
    """ "Pull the drawer" is not to pick it up."""
    with pytest.raises(QuestionError, match="I cannot move the drawer from its place"):
        rendered(statement, scene("red block", "drawer"))
