"""What is in force: the strictest of all patches within the envelope, reached by ramps."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control.constraint_arbiter import (
    ACCEPTED,
    MOST_PUBLISHERS,
    MOST_REMEMBERED,
    MOST_SOURCES,
    MOST_ZONES_OF_ONE,
    ConstraintArbiter,
    PatchResponse,
)
from llm_planner.control.envelope import CROWD, STANDSTILL, Envelope
from llm_planner.control.motion_constraints import FREE, MOST_ZONES, InvalidParts, MotionConstraints, Patch
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

LAB = Envelope(
    speed=0.5, largest_speed=1.0, joint_share=0.6, largest_share=1.0, clearance=0.02, least_clearance=0.0,
    weights={"position": (0.5, 2.0)},
)  # fmt: skip


def zone(name: str, clearance: float = 0.05) -> Zone:
    return Zone(name, Shape.SPHERE, (0.1,), Pose((0.5, 0.0, 0.2)), clearance)


def patch(source: str = "a", now: float = 0.0, lasts: float = 100.0, **wanted) -> Patch:
    return Patch(source, now, now + lasts, **wanted)


def settled(board: ConstraintArbiter, now: float) -> MotionConstraints:
    """What is in force a good while after `now`, in ticks of 10 ms."""
    for k in range(500):
        constraints = board.at(now + 0.01 * k)
    return constraints


def test_without_patches_the_envelope_holds():
    assert ConstraintArbiter().at(0.0) == FREE
    constraints = ConstraintArbiter(LAB).at(0.0)
    assert (constraints.speed, constraints.joint_share, constraints.zones) == (0.5, 0.6, ())


def test_the_strictest_wins_whoever_came_first():
    board = ConstraintArbiter(LAB)
    board.offered(patch("a", speed=0.2, joint_share=1.0, clearance=0.03, zones=(zone("vase"),)), 0.0)
    board.offered(patch("b", speed=0.9, joint_share=0.3, clearance=0.10), 0.0)
    constraints = settled(board, 0.0)
    assert (constraints.speed, constraints.joint_share) == (0.2, 0.3)
    assert [zone.clearance for zone in constraints.zones] == [0.10]
    assert board.sources == ("a", "b")


def test_a_patch_loosens_up_to_the_envelope_while_no_other_minds():
    board = ConstraintArbiter(LAB)
    assert board.offered(patch(speed=1.0, clearance=0.0), 0.0) is ACCEPTED
    assert settled(board, 0.0).speed == 1.0
    answer = board.offered(patch(speed=1.2, zones=(zone("vase"),)), 0.0)
    assert answer == PatchResponse(True, "1.2 m/s is more than the 1 m/s that the operator allows")
    constraints = settled(board, 0.0)
    assert constraints.speed == 1.0
    assert [zone.name for zone in constraints.zones] == ["vase"]


def test_the_zones_of_the_envelope_always_hold():
    board = ConstraintArbiter(Envelope(zones=(zone("the operator"),)))
    board.offered(patch(zones=(zone("vase"),)), 0.0)
    assert [zone.name for zone in settled(board, 0.0).zones] == ["the operator", "vase"]


def test_a_newer_patch_replaces_and_an_empty_one_withdraws():
    board = ConstraintArbiter(LAB)
    board.offered(patch(speed=0.2), 0.0)
    board.offered(patch(now=1.0, speed=0.3), 1.0)
    assert settled(board, 1.0).speed == 0.3
    board.offered(patch(now=7.0), 7.0)
    assert settled(board, 7.0).speed == 0.5
    assert board.sources == ()


def test_an_expired_patch_is_withdrawn_by_ramp():
    board = ConstraintArbiter(LAB)
    board.offered(patch(lasts=10.0, speed=0.9), 0.0)
    assert settled(board, 0.0).speed == 0.9
    assert board.at(9.99).speed == 0.9
    falling = [board.at(10.0 + 0.01 * k).speed for k in range(30)]
    assert falling[0] == pytest.approx(0.875)  # 2.5 m/s^2
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] == 0.5


def test_a_tightened_speed_is_there_within_a_quarter_of_a_second():
    board = ConstraintArbiter(LAB)
    board.at(0.0)
    board.offered(patch(speed=0.15), 0.0)
    speeds = [board.at(0.01 * k).speed for k in range(26)]
    assert speeds[0] == 0.5
    assert all(before - after <= 0.0251 for before, after in itertools.pairwise(speeds))
    assert speeds[15] == 0.15


def test_where_there_was_no_limit_it_falls_from_what_the_robot_does():
    board = ConstraintArbiter()
    board.at(0.0)
    board.offered(patch(speed=0.15), 0.0)
    assert board.at(0.01, moving=0.5).speed == pytest.approx(0.475)
    standing = ConstraintArbiter()
    standing.at(0.0)
    standing.offered(patch(speed=0.15), 0.0)
    assert standing.at(0.01, moving=0.0).speed == 0.15
    assert standing.at(6.0).speed == 0.15


def test_a_limit_rises_slowly_and_ends_in_none():
    board = ConstraintArbiter()
    board.offered(patch(lasts=1.0, speed=0.2), 0.0)
    settled(board, -4.5)
    assert board.at(1.2).speed == pytest.approx(0.2 + 0.71, abs=0.02)
    assert math.isinf(settled(board, 2.0).speed)


def grows(board: ConstraintArbiter, to: float, over: float = 3.0, period: float = 0.01) -> list[float]:
    """The clearance of a vase, tick by tick from now on, when one of `to` [m] is asked for."""
    board.at(0.0)
    board.offered(patch(zones=(zone("vase", to),)), 0.0)
    return [board.at(period * k).zones[0].clearance for k in range(round(over / period))]


def test_a_clearance_grows_from_a_stand_and_shrinks_at_once():
    board = ConstraintArbiter()
    clearances = grows(board, to=0.10)
    assert clearances[:3] == pytest.approx([0.0, 0.00005, 0.0002])  # 1 m/s^2
    steps = np.diff(clearances)
    assert steps.max() == pytest.approx(0.002)  # 0.2 m/s
    assert np.diff(steps[:60]).max() <= 0.0001 + 1e-12
    board.offered(patch(now=3.0, zones=(zone("vase", 0.02),)), 3.0)
    assert board.at(3.0).zones[0].clearance == 0.02


@pytest.mark.parametrize(
    ("limits", "top"),
    [({}, 0.2), ({"speed": 0.1}, 0.05), ({"speed": 1.0}, 0.2), ({"joint_share": 0.25}, 0.05)],
)
def test_a_clearance_is_in_force_in_a_time_that_is_known_beforehand(limits, top):
    """The speed of growth / 1 m/s^2 / 2, and the way at that speed, which is less where the robot may only be slow."""
    board = ConstraintArbiter()
    board.offered(patch("the cook", now=-5.0, **limits), -5.0)
    settled(board, -5.0)
    clearances = grows(board, to=0.10)
    after = 0.01 * clearances.index(0.10)
    assert after == pytest.approx(0.10 / top + top / 2, abs=0.011)


def test_a_clearance_grows_alike_however_often_it_is_looked_at():
    often, seldom = grows(ConstraintArbiter(), to=0.10, period=0.01), grows(ConstraintArbiter(), to=0.10, period=0.1)
    assert seldom == pytest.approx(often[::10])


def test_the_controller_is_told_a_tenth_of_a_second_ahead_of_what_is_in_force():
    board = ConstraintArbiter()
    board.at(0.0)
    board.offered(patch(zones=(zone("vase", 0.10),)), 0.0)
    in_force, foreseen = [], []
    for k in range(100):
        in_force.append(board.at(0.01 * k).zones[0].clearance)
        foreseen.append(board.foreseen().zones[0].clearance)
    assert foreseen[:-10] == pytest.approx(in_force[10:])
    assert foreseen[-1] == 0.10
    assert board.foreseen() is board.at(1.0)


def test_a_ramp_begins_when_its_patch_comes_and_not_when_was_last_looked():
    board = ConstraintArbiter()
    board.at(0.0)
    board.offered(patch(now=5.0, zones=(zone("vase", 0.10),)), 5.0)
    assert board.at(5.01).zones[0].clearance == pytest.approx(0.00005)


def test_two_zones_of_one_name_both_grow_to_their_end():
    board = ConstraintArbiter()
    board.at(0.0)
    board.offered(patch("a", zones=(zone("vase", 0.10),)), 0.0)
    board.offered(patch("b", zones=(zone("vase", 0.05),)), 0.0)
    assert [zone.clearance for zone in settled(board, 0.0).zones] == [0.10, 0.05]


def test_the_version_rises_with_every_change_and_only_then():
    board = ConstraintArbiter(LAB)
    first = board.at(0.0).version
    assert board.at(1.0).version == first
    board.offered(patch(now=1.0, speed=0.15), 1.0)
    versions = [board.at(1.0 + 0.01 * k).version for k in range(30)]
    assert versions[:3] == [first, first + 1, first + 2]
    assert versions[-1] == versions[-2]


@pytest.mark.parametrize(
    ("late", "reason"),
    [
        (Patch("a", 5.0, 9.0, epoch=2), "it is of the earlier run 2; 'a' is at 3"),
        (Patch("a", 3.5, 9.0, epoch=3), "it is older than the last one, by 0.500 s"),
        (Patch("a", 4.0, 4.9, epoch=3, speed=0.1), "it expired 0.10 s ago"),
    ],
)
def test_what_is_stale_is_refused(late, reason):
    board = ConstraintArbiter(LAB)
    board.offered(Patch("a", 4.0, 100.0, epoch=3, speed=0.2), 4.0)
    answer = board.offered(late, 5.0)
    assert (answer.accepted, answer.reason) == (False, reason)
    assert settled(board, 5.0).speed == 0.2


def test_the_patch_of_a_clock_that_is_ahead_is_in_force_for_as_long_as_it_says():
    board = ConstraintArbiter(LAB)
    assert board.offered(Patch("a", 95.0, 125.0, speed=0.2), 5.0).accepted
    assert settled(board, 5.0).speed == 0.2
    assert board.offered(Patch("a", 96.0, 126.0, speed=0.15), 6.0).accepted
    assert board.at(36.0).speed == 0.15
    board.at(36.6)
    assert board.sources == ()


def test_it_is_never_too_late_to_withdraw():
    board = ConstraintArbiter(LAB)
    board.offered(patch(speed=0.2), 0.0)
    assert board.offered(patch(now=1.0, lasts=0.5), 5.0).accepted
    assert board.sources == ()


def test_a_withdrawn_patch_does_not_come_back_by_a_late_message():
    board = ConstraintArbiter(LAB)
    board.offered(patch(now=2.0), 2.0)
    assert not board.offered(patch(now=1.0, speed=0.2), 2.0).accepted


def full(board: ConstraintArbiter) -> ConstraintArbiter:
    """With a patch of every source there is a place for."""
    for k in range(MOST_SOURCES):
        assert board.offered(patch(f"source {k}", speed=0.4), 0.0) is ACCEPTED
    return board


def test_sources_without_number_do_not_fill_the_board():
    board = full(ConstraintArbiter(LAB))
    for k in range(2 * MOST_REMEMBERED):
        board.offered(patch(f"source {MOST_SOURCES - 1}", now=1e-4 * k), 1.0)
        board.offered(patch(f"guest {k}", now=1.0), 1.0)
    assert len(board.sources) == MOST_SOURCES - 1


def test_who_comes_after_the_last_place_still_tightens_until_it_expires():
    board = full(ConstraintArbiter(LAB))
    late = patch("one more", lasts=8.0, speed=0.1, clearance=0.10, zones=(zone("vase"),), weights={"position": 2.0})
    answer = board.offered(late, 0.0)
    assert answer.accepted
    assert "32 sources of this publisher have patches in force already: with others it only tightens" in answer.reason
    assert board.sources[-1] == CROWD
    constraints = settled(board, 0.0)
    assert (constraints.speed, constraints.weights) == (0.1, {})
    assert [zone.clearance for zone in constraints.zones] == [0.10]
    board.offered(patch("one more", now=5.0), 5.0)
    board.offered(patch("another", now=5.0, lasts=2.0, speed=0.9, joint_share=0.5), 5.0)
    assert (board.at(7.9).speed, board.at(7.9).joint_share) == (0.1, 0.5)
    assert settled(board, 8.0).speed == 0.4


def test_who_comes_after_the_last_place_loosens_nothing():
    board = full(ConstraintArbiter(replace(LAB, speed=0.3)))
    board.offered(patch("one more", speed=0.9, joint_share=1.0, clearance=0.0, zones=(zone("vase", 0.0),)), 0.0)
    constraints = settled(board, 0.0)
    assert (constraints.speed, constraints.joint_share, constraints.zones[0].clearance) == (0.3, 0.6, 0.02)


def test_a_flood_of_zones_fills_no_memory_and_brings_the_robot_to_a_stand():
    board = full(ConstraintArbiter(LAB))
    for k in range(MOST_ZONES):
        board.offered(patch(f"guest {k}", zones=(zone(f"vase {k}"),)), 0.0)
    assert settled(board, 0.0).speed == 0.4
    for k in range(1000):
        board.offered(patch(f"flood {k}", now=5.0, lasts=10.0, zones=(zone(f"mug {k}"),)), 5.0)
    constraints = settled(board, 5.0)
    assert len(constraints.zones) == MOST_ZONES
    assert (constraints.speed, constraints.joint_share) == (STANDSTILL, STANDSTILL)


def test_a_crowd_that_leaves_no_motion_is_named():
    board = full(ConstraintArbiter(LAB, crowded))
    board.offered(patch("one more", zones=(zone("vase"), zone("mug"))), 0.0)
    settled(board, 0.0)
    assert board.conflict.startswith("'more sources than there is room for' leaves no room")


def crowded(constraints: MotionConstraints) -> bool:
    """A world with room for one zone."""
    return len(constraints.zones) < 2


def test_patches_that_leave_no_motion_are_in_force_and_named():
    board = ConstraintArbiter(LAB, crowded)
    assert board.offered(patch("the rule on vases", zones=(zone("vase"),)), 0.0).accepted
    settled(board, 0.0)
    assert board.conflict == ""
    assert board.offered(patch("the rule on mugs", zones=(zone("mug"),)), 0.0).accepted
    board.offered(patch("the cook", speed=0.2), 0.0)
    board.at(0.0)
    assert board.conflict.startswith("3 patches leave no room: no motion keeps everything")
    assert len(settled(board, 0.0).zones) == 2
    assert board.conflict.startswith("'the rule on vases' and 'the rule on mugs' contradict each other: no motion")
    board.offered(patch("the rule on mugs", now=6.0), 6.0)
    board.at(6.0)
    assert board.conflict == ""


def test_a_single_patch_that_leaves_no_motion_is_named_alone():
    board = ConstraintArbiter(LAB, crowded)
    board.offered(patch("the rule", zones=(zone("vase"), zone("mug"))), 0.0)
    settled(board, 0.0)
    assert board.conflict.startswith("'the rule' leaves no room")


def test_a_conflict_ends_when_a_patch_expires():
    board = ConstraintArbiter(LAB, crowded)
    board.offered(patch("a", lasts=1.0, zones=(zone("vase"),)), 0.0)
    board.offered(patch("b", zones=(zone("mug"),)), 0.0)
    board.at(0.0)
    assert board.conflict
    board.at(1.0)
    assert board.conflict == ""


def test_a_conflict_ends_when_the_robot_has_moved_to_where_there_is_room():
    room = [False]
    board = ConstraintArbiter(LAB, lambda constraints: room[0])
    board.offered(patch(zones=(zone("vase"),)), 0.0)
    for k in range(10):
        board.at(0.01 * k)
    room[0] = True
    board.at(0.9)
    assert board.conflict
    board.at(1.1)
    assert board.conflict == ""


def test_weights_under_which_the_controller_finds_nothing_are_left_out():
    board = ConstraintArbiter(LAB, lambda constraints: "position" not in constraints.weights)
    assert board.offered(patch(speed=0.2, weights={"position": 2.0}), 0.0) is ACCEPTED
    assert all(board.at(0.01 * k).weights == {} for k in range(10))
    assert board.left_out() == (("a", "with these weights the controller finds no motion: they are left out"),)
    assert board.left_out() == ()
    assert settled(board, 0.1).speed == 0.2


def test_weights_are_not_blamed_for_what_zones_do():
    board = ConstraintArbiter(LAB, lambda constraints: not constraints.zones)
    assert board.offered(patch(zones=(zone("vase"),), weights={"position": 2.0}), 0.0) is ACCEPTED
    assert settled(board, 0.0).weights == {"position": 2.0}
    assert board.left_out() == ()


def test_weights_that_are_said_again_stay_in_force_meanwhile():
    board = ConstraintArbiter(LAB)
    for k in range(5):
        board.offered(patch(now=0.4 * k, weights={"position": 2.0}), 0.4 * k)
        assert board.at(0.4 * k).weights == {"position": 2.0}


def test_the_newer_of_two_factors_counts():
    board = ConstraintArbiter(LAB)
    board.offered(patch("a", now=0.1, weights={"position": 2.0}), 0.1)
    board.offered(patch("b", now=0.0, weights={"position": 0.5}), 0.1)
    assert board.at(0.1).weights == {"position": 2.0}


def test_however_many_patches_come_there_is_one_dry_run_a_tick():
    runs = []
    board = ConstraintArbiter(LAB, lambda constraints: runs.append(constraints) or not constraints.zones)
    for tick in range(20):
        for k in range(30):
            board.offered(patch(f"source {k}", now=0.01 * tick, zones=(zone(f"mug {tick}"),)), 0.01 * tick)
        board.at(0.01 * tick)
        assert len(runs) <= tick + 1
    assert board.conflict.startswith("30 patches leave no room")


# Publishers


def test_the_same_words_of_two_publishers_are_two_patches_and_both_bind():
    board = ConstraintArbiter(LAB)
    board.offered(patch("the rule", speed=0.2), 0.0, "executor")
    board.offered(patch("the rule", speed=0.9, joint_share=0.3), 0.0, "guest")
    constraints = settled(board, 0.0)
    assert (constraints.speed, constraints.joint_share) == (0.2, 0.3)
    assert board.sources == ("the rule", "the rule")


def test_only_who_said_it_withdraws_or_replaces_it():
    board = ConstraintArbiter(LAB)
    board.offered(patch("the rule", speed=0.2), 0.0, "executor")
    board.offered(patch("the rule", now=1.0), 1.0, "guest")
    board.offered(patch("the rule", now=1.0, speed=1.0), 1.0, "another guest")
    assert settled(board, 1.0).speed == 0.2
    board.offered(patch("the rule", now=7.0), 7.0, "executor")
    assert settled(board, 7.0).speed == 1.0


def test_an_epoch_of_another_publisher_shuts_nobody_out():
    board = ConstraintArbiter(LAB)
    board.offered(patch("the rule", epoch=2**63), 0.0, "guest")
    assert board.offered(patch("the rule", epoch=7, speed=0.2), 0.0, "executor") is ACCEPTED
    assert settled(board, 0.0).speed == 0.2


def test_a_restarted_publisher_is_heard_at_once_and_loosens_nothing_until_its_old_patch_expires():
    board = ConstraintArbiter(LAB)
    board.offered(patch("the rule", lasts=10.0, epoch=9, speed=0.2), 0.0, "executor")
    assert settled(board, 0.0).speed == 0.2  # to 4.99
    assert board.offered(patch("the rule", now=5.0, epoch=1, speed=0.9), 5.0, "again") is ACCEPTED
    assert board.at(9.99).speed == 0.2
    assert settled(board, 10.0).speed == 0.9
    assert board.offered(patch("the rule", now=15.0, epoch=1, speed=0.1), 15.0, "once more") is ACCEPTED
    assert settled(board, 15.0).speed == 0.1


def test_a_publisher_with_many_sources_leaves_the_places_of_others():
    board = full(ConstraintArbiter(LAB))
    for k in range(500):
        board.offered(patch(f"flood {k}", speed=0.4), 0.0, "")
    assert board.offered(patch("the rule", speed=0.1), 0.0, "executor") is ACCEPTED
    assert settled(board, 0.0).speed == 0.1
    board.offered(patch("the rule", now=6.0), 6.0, "executor")
    assert settled(board, 6.0).speed == 0.4


def test_zones_of_one_publisher_beyond_its_number_bring_the_robot_to_a_stand():
    board = ConstraintArbiter(LAB)
    many = tuple(zone(f"mug {k}") for k in range(MOST_ZONES))
    for k in range(MOST_ZONES_OF_ONE // MOST_ZONES):
        assert board.offered(patch(f"rule {k}", zones=many), 0.0) is ACCEPTED
    assert "with others it only tightens" in board.offered(patch("one more", zones=many), 0.0).reason
    board.offered(patch("and one more", zones=(zone("vase"),)), 0.0)
    board.at(0.0)
    assert board.at(2.0).speed == STANDSTILL


def test_who_comes_after_the_last_publisher_only_tightens():
    board = ConstraintArbiter(LAB)
    for k in range(MOST_PUBLISHERS):
        board.offered(patch(lasts=8.0, speed=0.4), 0.0, f"publisher {k}")
    board.offered(patch(now=0.1, speed=0.9, joint_share=0.5, epoch=2**62), 0.1, "late")
    answer = board.offered(patch(speed=0.1), 0.1, "later")
    assert "16 publishers have patches in force already: with others it only tightens" in answer.reason
    constraints = settled(board, 0.1)
    assert (constraints.speed, constraints.joint_share) == (0.1, 0.5)
    board.offered(patch("a", now=1.0), 1.0, "later")
    assert settled(board, 1.0).speed == 0.1
    board.at(8.0)
    assert board.offered(patch("a", now=8.1, speed=0.2), 8.1, "newcomer") is ACCEPTED


# Parts that cannot be read


def test_a_part_that_cannot_be_read_stays_as_the_source_had_it():
    board = ConstraintArbiter(LAB)
    board.offered(patch(speed=0.2, joint_share=0.3, zones=(zone("vase"), zone("mug"))), 0.0)
    unread = InvalidParts(frozenset({"speed"}), frozenset({"vase"}), ("no speed", "no vase"))
    answer = board.offered(patch(now=1.0, joint_share=0.4, zones=(zone("bowl"),)), 1.0, unread=unread)
    assert answer == PatchResponse(True, "no speed; no vase")
    constraints = settled(board, 1.0)
    assert (constraints.speed, constraints.joint_share) == (0.2, 0.4)
    assert [zone.name for zone in constraints.zones] == ["bowl", "vase"]


def test_what_cannot_be_read_at_all_withdraws_nothing():
    board = ConstraintArbiter(LAB)
    board.offered(patch(lasts=9.0, joint_share=0.3), 0.0)
    unread = InvalidParts(limits=frozenset({"speed"}), told=("no speed",))
    assert board.offered(patch(now=1.0), 1.0, unread=unread) == PatchResponse(False, "no speed")
    assert settled(board, 1.0).joint_share == 0.3
    assert settled(board, 9.0).joint_share == 0.6


def test_after_the_clock_leapt_back_patches_last_as_long_as_they_had():
    board = ConstraintArbiter(LAB)
    board.offered(patch(now=50.0, lasts=10.0, speed=0.2), 50.0)
    settled(board, 50.0)  # to 54.99
    board.started_over(1.0)
    assert board.at(1.0).speed == 0.2
    board.at(5.9)
    assert board.sources == ("a",)
    board.at(7.1)
    assert board.sources == ()
    assert board.offered(patch(now=7.0, speed=0.3), 7.1).accepted
