"""How often a person has to correct a robot that remembers corrections, against the same robot that does not.

The protocol of DROC (Zha et al., arXiv:2311.10678): eight tasks, each in three rounds, every round in other scenes. Two
scripted people with wishes of their own watch the simulation and say what is not as they want it, in words that are
read as anybody's; they share one robot and its memory. Each person's first corrections cannot be spared, nor the second
of what is not said to be for always, so beside the share of round 1 stands the least that it could be.

Afterwards other kinds of things, other people and other places are tried: nothing that was learned belongs there.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from memory_tasks import OTHER_KINDS, OTHER_PLACES, TASKS, Setting, Task, setting
from memory_wishes import PEOPLE, Person, Wish
from reports import print_report, report_parser

from llm_planner.corrections.edits import AddRule, Edit
from llm_planner.corrections.in_process import InProcessDialogue
from llm_planner.corrections.preferences.learning import Changes
from llm_planner.corrections.preferences.memory import Memory, PreferenceStore
from llm_planner.corrections.preferences.preference import Occasion
from llm_planner.corrections.preferences.retrieval import Use
from llm_planner.corrections.reading import CorrectionReader
from llm_planner.corrections.situation import Situation
from llm_planner.execution.execution_state import Execution
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planned import Planned
from llm_planner.planning.planning import plan_program
from llm_planner.planning.report import Report
from llm_planner.plans.plan import Outcome, Plan
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import SkillLibrary, load_skills

NOON = 1_793_701_800.0  # [s since the epoch] of the first command
_TAKING = ("pick", "pick_up")


@dataclass(frozen=True)
class Trial:
    """What became of one command: what was said, how many questions were answered, whether the scene is as wished in
    the end, which lessons were used and which of them do not belong there."""

    user: str
    task: str
    said: tuple[str, ...]
    answers: int
    succeeded: bool
    used: int
    misplaced: tuple[str, ...]
    message: str
    round: int = 0


class Forgetful(Memory):
    """Keeps nothing, so that it has nothing to recall."""

    def taught(self, edit: Edit, situation: Situation, occasion: Occasion, used: Collection[int] = ()) -> Changes:
        return Changes()


@dataclass
class Talk:
    """What a person and the robot say to each other during a command; each question is answered with a yes."""

    dialogue: InProcessDialogue
    person: Person
    answers: int = 0

    def steer(self, state: Execution) -> Execution:
        """One look at what goes on."""
        state, question = self.dialogue.look(state), self.dialogue.session.question
        if question is not None and question.options == ("yes", "no"):
            self.answers += 1
            self.dialogue.hear("yes", state)
        else:
            assert state.scene is not None
            words = self.person.sees(state.scene)
            if words:
                self.dialogue.hear(words, state)
        return self.dialogue.state


class Household:
    """One robot, with a memory in `folder` that keeps nothing where `remembers` is false."""

    def __init__(self, folder: Path, remembers: bool) -> None:
        self._path, self._memory = folder / "memory.sqlite", Memory if remembers else Forgetful
        self._library: SkillLibrary = load_skills(learned=False)
        self._commands = 0

    def run(self, where: Setting, user: str, wishes: tuple[Wish, ...], wording: int) -> Trial:
        """One command of one person, who puts wishes into the words of that number."""
        self._commands += 1
        store, states = PreferenceStore(self._path), list[Execution]()
        occasion = Occasion(NOON + 60 * self._commands, user, "today", f"c{self._commands}")
        talk = Talk(InProcessDialogue(CorrectionReader(), self._memory(store), occasion), Person(wishes, wording))
        workcell, plan = Workcell(where.open(), self._library), partial(self._plan, where)
        report = run_command(where.task.command, workcell, plan, on_change=states.append, steer=talk.steer)
        if states:
            talk.dialogue.end(states[-1])
        store.close()
        return _trial(talk, where, user, report, tuple(state.plan for state in (*states[:1], *states[-1:])))

    def _plan(self, where: Setting, scene: Scene) -> Planned:
        return plan_program(where.task.command, where.program, scene, self._library.for_scene(scene).signatures)


def _trial(talk: Talk, where: Setting, user: str, report: Report, plans: Sequence[Plan]) -> Trial:
    wishes, uses = talk.person.wishes, talk.dialogue.follower.uses
    wrong = tuple(_misplaced(uses, report.scene_before, plans, wishes))
    message = " / ".join((report.message, *talk.dialogue.told))
    said, succeeded = tuple(talk.person.said), _succeeded(report, wishes)
    return Trial(user, where.task.name, said, talk.answers, succeeded, len(uses), wrong, message)


def _succeeded(report: Report, wishes: Sequence[Wish]) -> bool:
    """Whether the scene shows what was commanded, as this person wants it."""
    first, after = report.scene_before, report.scene_after
    if report.outcome is not Outcome.DONE or first is None or after is None:
        return False
    about = [wish for wish in wishes if wish.robot in ("", after.robot_kind)]
    return all(wish.kept(first, after, item) for wish in about for item in after.objects if item.kind == wish.kind)


def _misplaced(
    uses: Sequence[Use], first: Scene | None, plans: Sequence[Plan], wishes: Sequence[Wish]
) -> Iterator[str]:
    """Lessons that were used for a step whose thing this person has no such wish of. Rules are everybody's."""
    kinds = {item.name: item.kind for item in first.objects} if first else {}
    for use in uses:
        kind = next((kinds[name] for plan in plans if (name := _thing(use.step, plan)) in kinds), "")
        for one in use.operations:
            if not isinstance(one, AddRule) and not any(wish.kind == kind and wish.asks(one) for wish in wishes):
                yield f"{use.lesson.words} ({kind or 'everything'})"
                break


def _thing(step_id: str, plan: Plan) -> str:
    """What is held during the step, or else what it names."""
    held = ""
    for step in plan.steps:
        named = next((value for value in step.arguments.values() if isinstance(value, str)), "")
        if step.id == step_id:
            return held or named
        held = named if step.skill in _TAKING else "" if step.skill.startswith(("place", "drop")) else held
    return ""


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
