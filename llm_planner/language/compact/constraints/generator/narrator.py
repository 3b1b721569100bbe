"""One person and what there is to speak of: draws names, things and states for the patterns to be about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from numpy.random import Generator

from llm_planner.language.compact.constraints.generator import acts
from llm_planner.language.compact.constraints.generator.acts import Act, Forms
from llm_planner.language.compact.constraints.generator.phrasing import Name, Phrase, node, say
from llm_planner.language.compact.generator.lexicon import PLACE_PREPOSITIONS, REGIONS
from llm_planner.language.compact.grammar import Node

T = TypeVar("T")
Described = tuple[Node, Phrase]
_FAMILIES = 30  # numbers of names that rooms share are above those of kinds of things
ANY_KIND, ANY_COLOR = node("any_kind"), node("any_color")
ANYONE = (
    "[anyone|anybody|people|any human|any person|everyone|everybody|humans|the people|any of the people|a human|any "
    "people|other people|a person|somebody]"
)


@dataclass(frozen=True)
class Item:
    """A thing that can be spoken of: keys of its full name, its kind and its colour (0 for none)."""

    name: int
    kind: int
    color: int


@dataclass
class Narrator:
    """`world` is bare, rooms or table. Names are numbers; the network only sees in which order they come."""

    rng: Generator
    world: str
    items: tuple[Item, ...] = ()
    rooms: int = 0
    people: int = 0
    used: list[Name] = field(default_factory=list)
    marks: int = 0
    last: Described | None = None  # what "it" would mean
    last_room: Name | None = None  # where "there" would be
    again: float = 0.2  # how often "it" is said
    places: float = 0.7  # share of bare propositions that are spoken of as places

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.rng.random() * len(options))]

    def say(self, template: str, **slots: Phrase | None) -> Phrase:
        return say(self.rng, template, **slots)

    def mark(self, segment: str) -> Name:
        """A number, a time or a length; the generator does not care which."""
        self.marks += 1
        return Name(segment, self.marks)

    # names

    def name(self, entry: str, count: int) -> Name:
        """A name of the class, mostly one that was not used yet."""
        fresh = [n for n in range(1, count + 1) if Name(entry, n) not in self.used]
        if not fresh or self.chance(0.04):
            name = Name(entry, int(self.rng.integers(1, count + 1)))
        else:
            name = Name(entry, fresh[int(self.rng.integers(len(fresh)))])
        self.used.append(name)
        return name

    # states

    def place(self) -> Act:
        """Somewhere to go: what Lang2LTL's sentences speak of."""
        if self.world == "bare":
            name = self.name("prop", 9)
            return Act(name.node, acts.PLACE, self.say("[{x}|{x}|{x}|{x}|{x}|the {x}|location {x}]", x=(name,)))
        if self.people and self.chance(0.2):
            name = self.name("person", self.people)
            return Act(node("near", name.node), acts.PERSON, (name,))
        return self.room(acts.PLACE, "in_room")

    def room(self, forms: Forms, step: str) -> Act:
        if forms is acts.PLACE and self.last_room is not None and self.chance(0.06):
            return Act(node(step, self.last_room.node), forms, self.say("[it|there|that room|there]"))
        name = self.name("room", self.rooms)
        self.last_room = name
        return Act(node(step, name.node), forms, self.say("[the|the|the|the|the|] {x}", x=(name,)))

    def family(self, others: bool = False) -> tuple[Act, Name]:
        """Any of the rooms that share a name: "any aisle"."""
        name = Name("kind", _FAMILIES + int(self.rng.integers(2)))
        chosen = node("rooms_of", node("others" if others else "these", name.node, ANY_COLOR))
        one, many = (name,), (Name("kind", name.number, plural=True),)
        words = self.say("[any {o}|any of the {m}|the {m}|a {o}|any {o}|one of the {m}|{m}|either {o}]", o=one, m=many)
        return Act(node("in_room", chosen), acts.PLACE, words), name

    def spot(self) -> Act:
        """A place or, over bare propositions, now and then an event."""
        if self.world == "bare" and not self.chance(self.places):
            return self.event()
        return self.place()

    def event(self) -> Act:
        name = self.name("prop", 9)
        return Act(name.node, acts.EVENT, (name,))

    def condition(self) -> Act:
        """A state that can be true or not: that one is somewhere, carries something, that something lies somewhere."""
        if self.world == "bare":
            return self.spot()
        if self.world == "rooms":
            draw = self.rng.random()
            if draw < 0.5 or not self.items:
                return self.place()
            if draw < 0.56:
                return self.room(acts.LOOKED, "looked")
            return self.holding() if draw < 0.77 else self.brought()
        draw = self.rng.random()
        if draw < 0.35:
            return self.holding()
        return self.moved() if draw < 0.6 else self.placed()

    def deed(self) -> Act:
        """Something that one may or may not do."""
        if self.world == "bare":
            return self.spot()
        draw = self.rng.random()
        if self.world == "rooms":
            if draw < 0.55 or not self.items:
                return self.family()[0] if self.chance(0.12) else self.place()
            if draw < 0.7:
                return self.holding()
            if draw < 0.78:
                return self.moved()
            return self.brought(0.2) if draw < 0.86 else self.nearby()
        if draw < 0.4:
            return self.moved()
        if draw < 0.55:
            return self.holding()
        if draw < 0.7:
            return self.nearby()
        return self.over() if draw < 0.8 else self.placed(0.4)

    def errand(self) -> Act:
        """Something that one may be sent to do in a building."""
        draw = self.rng.random()
        if draw < 0.5:
            return self.place()
        if draw < 0.62:
            return self.room(acts.LOOKED, "looked")
        if not self.items:
            return self.place()
        return self.holding() if draw < 0.72 else self.brought()

    def holding(self) -> Act:
        if self.chance(0.07):
            return Act(node("holding_any"), acts.HOLDING, self.say("[something|anything|any object|a thing]"))
        return self._about("holding", acts.HOLDING)

    def moved(self) -> Act:
        return self._about("moved", acts.MOVED)

    def nearby(self) -> Act:
        if self.people and self.chance(0.4):
            if self.chance(0.2):
                return Act(node("near", node("anyone")), acts.NEAR, self.say(ANYONE))
            name = self.name("person", self.people)
            return Act(node("near", name.node), acts.NEAR, (name,))
        return self._about("near", acts.NEAR)

    def over(self) -> Act:
        return self._about("over", acts.OVER)

    def brought(self, sets: float = 0.0) -> Act:
        thing, words = self.thing(sets)
        if self.people and self.chance(0.25):
            name = self.name("person", self.people)
            meant = node("both", node("holding", thing), node("near", name.node))
            return Act(meant, acts.HANDED, words, (name,))
        room = self.name("room", self.rooms)
        return Act(node("is_in", thing, room.node), acts.BROUGHT, words, self.say("[the|the|the|] {x}", x=(room,)))

    def placed(self, sets: float = 0.0) -> Act:
        thing, words = self.thing(sets)
        if self.chance(0.15):
            region = self.pick(tuple(REGIONS))
            where = f"{self.pick(PLACE_PREPOSITIONS)} {self.pick(REGIONS[region])}"
            return Act(node("is_at", thing, node(region)), acts.AT, words, tuple(where.split()))
        step, forms = self.pick(
            (
                ("is_in", acts.INSIDE),
                ("is_in", acts.INSIDE),
                ("is_on", acts.UPON),
                ("is_on", acts.UPON),
                ("is_beside", acts.BESIDE),
            )
        )
        place, base = self.base()
        return Act(node(step, thing, place), forms, words, base)

    def _about(self, step: str, forms: Forms) -> Act:
        thing, words = self.thing()
        return Act(node(step, thing), forms, words)

    # things

    def thing(self, sets: float = 0.0) -> Described:
        """One thing, or with probability `sets` several at once, any of them."""
        if self.chance(sets):
            return self.several("any")
        if self.last is not None and self.chance(self.again):
            return self.last[0], self.say("[it|it|it|it|it|that|that one|the same one|this one]")
        item = self._fresh_item()
        kind, color, words = self._description(item)
        meant = Name("object", item.name).node if kind is None else node("the", kind, color)
        self.last = meant, words
        return self.last

    def base(self) -> Described:
        """What things are put in or on."""
        item = self._fresh_item()
        kind, color, words = self._description(item)
        return (Name("object", item.name).node if kind is None else node("this", kind, color)), words

    def several(self, quantifier: str) -> Described:
        """ "any block", "the other mugs", "anything", "all the red things"."""
        item = self.items[int(self.rng.integers(len(self.items)))]
        every = quantifier == "each"
        draw = self.rng.random()
        others = self.chance(0.3)
        kind, color = ANY_KIND, ANY_COLOR
        if draw < 0.3 and not every:
            words = (
                self.say(
                    "[anything else|any other [thing|object]|any of the other [things|objects]|everything else|the"
                    " others|the other things|the rest]"
                )
                if others
                else self.say(
                    "[anything|anything|anything at all|any object|any of the [things|objects]|any thing|any of them]"
                )
            )
        elif draw < 0.25:
            words = (
                self.say("[everything else|all the other [things|objects]|the rest|all the others|the others]")
                if (others)
                else self.say(
                    "[everything|all the [things|objects|items]|all of them|every [thing|object]|all objects]"
                )
            )
        elif draw < 0.45 and item.color:
            color = Name("color", item.color).node
            shade: Phrase = (Name("color", item.color),)
            if others:
                template = "[the other {c} [things|objects|ones]|all other {c} [things|ones]]"
            elif every:
                template = "[all [the|] {c} [things|objects|ones|items]|everything {c}|every {c} [thing|object]]"
            else:
                template = "[any {c} [thing|object|one]|anything {c}|the {c} [things|ones]|any of the {c} ones]"
            words = self.say(template, c=shade)
        else:
            kind = Name("kind", item.kind).node
            one: Phrase = (Name("kind", item.kind),)
            many: Phrase = (Name("kind", item.kind, plural=True),)
            if item.color and self.chance(0.2):
                color = Name("color", item.color).node
                one, many = (Name("color", item.color), *one), (Name("color", item.color), *many)
            if others:
                template = (
                    "[all|] the other {m}"
                    if every
                    else "[the other {m}|any other {o}|any of the other {m}|another {o}]"
                )
            elif every:
                template = (
                    "[all [the|of the|] {m}|the {m}|every {o}|each {o}|both {m}|both [of the|the|] {m}|all {m}|each "
                    "of the {m}|the [two|"
                    "three|four] {m}|all [two|three|four] {m}]"
                )
            else:
                template = "[any {o}|the {m}|any of the {m}|{m}|a {o}|one of the {m}|the {m}|any {m}]"
            words = self.say(template, o=one, m=many)
        self.last = None
        return node(quantifier, node("others" if others else "these", kind, color)), words

    def _fresh_item(self) -> Item:
        spoken = {(name.entry, name.number) for name in self.used}
        fresh = [item for item in self.items if ("object", item.name) not in spoken]
        pool = fresh or list(self.items)
        item = pool[int(self.rng.integers(len(pool)))]
        self.used.append(Name("object", item.name))
        return item

    def _description(self, item: Item) -> tuple[Node | None, Node, Phrase]:
        """Kind and colour that are said, the kind None where it is the full name; and the words."""
        article = self.pick(("the", "the", "the", "the", "the", "that", "this", "my", ""))
        kind, color = Name("kind", item.kind), Name("color", item.color)
        draw = self.rng.random()
        if draw < 0.2 and item.color:
            return ANY_KIND, color.node, self.say("[the|the|that] {c} [one|one|one|thing|object|]", c=(color,))
        if draw < 0.3:
            return kind.node, ANY_COLOR, self.say(f"{article} {{k}}", k=(kind,))
        if draw < 0.35 and item.color:
            return (
                kind.node,
                color.node,
                self.say(f"[{article} {{c}} {{k}}|the {{k}} that is {{c}}]", c=(color,), k=(kind,)),
            )
        return None, ANY_COLOR, self.say(f"{article} {{n}}", n=(Name("object", item.name),))
