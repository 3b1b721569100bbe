"""Several policies as one: what must agree, what comes out, and how the shares are found."""

from dataclasses import replace

import numpy as np
import pytest
from policy_methods.composition import ComposedField, search_weights, simplex_grid

from llm_planner.errors import InputError
from llm_planner.skills.learned.samplers import FlowSampler
from llm_planner.skills.learned.velocity_field import Conditioning, Normaliser, PolicySpec

SPEC = PolicySpec(2, 0, 2, horizon=4, n_action_steps=2)
UNITS = Normaliser(np.zeros(2, np.float32), np.ones(2, np.float32))
ASKED = Conditioning(np.zeros((2, 2), np.float32))
START = np.zeros((1, 4, 2), np.float32)


class Straight:
    """Flows to one chunk, whatever it is asked."""

    def __init__(self, chunk, spec=SPEC, actions=UNITS):
        self.spec, self.actions, self.asked, self._chunk = spec, actions, 0, np.float32(chunk)

    def velocity(self, chunks, time, conditioning):
        self.asked += 1
        return (self._chunk - chunks) / np.float32(1 - time)


def test_the_shares_decide_where_it_flows():
    for share in (0.0, 0.25, 1.0):
        composed = ComposedField([Straight(4), Straight(-4)], [share, 1 - share])
        assert FlowSampler(composed).sample(ASKED, START) == pytest.approx(8 * share - 4)
        assert (composed.spec, composed.actions) == (SPEC, UNITS)


def test_a_policy_without_a_share_is_not_even_asked():
    idle = Straight(-4)
    FlowSampler(ComposedField([Straight(4), idle], [1.0, 0.0])).sample(ASKED, START)
    assert idle.asked == 0


def test_compositions_compose():
    inner = ComposedField([Straight(0), Straight(4)], [0.5, 0.5])
    assert FlowSampler(ComposedField([inner, Straight(8)], [0.5, 0.5])).sample(ASKED, START) == pytest.approx(5)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"horizon": 5}, "only with the same horizon: the first has 4, no. 2 5"),
        ({"action_dim": 3}, "only with the same action_dim: the first has 2, no. 2 3"),
        ({"observation_dim": 9}, "only with the same observation_dim: the first has 2, no. 2 9"),
        ({"n_obs_steps": 1}, "only with the same n_obs_steps: the first has 2, no. 2 1"),
        ({"goal_dim": 1}, "only with the same goal_dim: the first has 0, no. 2 1"),
        ({"objective": "regression"}, "only with the same objective: the first has 'flow', no. 2 'regression'"),
    ],
)
def test_policies_of_other_sizes_are_refused_by_name(changes, match):
    with pytest.raises(InputError, match=match):
        ComposedField([Straight(0), Straight(0, replace(SPEC, **changes))], [0.5, 0.5])


@pytest.mark.parametrize("part", ["mean", "scale"])
def test_policies_of_other_units_are_refused(part):
    other = replace(UNITS, **{part: np.array([1, 2], np.float32)})
    with pytest.raises(
        InputError, match=rf"same units of actions; their {part} differs: .* no. 2 \[1.0, 2.0\]; train both"
    ):
        ComposedField([Straight(0), Straight(0, actions=other)], [0.5, 0.5])


def test_the_sizes_of_the_networks_may_differ():
    ComposedField([Straight(0), Straight(0, replace(SPEC, width=7, depth=9))], [0.5, 0.5])


@pytest.mark.parametrize("weights", [[0.5, 0.6], [-0.5, 1.5], [np.nan, 1.0]])
def test_weights_that_are_no_shares_are_refused(weights):
    with pytest.raises(InputError, match="the weights of a composition are 0 or more and sum to 1; these are"):
        ComposedField([Straight(0), Straight(0)], weights)


@pytest.mark.parametrize(("count", "weights"), [(0, []), (2, [1.0]), (1, [0.5, 0.5])])
def test_each_policy_has_its_weight(count, weights):
    with pytest.raises(InputError, match=f"one weight for each of its policies, not {len(weights)} for {count}"):
        ComposedField([Straight(0)] * count, weights)


def test_the_grid_holds_all_shares():
    assert list(simplex_grid(1)) == [(1.0,)]
    assert list(simplex_grid(2, 4)) == [(1, 0), (0.75, 0.25), (0.5, 0.5), (0.25, 0.75), (0, 1)]
    three = list(simplex_grid(3, 4))
    assert len(three) == len(set(three)) == 15
    assert all(sum(weights) == pytest.approx(1) for weights in three)


def test_the_best_shares_are_found_by_trying():
    def score(weights):
        end = FlowSampler(ComposedField([Straight(0), Straight(1)], weights)).sample(ASKED, START)
        return -abs(float(end[0, 0, 0]) - 0.7)

    search = search_weights(simplex_grid(2, 4), score)
    assert search.best == (0.25, 0.75)
    assert len(search.scores) == 5


def test_of_equal_shares_the_first_is_taken():
    assert search_weights([(1.0,), (0.5,)], lambda weights: 0.0).best == (1.0,)


def test_nothing_to_choose_from_is_refused():
    with pytest.raises(InputError, match="there are no weights to choose from; give those of simplex_grid"):
        search_weights([], lambda weights: 0.0)
