"""`llm-planner train-language`: what it cannot train with is said at once."""

from __future__ import annotations

import argparse

import pytest

from llm_planner.cli import train_language
from llm_planner.errors import InputError


def arguments(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    train_language.add_arguments(parser)
    return parser.parse_args(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--steps", "0"), "--steps must be at least 1, not 0"),
        (("--batch", "-3"), "--batch must be at least 1, not -3"),
        (("--dropout", "1"), "--dropout must be at least 0 and below 1, not 1"),
        (("--start", "no/weights.safetensors"), "--start: there is no file no/weights.safetensors"),
        (("--utterances", "u.csv"), "--utterances is for the reading network; add --network reading"),
        (("--network", "reading", "--utterances", "no.csv"), "no.csv cannot be read as a table of utterances"),
    ],
)
def test_arguments_that_cannot_be_are_named(given: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train_language.run(arguments(*given))
