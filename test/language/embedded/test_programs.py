"""Statements become programs: descriptions are resolved in the scene, and what cannot be resolved is a question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.embedded.command_forms import COMMANDS
from llm_planner.language.embedded.programs import program
from llm_planner.language.grounding.resolution import Resolver
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject
from training.results import check_result, parse_result


def scene(*names: str) -> Scene:
    def thing(name: str) -> SceneObject:
        words = name.split()
        return SceneObject(name, words[-1], " ".join(words[:-1]), (0.0, 0.0, 0.0), IDENTITY, (0.04, 0.04, 0.04))

    return Scene(0.0, tuple(map(thing, names)))


TABLE = scene("red block", "blue block", "red bowl")


def written(result: str, said: str = "", where: Scene = TABLE) -> str:
    terms = parse_result(result)
    check_result(terms, COMMANDS)
    return program(terms, Resolver(said, where))


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ('put("the blue block", in("bowl"))', ['pick("blue block")', 'place_in("red bowl")']),
        ('put("the red one", in("red bowl"))', ['pick("red block")', 'place_in("red bowl")']),
        ('each("bloks", pick(item))', ['for block in objects("block"):', "    pick(block)"]),
        ('swap(nth("blocks", left, n1), nth("blocks", left, n2))',
         ['one = from_side(objects("block"), "left")[0]', 'other = from_side(objects("block"), "left")[1]',
          "here = position(one)", "there = position(other)", "pick(one)", 'place_at("middle")', "pick(other)",
          "place_at(here)", "pick(one)", "place_at(there)"]),
        ('wait("5 s")', ["wait(5)"]),
        ('tower(list("red block", "blue block"))', ['pick("blue block")', 'place_on("red block")']),
        ('put("red block", in(closest("bowls", "red block")))',
         ['target = closest(objects("bowl"), to="red block")', 'pick("red block")', 'place_in(target)']),
        ('when(exists("mauve block"), go_home)', ["if len([]) > 0:", "    go_home()"]),
        ('each("blocks", put(item, in(same_color("bowl"))))',
         ['for block in objects("block"):',
          '    if len(objects("bowl", color=color(block))) > 0 and '
          'not is_in(block, objects("bowl", color=color(block))[0]):',
          "        pick(block)", '        place_in(objects("bowl", color=color(block))[0])']),
        ('touch("red block", "the red one")', ["achieve(\"reach(gap('red block', 'red bowl') <= 0.003)\")"]),
        ('swap("blue block", "bowl")',
         ['here = position("blue block")', 'there = position("red bowl")', 'pick("blue block")',
          "place_at(point(0.46, 0.00))", 'pick("red bowl")', "place_at(here)", 'pick("blue block")',
          "place_at(there)"]),
        ('tower(list(any("blocks"), any("blocks")))',
         ['pick(objects("block")[1])', 'place_on(objects("block")[0])']),
        ('put(any("blocks"), near(any(except("blocks", any("blocks")))))',
         ['target = [each for each in objects("block") if each != objects("block")[0]][0]',
          'pick(objects("block")[0])', "place_beside(target)"]),
        ('push(any("blocks"), left); push(any("blocks"), top)',
         ['push(objects("block")[0], "left", 0.1)', 'push(objects("block")[0], "top", 0.1)']),
        ('deal_in(not_color("blocks", "red"), "bowls")',
         ['for block, bowl in zip([each for each in objects("block") if color(each) != "red"], objects("bowl")):',
          "    pick(block)", "    place_in(bowl)"]),
    ],
)  # fmt: skip
def test_statements_are_written_with_what_the_words_name(result: str, lines: list[str]) -> None:
    assert written(result).splitlines() == lines


def test_what_is_held_is_not_picked_up_again_before_it_is_put_somewhere() -> None:
    held = replace(TABLE, held="red block")
    assert written('put("red block", in("bowl"))', where=held) == 'place_in("red bowl")\n'
    assert written('tower(list("blue block", "red block"))', where=held) == 'place_on("blue block")\n'
    assert written('put("blue block", on("red block"))', where=held) == 'pick("blue block")\nplace_on("red block")\n'
    later = written('go_home; put("red block", on("blue block"))', where=held)
    assert later == 'go_home()\npick("red block")\nplace_on("blue block")\n'


def test_the_red_one_takes_its_noun_from_the_rest_of_the_sentence() -> None:
    result = 'put("the red one", on("blue block"))'
    lines = 'pick("red block")\nplace_on("blue block")\n'
    assert written(result, "put the red one on the blue block") == lines
    assert written(result, "put the red one on the blue cube") == lines
    with pytest.raises(QuestionError, match="Which red object do you mean: the red block or the red bowl"):
        written('pick("the red one")', "grab the red one")


@pytest.mark.parametrize(
    ("result", "question"),
    [
        ('pick("block")', "Which block do you mean: the red block or the blue block"),
        ('pick("purple block")', r"I see no purple block here.*red block, blue block, red bowl"),
        ('tower("bananas")', "I see no bananas here"),
        ('tower(not_color("blocks", "mauve"))', "nothing that is 'mauve'"),
        ('tower(not_kind("things"))', "nothing that is 'things'"),
        ("pick(item)", "which thing that is about"),
        ('each("blocks", each("bowls", put(outer, in(item))))', "Which of “bowls” is meant for each of the things"),
        ('push("red block", left, "a bit")', "how far “a bit” is"),
        ('repeat("thirty times", go_home)', "1 to 20 times, not 30"),
    ],
)
def test_what_fits_nothing_or_several_things_is_asked(result: str, question: str) -> None:
    with pytest.raises(QuestionError, match=question):
        written(result)


@pytest.mark.parametrize("bowl", ["bowl", "red bowl"])
def test_everything_into_the_bowl_leaves_the_bowl_itself_alone(bowl: str) -> None:
    lines = written(f'each(all, put(item, in("{bowl}")))')
    assert lines.startswith('for item in [each for each in objects() if each != "red bowl"]:')


def test_what_cannot_be_in_a_set_is_not_left_out_of_it() -> None:
    assert written('each("red blocks", put(item, near("blue block")))').startswith("for block in objects(")


@pytest.mark.parametrize("name", ["bob's mug", 'a "x"); go_home() #'])
def test_any_name_stays_inside_its_string(name: str) -> None:
    special = Scene(0.0, (SceneObject(name, "mug", "", (0.0, 0.0, 0.0), IDENTITY, (0.1, 0.1, 0.1)),))
    escaped = name.replace('"', '\\"')
    assert written('pick("mug")', where=special) == f'pick("{escaped}")\n'


@pytest.mark.parametrize("result", ['push("drawer", top)', 'pick("drawer")', 'put("drawer", at(left_side))'])
def test_furniture_is_not_moved(result: str) -> None:
    """ "Pull the drawer" is not to pick it up."""
    with pytest.raises(QuestionError, match="I cannot move the drawer from its place"):
        written(result, where=scene("red block", "drawer"))


def test_a_person_is_a_set_of_one() -> None:
    anna = SceneObject("Anna", "person", "", (0.0, 0.0, 0.9), IDENTITY, (0.5, 0.5, 1.8))
    house = Scene(0.0, (*TABLE.objects, anna))
    assert written('each("anna", face("anna"))', where=house).startswith('for item in ["Anna"]:\n')


def test_any_of_several_is_the_first_that_is_not_spoken_of_and_the_one_is_a_question() -> None:
    where = scene("blue block", "red block", "plate")
    said = "put any block on the plate"
    assert written('put("block", on("plate"))', said, where) == 'pick("blue block")\nplace_on("plate")\n'
    said = "put a block on the blue block"
    assert written('put("block", on("blue block"))', said, where) == 'pick("red block")\nplace_on("blue block")\n'
    with pytest.raises(QuestionError, match="Which block do you mean"):
        written('put("block", on("plate"))', "put the block on the plate", where)


def test_away_from_a_thing_is_never_beside_it() -> None:
    with pytest.raises(QuestionError, match="How far from “bowl”"):
        written('put("red block", near("bowl"))', "move the red block away from the bowl")
    assert "place_beside" in written(
        'put("red block", near("bowl"))', "move it near the bowl, away from the blue block"
    )


def test_out_of_the_bowl_and_in_with_a_thing_are_of_the_bowl_that_it_is_in() -> None:
    def at(name: str, kind: str, x: float, size: float) -> SceneObject:
        return SceneObject(name, kind, name.split()[0], (x, 0.0, size / 4), IDENTITY, (size, size, size / 2))

    bowls = (at("green bowl", "bowl", 0.3, 0.12), at("blue bowl", "bowl", 0.6, 0.12))
    where = Scene(0.0, (*bowls, at("red block", "block", 0.3, 0.04), at("yellow block", "block", 0.0, 0.04)))
    beside = written('put("red block", beside("bowl", left))', "take the red block out of the bowl", where)
    assert 'pick("red block")' in beside
    assert "green bowl" in beside
    inside = written('put("yellow block", in("red one"))', "put the yellow block in with the red one", where)
    assert inside == 'pick("yellow block")\nplace_in("green bowl")\n'
    with pytest.raises(QuestionError, match="Which bowl do you mean"):
        written('put("red block", in("bowl"))', "put the red block in the bowl", where)


def test_what_was_spilt_is_the_stain() -> None:
    spilt = scene("brown stain", "mug")
    assert written('wipe("tea")', where=spilt) == written("wipe", where=spilt) == 'wipe("brown stain")\n'
    with pytest.raises(QuestionError, match="I see no stain here"):
        written('wipe("tea")')


def test_the_only_thing_of_a_kind_may_be_called_by_a_word_that_nobody_knows() -> None:
    assert written('pick("cereal bowl")') == 'pick("red bowl")\n'
    with pytest.raises(QuestionError, match="no wooden block"):
        written('pick("wooden block")')


def test_a_thing_of_another_colour_is_not_the_only_one_of_its_kind() -> None:
    with pytest.raises(QuestionError, match="mauve"):
        written('pick("mauve bowl")')


def test_a_drawer_is_opened_before_something_is_put_into_it_unless_a_statement_does_so() -> None:
    where, put = scene("red block", "gray drawer"), 'put("red block", in("drawer"))'
    opened = 'if not is_open("gray drawer"):\n    open_drawer("gray drawer")\n'
    assert written(put, where=where) == f'{opened}pick("red block")\nplace_in("gray drawer")\n'
    assert "is_open" not in written(f'open_drawer("drawer"); {put}', where=where)
    assert written(f'open_drawer("drawer"); close_drawer("drawer"); {put}', where=where).count(opened) == 1


def test_a_name_by_itself_is_known_with_a_letter_left_out() -> None:
    where = scene("dock", "red block")
    assert Resolver("go to the dok", where).name("dok") == "dock"
    with pytest.raises(QuestionError, match="do not know"):
        Resolver("go to the duct", where).name("duct")
