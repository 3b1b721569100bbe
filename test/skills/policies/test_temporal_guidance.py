"""Bounds that were said after a policy was trained: its chunks keep them, and otherwise stay what they were."""

import numpy as np
import pytest
from policy_methods.temporal_guidance import (
    Below,
    GuidedField,
    LawfulFirst,
    Outside,
    TemporalRobustness,
    placed_path,
    summed_path,
)

from llm_planner.errors import InputError
from llm_planner.ltl.parser import parse
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.learned.samplers import FlowSampler, Reranked
from llm_planner.skills.learned.velocity_field import Conditioning, Normaliser, PolicySpec

ASKED = Conditioning(np.zeros((2, 3), np.float32))
SPEC = PolicySpec(3, 0, 4, horizon=6, n_action_steps=2)
START = np.zeros((1, 6, 4), np.float32)
ARCH = np.float32([[0.1 * k, 0.0, 0.3 * np.sin(0.6 * k), 0.05] for k in range(6)])


class Straight:
    """Flows to one chunk, whatever it is asked; noise moves where it ends a little sideways."""

    def __init__(self, chunk, spread=0.0):
        self.spec, self._chunk, self._spread = SPEC, np.float32(chunk), np.float32([0, spread, 0, 0])
        self.actions = Normaliser(np.float32([0.1, 0, 0.2, 0]), np.float32([0.5, 0.2, 0.1, 2]))

    def velocity(self, chunks, time, conditioning):
        if time == 0.0:
            self._goal = self.actions.normalise(self._chunk + self._spread * chunks)
        return (self._goal - chunks) / np.float32(1 - time)


def zone(shape, size, clearance=0.0, **pose):
    return Zone("vase", shape, size, Pose((0.25, 0.05, 0.2), **pose), clearance)


VASE = zone(Shape.CYLINDER, (0.1, 0.4))
PATH = placed_path(6, between=3)


def law(text, path=PATH, **bounds):
    return TemporalRobustness(parse(text), bounds, path, period=0.1)


def worst(robustness, chunks):
    return robustness.values(chunks, ASKED)[0]


def flown(field, *laws, steps=3):
    for one in laws:
        field = GuidedField(field, one)
    return FlowSampler(field, steps).sample(ASKED, START)


def test_a_placed_path_passes_its_actions_and_the_points_between():
    path = placed_path(3, columns=(1, 2, 3), between=2)
    chunk = np.float32([[[9, 0, 0, 0], [9, 1, 0, 0], [9, 1, 0, 4]]])
    assert path.points(chunk, ASKED)[0].tolist() == [[0, 0, 0], [0.5, 0, 0], [1, 0, 0], [1, 0, 2], [1, 0, 4]]
    assert path.steps.tolist() == [1, 1.5, 2, 2.5, 3]


def test_a_summed_path_goes_on_from_where_the_hand_is():
    path = summed_path(3, start=lambda asked: asked.observations[-1].astype(float), gone=0.01)
    asked = Conditioning(np.float32([[0, 0, 0], [1, 0, 0.5]]))
    chunk = np.float32([[[1, 0, 0], [1, 0, 0], [0, 0, 2]]])
    assert path.points(chunk, asked)[0] == pytest.approx(np.array([[1.01, 0, 0.5], [1.02, 0, 0.5], [1.02, 0, 0.52]]))


@pytest.mark.parametrize(
    "bound",
    [
        Below(0.1),
        Outside(zone(Shape.SPHERE, (0.1,))),
        Outside(zone(Shape.CAPSULE, (0.1, 0.1))),
        Outside(VASE),
        Outside(zone(Shape.BOX, (0.1, 0.2, 0.3), orientation=(0.0, 0.0, 0.6, 0.8))),
    ],
)
def test_outward_is_the_slope_of_the_margin(bound):
    points = np.random.default_rng(0).uniform(-0.5, 0.8, (50, 3))
    along = np.random.default_rng(1).normal(size=(50, 3))
    slope = (bound.margins(points + 1e-6 * along) - bound.margins(points - 1e-6 * along)) / 2e-6
    assert (bound.outward(points) * along).sum(axis=-1) == pytest.approx(slope, abs=1e-3)
    assert np.linalg.norm(bound.outward(points), axis=-1) == pytest.approx(1, abs=1e-3)


def test_margins_are_distances_and_clearance_counts():
    high = np.array([[0.25, 0.05, 0.9]])
    assert Below(0.5).margins(high) == pytest.approx([-0.4])
    assert Outside(VASE).margins(high) == pytest.approx([0.3])
    assert Outside(zone(Shape.CYLINDER, (0.1, 0.4), clearance=0.2)).margins(high) == pytest.approx([0.1])


@pytest.mark.parametrize(
    "text", ["G low", "F low", "G (low & clear)", "F !low", "clear U low", "G[0.2,0.4] low", "F (low & !clear)"]
)
def test_a_small_ascent_gains_what_it_promises(text):
    robustness = law(text, low=Below(0.1), clear=Outside(VASE))
    rng = np.random.default_rng(0)
    for _ in range(20):
        chunk = (ARCH + rng.normal(scale=0.05, size=(6, 4))).astype(np.float32)[None]
        change = 1e-4 * robustness.ascent(chunk, ASKED)
        gain = worst(robustness, chunk + change) - worst(robustness, chunk)
        assert gain == pytest.approx(1e-4, rel=0.05)


def test_what_no_point_decides_has_no_ascent():
    for text in ("F[5,6] low", "G[5,6] low"):
        robustness = law(text, low=Below(0.1))
        assert np.isinf(worst(robustness, ARCH[None]))
        assert not robustness.ascent(ARCH[None], ASKED).any()
        assert flown(Straight(ARCH), robustness) == pytest.approx(flown(Straight(ARCH)), abs=1e-5)


def test_from_the_very_middle_of_a_zone_no_way_leads_out():
    robustness = law("G clear", path=placed_path(6), clear=Outside(VASE))
    middle = np.zeros((1, 6, 4), np.float32) + np.float32([0.25, 0.05, 0.2, 0])
    assert not robustness.ascent(middle, ASKED).any()


def test_a_chunk_stays_below_a_height_exactly_and_changes_nowhere_else():
    low = law("G low", low=Below(0.1))
    assert worst(low, ARCH[None]) < -0.19
    kept = flown(Straight(ARCH), low)
    assert worst(low, kept) == pytest.approx(0, abs=1e-3)
    assert kept[0, :, [0, 1, 3]] == pytest.approx(ARCH[:, [0, 1, 3]].T, abs=1e-5)
    untouched = ARCH[:, 2] < 0.05
    assert kept[0, untouched, 2] == pytest.approx(ARCH[untouched, 2], abs=5e-3)


def test_a_chunk_goes_round_a_zone_with_all_of_its_way():
    clear = law("G clear", clear=Outside(VASE))
    assert worst(clear, ARCH[None]) < -0.04
    kept = flown(Straight(ARCH), clear)
    assert worst(clear, kept) > -2e-3
    assert kept[0, [0, 5]] == pytest.approx(ARCH[[0, 5]], abs=0.02)


def test_a_margin_keeps_further_away():
    low = law("G low", low=Below(0.1))
    field = GuidedField(Straight(ARCH), low, margin=0.03)
    assert worst(low, FlowSampler(field).sample(ASKED, START)) == pytest.approx(0.03, abs=1e-3)
    assert (field.spec, field.actions.mean[2]) == (SPEC, np.float32(0.2))


def test_laws_stack_and_so_does_one_formula_of_both():
    low, clear = law("G low", low=Below(0.2)), law("G clear", clear=Outside(VASE))
    both = law("G (low & clear)", low=Below(0.2), clear=Outside(VASE))
    for kept in (flown(Straight(ARCH), low, clear), flown(Straight(ARCH), both)):
        assert worst(low, kept) > -2e-3
        assert worst(clear, kept) > -2e-3


def test_what_must_come_is_brought_about():
    visit = law("F inside", inside=Below(-0.1))
    assert worst(visit, ARCH[None]) < 0
    assert worst(visit, flown(Straight(ARCH), visit)) > -2e-3


def test_a_lawful_chunk_is_left_as_it_is():
    low = law("G low", low=Below(5.0))
    assert flown(Straight(ARCH), low) == pytest.approx(flown(Straight(ARCH)), abs=1e-5)


def test_moves_are_bent_as_places_are():
    path = summed_path(6, start=lambda asked: np.array([0.0, 0.0, 0.05]), gone=0.1)
    low = law("G low", path=path, low=Below(0.1))
    climbing = np.zeros((6, 4), np.float32)
    climbing[:, 2] = 0.5
    assert worst(low, climbing[None]) < -0.2
    assert worst(low, flown(Straight(climbing), low)) > -2e-3


def test_of_several_chunks_a_lawful_one_is_taken():
    clear = law("G clear", clear=Outside(VASE))
    sampler = FlowSampler(Straight(ARCH, spread=0.2))
    picked = Reranked(sampler, LawfulFirst(clear, margin=0.01), np.random.default_rng(0), samples=64)
    assert worst(clear, sampler.sample(ASKED, START)) < 0
    assert worst(clear, picked.sample(ASKED, START)) >= 0.01 - 1e-4


class Leftmost:
    def values(self, chunks, conditioning):
        return chunks[:, :, 1].min(axis=1)


def test_among_the_lawful_a_critic_decides_and_without_one_they_are_alike():
    low = law("G low", low=Below(0.1))
    heights, sides = (0.0, 0.05, 0.3, 0.2), (0.0, 0.4, 0.9, 0.0)
    chunks = np.zeros((4, 6, 4), np.float32)
    chunks[:, :, 2], chunks[:, :, 1] = np.array(heights)[:, None], np.array(sides)[:, None]
    assert LawfulFirst(low).values(chunks, ASKED) == pytest.approx([0, 0, -0.2, -0.1])
    assert LawfulFirst(low, critic=Leftmost()).values(chunks, ASKED) == pytest.approx([0, 0.4, -0.2, -0.1])
    assert LawfulFirst(low, margin=0.07).values(chunks, ASKED) == pytest.approx([0, -0.02, -0.27, -0.17])


def test_a_formula_about_unknown_things_is_refused():
    with pytest.raises(InputError, match=r"G high speaks of 'high'; there are bounds of: clear, low"):
        law("G high", low=Below(0.1), clear=Outside(VASE))
    with pytest.raises(InputError, match="true speaks of nothing that a path could keep or break; name a bound in it"):
        law("true", low=Below(0.1))


def test_moves_of_a_hand_that_follows_late_lead_on():
    path = summed_path(3, start=lambda asked: np.array([[1.0, 0, 0], [2.0, 0, 0], [3.0, 0, 0]]), gone=[0.1, 0.3, 0.6])
    chunk = np.float32([[[0, 1, 0], [0, 0, 1], [0, 0, 0]]])
    assert path.points(chunk, ASKED)[0] == pytest.approx(np.array([[1, 0.1, 0], [2, 0.3, 0.1], [3, 0.6, 0.3]]))


def test_no_guess_is_moved_beyond_what_is_carried_out():
    path = summed_path(6, start=lambda asked: np.zeros(3), gone=0.1)
    low, least, most = law("G low", path, low=Below(0.1)), np.float32([-1, -1, -0.3, -1]), 1.0
    up = np.zeros((6, 4), np.float32)
    up[:2, 2] = 0.9
    bent = FlowSampler(GuidedField(Straight(up), low, limits=(least, most))).sample(ASKED, START)
    assert bent[..., 2].min() >= -0.3 - 1e-6
    assert worst(low, bent) >= -1e-3
    free = FlowSampler(GuidedField(Straight(5 * up), low)).sample(ASKED, START)
    cut = FlowSampler(GuidedField(Straight(5 * up), low, limits=(-1.0, most))).sample(ASKED, START)
    assert abs(cut).max() <= 1.0 + 1e-6 < abs(free).max()


def test_limits_that_leave_nothing_are_refused():
    with pytest.raises(InputError, match=r"must lie below the most; the limits are \(1.0, -1.0\)"):
        GuidedField(Straight(ARCH), law("G low", low=Below(0.1)), limits=(1.0, -1.0))


@pytest.mark.parametrize("margin", [np.nan, np.inf])
def test_a_margin_that_is_no_number_is_refused(margin):
    with pytest.raises(InputError, match=f"the margin of a bound is a finite number, not {margin}"):
        GuidedField(Straight(ARCH), law("G low", low=Below(0.1)), margin)


def test_no_correction_is_wild_not_even_across_the_middle_of_a_zone():
    clear = law("G clear", clear=Outside(VASE))
    through = np.float32([[0.1 * k, 0.05, 0.2, 0.0] for k in range(6)])
    for sideways in (0.0, 1e-6, 1e-3, -1e-2):
        kept = flown(Straight(through + np.float32([0, sideways, 0, 0])), clear)
        assert abs(kept[0, :, :3] - through[:, :3]).max() < 0.25
