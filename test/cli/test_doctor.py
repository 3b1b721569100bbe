"""The checks of `llm-planner doctor`, each by itself."""

from __future__ import annotations

import argparse
from importlib import metadata

import pytest

from llm_planner.cli import doctor


def test_versions_that_agree_are_well(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text(f"# pins\nnumpy=={metadata.version('numpy')}\n", encoding="utf-8")
    finding = doctor.check_pins(path)
    assert (finding.detail, finding.mend) == ("1 pinned packages as wanted", "")


@pytest.mark.parametrize(
    ("line", "words"),
    [("numpy==0.0.1", "wanted 0.0.1"), ("no-such-thing==1.0", "no-such-thing missing, wanted 1.0")],
)
def test_a_version_that_differs_is_named_with_what_to_do(tmp_path, line, words):
    path = tmp_path / "requirements.txt"
    path.write_text(line, encoding="utf-8")
    finding = doctor.check_pins(path)
    assert words in finding.detail
    assert finding.mend == "run: make setup"


def test_pins_of_other_pythons_are_left_alone(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text(
        "numpy==0.0.1 ; python_version < '3.5'\nnumpy==0.0.2 ; python_version >= '3.99'\n", encoding="utf-8"
    )
    assert doctor.check_pins(path).mend == ""


@pytest.mark.parametrize(
    "check",
    [doctor.check_python, doctor.check_ros, doctor.check_interfaces, doctor.check_round_trip, doctor.check_skills],
)
def test_this_installation_is_well(check):
    finding = check()
    assert finding.mend == "", finding.detail


def test_the_whole_report_names_every_part(capsys):
    parser = argparse.ArgumentParser()
    doctor.add_arguments(parser)
    doctor.run(parser.parse_args([]))
    shown = capsys.readouterr().out
    for part in ("Python", "requirements", "ROS 2", "interfaces", "DDS", "skills", "compact model", "rendering"):
        assert part in shown
