"""The layouts for RViz and Foxglove name topics that exist, with a quality of service that fits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_planner.ros.node_table import GRAPH

ROOT = Path(__file__).parents[2]
PUBLISHED = {name.lstrip("/") for endpoints in GRAPH.values() for name in endpoints.publishes}
TABLE = {
    row[0].strip().strip("`").lstrip("/"): (row[3].strip(), row[4].strip(), int(row[5]))
    for row in (
        line.split("|")[1:-1]
        for line in (ROOT / "docs" / "reference" / "topics.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    )
}


def displays() -> Iterator[Any]:
    layout = yaml.safe_load((ROOT / "config" / "rviz" / "llm_planner.rviz").read_text(encoding="utf-8"))
    for display in layout["Visualization Manager"]["Displays"]:
        topic = display.get("Topic") or display.get("Description Topic")
        if topic:
            yield pytest.param(topic, id=display["Name"])


@pytest.mark.parametrize("topic", list(displays()))
def test_rviz_asks_for_topics_as_they_are_published(topic):
    sure, latched, depth = TABLE[topic["Value"]]
    assert topic["Value"] in PUBLISHED
    assert topic["Reliability Policy"].lower() == sure
    assert topic["Durability Policy"] == ("Transient Local" if latched == "yes" else "Volatile")
    assert topic["Depth"] <= depth


def test_foxglove_shows_topics_that_are_published():
    text = (ROOT / "config" / "foxglove" / "llm_planner.json").read_text(encoding="utf-8")
    json.loads(text)
    named = {name.partition(".")[0] for name in re.findall(r'"/([a-z][a-z_/.]*)', text)}
    assert {"markers", "robot_description", "camera/image_raw", "diagnostics"} <= named
    assert named - PUBLISHED == set()


def test_the_table_of_topics_names_only_what_is_published():
    assert set(TABLE) - PUBLISHED == set()
