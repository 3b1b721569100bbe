"""What a correction asks for after the plan has reached its goal."""

from dataclasses import replace

import pytest

from llm_planner.corrections.building_targets import retarget
from llm_planner.corrections.edits import Adjust, Change, Edit, Insert, Rebind, Remove, Replace, Shift, Undo
from llm_planner.corrections.follow_up import follow_up, reopened
from llm_planner.corrections.references import UnclearError
from llm_planner.language.correction_requests import Frame, Intent, Lifetime, Request
from llm_planner.plans.plan import StepStatus


@pytest.fixture
def ended(at_table, table_with, in_house):
    """Builds the situation after a plan has ended, opened again for a correction; `moved` objects lie elsewhere."""

    def made(calls=None, held="", in_building=False, held_at_start="", **moved):
        situation = in_house() if in_building else table_with(calls)
        done = tuple(replace(step, status=StepStatus.DONE) for step in situation.plan.steps)
        objects = tuple(
            replace(item, position=moved.get(item.name.replace(" ", "_"), item.position))
            for item in situation.scene.objects
        )
        scene = replace(situation.scene, objects=objects, held=held)
        return reopened(replace(situation, plan=replace(situation.plan, steps=done), scene=scene), held_at_start)

    return made


IN_BOWL = (("pick", {"object": "red block"}), ("place_in", {"object": "green bowl"}))
BACK = 'pick("red block")\nplace_at(point(0.36, -0.1))\n'  # where the red block lay


def test_the_last_errand_is_ahead_once_more(ended):
    plan = ended((*IN_BOWL, ("pick", {"object": "mug"}), ("place_on", {"object": "plate"}))).plan
    assert [str(step) for step in plan.steps[4:]] == ['pick("mug")', 'place_on("plate")']
    assert [step.id for step in plan.steps] == list("123456")


def test_another_thing_is_put_there_and_the_first_one_goes_back(ended):
    edit = Edit((Rebind("3", "object", "blue block"),))
    assert follow_up(edit, ended(IN_BOWL, red_block=(0.55, 0.18, 0.03))) == (
        f'{BACK}pick("blue block")\nplace_in("green bowl")\n'
    )


def test_what_is_still_held_is_laid_back_first(ended):
    edit = Edit((Rebind("2", "object", "blue block"),))
    assert follow_up(edit, ended(IN_BOWL[:1], held="red block")) == 'place_at(point(0.36, -0.1))\npick("blue block")\n'


@pytest.mark.parametrize(
    ("operation", "program"),
    [
        (Rebind("4", "object", "blue bowl"), 'pick("red block")\nplace_in("blue bowl")\n'),
        (Replace("4", "place_on", {"object": "plate"}), 'pick("red block")\nplace_on("plate")\n'),
        (Insert("push", {"object": "mug", "direction": "left", "distance": 0.1}, "3"), 'push("mug", "left", 0.1)\n'),
        (Undo(), BACK),
    ],
)
def test_another_target_or_more_to_do(ended, operation, program):
    assert follow_up(Edit((operation,)), ended(IN_BOWL, red_block=(0.55, 0.18, 0.03))) == program


def test_a_shift_counts_from_where_the_thing_is_now(ended):
    shift = Shift((0.0, 0.02, 0.0), Frame.PERSON, Lifetime.STEP)
    there = ended((("pick", {"object": "mug"}), ("place_at", {"place": "left side"})), mug=(0.5, 0.3, 0.04))
    assert follow_up(Edit((shift,)), there) == 'pick("mug")\nplace_at(point(0.5, 0.32))\n'


@pytest.mark.parametrize(
    "operations",
    [(), (Adjust("speed", Change.SCALE, 0.5),), (Remove("3"), Remove("4")), (Adjust("speed", Change.SCALE, 0.5, "3"),)],
)
def test_nothing_is_done_for_what_leaves_all_as_it_is(ended, operations):
    assert follow_up(Edit(operations), ended(IN_BOWL)) == ""


def test_a_thing_goes_back_into_what_it_lay_in(ended, at_table):
    plan = (("pick", {"object": "red block"}), ("place_on", {"object": "plate"}))
    there = ended(plan, red_block=(0.53, -0.09, 0.037))
    from_bowl = replace(there, origins={**there.origins, "red block": (0.55, 0.18, 0.03)})
    assert follow_up(Edit((Undo(),)), from_bowl) == 'pick("red block")\nplace_in("green bowl")\n'


class TestWhatWasHeldAtTheStart:
    @pytest.fixture
    def there(self, ended):
        return ended((("place_on", {"object": "plate"}),), held_at_start="mug", mug=(0.53, -0.09, 0.06))

    def test_is_taken_again(self, there):
        assert follow_up(Edit((Replace("3", "place_in", {"object": "green bowl"}),)), there) == (
            'pick("mug")\nplace_in("green bowl")\n'
        )

    def test_is_shifted(self, there):
        shift = Shift((0.0, 0.02, 0.0), Frame.PERSON, Lifetime.STEP)
        assert follow_up(Edit((shift,)), there) == 'pick("mug")\nplace_at(point(0.53, -0.07))\n'

    def test_is_not_put_back_since_nobody_knows_where_it_lay(self, there):
        with pytest.raises(UnclearError, match="I do not know where the mug lay before"):
            follow_up(Edit((Undo(),)), there)


def test_a_thing_that_was_pushed_goes_back_where_another_is_to_be_pushed(ended):
    plan = (("push", {"object": "red block", "direction": "right", "distance": 0.1}),)
    edit = Edit((Rebind("2", "object", "blue block"),))
    assert follow_up(edit, ended(plan, red_block=(0.36, -0.2, 0.02))) == f'{BACK}push("blue block", "right", 0.1)\n'
    assert follow_up(edit, ended(plan)) == 'push("blue block", "right", 0.1)\n'


def test_a_push_is_not_done_again_with_another_distance(ended):
    pushed = ended((("push", {"object": "red block", "direction": "right", "distance": 0.1}),))
    assert follow_up(Edit((Adjust("distance", Change.SHIFT, 0.05, "2"),)), pushed) == ""


def test_in_a_building_another_room(ended):
    house = ended(in_building=True)
    last = house.ahead
    assert [step.skill for step in last] == ["go_to", "wait"]
    program = follow_up(Edit((Rebind(last[0].id, "destination", "office"),)), house)
    assert program == 'go_to("office")\nwait(20)\n'


def test_what_was_only_picked_up_is_put_somewhere(ended):
    holding = ended(IN_BOWL[:1], held="red block")
    request = Request(Intent.OTHER_TARGET, relation="on", target="plate")
    assert follow_up(Edit(retarget(request, holding)), holding) == 'place_on("plate")\n'
