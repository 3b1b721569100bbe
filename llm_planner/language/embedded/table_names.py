"""Names of tables for the embedded model, which was trained with one table and takes "left table" for its left side.

The model reads a table as a tray of a colour that nothing else has; its result names the table again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from llm_planner.errors import QuestionError
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import ALL_COLORS

Meaning = TypeVar("Meaning")


@dataclass(frozen=True)
class TableNames:
    """Trays by the names of the tables of a scene; empty for a scene with one table, which is no object of it."""

    trays: Mapping[str, str]

    @classmethod
    def of(cls, scene: Scene) -> TableNames:
        """Choose a tray for each table of the scene."""
        tables = [item.name for item in scene.objects if item.kind == TABLE_KIND]
        said = " ".join(scene.names).split()
        colors = [color for color in reversed(ALL_COLORS) if color not in said]
        return cls({name: f"{color} tray" for name, color in zip(tables, colors, strict=False)})

    def spoken(self, words: str) -> str:
        """Return the words with trays; raise QuestionError if they speak of a table without its name."""
        for table, tray in self.trays.items():
            words = re.sub(rf"\b{re.escape(table)}\b", tray, words, flags=re.IGNORECASE)
        if self.trays and re.search(r"\btables?\b", words, re.IGNORECASE):
            raise QuestionError(f"Which table do you mean? I see: {', '.join(self.trays)}.")
        return words

    def shown(self, scene: Scene) -> Scene:
        """Return the scene with the names of the trays."""
        items = (replace(item, name=self.trays.get(item.name, item.name)) for item in scene.objects)
        return replace(scene, objects=tuple(items)) if self.trays else scene

    def read(self, words: str, scene: Scene, reader: Callable[[str, Scene], Meaning]) -> Meaning:
        """Return what `reader` makes of the words and the scene with trays; its questions name the tables."""
        try:
            return reader(self.spoken(words), self.shown(scene))
        except QuestionError as question:
            raise QuestionError(self.restored(str(question))) from question

    def restored(self, text: str) -> str:
        """Return a program, formula or question with the names of the tables."""
        for table, tray in self.trays.items():
            text = text.replace(tray, table)
        return text
