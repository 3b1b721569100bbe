"""The Meta-World tasks on which policies are compared, in an environment of its own (`make setup-lerobot`)."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VENV = ROOT / ".venv-lerobot"
PLAYER = Path(__file__).with_name("play_meta_world.py")

pytestmark = pytest.mark.skipif(
    not (VENV / ".installed").exists(), reason="metaworld has no environment here; see: make setup-lerobot"
)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    command = [VENV / "bin" / "python", PLAYER, tmp_path_factory.mktemp("episodes")]
    found = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'benchmarks'}"}
    done = subprocess.run(command, env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_an_episode_starts_as_its_seed_says_whatever_was_played_before(told):
    assert told["same start"]


def test_the_expert_shows_successes_that_a_file_keeps(told):
    assert told["expert succeeds"]
    assert told["kept"]


def test_a_corrector_waits_and_then_recovers_from_a_closed_hand(told):
    assert not told["policy succeeds"]
    assert told["corrector waits"]
    assert told["corrected"]


def test_a_thing_that_slides_where_it_should_rise_is_shoved(told):
    assert told["shoved"] == [False, True, False]
