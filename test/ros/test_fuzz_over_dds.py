"""No message kills a node: odd ones on every topic, to every service and action, of the running system."""

from __future__ import annotations

import random

import pytest
from fuzz_run import Fuzzer, worst_limit_share

from llm_planner.ros.node_table import NODES_IN_SIMULATION

DURATION = 15.0  # [s]
NAMES = [entry.name for entry in NODES_IN_SIMULATION]


@pytest.fixture(scope="module")
def fuzzed(start_system, tmp_path_factory):
    """A system of its own: what it was told is not for other tests."""
    folder = tmp_path_factory.mktemp("fuzzed")
    script = folder / "programs.yaml"
    script.write_text(
        'wave: go_home()\nput the mug away: |\n  pick("mug")\n  place_at("left side")\n', encoding="utf-8"
    )
    with start_system(folder, {"model": "scripted", "model_script": str(script)}) as running:
        yield running


def test_odd_messages_kill_no_node_move_nothing_beyond_its_limits_and_leave_all_well(fuzzed):
    before = [fuzzed.processes.pid(name) for name in NAMES]
    fuzzer = Fuzzer(fuzzed.client, NAMES)
    assert fuzzed.works_again()
    fuzzer.learned()
    fuzzed.client.submit("put the mug away")
    fuzzer.run(DURATION, random.Random(7))
    fuzzer.take_back()
    fuzzer.close()
    assert set(fuzzer.names) - {"/audio"} <= {*fuzzer.sent}, "nothing that a node hears is left out"
    assert fuzzed.notices == []
    assert [fuzzed.processes.pid(name) for name in NAMES] == before
    assert fuzzed.works_again()
    assert worst_limit_share(fuzzed.client) <= 1.0
