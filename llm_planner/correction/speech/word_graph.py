"""The smallest automaton that takes just the sentences of a grammar, word by word.

Recognisers expand every reference to a rule; written so, a grammar of some hundred phrases takes seconds a word to
follow. A grammar without recursion has finitely many sentences, so that its states, as sets of what may still come
(Brzozowski's derivatives), are finitely many too, and those with the same continuations become one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from llm_planner.correction.speech.jsgf import Choice, Part, Rule, Rules, Series, Word

_Waiting = tuple[Part, ...]  # what is still to be said, the next part first


@dataclass(frozen=True)
class WordGraph:
    """`arcs` are (from, to, word); the states are numbered from 0, where every sentence begins, to `end`."""

    states: int
    end: int
    arcs: tuple[tuple[int, int, str], ...]


def word_graph(rules: Rules, start: str) -> WordGraph:
    """The smallest deterministic automaton of the grammar, with one end."""
    builder = _Builder(rules)
    first = builder.state(frozenset(builder.open((Rule(start),))))
    order = [first, *(number for number in range(len(builder.following)) if number != first)]
    number_of = {state: number for number, state in enumerate(order)}
    end = len(order)
    arcs = [
        (number_of[state], number_of[after], word)
        for state, (_, steps) in enumerate(builder.following)
        for word, after in steps
    ]
    arcs += [(number_of[state], end, "") for state, (final, _) in enumerate(builder.following) if final]
    return WordGraph(end + 1, end, tuple(sorted(arcs)))


class _Builder:
    """Numbers states by what may follow them, so that equal ones are one."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._numbers: dict[tuple[bool, tuple[tuple[str, int], ...]], int] = {}
        self._seen: dict[frozenset[_Waiting], int] = {}
        self.following: list[tuple[bool, tuple[tuple[str, int], ...]]] = []

    def open(self, waiting: _Waiting) -> Iterator[_Waiting]:
        """What is waiting, with a word in front (or nothing at all) in every way that the grammar leaves open."""
        if not waiting or isinstance(waiting[0], Word):
            yield waiting
            return
        first, rest = waiting[0], waiting[1:]
        if isinstance(first, Rule):
            yield from self.open((self._rules[first.name], *rest))
        elif isinstance(first, Choice):
            for option in first.options:
                yield from self.open((option, *rest))
        else:
            yield from self.open((*first.parts, *rest) if isinstance(first, Series) else rest)

    def state(self, stacks: frozenset[_Waiting]) -> int:
        if stacks not in self._seen:
            after: dict[str, set[_Waiting]] = {}
            for stack in stacks:
                if stack and isinstance(stack[0], Word):
                    after.setdefault(stack[0].text, set()).update(self.open(stack[1:]))
            steps = tuple((word, self.state(frozenset(after[word]))) for word in sorted(after))
            key = (() in stacks, steps)
            if key not in self._numbers:
                self._numbers[key] = len(self.following)
                self.following.append(key)
            self._seen[stacks] = self._numbers[key]
        return self._seen[stacks]
