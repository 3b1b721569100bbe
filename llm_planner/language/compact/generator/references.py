"""How people refer to things: descriptions of one object, of a set, of a place, with the tree each stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from numpy.random import Generator

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.noise import repaired
from llm_planner.language.compact.generator.scenes import Thing
from llm_planner.language.compact.generator.surface import Fragment, Phrase, chance, choose, fill
from llm_planner.language.compact.grammar import Node, Pointer

Said = tuple[Node, Phrase]  # what is meant, and the words for it

ANY_KIND, ANY_COLOR = Node("any_kind"), Node("any_color")


def leaf(name: str, *children: Node) -> Node:
    return Node(name, children)


def statements(nodes: list[Node]) -> Node:
    """The statements in a row."""
    if len(nodes) == 1:
        return leaf("last", nodes[0])
    return leaf("more", nodes[0], statements(nodes[1:]))


def program(nodes: list[Node]) -> Node:
    """The derivation of a program of these statements."""
    return leaf("program", statements(nodes))


@dataclass
class Speaker:
    """One person looking at one table: draws references to it. Pointers to words hold marks until they are placed."""

    rng: Generator
    things: tuple[Thing, ...]
    marks: int = 0
    absent: float = 0.03  # how often a person names something that is not there
    slips: float = 0.025  # how often a person names the wrong thing first and corrects it in the same breath
    kinds: tuple[str, ...] = field(init=False)
    colors: tuple[str, ...] = field(init=False)
    specials: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = tuple(dict.fromkeys(thing.kind for thing in self.things))
        self.colors = tuple(dict.fromkeys(thing.color for thing in self.things if thing.color))
        plain = {f"{thing.color} {thing.kind}".strip() for thing in self.things}
        self.specials = tuple(t.name for t in self.things if t.name.rstrip("0123456789").strip() not in plain)

    # words

    def pick(self, options: Sequence[str]) -> str:
        return choose(self.rng, options)

    def mark(self, text: str) -> Fragment:
        self.marks += 1
        return Fragment(text, self.marks)

    def kind_word(self, kind: str) -> str:
        if " " in kind and chance(self.rng, 0.4):
            return kind.split()[-1]  # "the truck" for the toy truck
        synonyms = tuple(w for w in lexicon.KIND_WORDS.get(kind, (kind,)) if w == kind or w not in self.kinds)
        return self.pick(synonyms)

    def color_word(self, color: str) -> str:
        synonyms = lexicon.COLOR_WORDS.get(color, (color,))
        return self.pick(tuple(w for w in synonyms if w == color or w not in self.colors))

    def kind_node(self, kind: str) -> Node:
        return Node(Pointer("kind", self.kinds.index(kind)))

    def color_node(self, color: str) -> Node:
        return Node(Pointer("color", self.colors.index(color)))

    # one thing

    def one(self, role: str = "", other_than: tuple[Thing, ...] = ()) -> tuple[Said, Thing]:
        """A thing of the table (of that role, if there is one) and a description of it."""
        fitting = [t for t in self.things if t not in other_than and (not role or t.role == role)]
        pool = fitting or [t for t in self.things if t not in other_than] or list(self.things)
        thing = pool[int(self.rng.integers(len(pool)))]
        if chance(self.rng, self.absent):
            return self._absent_thing(thing), thing
        node, words = self.describe(thing)
        if len(self.things) > 1 and chance(self.rng, self.slips):
            others = [t for t in self.things if t != thing]
            words = repaired(self.describe(others[int(self.rng.integers(len(others)))])[1], words, self.rng)
        return (node, words), thing

    def describe(self, thing: Thing) -> Said:
        if thing.name in self.specials:
            return Node(Pointer("object", self.specials.index(thing.name))), (Fragment(f"the {thing.name}"),)
        same_kind = [t for t in self.things if t.kind == thing.kind]
        bare = len(same_kind) == 1 or not thing.color
        same_color = [t for t in self.things if t.color == thing.color]
        article = self.pick(("the", "the", "the", "the", "the", "", "that", "this", "my", "a" if bare else "the"))
        if thing.color and (not bare or chance(self.rng, 0.75)):
            if len(same_color) == 1 and chance(self.rng, 0.1):
                text = f"the {self.color_word(thing.color)} {self.pick(('one', 'thing', 'object', 'one', ''))}".strip()
                return leaf("the", ANY_KIND, self.color_node(thing.color)), (Fragment(text),)
            text = f"{article} {self.color_word(thing.color)} {self.kind_word(thing.kind)}".strip()
            return leaf("the", self.kind_node(thing.kind), self.color_node(thing.color)), (Fragment(text),)
        return leaf("the", self.kind_node(thing.kind), ANY_COLOR), (
            Fragment(f"{article} {self.kind_word(thing.kind)}".strip()),
        )

    def by_color(self, thing: Thing) -> Said:
        """ "blue": the colour alone, where the kind goes without saying."""
        if not thing.color or thing.name in self.specials:
            return self.describe(thing)
        text = f"{self.pick(('', '', 'the '))}{self.color_word(thing.color)}"
        return leaf("the", self.kind_node(thing.kind), self.color_node(thing.color)), (Fragment(text),)

    def one_of_kind(self, thing: Thing) -> Said:
        """ "the red one", where the kind is clear from what was said before."""
        if not thing.color or thing.name in self.specials:
            return self.describe(thing)
        article, noun = self.pick(("the", "the", "that", "my")), self.pick(("one", "one", "one", ""))
        text = f"{article} {self.color_word(thing.color)} {noun}".strip()
        return leaf("the", self.kind_node(thing.kind), self.color_node(thing.color)), (Fragment(text),)

    def _absent_thing(self, like: Thing) -> Said:
        if chance(self.rng, 0.6):
            missing = [c for c in lexicon.COLORS + lexicon.MORE_COLORS if c not in self.colors]
            word = self.mark(str(self.rng.choice(missing)))
            node = leaf("the", self.kind_node(like.kind), Node(Pointer("word", word.mark)))
            return node, (Fragment("the"), word, Fragment(self.kind_word(like.kind)))
        known = {w for kind in self.kinds for w in lexicon.KIND_WORDS.get(kind, (kind,))}
        known |= {part for word in known for part in word.split()}
        pool = [*lexicon.THINGS, "bowl", "block", "mug", "vase", "plate", *lexicon.CONTAINERS]
        noun = self.mark(str(self.rng.choice([n for n in pool if n not in known])))
        if self.colors and chance(self.rng, 0.5):
            color = self.pick(self.colors)
            node = leaf("the", Node(Pointer("word", noun.mark)), self.color_node(color))
            return node, (Fragment(f"the {self.color_word(color)}"), noun)
        return leaf("the", Node(Pointer("word", noun.mark)), ANY_COLOR), (
            Fragment(self.pick(("the", "the", "a"))),
            noun,
        )

    # sets

    def plural(self, kind: str, color: str = "", one: bool = False) -> Said:
        """A bare plural (or singular) noun, "red blocks", and the set it names."""
        noun = self.kind_word(kind)
        noun = noun if one else plural_of(noun)
        text = f"{self.color_word(color)} {noun}" if color else noun
        node = leaf("objects", self.kind_node(kind), self.color_node(color) if color else ANY_COLOR)
        return node, (Fragment(text),)

    def group(self, role: str = "mover") -> Said:
        """A set of several things: "all the blocks", "every red block", "both cubes", "everything"."""
        kinds = [k for k in self.kinds if sum(t.kind == k for t in self.things) > 1 and self._role(k) == role]
        if not kinds or chance(self.rng, 0.12):
            return self._group_without_kind()
        kind = str(self.rng.choice(kinds))
        color = ""
        if self.colors and chance(self.rng, 0.12):
            color = self.pick(tuple(t.color for t in self.things if t.kind == kind and t.color) or self.colors)
        if chance(self.rng, 0.2):
            node, noun = self.plural(kind, color, one=True)
            return node, fill(self.pick(("every {n}", "each {n}", "every single {n}", "each and every {n}")), n=noun)
        node, noun = self.plural(kind, color)
        both = ("both {n}", "both of the {n}") if sum(t.kind == kind for t in self.things) == 2 else ()
        forms = ("all the {n}", "all {n}", "all of the {n}", "the {n}", "the {n}", "{n}", "all my {n}", "all these {n}",
                 "all the {n} on the table", "the {n} on the table", "each of the {n}", "all those {n}")  # fmt: skip
        return node, fill(self.pick(forms + both), n=noun)

    def _group_without_kind(self) -> Said:
        if self.colors and chance(self.rng, 0.45):
            color = self.pick(self.colors)
            noun = self.pick(("things", "objects", "items", "stuff", "ones", "pieces"))
            text = f"{self.pick(('all the', 'the', 'all', 'all of the'))} {self.color_word(color)} {noun}"
            if chance(self.rng, 0.15):
                text = f"everything {self.color_word(color)}"
            return leaf("objects", ANY_KIND, self.color_node(color)), (Fragment(text),)
        text = self.pick(("everything", "all the things", "all objects", "every object", "all of it", "all the stuff",
                          "everything on the table", "all the items", "each object", "all things"))  # fmt: skip
        return leaf("objects", ANY_KIND, ANY_COLOR), (Fragment(text),)

    def _role(self, kind: str) -> str:
        return next(t.role for t in self.things if t.kind == kind)

    # places and directions

    def region(self) -> Said:
        name = self.pick(tuple(lexicon.REGIONS))
        text = f"{self.pick(lexicon.PLACE_PREPOSITIONS)} {self.pick(lexicon.REGIONS[name])}"
        return Node(name), (Fragment(text),)

    def direction(self, words: Mapping[str, Sequence[str]]) -> Said:
        name = self.pick(tuple(words))
        return Node(name), (Fragment(self.pick(words[name])),)

    def quantity(self) -> Said:
        """A length: "5 cm", "ten centimeters", "half a foot"."""
        value = int(self.rng.integers(1, 31))
        number = str(value)
        if chance(self.rng, 0.3):
            number = self.pick(
                ("two", "three", "four", "five", "six", "seven", "eight", "ten", "twelve", "fifteen", "twenty")
            )
        unit = self.pick(("cm", "centimeters", "centimetres", " cm", "cm", "inches", "centimeter"))
        text = (
            f"{number} {unit.strip()}" if not number.isdigit() or unit != "cm" else f"{number}{self.pick((' ', ''))}cm"
        )
        if chance(self.rng, 0.1):
            text = self.pick(
                ("0.1 m", "0.05 meters", "100 mm", "50 millimeters", "half a meter", "an inch", "half a foot")
            )
        fragment = self.mark(text)
        return Node(Pointer("quantity", fragment.mark)), (fragment,)


def plural_of(noun: str) -> str:
    if noun.endswith(("s", "x", "sh", "ch")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"
