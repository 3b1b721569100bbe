"""The network of corrections: what it reads, how sure it is, and that its prediction sets hold what they promise."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from llm_planner.correction.compact.conformal import COVERAGES, Calibration, calibrated, calibration_from_json
from llm_planner.correction.compact.doubts import DOUBT, doubt
from llm_planner.correction.compact.generator.examples import draw_example
from llm_planner.correction.compact.hearing import Heard, Names, heard, names_of
from llm_planner.correction.compact.lesson import measured
from llm_planner.correction.compact_reader import WEIGHTS, Reading, Readings, load_compact_reader
from llm_planner.correction.requests import Intent, Request, Sense, Size
from llm_planner.errors import InputError, LanguageModelError
from llm_planner.plan.edits import Scope
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

NAMES = Names(
    frozenset(["block", "bowl", "mug", "zorbex"]),
    frozenset(["red", "blue", "green"]),
    frozenset(["kitchen", "vostium"]),
)


@pytest.fixture(scope="module")
def reader():
    return load_compact_reader()


def best(reader, words):
    return reader.read(words, NAMES).readings[0].requests


@pytest.mark.parametrize(
    ("words", "intent"),
    [
        ("would you mind holding on for a second", Intent.HOLD),
        ("right, off you go again", Intent.RESUME),
        ("i would put the mug off till later", Intent.LAST),
        ("on second thoughts leave the red block out of it", Intent.SKIP),
        ("please take that last change back", Intent.UNDO),
        ("the bus went much faster than yesterday", Intent.NOTHING),
        ("please don't stop on my account", Intent.NOTHING),
        ("my brother left the blue car at the bus stop", Intent.NOTHING),
    ],
)
def test_wordings_that_no_rule_has_are_read(reader, words, intent):
    assert [request.intent for request in best(reader, words)] == [intent]


def test_more_and_less_are_told_apart(reader):
    for words, sense in (("could you go a bit slower", Sense.LESS), ("could you go a bit faster", Sense.MORE)):
        assert best(reader, words) == (Request(Intent.SPEED, sense=sense, size=Size.BIT),)


def test_names_that_no_dictionary_has_are_copied(reader):
    (request,) = best(reader, "no, i meant the zorbex")
    assert (request.intent, request.thing) == (Intent.OTHER_THING, "the zorbex")
    (request,) = best(reader, "take it to the vostium instead")
    assert (request.intent, request.target, request.relation) == (Intent.OTHER_TARGET, "the vostium", "to")


def test_an_amount_is_read_as_it_was_said(reader):
    (request,) = best(reader, "please move it 3 cm to the left")
    assert (request.intent, request.direction, request.number, request.unit) == (Intent.SHIFT, "left", 3.0, "cm")


def test_what_is_to_last_is_heard(reader):
    (request,) = best(reader, "from now on go slower")
    assert (request.intent, request.scope) == (Intent.SPEED, Scope.ALWAYS)


def test_two_requests_in_one_breath_come_in_their_order(reader):
    assert [request.intent for request in best(reader, "skip the mug and go faster")] == [Intent.SKIP, Intent.SPEED]


def test_no_words_and_a_long_speech_have_no_readings(reader):
    assert reader.read("  !", NAMES).readings == ()
    assert reader.read("left " * 61, NAMES).readings == ()
    assert not reader.read("", NAMES).is_sure


def test_probabilities_are_ranked_and_do_not_exceed_one(reader):
    found = reader.read("hmm, a bit more to the other one", NAMES).readings
    shares = [reading.probability for reading in found]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 1.0 + 1e-9


def test_a_prediction_set_holds_every_reading_that_is_probable_enough(reader):
    for coverage in COVERAGES:
        found = replace(reader, coverage=coverage).read("the green one, no, the mug", NAMES)
        least = reader.calibration.least_for(coverage)
        assert found.conformal == tuple(one for one in found.readings if one.probability >= least)


@pytest.mark.parametrize(("shares", "sure"), [((0.9,), True), ((0.4,), False), ((0.6, 0.3), False), ((), False)])
def test_a_reading_is_sure_where_it_is_alone_in_the_set_and_more_probable_than_not(shares, sure):
    readings = tuple(Reading((Request(Intent.UNDO),), share) for share in shares)
    assert Readings(readings, 0.0).is_sure is sure


@lru_cache(maxsize=1)
def fresh():
    rng = np.random.default_rng(2024)
    return [draw_example(rng, kept=index % 2 == 0) for index in range(250)]


def test_on_sentences_that_training_never_showed_sets_hold_what_was_meant(reader):
    """A 90 % set that held it in fewer than 214 of 250 would be a chance of one in a hundred."""
    assert reader.coverage == 0.9
    assert measured(reader, fresh())["covered"] >= 214 / 250


def test_the_report_tells_what_the_weights_are_worth_and_they_are_small():
    report = json.loads((WEIGHTS / "report.json").read_text())
    assert {"size", "training", "calibration", "new wordings", "usual wordings"} <= report.keys()
    assert (WEIGHTS / "weights.safetensors").stat().st_size < 4_000_000


def test_missing_weights_are_an_error_that_says_what_to_run(tmp_path):
    with pytest.raises(LanguageModelError, match=r"weights cannot be read from .*llm-planner train-language"):
        load_compact_reader(tmp_path)


def test_weights_that_were_never_calibrated_are_an_error_that_says_what_to_run(tmp_path):
    (tmp_path / "weights.safetensors").write_bytes((WEIGHTS / "weights.safetensors").read_bytes())
    report = json.loads((WEIGHTS / "report.json").read_text())
    (tmp_path / "report.json").write_text(json.dumps({"size": report["size"]}))
    with pytest.raises(LanguageModelError, match=r"calibration of the network.*'calibration'.*--network corrections"):
        load_compact_reader(tmp_path)


def test_a_coverage_that_was_not_calibrated_is_an_error_that_lists_those_that_were():
    with pytest.raises(InputError, match=r"coverage of 0\.9, 0\.95, 0\.99, not 0\.5; take one of these"):
        Calibration().least_for(0.5)


def test_the_least_probability_is_the_corrected_quantile_of_the_scores():
    """19 examples with the right reading at 0.05, 0.10 ... 0.95: of 20 ranks, 90 % is the 18th score, 1 - 0.10."""
    examples = [((math.log(k / 20), math.log(1 - k / 20)), 0) for k in range(1, 20)]
    found = calibrated(examples)
    softened = Calibration(found.temperature).probabilities(examples[1][0])[0]
    assert found.least[0.9] == pytest.approx(softened, abs=1e-6)
    assert found.least[0.99] == 0.0  # too few examples to promise so much: everything is in the set


def test_probabilities_of_a_network_that_is_too_sure_are_softened():
    sure = (math.log(0.98), math.log(0.02))
    found = calibrated([(sure, 0)] * 70 + [(sure, 1)] * 30)
    assert found.temperature > 2.0
    assert found.probabilities(sure)[0] == pytest.approx(0.7, abs=0.05)


@pytest.mark.parametrize(
    ("words", "request_", "trusted"),
    [
        ("a bit to the left", Request(Intent.SHIFT, direction="left"), True),
        ("a bit to the lefft", Request(Intent.SHIFT, direction="left"), True),
        ("a bit to the left", Request(Intent.SHIFT, direction="right"), False),
        ("go slower", Request(Intent.SPEED, sense=Sense.LESS), True),
        ("go slower", Request(Intent.SPEED, sense=Sense.MORE), False),
        ("not so fast", Request(Intent.SPEED, sense=Sense.LESS), True),
        ("no, the blue one", Request(Intent.OTHER_THING, thing="the blue one"), True),
        ("no, the blue one", Request(Intent.OTHER_THING, thing="the one"), False),
        ("the red, no, the green one", Request(Intent.OTHER_THING, thing="the green one"), True),
        ("gently with the mug", Request(Intent.SPEED, sense=Sense.LESS), True),
        ("the mug is full , never touch it", Request(Intent.RULE, text="never touch it"), True),
        ("the mug is full , never go there", Request(Intent.SKIP, thing="that"), False),
    ],
)
def test_a_reading_that_the_words_speak_against_is_doubted(words, request_, trusted):
    factor = doubt((request_,), heard(words, NAMES))
    assert factor == (1.0 if trusted else DOUBT)


def test_what_was_not_among_the_readings_keeps_its_share():
    assert Calibration(1.0).probabilities([math.log(0.5), math.log(0.2)]).sum() == pytest.approx(0.7)


def test_a_calibration_survives_being_written():
    calibration = Calibration(1.5, {0.9: 0.4, 0.95: 0.2, 0.99: 0.0})
    assert calibration_from_json(json.loads(json.dumps(calibration.as_json()))) == calibration


def test_words_are_heard_with_their_classes():
    found = heard("Don't put the BLUE blok in the kitchen, 2 cm!", NAMES)
    assert [(word.text, word.segment) for word in found] == [
        ("do", "word"), ("not", "word"), ("put", "word"), ("the", "word"), ("blue", "color"), ("block", "thing"),
        ("in", "word"), ("the", "word"), ("kitchen", "room"), (",", "word"), ("#amount", "amount"),
    ]  # fmt: skip
    assert found[-1] == Heard("#amount", "amount", "2 cm")


def test_the_names_of_a_scene_are_the_words_for_what_is_in_it():
    mug = SceneObject("green mug", "mug", "green", (0.4, 0.0, 0.05), IDENTITY, (0.08, 0.08, 0.1))
    names = names_of(Scene(0.0, (mug,)))
    assert "mug" in names.things
    assert "green" in names.colors
    assert "green" not in names.things
