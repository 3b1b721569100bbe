"""Robustness of sampled signals: its sign is the truth, its size is how much it takes to change that."""

import random

import numpy as np
import pytest
from reference_semantics import holds_in_time

from llm_planner.errors import InputError
from llm_planner.ltl.formula import Formula
from llm_planner.ltl.parser import parse
from llm_planner.ltl.robustness import robustness


def has_next(f: Formula) -> bool:
    return f.operator in ("X", "N") or any(has_next(g) for g in f.operands)


def test_the_sign_is_the_truth_and_the_size_is_safe(random_formula):
    rng, generator, compared = random.Random(12), np.random.default_rng(12), 0
    while compared < 500:
        f = random_formula(rng, 3, "ab", windows=True)
        if has_next(f):
            continue
        times = np.cumsum(generator.choice([0.5, 1.0, 2.0], 8))
        margins = {name: generator.normal(size=8) for name in "ab"}
        value = robustness(f, margins, times)
        moved = {
            name: row + generator.uniform(-1, 1, 8) * min(abs(value[0]), 9.0) * 0.999 for name, row in margins.items()
        }
        for rows in (margins, moved):
            letters = [frozenset(name for name in "ab" if rows[name][k] > 0) for k in range(8)]
            assert holds_in_time(f, letters, times.tolist()) == (value[0] > 0), str(f)
        compared += 1


def test_known_values():
    times, margins = [0, 1, 2, 3], {"a": [1.0, -2.0, 3.0, 0.5], "b": [-1.0, -1.0, 2.0, -1.0]}
    assert robustness(parse("F a"), margins, times).tolist() == [3.0, 3.0, 3.0, 0.5]
    assert robustness(parse("G a"), margins, times).tolist() == [-2.0, -2.0, 0.5, 0.5]
    assert robustness(parse("F[1,2] a"), margins, times).tolist() == [3.0, 3.0, 0.5, -np.inf]
    assert robustness(parse("G[5,6] a"), margins, times).tolist() == [np.inf] * 4
    assert robustness(parse("a U b"), margins, times).tolist() == [-1.0, -1.0, 2.0, -1.0]


def test_distance_and_speed_are_margins_like_any_other():
    f = parse("G distance(robot, vase) > 0.3 & F[0,2] speed(robot) < 0.1")
    margins = {"distance(robot, vase) > 0.3": [0.4, 0.05, 0.2], "speed(robot) < 0.1": [-0.3, -0.1, 0.1]}
    assert robustness(f, margins, [0.0, 1.0, 2.0])[0] == pytest.approx(0.05)


def test_a_long_window_over_many_samples_is_as_the_definition_says():
    generator = np.random.default_rng(13)
    times, row = np.cumsum(generator.uniform(0.01, 0.05, 2000)), generator.normal(size=2000)
    found = robustness(parse("F[1,7] a"), {"a": row}, times)
    for i in range(0, 2000, 97):
        window = row[(times >= times[i] + 1) & (times <= times[i] + 7)]
        assert found[i] == (window.max() if len(window) else -np.inf)


@pytest.mark.parametrize(
    ("text", "margins", "times", "problem"),
    [
        ("F a", {"b": [1.0]}, [0.0], "there is no margin of 'a'; there are: b"),
        (
            "F a",
            {"a": [1.0, 2.0]},
            [0.0],
            r"the margin of 'a' must be 1 numbers, one for each time; its shape is \(2,\)",
        ),
        ("F a", {"a": [float("nan")]}, [0.0], "must be 1 numbers"),
        ("F a", {"a": [1.0, 2.0]}, [1.0, 1.0], "times must be one rising row of seconds"),
        ("F a", {"a": []}, [], "times must be one rising row of seconds"),
        ("X a", {"a": [1.0]}, [0.0], "X a counts changes of letters, and signals have none"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(text, margins, times, problem):
    with pytest.raises(InputError, match=problem):
        robustness(parse(text), margins, times)
