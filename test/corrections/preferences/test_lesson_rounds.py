"""Somebody who wants eight things their way teaches them once each and is never asked to again."""

import pytest

from llm_planner.corrections.edits import Adjust, Change, Rebind, Shift
from llm_planner.language.correction_requests import Scope

SLOWER = Adjust("speed", Change.SCALE, 0.5)
# What is wanted: with which thing, of which step, how, and as which words.
WANTED = [
    ("red mug", "s1", SLOWER, "always slower with mugs", "mug"),
    ("red mug", "s2", Rebind("s2", "object", "blue bowl"), "always in the blue bowl", ""),
    ("vase", "s1", Shift((0.0, 0.02, 0.0)), "always a bit to the left", ""),
    ("red block", "s1", Adjust("height", Change.SHIFT, 0.05), "always higher with the blocks", "block"),
]


def unmet(recollection, wanted):
    """What the person would have to say: what is wanted and not done by itself."""
    done = {type(item) for use in recollection.uses for item in use.operations if use.step in ("", wanted[1])}
    return type(wanted[2]) not in done


def test_what_was_told_in_the_first_round_need_not_be_told_again(person, tidy):
    said = []
    for _ in range(3):
        said.append(0)
        for wanted in WANTED:
            name, step, operation, words, about = wanted
            situation = tidy(name, running=int(step[1:]))
            found = person.commands(situation)
            if unmet(found, wanted):
                said[-1] += 1
                person.says(words, situation, operation, scope=Scope.ALWAYS, about=about, used=found.used(step))
            person.sees(step, used=found.used(step))
            person.sees_the_end()
    assert said == [len(WANTED), 0, 0]


@pytest.mark.parametrize("name", ["green bowl", "green block"])
def test_nothing_of_it_reaches_things_of_other_kinds(name, person, tidy):
    for thing, step, operation, words, about in WANTED[:3]:
        person.commands(tidy(thing))
        person.says(words, tidy(thing, running=int(step[1:])), operation, scope=Scope.ALWAYS, about=about)
        person.sees(step)
    assert len(person.learned) == 3
    assert person.commands(tidy(name)).uses == ()


def factor(recollection):
    """By what the speed of the first step is scaled."""
    (use,) = [use for use in recollection.uses if use.in_motion and use.step == "s1"]
    return use.operations[0].value


def test_two_people_have_their_own_ways(anna_and_ben, tidy):
    anna, ben = anna_and_ben
    for who, operation in ((anna, SLOWER), (ben, Adjust("speed", Change.SCALE, 2.0))):
        who.commands(tidy("red mug"))
        who.says("always so with mugs", tidy("red mug"), operation, scope=Scope.ALWAYS, about="mug")
        who.sees("s1")
    assert [factor(anna.commands(tidy("blue mug"))) for _ in range(2)] == [0.5, 0.5]
    assert factor(ben.commands(tidy("blue mug"))) == 2.0
    assert ben.commands(tidy("blue mug")).doubts == ()
