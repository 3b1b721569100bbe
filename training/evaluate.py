"""Measure a tuned model as it is served: in llama.cpp, under the grammar, on wordings and authors kept from training.

    python -m training.evaluate --run full --count 300
    python -m training.evaluate --model merged.gguf --count 300

Tells for each task how many results are exactly right, how much is right, asked and wrong when results below a
probability are asked about, and how long a reading takes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from llm_planner.correction.request_text import REQUESTS
from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.command_forms import COMMANDS, RULES
from llm_planner.language.embedded.prompt import Task
from llm_planner.language.embedded.reader import EmbeddedReader, LlamaWriter, base_model
from training.generate import SHARES, Generator, Sample, draw_all, read_samples
from training.templates import read_book

RUNS = Path(__file__).parent / "runs"
THRESHOLDS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
FORMS = {Task.CORRECTION: REQUESTS, Task.COMMAND: COMMANDS, Task.RULE: RULES}


@dataclass(frozen=True)
class Outcome:
    """What was read of a sample, and what was to be read."""

    task: str
    words: str
    wanted: str
    read: str
    probability: float
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether the result is exactly the wanted one."""
        return self.read == self.wanted


def outcomes(reader: EmbeddedReader, samples: Sequence[Sample]) -> list[Outcome]:
    """Read all samples; what cannot be read has the probability 0, so it is asked about."""
    found = []
    for sample in samples:
        began = time.perf_counter()
        try:
            reading = reader.read(Task(sample.task), sample.situation, sample.words)
            text, probability = reading.text, reading.probability
        except LanguageModelError as error:
            text, probability = f"error: {error}", 0.0
        seconds = time.perf_counter() - began
        found.append(Outcome(sample.task, sample.words, sample.result, text, probability, round(seconds, 3)))
    return found


def curve(found: Sequence[Outcome]) -> list[dict[str, float]]:
    """Shares that are right, asked about and wrong, by the probability below which one is asked."""
    rows = []
    for least in THRESHOLDS:
        told = [one for one in found if one.probability >= least and not one.read.startswith("error")]
        right = sum(one.is_right for one in told)
        rows.append({
            "asked below": least, "right": _share(right, found), "asked": _share(len(found) - len(told), found),
            "wrong": _share(len(told) - right, found),
        })  # fmt: skip
    return rows


def summary(found: Sequence[Outcome]) -> dict[str, object]:
    """All figures of one set of samples."""
    by_task = {task: [one for one in found if one.task == task] for task in SHARES}
    return {
        "samples": len(found),
        "right": _share(sum(one.is_right for one in found), found),
        "right by task": {task: _share(sum(one.is_right for one in mine), mine) for task, mine in by_task.items()},
        "median seconds": {task: median([one.seconds for one in mine] or [0.0]) for task, mine in by_task.items()},
        "risk and coverage": curve(found),
    }


def _share(count: int, of: Sequence[Outcome]) -> float:
    return round(count / max(1, len(of)), 4)


def main() -> None:
    """Read, count, write the report beside the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="full", help="the run whose adapter is measured")
    parser.add_argument("--model", type=Path, help="a merged model instead of the base model with the run's adapter")
    parser.add_argument("--samples", type=Path, help="samples of your own instead of newly drawn ones")
    parser.add_argument("--count", type=int, default=300, help="samples of either set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    folder = RUNS / options.run
    adapter = None if options.model else folder / "adapter.gguf"
    writer = LlamaWriter(options.model or base_model(), adapter, options.threads)
    reader = EmbeddedReader(writer, FORMS)
    book = read_book()
    sets = {"samples": read_samples(options.samples)} if options.samples else {
        "new wordings": draw_all(Generator(book, options.seed + 1, kept=True), options.count),
        "new authors": draw_all(Generator(book, options.seed + 2, hands="held_out"), options.count),
    }  # fmt: skip
    report = {}
    with (folder / "readings.jsonl").open("w", encoding="utf-8") as readings:
        for name, samples in sets.items():
            found = outcomes(reader, samples)
            report[name] = summary(found)
            readings.writelines(json.dumps({"set": name, **asdict(one)}) + "\n" for one in found)
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
