"""Speech output: texts made short and speakable, voices of this machine, and the speaker that says one text at a time.

What the robot says holds no alarm word, so a stop word that is heard while it speaks is a person's. A voice is a
command whose process lasts as long as the speech, so ending the process silences it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from importlib.util import find_spec
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.speech.recognisers import KEYPHRASES
from llm_planner.text import plain_text

AUTO = "auto"
AFTER = 0.3  # [s] after its end, during which speech still echoes
PLAYER = "ffplay"  # by which piper plays
INSTALL = {
    "piper": "pip install piper-tts, apt install ffmpeg, and a voice file that voice_file names (NAME.onnx)",
    "espeak-ng": "apt install espeak-ng",
    "spd-say": "apt install speech-dispatcher",
}
VOICES = (AUTO, *INSTALL)
MOST = 180  # [characters] of one answer, about 12 s of speech
UNITS = {
    "m/s": "metres per second", "cm/s": "centimetres per second", "mm/s": "millimetres per second",
    "rad/s": "radians per second", "m": "metres", "cm": "centimetres", "mm": "millimetres", "s": "seconds",
    "ms": "milliseconds", "min": "minutes", "kg": "kilograms", "g": "grams", "N": "newtons", "Hz": "hertz",
    "°": "degrees", "deg": "degrees", "rad": "radians", "%": "percent",
}  # fmt: skip
_QUANTITY = re.compile(r"(\d) ?(" + "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True)) + r")(?![\w/])")
_OPTIONS = re.compile(r" ?\(([^()]+(?: / [^()]+)+)\)")  # as `corrections.edits.asking` writes them
_ASIDE = re.compile(r" \([^()]*\)")
_SPEAKABLE = re.compile(r"(?:[A-Za-z]+(?:['’-][A-Za-z]+)*|-?\d+(?:[.,]\d+)*)[.,;:!?…]*")
_QUOTES = str.maketrans(dict.fromkeys('“”"‘`*', ""))
_SENTENCE = re.compile(r"(?<=[.;!?…]) +")
_ALARMS = re.compile(r"\b(?:" + "|".join(words.replace(" ", r"\s+") for words in KEYPHRASES) + ")", re.IGNORECASE)


def spoken(text: str) -> str:
    """Return what is said of a text: its first sentences up to `MOST` characters; "" if nothing can be said.

    Asides in brackets are left out, as are sentences with parts that are no words (formulas, calls, file names) or
    with an alarm word. Options "(a / b)" of a question are joined by "or".
    """
    plain = plain_text(text[:2000]).translate(_QUOTES)
    plain = _ASIDE.sub("", _OPTIONS.sub(lambda found: f": {', or '.join(found[1].split(' / '))}?", plain))
    plain = _QUANTITY.sub(lambda found: f"{found[1]} {UNITS[found[2]]}", plain.replace("?:", ":"))
    said = ""
    for sentence in _SENTENCE.split(plain):
        if not _is_speakable(sentence):
            continue
        if said and len(said) + len(sentence) >= MOST:
            break
        said = f"{said} {_cut(sentence)}".strip()
    return said


def _is_speakable(sentence: str) -> bool:
    words = sentence.split()
    return bool(words) and not _ALARMS.search(sentence) and all(map(_SPEAKABLE.fullmatch, words))


def _cut(sentence: str) -> str:
    """Return the sentence, or its clauses and words that fit."""
    if len(sentence) <= MOST:
        return sentence
    begun = sentence[:MOST]
    return begun[: max(begun.rfind(","), begun.rfind(" "))].rstrip(" ,;:")


@dataclass(frozen=True)
class Voice:
    """Voice called `name`.

    Attributes:
        command: Begins the command line; the text is its last argument.
        silencing: Command line that ends the speech where ending the process does not; () if none is needed.
    """

    name: str
    command: tuple[str, ...]
    silencing: tuple[str, ...] = ()


def open_voice(name: str = AUTO, voice_file: str = "", find: Callable[[str], str | None] = shutil.which) -> Voice:
    """Return the voice `name`, or with "auto" the first that is installed: piper, espeak-ng, spd-say.

    Args:
        name: One of `VOICES`.
        voice_file: File of piper's voice (NAME.onnx, beside its NAME.onnx.json); "" if there is none.
        find: Returns the path of a program, None if it is not installed.

    Raises:
        InputError: There is no such voice, or it is not installed; the message says what to install.
    """
    if name not in VOICES:
        raise InputError(f"there is no voice {name!r}; choose one of: {', '.join(VOICES)}")
    file = Path(voice_file).expanduser()
    if voice_file and not file.is_file():
        raise InputError(f"voice_file: there is no file {file}; name a voice of piper (NAME.onnx)")
    has_piper = bool(voice_file) and find_spec("piper") is not None and find(PLAYER) is not None
    voices = {
        "piper": Voice("piper", (sys.executable, "-m", "piper", "-m", str(file))) if has_piper else None,
        "espeak-ng": Voice("espeak-ng", (path, "-v", "en", "--")) if (path := find("espeak-ng")) else None,
        "spd-say": Voice("spd-say", (path, "--wait", "--"), (path, "--stop")) if (path := find("spd-say")) else None,
    }
    found = next(filter(None, voices.values()), None) if name == AUTO else voices[name]
    if found is None:
        wanted = INSTALL if name == AUTO else {name: INSTALL[name]}
        ways = "; or ".join(f"{one}: {how}" for one, how in wanted.items())
        raise InputError(f"the robot cannot speak: no voice is installed. Install {ways}")
    return found


class Urgency(IntEnum):
    """What more urgent words cut off."""

    RESULT = 0
    QUESTION = 1
    ALARM = 2


class Speaker:
    """Says one text at a time. More urgent words cut off what is being said; others wait, and only the newest of them.

    Thread-safe. `report(reason)` is called if the voice fails.
    """

    def __init__(
        self, voice: Voice, report: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._voice, self._report, self._clock = voice, report, clock
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._urgency = Urgency.RESULT
        self._waiting: tuple[str, Urgency] | None = None
        self._ended = -float("inf")

    @property
    def is_heard(self) -> bool:
        """Whether a microphone beside the robot hears it: while it speaks, and for `AFTER` seconds."""
        with self._lock:
            return self._process is not None or self._clock() < self._ended + AFTER

    def say(self, text: str, urgency: Urgency = Urgency.RESULT) -> None:
        """Say a text that can be spoken; "" says nothing."""
        if not text:
            return
        with self._lock:
            if self._process is not None and urgency <= self._urgency:
                if self._waiting is None or urgency >= self._waiting[1]:
                    self._waiting = text, urgency
                return
            self._cut()
            self._begin(text, urgency)

    def silence(self) -> None:
        """End at once what is being said, and forget what waits."""
        with self._lock:
            self._cut()

    def _cut(self) -> None:
        self._waiting = None
        if self._process is None:
            return
        _end(self._process)
        self._process, self._ended = None, self._clock()
        if self._voice.silencing:
            with suppress(OSError):
                _started(self._voice.silencing)

    def _begin(self, text: str, urgency: Urgency) -> None:
        try:
            process = _started([*self._voice.command, text])
        except OSError as error:
            self._report(f"the voice {self._voice.name} cannot be started: {error}")
            return
        self._process, self._urgency = process, urgency
        threading.Thread(target=self._wait, args=(process,), name="speech", daemon=True).start()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        with self._lock:
            if self._process is not process:
                return  # cut off
            self._process, self._ended = None, self._clock()
            if code:
                self._report(f"the voice {self._voice.name} failed with exit code {code}: {process.args!r}")
            if self._waiting is not None:
                (text, urgency), self._waiting = self._waiting, None
                self._begin(text, urgency)


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, without input and output; raise OSError if it cannot be started."""
    nothing = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process with its children, such as a player."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
