"""Writer of recordings: MCAP files of ROS 2 messages that stay readable when the process is killed.

A fault of the disk never raises: the writer gives the file up, says so in `trouble`, and tries a new file later.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from llm_planner.errors import InputError

PARTS = 4  # files that `most_bytes` is divided into
LEAST_FREE = 256 * 2**20  # bytes that stay free on the disk
RETRY = 10.0  # [s] before another file is tried
ABOUT = "llm_planner"  # name of the metadata record
MISSING = (
    "recordings need the packages mcap (1.6 or newer) and mcap-ros2-support, which are not installed: "
    "pip install 'llm_planner[record]'"
)


@dataclass(frozen=True)
class Topic:
    """Recorded topic.

    Attributes:
        name: Full name.
        type: ROS type, e.g. "std_msgs/msg/String".
        definition: Its definition and those of the types in it, as `ros2msg` of MCAP wants them.
        qos: Offered quality of service in YAML, as rosbag2 writes it.
        is_latched: Whether a later reader gets the newest message; each file then begins with it.
    """

    name: str
    type: str
    definition: str
    qos: str = ""
    is_latched: bool = False


@dataclass(frozen=True)
class Sample:
    """Serialised message (CDR) with the times of reception and publication [ns since the epoch]."""

    data: bytes
    received: int
    published: int
    publisher: bytes = b""


def check_installed() -> None:
    """Raise InputError, which says what to install, where recordings cannot be written or read."""
    try:
        import mcap_ros2.decoder  # noqa: F401
        from mcap.writer import Writer
    except ImportError as error:
        raise InputError(MISSING) from error
    if not hasattr(Writer, "flush"):
        raise InputError(MISSING)


class MessageFile:
    """MCAP file of ROS 2 messages, written to `stream`; its metadata are what a reader should know of the run."""

    def __init__(self, stream: BinaryIO, about: Mapping[str, str]) -> None:
        from mcap.writer import CompressionType, Writer

        self._writer = Writer(stream, compression=CompressionType.ZSTD)
        self._writer.start(profile="ros2", library="llm_planner")
        self._writer.add_metadata(ABOUT, dict(about))
        self._channels: dict[str, int] = {}

    def add(self, topic: Topic, sample: Sample) -> None:
        if topic.name not in self._channels:
            schema = self._writer.register_schema(topic.type, "ros2msg", topic.definition.encode())
            qos = {"offered_qos_profiles": topic.qos} if topic.qos else {}
            self._channels[topic.name] = self._writer.register_channel(topic.name, "cdr", schema, qos)
        self._writer.add_message(self._channels[topic.name], sample.received, sample.data, sample.published)

    def flush(self) -> None:
        """Close the chunk of messages, so that a killed process leaves it readable."""
        self._writer.flush()

    def finish(self) -> None:
        """Write the end and the index."""
        self._writer.finish()


class RunWriter:
    """Writes one run to `path`; a long run goes on in `<path>_2.mcap` and so on.

    Args:
        path: First file; an existing one is kept, and the run begins with the next part.
        most_bytes: Size of the newest parts that are kept.
        about: What a reader should know of the run; stands in the metadata of each file.
        shared: Whether older recordings in the folder count, and go first.
        free: Free bytes of the disk of a folder.
        clock: Time for retries [s].
    """

    def __init__(
        self,
        path: Path,
        most_bytes: int,
        about: Mapping[str, str],
        shared: bool = False,
        free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_installed()
        self.path = path  # of the newest part
        self.trouble = ""  # why nothing is written now; "" if all is well
        self.lost = 0  # messages that could not be written
        self._first, self._most, self._about, self._shared = path, most_bytes, about, shared
        self._free, self._clock = free, clock
        self._retry = float("-inf")
        self._stream: BinaryIO | None = None
        self._file: MessageFile | None = None
        self._latched: dict[tuple[str, bytes], tuple[Topic, Sample]] = {}

    def write(self, topic: Topic, sample: Sample) -> None:
        """Add a message; it is on the disk after the next `flush`."""
        if self._stream is None and self._clock() >= self._retry:
            with self._guarded():
                self._open(sample.received)
        if topic.is_latched:
            self._latched[topic.name, sample.publisher] = topic, sample
        if self._file is not None:
            with self._guarded():
                self._file.add(topic, sample)
                return
        self.lost += 1

    def flush(self) -> None:
        """Close the chunk of messages, so that a killed process leaves it readable; begin a new part if it is time."""
        if self._stream is None or self._file is None:
            return
        with self._guarded():
            self._file.flush()
            self._check_space()
            if self._stream.tell() > self._most // PARTS:
                self._finish()

    def close(self) -> None:
        """Write the index and close the file."""
        if self._stream is not None:
            with self._guarded():
                self._finish()

    def _check_space(self) -> None:
        if self._free(self._first.parent) < LEAST_FREE:
            raise OSError(f"less than {LEAST_FREE // 2**20} MiB are free, which are left to the robot")

    def _open(self, began: int) -> None:
        """Begin a part with the latched messages, received at `began` [ns] so that a player does not wait before it."""
        self._first.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check_space()
        first, number = self._first, max(map(_number, parts_of(self._first)), default=0) + 1
        self.path = first if number == 1 else first.with_name(f"{first.stem}_{number}{first.suffix}")
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._stream = os.fdopen(descriptor, "wb")
        fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held until this process ends: see `is_written`
        self._file = MessageFile(self._stream, self._about)
        for topic, sample in self._latched.values():
            self._file.add(topic, replace(sample, received=began))
        self._file.flush()
        self.trouble = ""
        self._drop_old()

    def _finish(self) -> None:
        assert self._file is not None
        assert self._stream is not None
        self._file.finish()
        self._stream.close()
        self._stream = self._file = None

    def _drop_old(self) -> None:
        """Delete the oldest recordings beyond `most_bytes`, one part of it kept for the new file."""
        shared = sorted(self._first.parent.glob("*.mcap"), key=lambda path: path.stat().st_mtime)
        parts = shared if self._shared else parts_of(self._first)
        room = self._most - self._most // PARTS - sum(part.stat().st_size for part in parts)
        for part in parts:
            if room < 0 and part != self.path:
                room += part.stat().st_size
                part.unlink()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Give the file up after a fault of the disk."""
        try:
            yield
        except OSError as error:
            self.trouble = f"{self.path} cannot be written ({error.strerror or error}); nothing is recorded"
            self._retry = self._clock() + RETRY
            stream, self._stream, self._file = self._stream, None, None
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def is_written(part: Path) -> bool:
    """Return whether a recorder writes this file now."""
    with part.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def first_part(part: Path) -> Path:
    """Return the path of the first part of the run that `part` belongs to; it may have been dropped."""
    stem, _, number = part.stem.rpartition("_")
    return part.with_name(stem + part.suffix) if stem and number.isdecimal() else part


def parts_of(path: Path) -> list[Path]:
    """Return the existing parts of the run that begins with `path`, in order; old ones may have been dropped."""
    found = {path, *path.parent.glob(f"{path.stem}_*{path.suffix}")}
    return sorted((part for part in found if part.exists() and first_part(part) == path), key=_number)


def _number(part: Path) -> int:
    return 1 if first_part(part) == part else int(part.stem.rpartition("_")[2])
