"""Client that sends sound to a running system and reports transcripts and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from llm_planner_interfaces.msg import CorrectionResult
from std_msgs.msg import String, UInt8MultiArray

from llm_planner.ros.base_node import RELIABLE, SENSOR_DATA
from llm_planner.ros.client import NO_SYSTEM, SystemClient
from llm_planner.speech.audio import pcm
from llm_planner.speech.recogniser import RATE, Samples

MEET = 5.0  # [s] for discovery of a running system
SILENCE = 1.0  # [s] of silence appended, so that the system detects the end of speech
ANSWERED = 4.0  # [s] to wait for results after that


def send_sound(
    client: SystemClient, sound: Iterable[Samples], tell: Callable[[str], None], in_step: bool = False
) -> None:
    """Publish sound on the topic `audio`, and report what the system makes of it.

    Args:
        client: Client of the running system.
        sound: Chunks (n,) of samples at 16 kHz.
        tell: Called with each transcript and result, as a line of text.
        in_step: Whether to publish in real time instead of as fast as chunks arrive.

    Raises:
        SystemUnreachableError: No node subscribes to `audio`.
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
