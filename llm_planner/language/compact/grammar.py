"""Grammars under which a network decodes: every derivation it can emit is well-formed.

A derivation is a pre-order walk of an abstract syntax tree (as in TranX, arXiv:1810.02720). At each step the symbol on
top of a stack says which productions and which pointers (into the command's words, or into what the command may name)
are legal; the network only ever chooses among those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

ROOT = "ROOT"


@dataclass(frozen=True)
class Pointer:
    """A choice that points outside the grammar: `kind` is a class of words or of entries; `index` within it.

    Words are numbered together, whatever their class; entries are numbered within theirs.
    """

    kind: str
    index: int


Step = str | Pointer  # a production's name, or a pointer
Stack = tuple[tuple[str, int], ...]  # (symbol, number of enclosing loops), the top last

START: Stack = ((ROOT, 0),)


@dataclass(frozen=True)
class Node:
    """A tree of a grammar: a production with its children, or a pointer."""

    step: Step
    children: tuple[Node, ...] = ()


def linearise(node: Node) -> list[Step]:
    """Pre-order steps of a tree."""
    return [node.step] + [step for child in node.children for step in linearise(child)]


@dataclass(frozen=True, eq=False)
class Grammar:
    """What a network may say. Production names are unique across symbols; derivations start at ROOT.

    `rules`: symbol -> production -> the symbols it expands to. `pointers`: symbol -> classes of words and entries that
    may stand for it. `loops`: production -> its symbol that lies inside one more loop; `loop_needs`: production -> how
    many loops must enclose it.
    """

    rules: Mapping[str, Mapping[str, tuple[str, ...]]]
    pointers: Mapping[str, tuple[str, ...]]
    words: tuple[str, ...]  # classes of the command's words
    entries: tuple[str, ...]  # classes of what the command may name
    loops: Mapping[str, str] = field(default_factory=dict)
    loop_needs: Mapping[str, int] = field(default_factory=dict)
    max_loops: int = 3
    max_steps: int = 96

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        return tuple(self.rules)

    @cached_property
    def productions(self) -> tuple[str, ...]:
        return tuple(name for rules in self.rules.values() for name in rules)

    @cached_property
    def expansion(self) -> dict[str, tuple[str, ...]]:
        return {name: body for rules in self.rules.values() for name, body in rules.items()}

    @cached_property
    def symbol_index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.symbols)}

    @cached_property
    def production_index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.productions)}

    @cached_property
    def segments(self) -> dict[str, int]:
        """Numbers of the classes of input positions."""
        return {name: index for index, name in enumerate((*self.words, *self.entries))}

    def legal_productions(self, symbol: str, loops: int) -> list[str]:
        """Productions of `symbol` that make sense inside `loops` nested loops."""
        return [name for name in self.rules[symbol] if loops >= self.loop_needs.get(name, 0)]

    def legal_choices(self, symbol: str, loops: int) -> list[int]:
        """Their indices."""
        key = (symbol, loops)
        if key not in self._legal:
            self._legal[key] = [self.production_index[name] for name in self.legal_productions(symbol, loops)]
        return self._legal[key]

    def needing(self, symbols: frozenset[str]) -> tuple[str, ...]:
        """Productions that expand to any of the symbols."""
        if symbols not in self._needing:
            self._needing[symbols] = tuple(name for name, body in self.expansion.items() if symbols & set(body))
        return self._needing[symbols]

    @cached_property
    def _needing(self) -> dict[frozenset[str], tuple[str, ...]]:
        return {}

    @cached_property
    def _legal(self) -> dict[tuple[str, int], list[int]]:
        return {}

    def advance(self, stack: Stack, step: Step) -> Stack:
        """The stack after the top symbol was expanded by `step`."""
        _, loops = stack[-1]
        if isinstance(step, Pointer):
            return stack[:-1]
        inside = self.loops.get(step)
        pushed = tuple((symbol, loops + (symbol == inside)) for symbol in self.expansion[step])
        return stack[:-1] + pushed[::-1]

    def build_tree(self, steps: list[Step]) -> Node:
        """The tree of a complete derivation; inverse of `linearise`."""
        node, rest = self._build(steps)
        if rest:
            raise ValueError(f"a derivation of {len(steps)} steps ends {len(rest)} steps early")
        return node

    def _build(self, steps: list[Step]) -> tuple[Node, list[Step]]:
        if not steps:
            raise ValueError("a derivation ends before its tree is complete")
        step, rest = steps[0], steps[1:]
        children = []
        for _ in () if isinstance(step, Pointer) else self.expansion[step]:
            child, rest = self._build(rest)
            children.append(child)
        return Node(step, tuple(children)), rest
