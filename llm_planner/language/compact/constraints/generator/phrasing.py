"""A small language for wording: "[go|walk] to {x} [please|]" stands for many sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from numpy.random import Generator

from llm_planner.language.compact.grammar import Node, Pointer


@dataclass(frozen=True)
class Name:
    """Something named or counted in a sentence: its class, and a number that pointers of the derivation refer to."""

    entry: str
    number: int
    plural: bool = False

    @property
    def node(self) -> Node:
        return Node(Pointer(self.entry, self.number))


Piece = str | Name  # a word, or what will become a placeholder
Phrase = tuple[Piece, ...]
_Choice = tuple[tuple[object, ...], ...]
_MARKS = re.compile(r"[\[\]|]|\{\w+\}|[^\s\[\]|{}]+")


def say(rng: Generator, template: str, **slots: Phrase | None) -> Phrase:
    """One of the sentences that `template` stands for: [a|b] is a or b, {x} is the phrase given for x.

    Sentences with a slot for which there is no phrase are not drawn; some must be without.
    """
    while True:
        out: list[Piece] = []
        if _draw(rng, _compiled(template), slots, out):
            return tuple(out)


def _draw(rng: Generator, choice: _Choice, slots: Mapping[str, Phrase | None], out: list[Piece]) -> bool:
    """Whether there was a phrase for every slot."""
    option = choice[0] if len(choice) == 1 else choice[int(rng.random() * len(choice))]
    for part in option:
        if isinstance(part, tuple):
            if not _draw(rng, part, slots, out):
                return False
        elif str(part).startswith("{"):
            phrase = slots[str(part)[1:-1]]
            if phrase is None:
                return False
            out.extend(phrase)
        else:
            out.append(str(part))
    return True


@lru_cache(maxsize=8192)
def _compiled(template: str) -> _Choice:
    choice, rest = _options(_MARKS.findall(template))
    if rest:
        raise ValueError(f"a bracket is not closed or not opened in {template!r}")
    return choice


def _options(tokens: list[str]) -> tuple[_Choice, list[str]]:
    options: list[list[object]] = [[]]
    while tokens:
        token, tokens = tokens[0], tokens[1:]
        if token == "[":
            inner, tokens = _options(tokens)
            options[-1].append(inner)
        elif token == "|":
            options.append([])
        elif token == "]":
            return tuple(tuple(option) for option in options), tokens
        else:
            options[-1].append(token)
    return tuple(tuple(option) for option in options), tokens


def node(name: str, *children: Node) -> Node:
    return Node(name, children)


def listed(nodes: list[Node]) -> Node:
    """A LIST of states."""
    return node("one", nodes[0]) if len(nodes) == 1 else node("more", nodes[0], listed(nodes[1:]))


def joined(name: str, nodes: list[Node]) -> Node:
    """States joined by `both` or `either`, to the right."""
    return nodes[0] if len(nodes) == 1 else node(name, nodes[0], joined(name, nodes[1:]))


def canonical(spec: Node) -> Node:
    """One tree for what is said in two ways: never both is never one while the other; what is held comes first."""
    if spec.step == "never" and spec.children[0].step == "one" and spec.children[0].children[0].step == "both":
        a, b = spec.children[0].children[0].children
        spec = node("whenever", a, b.children[0] if b.step == "isnt" else node("isnt", b))
    if spec.step == "whenever" and spec.children[1].step == "isnt":
        a, b = spec.children[0], spec.children[1].children[0]
        if b.step in ("holding", "holding_any") and a.step not in ("holding", "holding_any", "both", "either", "isnt"):
            spec = node("whenever", b, node("isnt", a))
    if spec.step == "never_after":  # what may not be touched again is not taken up
        spec = node("never_after", spec.children[0], _taken_up(spec.children[1]))
    return _placed(spec)


def _taken_up(spec: Node) -> Node:
    return Node("holding" if spec.step == "moved" else spec.step, tuple(_taken_up(child) for child in spec.children))


def _placed(spec: Node) -> Node:
    """The grammar tells "the" thing that is somewhere from "this" place where it is."""
    named = {"the": "the", "this": "the"}
    where = {"the": "this", "this": "this"}
    children = []
    for index, child in enumerate(spec.children):
        step = (where if index and spec.step in ("is_in", "is_on", "is_beside") else named).get(str(child.step))
        children.append(_placed(Node(step, child.children) if step else child))
    return Node(spec.step, tuple(children))
