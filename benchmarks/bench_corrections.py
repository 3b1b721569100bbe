"""How often what is said to a working robot becomes the right edit: of the right level, and exactly.

Two halves of 120 corrections over 12 kinds and both worlds. The kept half is only counted: its words are never shown,
so that no reader is written for them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from correction_cases import HALVES, Case, read_cases, read_situations
from correction_judge import exact_right, level_right
from reports import print_report, report_parser

from llm_planner.corrections.edit_json import edit_json
from llm_planner.corrections.edits import Edit
from llm_planner.corrections.reading import open_reader
from llm_planner.corrections.situation import Situation
from llm_planner.learning.report import wilson

Read = Callable[[str, Situation], Edit]
SHOWN = ("open",)  # halves whose words may be printed


@dataclass(frozen=True)
class Verdict:
    """What became of one correction, and how long it took [s CPU]. `asked`: the answer was a question."""

    case: Case
    edit: Edit
    level: bool
    exact: bool
    seconds: float

    @property
    def asked(self) -> bool:
        return self.edit.asks


def judge(case: Case, situation: Situation, read: Read) -> Verdict:
    """The verdict on one correction."""
    began = time.process_time()
    edit = read(case.words, situation)
    seconds = time.process_time() - began
    return Verdict(case, edit, level_right(edit, case), exact_right(edit, case, situation), seconds)


def summary(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Shares with their 95 % intervals, together and by kind and world."""
    milliseconds = [1e3 * verdict.seconds for verdict in verdicts]
    missed = [verdict for verdict in verdicts if not verdict.exact]
    return {
        **_shares(verdicts),
        "misses that are questions": sum(verdict.asked for verdict in missed),
        "CPU ms, median": round(float(np.median(milliseconds)), 2),
        "CPU ms, 95 %": round(float(np.quantile(milliseconds, 0.95)), 2),
        "kinds": _by(verdicts, lambda case: case.kind),
        "worlds": _by(verdicts, lambda case: case.world),
    }


def _shares(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "level": _share([verdict.level for verdict in verdicts]),
        "exact": _share([verdict.exact for verdict in verdicts]),
    }


def _share(right: Sequence[bool]) -> dict[str, float]:
    low, high = wilson(sum(right), len(right))
    share = sum(right) / max(1, len(right))
    return {"share": round(share, 3), "low": round(low, 3), "high": round(high, 3), "of": len(right)}


def _by(verdicts: Sequence[Verdict], group: Callable[[Case], str]) -> dict[str, Any]:
    names = dict.fromkeys(group(verdict.case) for verdict in verdicts)
    return {name: _shares([v for v in verdicts if group(v.case) == name]) for name in names}


def _missed(verdict: Verdict) -> str:
    answer = json.dumps(edit_json(verdict.edit)["operations"])
    wanted = [json.dumps(edit_json(edit)["operations"]) for edit in verdict.case.accepted[:1]]
    case = verdict.case
    return f"{case.kind}, {case.situation}: {case.words}\n    is      {answer}\n    wanted  {wanted[0]}"


def main(arguments: list[str] | None = None, read: Read | None = None) -> dict[str, Any]:
    """Run and print; returns the figures by half. A reader that is handed in is measured in place of the default."""
    parser = report_parser(__doc__)
    parser.add_argument("--halves", nargs="+", choices=HALVES, default=list(HALVES))
    parser.add_argument("--limit", type=int, default=0, help="only the first so many of each half")
    parser.add_argument("--show", action="store_true", help="print what was not exactly right, of the open half")
    args = parser.parse_args(arguments)
    read, situations, figures = read or open_reader().read, read_situations(), dict[str, Any]()
    for half in args.halves:
        cases = read_cases(HALVES[half])[: args.limit or None]
        verdicts = [judge(case, situations[case.situation], read) for case in cases]
        figures[half] = summary(verdicts)
        if args.show and half in SHOWN:
            print(*(_missed(verdict) for verdict in verdicts if not verdict.exact), sep="\n")
    print_report(figures, args.json)
    return figures


if __name__ == "__main__":
    main()
