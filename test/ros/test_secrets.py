"""What nodes log and write to their journal holds no key."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from contextlib import closing

from llm_planner.cli.processes import own_network
from llm_planner.execution.journal import RecordKind
from llm_planner.execution.journal_buffer import Journal
from llm_planner.ros.journal_file import note
from llm_planner.text import REDACTED

KEY = "sk-live-0123456789abcdef"
PROGRAM = """
import rclpy
from llm_planner.ros.base_node import BaseNode

rclpy.init()
node = BaseNode("talker")
node.get_logger().warning("http://robot:corr3ct@host/v1 says Authorization: Bearer " + "{key}")
node.get_logger().error("no such key: {key}")
for _ in range(3):
    node.get_logger().info("said once", once=True)
node.destroy_node()
rclpy.shutdown()
"""


def test_the_journal_holds_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with closing(Journal(tmp_path / "journal.sqlite")) as journal:
        note(journal, next(iter(RecordKind)), "c1", message=f"401: {KEY}", steps=[{"why": f"http://u:{KEY}@host"}])
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert REDACTED.encode() in written
    assert KEY.encode() not in written


def test_a_node_logs_no_key_and_filters_still_work():
    environment = {
        **os.environ,
        **own_network(random.Random()),
        "OPENAI_API_KEY": KEY,
        "PYTHONPATH": ":".join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(key=KEY)], env=environment, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert f"http://{REDACTED}@host/v1 says Authorization: {REDACTED}" in done.stderr
    assert f"no such key: {REDACTED}" in done.stderr
    assert KEY not in done.stderr + done.stdout
    assert (done.stderr + done.stdout).count("said once") == 1
