"""How trials of a skill are told to a person at a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from llm_planner.skills.learning.report import Tally, told
from llm_planner.skills.learning.report_page import by_reason, named


def show_tallies(plain: Tally, perturbed: Tally) -> None:
    """Successes with their intervals, then the failures by reason, with their seeds."""
    console, table = Console(highlight=False), Table(box=None, pad_edge=False)
    for column in ("trials", "success", "95 % interval", "of"):
        table.add_column(column, justify="left" if column == "trials" else "right")
    for words, tally in (("left alone", plain), ("shoved", perturbed)):
        low, high = tally.interval
        table.add_row(words, f"{tally.rate:.1%}", f"{low:.1%} to {high:.1%}", str(tally.trials))
    console.print(table)
    for reason, failures in by_reason((*plain.failures, *perturbed.failures)):
        console.print(Text(f"{len(failures)} {told(reason)}: ", "bold red") + Text(named(failures)), soft_wrap=True)
