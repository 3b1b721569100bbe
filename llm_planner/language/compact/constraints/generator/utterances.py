"""Lang2LTL's utterances (arXiv:2302.11649) as training examples, and what must be kept out of training to test on them.

An utterance's formula is one of the patterns; its tree is found by writing out every pattern over the utterance's
propositions and looking for the same formula.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.language.compact.constraints.formulas import MOST, specification
from llm_planner.language.compact.constraints.generator.examples import Part
from llm_planner.language.compact.constraints.generator.phrasing import Name, Phrase, listed, node
from llm_planner.language.compact.constraints.lifting import lift
from llm_planner.language.compact.constraints.naming import proposition_phrases
from llm_planner.language.compact.grammar import Node, Pointer
from llm_planner.temporal.formula import Formula, atom
from llm_planner.temporal.parser import parse_prefix

_LISTS = ("visit", "sequence", "ordered", "strictly", "patrol", "never")
_PAIRS = ("stay_until", "responds", "at_once", "just_then")


@dataclass(frozen=True)
class Utterance:
    """A sentence, the propositions it speaks of, and what it means."""

    text: str
    propositions: tuple[str, ...]
    formula: Formula
    written: str  # the formula as the data has it: one of 47


def load_utterances(path: Path) -> tuple[Utterance, ...]:
    """The rows of Lang2LTL's table; raises InputError when it cannot be read."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return tuple(
            Utterance(
                row["utterance"].strip(), _names(row["props"]), parse_prefix(row["ltl_formula"]), row["ltl_formula"]
            )
            for row in rows
        )
    except (OSError, KeyError) as error:
        raise InputError(
            f"{path} cannot be read as a table of utterances ({error}); it needs the columns pattern_type, props, "
            "utterance and ltl_formula"
        ) from error


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip(" '\"") for part in text.strip("[]").split(",") if part.strip())


def utterance_parts(utterance: Utterance) -> list[Part]:
    """The utterance as the generator's one part; raises InputError when no pattern has its formula."""
    sentence = lift(utterance.text, proposition_phrases(utterance.propositions), "bare")
    order = sentence.named.get("prop", ())
    spec = _tree(utterance.formula, order)
    numbers = {"#number": 0}
    words: list[str | Name] = []
    said: list[Name] = []
    for word in sentence.words:
        entry, name = sentence.meaning(word.text)
        if entry:
            words.append(Name("prop", order.index(name) + 1))
        elif word.segment != "word":
            numbers["#number"] += 1
            said.append(Name(word.segment, numbers["#number"]))
            words.append(said[-1])
        else:
            words.append(word.text)
    return [
        Part(
            _counted_as_said(spec, tuple(words), said, [w.value for w in sentence.words if w.segment != "word"]),
            tuple(words),
        )
    ]


def _tree(formula: Formula, order: Sequence[str]) -> Node:
    """The pattern with this formula; lists that have no order are in that of the words."""
    states = _Letters(tuple(order))
    for spec in _candidates(len(order)):
        if specification(spec, states) is formula:
            return spec
    raise InputError(f"no pattern has the formula {formula} over {', '.join(order)}")


@lru_cache(maxsize=16)
def _candidates(count: int) -> tuple[Node, ...]:
    every = [Name("prop", number).node for number in range(1, count + 1)]
    found = [node(name, listed(list(order))) for name in _LISTS for order in permutations(every)]
    if count == 1:
        found += [
            node(name, Node(Pointer("number", n)), every[0])
            for name in ("at_least", "at_most", "exactly")
            for n in range(1, MOST)
        ]
    if count == 2:
        for one, two in (every, every[::-1]):
            found += [node(name, one, two) for name in _PAIRS]
            found += [node("not_before", listed([one]), two), node("never_after", one, listed([two]))]
    return tuple(found)


@dataclass(frozen=True)
class _Letters:
    names: tuple[str, ...]
    bare = True

    def state(self, node: Node) -> Formula:
        assert isinstance(node.step, Pointer)
        return atom(self.names[node.step.index - 1])

    def rooms(self, node: Node) -> list[Formula]:
        return [self.state(node)]

    def started(self, node: Node, before: Node) -> Formula:
        return self.state(node)

    def number(self, pointer: Pointer) -> float:
        return pointer.index


def _counted_as_said(spec: Node, words: Phrase, said: Sequence[Name], values: Sequence[float]) -> Node:
    """A count points at its word, or is that of "once" and "twice"; "less than three" is a count below three."""
    if spec.step not in ("at_least", "at_most", "exactly"):
        return spec
    step = spec.children[0].step
    assert isinstance(step, Pointer)
    texts = [word for word in words if isinstance(word, str)]
    plain = {"once": (1, "n1"), "twice": (2, "n2"), "thrice": (3, "n3"), "one": (1, "n1"), "single": (1, "n1")}
    known = {int(value): name.node for value, name in zip(values, said, strict=True)}
    known |= {value: node(name) for text, (value, name) in plain.items() if text in texts}
    for change, shift in (("", 0), ("below", 1), ("above", -1)):
        if step.index + shift in known:
            count = known[step.index + shift]
            return node(str(spec.step), node(change, count) if change else count, spec.children[1])
    return node(str(spec.step), node("n1" if step.index == 1 else "n2" if step.index == 2 else "n3"), spec.children[1])
