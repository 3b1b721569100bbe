"""How often a language model's formula for one of Lang2LTL's utterances is proved equivalent to the data's.

    python benchmarks/bench_lang2ltl.py [--data utterances.csv] [--model embedded] [--limit N] [--json] [--show]

The data is in Lang2LTL's repository (arXiv:2302.11649), as CSV with pattern_type, props, utterance and ltl_formula;
without it a few sentences of our own are asked.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError, LlmPlannerError, QuestionError
from llm_planner.language.factory import open_model
from llm_planner.language.model import LanguageModel
from llm_planner.language.understanding.understand import understand
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.decision import equivalent
from llm_planner.ltl.formula import Formula, conj
from llm_planner.ltl.parser import parse_prefix
from llm_planner.scene.scene import Scene

QUICK = Path(__file__).parent / "data" / "utterances_sample.csv"
NOTHING = Scene(0.0, ())


@dataclass(frozen=True)
class Utterance:
    """A sentence, the propositions it speaks of, and what it means."""

    text: str
    propositions: tuple[str, ...]
    formula: Formula


@dataclass(frozen=True)
class Verdict:
    """What became of one; `one_place`: equivalent where only one place is visited at a time."""

    utterance: Utterance
    answer: str
    asked: bool = False
    equivalent: bool = False
    one_place: bool = False


def read_utterances(path: Path) -> list[Utterance]:
    """The rows of Lang2LTL's table; raises InputError when it cannot be read."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return [
            Utterance(row["utterance"].strip(), _names(row["props"]), parse_prefix(row["ltl_formula"])) for row in rows
        ]
    except (OSError, KeyError) as error:
        raise InputError(
            f"{path} cannot be read as a table of utterances ({error}); it needs the columns pattern_type, props, "
            "utterance and ltl_formula"
        ) from error


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip(" '\"") for part in text.strip("[]").split(",") if part.strip())


def judge(utterance: Utterance, model: LanguageModel) -> Verdict:
    """Ask the model, and compare what it says with what the data says."""
    try:
        found = understand(utterance.text, NOTHING, model, propositions=utterance.propositions)
    except QuestionError as question:
        return Verdict(utterance, str(question), asked=True)
    except LlmPlannerError as error:
        return Verdict(utterance, str(error))
    said = conj(*(one.formula for one in found.constraints))
    same = [_same(said, utterance.formula, one_place) for one_place in (False, True)]
    return Verdict(utterance, str(said), False, *same)


def _same(f: Formula, g: Formula, one_place: bool) -> bool:
    names = tuple(sorted({*f.propositions, *g.propositions}))
    try:
        return f is g or equivalent(f, g, Alphabet(names, (names,) if one_place else ()))
    except InputError:  # too large to decide
        return False


def summary(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    count = max(1, len(verdicts))
    return {
        "utterances": len(verdicts),
        "equivalent": round(sum(one.equivalent for one in verdicts) / count, 4),
        "equivalent, one place at a time": round(sum(one.one_place for one in verdicts) / count, 4),
        "asked back": round(sum(one.asked for one in verdicts) / count, 4),
    }


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Run and print; returns the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=QUICK, help="Lang2LTL's utterances as CSV")
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--limit", type=int, default=0, help="only the first so many utterances")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--show", action="store_true", help="print what was not equivalent")
    args = parser.parse_args(arguments)
    model = open_model(args.model)
    verdicts = [judge(one, model) for one in read_utterances(args.data)[: args.limit or None]]
    for one in verdicts if args.show else []:
        if not one.equivalent:
            print(f"{one.utterance.text}\n    wanted  {one.utterance.formula}\n    is      {one.answer}")
    figures = summary(verdicts)
    print(json.dumps(figures) if args.json else "\n".join(f"{name:32} {value}" for name, value in figures.items()))
    return figures


if __name__ == "__main__":
    main()
