"""Whatever a controller wants, in one process too the robot keeps what is in force."""

import math

import numpy as np
import pytest

from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import World
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills

RADIUS, CLEARANCE, FASTEST = 0.1, 0.05, 0.3


class Runaway:
    """Wants to drive at 1 m/s to one side, whatever it is asked."""

    def __init__(self, heading: float) -> None:
        self._velocity = np.array([math.cos(heading), math.sin(heading), 0.0])

    def step(
        self, state: JointState, reference: MotionReference | None, now: float, constraints: MotionConstraints
    ) -> JointTrajectory:
        velocity = 0.0 * self._velocity if reference is None else self._velocity
        return JointTrajectory(
            now, 0.5, np.tile(state.qpos, (2, 1)), np.tile(velocity, (2, 1)), np.zeros((1, 3)), math.nan
        )


def drive(constraints: MotionConstraints, heading: float) -> tuple[RoomsWorld, list[tuple[float, float, float]]]:
    """Two seconds under way: where the base was, and how fast."""
    world, seen = RoomsWorld(3, rooms=9), []
    skill = load_skills().for_scene(world.scene()).find("wait")

    def late(observation):
        scene = observation.scene
        seen.append((*scene.robot.position[:2], scene.speed))
        return observation.time > 2.0

    Episode(world, Runaway(heading)).run(skill, {"seconds": 5.0}, late, in_force=lambda now, speed: constraints)
    return world, seen


@pytest.mark.parametrize("heading", [0.0, 2.0, -1.0])
def test_a_base_that_is_driven_at_a_zone_stops_before_it(heading: float) -> None:
    x, y, _ = RoomsWorld(3, rooms=9).joint_state().qpos.tolist()
    place = (x + 0.8 * math.cos(heading), y + 0.8 * math.sin(heading))
    zone = Zone("the vase", Shape.CYLINDER, (RADIUS, 0.5), Pose((*place, 0.5)), clearance=CLEARANCE)

    _, free = drive(FREE, heading)
    _, kept = drive(MotionConstraints(zones=(zone,)), heading)

    def nearest(way: list[tuple[float, float, float]]) -> float:
        return min(math.dist(at[:2], place) for at in way) - BASE_RADIUS - RADIUS

    assert nearest(free) < 0.0
    assert CLEARANCE - 1e-3 < nearest(kept) < CLEARANCE + 0.05


def test_a_base_is_no_faster_than_the_speed_in_force() -> None:
    _, kept = drive(MotionConstraints(speed=FASTEST), 0.0)

    assert max(speed for _, _, speed in kept) == pytest.approx(FASTEST, abs=0.01)


def test_what_is_safe_is_driven_as_it_is_wanted() -> None:
    _, way = drive(FREE, 0.0)

    assert way[-1][2] == pytest.approx(1.0, abs=0.01)


def carry_over(zone: Zone) -> tuple[float, float]:
    """A vase is taken to the other side; how near it comes to `zone`, ignored and then kept [m]."""
    nearest = []
    for kept in (FREE, MotionConstraints(zones=(zone,))):
        world, library, away = World(1, parse_objects("red block, vase")), load_skills(), []
        episode = Episode(world)
        episode.run(library.find("pick"), {"object": "vase"})

        def see(observation, away=away):
            if observation.scene.held:
                vase = observation.scene.find("vase")
                (x, y, z), (width, _, height) = np.subtract(vase.position, zone.pose.position), vase.size
                beside, above = math.hypot(x, y) - width / 2, abs(z) - height / 2
                away.append(math.hypot(max(beside, 0.0), max(above, 0.0)) - zone.size[0])
            return False

        episode.run(
            library.find("place_at"), {"place": "top right corner"}, see, in_force=lambda now, speed, keep=kept: keep
        )
        nearest.append(min(away))
    return nearest[0], nearest[1]


def test_what_an_arm_holds_keeps_out_of_zones_as_well() -> None:
    below_the_way = Zone("the candle", Shape.SPHERE, (0.02,), Pose((0.58, -0.05, 0.09)), clearance=CLEARANCE)

    ignored, kept = carry_over(below_the_way)

    assert ignored < 0.5 * CLEARANCE
    assert kept > CLEARANCE - 2e-3
