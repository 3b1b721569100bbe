"""Default files of a system: apart for each namespace and ROS domain, so that no system resumes another's command."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_planner.ros.journal_file import journal_path, memory_path


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    return tmp_path / "llm_planner"


def test_one_system_in_the_default_domain_has_its_files_where_they_were(home):
    assert journal_path("", "/", 0) == home / "journal.sqlite"
    assert memory_path("", "", 0) == home / "memory.sqlite"


def test_each_namespace_and_domain_has_files_of_its_own(home):
    assert journal_path("", "/left", 0) == home / "left" / "journal.sqlite"
    assert journal_path("", "/lab/left/", 7) == home / "domain_7" / "lab" / "left" / "journal.sqlite"
    assert memory_path("", "", 7) == home / "domain_7" / "memory.sqlite"


def test_a_configured_file_counts_everywhere():
    assert journal_path("/data/j.sqlite", "/left", 7) == Path("/data/j.sqlite")
