"""Journal that never blocks a node: records wait in memory while the disk is full, slow, locked or broken.

A separate thread writes and reads the file. `append` waits until the record is on the disk, but no longer than `WAIT`
at once and `WAIT_SHARE` of the time in the long run. After that, and while nothing can be written, records are held in
memory and written in order as soon as possible.
"""

from __future__ import annotations

import concurrent.futures
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from llm_planner.database import PATIENCE
from llm_planner.errors import InputError
from llm_planner.execution.journal import JournalFile, Record, RecordKind, Unfinished, as_text

WAIT = 0.15  # [s] longest wait of an append
WAIT_SHARE = 0.2  # fraction of the time that appends may wait in the long run
READ_WAIT = 0.25  # [s] longest wait of a read; with `WAIT` below the 0.5 s in which a stop must be answered
OPENING = PATIENCE + 1.0  # [s] longest wait of a starting node for the journal
RETRY = 1.0  # [s] between attempts to write
CLOSING = 2.0  # [s] to write the last records when a node ends
MOST_HELD = 5_000  # records in memory; above that the oldest finished commands are dropped
SLOW = 1.0  # [s] of waiting records before a person hears that the disk is slow
_PATIENCE = 0.5  # [s] wait of the thread for another process's transaction
_BATCH = 200  # records per transaction
_MOST_REPORTED = 20  # unreadable records that are reported one by one

T = TypeVar("T")


class JournalError(InputError):
    """Error of a journal that cannot report what was done last."""


class Journal:
    """Journal for one thread of a node; `append` never raises disk faults.

    Args:
        path: Path of the file, which is created with its folder if it does not exist.
        open_file: Opens the file.
        clock: Monotonic clock [s].
        retry: Time between attempts to write [s].
    """

    def __init__(
        self,
        path: Path,
        open_file: Callable[[Path], JournalFile] = lambda path: JournalFile(path, patience=_PATIENCE),
        clock: Callable[[], float] = time.monotonic,
        retry: float = RETRY,
    ) -> None:
        self.path = path
        self._open_file, self._clock, self._retry = open_file, clock, retry
        self._file: JournalFile | None = None
        self._held: deque[Record] = deque()
        self._reads: deque[tuple[Callable[[JournalFile], object], concurrent.futures.Future[object]]] = deque()
        self._changed = threading.Condition()
        self._appended = self._dealt_with = 0  # numbers of records since the start
        self._fault, self._said, self._is_told, self._is_closing = "", "", False, False
        self._behind_since: float | None = None  # when a node had to continue without its record on the disk
        self._lost = 0
        self._credit, self._credited = WAIT, clock()
        self._lines: list[str] = []
        self._reported: set[int] = set()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def append(self, *records: Record) -> None:
        """Write the records, and wait a bounded time until they are on the disk."""
        for record in records:
            as_text(record)  # raises for data that is not JSON: a fault of the caller, not of the disk
        with self._changed:
            self._held.extend(records)
            self._appended += len(records)
            self._shed()
            number = self._appended
            self._changed.notify_all()
            begun = self._clock()
            self._credit = min(WAIT, self._credit + WAIT_SHARE * (begun - self._credited))
            self._credited = begun
            self._changed.wait_for(lambda: self._fault or self._dealt_with >= number, max(0.0, self._credit))
            self._credit -= self._clock() - begun
            if self._dealt_with < number and self._behind_since is None:
                self._behind_since = begun

    @property
    def trouble(self) -> str:
        """Why records are kept in memory only, for a person; "" while they are on the disk."""
        with self._changed:
            return self._trouble()

    def notice(self) -> str:
        """Return the trouble once after it begins, "" otherwise."""
        with self._changed:
            trouble = "" if self._is_told else self._trouble()
            self._is_told |= bool(trouble)
        return trouble

    def news(self) -> list[str]:
        """Return log lines since the last call: trouble that began or ended, and unreadable records."""
        with self._changed:
            lines, self._lines = self._lines, []
            before, self._said = self._said, self._trouble()
            if self._said != before:
                over = f"the journal {self.path} is written again, with what was held in memory"
                lines.insert(0, self._said or over)
        return lines

    def unfinished(self) -> tuple[Unfinished, ...]:
        """Return the unfinished commands for a starting node; raise JournalError if the journal does not answer."""
        return self._read(lambda file: file.unfinished(), OPENING)

    def tail(
        self, enough: Callable[[Sequence[Record]], bool], before: str = "", seconds: float = READ_WAIT
    ) -> tuple[Record, ...]:
        """Read as `JournalFile.tail`; raise JournalError if that takes too long or records are still in memory."""

        def read(file: JournalFile) -> tuple[Record, ...]:
            with self._changed:
                if self._held:
                    raise JournalError(self._untold(self._trouble()))
            return file.tail(enough, before)

        return self._read(read, seconds)

    def close(self) -> int:
        """Close the file after a last bounded write, and return the number of records that were not written."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join(CLOSING)
        with self._changed:
            return len(self._held)

    # The node's side

    def _read(self, work: Callable[[JournalFile], T], seconds: float) -> T:
        answer: concurrent.futures.Future[T] = concurrent.futures.Future()
        with self._changed:
            if self._is_closing:
                raise JournalError("the journal is closed")
            self._reads.append((work, answer))  # type: ignore[arg-type]
            self._changed.notify_all()
        try:
            return answer.result(seconds)
        except concurrent.futures.TimeoutError:
            raise JournalError(self._untold(self.trouble or f"the disk of {self.path} does not answer")) from None

    def _untold(self, trouble: str) -> str:
        return f"what was done last is not known ({trouble}); say the command again"

    def _trouble(self) -> str:
        since = self._behind_since
        is_slow = since is not None and self._clock() - since > SLOW
        if not self._fault and not is_slow:
            return ""
        why = self._fault or f"the disk of the journal {self.path} is slow"
        lost = f", and the oldest {self._lost} records are lost" if self._lost else ""
        return f"{why}. Until then what is said and done is kept in memory only{lost}"

    def _shed(self) -> None:
        """Drop the oldest finished commands, or the oldest records if none is finished, above `MOST_HELD`."""
        while len(self._held) > MOST_HELD:
            name = next((one.command_id for one in self._held if one.kind is RecordKind.OUTCOME), None)
            kept = deque(one for one in self._held if one.command_id != name) if name else deque(self._held)
            if name is None:
                kept.popleft()
            gone = len(self._held) - len(kept)
            self._held, self._lost = kept, self._lost + gone
            self._dealt_with += gone

    # The thread's side

    def _work(self) -> None:
        more, is_over = True, False
        while not is_over:
            with self._changed:
                pause = self._retry if self._fault else 0.0 if more else None
                self._changed.wait_for(
                    lambda: self._is_closing or self._reads or (self._held and not self._fault), pause
                )
                batch, is_over = list(islice(self._held, _BATCH)), self._is_closing
                asked = len(self._reads)  # later requests may find the file in another state
            written = self._write(batch)
            with self._changed:
                is_up_to_date = not (written and self._held)
                reads = [self._reads.popleft() for _ in range(asked if is_up_to_date else 0)]
            for work, answer in reads:
                self._answer(work, answer)
            is_over = is_over and (not written or not self._held)
            more = written and not self._held and not is_over and self._compacted(more or bool(batch))
        if self._file is not None:
            self._file.close()

    def _write(self, batch: list[Record]) -> bool:
        """Write the batch and return whether the file is well."""
        try:
            if self._file is not None and not self._file.is_in_place():
                self._file.close()
                self._file = None
            if self._file is None:
                self._file = self._open_file(self.path)
            if batch:
                self._file.append(*batch)
        except Exception as error:  # the thread must survive any error and retry
            told = f"the journal {self.path} cannot be written: {type(error).__name__}: {error}"
            with self._changed:
                self._fault = str(error) if isinstance(error, InputError) else told
                self._changed.notify_all()
            return False
        with self._changed:
            for record in batch:  # unless it was dropped meanwhile
                if self._held and self._held[0] is record:
                    self._held.popleft()
                    self._dealt_with += 1
            self._fault = ""
            if not self._held:
                self._behind_since, self._is_told, self._lost = None, False, 0
            self._changed.notify_all()
        return True

    def _answer(self, work: Callable[[JournalFile], object], answer: concurrent.futures.Future[object]) -> None:
        try:
            if self._file is None:
                raise JournalError(self._untold(self.trouble))
            answer.set_result(work(self._file))
        except InputError as error:
            answer.set_exception(error if isinstance(error, JournalError) else JournalError(self._untold(str(error))))
        except Exception as error:  # the thread must survive any error of a reader
            answer.set_exception(JournalError(self._untold(f"{type(error).__name__}: {error}")))
        self._report()

    def _report(self) -> None:
        """Report each unreadable record once."""
        unreadable = self._file.unreadable if self._file else {}
        fresh = {number: reason for number, reason in unreadable.items() if number not in self._reported}
        with self._changed:
            self._lines += [
                f"record {number} of the journal {self.path} cannot be read and is left out: {reason}"
                for number, reason in islice(fresh.items(), _MOST_REPORTED)
            ]
            if len(fresh) > _MOST_REPORTED:
                self._lines.append(f"{len(fresh) - _MOST_REPORTED} more records of {self.path} cannot be read")
        self._reported |= fresh.keys()

    def _compacted(self, wanted: bool) -> bool:
        """Drop a portion of old records and return whether more remain; a failure loses nothing and is ignored."""
        try:
            return wanted and self._file is not None and self._file.compact()
        except InputError:
            return False
