"""What a run with a kill has to show: pure, from what was heard and what is on the disk to violations in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from llm_planner.corrections.edits import Answer, Edit, Level, Outcome, Undo
from llm_planner.corrections.preferences.preference import Preference, State, gist
from llm_planner.execution.journal import Record, RecordKind
from llm_planner.language.stop_words import GO_ON

REST = 0.01  # of a joint's limit: what counts as held
AT_REST_WITHIN = 5.0  # [s, wall time] after the kill
_OF_THE_PLAN = (Level.MOTION, Level.PARAMETER, Level.STEP, Level.RULE)
_PROMISES = ("I will remember: ", "I will always do so: ")


@dataclass(frozen=True)
class Motion:
    """The fastest joint's speed, as a share of its limit, at a wall time [s]."""

    wall: float
    share: float


def moving_after(motions: Iterable[Motion], since: float) -> str:
    """How fast the arm was after `since` [s] at most, where it should have been at rest; "" where it was."""
    fast = [one for one in motions if one.wall >= since and one.share >= REST]
    if not fast:
        return ""
    most = max(one.share for one in fast)
    return f"the arm moved at {100 * most:.0f} % of the limit, {fast[0].wall - since:.1f} s after it had to rest"


def rested_after(motions: Sequence[Motion], killed: float) -> float:
    """Seconds from the kill until the arm moved no more."""
    return max((one.wall - killed for one in motions if one.wall >= killed and one.share >= REST), default=0.0)


def not_offered(unfinished: bool, offer: str) -> list[str]:
    """A plan that was under way when everything died, and of which the new executor says not how to go on with it."""
    if not unfinished or GO_ON in offer:
        return []
    return [f"the unfinished plan is not offered: the executor says “{offer}”"]


def lost_commands(accepted: Iterable[str], records: Iterable[Record]) -> list[str]:
    """Commands that were taken and are not in the journal."""
    kept = Counter(str(one.data.get("command")) for one in records if one.kind is RecordKind.COMMAND)
    return [f"the command “{words}” is not in the journal" for words in (Counter(accepted) - kept).elements()]


def lost_edits(said: Iterable[tuple[str, Answer]], records: Iterable[Record]) -> list[str]:
    """Corrections that were said to be in force, and are not in the journal."""
    kept = Counter(str(one.data.get("words")) for one in records if one.kind is RecordKind.EDIT)
    applied = Counter(words for words, answer in said if words and is_edit_of_plan(answer))
    return [f"the edit “{words}” is not in the journal" for words in (applied - kept).elements()]


def is_edit_of_plan(answer: Answer) -> bool:
    """Whether it tells that the plan was changed."""
    return answer.outcome is Outcome.APPLIED and answer.edit is not None and any(map(_is_of_plan, _operations(answer)))


def _operations(answer: Answer) -> Sequence[object]:
    return answer.edit.operations if isinstance(answer.edit, Edit) else ()


def _is_of_plan(operation: object) -> bool:
    return isinstance(operation, Undo) or getattr(operation, "level", None) in _OF_THE_PLAN


def lost_lessons(said: Iterable[tuple[str, Answer]], lessons: Iterable[Preference]) -> list[str]:
    """What was said to be remembered, and is not in the memory. Of the same words said again the newer lesson counts:
    it is what both amount to."""
    learned = {gist(lesson) for lesson in lessons if lesson.state is State.LEARNED}
    promised: dict[str, str] = {}  # by the words that it was promised for, in their order
    for words, answer in said:
        for line in answer.message.split("; ") if answer.outcome is Outcome.APPLIED else ():
            for start in filter(line.startswith, _PROMISES):
                promised.pop(words or line, None)
                promised[words or line] = line.removeprefix(start)
        if answer.outcome is Outcome.APPLIED and promised and any(isinstance(one, Undo) for one in _operations(answer)):
            promised.popitem()  # with the edit, what it taught is taken back
    return [f"the lesson “{one}” is not in the memory" for one in promised.values() if one not in learned]
