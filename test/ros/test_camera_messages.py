"""Calibration, depths and points of a camera: they agree with one another."""

from __future__ import annotations

import numpy as np
import pytest
from std_msgs.msg import Header

from llm_planner.ros.conversions.camera_messages import EVERY, camera_info_to_msg, depth_to_msg, points_to_msg
from llm_planner.scene.scene import Pose
from llm_planner.simulation.offscreen import View

VIEW = View(Pose((0.0, 0.0, 0.0)), focal=50.0, width=8, height=6)
HEADER = Header(frame_id="optical")


def test_the_calibration_is_that_of_a_pinhole_in_the_middle():
    info = camera_info_to_msg(VIEW, HEADER)
    assert (info.width, info.height, info.header.frame_id) == (8, 6, "optical")
    assert info.k.tolist() == [50.0, 0.0, 4.0, 0.0, 50.0, 3.0, 0.0, 0.0, 1.0]
    assert info.p.tolist() == [50.0, 0.0, 4.0, 0.0, 0.0, 50.0, 3.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    assert info.distortion_model == "plumb_bob"


def test_depths_are_metres_and_no_depth_is_nan():
    depth = np.full((6, 8), 1.5, np.float32)
    depth[0, 0] = np.nan
    message = depth_to_msg(depth, HEADER)
    assert (message.encoding, message.step, len(message.data)) == ("32FC1", 32, 6 * 32)
    assert np.array_equal(np.frombuffer(message.data, "<f4").reshape(6, 8), depth, equal_nan=True)


def test_a_point_lies_on_the_ray_of_its_pixel_and_has_its_colour():
    rng = np.random.default_rng(0)
    picture, depth = rng.integers(0, 256, (6, 8, 3)).astype(np.uint8), rng.uniform(1.0, 2.0, (6, 8)).astype(np.float32)
    message = points_to_msg(picture, depth, VIEW, HEADER)
    assert (message.width, message.height, len(message.data)) == (4, 3, message.row_step * 3)
    points = np.frombuffer(message.data, "<f4").reshape(3, 4, 4)
    info = camera_info_to_msg(VIEW, HEADER)
    projected = np.array(info.k).reshape(3, 3) @ points[..., :3].reshape(-1, 3).T
    pixels = (projected[:2] / projected[2]).T.reshape(3, 4, 2)
    columns, rows = np.meshgrid(np.arange(0, 8, EVERY), np.arange(0, 6, EVERY))
    assert pixels[..., 0] == pytest.approx(columns + 0.5, abs=1e-4)
    assert pixels[..., 1] == pytest.approx(rows + 0.5, abs=1e-4)
    assert points[..., 2] == pytest.approx(depth[::EVERY, ::EVERY])
    color = np.ascontiguousarray(points[..., 3]).view("<u4")
    assert np.array_equal(np.stack([color >> 16 & 255, color >> 8 & 255, color & 255], -1), picture[::EVERY, ::EVERY])
