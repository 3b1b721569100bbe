"""From words about motion to what the controller is told, and when that ends: nothing is lost on the way."""

from dataclasses import replace
from math import inf

import pytest

from llm_planner.execution.motion_rules import bindings
from llm_planner.execution.watch import watch_for
from llm_planner.language.understanding.understand import understand
from llm_planner.scene.scene import Pose

IN_THE_BOWL = 'is_in("the red block", "the red bowl")'
UNTIL_THEN = "until the red block is in the red bowl"
SAID = {
    f"never faster than 0.1 m/s {UNTIL_THEN}": f'stay_until(slower("0.1 m/s"), {IN_THE_BOWL})',
    "never faster than 0.1 m/s before the red block is in the red bowl":
        f'stay_until(slower("0.1 m/s"), {IN_THE_BOWL})',
    f"{UNTIL_THEN}, stay below 10 cm/s": f'stay_until(slower("10 cm/s"), {IN_THE_BOWL})',
    f"keep it under 100 mm/s {UNTIL_THEN}": f'stay_until(slower("100 mm/s"), {IN_THE_BOWL})',
    f"stay at least 12 cm away from the blue bowl {UNTIL_THEN}":
        f'stay_until(farther("the blue bowl", "12 cm"), {IN_THE_BOWL})',
    "never faster than 20 cm per second": 'always(slower("20 cm per second"))',
}  # fmt: skip


@pytest.fixture
def seen(scene):
    """The table with the hand above it, at rest."""
    return replace(scene, robot=Pose((0.3, 0.0, 0.4)))


@pytest.fixture
def binding(seen, listed_model):
    """What the one rule of a sentence asks of the motion, now and once the red block is in the red bowl."""
    inside = replace(seen.find("red block"), position=(*seen.find("red bowl").position[:2], 0.03))
    after = replace(seen, time=5.0, objects=tuple(inside if o.name == inside.name else o for o in seen.objects))

    def told(words):
        watch = watch_for(understand(words, seen, listed_model(SAID)).constraints, seen).see(seen)
        ((now,), (then,)) = bindings(watch, seen), bindings(watch.see(after), after)
        return now, then

    return told


@pytest.mark.parametrize("words", [*SAID][:4])
def test_a_speed_that_is_said_until_an_event_is_a_limit_until_then(binding, words):
    now, then = binding(words)
    assert (now.speed, now.zones, now.beyond) == (0.1, (), ())
    assert then.speed == inf


def test_a_distance_that_is_said_until_an_event_is_a_zone_until_then(binding):
    now, then = binding(f"stay at least 12 cm away from the blue bowl {UNTIL_THEN}")
    ((name, clearance),) = [(zone.name, zone.clearance) for zone in now.zones]
    assert (name, clearance) == ("the blue bowl", 0.12)
    assert then.zones == ()


def test_a_speed_that_is_said_for_always_does_not_end(binding):
    now, then = binding("never faster than 20 cm per second")
    assert (now.speed, then.speed) == (0.2, 0.2)
