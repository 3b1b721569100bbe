"""Hostile programs, names, words, formulas and files: 0 get through, and each is told why in a clear sentence.

`hostile.yaml` and `harmless.yaml` are the tables. A harmless twin is as close to a hostile case as it can be.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from llm_planner.errors import LlmPlannerError

HERE = Path(__file__).parent
HOSTILE = yaml.safe_load((HERE / "hostile.yaml").read_text(encoding="utf-8"))
HARMLESS = yaml.safe_load((HERE / "harmless.yaml").read_text(encoding="utf-8"))
CPU_SECONDS = 3.0  # that refusing one may take; the dearest takes about a third


def written(value):
    """A long text is given as what is repeated before and after its middle, bytes that are no text in hexadecimal."""
    if isinstance(value, dict) and "surrogate" in value:
        return bytes.fromhex(value["surrogate"]).decode("utf-8", "surrogateescape")
    if isinstance(value, dict) and "repeat" in value:
        before, after = value["N"] * value["times"], value["M"] * value["times"]
        return value["repeat"].replace("N", before).replace("M", after)
    return value


def brought(case, gates):
    return gates[case["gate"]]({key: written(value) for key, value in case.items()})


@pytest.mark.parametrize("case", HOSTILE, ids=[case["id"] for case in HOSTILE])
def test_nothing_hostile_gets_through(case, gates):
    began = time.process_time()
    with pytest.raises(LlmPlannerError) as caught:
        brought(case, gates)
    message = str(caught.value)
    assert case["says"] in message
    assert len(message) < 3000
    assert all(letter.isprintable() or letter == "\n" for letter in message)
    assert time.process_time() - began < CPU_SECONDS


@pytest.mark.parametrize("case", HARMLESS, ids=[case["id"] for case in HARMLESS])
def test_its_harmless_twin_passes(case, gates):
    assert case["twin_of"] in {hostile["id"] for hostile in HOSTILE}
    assert brought(case, gates) is not None


@pytest.mark.parametrize(
    ("cases", "least"),
    [(HOSTILE, 60), (HARMLESS, 20)],
    ids=[f"{len(HOSTILE)} hostile", f"{len(HARMLESS)} harmless"],
)
def test_there_are_enough_of_them_and_each_is_another(cases, least):
    assert len(cases) >= least
    assert len({case["id"] for case in cases}) == len(cases)
    assert len({str(sorted((key, str(value)) for key, value in case.items() if key != "id")) for case in cases}) == len(
        cases
    )
