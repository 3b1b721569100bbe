"""Whether somebody still stands behind a plan: a robot must not go on for a command that is over or forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

REMEMBERED = 32  # commands; those heard of longest ago are forgotten first


@dataclass(frozen=True)
class Heard:
    """The last that was heard of a command, at `time` [s], and whether it had ended by then."""

    time: float
    ended: bool


@dataclass(frozen=True)
class Commander:
    """What is heard of commands. Whoever gives them speaks of each at least once a second until it has ended.

    A command that was never spoken of is nobody's to give up: its plan was sent by other means.
    """

    patience: float  # [s] of silence after which a command counts as forgotten
    commands: Mapping[str, Heard] = field(default_factory=dict)

    def heard(self, command_id: str, time: float, ended: bool) -> Commander:
        """The same after a word about that command. One that has ended does not begin again."""
        others = {name: heard for name, heard in self.commands.items() if name != command_id}
        before = self.commands.get(command_id)
        kept = dict(list(others.items())[-(REMEMBERED - 1) :])
        return replace(self, commands={**kept, command_id: Heard(time, ended or (before is not None and before.ended))})

    def why_stop(self, command_id: str, time: float) -> str:
        """Why the plan of that command must not go on at `time` [s], for a person; "" where it may."""
        heard = self.commands.get(command_id)
        if heard is None:
            return ""
        if heard.ended:
            return "its command is over"
        if time - heard.time > self.patience:
            return "the language planner fell silent"
        return ""
