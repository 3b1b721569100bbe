"""Conversions of pictures, and of a camera's calibration, depths and points as RViz and image_pipeline read them."""

from __future__ import annotations

from array import array

import numpy as np
from sensor_msgs.msg import CameraInfo, PointCloud2, PointField
from sensor_msgs.msg import Image as ImageMsg
from std_msgs.msg import Header

from llm_planner.errors import InputError
from llm_planner.ros.conversions.message_checks import header
from llm_planner.simulation.offscreen import Image, View

FIELDS = tuple(
    PointField(name=name, offset=4 * k, datatype=PointField.FLOAT32, count=1)
    for k, name in enumerate(("x", "y", "z", "rgb"))
)
POINT = 4 * len(FIELDS)  # bytes of a point
PIXELS_MAX = 10_000  # of a side of a picture
EVERY = 2  # pixels between two points, in rows and columns


def image_to_msg(picture: np.ndarray, time: float, frame: str) -> ImageMsg:
    """Convert an RGB array (height, width, 3) of uint8, taken at `time` [s] in `frame`, to an rgb8 image."""
    height, width, _ = picture.shape
    data = array("B", picture.tobytes())
    return ImageMsg(header=header(time, frame), height=height, width=width, encoding="rgb8", step=3 * width, data=data)


def image_from_msg(message: ImageMsg) -> np.ndarray:
    """Convert an rgb8 image to an array (height, width, 3) of uint8; raise InputError for other encodings or sizes."""
    height, width, row = message.height, message.width, 3 * message.width
    fits = 0 < width <= PIXELS_MAX and 0 < height <= PIXELS_MAX and row <= message.step
    if message.encoding != "rgb8" or not fits or len(message.data) != height * message.step:
        raise InputError(
            f"a picture of {len(message.data)} bytes, {message.encoding[:40]!a}, {width} x {height} in rows of "
            f"{message.step}, cannot be read; it must be rgb8, of 1 to {PIXELS_MAX} pixels a side"
        )
    rows = np.frombuffer(message.data, np.uint8).reshape(height, message.step)
    return rows[:, :row].reshape(height, width, 3)


def camera_info_to_msg(view: View, header: Header) -> CameraInfo:
    """Convert a camera without distortion; `header` is that of its images."""
    f, cx, cy = view.focal, view.width / 2, view.height / 2
    return CameraInfo(
        header=header,
        width=view.width,
        height=view.height,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[f, 0.0, cx, 0.0, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def depth_to_msg(depth: np.ndarray, header: Header) -> ImageMsg:
    """Convert depths (height, width) [m] to an image 32FC1, as REP 118 says; NaN is no depth."""
    height, width = depth.shape
    data = array("B", depth.astype("<f4").tobytes())
    return ImageMsg(header=header, height=height, width=width, encoding="32FC1", step=4 * width, data=data)


def points_to_msg(picture: Image, depth: np.ndarray, view: View, header: Header) -> PointCloud2:
    """Convert a picture (height, width, 3) and its depths (height, width) [m] to coloured points in the optical frame.

    Every second pixel of every second row gives a point; those without depth are NaN.
    """
    z, color = depth[::EVERY, ::EVERY], picture[::EVERY, ::EVERY].astype(np.uint32)
    height, width = z.shape
    u, v = (np.arange(0, size, EVERY) + 0.5 for size in (view.width, view.height))
    table = np.empty((height, width, len(FIELDS)), dtype="<f4")
    table[..., 0], table[..., 1], table[..., 2] = (
        (u - view.width / 2) * z / view.focal, (v - view.height / 2)[:, None] * z / view.focal, z,
    )  # fmt: skip
    table[..., 3] = (color[..., 0] << 16 | color[..., 1] << 8 | color[..., 2]).view("<f4")
    return PointCloud2(
        header=header,
        height=height,
        width=width,
        fields=list(FIELDS),
        is_bigendian=False,
        point_step=POINT,
        row_step=POINT * width,
        data=array("B", table.tobytes()),
        is_dense=False,
    )
