"""The compact model's grammar of phrases: what it claims, what it comes to, and what it leaves to the networks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llm_planner.errors import InputError
from llm_planner.language.compact.model import load_compact_model
from llm_planner.language.compact.phrase_writer import write_by_phrases
from llm_planner.language.model import Attempt, ProgramRequest, ReadingRequest
from llm_planner.language.understanding.grounding import ground
from llm_planner.program.checker import check_program
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.rooms.things import parse_things
from llm_planner.simulation.world import open_world
from llm_planner.skills.library import load_skills
from llm_planner.world.scene import Scene

TABLE = open_world("tabletop", 0, parse_objects("red block, blue block, green bowl, mug, vase")).scene()
FURNISHED = open_world(
    "tabletop", 0, parse_objects("drawer, button, stain, sponge, red block, green bowl, blue mug")
).scene()
HOUSE = open_world("rooms", 0, parse_things("parcel, plant, Anna")).scene()

ARM = [
    ("Turn the mug by 90 degrees.", "reach(turned('mug') == 90)"),
    ("please rotate the mug a quarter turn clockwise", "reach(turned('mug') == -90)"),
    ("knock the vase over", "reach(tilt('vase') >= 80)"),
    ("tip over the vase", "reach(tilt('vase') >= 80)"),
    ("lay the vase on its side", "reach(tilt('vase') >= 80)"),
    (
        "turn the handle of the mug towards the red block",
        "reach(facing('mug', 'red block') <= 8); reach(tilt('mug') <= 8)",
    ),
    ("point the mug's handle away from the vase", "reach(facing('mug', 'vase') >= 172); reach(tilt('mug') <= 8)"),
    ("slide the green bowl against the mug", "reach(gap('green bowl', 'mug') <= 0.003)"),
    ("push the red block and the blue block together", "reach(gap('red block', 'blue block') <= 0.003)"),
    ("line the red block up with the mug and the vase", "reach(off_line('red block', 'mug', 'vase') <= 0.012)"),
    ("push the red block to within 5 cm of the mug", "reach(gap('red block', 'mug') <= 0.05)"),
    ("give the mug half a turn", "reach(turned('mug') == 180)"),
    ("make the vase fall over", "reach(tilt('vase') >= 80)"),
    (
        "the mug's handle should face the vase",
        "reach(facing('mug', 'vase') <= 8); reach(tilt('mug') <= 8)",
    ),
    ("push the two blocks together until they touch", "reach(gap('red block', 'blue block') <= 0.003)"),
    ("bring the mug right next to the vase by sliding it", "reach(gap('mug', 'vase') <= 0.003)"),
    ("push the red block until it is 10 cm from the vase", "reach(gap('red block', 'vase') == 0.1)"),
    ("push the mug away from the vase until there are 20 cm between them", "reach(gap('mug', 'vase') >= 0.2)"),
    (
        "slide the red block 10 cm to the right, but leave the vase alone",
        "reach(progress('red block', 'right') >= 0.1); keep(moved('vase') <= 0.01); "
        "keep(gap('red block', 'vase') >= 0.01)",
    ),
    (
        "push the red block to the middle and turn it by 45 degrees",
        "reach(distance('red block', 'middle') <= 0.02); reach(turned('red block') == 45)",
    ),
    (
        "slide the red block 10 cm to the left without touching the vase",
        "reach(progress('red block', 'left') >= 0.1); keep(moved('vase') <= 0.01); "
        "keep(gap('red block', 'vase') >= 0.01)",
    ),
]
MOBILE = [
    ("face Anna", "reach(facing('robot', 'Anna') <= 8)"),
    ("turn your back on the plant", "reach(facing('robot', 'plant') >= 170)"),
    ("spin twice clockwise", "reach(turned('robot') == -720); keep(moved('robot') <= 0.1)"),
    ("circle the plant", "reach(circled('robot', 'plant') == 360); keep(distance('robot', 'plant') <= 1.17)"),
    (
        "drive backwards to Anna",
        "reach(distance('robot', 'Anna') <= 0.82); reach(facing('robot', 'Anna') >= 170)",
    ),
    ("turn a quarter turn to the right", "reach(turned('robot') == -90); keep(moved('robot') <= 0.1)"),
    (
        "go three times round the plant clockwise",
        "reach(circled('robot', 'plant') == -1080); keep(distance('robot', 'plant') <= 1.17)",
    ),
    (
        "stop 2 m from Anna, facing her",
        "reach(distance('robot', 'Anna') == 2); reach(facing('robot', 'Anna') <= 8)",
    ),
    (
        "back away from Anna to 2 metres while facing her",
        "reach(distance('robot', 'Anna') >= 2); reach(facing('robot', 'Anna') <= 15); "
        "keep(facing('robot', 'Anna') <= 15)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("command", "rewards"), ARM)
def test_what_an_arm_is_asked_becomes_a_reward_program(command: str, rewards: str) -> None:
    assert write_by_phrases(command, TABLE) == f'achieve("{rewards}")'


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("Open the drawer.", ['open_drawer("drawer")']),
        ("pull the drawer out", ['open_drawer("drawer")']),
        ("please shut the drawer", ['close_drawer("drawer")']),
        ("shut the drawer gently", ['close_drawer("drawer")']),
        ("push the drawer back in", ['close_drawer("drawer")']),
        ("press the button", ['press("button")']),
        ("push down the button", ['press("button")']),
        ("wipe the stain away", ['pick("sponge")', 'wipe("stain")']),
        ("clean the stain with the sponge", ['pick("sponge")', 'wipe("stain")']),
        ("tip the mug", ['tip("blue mug")']),
        ("sweep the block to the left side", ['sweep("red block", "left side")']),
        ("hold your hand over the blue mug", ['reach("blue mug")']),
        (
            "open the drawer, then put the block in the bowl and close it",
            ['open_drawer("drawer")', 'pick("red block")', 'place_in("green bowl")', 'close_drawer("drawer")'],
        ),
    ],
)
def test_what_the_furniture_is_for_is_known(command: str, program: list[str]) -> None:
    assert write_by_phrases(command, FURNISHED).splitlines() == program


@pytest.mark.parametrize(
    ("command", "calls"),
    [
        ("wipe the stain with the blue mug", ["pick", "wipe"]),
        ("wipe the stain and press the button", ["pick", "wipe", "place_at", "press"]),
        ("wipe the stain, wipe it again", []),
        ("press the button and wipe the stain", ["press", "pick", "wipe"]),
    ],
)
def test_what_was_wiped_with_is_put_back_where_it_lay(command: str, calls: list[str]) -> None:
    assert [line.split("(")[0] for line in write_by_phrases(command, FURNISHED).splitlines()] == calls
    if "place_at" in calls:
        x, y, _ = FURNISHED.find("sponge").position
        assert f"place_at(point({x:.3f}, {y:.3f}))" in write_by_phrases(command, FURNISHED)


@pytest.mark.parametrize(
    "command", ["leave the stain alone", "press the button without touching the drawer", "push it"]
)
def test_what_is_only_to_be_kept_or_can_mean_many_things_is_left_to_others(command: str) -> None:
    assert write_by_phrases(command, FURNISHED) == ""


def test_a_sponge_in_the_hand_is_not_picked_up() -> None:
    held = replace(FURNISHED, held="sponge")
    assert write_by_phrases("wipe the stain", held) == 'wipe("stain")'


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("press it", ['press("button")']),
        ("shut it", ['close_drawer("drawer")']),
        ("wipe it up", ['pick("sponge")', 'wipe("stain")']),
        ("clean the table", ['pick("sponge")', 'for stain in objects("stain"):', "    wipe(stain)"]),
    ],
)
def test_what_alone_can_be_meant_need_not_be_named(command: str, program: list[str]) -> None:
    assert write_by_phrases(command, FURNISHED).splitlines() == program


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("open the bowl", 'open_drawer("green bowl")'),
        ("shut the mug", 'close_drawer("blue mug")'),
        ("press the red block", 'press("red block")'),
        ("wipe the mug", 'wipe("blue mug")'),
        ("put the red block in the drawer", 'place_in("drawer")'),
    ],
)
def test_what_a_thing_is_not_for_is_left_to_the_checks_of_the_plan(command: str, call: str) -> None:
    assert write_by_phrases(command, FURNISHED).splitlines()[-1] == call


def test_a_bowl_is_not_tipped_over() -> None:
    assert write_by_phrases("tip the bowl", FURNISHED) == ""


@pytest.mark.parametrize("command", ["wipe the table", "press it", "press the red block", "open it", "tip it"])
def test_furniture_that_is_not_there_is_not_spoken_of(command: str) -> None:
    assert write_by_phrases(command, TABLE) == ""


@pytest.mark.parametrize(("command", "rewards"), MOBILE)
def test_what_a_base_is_asked_becomes_a_reward_program(command: str, rewards: str) -> None:
    assert write_by_phrases(command, HOUSE) == f'manoeuvre("{rewards}")'


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("Follow Anna.", 'go_to("Anna")\nfollow("Anna", 60, 1)'),
        ("follow the person for 20 seconds", 'go_to("Anna")\nfollow("Anna", 20, 1)'),
        ("follow the plant at a distance of 150 cm for half a minute", 'go_to("plant")\nfollow("plant", 30, 1.5)'),
        ("stay behind Anna 2 m for two minutes", 'go_to("Anna")\nfollow("Anna", 120, 2)'),
        ("walk behind Anna for a minute", 'go_to("Anna")\nfollow("Anna", 60, 1)'),
        ("dock", 'dock("dock")'),
        ("please go and charge", 'dock("dock")'),
        ("recharge your battery", 'dock("dock")'),
        ("go to the dock and charge", 'dock("dock")'),
        ("return to your dock", 'dock("dock")'),
        ("follow Anna, then charge", 'go_to("Anna")\nfollow("Anna", 60, 1)\ndock("dock")'),
    ],
)
def test_following_and_docking_are_known(command: str, program: str) -> None:
    scene = open_world("rooms", 0, parse_things("parcel, plant, Anna, dock")).scene()
    assert write_by_phrases(command, scene) == program
    assert check_program(program, load_skills().for_scene(scene).signatures, scene).calls


@pytest.mark.parametrize("command", ["dock", "charge", "charge Anna", "return to the plant", "follow Anna to the hall"])
def test_where_there_is_no_dock_and_where_words_are_left_nothing_is_claimed(command: str) -> None:
    assert write_by_phrases(command, HOUSE) == ""


def test_skills_come_first_where_the_command_says_so() -> None:
    program = write_by_phrases("pick up the mug and tilt it by 60 degrees", TABLE)
    assert program == "pick(\"mug\")\nachieve(\"reach(tilt('mug') == 60); reach(height('mug') >= 0.1)\")"
    program = write_by_phrases("pick up the red block and hold it level 15 cm above the green bowl", TABLE)
    assert program.startswith('pick("red block")\nachieve("reach(height(\'red block\') == 0.195);')
    program = write_by_phrases("bring the parcel to Anna, then turn your back to her", HOUSE)
    assert program.splitlines() == [
        'go_to("parcel")',
        'pick_up("parcel")',
        'go_to("Anna")',
        "manoeuvre(\"reach(facing('robot', 'Anna') >= 170)\")",
    ]


def test_the_middle_between_two_things_is_a_point_of_the_scene() -> None:
    a, b = HOUSE.find("Anna").position, HOUSE.find("plant").position
    assert f"({(a[0] + b[0]) / 2:.2f}, {(a[1] + b[1]) / 2:.2f})" in write_by_phrases(
        "go between Anna and the plant", HOUSE
    )


@pytest.mark.parametrize(("command", "scene"), [(c, TABLE) for c, _ in ARM] + [(c, HOUSE) for c, _ in MOBILE])
def test_every_program_may_run(command: str, scene: Scene) -> None:
    signatures = load_skills().for_scene(scene).signatures
    assert check_program(write_by_phrases(command, scene), signatures, scene).calls


@pytest.mark.parametrize(
    "command",
    [
        "pick up the mug",  # other skills do this
        "push the red block 10 cm to the left",
        "push the red block to the middle",
        "turn the mug by 90 degrees if the vase stands",  # words that no rule reads
        "turn the cup by 90 degrees",  # nothing of that name
        "turn the mug by 90 degrees and wash the vase",
        "do not turn the mug by 90 degrees",
        "turn it by 90 degrees",  # nobody has said what
        "never knock the vase over",
        "",
    ],
)
def test_what_it_does_not_cover_to_the_last_word_it_leaves_to_others(command: str) -> None:
    assert write_by_phrases(command, TABLE) == ""


def test_a_room_is_nothing_to_face_and_a_thing_is() -> None:
    assert HOUSE.building is not None
    room = HOUSE.building.names[0]
    assert write_by_phrases(f"face the {room}", HOUSE) == ""
    assert write_by_phrases(f"go to the {room} and face Anna", HOUSE).startswith(f'go_to("{room}")\nmanoeuvre(')


@pytest.mark.parametrize("command", ["push the two cups together", "push the two blocks into the mug", "turn right"])
def test_what_it_has_no_full_reading_of_is_not_claimed(command: str) -> None:
    assert write_by_phrases(command, TABLE) == ""


def test_a_word_for_a_side_is_never_taken_for_a_filler() -> None:
    assert write_by_phrases("turn right by 90 degrees", HOUSE) == ""
    assert write_by_phrases("turn by 90 degrees to the right", HOUSE).startswith(
        "manoeuvre(\"reach(turned('robot') == -90)"
    )


def test_a_condition_that_the_grammar_covers_is_not_taken_for_one_that_was_lost() -> None:
    reading = (
        load_compact_model()
        .read_command(ReadingRequest("push the mug to the vase until they touch", TABLE))
        .readings[0]
    )
    assert ground(reading, TABLE).task == "push the mug to the vase until they touch"
    lost = replace(reading, whole=False)
    with pytest.raises(InputError, match="has a condition \\('until'\\) that is in no constraint"):
        ground(lost, TABLE)


def test_the_compact_model_answers_with_it() -> None:
    model, command = load_compact_model(), "knock the vase over"
    (reading,) = model.read_command(ReadingRequest(command, TABLE)).readings
    assert (reading.task, reading.constraints) == (command, ())
    reply = model.write_program(ProgramRequest(command, TABLE))
    assert (reply.program, reply.confidence) == (write_by_phrases(command, TABLE), 1.0)
    refused = ProgramRequest(command, TABLE, (Attempt(reply.program, ("it did not work",)),))
    assert model.write_program(refused).question == 'I cannot do "knock the vase over": it did not work'
