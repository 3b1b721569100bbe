"""What results of commands and rules come to in a scene: a policy program, and formulas for rules and goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llm_planner.errors import LanguageModelError, QuestionError
from llm_planner.language.embedded.command_forms import COMMANDS, REWARDS, SKILLS, SPECIFICATIONS
from llm_planner.language.embedded.rewards import reward_calls
from llm_planner.language.embedded.terms import Term, Value, Words
from llm_planner.language.grounding.descriptions import Entries
from llm_planner.language.grounding.formulas import specification
from llm_planner.language.grounding.lifting import Lifted, Sentence, lift
from llm_planner.language.grounding.naming import proposition_phrases, scene_phrases
from llm_planner.language.grounding.program_writer import render_program
from llm_planner.language.grounding.states import BareStates, SceneStates
from llm_planner.language.grounding.tree import Node, Pointer
from llm_planner.language.grounding.words import QUANTITY, Word, split_words
from llm_planner.language.model import ReadConstraint
from llm_planner.world.scene import Scene

_GOALS = frozenset(
    (
        "visit",
        "sequence",
        "ordered",
        "strictly",
        "patrol",
        "at_least",
        "exactly",
        "at_least_steps",
        "exactly_steps",
        "within",
        "lasting",
        "finish",
        "next",
    )
)
_STATES = {"and": "both", "or": "either", "not": "isnt", "in": "in_room", "beside": "is_beside"}
_STATEMENTS = {"open_gripper": "open", "close_gripper": "close", "go_home": "home"}
_OBJECTS = {"any": "first", "closest_to": "closest_to_place"}
_LISTS = {1: "take", 2: "pair", 3: "triple", 4: "four"}
WAITING = 60.0  # [s] for which to wait where nobody says how long
MOST_TIMES = 20  # that a thing is done over
_UNSAID = frozenset([  # words of a reference that tell nothing apart
    "the", "a", "an", "that", "this", "these", "those", "my", "your", "our", "all", "every", "each", "any", "some",
    "both", "of", "one", "ones", "thing", "things", "object", "objects", "item", "items", "stuff", "pieces", "piece",
])  # fmt: skip


@dataclass(frozen=True)
class Command:
    """What a command asks for: the `program`, "" for none, and its rules and goals."""

    program: str = ""
    constraints: tuple[ReadConstraint, ...] = ()


def command_of(terms: Sequence[Term], command: str, scene: Scene) -> Command:
    """Turn a result into a program and formulas; raise QuestionError where it speaks of what is not there."""
    if terms[0].name == "unclear":
        raise QuestionError(f'I did not understand "{command}". Please say what should happen, or what must not.')
    if terms[0].name == "cannot":
        raise QuestionError(f'I cannot do that: "{command}". What should I do instead?')
    meaning = _Meaning(command, scene)
    statements = [term for term in terms if term.name not in SPECIFICATIONS]
    program = meaning.program(statements) if statements else ""
    return Command(program, tuple(meaning.constraint(term) for term in terms if term.name in SPECIFICATIONS))


def requirements_of(terms: Sequence[Term], sentence: str, propositions: Sequence[str]) -> tuple[ReadConstraint, ...]:
    """Turn a result about bare propositions into formulas; raise QuestionError for what is none of them."""
    if terms[0].name in ("unclear", "cannot"):
        raise QuestionError(f'I did not understand "{sentence}". Please say what should happen, or what must not.')
    meaning = _Meaning(sentence, Scene(0.0, ()), tuple(propositions))
    return tuple(meaning.constraint(term) for term in terms)


@dataclass(frozen=True)
class Reference:
    """What words refer to: a `name` of a thing, a person or a room (`entry` tells which), or a kind and a colour.

    `unknown` is a word that stands for nothing here, "" for none.
    """

    entry: str = ""
    name: str = ""
    kind: str = ""
    color: str = ""
    unknown: str = ""


@dataclass
class _Meaning:
    command: str
    scene: Scene
    propositions: tuple[str, ...] = ()
    words: list[Word] = field(init=False)
    lifted: list[Lifted] = field(init=False)
    named: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        sentence = lift(self.command, scene_phrases(self.scene), "")
        self.words = split_words(self.command)
        self.lifted = list(sentence.words)
        self.named = dict(sentence.named)

    # references

    def reference(self, said: Words) -> Reference:
        """What the words refer to in the scene, known by name, kind and colour."""
        sentence = lift(said.text, scene_phrases(self.scene), "")
        found: dict[str, str] = {}
        unknown = ""
        for word in sentence.words:
            entry, key = sentence.meaning(word.text)
            if entry:
                found.setdefault(entry, key)
            elif word.text not in _UNSAID and word.text.isalnum():
                unknown = word.text
        for entry in ("room", "person", "object"):
            if entry in found and not (entry == "object" and unknown):
                return Reference(entry, found[entry])
        if "object" in found:
            item = self.scene.find(found["object"])
            return Reference(kind=item.kind, color=item.color, unknown=unknown)
        return Reference(kind=found.get("kind", ""), color=found.get("color", ""), unknown=unknown)

    def _known(self, said: Words) -> Reference:
        """The same, with a question where a word of it stands for nothing."""
        found = self.reference(said)
        if found.unknown or not (found.name or found.kind or found.color):
            here = ", ".join((*self.scene.names, *(self.scene.building.names if self.scene.building else ())))
            raise QuestionError(f"I do not know what “{said.text}” is here. There is: {here or 'nothing'}.")
        return found

    def _entry(self, entry: str, key: str) -> Node:
        keys = self.named.get(entry, ())
        if key not in keys:
            self.named[entry] = keys = (*keys, key)
        return Node(Pointer(entry, keys.index(key)))

    # rules and goals

    def constraint(self, term: Term) -> ReadConstraint:
        """The formula of one rule or goal."""
        spec = self._specification(term)
        sentence = Sentence(tuple(self.lifted), self.named)
        states = BareStates(sentence) if self.propositions else SceneStates(sentence, self.scene)
        formula = specification(spec, states)
        return ReadConstraint(str(formula), self.command, spec.step in _GOALS)

    def _specification(self, term: Term) -> Node:
        parts = COMMANDS.filled("SPECIFICATION", term)
        states = [self.state(one) for one in parts.get("STATE", [])]
        forbidden = {"never": 0, "only_after": 1, "never_after": 1}.get(term.name, len(states))
        states = [*states[:forbidden], *map(_any_of_them, states[forbidden:])]
        first = [self._number(value) for symbol in ("COUNT", "TIME") for value in parts.get(symbol, [])]
        inner = [self._specification(one) for one in parts.get("SPECIFICATION", []) if isinstance(one, Term)]
        if term.name == "only_after":
            return Node("not_before", (_listed(states[1:]), states[0]))
        if term.name == "never_after":
            return Node("never_after", (states[0], _listed(states[1:])))
        if SPECIFICATIONS[term.name] == ("STATE+",):
            return Node(term.name, (_listed(states),))
        return Node(term.name, (*first, *states, *inner))

    def state(self, value: Value) -> Node:
        """A state of the world as the writer of formulas takes it."""
        assert isinstance(value, Term)
        if value.name == "holds":
            return self._proposition(value.arguments[0])
        parts = COMMANDS.filled("STATE", value)
        writers = {"STATE": self.state, "THING": self._thing, "ROOM": self._room, "NAME": self._place,
                   "REGION": _leaf, "LENGTH": self._number, "SPEED": self._number}  # fmt: skip
        children = tuple(writers[symbol](one) for symbol, values in parts.items() for one in values)
        return Node(_STATES.get(value.name, value.name), children)

    def _proposition(self, said: Value) -> Node:
        assert isinstance(said, Words)
        sentence = lift(said.text, proposition_phrases(self.propositions), "bare")
        found = [key for entry, key in map(sentence.meaning, (word.text for word in sentence.words)) if entry]
        if len(found) != 1:
            raise QuestionError(
                f"“{said.text}” is none of the propositions: {', '.join(self.propositions) or 'there are none here'}. "
                "Which do you mean?"
            )
        return self._entry("prop", found[0])

    def _thing(self, value: Value) -> Node:
        if isinstance(value, Words):
            return self._one(value, "the")
        if value.name == "anyone":
            return Node("anyone")
        (group,) = value.arguments
        if isinstance(group, Words):
            return Node(value.name, (Node("these", self._described(self._known(group))),))
        others = "others" if group.name == "others" else "these"
        described = (
            self._known(group.arguments[0]) if group.arguments and isinstance(group.arguments[0], Words) else None
        )
        return Node(value.name, (Node(others, self._described(described or Reference())),))

    def _room(self, value: Value) -> Node:
        if isinstance(value, Words):
            found = self.reference(value)
            if found.entry == "room":
                return self._entry("room", found.name)
            rooms = ", ".join(self.scene.building.names) if self.scene.building else "none"
            raise QuestionError(f"There is no room called “{value.text}”. The rooms are: {rooms}. Which do you mean?")
        if value.name == "rooms_of" and isinstance(value.arguments[0], Words):
            return Node("rooms_of", (Node("these", self._described(self._known(value.arguments[0]))),))
        return Node(value.name)

    def _place(self, value: Value) -> Node:
        assert isinstance(value, Words)
        return self._one(value, "this")

    def _one(self, said: Words, name: str) -> Node:
        found = self._known(said)
        return self._entry(found.entry, found.name) if found.name else Node(name, self._described(found))

    def _described(self, found: Reference) -> tuple[Node, Node]:
        if found.entry == "object":
            item = self.scene.find(found.name)
            found = Reference(kind=item.kind, color=item.color)
        kind = self._entry("kind", found.kind) if found.kind else Node("any_kind")
        return kind, self._entry("color", found.color) if found.color else Node("any_color")

    def _number(self, value: Value) -> Node:
        if isinstance(value, Term):
            return Node(value.name)
        found = [word for word in lift(value.text, (), "").words if word.segment != "word"]
        count = _COUNTS.get(value.text.split()[0]) if not found and value.text else None
        if count is not None:
            found = [Lifted("#number", "number", count)]
        if not found:
            raise QuestionError(f"I do not know how much “{value.text}” is. Please say a number with its unit.")
        self.lifted.append(found[0])
        return Node(Pointer(found[0].segment, len(self.lifted) - 1))

    # programs

    def program(self, terms: Sequence[Term]) -> str:
        """The program of these statements."""
        scene = self.scene
        kinds = tuple(dict.fromkeys(item.kind for item in scene.objects))
        colors = tuple(dict.fromkeys(item.color for item in scene.objects if item.color))
        entries = Entries(tuple(scene.names), kinds, colors)
        tree = Node("program", (self._statements(terms, entries),))
        return render_program(tree, self.words, scene, entries)

    def _statements(self, values: Sequence[Value], entries: Entries) -> Node:
        first, *rest = (self._node("STATEMENT", value, entries) for value in values)
        node = first
        for number, statement in enumerate(reversed([first, *rest])):
            node = Node("last", (statement,)) if number == 0 else Node("more", (statement, node))
        return node

    def _node(self, symbol: str, value: Value, entries: Entries) -> Node:
        """The tree of a statement or of a part of one."""
        if isinstance(value, Words):
            return self._said(symbol, value, entries)
        parts = COMMANDS.filled(symbol, value)
        if symbol == "STATEMENT" and value.name in REWARDS:
            names = [self._only(one) for one in parts.get("NAME", [])]
            return Node("lines", tuple(map(Node, reward_calls(value.name, names, parts, self.scene))))
        if symbol == "STATEMENT" and value.name in ("each", "when"):
            head = [self._node(part, parts[part][0], entries) for part in ("SET", "CONDITION") if part in parts]
            return Node(value.name, (*head, self._statements(parts["STATEMENT"], entries)))
        if symbol == "BLOCK":
            return self._statements(parts["STATEMENT"], entries)
        if symbol == "STATEMENT" and value.name in ("go", "bring", "look", "wait"):
            return self._errand(value.name, parts, entries)
        if symbol == "STATEMENT" and value.name == "wipe" and not parts:
            return Node("wipe")
        if symbol == "STATEMENT" and value.name == "repeat":
            times = self._times(parts["COUNT"][0])
            return Node("repeat", (Node(str(times)), self._statements(parts["STATEMENT"], entries)))
        if symbol == "SET" and value.name in ("contents", "in_room") and (room := self._room_said(value.arguments[-1])):
            items = self._node("SET", parts["SET"][0], entries) if "SET" in parts else Node("loads")
            return Node("in_room", (items, Node(room)))
        if symbol == "SET" and value.name == "people":
            return Node("people")
        if symbol == "CONDITION" and value.name == "is_in" and (room := self._room_said(parts["OBJECT"][1])):
            return Node("room_is", (self._node("OBJECT", parts["OBJECT"][0], entries), Node(room)))
        if value.name == "same_color":
            kind, _ = self._kind_and_color(parts["WORDS"][0], entries)
            return Node("the", (kind, Node("same_color")))
        if value.name in ("not_color", "not_kind"):
            of = self._kind_and_color(parts["SET" if value.name == "not_color" else "WORDS"][0], entries)[0]
            color = [self._kind_and_color(parts["WORDS"][0], entries)[1]] if value.name == "not_color" else []
            return Node(value.name, (of, *color))
        children = [self._node(part, one, entries) for part, values in parts.items() for one in values]
        if value.name == "list":
            return _pairs(children)
        if value.name == "except":
            items = children[0]
            for left_out in children[1:]:
                items = Node("except", (items, left_out))
            return items
        if value.name == "all":
            return Node("objects", (Node("any_kind"), Node("any_color")))
        if "AMOUNT?" in COMMANDS.table[symbol][value.name] and "AMOUNT" not in parts:
            children.append(Node("usual"))
        renamed = {"STATEMENT": _STATEMENTS, "OBJECT": _OBJECTS}.get(symbol, {})
        if symbol == "STATEMENT" and value.name in SKILLS:
            return Node("skill", (Node(value.name), *children))
        return Node(renamed.get(value.name, value.name), tuple(children))

    def _errand(self, name: str, parts: Mapping[str, list[Value]], entries: Entries) -> Node:
        """A statement of a robot that drives."""
        if self.scene.building is None:
            raise QuestionError("I stand at a table and cannot go anywhere. What should I do here?")
        if name == "wait":
            seconds = self._seconds(parts["TIME"][0]) if "TIME" in parts else WAITING
            return Node("lines", (Node(f"wait({seconds:g})"),))
        if name == "look":
            rooms = [self._room_said(one) for one in parts.get("ROOM", [])]
            if "" in rooms:
                raise QuestionError(f"There is no room called {parts['ROOM'][0]}. Where should I look?")
            return Node("lines", (*(Node(f'go_to("{room}")') for room in rooms), Node("look()")))
        place = Node(self._only(parts["NAME"][0]))
        if name == "go":
            return Node("go", (place,))
        return Node("bring", (self._node("OBJECT", parts["OBJECT"][0], entries), place))

    def _room_said(self, value: Value) -> str:
        """The room that the words name, "" for none."""
        found = self.reference(value) if isinstance(value, Words) else Reference()
        return found.name if found.entry == "room" else ""

    def _seconds(self, value: Value) -> float:
        assert isinstance(value, Words)
        found = [word.value for word in lift(f"for {value.text}", (), "").words if word.segment == "seconds"]
        if not found:
            raise QuestionError(f"I do not know how long “{value.text}” is. Please say a number of seconds or minutes.")
        return found[0]

    def _times(self, value: Value) -> int:
        if isinstance(value, Words):
            said = [word.value for word in lift(value.text, (), "").words if word.segment == "number"]
            count = int(said[0]) if said else int(_COUNTS.get(value.text.split()[0], 0))
        else:
            count = int(value.name[1:])
        if not 1 <= count <= MOST_TIMES:
            raise QuestionError(f"I can do a thing 1 to {MOST_TIMES} times, not {value}. How often do you mean?")
        return count

    def _said(self, symbol: str, said: Words, entries: Entries) -> Node:
        if symbol == "AMOUNT":
            return self._length(said)
        if symbol == "SET":
            return Node("objects", self._kind_and_color(said, entries))
        found = self.reference(said)
        if found.entry in ("object", "person"):
            return Node(Pointer("object", entries.objects.index(found.name)))
        return Node("the", self._kind_and_color(said, entries))

    def _kind_and_color(self, value: Value, entries: Entries) -> tuple[Node, Node]:
        if not isinstance(value, Words):
            return Node("any_kind"), Node("any_color")
        found = self.reference(value)
        if found.entry == "object":
            item = self.scene.find(found.name)
            found = Reference(kind=item.kind, color=item.color)
        kind = Node(Pointer("kind", entries.kinds.index(found.kind))) if found.kind in entries.kinds else None
        color = Node(Pointer("color", entries.colors.index(found.color))) if found.color else None
        if found.unknown or found.entry == "room":  # the writer of programs asks about what is not there
            self.words.append(Word(found.unknown or found.name))
            unknown = Node(Pointer("word", len(self.words) - 1))
            kind, color = (kind, unknown) if kind and not color else (unknown, color)
        return kind or Node("any_kind"), color or Node("any_color")

    def _length(self, said: Words) -> Node:
        metres = next((word.metres for word in split_words(said.text) if word.metres), 0.0)
        if not metres:
            raise QuestionError(f"I do not know how far “{said.text}” is. Please say a number and a unit.")
        self.words.append(Word(QUANTITY, metres))
        return Node(Pointer("quantity", len(self.words) - 1))

    def _only(self, value: Value) -> str:
        """The name of the one thing, person or room that the words refer to."""
        if not isinstance(value, Words):
            raise LanguageModelError(f"{value} should be words")
        found = self._known(value)
        if found.name:
            return found.name
        named = [item.name for item in self.scene.objects
                 if found.kind in ("", item.kind) and found.color in ("", item.color)]  # fmt: skip
        if len(named) == 1:
            return named[0]
        raise QuestionError(f"Which one do you mean by “{value.text}”: {', '.join(named)}?")


_COUNTS = {"once": 1.0, "twice": 2.0, "thrice": 3.0, "one": 1.0, "never": 0.0}


def _leaf(value: Value) -> Node:
    assert isinstance(value, Term)
    return Node(value.name)


def _any_of_them(state: Node) -> Node:
    """ "Never touch all the mugs" forbids touching any of them."""
    name = "any" if state.step == "each" else state.step
    return Node(name, tuple(map(_any_of_them, state.children)))


def _listed(states: Sequence[Node]) -> Node:
    node = Node("one", (states[-1],))
    for state in reversed(states[:-1]):
        node = Node("more", (state, node))
    return node


def _pairs(items: Sequence[Node]) -> Node:
    if len(items) not in (2, 3, 4):
        raise QuestionError("I can take two to four things that are named one by one. Please say it in shorter parts.")
    return Node(_LISTS[len(items)], tuple(items))
