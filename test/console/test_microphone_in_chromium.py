"""Push-to-talk in a real browser: what its microphone hears arrives as sound that is understood."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("websockets", reason="the console needs the package websockets")

from llm_planner.console.access import Access
from llm_planner.console.board import Board
from llm_planner.console.server import ConsoleServer
from llm_planner.speech.audio import AudioFormat, AudioReader, read_wave, wave_bytes
from llm_planner.speech.listening import Endpointer, Heard, Listener, SileroDetector, listen
from llm_planner.speech.recognisers import Vocabulary
from llm_planner.speech.sphinx_recogniser import SphinxRecogniser
from test.console.chromium import PROGRAM, Chromium

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no chromium is installed (Debian: apt install chromium)")
CLIP = Path(__file__).parents[1] / "speech" / "clips" / "a_bit_to_the_left.wav"


@pytest.fixture
def browser(tmp_path):
    microphone = tmp_path / "said.wav"
    format, chunks = read_wave(CLIP)
    words, quiet = AudioReader(format).read(b"".join(chunks)), np.zeros(16_000, np.float32)
    microphone.write_bytes(wave_bytes(np.concatenate((quiet, words, quiet))))
    one = Chromium(tmp_path / "browser", microphone=microphone)
    yield one
    one.close()


def test_what_is_said_while_the_button_is_held_is_understood(browser):
    sound: list[bytes] = []
    server = ConsoleServer(Access.to("127.0.0.1"), 0, Board(), lambda request: None, sound.append, lambda: "Stopped")
    try:
        browser.open(server.address)
        browser.wait(lambda: browser.run("typeof events === 'object' && events?.readyState === WebSocket.OPEN"))
        browser.run("mic.onpointerdown()")
        browser.wait(lambda: sum(map(len, sound)) > 6 * 32_000)  # 6 s of 16 bits at 16 kHz
        browser.run("mic.onpointerup()")
        browser.wait(lambda: len(sound[-1]) == 16_000)  # half a second of silence ends it
        heard_so_far = len(sound)
        assert browser.run("sound === null && !mic.classList.contains('on')")
    finally:
        server.close()
    listener = Listener(AudioFormat(), Endpointer(SileroDetector()))
    events = list(listen(sound[:heard_so_far], listener, SphinxRecogniser(), Vocabulary()))
    understood = [one.transcript.words for one in events if isinstance(one, Heard) and one.transcript.accepted]
    assert "a bit to the left" in understood, [one.transcript for one in events if isinstance(one, Heard)]
