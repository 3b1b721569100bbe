"""Resolves references in a scene: "the red block" is one thing's name, or a question."""

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

_UNSAID = frozenset([  # words of a reference that tell nothing apart
    "the", "a", "an", "that", "this", "these", "those", "my", "your", "our", "all", "every", "each", "any", "some",
    "both", "either", "whichever", "of", "one", "ones", "thing", "things", "object", "objects", "item",
    "items", "stuff", "pieces", "piece",
])  # fmt: skip
_ALIKE = 0.8  # of a word by itself and the name that it stands for

_ANY = (
    r"(?:an?|any|some|either|whichever|(?<!the )(?<!that )(?<!this )one"
    r"|(?:any|either|one) (?:one )?of (?:the|them|these|those|our|my|your)(?: two| three| four)?)"
)


def is_indefinite(words: str, said: str) -> bool:
    """Whether what was `said` speaks of any thing that the words fit: "a blue one", "either of the blocks"."""
    if re.match(rf"{_ANY} \w", words, re.IGNORECASE):
        return True
    return bool(words) and re.search(rf"\b{_ANY} {re.escape(words)}s?\b", said, re.IGNORECASE) is not None


@dataclass(frozen=True)
class Reference:
    """What words refer to: a `name` of a thing, a person or a room (`entry` tells which), or a kind and a colour.

    `unknown` is a word that stands for nothing here, "" for none. `indefinite` is set for any one of several: "a blue
    block".
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
    """Resolves the words of a command in a scene; raises QuestionError where they fit nothing, or several things."""

    def __init__(self, command: str, scene: Scene) -> None:
        self.scene = scene
        self.rooms = scene.building.names if scene.building else ()
        self._phrases = scene_phrases(scene)
        self._command = command
        self._words = lift(command, self._phrases)

    def refer(self, said: str) -> Reference:
        """What the words refer to, known by name, kind and colour; "in with the mug" is what the mug is in."""
        found = self._described(said)
        if found.unknown:
            return found
        if self._follows("in with", said):
            return self._holder(found, [item for item in self.scene.objects if is_container(item)])
        if self._follows("out of", said):
            return self._holder(found, self.matching(found), self.spoken_of(plural=False))
        return found

    def _follows(self, preposition: str, said: str) -> bool:
        return re.search(rf"\b{preposition} (?:the )?{re.escape(said)}\b", self._command, re.IGNORECASE) is not None

    def _holder(self, found: Reference, holders: Sequence[SceneObject], things: Collection[str] = ()) -> Reference:
        """The only one of the `holders` that has one of the `things` in it, else what was `found`."""
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
        """Refer to what is there, and to something."""
        found, here = self.refer(said), (*self.scene.names, *self.rooms)
        if not (found.name or found.kind or found.color):  # alone a short word may be a slip, too: "dok"
            found = self.refer(" ".join(get_close_matches(said, here, 1, _ALIKE)) or said)
        if found.unknown or not (found.name or found.kind or found.color):
            listed = ", ".join(here) or "nothing"
            raise QuestionError(f"I do not know what “{said}” is here. There is: {listed}.")
        return found

    def described(self, said: str) -> Reference:
        """Refer by kind and colour; a word that stands for nothing, or a room, is a kind or a colour of no thing."""
        found = replace(self.refer(said), indefinite=is_indefinite(said, self._command))
        unknown = found.name if found.entry == "room" else found.unknown
        if not unknown:
            return found
        if found.kind and not found.color:
            return Reference(kind=found.kind, color=unknown)
        return Reference(kind=unknown, color=found.color)

    def name(self, said: str, without: Collection[str] = (), moves: bool = False) -> str:
        """The name of the one thing, person or room that the words refer to; see `the`."""
        found = self.known(said)
        return found.name or self.the(found, without, moves)

    def the(self, wanted: Reference, without: Collection[str] = (), moves: bool = False) -> str:
        """The name of the one thing described, `without` those beside which it is named.

        "The red one" takes its noun from the rest of the command; what `moves` is what was named first there.
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
        """All things of this kind and colour, "" for any."""
        return [
            item
            for item in self.scene.objects
            if item.kind not in PEOPLE and wanted.kind in ("", item.kind) and wanted.color in ("", item.color)
        ]

    def room(self, said: str) -> str:
        """The room of that name; the question lists the rooms."""
        found = self.refer(said)
        if found.entry == "room":
            return found.name
        rooms = ", ".join(self.rooms) or "none"
        raise QuestionError(f"There is no room called “{said}”. The rooms are: {rooms}. Which do you mean?")

    def absent(self, what: str) -> QuestionError:
        """The question where there is no such thing."""
        seen = ", ".join(self.scene.names) or "nothing"
        return QuestionError(f"I see {what} here. What do you mean? There is: {seen}.")

    def spoken_of(self, plural: bool) -> set[str]:
        """Things and rooms that the command names one by one, or also in the `plural`."""
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
        """Those of a kind of which the command speaks, by itself or with a thing's name; for `moves` of the first."""
        kinds = {item.name: item.kind for item in self.scene.objects}
        spoken = [kinds.get(word.name, word.name) for word in self._words if word.segment in ("object", "kind")]
        found = [item for item in found if item.kind in spoken] or found
        first = next((kind for kind in spoken if any(item.kind == kind for item in found)), "")
        return [item for item in found if item.kind == first] if moves and first else found
