"""Skills that a policy server moves: the hand does what it says, and nothing by what it should not have said."""

import base64
import gc
import importlib.util
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.simulation.objects import named
from llm_planner.simulation.world import World
from llm_planner.skills.arm import NO_PICTURE, Arm, ArmSettings, Camera, blind
from llm_planner.skills.contract import SkillError, SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.hand_geometry import HandPose, grip_of
from llm_planner.skills.library import CheckedSkill, load_skills
from llm_planner.skills.manifest import ServerContract
from llm_planner.skills.remote import Actions, asking, png_of
from llm_planner.skills.scripted import ScriptedRun

DONE = SkillResult(SkillErrorCode.SUCCEEDED)
EXAMPLES = Path(__file__).parents[3] / "examples"
CONTRACT = ServerContract(kind="http", url="http://localhost/act", timeout=2.0, instruction="touch the {object}")
START = HandPose(0.45, 0.0, 0.3, 0.0)


def down(*heights: float, done: int = 0, width: float = 0.06) -> dict[str, Any]:
    """An answer that leads straight down from `START`."""
    rows = [[START.x, START.y, height, START.yaw, width, 0] for height in heights]
    rows[-1][5] = done
    return {"actions": rows, "dt": 0.1}


@pytest.fixture
def hand(thing: Any, scene_of: Any, ghost: Any) -> Any:
    return ghost(scene_of(thing("red block", 0.6, 0.1)), pose=START.pose())


@pytest.fixture
def skill_at(tmp_path: Path) -> Callable[..., CheckedSkill]:
    """The skill `touch` of a library, which the server at an address moves."""

    def make(url: str, camera: Camera = blind, effects: tuple[str, ...] = (), **server: Any) -> CheckedSkill:
        parameter = {"name": "object", "type": "object", "description": "what is touched"}
        contract = {"kind": "http", "url": url, "timeout": 20.0, "instruction": "touch the {object}", **server}
        manifest = {
            "name": "touch", "description": "Touch it.", "server": contract, "timeout": 60.0,
            "parameters": [parameter], "preconditions": [], "effects": list(effects),
        }  # fmt: skip
        (tmp_path / "touch").mkdir(exist_ok=True)
        (tmp_path / "touch" / "skill.yaml").write_text(yaml.safe_dump(manifest))
        return load_skills(tmp_path, camera=camera).find("touch")

    return make


def run_of(skill: CheckedSkill, hand: Any) -> Any:
    return skill.start({"object": "red block"}, hand.observation())


def waited(run: Any, hand: Any) -> MotionReference | SkillResult:
    """The first step that is more than to hold still; time stands while the server thinks."""
    for _ in range(1000):
        outcome: MotionReference | SkillResult = run.step(hand.observation())
        if isinstance(outcome, SkillResult) or len(outcome.poses) > 1:
            return outcome
        assert outcome.poses[0].position == pytest.approx(hand.pose.position)
    raise AssertionError("the server does not answer")


def test_the_hand_goes_where_the_server_says(servers: Any, skill_at: Any, hand: Any) -> None:
    def answer(question: Any) -> Any:
        z = question["state"]["hand"][2]
        return down(*(max(0.1, z - 0.02 * k) for k in range(1, 9)), done=int(z < 0.2))

    assert hand.run(run_of(skill_at(servers.serve(answer)), hand)) == DONE
    assert hand.pose.position == pytest.approx((0.45, 0.0, 0.1), abs=2e-3)
    assert hand.width == pytest.approx(0.06)
    assert hand.phases[-1] == "follow"
    assert len(servers.asked) > 1
    assert {question["instruction"] for question in servers.asked} == {"touch the red block"}


def test_a_server_that_thinks_stops_neither_the_step_nor_the_hand(servers: Any, skill_at: Any, hand: Any) -> None:
    answers, more = iter([down(0.28, 0.26, 0.24, 0.22), down(0.2, done=1)]), threading.Event()

    def answer(question: Any) -> Any:
        if len(servers.asked) > 1:
            more.wait()
        return next(answers)

    run = run_of(skill_at(servers.serve(answer)), hand)
    hand._obey(waited(run, hand))
    held = [run.step(hand.observation())]
    while len(held[-1].poses) > 1:  # what is left of the first answer, the second being waited for
        hand._obey(held[-1])
        held.append(run.step(hand.observation()))
    assert hand.pose.position == pytest.approx((0.45, 0.0, 0.22), abs=2e-3)
    for _ in range(3):  # then it holds still
        outcome = run.step(hand.observation())
        assert [pose.position for pose in outcome.poses] == [pytest.approx((0.45, 0.0, 0.22), abs=2e-3)]
        hand._obey(outcome)
    more.set()
    hand._obey(waited(run, hand))
    assert hand.run(run) == DONE
    assert hand.pose.position[2] == pytest.approx(0.2, abs=2e-3)


FAR = {"actions": [[0.45, 0.0, 0.3 - 0.12 * k, 0.0, 0.06, 0] for k in (1, 2, 3)], "dt": 0.1}


@pytest.mark.parametrize(
    ("wrong", "code", "message"),
    [
        (down(0.28, float("nan")), SkillErrorCode.CONTROLLER_FAULT, "not six finite numbers"),
        ({"actions": [[0.45, 0.0]], "dt": 0.1}, SkillErrorCode.CONTROLLER_FAULT, "not six finite numbers"),
        (FAR, SkillErrorCode.UNREACHABLE, r"the policy server leads out of the arm's reach, to \(0.45, 0.00, -0.06\)"),
        (down(0.28, 0.02), SkillErrorCode.CONTROLLER_FAULT, "actions jump by 0.26 m and 0.00 rad; nothing moves by"),
        (
            {"actions": [[0.45, 0.0, 0.3, 1.0, 0.06, 0]], "dt": 0.1},
            SkillErrorCode.CONTROLLER_FAULT, "jump by 0.00 m and 1.00 rad",
        ),
    ],
)  # fmt: skip
def test_nothing_moves_by_an_answer_that_is_wrong(
    servers: Any, skill_at: Any, hand: Any, wrong: Any, code: SkillErrorCode, message: str
) -> None:
    result = waited(run_of(skill_at(servers.serve(lambda question: wrong)), hand), hand)
    assert isinstance(result, SkillResult)
    assert result.code is code
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(result.message)


def test_after_a_wrong_answer_in_the_middle_the_hand_only_goes_up(servers: Any, skill_at: Any, hand: Any) -> None:
    answers = iter([down(0.28, 0.26, 0.24, 0.22), down(-0.5)])
    result = hand.run(run_of(skill_at(servers.serve(lambda question: next(answers))), hand))

    assert result.code is SkillErrorCode.CONTROLLER_FAULT
    assert hand.phases[-1] == "retreat"
    heights = [reference.poses[-1].position[2] for reference in hand.references]
    assert min(heights) == pytest.approx(0.22, abs=2e-3)


def test_a_zone_on_the_way_is_not_entered(servers: Any, skill_at: Any, hand: Any) -> None:
    run = run_of(skill_at(servers.serve(lambda question: down(0.25, 0.2, 0.15))), hand)
    zone = Zone("vase", Shape.SPHERE, (0.05,), Pose((0.45, 0.0, 0.05)))
    result: Any = None
    while not isinstance(result, SkillResult):
        result = run.step(replace(hand.observation(), zones=(zone,)))
        assert isinstance(result, SkillResult) or len(result.poses) == 1
    assert result.code is SkillErrorCode.NO_FREE_SPACE
    assert "the policy server leads where the hand may not be: " in result.message


def test_it_is_not_done_before_the_scene_shows_it(servers: Any, skill_at: Any, hand: Any) -> None:
    skill = skill_at(servers.serve(lambda question: down(0.28, done=1)), effects=("held(object)",))
    result = hand.run(run_of(skill, hand))
    assert result.code is SkillErrorCode.EFFECT_MISSING
    assert result.message == "the policy server's motion has ended, but the scene does not show its effect"


def test_a_picture_is_shown_where_there_is_a_camera(servers: Any, skill_at: Any, hand: Any) -> None:
    url = servers.serve(lambda question: down(0.28, done=1))
    result = run_of(skill_at(url, image=True), hand).step(hand.observation())
    assert result == SkillResult(
        SkillErrorCode.PRECONDITION_FAILED, "touch needs the camera's picture: there is no camera"
    )
    assert servers.asked == []
    picture = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)
    assert hand.run(run_of(skill_at(url, camera=lambda seen: picture, image=True), hand)) == DONE
    assert base64.b64decode(servers.asked[0]["image"]) == png_of(picture)


def test_a_camera_that_falls_silent_is_told(servers: Any, skill_at: Any, hand: Any) -> None:
    pictures = iter([np.zeros((3, 4, 3), np.uint8), NO_PICTURE])
    skill = skill_at(servers.serve(lambda question: down(0.28, done=1)), camera=lambda seen: next(pictures), image=True)
    result = run_of(skill, hand).step(hand.observation())
    silent = "touch sees nothing any more: the camera fell silent"
    assert result == SkillResult(SkillErrorCode.CONTROLLER_FAULT, silent)
    assert servers.asked == []


@dataclass
class FakeAnswer:
    given: Actions | SkillError
    over: bool = True

    def is_over(self, patience: float = 0.0) -> bool:
        return self.over

    def actions(self) -> Actions:
        if isinstance(self.given, SkillError):
            raise self.given
        return self.given


@dataclass
class FakeLink:
    """Gives these answers, in this order."""

    answers: list[FakeAnswer]
    questions: list[Mapping[str, Any]] = field(default_factory=list)
    closed: bool = False

    def ask(self, question: Mapping[str, Any]) -> FakeAnswer:
        self.questions.append(question)
        return self.answers[min(len(self.questions), len(self.answers)) - 1]

    def close(self) -> None:
        self.closed = True


def faked(link: FakeLink, seen: Observation) -> ScriptedRun:
    arm = Arm(seen, ArmSettings())
    script = asking("touch", CONTRACT, lambda arguments, began, now: True, connect=lambda contract: link)
    return ScriptedRun("touch", arm, script(arm, {"object": "red block"}), 30.0)


def fall(start: float, *, step: float = 0.02, count: int = 8, done: bool = False) -> Actions:
    grips = tuple(replace(START, z=start - step * k) for k in range(1, count + 1))
    return Actions(grips, (0.06,) * count, 0.1, done)


def test_what_was_done_since_an_answer_was_asked_for_is_not_done_again(hand: Any) -> None:
    late = FakeAnswer(fall(0.21, count=8, done=True), over=False)
    link = FakeLink([FakeAnswer(fall(0.3)), late])
    run = faked(link, hand.observation())
    while len(link.questions) < 2:
        hand._obey(run.step(hand.observation()))
    assert link.questions[1]["state"]["hand"][2] == pytest.approx(0.21, abs=2e-3)
    for _ in range(2):  # meanwhile the hand goes on
        hand._obey(run.step(hand.observation()))
    before = len(hand.references)
    late.over = True

    assert hand.run(run) == DONE
    heights = [reference.poses[0].position[2] for reference in hand.references[before:]]
    assert heights == sorted(heights, reverse=True)
    assert hand.pose.position[2] == pytest.approx(0.21 - 8 * 0.02, abs=2e-3)


def test_a_hand_that_held_still_begins_an_answer_at_its_beginning(hand: Any) -> None:
    there_and_back = Actions(
        tuple(replace(START, z=z) for z in (0.28, 0.26, 0.28, 0.3)), (0.06, 0.0, 0.0, 0.06), 0.1, True
    )
    thinking = FakeAnswer(there_and_back, over=False)
    run = faked(FakeLink([thinking]), hand.observation())
    for _ in range(20):
        hand._obey(run.step(hand.observation()))
    thinking.over = True
    assert hand.run(run) == DONE
    lowest = min(pose.position[2] for reference in hand.references for pose in reference.poses)
    assert lowest == pytest.approx(0.26, abs=1e-3)
    assert min(reference.gripper_width for reference in hand.references) == 0.0


def test_a_speed_limit_is_kept(hand: Any) -> None:
    run = faked(FakeLink([FakeAnswer(fall(0.3, done=True))]), hand.observation())
    outcome = run.step(replace(hand.observation(), speed_limit=0.05))
    assert isinstance(outcome, MotionReference)
    first, second = outcome.poses[:2]
    assert (first.position[2] - second.position[2]) / outcome.dt == pytest.approx(0.95 * 0.05, rel=0.05)


def test_a_late_server_ends_the_skill_where_the_hand_is(hand: Any) -> None:
    late = FakeAnswer(SkillError(SkillErrorCode.TIMEOUT, "too late"))
    assert faked(FakeLink([late]), hand.observation()).step(hand.observation()) == SkillResult(
        SkillErrorCode.TIMEOUT, "too late"
    )


def test_a_skill_that_is_stopped_hangs_up(hand: Any) -> None:
    link = FakeLink([FakeAnswer(fall(0.3))])
    run = faked(link, hand.observation())
    run.step(hand.observation())
    assert not link.closed
    del run
    gc.collect()
    assert link.closed


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_picks_up_a_block_in_physics(servers: Any, skill_at: Any, tmp_path: Path) -> None:
    url = servers.serve(example("policy_server").pick)
    manifest = yaml.safe_load((EXAMPLES / "skills" / "remote_pick" / "skill.yaml").read_text())
    manifest["server"] |= {"url": url, "timeout": 20.0}
    (tmp_path / "remote_pick").mkdir()
    (tmp_path / "remote_pick" / "skill.yaml").write_text(yaml.safe_dump({**manifest, "timeout": 90.0}))
    episode = Episode(World(3, named([("red", "block"), ("blue", "bowl")])))

    skill = load_skills(tmp_path).find("remote_pick")
    assert episode.run(skill, {"object": "red block"}) == DONE
    seen = episode.observe()
    assert seen.scene.held == "red block"
    assert grip_of(seen.T_base_gripper).z > 0.15


def test_the_example_server_answers_and_tells_what_went_wrong() -> None:
    import httpx2

    module = example("policy_server")
    server = module.server_of(lambda question: {"twice": 2 * question["number"]}, port=0)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        with httpx2.Client(trust_env=False) as client:
            url = f"http://localhost:{server.server_port}/act"
            assert client.post(url, json={"number": 4}).json() == {"twice": 8}
            failed = client.post(url, json={})
            assert (failed.status_code, failed.json()) == (500, {"error": "KeyError: 'number'"})
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
