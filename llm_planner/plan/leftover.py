"""What the journal says was left unfinished: the newest command that did not succeed, and what of it is still to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llm_planner.errors import InputError
from llm_planner.language.go_on_words import GO_ON, is_go_on
from llm_planner.language.stop_words import is_stop
from llm_planner.plan.journal import Record, RecordKind, Unfinished
from llm_planner.plan.manner import Manner
from llm_planner.plan.plan import Plan, PlanStep, StepStatus
from llm_planner.plan.plan_record import plan_from_record

_OVER = (StepStatus.FAILED, StepStatus.SKIPPED)  # when the plan was noted: another goes on in their place


class NothingLeftError(InputError):
    """There is nothing to go on with; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"there is nothing to go on with: {reason}")


@dataclass(frozen=True)
class Leftover:
    """The plan of the command `command_id`, whose steps are done or pending, and how it was to move."""

    command_id: str
    plan: Plan
    manner: Manner

    @property
    def done(self) -> tuple[PlanStep, ...]:
        """The steps that were done."""
        return tuple(step for step in self.plan.steps if step.status is StepStatus.DONE)

    @property
    def ahead(self) -> tuple[PlanStep, ...]:
        """The steps that were not, the one under way among them."""
        return tuple(step for step in self.plan.steps if step.status is StepStatus.PENDING)


@dataclass
class _Command:
    """What the records tell of one command."""

    said: str | None = None
    planned: str | None = None  # the words of the plan: those of the command that it goes on with
    plan: Mapping[str, Any] | None = None
    statuses: dict[str, str] = field(default_factory=dict)
    succeeded: bool = False
    answered: bool = False  # it has ended, and whoever said it was told how

    @property
    def words(self) -> str:
        return self.planned or self.said or ""


def left_over(records: Iterable[Record], before: str = "") -> Leftover:
    """What was left of the newest command, of those that came before the command of the id `before`.

    A stop is no command, and neither is what was refused or a "go on" that came to nothing. Raises NothingLeftError
    where the command has succeeded, was never begun, or left too little in the journal.
    """
    commands = _commands(records)
    given = list(commands)[: list(commands).index(before)] if before in commands else list(commands)
    newest = next((name for name in reversed(given) if _is_of_work(commands[name])), None)
    if newest is None:
        raise NothingLeftError("nobody has said a command yet")
    command = commands[newest]
    if command.succeeded:
        raise NothingLeftError(f"“{command.words}” is done; say what else is to be done")
    if command.plan is None:
        raise NothingLeftError(f"“{command.words}” was never begun; say it again")
    try:
        kept = plan_from_record(command.plan)
    except InputError as error:
        raise NothingLeftError(f"of “{command.words}” {error}; say it again") from error
    steps = tuple(_as_left(step, command) for step in kept.plan.steps if step.status not in _OVER)
    return Leftover(newest, replace(kept.plan, steps=steps), kept.manner)


def is_of_work(records: Sequence[Record]) -> bool:
    """Whether the command of these records is one that "go on" may be about: with it, no older one is needed."""
    return any(_is_of_work(command) for command in _commands(records).values())


def _commands(records: Iterable[Record]) -> dict[str, _Command]:
    """By their ids, in the order in which they were said; what was never said is none."""
    commands: dict[str, _Command] = {}
    order: dict[str, None] = {}
    for record in records:
        data, command = record.data, commands.setdefault(record.command_id, _Command())
        if record.kind is RecordKind.COMMAND:
            command.said = str(data.get("command", ""))
            order[record.command_id] = None
        elif record.kind is RecordKind.PLAN:
            command.plan, command.planned = data, str(data.get("command", ""))
        elif record.kind is RecordKind.EDIT:
            command.plan = data.get("plan", {})  # one that was not kept is not to be done as if nothing had been said
        elif record.kind is RecordKind.STEP:
            command.statuses[str(data.get("step_id", ""))] = str(data.get("status", ""))
        elif record.kind is RecordKind.OUTCOME:
            command.succeeded |= data.get("outcome") == "done" or data.get("code") in (0, "SUCCEEDED")
            command.answered |= "code" in data and not data.get("lost")
    return {name: commands[name] for name in order}


def _is_of_work(command: _Command) -> bool:
    """What was refused or only asked about has done nothing, and takes the place of nothing."""
    return not is_stop(command.words) and (
        command.plan is not None or not (is_go_on(command.words) or command.answered)
    )


def _as_left(step: PlanStep, command: _Command) -> PlanStep:
    """Done, or else still to do: what was under way has not come to its end."""
    done = command.statuses.get(step.id, step.status.value) == StepStatus.DONE.value
    return replace(step, status=StepStatus.DONE if done else StepStatus.PENDING, message="")


def is_left(command_id: str, records: Iterable[Record], before: str = "") -> bool:
    """Whether that command is the one that `left_over` would tell of."""
    try:
        return left_over(records, before).command_id == command_id
    except NothingLeftError:
        return False


def offer(left: Unfinished, records: Iterable[Record]) -> str:
    """What a person is told of a command that nobody is doing any more, and what they can say."""
    what = GO_ON if is_left(left.command_id, records) else "say it again"
    return f"left unfinished earlier: {left}; {what}"
