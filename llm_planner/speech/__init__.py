"""Speech input: audio streams, endpoint detection, speech recognisers and their vocabulary."""

from __future__ import annotations
