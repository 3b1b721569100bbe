"""The benchmark of speech: what it counts, and that it runs where the voices are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from llm_planner.simulation.worlds import read_objects
from llm_planner.speech.correction_grammar import phrases_about
from llm_planner.speech.recognisers import vocabulary_of

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DATA = yaml.safe_load((BENCHMARKS / "data" / "spoken_corrections.yaml").read_text(encoding="utf-8"))


def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / "bench_speech.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_there_are_60_corrections_and_200_sentences_of_talk():
    assert len({item["say"] for item in DATA["corrections"]}) == 60
    assert len(set(DATA["chatter"])) == 200


def test_what_the_corrections_mean_is_what_the_grammar_calls_it_where_it_has_them():
    phrases = phrases_about(vocabulary_of(read_objects("tabletop", DATA["objects"])))
    meant = {item["say"]: sorted(item["means"]) for item in DATA["corrections"]}
    read = {say: sorted(phrases.intent(say)) for say in meant}
    assert {say: tags for say, tags in read.items() if tags} == {say: meant[say] for say, tags in read.items() if tags}


def test_none_of_the_talk_is_a_phrase_of_the_grammar():
    phrases = phrases_about(vocabulary_of(read_objects("tabletop", DATA["objects"])))
    assert [text for text in DATA["chatter"] if phrases.intent(text)] == []


def test_it_reports_its_figures_or_what_to_install():
    done = ran("--limit", "2", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    if not report["voices"]:
        assert "apt install flite espeak-ng" in done.stderr
        pytest.skip("no voices here")
    assert report["intents"]["clean"]["clips"] == 6
    assert 0.0 <= report["talk"]["committed"] <= 1.0
    assert report["latency s"]["median"] >= 0.3
