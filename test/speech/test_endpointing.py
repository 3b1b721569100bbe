"""Utterances begin with a voice, end after a short silence, and are none when they are background."""

from __future__ import annotations

import numpy as np
import pytest

from llm_planner.speech.audio import RATE, read_wave, wave_bytes
from llm_planner.speech.listening import LONGEST, WINDOW, Endpointer, SileroDetector, model_file
from llm_planner.speech.recognisers import SpeechError


class LoudnessDetector:
    """Takes everything above a whisper for a voice."""

    def probability(self, window: np.ndarray) -> float:
        return float(np.abs(window).max() > 0.02)

    def reset(self) -> None:
        pass


def sound(*parts: tuple[float, float]) -> np.ndarray:
    """Pieces of noise: (seconds, amplitude)."""
    rng = np.random.default_rng(0)
    pieces = [amplitude * rng.uniform(-1, 1, round(seconds * RATE)) for seconds, amplitude in parts]
    return np.concatenate(pieces).astype(np.float32)


def utterances(samples: np.ndarray, longest: float = LONGEST, chunk: int = 700) -> list:
    endpointer = Endpointer(LoudnessDetector(), longest)
    return [
        utterance
        for place in range(0, len(samples), chunk)
        for utterance in endpointer.feed(samples[place : place + chunk])
    ]


def test_a_voice_between_silences_is_one_utterance_with_what_was_just_before_it():
    (found,) = utterances(sound((1.0, 0.001), (0.8, 0.3), (1.0, 0.001)))
    assert found.began == pytest.approx(1.0, abs=0.04)
    assert found.ended == pytest.approx(1.8, abs=0.04)
    assert len(found.samples) / RATE == pytest.approx(0.25 + 0.8 + 0.16, abs=0.1)


def test_a_pause_between_words_does_not_end_it_and_a_longer_one_does():
    words = ((0.5, 0.001), (0.4, 0.3))
    assert len(utterances(sound(*words, (0.2, 0.001), (0.4, 0.3), (1.0, 0.001)))) == 1
    assert len(utterances(sound(*words, (0.5, 0.001), (0.4, 0.3), (1.0, 0.001)))) == 2


def test_it_is_known_to_have_ended_a_third_of_a_second_after_its_last_sound():
    samples = sound((0.5, 0.001), (0.5, 0.3), (1.0, 0.001))
    endpointer = Endpointer(LoudnessDetector())
    known = next(place for place in range(0, len(samples), WINDOW) if endpointer.feed(samples[place : place + WINDOW]))
    assert (known + WINDOW) / RATE - 1.0 <= 0.4


def test_what_has_paused_is_what_ends_where_nothing_more_is_said():
    endpointer, paused = Endpointer(LoudnessDetector()), [None]
    samples = sound((0.5, 0.001), (0.4, 0.3), (0.2, 0.001), (0.4, 0.3), (1.0, 0.001))
    for place in range(0, len(samples), WINDOW):
        ended = endpointer.feed(samples[place : place + WINDOW])
        if endpointer.paused and endpointer.paused is not paused[-1]:
            paused.append(endpointer.paused)
        if ended:
            break
    _, first, second = paused
    assert ended[0] is second
    assert first.ended == pytest.approx(0.9, abs=0.04)
    assert endpointer.paused is None


def test_a_click_is_no_utterance():
    assert utterances(sound((0.5, 0.001), (0.1, 0.5), (1.0, 0.001))) == []


def test_who_never_pauses_is_cut_at_the_longest_and_then_is_background():
    found = utterances(sound((0.5, 0.001), (9.0, 0.3), (1.0, 0.001)), longest=2.0)
    assert len(found) == 1
    assert found[0].ended - found[0].began == pytest.approx(2.0, abs=0.4)


def test_a_voice_above_many_others_is_heard_from_its_begin_to_its_end():
    crowd, voice = 0.05, 0.4
    found = utterances(sound((3.0, crowd), (0.8, voice), (1.0, crowd)), longest=2.0)
    assert found[-1].began == pytest.approx(3.0, abs=0.1)
    assert found[-1].ended == pytest.approx(3.8, abs=0.15)


def test_what_the_sound_ends_in_the_middle_of_is_still_given():
    endpointer = Endpointer(LoudnessDetector())
    assert endpointer.feed(sound((0.5, 0.001), (0.5, 0.3))) == []
    (found,) = endpointer.flush()
    assert found.began == pytest.approx(0.5, abs=0.04)
    assert endpointer.flush() == []


def test_what_was_being_said_can_be_dropped_and_time_goes_on():
    endpointer = Endpointer(LoudnessDetector())
    endpointer.feed(sound((0.5, 0.001), (0.5, 0.3)))
    endpointer.drop()
    assert endpointer.speaking is None
    (found,) = endpointer.feed(sound((0.5, 0.001), (0.5, 0.3), (0.5, 0.001)))
    assert found.began == pytest.approx(1.5, abs=0.05)


def test_silero_tells_a_voice_from_noise(clips):
    detector = SileroDetector()

    def voiced(samples: np.ndarray) -> float:
        detector.reset()
        windows = samples[: len(samples) // WINDOW * WINDOW].reshape(-1, WINDOW)
        return max(detector.probability(window) for window in windows)

    assert voiced(clips("a_bit_to_the_left")) > 0.9
    assert voiced(sound((1.0, 0.1))) < 0.3


def test_without_its_network_the_detector_says_what_to_run(tmp_path):
    with pytest.raises(SpeechError, match=r"listening needs .*\.onnx from the package silero-vad.* run make setup"):
        model_file("no_such_package_of_voices")


def test_a_wave_file_that_is_written_reads_the_same(tmp_path):
    path = tmp_path / "sound.wav"
    path.write_bytes(wave_bytes(sound((0.25, 0.5))))
    format, chunks = read_wave(path)
    assert (format.rate, format.encoding, format.channels) == (RATE, "s16le", 1)
    assert len(b"".join(chunks)) == 2 * round(0.25 * RATE)
