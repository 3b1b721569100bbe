"""From the end of speech to changed motion, over DDS between the real node processes, with synthetic voices.

"Much slower", spoken by a synthesiser in a quiet room, is published on `audio` as a microphone would, while the arm
moves faster than it may afterwards; the offline recogniser and the rules understand it. Measured are the wall time from
the clip's last sound until the first joint command made under the new limit is heard, and until the speed of the
fastest joint, as measured, has fallen by a tenth. A clip that changes nothing counts as missed.
Needs flite and espeak-ng.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import bench_correction_latency as latency
import numpy as np
from rclpy.publisher import Publisher
from reports import print_report, report_parser
from spoken_clips import BEFORE, MISSING, VOICES, placed, spoken, voices_there, white
from std_msgs.msg import UInt8MultiArray

from llm_planner.ros.base_node import SENSOR_DATA
from llm_planner.ros.client import SystemClient
from llm_planner.speech.audio import RATE, Samples, pcm

WORDS = "much slower"
CLEAR = VOICES[:6]  # those that the recogniser understands best
CHUNK = 0.02  # [s] of sound in one message
WARM_UP = 20.0  # [s] in which the ears open
HEARD_WITHIN = 2.0  # [s]


def run(count: int, seed: int) -> dict[str, object]:
    """Seconds from the end of speech to what the arm does."""
    return latency.with_system(seed, lambda client, arm: _measured(client, arm, count, seed))


def _measured(client: SystemClient, arm: latency.Arm, count: int, seed: int) -> dict[str, object]:
    audio = client.node.create_publisher(UInt8MultiArray, "audio", SENSOR_DATA)
    rng = np.random.default_rng(seed)
    clips = [spoken(WORDS, voice) for voice in CLEAR]
    client.wait_until(lambda: audio.get_subscription_count() > 0, latency.TIMEOUT)
    _play(client, audio, white(round(0.5 * RATE), rng) * np.float32(1e-4))
    client.spin_for(WARM_UP)  # until the ears are open
    delays: list[tuple[float, float]] = []
    while len(delays) < count:
        command = latency.begun(client, seed + len(delays))
        while len(delays) < count and latency.waited(client, lambda: arm.is_fast):
            clip = clips[len(delays) % len(clips)]
            sound = placed(clip, white(RATE * 5, rng), None)
            delays.append(_said(client, arm, audio, sound, len(clip)))
            client.correct("full speed")
            client.spin_for(0.3)
        client.stop("the next measurement")
        latency.waited(client, lambda command=command: command.is_done)
    return _report(delays)


def _said(client: SystemClient, arm: latency.Arm, audio: Publisher, sound: Samples, length: int) -> tuple[float, float]:
    """Seconds from its last sound until the first command under the limit, and until the arm is a tenth slower."""
    arm.commands.clear()
    ended = time.monotonic() + BEFORE + length / RATE
    shares: list[tuple[float, float]] = []
    _play(client, audio, sound, lambda: shares.append((time.monotonic(), arm.share)))
    latency.waited(client, lambda: arm.first_command(ended) is not None, HEARD_WITHIN)
    first = arm.first_command(ended)
    if first is None:
        return np.inf, np.inf
    share = next((share for when, share in reversed(shares) if when <= first), arm.share)
    slower = next((when for when, now in shares if when > first and now < 0.9 * share), None)
    if slower is None:
        latency.waited(client, lambda: arm.share < 0.9 * share, HEARD_WITHIN)
        slower = time.monotonic()
    return first - ended, slower - ended


def _play(client: SystemClient, audio: Publisher, sound: Samples, look: Callable[[], None] = lambda: None) -> None:
    """Publish the sound as fast as a microphone does."""
    began, size = time.monotonic(), round(CHUNK * RATE)
    for k in range(0, len(sound), size):
        while (left := began + (k + size) / RATE - time.monotonic()) > 0:
            client.spin_for(min(left, 0.005))
            look()
        audio.publish(UInt8MultiArray(data=pcm(sound[k : k + size])))


def _report(delays: Sequence[tuple[float, float]]) -> dict[str, object]:
    commanded, slowed = (np.array(column) for column in zip(*delays, strict=True))
    heard = np.isfinite(commanded)
    return {
        "clips": len(delays),
        "missed": int((~heard).sum()),
        "commanded_median_s": round(float(np.median(commanded[heard])), 3),
        "commanded_p99_s": round(float(np.percentile(commanded[heard], 99)), 3),
        "slowed_median_s": round(float(np.median(slowed[heard])), 3),
        "slowed_p99_s": round(float(np.percentile(slowed[heard], 99)), 3),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line or JSON; returns 0, or 1 without the voices."""
    parser = report_parser(__doc__)
    parser.add_argument("--clips", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    if not voices_there():
        print(MISSING, file=sys.stderr)
        return 1
    report = run(options.clips, options.seed)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
