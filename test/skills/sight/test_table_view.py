"""A picture laid out on the table."""

import math

import mujoco
import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.places import WORKSPACE
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.renderers import SceneRenderer
from llm_planner.simulation.tabletop import tabletop_spec
from llm_planner.skills.sight_network import (
    CELL,
    COLUMNS,
    FOVY,
    POSITION,
    RIGHT,
    ROWS,
    UP,
    X_MIN,
    Y_MIN,
    laid_out,
    pixels_of,
)

PANDA = arm_model("panda")


def test_the_camera_is_the_simulations():
    model = tabletop_spec([], PANDA).compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    camera = model.camera("overview").id
    assert data.cam_xpos[camera] == pytest.approx(POSITION)
    axes = data.cam_xmat[camera].reshape(3, 3).T
    assert axes[:2] == pytest.approx(np.array([RIGHT, UP]), abs=1e-3)
    assert math.radians(model.cam_fovy[camera]) == pytest.approx(FOVY)


def test_the_whole_workspace_is_in_the_picture():
    corners = [(x, y, 0.15) for x in (WORKSPACE.x_min, WORKSPACE.x_max) for y in (WORKSPACE.y_min, WORKSPACE.y_max)]
    columns, rows = pixels_of(np.array(corners), 480, 640)
    assert ((columns > 0) & (columns < 640) & (rows > 0) & (rows < 480)).all()


def test_what_lies_on_the_table_is_in_its_cell(thing):
    for x, y in ((0.4, -0.2), (0.55, 0.25)):
        with SceneRenderer(parse_objects("red plate"), 640, 480) as renderer:
            table = laid_out(renderer.render(PANDA.home, 0.08, Scene(0.0, (thing("red plate", x, y),)))).astype(int)
        red = (table[..., 0] > 120) & (table[..., 1] < 80)
        rows, columns = np.nonzero(red)
        middle = X_MIN + (rows.mean() + 0.5) * CELL, Y_MIN + (columns.mean() + 0.5) * CELL
        assert middle == pytest.approx((x, y), abs=0.012)  # its rim leans away by a little


def test_what_is_out_of_the_picture_is_black():
    from_above = laid_out(np.full((480, 40, 3), 255, np.uint8))
    assert from_above.shape == (ROWS, COLUMNS, 3)
    assert {0, 255} <= set(np.unique(from_above).tolist())


@pytest.mark.parametrize("picture", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.float32)])
def test_what_is_no_picture_is_refused(picture):
    with pytest.raises(InputError, match=r"a picture is \(height, width, 3\) bytes, red green blue, not \(4, 4"):
        laid_out(picture)
