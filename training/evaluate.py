"""Judge the embedded model as it is served: right, asked and wrong by the probability from which it acts, and times.

python -m training.evaluate --samples 300
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path

from llm_planner.language.embedded.network import load_network
from llm_planner.language.embedded.reader import WEIGHTS, EmbeddedReader, Task
from training.generate import FORMS, Generator, draw_all
from training.templates import read_book

LEAST = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)


def main() -> None:
    """Print a table for wordings, and one for authors, that training never shows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--missed", type=int, default=0, help="show so many of the most probable misses")
    options = parser.parse_args()
    reader = EmbeddedReader(load_network(options.weights), {Task(task): forms for task, forms in FORMS.items()})
    book = read_book()
    sets = {"new wordings": Generator(book, 77, kept=True), "new authors": Generator(book, 78, hands="held_out")}
    for title, generator in sets.items():
        found, seconds, missed = defaultdict[str, list[tuple[float, bool]]](list), list[float](), []
        for sample in draw_all(generator, options.samples):
            began = time.process_time()
            best = reader.read(Task(sample.task), sample.situation, sample.words)[0]
            seconds.append(time.process_time() - began)
            is_right = str(best) == sample.result
            found[sample.task].append((best.probability, is_right))
            if not is_right:
                missed.append((best.probability, f"{sample.words} -> {best}, not {sample.result}"))
        seconds.sort()
        print(
            f"{title}: {1e3 * seconds[len(seconds) // 2]:.0f} ms of CPU, "
            f"99 % {1e3 * seconds[-len(seconds) // 100]:.0f} ms"
        )
        for task, judged in found.items():
            shares = "; ".join(
                f"from {least}: {sum(right and p >= least for p, right in judged) / len(judged):.0%} right, "
                f"{sum(not right and p >= least for p, right in judged) / len(judged):.0%} wrong"
                for least in LEAST
            )
            print(f"  {task}, {len(judged)}: {sum(right for _, right in judged) / len(judged):.0%} exact; {shares}")
        for probability, text in sorted(missed, reverse=True)[: options.missed]:
            print(f"    {probability:.2f} {text}")


if __name__ == "__main__":
    main()
