"""Sends sound to a running system, and tells what was understood and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from llm_planner_interfaces.msg import CorrectionResult
from std_msgs.msg import String, UInt8MultiArray

from llm_planner.ros.base_node import RELIABLE, SENSOR_DATA
from llm_planner.ros.client import NO_SYSTEM, SystemClient
from llm_planner.speech.audio import pcm
from llm_planner.speech.recogniser import RATE, Samples

MEET = 5.0  # [s] for a running system to be found
SILENCE = 1.0  # [s] after the last sound, by which it is known to have ended
ANSWERED = 4.0  # [s] after that, in which answers come


def send_sound(
    client: SystemClient, sound: Iterable[Samples], tell: Callable[[str], None], in_step: bool = False
) -> None:
    """Publish pieces of sound (n,) at 16 kHz on `audio` as they come, `in_step` no faster than they last.

    Raises SystemUnreachableError where nobody hears them.
    """
    audio = client.node.create_publisher(UInt8MultiArray, "audio", SENSOR_DATA)
    client.node.create_subscription(String, "transcript", lambda heard: tell(f"heard: {heard.data}"), RELIABLE)
    client.node.create_subscription(
        CorrectionResult, "correction_result", lambda one: tell(f"  {one.message}"), RELIABLE
    )
    client.wait_until(lambda: audio.get_subscription_count() > 0, MEET, otherwise=NO_SYSTEM)
    for piece in sound:
        audio.publish(UInt8MultiArray(data=pcm(piece)))
        client.spin_for(len(piece) / RATE if in_step else 0.001)
    audio.publish(UInt8MultiArray(data=pcm(np.zeros(round(SILENCE * RATE), np.float32))))
    client.spin_for(ANSWERED)
