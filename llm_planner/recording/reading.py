"""Reader of recordings, also of those that a killed process or a full disk cut off."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError
from llm_planner.recording.writing import (
    ABOUT,
    MessageFile,
    Sample,
    Topic,
    check_installed,
    first_part,
    is_written,
    parts_of,
)

SUFFIX = ".mcap"
RECORDING = "recording.mcap"  # in the folder of a demo
NANO = 1e-9  # [s/ns]


@dataclass(frozen=True)
class Heard:
    """Recorded message of a topic; `read` returns it with the fields of its type."""

    topic: Topic
    sample: Sample
    read: Callable[[bytes], Any]

    @property
    def message(self) -> Any:
        """Message with the fields of its type, read at each access."""
        return self.read(self.sample.data)

    @property
    def time(self) -> float:
        """Time of reception [s since the epoch]."""
        return self.sample.received * NANO


class Recording:
    """Run that begins in the file `path` and may have further parts.

    Raises:
        InputError: There is no such file, or the packages that read it are missing.
    """

    def __init__(self, path: Path) -> None:
        check_installed()
        self.path = path
        self._described: dict[Path, list[Any]] = {}  # schemas and channels of each part
        self.parts = tuple(parts_of(path) or [path][: path.is_file()])  # of a later part: itself
        if not self.parts:
            raise InputError(f"there is no recording {path}; `llm-planner runs` lists those that there are")

    @property
    def name(self) -> str:
        """Short name: of the file, or of the folder that a demo made for it."""
        return self.path.parent.name if self.path.name == RECORDING else self.path.stem

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(part.stat().st_size for part in self.parts)

    @cached_property
    def about(self) -> dict[str, str]:
        """What the recorder noted of the run: version, journal (relative to the file), beginning."""
        from mcap.records import Metadata

        for record in _records(self.parts[0]):
            if isinstance(record, Metadata) and record.name == ABOUT:
                return dict(record.metadata)
        return {}

    @property
    def journal(self) -> Path | None:
        """Journal of the nodes at the time; None where the recording names none, or it is gone."""
        named = self.about.get("journal")
        path = self.path.parent / named if named else None
        return path if path is not None and path.is_file() else None

    def messages(self, names: Iterable[str] | None = None, since: float = 0.0) -> Iterator[Heard]:
        """Yield the messages in the order of their reception; a further part begins with the latched ones again.

        Args:
            names: Last parts of the topics' names, e.g. "plan"; None for all.
            since: Time of the first one [s since the epoch]. What comes before is skipped fast once all was read.
        """
        wanted = None if names is None else frozenset(names)
        for part in self.parts:
            yield from self._of_part(part, wanted, round(since / NANO))

    def _of_part(self, part: Path, names: frozenset[str] | None, since: int) -> Iterator[Heard]:
        from mcap.records import Channel, Message, Schema
        from mcap_ros2.decoder import DecoderFactory

        decoders = DecoderFactory()

        def decoded(schema: Schema, data: bytes) -> Any:
            return decoders.decoder_for("cdr", schema)(data)

        schemas: dict[int, Schema] = {}
        topics: dict[int, tuple[Topic, Callable[[bytes], Any]]] = {}
        described: list[Schema | Channel] = []
        known = self._described.get(part)  # None before the part was read in whole
        for record in _records(part) if known is None else chain(known, _records(part, since)):
            if isinstance(record, Schema | Channel):
                described.append(record)
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel) and record.id not in topics:
                schema = schemas[record.schema_id]
                qos = record.metadata.get("offered_qos_profiles", "")
                topic = Topic(record.topic, schema.name, schema.data.decode(), qos, "transient_local" in qos)
                if names is None or topic.name.rpartition("/")[2] in names:
                    topics[record.id] = topic, partial(decoded, schema)
            elif isinstance(record, Message) and record.channel_id in topics and record.log_time >= since:
                topic, read = topics[record.channel_id]
                yield Heard(topic, Sample(record.data, record.log_time, record.publish_time), read)
        self._described.setdefault(part, described)

    @property
    def is_written(self) -> bool:
        """Whether a recorder writes it now."""
        return is_written(self.parts[-1])

    @property
    def is_whole(self) -> bool:
        """Whether every part was closed in order; other tools may refuse a part that was not."""
        return all(_has_end(part) for part in self.parts)

    def recover(self) -> list[Path]:
        """Write parts that were cut off anew, with end and index, and return them; the cut ones are kept as `.cut`.

        A part that a recorder still writes is left alone.
        """
        mended = []
        for part in self.parts:
            if _has_end(part) or is_written(part):
                continue
            whole = part.with_name(f".{part.name}.recovered")
            with whole.open("wb") as stream:
                file = MessageFile(stream, Recording(part).about)
                for heard in Recording(part).messages():
                    file.add(heard.topic, heard.sample)
                file.finish()
            part.rename(part.with_name(f"{part.name}.cut"))
            mended.append(whole.rename(part))
        return mended


def find_recording(run: str, folders: Iterable[Path]) -> Recording:
    """Return the recording that a person names: a file, the folder of a demo, a name, or "" for the newest.

    Raises:
        InputError: There is none; the message names those that there are.
    """
    path = Path(run).expanduser()
    if run and path.is_file():
        return Recording(path)
    if run and (path / RECORDING).is_file():
        return Recording(path / RECORDING)
    known = recordings(folders)
    named = [one for one in known if run in ("", one.name)]
    if named:
        return named[-1]
    names = ", ".join(one.name for one in known[-5:])
    raise InputError(
        f"there is no recording {run or 'yet'}; " + (f"the newest are: {names}" if names else "run: llm-planner demo")
    )


def recordings(folders: Iterable[Path]) -> list[Recording]:
    """Return the recordings in these folders and in the demos' folders below them, oldest first."""
    files = (file for folder in folders for file in (*folder.glob(f"*{SUFFIX}"), *folder.glob(f"*/{RECORDING}")))
    found = [Recording(file) for file in {first_part(file) for file in files}]
    return sorted(found, key=lambda one: one.parts[-1].stat().st_mtime)


def _records(part: Path, since: int = 0) -> Iterator[Any]:
    """Yield the records of a file up to its end, or up to where it is cut off, without chunks before `since` [ns]."""
    from mcap.exceptions import McapError
    from mcap.records import Chunk, DataEnd
    from mcap.stream_reader import StreamReader, breakup_chunk

    faults: tuple[type[Exception], ...] = (McapError, EOFError, ValueError, struct.error)
    try:
        import zstandard

        faults = (*faults, zstandard.ZstdError)
    except ImportError:
        pass
    with part.open("rb") as stream:
        try:
            for record in StreamReader(stream, emit_chunks=True).records:
                if isinstance(record, DataEnd):
                    return
                if not isinstance(record, Chunk):
                    yield record
                elif record.message_end_time >= since:
                    yield from breakup_chunk(record)
        except faults:
            return


def _has_end(part: Path) -> bool:
    from mcap.writer import MCAP0_MAGIC

    with part.open("rb") as stream:
        stream.seek(max(part.stat().st_size - len(MCAP0_MAGIC), 0))
        return part.stat().st_size > len(MCAP0_MAGIC) and stream.read() == MCAP0_MAGIC
