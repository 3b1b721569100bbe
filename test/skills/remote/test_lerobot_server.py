"""A real policy of `lerobot` moves the hand, served by the example, in an environment of its own."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_planner.skills.arm import Arm, ArmSettings
from llm_planner.skills.contract import SkillResult
from llm_planner.skills.hand_geometry import HandPose
from llm_planner.skills.manifest import ServerContract
from llm_planner.skills.remote import WAIT, PolicyLink, asking, question
from llm_planner.skills.scripted import ScriptedRun

ROOT = Path(__file__).parents[3]
VENV = ROOT / ".venv-lerobot"
PYTHON = str(VENV / "bin" / "python")
SEE = ["--see", "observation.state=hand,width", "--see", "observation.environment_state=thing:object"]
LEAST, MOST = (0.42, -0.02, 0.25, -0.1, 0.0), (0.48, 0.02, 0.32, 0.1, 0.08)  # see make_tiny_policy.py
START = HandPose(0.45, 0.0, 0.29, 0.0)

pytestmark = pytest.mark.skipif(
    not (VENV / ".installed").exists(), reason="lerobot has no environment here; see: make setup-lerobot"
)


def ran(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())


def _environment() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("policy")
    made = ran(PYTHON, str(Path(__file__).with_name("make_tiny_policy.py")), str(folder))
    assert made.returncode == 0, made.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def url(checkpoint: Path) -> Iterator[str]:
    script = str(ROOT / "examples" / "lerobot_policy_server.py")
    command = [PYTHON, script, str(checkpoint), *SEE, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment()) as server:
        assert server.stdout
        try:
            said = next((line for line in server.stdout if line.startswith("http")), "")  # lerobot talks before
            yield said.partition(";")[0]
        finally:
            server.terminate()


@pytest.fixture
def hand(thing: Any, scene_of: Any, ghost: Any) -> Any:
    return ghost(scene_of(thing("red block", 0.6, 0.1)), pose=START.pose())


def test_a_diffusion_policy_says_where_the_hand_goes(url: str, hand: Any) -> None:
    contract = ServerContract(kind="http", url=url, timeout=60.0, instruction="touch the {object}")
    link = PolicyLink(contract)
    try:
        pending = link.ask(question("touch", contract, {"object": "red block"}, hand.observation(), b""))
        assert pending.is_over(60.0)
        actions = pending.actions()
    finally:
        link.close()
    assert len(actions.grips) == 8
    assert actions.dt == pytest.approx(0.1)
    assert not actions.done
    for grip, width in zip(actions.grips, actions.widths, strict=True):
        found = (grip.x, grip.y, grip.z, grip.yaw, width)
        bounds = zip(LEAST, found, MOST, strict=True)
        assert all(least - 1e-6 <= value <= most + 1e-6 for least, value, most in bounds)


def test_the_hand_follows_it(url: str, hand: Any) -> None:
    contract = ServerContract(kind="http", url=url, timeout=60.0, instruction="touch the {object}")
    arm, places = Arm(hand.observation(), ArmSettings()), set()
    script = asking("touch", contract, lambda arguments, began, now: False)(arm, {"object": "red block"})
    run = ScriptedRun("touch", arm, script, 60.0)
    for _ in range(round(60.0 / WAIT)):
        outcome = run.step(hand.observation())
        assert not isinstance(outcome, SkillResult), outcome
        if len(outcome.poses) > 1:
            hand._obey(outcome)
            places.add(hand.pose.position)
        if len(places) > 12:  # more than one answer
            break
    script.close()
    assert len(places) > 12
    assert all(LEAST[0] - 1e-6 <= x <= MOST[0] + 1e-6 and LEAST[2] - 1e-6 <= z <= MOST[2] + 1e-6 for x, _, z in places)


@pytest.mark.parametrize(
    ("see", "message"),
    [
        (SEE[:2], "say with --see what the policy is shown as observation.environment_state"),
        (["--see", "observation.state=hands"], "'hands' cannot be seen; hand, width, qpos and thing:PARAMETER can"),
    ],
)
def test_a_policy_that_is_not_shown_what_it_knows_is_not_served(checkpoint: Path, see: list[str], message: str) -> None:
    done = ran(PYTHON, str(ROOT / "examples" / "lerobot_policy_server.py"), str(checkpoint), *see, "--port", "0")
    assert done.returncode != 0
    assert message in done.stderr
