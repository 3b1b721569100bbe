"""How often a person has to correct a robot that remembers corrections, against the same robot that does not.

The protocol of DROC (Zha et al., arXiv:2311.10678): eight tasks, each in three rounds, every round in other scenes. Two
scripted people with wishes of their own watch the simulation and say what is not as they want it, in words that are
read as anybody's; they share one robot and its memory. Each person's first corrections cannot be spared, nor the second
of what is not said to be for always, so beside the share of round 1 stands the least that it could be.

Afterwards other kinds of things, other people and other places are tried: nothing that was learned belongs there.

    python benchmarks/bench_memory.py [--tasks 8] [--rounds 3] [--seeds 3] [--json] [--show]
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory_household import Household, Trial
from memory_tasks import OTHER_KINDS, OTHER_PLACES, TASKS, Task, setting
from memory_wishes import PEOPLE
from reports import print_report, report_parser

FOR_EVER = re.compile(r"\b(?:always|from now on)\b")


def rounds(home: Household, tasks: Sequence[Task], count: int, seed: int) -> list[Trial]:
    """All tasks of all people, round by round; another seed is other scenes, and says the same in other words."""
    trials = []
    for number in range(count):
        for user, wishes in PEOPLE.items():
            for place, task in enumerate(tasks):
                scene = setting(task, 1000 * seed + 100 * number + 10 * place + (user == "Ben"))
                trials.append(replace(home.run(scene, user, wishes, number + seed), round=number))
    return trials


def controls(home: Household, tasks: Sequence[Task], seed: int) -> dict[str, list[Trial]]:
    """Other kinds, another person, other places, to which nothing that was taught belongs but how things are carried.
    Nobody says anything."""
    tried = {
        "other kinds": ("Anna", OTHER_KINDS),
        "other people": ("Clara", tasks),
        "other places": ("Anna", OTHER_PLACES),
    }
    found = {}
    for name, (user, them) in tried.items():
        wishes = tuple(replace(wish, unmet=lambda look: False) for wish in PEOPLE.get(user, ()) if wish.anywhere)
        found[name] = [
            home.run(setting(task, 1000 * seed + 900 + place), user, wishes, 0)
            for place, task in enumerate(them[: len(tasks)])
        ]
    return found


def summary(trials: Sequence[Trial], count: int) -> dict[str, Any]:
    """Corrections and answers a task by round, for all and for each person, and how many tasks succeeded."""
    people = dict.fromkeys(trial.user for trial in trials)
    by = {name: [trial for trial in trials if name in ("all", trial.user)] for name in ("all", *people)}
    return {
        name: {
            "corrections a task": _by_round(some, count, lambda trial: len(trial.said)),
            "answers a task": _by_round(some, count, lambda trial: trial.answers),
            "succeeded": _by_round(some, count, lambda trial: trial.succeeded),
        }
        for name, some in by.items()
    }


def _by_round(trials: Sequence[Trial], count: int, read: Callable[[Trial], float]) -> list[float]:
    some = [[read(trial) for trial in trials if trial.round == number] for number in range(count)]
    return [round(sum(values) / max(1, len(values)), 3) for values in some]


def measured(tasks: Sequence[Task], count: int, seeds: int, show: bool) -> dict[str, Any]:
    """The figures with memory and without, over all seeds; each has a memory of its own."""
    alone, trials, least = list[Trial](), list[Trial](), 0
    tried: dict[str, list[Trial]] = {}
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            without = rounds(Household(Path(folder), False), tasks, count, seed)
            home = Household(Path(folder), True)
            trials += rounds(home, tasks, count, seed)
            for name, some in controls(home, tasks, seed).items():
                tried[name] = [*tried.get(name, ()), *some]
        alone += without
        least += _least([trial for trial in without if trial.round == 0])
    silent = [trial for some in tried.values() for trial in some]
    if show:
        print(*alone, *trials, *silent, sep="\n", file=sys.stderr)
    return figures_of(trials, alone, tried, least, count)


def _least(trials: Sequence[Trial]) -> int:
    """The fewest corrections by which all wishes of these trials can be known: one that does not say for how long it
    holds is learnt from the second time on."""
    said = Counter((trial.user, words) for trial in trials for words in trial.said)
    return sum(min(times, 1 if FOR_EVER.search(words) else 2) for (_, words), times in said.items())


def figures_of(
    trials: Sequence[Trial], alone: Sequence[Trial], tried: dict[str, list[Trial]], least: int, count: int
) -> dict[str, Any]:
    """What was measured; `least` are the corrections that round 1 needs at least."""
    said = [sum(len(trial.said) for trial in some if trial.round == 0) for some in (trials, alone)]
    used, wrong = sum(trial.used for trial in trials), sum(len(trial.misplaced) for trial in trials)
    silent = [trial for some in tried.values() for trial in some]
    return {
        "with memory": summary(trials, count),
        "without": summary(alone, count),
        "round 1, with / without": round(said[0] / max(1, said[1]), 3),
        "round 1, least possible": round(least / max(1, said[1]), 3),
        "lessons used": {"of": used, "misplaced": round(wrong / max(1, used), 3)},
        "controls": {
            **{name: _astray(some) for name, some in tried.items()},
            "all": _astray(silent),
            "of": len(silent),
        },
        "misplaced": dict(Counter(words for trial in (*trials, *silent) for words in trial.misplaced)),
    }


def _astray(trials: Sequence[Trial]) -> float:
    """The share of commands in which a lesson was used where it does not belong."""
    return round(sum(bool(trial.misplaced) for trial in trials) / max(1, len(trials)), 3)


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Run and print; returns the figures."""
    parser = report_parser(__doc__)
    parser.add_argument("--tasks", type=int, default=len(TASKS), help="only the first so many")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--show", action="store_true", help="print every command and what was said")
    args = parser.parse_args(arguments)
    figures = measured(TASKS[: args.tasks], args.rounds, args.seeds, args.show)
    print_report(figures, args.json)
    return figures


if __name__ == "__main__":
    main()
