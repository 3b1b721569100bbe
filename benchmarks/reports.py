"""What benchmarks report, and how: as one JSON object for `make bench`, else a line for each figure."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np


class _Formatter(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    def add_argument(self, action: argparse.Action) -> None:
        action.help = action.help or "(default: %(default)s)"
        super().add_argument(action)


def report_parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the option `--json`; its help has the docstring of the module, and defaults."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=_Formatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def print_report(report: Mapping[str, Any], as_json: bool) -> int:
    """Print a report and return exit status 0; lines name the keys as `benchmarks.__main__` does."""
    if as_json:
        print(json.dumps(report))
        return 0
    for name, value in _figures(report):
        print(f"{name:60} {f'{value:.4g}' if isinstance(value, float) else value}")
    return 0


def _figures(report: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in report.items():
        if isinstance(value, Mapping):
            yield from _figures(value, f"{above}{key} > ")
        else:
            yield f"{above}{key}", value


def spread(values: Sequence[float] | np.ndarray) -> dict[str, float]:
    """Return mean, median, 99th percentile and maximum; zeros if there are no values."""
    values = np.asarray(values if len(values) else [0.0])
    points = {name: np.percentile(values, q) for name, q in (("median", 50), ("p99", 99), ("max", 100))}
    return {name: round(float(value), 4) for name, value in {"mean": values.mean(), **points}.items()}
