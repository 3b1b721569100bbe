"""Newest state of everything that the page shows; each viewer takes what has changed since it looked last."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping
from typing import Any

MOST_SAID = 80  # exchanges kept for a viewer that comes later
JUST = 10_000_000_000  # [ns] between a correction and the command that it becomes
MOST_SAMPLES = 240  # of a margin over a run


class Board:
    """Values by name as JSON, written by one thread and read by many."""

    def __init__(self) -> None:
        self._version = 0
        self._entries: dict[str, tuple[int, str]] = {}
        self._changed = threading.Condition()
        self._closed = False

    def put(self, name: str, value: object) -> None:
        """Replace a value; an equal one wakes nobody. Numbers that JSON lacks become null."""
        text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))
        with self._changed:
            if name in self._entries and self._entries[name][1] == text:
                return
            self._version += 1
            self._entries[name] = (self._version, text)
            self._changed.notify_all()

    def since(self, version: int, timeout: float) -> tuple[int, str]:
        """Wait for a change after `version` for at most `timeout` [s]; return the new version and one JSON object.

        The object has the values that changed, by name; "{}" if there are none. A viewer begins with version 0.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._version > version or self._closed, timeout)
            fresh = (f"{json.dumps(name)}:{text}" for name, (at, text) in self._entries.items() if at > version)
            return self._version, f"{{{','.join(fresh)}}}"

    @property
    def is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Let every viewer end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def _finite(value: Any) -> Any:
    """Replace numbers that JSON lacks by None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return value


class Talk:
    """What was said, by the person and by the robot, oldest first; `at` is when what comes next was said [ns].

    Words and answers are on several topics, which may be heard in another order than they were sent. A correction that
    becomes a command is heard twice; the command's exchange has a key.
    """

    def __init__(self) -> None:
        self._said: list[dict[str, Any]] = []
        self._count = self.at = 0

    @property
    def lines(self) -> list[dict[str, Any]]:
        return list(self._said)

    def add(self, who: str, text: str, **more: object) -> None:
        """Add an exchange: `who` is "person" or "robot"; `more` is what the page shows with it."""
        if who == "person" and (said := self._just_said(text)) and ("key" in said) != ("key" in more):
            said.update(more)
            return
        self._count += 1
        place = len(self._said)
        while place and self._said[place - 1]["at"] > self.at:
            place -= 1
        self._said.insert(place, {"id": self._count, "at": self.at, "who": who, "text": text, **more})
        del self._said[:-MOST_SAID]

    def _just_said(self, text: str) -> dict[str, Any] | None:
        """Return the person's newest exchange with this text, if it is as recent as `JUST`."""
        lines = (line for line in reversed(self._said) if line["who"] == "person" and line["text"] == text)
        said = next(lines, None)
        return said if said and abs(self.at - said["at"]) < JUST else None

    def forget(self, before: int) -> None:
        """Forget what was said before a time [ns]."""
        self._said = [line for line in self._said if line["at"] >= before]

    def text_of(self, key: str) -> str:
        """Return the text of the exchange with this `key`, "" without one."""
        return next((str(line["text"]) for line in self._said if line.get("key") == key), "")

    def update(self, key: str, who: str, text: str, **more: object) -> None:
        """Replace the exchange with this `key`, or add it."""
        for line in self._said:
            if line.get("key") == key:
                line.update(text=text, **more)
                return
        self.add(who, text, key=key, **more)


class Series:
    """Samples over a whole run; when there are too many, every second one goes, and later ones come half as often."""

    def __init__(self, period: float) -> None:
        """Begin a run with a sample every `period` [s] at most."""
        self._period = period
        self.times: list[float] = []
        self.values: list[list[float]] = []

    def add(self, time: float, values: list[float]) -> bool:
        """Add the `values` at `time` [s]; return whether they were taken."""
        if self.times and time - self.times[-1] < self._period:
            return False
        self.times.append(time)
        self.values.append(values)
        if len(self.times) > MOST_SAMPLES:
            self.times, self.values, self._period = self.times[::2], self.values[::2], 2 * self._period
        return True
