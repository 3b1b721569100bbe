"""The same work on a Ray cluster of two nodes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from llm_planner.errors import InputError
from llm_planner.learning.pool import RayPool

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("work_on_two_nodes.py")
PATIENCE = {"RAY_raylet_start_wait_time_s": "240", "RAY_agent_register_timeout_ms": "240000"}  # of a busy machine


def in_a_network_of_its_own(*command):
    inside = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    environment = os.environ | PATIENCE | {"PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
    return subprocess.run(
        ["unshare", "--map-root-user", "--net", *inside], env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def told():
    if in_a_network_of_its_own("true").returncode:
        pytest.skip("this user may not make a network (unshare --net), in which the cluster would be started")
    done = in_a_network_of_its_own(sys.executable, str(SCRIPT))
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_both_nodes_work_with_one_thread_each(told):
    (_, first), (_, second), (_, threads) = told["done"]
    assert first != second
    assert threads == "1"


def test_an_error_on_a_node_is_told_with_its_job(told):
    assert told["raised"] == "ZeroDivisionError: division by zero (in job 0 ('1 / 0'))"


def test_a_job_that_kills_its_workers_is_given_up(told):
    assert "job 0 (\"__import__('signal').raise_signal(9)\") came back from no node of 127.0.0.1:" in told["killed"]
    assert "died unexpectedly" in told["killed"]


def test_where_no_cluster_listens_it_says_how_to_start_one():
    with pytest.raises(InputError, match=r"no Ray cluster can be used at '127.0.0.1:1': .*refused.* ray start --head"):
        list(RayPool("127.0.0.1:1").results(abs, [1]))


def test_without_ray_the_extra_is_named():
    script = (
        "import sys; sys.modules['ray'] = None\n"
        "from llm_planner.learning.pool import RayPool\n"
        "list(RayPool('auto').results(abs, [1]))\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stderr
    assert "InputError: work on a Ray cluster needs ray, which is not installed; pip install 'llm_planner[ray]'" in said
