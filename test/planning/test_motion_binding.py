"""Rules become zones and speed limits, in the scene as it is and in the state of their monitors."""

from dataclasses import replace
from math import dist, inf

import numpy as np
import pytest

from llm_planner.execution.motion_rules import SPEED_SHARE, bindings
from llm_planner.execution.watch import watch_for
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.scene.geometry import half_extents
from llm_planner.scene.propositions import NEAR_ARM, NEAR_BASE, Moment, holds, parse_proposition
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject
from llm_planner.simulation.worlds import open_world


@pytest.fixture
def seen(scene):
    """The table with the hand above it, at rest."""
    return replace(scene, robot=Pose((0.3, 0.0, 0.4)))


def bound(scene, *formulas, ahead=()):
    watch = watch_for([Constraint(parse(formula), "so be it") for formula in formulas], scene).see(scene)
    return bindings(watch, scene, map(frozenset, ahead))


def one(scene, formula, ahead=()):
    (binding,) = bound(scene, formula, ahead=ahead)
    return binding


def gap(zone, point):
    """From the point to the edge of what the zone keeps out of [m], negative within, by the definition of a box."""
    apart = [abs(p - c) - half for p, c, half in zip(point, zone.pose.position, zone.size, strict=True)]
    outside = dist([max(0.0, way) for way in apart], (0.0, 0.0, 0.0))
    return (outside or max(apart)) - zone.clearance


def test_a_thing_to_stay_away_from_is_a_zone_of_the_hand(seen):
    (zone,) = one(seen, "G !near(robot, red bowl)").zones
    item = seen.find("red bowl")
    assert (zone.name, zone.shape, zone.subject) == ("the red bowl", Shape.BOX, Subject.GRIPPER)
    assert (zone.size, zone.pose.position, zone.clearance) == (half_extents(item), item.position, NEAR_ARM)


@pytest.mark.parametrize("text", ["near(robot, red bowl)", "over(robot, red bowl)", "distance(robot, red bowl) < 0.2"])
def test_outside_its_zone_a_proposition_does_not_hold_and_inside_it_does(seen, text):
    item, rng = parse_proposition(text), np.random.default_rng(3)
    turned = replace(seen.find("red bowl"), orientation=(0.0, 0.0, 0.3826834, 0.9238795), kind="block")
    for where in (seen, replace(seen, objects=tuple(turned if o.name == turned.name else o for o in seen.objects))):
        (zone,) = one(where, f"G !{text}").zones
        for point in rng.uniform((0.2, -0.4, 0.0), (0.7, 0.2, 0.4), (200, 3)).tolist():
            moment = Moment(replace(where, robot=Pose(tuple(point))))
            assert holds(item, moment) == (gap(zone, point) < 0), point


def test_a_distance_to_keep_is_a_clearance(seen):
    (zone,) = one(seen, "G distance(robot, red bowl) > 0.15").zones
    assert zone.clearance == 0.15


def test_a_speed_is_told_with_something_to_spare(seen):
    binding = one(seen, "G speed(robot) < 0.2")
    assert (binding.speed, binding.limit) == (0.2, pytest.approx(SPEED_SHARE * 0.2))
    assert one(seen, "G !speed(robot) > 0.2").speed == 0.2


def test_a_zone_moves_with_its_thing(seen):
    watch = watch_for([Constraint(parse("G !near(robot, red bowl)"), "so be it")], seen).see(seen)
    item = replace(seen.find("red bowl"), position=(0.6, 0.3, 0.0225))
    moved = replace(seen, time=1.0, objects=tuple(item if o.name == item.name else o for o in seen.objects))
    ((zone,),) = (binding.zones for binding in bindings(watch.see(moved), moved))
    assert zone.pose.position == item.position


def test_what_is_held_is_no_zone_of_its_own_hand(seen):
    held = replace(seen, held="red block")
    assert one(held, "G (holding(red block) -> distance(robot, red block) < 0.5)").zones == ()
    assert one(held, "G (holding(red block) -> !near(robot, red bowl))").zones != ()


def test_a_rule_until_an_event_ends_with_it(seen):
    rule = Constraint(parse("speed(robot) < 0.1 U in(red block, red bowl)"), "slowly until it is in the bowl")
    watch = watch_for([rule], seen).see(seen)
    assert bindings(watch, seen)[0].speed == 0.1
    bowl = seen.find("red bowl")
    inside = replace(seen.find("red block"), position=(*bowl.position[:2], 0.03))
    after = replace(seen, time=5.0, objects=tuple(inside if o.name == inside.name else o for o in seen.objects))
    assert bindings(watch.see(after), after)[0].speed == inf


def test_near_things_slowly_is_a_zone_far_away_and_a_limit_close_by(seen):
    rule = "G (near(robot, red bowl) -> speed(robot) < 0.1)"
    assert one(seen, rule).speed == inf
    assert one(seen, rule).zones != ()
    close = replace(seen, robot=Pose((0.45, -0.12, 0.2)))
    assert (one(close, rule).speed, one(close, rule).zones) == (0.1, ())


def test_fast_and_close_by_it_is_both(seen):
    fast = replace(seen, robot=Pose((0.45, -0.12, 0.2)), speed=0.4)
    binding = one(fast, "G (near(robot, red bowl) -> speed(robot) < 0.1)")
    assert binding.speed == 0.1
    assert binding.zones != ()


def test_a_limit_begins_before_what_it_depends_on(seen):
    rule = "G (holding(red block) -> speed(robot) < 0.1)"
    assert one(seen, rule).speed == inf
    assert one(seen, rule, ahead=[("holding(red block)",)]).speed == 0.1


def test_each_rule_has_a_binding_of_its_own(seen):
    first, second = bound(seen, "G speed(robot) < 0.2", "F holding(red block)")
    assert (first.speed, second.speed, second.zones, second.beyond) == (0.2, inf, (), ())


def test_what_no_limit_can_keep_is_told(seen):
    assert one(replace(seen, speed=0.3), "G speed(robot) > 0.2").beyond == ("speed(robot) > 0.2",)
    above = replace(seen, robot=Pose((0.45, -0.12, 0.1)))
    assert one(above, "G near(robot, red bowl)").beyond == ("near(robot, red bowl)",)


def test_a_hand_that_nobody_sees_has_no_zones(scene):
    assert one(scene, "G !near(robot, red bowl)").zones == ()


@pytest.fixture
def building():
    return open_world("rooms", 3).scene()


def test_a_room_is_a_zone_until_it_may_be_entered(building):
    here = building.robot_room
    first, second = [name for name in building.building.names if name != here][:2]
    (zone,) = one(building, f"!in(robot, {first}) W in(robot, {second})").zones
    area = building.building.find(first).area
    assert zone.pose.position[:2] == area.center
    assert zone.size[:2] == pytest.approx(((area.x_max - area.x_min) / 2, (area.y_max - area.y_min) / 2))


def test_a_room_to_stay_in_makes_zones_of_the_others(building):
    zones = one(building, f"G in(robot, {building.robot_room})").zones
    others = [name for name in building.building.names if name != building.robot_room]
    assert sorted(zone.name for zone in zones) == sorted(f"the {name}" for name in others)


def test_a_mobile_robot_stays_away_in_the_plane(building):
    thing = building.objects[0].name
    far = replace(building, robot=Pose((-50.0, 0.0, 0.0)))
    (zone,) = one(far, f"G !near(robot, {thing})").zones
    assert (zone.clearance, zone.size[2]) == (NEAR_BASE, 5.0)
