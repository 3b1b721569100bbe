from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.programs.problems import ProgramError
from llm_planner.programs.reward_program import MAX_WISHES, check_reward
from llm_planner.programs.reward_terms import TERMS, Term
from llm_planner.scene.scene import IDENTITY, Pose, Scene, SceneObject
from llm_planner.simulation.rooms.building_plan import draw_building

BLOCK = SceneObject("red block", "block", "red", (0.5, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04))
VASE = SceneObject("vase", "vase", "", (0.5, 0.2, 0.06), IDENTITY, (0.048, 0.048, 0.12))
SCENE = Scene(0.0, (BLOCK, VASE), robot=Pose((0.3, 0.0, 0.4), (1.0, 0.0, 0.0, 0.0)))


def test_a_program_is_read_and_written_back_the_same() -> None:
    text = (
        "reach(distance('red block', 'vase') <= 0.1, weight=2); keep(moved('vase') <= 0.01); "
        "reach(turned('red block') == -45); reach(distance('robot', (0.4, -0.1)) <= 0.02)"
    )
    program = check_reward(text, SCENE)
    assert str(program) == text
    assert program.names == ("red block", "vase", "robot")
    assert program.movers == ("red block", "vase")
    assert check_reward(str(program), SCENE) == program


def test_lines_may_be_apart_and_have_comments() -> None:
    program = check_reward("# over it goes\nreach(tilt('vase') > 80)\nkeep(height('red block') < 0.01)\n", SCENE)
    assert [str(wish) for wish in program.wishes] == ["reach(tilt('vase') >= 80)", "keep(height('red block') <= 0.01)"]


@pytest.mark.parametrize("term", TERMS.values(), ids=lambda term: term.name)
def test_every_term_can_be_written_and_its_range_is_kept(term: Term) -> None:
    words = {"mover": "'red block'", "thing": "'vase'", "place": "'robot'", "direction": "'left'"}
    names = [words[role] for role in term.roles]
    if term.roles == ("mover", "place", "place"):
        names[2] = "'middle'"
    call = f"{term.name}({', '.join(names)})"
    assert check_reward(f"reach({call} <= {term.maximum:g})", SCENE).wishes[0].term is term
    with pytest.raises(ProgramError, match=f"{term.name} is compared with a number from .* {term.unit}, not"):
        check_reward(f"reach({call} <= {term.maximum * 2 + 1:g})", SCENE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the program is empty"),
        ("import os", "an import is not allowed"),
        ("x = 1", "a reward program has nothing but lines of reach and keep; write reach"),
        ("reach", "this statement does nothing"),
        ("for i in range(3):\n    reach(tilt('vase') >= 80)", "nothing but lines of reach and keep"),
        ("reech(tilt('vase') >= 80)", r"'reech' is not a line of a reward program \(did you mean \"reach\"\?\)"),
        ("reach(tilt('vase') >= 80, 3)", "reach takes one comparison, not 2"),
        ("reach(tilt('vase') >= 80, weight=50)", "a weight must be a number from 0.1 to 10, not 50"),
        ("reach(tilt('vase') >= 80, soon=1)", "'soon' is not an argument; a line may have a weight=0.1 to 10"),
        ("reach(tilt('vase'))", r"tilt\('vase'\) is not a comparison of a term with a number"),
        ("reach(0 <= tilt('vase') <= 80)", "is not a comparison of a term with a number"),
        ("reach(tilt('vase') != 80)", "is not a comparison of a term with a number"),
        ("reach(tilt('vase') >= height('vase'))", r"height\('vase'\) is not a number"),
        ("reach(tllt('vase') >= 80)", r"there is no term 'tllt' \(did you mean \"tilt\"\?\); the terms are: distance"),
        ("reach(80 >= 80)", "there is no term '80'"),
        ("reach(tilt('vase', 'red block') >= 80)", r"tilt takes 1 arguments without names: tilt\(a\)"),
        ("reach(distance('vase', b='vase') >= 0.1)", r"distance takes 2 arguments without names: distance\(a, b\)"),
        ("reach(distance('vase', 'vase') <= 0.1)", "distance is given the same thing twice"),
        ("reach(tilt('vaze') >= 80)", r"tilt: \"vaze\" is not a valid argument \(did you mean \"vase\"\?\); choose"),
        ("reach(tilt('robot') >= 80)", "tilt: \"robot\" is not a valid argument; choose one of: red block, vase"),
        ("reach(distance('vase', 'attic') <= 1)", r"choose one of: .*robot, .*middle.*; or a point \(x, y\) in metres"),
        ("reach(distance('vase', (1, 2, 3)) <= 1)", r"distance: \(1, 2, 3\) is not a valid argument"),
        ("reach(progress('vase', 'north') >= 0.1)", "progress: \"north\" is not a valid argument.*: top, left, bottom"),
        ("reach(tilt('vase') >= True)", "True is not a number"),
        ("keep(tilt('vase') <= 5)", "nothing is to be reached; a reward program needs at least one reach"),
        ("reach(tilt('vase') >= 80)\n" * (MAX_WISHES + 1), "the reward program has 9 lines; at most 8 are read"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_the_choices(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        check_reward(text, SCENE)


def test_nobody_alive_is_moved_and_a_base_moves_nothing_but_itself() -> None:
    anna = SceneObject("Anna", "person", "", (0.5, -0.3, 0.85), IDENTITY, (0.44, 0.44, 1.7))
    with_anna = replace(SCENE, objects=(*SCENE.objects, anna))
    assert check_reward("reach(distance('vase', 'Anna') >= 0.3); keep(moved('Anna') <= 0.01)", with_anna)
    message = "reach: Anna is not moved by this robot; what it moves: robot, red block, vase; of anything else only"
    with pytest.raises(ProgramError, match=message):
        check_reward("reach(distance('Anna', 'vase') >= 0.3)", with_anna)
    building = draw_building(8, np.random.default_rng(0))
    with pytest.raises(ProgramError, match="the vase is not moved by this robot; what it moves: robot; of anything"):
        check_reward("reach(distance('vase', 'robot') <= 0.3)", replace(SCENE, building=building))
    assert check_reward("reach(facing('vase', 'robot') <= 9)", replace(SCENE, building=building, held="vase"))


def test_all_problems_are_told_at_once_with_their_lines() -> None:
    with pytest.raises(ProgramError) as found:
        check_reward("reach(tllt('vase') >= 80)\nkeep(tilt('vaze') <= 5, weight=99)", SCENE)
    assert [problem.line for problem in found.value.problems] == [1, 2, 2]


def test_a_thing_that_is_not_there_is_a_question_for_the_person() -> None:
    with pytest.raises(ProgramError) as found:
        check_reward("reach(tilt('mug') >= 80)", SCENE)
    assert found.value.person_can_answer


def test_a_robot_that_nobody_sees_is_not_spoken_of() -> None:
    with pytest.raises(ProgramError, match='distance: "robot" is not a valid argument'):
        check_reward("reach(distance('robot', 'vase') <= 0.1)", Scene(0.0, (BLOCK, VASE)))
