"""What a model has put in that nobody asked for: things that are moved, or kept to, which the words do not name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llm_planner.language.grounding.lifting import Lifted, lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.language.understanding.mentions import arguments_of
from llm_planner.language.understanding.said import is_known_language, plain
from llm_planner.language.understanding.wording import words_of
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.scene import Scene

QUOTED = 0.7  # share of the words of a constraint that are the command's own
_ANY = frozenset((  # with one of these the words may mean any thing
    "everything", "everyone", "everybody", "anything", "anyone", "anybody", "nothing", "nobody", "things", "objects",
    "items", "stuff", "others", "rest", "else", "whatever", "them", "they", "same", "people", "somebody", "someone",
    "table", "rooms", "thing", "object", "item", "something",
))  # fmt: skip
_ANY_OF = frozenset((  # and with one of these, unless it says of what: "all blocks"
    "all", "every", "each", "any", "other", "both", "whichever", "which", "what", "these", "those",
))  # fmt: skip
_NEAR = 4  # words after which "all" does not say of what


def unnamed(names: Iterable[str], words: Sequence[str], scene: Scene, goals: Sequence[Formula] = ()) -> tuple[str, ...]:
    """Those of the `names` of things, people and rooms that none of these sentences speaks of, by name, kind or colour.

    Where a word may mean any of them, and in languages that are not known here, it is those that no goal names either,
    and () where there are no goals.
    """
    text = " . ".join(words)
    sentence = lift(text, scene_phrases(scene))
    named = {(word.segment, word.name) for word in sentence}
    known = {name for entry, name in named if entry in ("object", "person", "room")}
    kinds = {name for entry, name in named if entry == "kind"}
    known |= {item.name for item in scene.objects if item.kind in kinds or ("color", item.color) in named}
    known |= {item.name for item in scene.objects if item.name.rstrip("0123456789 ") in known}  # "the left red block"
    known |= {room for kind in kinds for room in (scene.building.names if scene.building else ())
              if room.startswith(f"{kind} ")}  # fmt: skip
    if not is_known_language(text, scene) or _means_any(sentence):
        if not goals:
            return ()
        known |= {name for goal in goals for name in arguments_of(goal)}
    return tuple(name for name in dict.fromkeys(names) if name not in known)


def _means_any(words: Sequence[Lifted]) -> bool:
    """Whether a word may mean any thing; of "all blocks" the kind says which."""
    texts = [plain(word) for word in words]
    things = [word.segment in ("object", "kind", "color") for word in words]
    return not _ANY.isdisjoint(texts) or any(
        (text in ("one", "ones") and not any(things[max(0, place - 2) : place]))
        or (text in _ANY_OF and not any(things[place + 1 : place + _NEAR]))
        for place, text in enumerate(texts)
    )


def is_quoted(constraint: Constraint, command: str) -> bool:
    """Whether the words that a constraint is said to stand for are words of the command."""
    said, command = words_of(constraint.words), command.lower()
    return sum(word in command for word in said) >= QUOTED * len(said)


def named_by(constraint: Constraint, scene: Scene) -> tuple[str, ...]:
    """The things, people and rooms of the scene that its formula names."""
    here = {*scene.names, *(scene.building.names if scene.building else ())}
    return tuple(one for one in arguments_of(constraint.formula) if one in here)
