"""The scene as the compact model sees it: names, kinds and colours that a decoded program may point at."""

from __future__ import annotations

from dataclasses import dataclass

from llm_planner.language.compact.program_grammar import PROGRAM
from llm_planner.language.compact.words import split_words
from llm_planner.world.scene import Scene


@dataclass(frozen=True)
class Entries:
    """Distinct names, kinds and colours of a scene, each in scene order, as pointers number them."""

    objects: tuple[str, ...]
    kinds: tuple[str, ...]
    colors: tuple[str, ...]

    def of_class(self, pointer_kind: str) -> tuple[str, ...]:
        return {"object": self.objects, "kind": self.kinds, "color": self.colors}[pointer_kind]

    def flat(self) -> list[tuple[str, tuple[str, ...]]]:
        """Every entry as (class, its words), in the order of the network's input."""
        return [
            (cls, tuple(word.text for word in split_words(text)))
            for cls in PROGRAM.entries
            for text in self.of_class(cls)
        ]


def scene_entries(scene: Scene) -> Entries:
    """Only objects whose name says more than their colour and kind are entries of their own ("Bob's mug")."""
    special = tuple(item.name for item in scene.objects if not _is_plain(item.name, item.color, item.kind))
    kinds = tuple(dict.fromkeys(item.kind for item in scene.objects))
    colors = tuple(dict.fromkeys(item.color for item in scene.objects if item.color))
    return Entries(special, kinds, colors)


def _is_plain(name: str, color: str, kind: str) -> bool:
    stem = name.rstrip("0123456789").strip()
    return stem == f"{color} {kind}".strip()
