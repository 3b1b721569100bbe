"""Recordings: readable whole and cut off, bounded in size, and silent about a disk that fails."""

from __future__ import annotations

import random
import shutil
import stat
from pathlib import Path

import pytest

pytest.importorskip("mcap_ros2")

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from llm_planner.errors import InputError
from llm_planner.recording.reading import Recording, find_recording, recordings
from llm_planner.recording.writing import LEAST_FREE, PARTS, RETRY, RunWriter, Sample, Topic

WORDS = Topic("/words", "std_msgs/msg/String", "string data")
LATCHED = Topic("/plan", "std_msgs/msg/String", "string data", "- durability: transient_local\n", is_latched=True)


def text(words: str, at: int) -> Sample:
    """A std_msgs/String as ROS 2 serialises it."""
    data = words.encode() + b"\0"
    return Sample(b"\x00\x01\x00\x00" + len(data).to_bytes(4, "little") + data, at, at)


def words_of(recording: Recording, *names: str) -> list[str]:
    return [heard.message.data for heard in recording.messages(names or None)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "recording.mcap"


@pytest.fixture
def writer(path):
    writer = RunWriter(path, 10**9, {"journal": "journal.sqlite"})
    yield writer
    writer.close()


def test_a_closed_file_is_an_indexed_mcap_file_of_ros_2_that_any_reader_decodes(writer, path):
    writer.write(WORDS, text("hello", 5))
    writer.close()
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == "ros2"
        assert reader.get_summary().statistics.message_count == 1
        ((schema, channel, message, decoded),) = reader.iter_decoded_messages()
    assert (schema.name, schema.encoding, channel.message_encoding) == ("std_msgs/msg/String", "ros2msg", "cdr")
    assert (channel.topic, decoded.data, message.log_time) == ("/words", "hello", 5)


def test_only_its_owner_may_read_what_people_said(writer, path):
    writer.write(WORDS, text("hello", 5))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_was_flushed_is_read_after_a_kill_and_recovered_for_other_tools(writer, path, tmp_path):
    writer.write(WORDS, text("kept", 1))
    writer.flush()
    writer.write(WORDS, text("lost", 2))  # never flushed
    assert Recording(path).is_written
    assert Recording(path).recover() == [], "it is still written"
    path = Path(shutil.copy(path, tmp_path / "killed.mcap"))
    recording = Recording(path)
    assert words_of(recording) == ["kept"]
    assert not recording.is_whole
    assert recording.recover() == [path]
    with path.open("rb") as stream:
        assert make_reader(stream).get_summary().statistics.message_count == 1
    assert Recording(path).is_whole
    assert Recording(path).about["journal"] == "journal.sqlite"


@pytest.mark.parametrize("missing", [1, 7, 40, 100])
def test_a_file_that_is_cut_anywhere_gives_what_was_before(writer, path, missing):
    for number in range(3):
        writer.write(WORDS, text(str(number), number))
        writer.flush()
    whole = path.read_bytes()
    path.write_bytes(whole[:-missing])
    assert words_of(Recording(path)) in (["0", "1"], ["0", "1", "2"])


@pytest.mark.parametrize("was_read", [False, True])
def test_reading_from_a_time_on_gives_the_same_once_the_whole_was_read(writer, path, was_read):
    for second in (1, 2, 3):
        writer.write(WORDS, text(str(second), second * 10**9))
        writer.flush()
    recording = Recording(path)
    if was_read:
        assert words_of(recording) == ["1", "2", "3"]
    assert [heard.message.data for heard in recording.messages(since=1.5)] == ["2", "3"]


def test_a_recording_is_never_overwritten(path):
    for words in ("first", "second"):
        writer = RunWriter(path, 10**9, {})
        writer.write(WORDS, text(words, 1))
        writer.close()
    assert words_of(Recording(path)) == ["first", "second"]
    assert [part.name for part in Recording(path).parts] == ["recording.mcap", "recording_2.mcap"]


def test_a_long_run_keeps_its_newest_parts_each_with_the_latched_messages(path):
    writer = RunWriter(path, 40_000, {})
    noise = random.Random(0)  # does not compress
    writer.write(LATCHED, text("the plan", 0))
    for number in range(200):
        writer.write(WORDS, text(f"{number} {noise.randbytes(500).hex()}", number))
        writer.flush()
    writer.close()
    parts = Recording(path).parts
    assert len(parts) > 1
    assert not path.exists()
    assert sum(part.stat().st_size for part in parts) <= 40_000 + 40_000 // PARTS
    assert all(words_of(Recording(part), "plan") == ["the plan"] for part in parts[-1:])
    plan, first = list(Recording(parts[-1]).messages())[:2]
    assert plan.sample.received == first.sample.received > plan.sample.published == 0, "a player does not wait"
    assert words_of(Recording(path), "words")[-1].startswith("199")


def test_a_full_disk_is_left_to_the_robot_and_recording_goes_on_once_there_is_room(path):
    free, now = [LEAST_FREE - 1], [0.0]
    writer = RunWriter(path, 10**9, {}, free=lambda folder: free[0], clock=lambda: now[0])
    writer.write(WORDS, text("lost", 1))
    assert "less than 256 MiB are free" in writer.trouble
    assert writer.lost == 1
    free[0] = LEAST_FREE
    writer.write(WORDS, text("lost too, as it is too early to try again", 2))
    now[0] += RETRY
    writer.write(WORDS, text("kept", 3))
    writer.close()
    assert writer.trouble == ""
    assert words_of(Recording(path)) == ["kept"]


def test_a_folder_that_cannot_be_made_is_told_of_and_nothing_raises(tmp_path):
    (tmp_path / "file").write_text("")
    writer = RunWriter(tmp_path / "file" / "recording.mcap", 10**9, {})
    writer.write(WORDS, text("lost", 1))
    writer.flush()
    writer.close()
    assert "cannot be written" in writer.trouble


def test_a_person_names_a_run_by_file_folder_or_name_or_means_the_newest(writer, path, tmp_path):
    writer.write(WORDS, text("hello", 5))
    writer.close()
    for run in (str(path), str(path.parent), "runs", ""):
        assert find_recording(run, [tmp_path]).path == path
    with pytest.raises(InputError, match="there is no recording yesterday; the newest are: runs"):
        find_recording("yesterday", [tmp_path])
    assert [one.name for one in recordings([tmp_path])] == ["runs"]
