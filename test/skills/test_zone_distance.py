"""How far points are from the solids of zones."""

import math

import numpy as np
import pytest

from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.arm_paths import distances, half_widths

QUARTER = (0.0, 0.0, math.sin(math.pi / 4), math.cos(math.pi / 4))  # about z
LYING = (0.0, math.sin(math.pi / 4), 0.0, math.cos(math.pi / 4))  # about y: z becomes x


def zone(shape: Shape, *size: float, orientation=(0.0, 0.0, 0.0, 1.0)) -> Zone:
    return Zone("the vase", shape, size, Pose((0.5, 0.0, 0.1), orientation))


@pytest.mark.parametrize(
    ("solid", "point", "distance"),
    [
        (zone(Shape.SPHERE, 0.1), (0.5, 0.3, 0.1), 0.2),
        (zone(Shape.SPHERE, 0.1), (0.5, 0.0, 0.1), -0.1),
        (zone(Shape.CAPSULE, 0.1, 0.2), (0.5, 0.0, 0.5), 0.1),
        (zone(Shape.CAPSULE, 0.1, 0.2, orientation=LYING), (0.9, 0.0, 0.1), 0.1),
        (zone(Shape.CYLINDER, 0.1, 0.2), (0.5, 0.0, 0.5), 0.2),
        (zone(Shape.CYLINDER, 0.1, 0.2), (0.5, 0.2, 0.1), 0.1),
        (zone(Shape.CYLINDER, 0.1, 0.2), (0.5, 0.13, 0.34), 0.05),
        (zone(Shape.BOX, 0.1, 0.2, 0.3), (0.63, 0.24, 0.1), 0.05),
        (zone(Shape.BOX, 0.1, 0.2, 0.3), (0.5, 0.15, 0.1), -0.05),
        (zone(Shape.BOX, 0.1, 0.2, 0.3, orientation=QUARTER), (0.8, 0.0, 0.1), 0.1),
    ],
)
def test_a_point_is_that_far_from_a_solid(solid, point, distance):
    assert distances(solid, np.array([point]))[0] == pytest.approx(distance)


def test_distances_change_no_faster_than_the_points_move():
    rng = np.random.default_rng(0)
    a = rng.uniform(-1.0, 1.0, (500, 3))
    b = a + rng.normal(0.0, 0.05, a.shape)
    turned = rng.normal(size=4)
    orientation = tuple((turned / np.linalg.norm(turned)).tolist())
    for solid in (
        zone(Shape.SPHERE, 0.2, orientation=orientation),
        zone(Shape.CAPSULE, 0.1, 0.3, orientation=orientation),
        zone(Shape.CYLINDER, 0.1, 0.3, orientation=orientation),
        zone(Shape.BOX, 0.1, 0.2, 0.3, orientation=orientation),
    ):
        change = np.abs(distances(solid, a) - distances(solid, b))
        assert (change <= np.linalg.norm(a - b, axis=1) + 1e-12).all()


@pytest.mark.parametrize(
    ("solid", "half"),
    [
        (zone(Shape.SPHERE, 0.1), (0.1, 0.1, 0.1)),
        (zone(Shape.CAPSULE, 0.1, 0.2), (0.1, 0.1, 0.3)),
        (zone(Shape.CYLINDER, 0.1, 0.2), (0.1, 0.1, 0.2)),
        (zone(Shape.BOX, 0.1, 0.2, 0.3, orientation=QUARTER), (0.2, 0.1, 0.3)),
    ],
)
def test_the_upright_box_around_a_solid(solid, half):
    assert half_widths(solid) == pytest.approx(half)
