"""The table of faults names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "faults.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`((?:[a-z_]+/)*(?:test|bench)_[a-z0-9_]+\.py)(?:::(test_\w+))?`", PAGE)


def test_it_names_tests():
    assert len(NAMED) > 50


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_a_test_that_is_named_exists(file, test):
    place = ROOT / file if file.startswith("benchmarks/bench") else ROOT / "test" / file
    assert place.is_file(), f"{file} is named on the page and does not exist"
    if test:
        assert f"def {test}(" in place.read_text(encoding="utf-8"), f"{file} has no {test}"
