"""What all sources want for whom there is no place of their own: one patch of a bounded size, as strict as they are."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.control.envelope import Envelope
from llm_planner.control.patches import MOST_ZONES, Patch

CROWD = "more sources than there is room for"
STANDSTILL = 1e-4  # of the speeds, and [m/s]: what is told of more zones than it can heed hardly moves any more


def joined(patches: Sequence[Patch], envelope: Envelope) -> Patch:
    """`patches` as one, which tightens as each of them does, loosens nothing, and lasts as long as the last of them."""
    zones = tuple(dict.fromkeys(zone for patch in patches for zone in patch.zones))
    speeds = [patch.speed for patch in patches if patch.speed is not None]
    shares = [patch.joint_share for patch in patches if patch.joint_share is not None]
    clearances = [patch.clearance for patch in patches if patch.clearance is not None]
    if len(zones) > MOST_ZONES:
        speeds, shares = [STANDSTILL], [STANDSTILL]
    return Patch(
        CROWD,
        max(patch.stamp for patch in patches),
        max(patch.expires for patch in patches),
        speed=min([*speeds, envelope.speed]) if speeds else None,
        joint_share=min([*shares, envelope.joint_share]) if shares else None,
        clearance=max([*clearances, envelope.clearance]) if clearances else None,
        zones=zones[:MOST_ZONES],
    )
