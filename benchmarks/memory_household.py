"""One robot in a household: people command it, watch it and correct it, one command after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memory_person import Person, Wish
from memory_tasks import Setting

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
