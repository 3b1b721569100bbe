"""Two small tasks for planners that sample: a cart swings its pole up, a disc pushes another to a place.

Plain NumPy and MJCF, so that a planner of another project can be given exactly these, in an interpreter of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
PERIOD = 0.05  # [s] between plans
HORIZON, KNOTS, ROLLOUTS = 1.0, 4, 32  # of every planner

CART_AND_POLE = """
<mujoco>
  <option timestep="0.01"><flag contact="disable"/></option>
  <worldbody>
    <body name="cart">
      <joint name="slide" type="slide" axis="1 0 0" range="-1.8 1.8" limited="true" damping="10"/>
      <geom type="box" size="0.2 0.15 0.1" mass="1"/>
      <body name="pole">
        <joint name="hinge" type="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 1" size="0.045" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator><position joint="slide" kp="100" ctrlrange="-1.8 1.8" forcerange="-10 10"/></actuator>
</mujoco>
"""
PUSHED_DISC = """
<mujoco>
  <option timestep="0.01"/>
  <default><joint type="slide" damping="4"/><geom type="cylinder" size="0.25 0.1" mass="1" friction="0.01"/></default>
  <worldbody>
    <body name="pusher"><joint name="x" axis="1 0 0"/><joint name="y" axis="0 1 0"/><geom/></body>
    <body name="pushed"><joint axis="1 0 0"/><joint axis="0 1 0"/><geom/></body>
  </worldbody>
  <actuator>
    <position joint="x" kp="10" ctrlrange="-10 10"/><position joint="y" kp="10" ctrlrange="-10 10"/>
  </actuator>
</mujoco>
"""


@dataclass(frozen=True)
class SamplingTask:
    """`cost` (n, T) of states `qpos`, `qvel` and controls, each (n, T, ...); `start` draws qpos and qvel."""

    model: str  # MJCF
    cost: Callable[[Array, Array, Array], Array]
    start: Callable[[np.random.Generator], tuple[Array, Array]]


def swing_up_cost(qpos: Array, qvel: Array, controls: Array) -> Array:
    """The pole upright, the cart in the middle, slow and without effort."""
    upright, middle = _rounded(np.cos(qpos[..., 1]) - 1, 0.01), _rounded(qpos[..., 0], 0.1)
    return 10 * upright + 10 * middle + 0.05 * (qvel**2).sum(-1) + 0.05 * (controls**2).sum(-1)


def push_cost(qpos: Array, qvel: Array, controls: Array) -> Array:
    """The pushed disc at the origin, the pusher behind it."""
    disc = qpos[..., 2:]
    behind = disc + 0.25 * disc / np.maximum(np.linalg.norm(disc, axis=-1, keepdims=True), 1e-9)
    return 0.25 * ((qpos[..., :2] - behind) ** 2).sum(-1) + 0.05 * (disc**2).sum(-1)


def _rounded(x: Array, width: float) -> Array:
    """|x|, smooth within `width` of zero."""
    return np.sqrt(x**2 + width**2) - width


def hanging(rng: np.random.Generator) -> tuple[Array, Array]:
    return np.array([rng.uniform(-1.0, 1.0), np.pi + rng.uniform(-0.5, 0.5)]), 0.1 * rng.standard_normal(2)


def scattered(rng: np.random.Generator) -> tuple[Array, Array]:
    near, far = rng.uniform(0, 2 * np.pi, 2)
    return np.array([np.cos(near), np.sin(near), 2 * np.cos(far), 2 * np.sin(far)]), np.zeros(4)


TASKS = {
    "cartpole": SamplingTask(CART_AND_POLE, swing_up_cost, hanging),
    "cylinder_push": SamplingTask(PUSHED_DISC, push_cost, scattered),
}
