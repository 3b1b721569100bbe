"""A small model on which samplers can be tried: a mass on a rail, pushed by a motor."""

from __future__ import annotations

import mujoco
import pytest

RAIL = """
<mujoco>
  <option timestep="0.02" gravity="0 0 0"/>
  <worldbody><body><joint name="x" type="slide" axis="1 0 0" damping="1"/><geom size="0.1" mass="1"/></body></worldbody>
  <actuator><motor joint="x" ctrlrange="-5 5"/></actuator>
</mujoco>
"""


@pytest.fixture
def rail() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(RAIL)
