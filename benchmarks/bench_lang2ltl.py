"""Lang2LTL's utterances by cross-validation: how often the compact model's formula is proved equivalent to the data's.

Folds by utterance: a network that learnt from the generator alone learns on from four fifths of the sentences (the same
sentence is never on both sides) and is asked the rest. Folds by formula: a network learns from nothing, with a fifth of
the 47 formulas left out of the utterances and, up to renaming, out of what the generator draws, and is asked those.

    python benchmarks/bench_lang2ltl.py --data utterances.csv [--folds utterance|formula] [--base FOLDER] [--json]

The data is in Lang2LTL's repository (arXiv:2302.11649), as CSV with pattern_type, props, utterance and ltl_formula.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.language.grounding.formulas import specification
from llm_planner.language.compact.constraints.generator.examples import BARE_MIX, Part
from llm_planner.language.compact.constraints.generator.mixture import accept_all
from llm_planner.language.compact.constraints.generator.utterances import Utterance, load_utterances
from llm_planner.language.compact.constraints.reader import CommandReader
from llm_planner.language.grounding.tree import Node, Pointer
from llm_planner.language.compact.inference import NumpyNetwork, load_weights
from llm_planner.language.compact.lessons import READING_SIZE, reading_lesson_of
from llm_planner.language.compact.network import NetworkSize
from llm_planner.language.compact.training import TrainingSettings, train
from llm_planner.language.model import ReadingRequest
from llm_planner.temporal.alphabet import Alphabet
from llm_planner.temporal.automaton import automaton
from llm_planner.temporal.decide import equivalent
from llm_planner.temporal.formula import Formula, atom, conj
from llm_planner.temporal.parser import parse
from llm_planner.world.scene import Scene

FOLDS = 5
SEED = 7  # of the folds
LENGTHS = 13  # traces up to this length are counted to tell formulas apart
NOTHING = Scene(0.0, ())


@dataclass(frozen=True)
class Effort:
    """How long a fold's network learns."""

    steps: int
    batch: int
    learning_rate: float
    share: float  # of utterances among the examples
    size: NetworkSize = READING_SIZE


SMALL = NetworkSize(width=96, heads=4, hidden=256, encoder_layers=4, decoder_layers=2)  # learns from nothing in minutes
EFFORTS = {"utterance": Effort(700, 64, 6e-4, 0.6), "formula": Effort(1600, 64, 1.8e-3, 0.2, SMALL)}


@dataclass
class Score:
    """What one fold came to; a miss is the sentence, the formula wanted and what was read."""

    fold: int
    asked: int = 0
    equivalent: int = 0
    one_place: int = 0  # equivalent where only one place is visited at a time
    asked_back: int = 0
    misses: list[tuple[str, str, str]] = field(default_factory=list)


def split(utterances: Sequence[Utterance], by: str) -> list[int]:
    """The fold of every utterance; sentences (or formulas) that are the same are in the same fold."""
    keys = [u.text if by == "utterance" else u.written for u in utterances]
    distinct = sorted(set(keys))
    order = np.random.default_rng(SEED).permutation(len(distinct))
    fold_of = {distinct[int(index)]: place % FOLDS for place, index in enumerate(order)}
    return [fold_of[key] for key in keys]


def score(reader: CommandReader, utterances: Sequence[Utterance], fold: int) -> Score:
    """Asks every utterance once."""
    result = Score(fold)
    for utterance in utterances:
        reading = reader.read(ReadingRequest(utterance.text, NOTHING, utterance.propositions)).readings[0]
        said = conj(*(parse(constraint.formula) for constraint in reading.constraints))
        result.asked += 1
        result.asked_back += reading.question != ""
        same = [not reading.question and _same(said, utterance.formula, one) for one in (False, True)]
        result.equivalent += same[0]
        result.one_place += same[1]
        if not same[0]:
            result.misses.append((utterance.text, str(utterance.formula), reading.question or str(said)))
    return result


def _same(f: Formula, g: Formula, one_place: bool) -> bool:
    names = tuple(sorted({*f.propositions, *g.propositions}))
    try:
        return f is g or equivalent(f, g, Alphabet(names, (names,) if one_place else ()))
    except InputError:  # too large to decide
        return False


class Unlike:
    """Lets pass what is not, up to renaming, one of the formulas that are kept out.

    Formulas with as many propositions and as many satisfying traces of every length count as the same: too many are
    refused rather than too few.
    """

    def __init__(self, kept_out: Sequence[Formula]) -> None:
        self._shapes = frozenset(_shape(formula) for formula in kept_out)

    def __call__(self, parts: Sequence[Part]) -> bool:
        specs = [part.spec for part in parts if part.spec is not None and part.spec.step != "unclear"]
        if not specs:
            return True
        try:
            return _shape_of(_renamed(tuple(specs))) not in self._shapes
        except InputError:  # too large to decide
            return False


@dataclass
class _Numbered:
    """Propositions in the order in which a specification names them; a number that is not known yet counts as seven."""

    bare = True

    def state(self, node: Node) -> Formula:
        assert isinstance(node.step, Pointer)
        return atom(f"p{node.step.index}")

    def rooms(self, node: Node) -> list[Formula]:
        return [self.state(node)]

    def started(self, node: Node, before: Node) -> Formula:
        return self.state(node)

    def number(self, pointer: Pointer) -> float:
        return float(pointer.index)


def _renamed(specs: tuple[Node, ...]) -> tuple[Node, ...]:
    """The same with propositions numbered from 1."""
    numbers: dict[int, int] = {}

    def renamed(node: Node) -> Node:
        if isinstance(node.step, Pointer):
            kept = node.step.kind != "prop"
            return Node(Pointer(node.step.kind, 7 if kept else numbers.setdefault(node.step.index, len(numbers) + 1)))
        return Node(node.step, tuple(renamed(child) for child in node.children))

    return tuple(renamed(spec) for spec in specs)


@lru_cache(maxsize=100_000)
def _shape_of(specs: tuple[Node, ...]) -> tuple[int, ...]:
    return _shape(conj(*(specification(spec, _Numbered()) for spec in specs)))


@lru_cache(maxsize=100_000)
def _shape(formula: Formula) -> tuple[int, ...]:
    """The number of propositions, and of satisfying traces of every length."""
    names = formula.propositions
    if len(names) > FOLDS or formula.timed:
        return (len(names),)
    machine = automaton(formula, Alphabet(names))
    letters = machine.alphabet.letters
    following = {
        state: [machine.step(state, letter) for letter in letters] for state in range(len(machine.transitions))
    }
    reached, counts = {machine.initial: 1}, [len(names)]
    for _ in range(LENGTHS):
        nexts: dict[int, int] = {}
        for state, ways in reached.items():
            for after in following[state]:
                nexts[after] = nexts.get(after, 0) + ways
        reached = nexts
        counts.append(sum(ways for state, ways in reached.items() if state in machine.accepting))
    return tuple(counts)


def learn(
    utterances: Sequence[Utterance],
    kept_out: Sequence[Formula],
    effort: Effort,
    base: Path | None,
    folder: Path,
    seed: int,
) -> CommandReader:
    """A reader that learnt from these utterances and from sentences of other formulas than those kept out."""
    accept = Unlike(kept_out) if kept_out else accept_all
    lesson = replace(reading_lesson_of(utterances, effort.share, BARE_MIX, accept), size=effort.size)
    settings = TrainingSettings(effort.steps, effort.batch, effort.learning_rate, min(200, effort.steps // 10), seed)
    train(lesson, settings, folder, base and base / "weights.safetensors", partial(_progress, folder.name))
    return CommandReader(NumpyNetwork(*load_weights(folder)), min_confidence=0.0)


def _progress(name: str, step: int, loss: float, exact: float) -> None:
    if step % 500 == 0:
        print(f"{name}: step {step}, loss {loss:.2f}, {exact:.0%} of fresh sentences right", flush=True)


def main(arguments: list[str] | None = None, show: Callable[[str], None] = print) -> dict:
    """Run and print; returns the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="Lang2LTL's utterances as CSV; without it a few sentences of our own")
    parser.add_argument("--folds", choices=sorted(EFFORTS), default="utterance")
    parser.add_argument("--base", type=Path, help="folder of weights that learnt from the generator alone")
    parser.add_argument("--work", type=Path, help="folder to keep the folds' weights in")
    parser.add_argument("--only", default="0,1,2,3,4", help="folds to run, of 0 to 4")
    parser.add_argument("--steps", type=int, help="of training a fold")
    parser.add_argument("--limit", type=int, default=0, help="only the first so many utterances")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(arguments)
    effort = EFFORTS[args.folds] if args.steps is None else Effort(args.steps, 16, 1e-3, 0.5, SMALL)
    utterances = load_utterances(args.data or QUICK)[: args.limit or None]
    fold_of = split(utterances, args.folds)
    scores = []
    for fold in map(int, args.only.split(",")):
        train_on = [u for u, f in zip(utterances, fold_of, strict=True) if f != fold]
        asked = [u for u, f in zip(utterances, fold_of, strict=True) if f == fold]
        kept_out = list({u.formula for u in asked}) if args.folds == "formula" else []
        with tempfile.TemporaryDirectory() as scratch:
            folder = (args.work or Path(scratch)) / f"{args.folds}{fold}"
            reader = learn(train_on, kept_out, effort, args.base, folder, SEED + fold)
        scores.append(score(reader, asked, fold))
        if not args.json:
            show(_line(scores[-1]))
    return _report(scores, args, show)


def _line(one: Score) -> str:
    return f"fold {one.fold}: {one.equivalent} of {one.asked} equivalent ({one.equivalent / max(1, one.asked):.1%})"


def _report(scores: Sequence[Score], args: argparse.Namespace, show: Callable[[str], None]) -> dict:
    shares = [one.equivalent / max(1, one.asked) for one in scores]
    figures = {
        "folds by": args.folds,
        "mean": round(float(np.mean(shares)), 4),
        "shares": [round(share, 4) for share in shares],
        "asked": sum(one.asked for one in scores),
        "one place at a time": round(sum(o.one_place for o in scores) / max(1, sum(o.asked for o in scores)), 4),
    }
    if args.work:
        (args.work / f"{args.folds}-misses-{args.only}.json").write_text(
            json.dumps([asdict(one) for one in scores], indent=1)
        )
    show(json.dumps(figures) if args.json else "\n".join(f"{name:24} {value}" for name, value in figures.items()))
    return figures


QUICK = Path(__file__).parent / "data" / "utterances_sample.csv"

if __name__ == "__main__":
    main()
