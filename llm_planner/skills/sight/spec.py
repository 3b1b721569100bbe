"""The sizes of a network that sees, and the words that it knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from llm_planner.errors import InputError

BINS = 12  # of the direction in which the fingers close, over half a turn: they are alike
STRIDE = 4  # cells of the table a side of one of the network's
NUMBERS = ("dx", "dy", "z", "width", "opening")  # of a grasp, beside its place and direction, see `network`
LENGTH = 0.02  # [m] that is one in them
CHANNELS = 5  # red, green, blue, and where on the table it is


@dataclass(frozen=True)
class SightSpec:
    """`kinds` and `colors` are the words known, "" the colour of a thing that has none; `width` and `dilations` those
    of the layers that look around."""

    kinds: tuple[str, ...]
    colors: tuple[str, ...]
    width: int = 32
    dilations: tuple[int, ...] = (1, 2, 4, 1)

    def __post_init__(self) -> None:
        if not self.kinds or not self.colors or not self.dilations or self.width < 1:
            raise InputError(f"a network that sees needs words, a width and layers, not {self}")

    @property
    def fine(self) -> int:
        """Channels of the first layers, which see twice as sharp."""
        return 3 * self.width // 4 or 1

    @property
    def outputs(self) -> int:
        """Numbers that each of its cells has: logits of directions and `NUMBERS` for each kind, logits of colours."""
        return (BINS + len(NUMBERS)) * len(self.kinds) + len(self.colors)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of its weights: (out, in, 3, 3) of convolutions; `nothing` are logits that it is nowhere to be seen."""
        half, width = self.fine, self.width
        shapes: dict[str, tuple[int, ...]] = {"first.weight": (half, CHANNELS, 3, 3), "first.bias": (half,)}
        shapes |= {"edges.weight": (half, half, 3, 3), "edges.bias": (half,)}
        shapes |= {"second.weight": (width, half, 3, 3), "second.bias": (width,)}
        for index in range(len(self.dilations)):
            shapes |= {f"around.{index}.weight": (width, width, 3, 3), f"around.{index}.bias": (width,)}
        shapes |= {"leave.weight": (self.outputs, width, 1, 1), "leave.bias": (self.outputs,)}
        return shapes | {"nothing": (len(self.kinds) + len(self.colors),)}

    def words(self, kind: str, color: str) -> tuple[int, int]:
        """The places of the words; raises InputError, listing those that are known, for another."""
        for word, known, what in ((kind, self.kinds, "kind"), (color, self.colors, "colour")):
            if word not in known:
                words = ", ".join(word or "none" for word in known)
                raise InputError(f"sight has not learned the {what} {word or 'none'!r}; it knows: {words}")
        return self.kinds.index(kind), self.colors.index(color)

    def to_table(self) -> dict[str, Any]:
        """As plain values, for a file."""
        return asdict(self)


def spec_from_table(table: Mapping[str, Any]) -> SightSpec:
    """The inverse of `to_table`; raises InputError for keys that a spec has not, or that are missing."""
    names = {field.name for field in fields(SightSpec)}
    wrong = sorted(names ^ set(table), key=str)
    if wrong:
        raise InputError(f"the sizes of sight must be {', '.join(sorted(names))}; {wrong[0]!r} is missing or unknown")
    read: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    return SightSpec(**read)
