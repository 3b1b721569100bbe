"""A plan that obeys, or the reason why there is none."""

from dataclasses import replace

import pytest
from optimal_plans import optimal_length

from llm_planner.errors import InputError
from llm_planner.language.model import ChoiceReply, Usage
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.choices import Call, Step, call_of, merged
from llm_planner.planning.planning import plan_program
from llm_planner.planning.search.decode import Verdict, decode_plan
from llm_planner.planning.search.prior import ModelPrior, TreePrior
from llm_planner.planning.search.search import Limits
from llm_planner.planning.search.task import History
from llm_planner.plans.unroll import look_ahead
from llm_planner.programs.checker import check_program
from llm_planner.scene.furniture import tray
from llm_planner.scene.places import BEHIND, viewpoint
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import load_skills

COLORS = """
for b in objects("block"):
    for c in objects("bowl"):
        if color(b) == color(c):
            pick(b)
            place_in(c)
"""


def rules(*texts):
    return [Constraint(parse(text), text) for text in texts]


def lines(decoded):
    return decoded.program.splitlines()


@pytest.fixture
def tidy(handling):
    """Decodes the program that puts blocks into bowls of their colour."""

    def make(scene, *texts, limits=None):
        planned = plan_program("tidy up", COLORS, scene, handling)
        forecast = look_ahead(planned.interpreter, scene, BEHIND)
        table = {skill.name: skill for skill in handling}
        tree = merged([[Step(call_of(step, table[step.skill], BEHIND)) for step in forecast.steps]])
        return decode_plan(scene, handling, rules(*texts), forecast.goals, TreePrior(tree), tree.calls, limits)

    return make


def test_without_rules_the_model_keeps_its_order(tidy, table_with_vase):
    assert lines(tidy(table_with_vase((0.62, 0.38)))) == [
        'pick("blue block")', 'place_in("blue bowl")', 'pick("green block")', 'place_in("green bowl")',
        'pick("red block")', 'place_in("red bowl")',
    ]  # fmt: skip


def test_nothing_is_moved_before_the_red_block_is_done(tidy, table_with_vase):
    first = [f"!holding({color} block) W moved(red block)" for color in ("blue", "green")]
    decoded = tidy(table_with_vase((0.62, 0.38)), *first)
    assert lines(decoded) == [
        'pick("red block")', 'place_in("red bowl")', 'pick("blue block")', 'place_in("blue bowl")',
        'pick("green block")', 'place_in("green bowl")',
    ]  # fmt: skip


def test_a_bowl_beside_the_vase_cannot_be_used_without_coming_near(tidy, table_with_vase):
    decoded = tidy(table_with_vase((0.45, -0.01)), "G !near(robot, vase)")
    assert decoded.verdict is Verdict.GAVE_UP  # there are more spots and pushes than can be tried
    assert decoded.reason.startswith("I found no plan with pick, place_in and place_on, nor with the few calls of ")
    assert "never comes near the vase" in decoded.reason
    assert " block is in the " in decoded.reason
    assert "so this does not prove that there is none." in decoded.reason
    assert len(decoded.conflict) == 2


def test_the_program_runs_in_the_words_of_the_speaker(handling, table_with_vase):
    facing = viewpoint("facing")
    scene = table_with_vase((0.62, 0.38))
    goals = look_ahead(
        plan_program("x", 'pick("red block")\nplace_at("left side")', scene, handling, facing).interpreter,
        scene,
        facing,
    ).goals
    planned = TreePrior(merged([[Step(Call("pick", ("red block",))), Step(Call("place_at", ("right side",)))]]))
    decoded = decode_plan(scene, handling, [], goals, planned, viewpoint=facing)
    assert lines(decoded) == ['pick("red block")', 'place_at("left side")']
    check_program(decoded.program, handling, scene)


def test_a_visit_passes_where_it_must_and_not_where_it_must_not(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("F in(robot, office)", "G !in(robot, lab)"))
    assert lines(decoded) == ['go_to("office")'] or lines(decoded) == ['go_to("hall")', 'go_to("office")']
    assert decoded.metres == pytest.approx(optimal_length(building_scene, driving, decoded_rules(decoded)), abs=0.1)


def decoded_rules(decoded):
    return rules("F in(robot, office)", "G !in(robot, lab)")


def test_a_delivery(driving, building_scene):
    decoded = decode_plan(
        building_scene, driving, rules("F in(parcel, office)", "!in(robot, office) W near(robot, Anna)")
    )
    assert lines(decoded) == ['pick_up("parcel")', 'go_to("Anna")', 'go_to("office")', "drop_off()"]


def test_what_was_done_counts_where_it_was_done(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("F did(look, lab)"))
    assert lines(decoded) == ['go_to("lab")', "look()"]


def test_what_holds_already_needs_no_step(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("F in(robot, kitchen)"))
    assert (decoded.verdict, decoded.program, decoded.metres) == (Verdict.PLAN, "", 0.0)


def test_two_rooms_at_once_are_refused_and_the_search_ends(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("F (in(robot, lab) & in(robot, office))", "F in(robot, hall)"))
    assert decoded.verdict is Verdict.IMPOSSIBLE
    assert [str(one.formula) for one in decoded.conflict] == ["F (in(robot, lab) & in(robot, office))"]


def test_a_contradiction_is_told_in_plain_words_with_no_more_than_it_takes(driving, building_scene):
    decoded = decode_plan(
        building_scene,
        driving,
        rules("F in(robot, hall)", "G !in(robot, lab)", "F in(robot, office)", "F in(robot, lab)"),
    )
    assert decoded.reason == (
        "No plan of my skills can satisfy this, because these cannot be kept together here: that the robot never "
        "enters the lab; and that the robot enters the lab at some point."
    )


def test_a_refusal_tells_where_the_things_are_that_cannot_be_had(driving, building_scene):
    decoded = decode_plan(
        building_scene, driving, rules("F in(parcel, office)", "G (holding(parcel) -> !in(robot, kitchen))")
    )
    assert decoded.verdict is Verdict.IMPOSSIBLE
    assert decoded.reason.endswith("it is not in the kitchen. Now the parcel is in the kitchen.")


def test_what_is_broken_from_the_start_is_impossible(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("G !in(robot, kitchen)"))
    assert decoded.verdict is Verdict.IMPOSSIBLE
    assert decoded.reason == (
        "No plan of my skills can satisfy this, because here it cannot be that the robot never enters the kitchen."
    )


def test_a_room_name_inside_another_is_another_room(driving, building_scene):
    from llm_planner.scene.scene import Room

    building = building_scene.building
    rooms = tuple(Room("lab 10", room.area) if room.name == "office" else room for room in building.rooms)
    doors = tuple(
        replace(d, rooms=tuple("lab 10" if name == "office" else name for name in d.rooms)) for d in building.doors
    )
    scene = replace(building_scene, building=replace(building, rooms=rooms, doors=doors))
    decoded = decode_plan(scene, driving, rules("F in(robot, lab 10)", "G !in(robot, lab)"))
    assert decoded.verdict is Verdict.PLAN


def test_at_its_limits_it_says_that_it_gave_up(driving, building_scene):
    decoded = decode_plan(
        building_scene, driving, rules("F in(robot, office)", "F in(parcel, hall)"), limits=Limits(states=2)
    )
    assert decoded.verdict is Verdict.GAVE_UP
    assert decoded.reason.endswith("no proof that there is none. Ask for less at once, or drop a constraint.")


def test_where_it_gives_up_it_says_which_rule_is_in_the_way(driving, building_scene):
    asked = rules(
        "F in(robot, office)", "F (in(parcel, lab) & F (in(robot, kitchen) & F (in(parcel, hall) & F in(robot, lab))))"
    )
    decoded = decode_plan(building_scene, driving, asked, limits=Limits(states=20))
    assert decoded.verdict is Verdict.GAVE_UP
    rule = read_back(asked[1].formula)
    assert decoded.reason.endswith(f"Without “{rule}” there is a plan: drop that, or move things apart.")


def test_it_gives_up_when_its_time_is_over(tidy, table_with_vase):
    rule = "F (moved(red block) & F (moved(vase) & F (moved(green block) & F moved(red bowl))))"
    decoded = tidy(table_with_vase((0.62, 0.38)), rule, limits=Limits(seconds=0.0))
    assert decoded.verdict is Verdict.GAVE_UP


def test_the_same_question_gets_the_same_plan(driving, building_scene):
    asked = rules("F in(parcel, office)", "F near(robot, Anna)", "F in(robot, lab)")
    assert len({decode_plan(building_scene, driving, asked).program for _ in range(3)}) == 1


def test_speeds_are_left_to_those_who_can_measure_them(driving, building_scene):
    slow = Constraint(parse("G speed(robot) < 0.1"), "slowly")
    decoded = decode_plan(building_scene, driving, [slow, *rules("F in(robot, lab)")])
    assert decoded.verdict is Verdict.PLAN


def test_a_plan_that_is_in_time(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("F[0,60] in(robot, lab)"))
    assert decoded.verdict is Verdict.PLAN
    assert decoded.seconds < 60


def test_a_time_that_is_too_short_is_said(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("F[0,1] in(robot, office)"))
    assert decoded.verdict is Verdict.GAVE_UP
    assert decoded.reason.startswith("Every plan that I found comes too early or too late, as far as I can foresee.")


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("F[5,20] in(robot, kitchen)", ["wait(5)"]),
        ("G[0,30] in(robot, kitchen) & F in(robot, lab)", ["wait(30)", 'go_to("lab")']),
        ("F[20,30] in(robot, lab)", ['go_to("lab")', "wait(20)"]),
        ("F[20,24] in(robot, lab)", ["wait(20)", 'go_to("lab")']),
        ("F[20,21] in(robot, lab)", ['go_to("lab")', *["wait(1)"] * 16]),
    ],
)
def test_it_waits_where_it_would_be_too_early(driving, building_scene, text, steps):
    assert lines(decode_plan(building_scene, driving, rules(text))) == steps


# --- what counts as a proof


@pytest.fixture
def few(table_with_vase):
    """A red and a blue block and a vase on the table."""
    scene = table_with_vase((0.5, 0.05))
    kept = ("red block", "blue block", "vase")
    return replace(scene, objects=tuple(item for item in scene.objects if item.name in kept))


def test_any_thing_will_do_where_nothing_is_named(handling, few):
    decoded = decode_plan(few, handling, rules("F holding(anything)", "G !holding(red block)", "G !holding(vase)"))
    assert lines(decoded) == ['pick("blue block")']


def test_any_thing_may_be_put_down_where_only_the_place_is_named(handling, few):
    decoded = decode_plan(few, handling, rules("F did(place_on, vase)"))
    assert lines(decoded)[-1] == 'place_on("vase")'


def test_any_thing_may_be_dropped_off_where_only_the_room_is_named(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("F did(drop_off, office)"))
    assert lines(decoded) == ['pick_up("parcel")', 'go_to("office")', "drop_off()"]


def test_a_thing_is_carried_along_to_be_near_it_elsewhere(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("F (near(robot, parcel) & in(robot, office))"))
    assert lines(decoded) == ['pick_up("parcel")', 'go_to("office")']


def test_what_may_not_be_taken_is_pushed(handling, few):
    decoded = decode_plan(few, handling, rules("F moved(vase)", "G !holding(vase)"))
    (line,) = lines(decoded)
    assert line.startswith('push("vase", ')
    check_program(decoded.program, handling, few)


def test_what_is_asked_to_be_pushed_is_pushed(handling, few):
    (line,) = lines(decode_plan(few, handling, rules("F did(push, red block)")))
    assert line.startswith('push("red block", ')


def test_what_is_to_lie_on_its_side_is_tipped(handling, few):
    assert lines(decode_plan(few, handling, rules("F toppled(vase)"))) == ['tip("vase")']


def test_where_other_calls_might_do_it_no_proof_is_claimed(handling, few):
    decoded = decode_plan(few, handling, rules("F at(vase, left side)", "G !holding(vase)"))
    assert decoded.verdict is Verdict.GAVE_UP
    assert decoded.reason == (
        "I found no plan with pick, place_in and place_on, nor with the few calls of open_gripper, place_at, "
        "place_beside, place_offset, push and sweep that I try, by which it comes about that the vase is at the left "
        "side at some point; and that the robot never holds the vase. Others may do it, so this does not prove that "
        "there is none. Ask for less at once, or drop a constraint."
    )


def test_where_all_calls_that_matter_were_tried_it_is_a_proof(handling, few):
    decoded = decode_plan(few, handling, rules("F on(red block, vase)", "G !holding(red block)"))
    assert decoded.verdict is Verdict.IMPOSSIBLE
    assert len(decoded.conflict) == 2


def test_what_a_push_might_upset_is_not_proved(handling, few):
    block = replace(few.find("red block"), position=(0.5, 0.05, 0.16))
    stacked = replace(few, objects=tuple(block if item.name == block.name else item for item in few.objects))
    decoded = decode_plan(stacked, handling, rules("F !on(red block, vase)", "G !holding(red block)"))
    assert decoded.verdict is Verdict.GAVE_UP
    assert (
        decoded.reason.startswith("I found no plan with pick, place_on, ") or "the few calls of push" in decoded.reason
    )


def test_things_that_only_exclude_each_other_need_no_search_to_be_refused(handling, few):
    decoded = decode_plan(few, handling, rules("F (on(red block, blue block) & on(blue block, red block))"))
    assert decoded.verdict is Verdict.IMPOSSIBLE
    assert decoded.states == 0


def test_nothing_is_put_into_what_holds_nothing(driving, building_scene):
    decoded = decode_plan(building_scene, driving, rules("F in(parcel, Anna)"))
    assert decoded.reason == (
        "No plan of my skills can satisfy this, because here it cannot be that the parcel lies in Anna at some point."
    )


def test_a_rule_about_what_is_not_known_is_an_error(driving, building_scene):
    with pytest.raises(InputError, match="uses the unknown 'inside'"):
        decode_plan(building_scene, driving, rules("G !inside(robot, lab)"))


class Chooser:
    """A model that likes one option best."""

    name = "chooser"

    def __init__(self, *liked):
        self.liked = liked
        self.asked = []

    def choose(self, request):
        self.asked.append(request)
        return ChoiceReply(tuple(-0.1 if option in self.liked else -3.0 for option in request.options), Usage(10, 1, 1))


def test_a_model_is_asked_about_options_that_obey_only(driving, building_scene):
    model = Chooser('go_to("hall")', 'go_to("office")')
    prior = ModelPrior(model, "go to the office by the hall")
    decoded = decode_plan(building_scene, driving, rules("F in(robot, office)", "G !in(robot, lab)"), prior=prior)
    assert decoded.verdict is Verdict.PLAN
    assert all("lab" not in option for request in model.asked for option in request.options)
    assert prior.usage == Usage(10 * len(model.asked), len(model.asked), len(model.asked))


def test_a_model_is_not_asked_the_same_question_twice(building_scene):
    model = Chooser()
    prior = ModelPrior(model, "go")
    calls = [Call("go_to", ("lab",)), Call("go_to", ("hall",))]
    assert prior.prices((), calls, building_scene) == prior.prices((), calls, building_scene)
    assert prior.prices((), calls[:1], building_scene) == [0.0]
    assert len(model.asked) == 1


def test_a_model_is_asked_so_many_questions_and_no_more(building_scene):
    model = Chooser()
    prior = ModelPrior(model, "go", questions=1)
    calls = [Call("go_to", ("lab",)), Call("go_to", ("hall",))]
    prior.prices((), calls, building_scene)
    assert prior.prices(('go_to("lab")',), calls, building_scene) == [0.0, 0.0]
    assert len(model.asked) == 1


def test_what_the_model_likes_wins_over_a_short_detour(driving, building_scene):
    scene = building_scene
    goal = rules("F in(robot, office)")
    assert lines(decode_plan(scene, driving, goal)) == ['go_to("office")']
    likes_hall = TreePrior(merged([[Step(Call("go_to", ("hall",))), Step(Call("go_to", ("office",)))]]))
    assert (
        lines(decode_plan(scene, driving, goal, prior=likes_hall, calls=likes_hall.tree.calls))[-1] == 'go_to("office")'
    )


def test_nothing_is_as_short_as_the_shortest(driving, building_scene):
    asked = rules("F in(parcel, office)", "F in(robot, lab)", "G !near(robot, Anna)")
    assert decode_plan(building_scene, driving, asked, caution=0.0).metres == pytest.approx(
        optimal_length(building_scene, driving, asked)
    )


def test_what_cannot_be_has_no_length(driving, building_scene):
    assert optimal_length(building_scene, driving, rules("F in(robot, lab)", "G !in(robot, lab)")) == float("inf")


def test_what_no_skill_does_is_not_left_to_chance(driving, building_scene):
    bowl = replace(building_scene.find("parcel"), name="bowl", kind="bowl", position=(6.0, 7.0, 0.05))
    scene = replace(building_scene, objects=(*building_scene.objects, bowl))
    asked = rules("F in(parcel, bowl)")
    decoded = decode_plan(scene, driving, asked)
    assert decoded.verdict is Verdict.IMPOSSIBLE  # though the robot might drop it off just there
    assert "here it cannot be that the parcel lies in the bowl" in decoded.reason
    before = History((frozenset({"in(parcel, bowl)"}),))
    assert decode_plan(scene, driving, asked, history=before).verdict is Verdict.PLAN


@pytest.fixture(scope="module")
def with_drawer():
    """A table with a closed drawer, and the skills for it."""
    scene = open_world(seed=1, objects=parse_objects("drawer, red block, blue block")).scene()
    return scene, load_skills().for_scene(scene).signatures


def test_what_goes_into_a_drawer_is_preceded_by_opening_it(with_drawer):
    decoded = decode_plan(*with_drawer, rules("F in(red block, drawer)"))
    assert lines(decoded) == ['open_drawer("drawer")', 'pick("red block")', 'place_in("drawer")']


def test_a_drawer_with_something_in_it_is_closed_again_where_that_is_wanted(with_drawer):
    decoded = decode_plan(*with_drawer, rules("F(in(red block, drawer) & closed(drawer))"))
    assert lines(decoded)[-1] == 'close_drawer("drawer")'


def test_what_lies_in_a_closed_drawer_is_taken_out_of_the_open_one(with_drawer):
    scene, skills = with_drawer
    (x, y), z = tray(scene.find("drawer")).center, scene.find("red block").position[2] + 0.011
    inside = replace(scene.find("red block"), position=(x, y, z))
    scene = replace(scene, objects=tuple(inside if item.name == inside.name else item for item in scene.objects))
    decoded = decode_plan(scene, skills, rules("F holding(red block)"))
    assert lines(decoded) == ['open_drawer("drawer")', 'pick("red block")']
