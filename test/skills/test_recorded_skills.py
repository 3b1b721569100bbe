"""Skills that repeat a recording: written down once, they work where the thing is now."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_planner.errors import InputError
from llm_planner.programs.values import Argument
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.simulation.objects import named
from llm_planner.simulation.world import World
from llm_planner.skills.arm import Arm, ArmSettings, Script
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.hand_geometry import HandPose, grip_of
from llm_planner.skills.library import SkillLibrary, load_skills
from llm_planner.skills.motion import Leg
from llm_planner.skills.paths import SkillCall
from llm_planner.skills.recorded import HandRecording, anchor_at, placed, read_recording, seen_from, written_down
from llm_planner.skills.scripted import ScriptedSkill
from llm_planner.skills.scripts.basic import go_home

ABOVE = HandRecording(
    "object", 0.1, tuple(HandPose(0.02, 0.0, height, 0.1) for height in (0.1, 0.07, 0.04)), (0.06, 0.06, 0.06)
)
DONE = SkillResult(SkillErrorCode.SUCCEEDED)


def library_with(folder: Path, recording: HandRecording, effects: list[str]) -> SkillLibrary:
    """One skill, which repeats the recording at an `object`."""
    skill = folder / "repeat"
    skill.mkdir(exist_ok=True)
    recording.write(skill / "motion.json")
    parameter = {"name": "object", "type": "object", "description": "what it is about"}
    manifest = {
        "name": "repeat", "description": "Do it again.", "recording": "motion.json", "timeout": 30.0,
        "parameters": [parameter], "preconditions": [], "effects": effects,
    }  # fmt: skip
    (skill / "skill.yaml").write_text(yaml.safe_dump(manifest))
    return load_skills(folder)


def replayed(library: SkillLibrary, hand: Any) -> SkillResult:
    run = library.find("repeat").start({"object": "red block"}, hand.observation())
    result: SkillResult = hand.run(run)
    return result


@pytest.mark.parametrize(("x", "y", "yaw"), [(0.5, 0.1, 0.0), (0.4, -0.3, 0.5), (0.6, 0.2, 1.2)])
def test_the_motion_is_repeated_where_the_thing_is_now(
    tmp_path: Path, thing: Any, scene_of: Any, ghost: Any, x: float, y: float, yaw: float
) -> None:
    hand = ghost(scene_of(thing("red block", x, y, yaw=yaw)))
    assert replayed(library_with(tmp_path, ABOVE, []), hand) == DONE

    end = grip_of(hand.pose)
    assert (end.x, end.y) == pytest.approx((x + 0.02 * math.cos(yaw), y + 0.02 * math.sin(yaw)), abs=1e-3)
    assert end.z == pytest.approx(0.02 + 0.04, abs=1e-3)
    assert end.yaw == pytest.approx(yaw + 0.1, abs=1e-3)
    assert hand.phases == ["approach", "replay"]
    assert max(reference.poses[0].position[2] for reference in hand.references) > 0.14  # it came from above


def test_a_recording_seen_from_the_base_ignores_where_things_are(
    tmp_path: Path, thing: Any, scene_of: Any, ghost: Any
) -> None:
    fixed = HandRecording("base", 0.1, (HandPose(0.5, 0.0, 0.2, 0.0), HandPose(0.5, 0.0, 0.15, 0.0)), (0.0, 0.0))
    hand = ghost(scene_of(thing("red block", 0.4, -0.3)))

    assert replayed(library_with(tmp_path, fixed, []), hand) == DONE
    assert hand.pose.position == pytest.approx((0.5, 0.0, 0.15), abs=1e-3)


def test_under_a_speed_limit_it_takes_longer(tmp_path: Path, thing: Any, scene_of: Any, ghost: Any) -> None:
    library, times = library_with(tmp_path, ABOVE, []), []
    for limit in (math.inf, 0.05):
        hand = ghost(scene_of(thing("red block", 0.5, 0.1)))
        run, outcome = library.find("repeat").start({"object": "red block"}, hand.observation()), None
        began = 0.0
        for _ in range(600):
            outcome = run.step(replace(hand.observation(), speed_limit=limit))
            if isinstance(outcome, SkillResult):
                break
            began = began or (hand.time if run.phase == "replay" else 0.0)
            hand._obey(outcome)
        assert outcome == DONE
        times.append(hand.time - began)
    assert times[1] == pytest.approx(0.06 / (0.95 * 0.05), abs=0.15)
    assert times[1] > 3 * times[0]


def test_a_hand_that_lags_is_waited_for_and_one_that_is_stuck_is_told(
    tmp_path: Path, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.1)))
    run = library_with(tmp_path, ABOVE, []).find("repeat").start({"object": "red block"}, hand.observation())
    outcome, low = None, Pose((0.5, 0.1, 0.3), hand.pose.orientation)
    for _ in range(300):
        outcome = run.step(replace(hand.observation(), T_base_gripper=low))
        if isinstance(outcome, SkillResult):
            break
        hand._obey(outcome)
    assert isinstance(outcome, SkillResult)
    assert outcome.code is SkillErrorCode.UNREACHABLE


def test_it_fails_where_the_scene_does_not_show_its_effect(
    tmp_path: Path, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.1)))
    result = replayed(library_with(tmp_path, ABOVE, ["held(object)"]), hand)

    assert result.code is SkillErrorCode.EFFECT_MISSING
    assert result.message == "the recording has ended, but the scene does not show its effect"
    assert hand.phases[-1] == "retreat"


def test_what_leads_out_of_reach_or_into_a_zone_never_begins(
    tmp_path: Path, thing: Any, scene_of: Any, ghost: Any
) -> None:
    far = replace(ABOVE, grips=(HandPose(0.0, 0.0, 0.1, 0.0), HandPose(0.5, 0.0, 0.1, 0.0)), widths=(0.0, 0.0))
    hand = ghost(scene_of(thing("red block", 0.5, 0.0)))
    result = replayed(library_with(tmp_path, far, []), hand)
    assert result.code is SkillErrorCode.UNREACHABLE
    assert "the recording leads out of the arm's reach, to (1.00, 0.00, 0.12)" in result.message

    zone = Zone("vase", Shape.SPHERE, (0.1,), Pose((0.5, 0.0, 0.1)))
    barred = replace(hand.observation(), zones=(zone,))
    outcome = library_with(tmp_path, ABOVE, []).find("repeat").start({"object": "red block"}, barred).step(barred)
    assert isinstance(outcome, SkillResult)
    assert outcome.code is SkillErrorCode.NO_FREE_SPACE
    assert "the recording leads where the hand may not be: " in outcome.message
    assert not hand.references


@pytest.mark.parametrize("grip", [HandPose(0.4, 0.3, 0.1, 2.0), HandPose(0.7, -0.2, 0.3, -1.0)])
def test_a_place_seen_from_a_thing_is_found_again(thing: Any, grip: HandPose) -> None:
    anchor = anchor_at(thing("red block", 0.5, 0.2, yaw=2.5))
    again = placed(anchor, seen_from(anchor, grip))
    assert (again.x, again.y, again.z, again.yaw) == pytest.approx((grip.x, grip.y, grip.z, grip.yaw))
    assert abs(anchor.yaw - math.atan2(0.2, 0.5)) <= math.pi / 2  # a block's half turns are the same block


def test_a_round_thing_is_seen_from_the_base(thing: Any) -> None:
    assert anchor_at(thing("blue bowl", 0.3, 0.3, yaw=1.0)).yaw == pytest.approx(math.pi / 4)


def test_a_skill_that_was_written_down_in_physics_works_elsewhere(tmp_path: Path, library: SkillLibrary) -> None:
    things = named([("red", "block")])
    recording = written_down(library.find("pick"), {"object": "red block"}, Episode(World(3, things)), "object")
    assert read_recording(_written(recording, tmp_path / "pick.json"), ["object"]).frame == "object"

    lifting = library_with(tmp_path, recording, ["held(object)"])
    for seed in (4, 5):
        episode = Episode(World(seed, things))
        assert episode.run(lifting.find("repeat"), {"object": "red block"}) == DONE
        assert episode.world.observation().scene.held == "red block"


def test_the_example_presses_a_button_that_it_was_not_written_down_on() -> None:
    episode = Episode(World(4, named([("red", "button"), ("blue", "bowl")])))
    library = load_skills(Path(__file__).parents[2] / "examples" / "skills")
    assert episode.run(library.find("recorded_press"), {"object": "red button"}) == DONE
    assert episode.observe().scene.find("red button").state == 1.0


def test_what_failed_is_not_written_down() -> None:
    hasty = ScriptedSkill("go_home", go_home, 0.15, lambda seen, began: Arm(seen, ArmSettings()))
    episode = Episode(World(3, named([("red", "block")])))
    episode.run(ScriptedSkill("astray", _astray, 5.0, lambda seen, began: Arm(seen, ArmSettings())), {})
    with pytest.raises(
        InputError, match=r"go_home failed, so it cannot be recorded: go_home was not done after 0\.15 s"
    ):
        written_down(hasty, {}, episode, "base")


def _astray(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    yield from arm.move("astray", [Leg(HandPose(0.5, 0.2, 0.3, 0.4))])


def _written(recording: HandRecording, path: Path) -> Path:
    recording.write(path)
    return path


GOOD = {"frame": "object", "dt": 0.1, "moments": [[0, 0, 0.1, 0, 0.08]]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ([1], "a recording is a table with the keys frame, dt, moments"),
        ({"frame": "object"}, "a recording is a table with the keys frame, dt, moments"),
        ({**GOOD, "frame": "mug"}, "frame is 'mug'; it may be: object, base"),
        ({**GOOD, "dt": 0}, "dt is 0; it must be above 0 and at most 1 s"),
        ({**GOOD, "dt": True}, "dt is True; it must be above 0"),
        ({**GOOD, "moments": []}, r"moments must be a list with at least one moment: x, y, z \[m\]"),
        ({**GOOD, "moments": [[0, 0, 0.1, 0]]}, r"moment 0 is \[0, 0, 0.1, 0\]; it must be five finite numbers"),
        ('{"frame": "base", "dt": 0.1, "moments": [[0, 0, NaN, 0, 0]]}', "moment 0 is .* five finite numbers"),
        ({**GOOD, "moments": [[0, 0, 0.1, 0, 0.2]]}, "the width of moment 0 is 0.2 m, not within 0 and 0.08"),
    ],
)
def test_a_recording_that_is_none_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "motion.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(InputError, match=rf"motion\.json: .*{message}"):
        read_recording(path, ["object"])


def test_a_recorded_motion_is_foreseen() -> None:
    library = load_skills(Path(__file__).parents[2] / "examples" / "skills", learned=False)
    scene = World(4, named([("red", "button"), ("blue", "bowl")])).scene()
    button = scene.find("red button")
    after = scene.with_object(replace(button, state=1.0))
    path = library.find("recorded_press").manifest.signature.forecast(SkillCall({"object": "red button"}, scene, after))
    *_, last = path.points
    assert last.done == 1.0
    assert math.dist(last.position[:2], button.position[:2]) < 0.05
