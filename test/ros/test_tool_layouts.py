"""The layouts for RViz and Foxglove name topics that exist, with a quality of service that fits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_planner.ros.message_types import message_type
from llm_planner.ros.node_table import GRAPH

ROOT = Path(__file__).parents[2]
PUBLISHED = {name.lstrip("/") for endpoints in GRAPH.values() for name in endpoints.publishes}
ROWS = {
    row[0].strip().strip("`").lstrip("/"): [cell.strip() for cell in row[1:]]
    for row in (
        line.split("|")[1:-1]
        for line in (ROOT / "docs" / "reference" / "topics.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    )
}
TABLE = {name: (row[2], row[3], int(row[4])) for name, row in ROWS.items()}


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


FOXGLOVE = json.loads((ROOT / "config" / "foxglove" / "llm_planner.json").read_text(encoding="utf-8"))
TYPES = {name: row[0] for name, row in ROWS.items()} | {
    "camera/image_raw/compressed": "sensor_msgs/msg/CompressedImage",  # of recordings
    "rosout": "rcl_interfaces/msg/Log",
}
PATHS = sorted(set(re.findall(r'"/([a-z][^"]*)"', json.dumps(FOXGLOVE))))


def field_types(path: str) -> Iterator[str]:
    """Yield the type of a topic of the layout, then that of each field which its path goes into."""
    topic, *fields = re.sub(r"\[[^]]*\]", "", path).split(".")
    kind = TYPES[topic]
    yield kind
    for field in fields:
        kind = message_type(kind).get_fields_and_field_types()[field]
        kind = re.sub(r"^sequence<(.*)>$", r"\1", kind).replace("/", "/msg/")
        yield kind


@pytest.mark.parametrize("path", PATHS)
def test_foxglove_shows_fields_that_are_published_or_recorded(path):
    assert all(field_types(path))


def test_foxglove_places_every_panel_once():
    def placed(part: Any) -> Iterator[str]:
        if isinstance(part, str):
            yield part
            for tab in FOXGLOVE["configById"][part].get("tabs", ()):
                yield from placed(tab["layout"])
        else:
            yield from placed(part["first"])
            yield from placed(part["second"])

    assert sorted(placed(FOXGLOVE["layout"])) == sorted(FOXGLOVE["configById"])


@pytest.mark.parametrize(
    "file", sorted((ROOT / "llm_planner_interfaces" / "msg").glob("*.msg")), ids=lambda file: file.stem
)
def test_constants_stand_above_their_field_so_that_foxglove_names_the_values(file):
    lines = [line.partition("#")[0].split() for line in file.read_text(encoding="utf-8").splitlines()]
    for line, below in pairwise(lines):
        if line and "=" in line[-1]:
            assert below[:1] == line[:1]


def test_the_table_of_topics_names_only_what_is_published():
    assert set(TABLE) - PUBLISHED == set()
