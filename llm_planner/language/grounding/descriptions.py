"""Finds what a description means in the scene: "the red block" is one thing's name, or a question."""

from __future__ import annotations

from dataclasses import dataclass

from llm_planner.errors import QuestionError
from llm_planner.language.grounding.tree import Node, Pointer
from llm_planner.language.grounding.words import Word, similarity
from llm_planner.world.names import the
from llm_planner.world.scene import Scene, SceneObject


@dataclass(frozen=True)
class Entries:
    """Names, kinds and colours of a scene, as pointers number them."""

    objects: tuple[str, ...]
    kinds: tuple[str, ...]
    colors: tuple[str, ...]


@dataclass(frozen=True)
class Grounding:
    """The words of a command and the scene they are about; KIND and COLOR nodes are read against both."""

    words: list[Word]
    scene: Scene
    entries: Entries

    def the(self, kind: Node, color: Node) -> str:
        """The name of the one thing described; raises `QuestionError` for none or several."""
        found = self._matching(kind, color)
        if kind.step == "any_kind" and len(found) > 1:  # "the red one" takes its noun from the rest of the sentence
            found = [item for item in found if self._is_spoken_of(item.kind)] or found
        if len(found) == 1:
            return found[0].name
        described = self._described(kind, color)
        if not found:
            raise QuestionError(self._absent(f"no {described}"))
        listed = ", ".join(the(item.name) for item in found[:-1]) + f" or {the(found[-1].name)}"
        raise QuestionError(f"Which {described} do you mean: {listed}?")

    def any(self, kind: Node, color: Node) -> None:
        """Raises `QuestionError` unless the scene holds something like that."""
        if not self._matching(kind, color):
            raise QuestionError(self._absent(f"no {self._described(kind, color)}"))

    def kind(self, node: Node) -> str:
        """The scene's word for a kind; raises `QuestionError` where nothing is of that kind."""
        return self._known(node, self.entries.kinds)

    def color(self, node: Node) -> str:
        """The scene's word for a colour; raises `QuestionError` where nothing has it."""
        return self._known(node, self.entries.colors)

    def noun(self, kind: Node) -> str:
        """The kind's own noun, for naming a variable."""
        return self._text(kind, self.entries.kinds).split()[-1]

    def _matching(self, kind: Node, color: Node) -> list[SceneObject]:
        wanted_kind = None if kind.step == "any_kind" else self._text(kind, self.entries.kinds)
        wanted_color = None if color.step == "any_color" else self._text(color, self.entries.colors)
        return [
            item
            for item in self.scene.objects
            if wanted_kind in (None, item.kind) and wanted_color in (None, item.color)
        ]

    def _is_spoken_of(self, kind: str) -> bool:
        return any(similarity(word.text, kind.split()[-1]) == 1.0 for word in self.words)

    def _described(self, kind: Node, color: Node) -> str:
        shade = self._text(color, self.entries.colors) + " " if isinstance(color.step, Pointer) else ""
        return shade + ("object" if kind.step == "any_kind" else self._text(kind, self.entries.kinds))

    def _known(self, node: Node, names: tuple[str, ...]) -> str:
        text = self._text(node, names)
        if text not in names:
            raise QuestionError(self._absent(f"nothing that is {text!r}"))
        return text

    def _text(self, node: Node, names: tuple[str, ...]) -> str:
        """The scene's word a pointer names, or the person's own word when the scene has none for it."""
        if not isinstance(node.step, Pointer):  # "not of any kind": legal in the grammar, meaningless here
            raise QuestionError(self._absent("nothing that this could be about"))
        return self.words[node.step.index].text if node.step.kind == "word" else names[node.step.index]

    def _absent(self, what: str) -> str:
        seen = ", ".join(self.scene.names) or "nothing"
        return f"I see {what} here. What do you mean? There is: {seen}."
