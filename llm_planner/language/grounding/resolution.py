"""Resolution of references in a scene: "the red block" becomes the name of one object, or a question."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from llm_planner.errors import QuestionError
from llm_planner.language.grounding.lifting import lift
from llm_planner.language.grounding.naming import COLOR_NAMES, PEOPLE, scene_phrases
from llm_planner.scene.names import the
from llm_planner.scene.predicates import in_, is_container
from llm_planner.scene.scene import Scene, SceneObject

_UNSAID = frozenset([  # words of a reference that distinguish nothing
    "the", "a", "an", "that", "this", "these", "those", "my", "your", "our", "all", "every", "each", "any", "some",
    "both", "either", "whichever", "of", "one", "ones", "thing", "things", "object", "objects", "item",
    "items", "stuff", "pieces", "piece",
])  # fmt: skip
_ALIKE = 0.8  # similarity from which a lone word stands for a name

_ANY = (
    r"(?:an?|any|some|either|whichever|(?<!the )(?<!that )(?<!this )one"
    r"|(?:any|either|one) (?:one )?of (?:the|them|these|those|our|my|your)(?: two| three| four)?)"
)


def is_indefinite(words: str, said: str) -> bool:
    """Return whether `words`, as part of `said`, are indefinite: "a blue one", "either of the blocks"."""
    if re.match(rf"{_ANY} \w", words, re.IGNORECASE):
        return True
    return bool(words) and re.search(rf"\b{_ANY} {re.escape(words)}s?\b", said, re.IGNORECASE) is not None


@dataclass(frozen=True)
class Reference:
    """Referent of some words: a named object, person or room (see `entry`), or a kind and a colour.

    `unknown` is a word without a referent here, "" for none. `indefinite` means any one of several: "a blue block".
    """

    entry: str = ""
    name: str = ""
    kind: str = ""
    color: str = ""
    unknown: str = ""
    indefinite: bool = False

    def __str__(self) -> str:
        return f"{self.color} {self.kind or 'object'}".strip()


class Resolver:
    """Resolver of the words of a command in a scene.

    Methods raise QuestionError where words fit nothing, or several objects.
    """

    def __init__(self, command: str, scene: Scene) -> None:
        self.scene = scene
        self.rooms = scene.building.names if scene.building else ()
        self.can_go = bool(self.rooms) or scene.base is not None
        self._phrases = scene_phrases(scene)
        self._command = command
        self._words = lift(command, self._phrases)

    def refer(self, said: str) -> Reference:
        """Resolve words by name, kind and colour; "in with the mug" refers to the container of the mug."""
        found = self._described(said)
        if found.unknown:
            return found
        if self.follows("in with", said):
            return self._holder(found, [item for item in self.scene.objects if is_container(item)])
        if self.follows("out of", said):
            return self._holder(found, self.matching(found), self.spoken_of(plural=False))
        return found

    def follows(self, preposition: str, said: str) -> bool:
        """Return whether the words `said` come directly after `preposition`, a regular expression, in the command."""
        return re.search(rf"\b{preposition} (?:the )?{re.escape(said)}\b", self._command, re.IGNORECASE) is not None

    def _holder(self, found: Reference, holders: Sequence[SceneObject], things: Collection[str] = ()) -> Reference:
        """Return the only holder that contains one of the `things`, or else `found`."""
        names = set(things) or {item.name for item in self.matching(found) if found.name in ("", item.name)}
        having = [item for item in holders if any(in_(self.scene, name, item.name) for name in names - {item.name})]
        if len(having) != 1 or found.entry in ("room", "person"):
            return found
        return Reference("object", having[0].name, having[0].kind, having[0].color)

    def _described(self, said: str) -> Reference:
        found: dict[str, str] = {}
        unknown = ""
        lifted = lift(said, self._phrases)
        for word in lifted:
            if word.name:
                found.setdefault(word.segment, word.name)
            elif word.segment == "word" and word.text not in _UNSAID and word.text.isalnum():
                unknown = word.text
        for entry in ("room", "person"):
            if entry in found:
                return Reference(entry, found[entry])
        if "object" in found:
            item = self.scene.find(found["object"])
            if unknown and unknown not in COLOR_NAMES and len(self.matching(Reference(kind=item.kind))) == 1:
                unknown = ""  # "the charging dock", the only dock
            entry, name = ("", "") if unknown else ("object", item.name)
            return Reference(entry, name, item.kind, item.color, unknown)
        described = Reference("", "", found.get("kind", ""), found.get("color", ""), unknown)
        is_one = lifted and lifted[-1].segment == "kind" and not lifted[-1].plural
        if unknown and unknown not in COLOR_NAMES and is_one:  # "the water bottle", the only bottle
            same = self.matching(described)
            described = replace(described, unknown="") if len(same) == 1 else described
        return described

    def known(self, said: str) -> Reference:
        """Resolve words as `refer` does, but raise QuestionError if they fit nothing in the scene."""
        found, here = self.refer(said), (*self.scene.names, *self.rooms)
        if not (found.name or found.kind or found.color):  # a lone short word may be misspelt: "dok"
            found = self.refer(" ".join(get_close_matches(said, here, 1, _ALIKE)) or said)
        if found.unknown or not (found.name or found.kind or found.color):
            listed = ", ".join(here) or "nothing"
            raise QuestionError(f"I do not know what “{said}” is here. There is: {listed}.")
        return found

    def described(self, said: str) -> Reference:
        """Resolve a description; an unknown word, or a room, counts as a kind or colour that nothing has."""
        found = replace(self.refer(said), indefinite=is_indefinite(said, self._command))
        unknown = found.name if found.entry == "room" else found.unknown
        if not unknown:
            return found
        if found.kind and not found.color:
            return Reference(kind=found.kind, color=unknown)
        return Reference(kind=unknown, color=found.color)

    def name(self, said: str, without: Collection[str] = (), moves: bool = False) -> str:
        """Return the name of the one object, person or room that the words refer to; see `the`."""
        found = self.known(said)
        return found.name or self.the(found, without, moves)

    def the(self, wanted: Reference, without: Collection[str] = (), moves: bool = False) -> str:
        """Return the name of the one object that fits a description.

        Args:
            wanted: Description; without a kind ("the red one") the kinds named in the command narrow it down.
            without: Names to exclude if several objects fit.
            moves: Whether the object is moved; it then has the kind that the command names first.

        Raises:
            QuestionError: Nothing fits, or several objects fit and `wanted` is definite.
        """
        found = self.matching(wanted)
        if len(found) > 1:
            found = [item for item in found if item.name not in without]
        if len(found) > 1 and not wanted.kind:
            found = self._spoken_kind(found, moves)
        if len(found) == 1:
            return found[0].name
        if not found:
            raise self.absent(f"no {wanted}")
        if wanted.indefinite:
            spoken = self.spoken_of(plural=False)
            return next((item.name for item in found if item.name not in spoken), found[0].name)
        listed = ", ".join(the(item.name) for item in found[:-1]) + f" or {the(found[-1].name)}"
        raise QuestionError(f"Which {wanted} do you mean: {listed}?")

    def matching(self, wanted: Reference) -> list[SceneObject]:
        """Return all objects of this kind and colour; "" matches any."""
        return [
            item
            for item in self.scene.objects
            if item.kind not in PEOPLE and wanted.kind in ("", item.kind) and wanted.color in ("", item.color)
        ]

    def room(self, said: str) -> str:
        """Return the name of a room; raise QuestionError that lists the rooms if there is none."""
        found = self.refer(said)
        if found.entry == "room":
            return found.name
        rooms = ", ".join(self.rooms) or "none"
        raise QuestionError(f"There is no room called “{said}”. The rooms are: {rooms}. Which do you mean?")

    def absent(self, what: str) -> QuestionError:
        """Create the question for an object that is not in the scene."""
        seen = ", ".join(self.scene.names) or "nothing"
        return QuestionError(f"I see {what} here. What do you mean? There is: {seen}.")

    def spoken_of(self, plural: bool) -> set[str]:
        """Return the objects and rooms that the command names singly, or with `plural` also as a group."""
        found = {word.name for word in self._words if word.segment in ("object", "room")}
        color = ""
        for word in self._words:
            kind = word.name if word.segment == "kind" else ""
            before, color = color, word.name if word.segment == "color" else ""
            same = self.matching(Reference(kind=kind, color=color or before)) if kind or color else []
            if len(same) == 1 or (plural and word.plural):
                found |= {item.name for item in same}
        return found

    def _spoken_kind(self, found: list[SceneObject], moves: bool) -> list[SceneObject]:
        """Keep the objects whose kind the command mentions; for `moves` only those of the first such kind."""
        kinds = {item.name: item.kind for item in self.scene.objects}
        spoken = [kinds.get(word.name, word.name) for word in self._words if word.segment in ("object", "kind")]
        found = [item for item in found if item.kind in spoken] or found
        first = next((kind for kind in spoken if any(item.kind == kind for item in found)), "")
        return [item for item in found if item.kind == first] if moves and first else found
