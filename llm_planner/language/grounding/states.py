"""What the leaves of a specification mean: bare propositions, or things, rooms and people of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.errors import QuestionError
from llm_planner.language.grounding.lifting import Sentence
from llm_planner.language.grounding.naming import PEOPLE, families
from llm_planner.language.grounding.tree import Node, Pointer
from llm_planner.temporal.formula import Formula, atom, conj, disj
from llm_planner.world.names import the
from llm_planner.world.places import REGIONS
from llm_planner.world.propositions import ANYTHING, ROBOT
from llm_planner.world.scene import Scene, SceneObject

SLOWLY, SLOWLY_DRIVEN = 0.1, 0.25  # [m/s] that "slowly" is, of a hand and of a base


@dataclass(frozen=True)
class BareStates:
    """Propositions that the person gave names to."""

    sentence: Sentence
    bare = True

    def state(self, node: Node) -> Formula:
        if not isinstance(node.step, Pointer):
            raise QuestionError("I do not see which of the propositions that is about. Please name them as they are.")
        return atom(self.sentence.named["prop"][node.step.index])

    def rooms(self, node: Node) -> list[Formula]:
        return [self.state(node)]

    def started(self, node: Node, before: Node) -> Formula:
        return self.state(node)

    def number(self, pointer: Pointer) -> float:
        return self.sentence.words[pointer.index].value


@dataclass(frozen=True)
class SceneStates:
    """Propositions of `world.propositions` about this scene; `sentence` is the whole command."""

    sentence: Sentence
    scene: Scene
    bare = False

    def state(self, node: Node) -> Formula:
        step, children = str(node.step), node.children
        if step == "holding_any":
            return atom(f"holding({ANYTHING})")
        if step in ("in_room", "looked", "waited"):
            return disj(*self.rooms(node))
        if step == "slower":
            usual = SLOWLY_DRIVEN if self.scene.building else SLOWLY
            return atom(f"speed({ROBOT}) < {self._length(children[0]) if children else f'{usual:g}'}")
        if isinstance(node.step, Pointer):
            raise QuestionError(f"I do not see what {self._entry(node)!r} should be. Please name a thing or a room.")
        written = {
            "near": "near(robot, {x})",
            "over": "over(robot, {x})",
            "holding": "holding({x})",
            "moved": "moved({x})",
            "is_in": "in({x}, {y})",
            "is_on": "on({x}, {y})",
            "is_beside": "beside({x}, {y})",
            "is_at": "at({x}, {y})",
            "farther": "distance(robot, {x}) > {y}",
            "lower": "height({x}) < {y}",
        }[step]
        if step in ("near", "moved", "over") and self._is_family(children[0]):
            return self.state(
                Node("in_room", (Node("rooms_of", children[0].children),))
            )  # to touch an aisle is to be there
        other = self._second(step, children[1]) if len(children) > 1 else ""
        names = [name for name in self.things(children[0], step, other) if name != other]
        return self._joined(children[0], [atom(written.format(x=name, y=other)) for name in names])

    def rooms(self, node: Node) -> list[Formula]:
        """Being in, or having looked around in, each of the rooms that a ROOM stands for."""
        written = {"in_room": f"in({ROBOT}, {{}})", "looked": "did(look, {})", "waited": "did(wait, {})"}[
            str(node.step)
        ]
        which = node.children[0]
        if isinstance(which.step, Pointer):
            return [atom(written.format(self._entry(which)))]
        others = which.step == "other_rooms" or (which.children and which.children[0].step == "others")
        spoken = self.sentence.named.get("room", ()) if others else ()
        found = [name for name in self._rooms_of(which) if name not in spoken]
        if not found:
            raise QuestionError("There are no such rooms here. Which do you mean?")
        return [atom(written.format(name)) for name in found]

    def _rooms_of(self, which: Node) -> tuple[str, ...]:
        """All rooms, or those of the family that is named."""
        names = self.scene.building.names if self.scene.building else ()
        kind = which.children[0].children[0] if which.children else which
        return families(names).get(self._entry(kind), ()) if isinstance(kind.step, Pointer) else tuple(names)

    def started(self, node: Node, before: Node) -> Formula:
        """To move a thing begins with taking it in hand; several things are those that must not come first."""
        first = {name for inner in _things_in(before) for name in self.things(inner, "moved")}
        if node.step == "holding_any" and first:
            others = [item.name for item in self.scene.objects if item.kind not in PEOPLE and item.name not in first]
            return disj(*(atom(f"holding({name})") for name in others))
        if node.step not in ("moved", "holding"):
            return self.state(node)
        thing = node.children[0]
        several = thing.step in ("each", "any")
        names = [name for name in self.things(thing, "moved") if not several or name not in first]
        return self._joined(thing, [atom(f"holding({name})") for name in names])

    def number(self, pointer: Pointer) -> float:
        return self.sentence.words[pointer.index].value

    def _is_family(self, thing: Node) -> bool:
        """Whether several rooms are meant: "any aisle"."""
        kind = thing.children[0].children[0] if thing.step in ("any", "each") else thing
        names = self.scene.building.names if self.scene.building else ()
        return isinstance(kind.step, Pointer) and kind.step.kind == "kind" and self._entry(kind) in families(names)

    def things(self, node: Node, step: str, without: str = "") -> list[str]:
        """Names that a THING or a PLACE stands for; raises `QuestionError` for none, or several where one is meant.

        One thing is not the one that it is put in or on, `without`.
        """
        if isinstance(node.step, Pointer):
            return [self._entry(node)]
        if node.step == "anyone":
            return self._people()
        if node.step in ("the", "this"):
            found = self._matching(*node.children)
            found = [item for item in found if item.name != without] if len(found) > 1 else found
            return [self._the(found, step in ("moved", "holding"), *node.children).name]
        chosen = node.children[0]
        found = self._matching(*chosen.children)
        if chosen.step == "others":
            spoken = self._spoken_of(plural=chosen.children[0].step == "any_kind")
            found = [item for item in found if item.name not in spoken]
        if not found:
            raise QuestionError(self._absent(self._described(*chosen.children)))
        return [item.name for item in found]

    def _people(self) -> list[str]:
        found = [item.name for item in self.scene.objects if item.kind in PEOPLE]
        if not found:
            raise QuestionError("I know of nobody here. Whom do you mean?")
        return found

    def _second(self, step: str, node: Node) -> str:
        if step in ("farther", "lower"):
            return self._length(node)
        if step == "is_at":
            return {name.replace(" ", "_"): name for name in REGIONS}[str(node.step)]
        return self.things(node, step)[0]

    def _joined(self, thing: Node, atoms: Sequence[Formula]) -> Formula:
        if thing.step in ("each", "any", "anyone") and atoms and str(atoms[0]).startswith(("distance", "height")):
            return conj(*atoms)  # far from any of them is far from all
        return (conj if thing.step == "each" else disj)(*atoms)

    def _entry(self, node: Node) -> str:
        assert isinstance(node.step, Pointer)
        return self.sentence.named[node.step.kind][node.step.index]

    def _length(self, node: Node) -> str:
        assert isinstance(node.step, Pointer)
        return f"{self.number(node.step):g}"

    def _matching(self, kind: Node, color: Node) -> list[SceneObject]:
        wanted_kind = self._entry(kind) if isinstance(kind.step, Pointer) else None
        wanted_color = self._entry(color) if isinstance(color.step, Pointer) else None
        return [
            item
            for item in self.scene.objects
            if item.kind not in PEOPLE and wanted_kind in (None, item.kind) and wanted_color in (None, item.color)
        ]

    def _the(self, found: list[SceneObject], moves: bool, kind: Node, color: Node) -> SceneObject:
        """The one thing described. "The red one" takes its noun from the rest of the command; what is moved is what was
        named first there."""
        if len(found) > 1 and kind.step == "any_kind":
            spoken = self._spoken_kinds()
            found = [item for item in found if item.kind in spoken] or found
            if len(found) > 1 and moves:
                order = {name: index for index, name in enumerate(spoken)}
                first = min(order.get(item.kind, len(order)) for item in found)
                found = [item for item in found if order.get(item.kind, len(order)) == first]
        if len(found) == 1:
            return found[0]
        described = self._described(kind, color)
        if not found:
            raise QuestionError(self._absent(described))
        listed = ", ".join(the(item.name) for item in found[:-1]) + f" or {the(found[-1].name)}"
        raise QuestionError(f"Which {described} do you mean: {listed}?")

    def _spoken_kinds(self) -> tuple[str, ...]:
        """Kinds in the order in which the command speaks of them, by themselves or with a thing's name."""
        kinds = {item.name: item.kind for item in self.scene.objects}
        said = (self.sentence.meaning(word.text) for word in self.sentence.words)
        return tuple(dict.fromkeys(kinds.get(key, "") if entry == "object" else key
                                   for entry, key in said if entry in ("object", "kind")))  # fmt: skip

    def _described(self, kind: Node, color: Node) -> str:
        shade = self._entry(color) + " " if isinstance(color.step, Pointer) else ""
        return shade + (self._entry(kind) if isinstance(kind.step, Pointer) else "object")

    def _absent(self, described: str) -> str:
        return f"I see no {described} here. What do you mean? There is: {', '.join(self.scene.names) or 'nothing'}."

    def _spoken_of(self, plural: bool) -> set[str]:
        """Things that the command names one by one, or also in the `plural`."""
        found = set(self.sentence.named.get("object", ()))
        color = ""
        for word in self.sentence.words:
            entry, key = self.sentence.meaning(word.text)
            if entry == "kind":
                same = [item for item in self.scene.objects if item.kind == key and color in ("", item.color)]
            else:
                same = [item for item in self.scene.objects if entry == "color" and item.color == key]
            if len(same) == 1 or (plural and entry == "kind" and word.text.endswith("s")):
                found |= {item.name for item in same}
            color = key if entry == "color" else ""
        return found


def _things_in(node: Node) -> list[Node]:
    """The first THING of every state in the tree."""
    if node.step in ("both", "either", "isnt"):
        return [thing for child in node.children for thing in _things_in(child)]
    if node.step in ("moved", "holding", "is_in", "is_on", "is_beside", "is_at"):
        return [node.children[0]]
    return []
