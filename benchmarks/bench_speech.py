"""How well spoken corrections are understood offline, and how seldom talk is taken for one.

60 corrections, each in three synthetic voices: the share whose intent is right, in a quiet room, amid white noise 20
and 10 dB below the voice, and amid babble 10 dB below it; and 200 sentences of everyday talk, of which as few as
possible are to be taken for corrections. Everything goes through the whole path: endpointing, both searches, agreement.
The latency is from the last sound of a clip to its transcript: the silence that ends it, or the CPU time of
recognising, which begins at a pause, where that takes longer.
Stops are also said while the robot speaks, in all voices, 15, 10 and 6 dB above its voice and as loud as that.
Needs flite and espeak-ng.
Usage: bench_speech.py [--limit 0] [--seed 0] [--misses] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from spoken_clips import BEFORE, MISSING, VOICES, Voice, babble, placed, spoken, voices_there, white

from llm_planner.simulation.worlds import read_objects
from llm_planner.speech.audio import RATE, AudioFormat, Samples, pcm
from llm_planner.speech.correction_grammar import phrases_about
from llm_planner.speech.listening import Endpointer, Listener, SileroDetector, Utterance
from llm_planner.speech.recognisers import vocabulary_of
from llm_planner.speech.sphinx_recogniser import SphinxRecogniser, SphinxStopSpotter

DATA = Path(__file__).parent / "data" / "spoken_corrections.yaml"
VOICES_EACH = 3
CHUNK = 512  # samples at a time
LONGEST = 12 * RATE  # samples of a clip with what is around it
CONDITIONS: dict[str, tuple[str, float | None]] = {
    "clean": ("white", None),
    "noise 20 dB": ("white", 20.0),
    "noise 10 dB": ("white", 10.0),
    "babble 10 dB": ("babble", 10.0),
}


OWN_VOICE = Voice("espeak-ng", "en-gb", "160")
ANSWERS = (
    "The red block is in the green bowl.",
    "Which block do you mean: the red one, or the blue one?",
    "I wait until you say go on.",
    "There is no room for the mug on the plate; the vase is in the way.",
    "The robot is at rest.",
    "I heard no correction in that. Please say it in other words.",
    "Speed is now half of the full speed.",
    "The yellow block is on the blue block, and the mug is to the left of the plate.",
)
STOPS = ("stop", "stop it", "stop now", "halt", "freeze")
OVER_OWN_VOICE = {"15 dB above": 15.0, "10 dB above": 10.0, "6 dB above": 6.0, "as loud": 0.0}
OWN_BEFORE = 2.0  # [s] that the robot has spoken before the stop


@dataclass(frozen=True)
class Clip:
    """One sentence in one voice; `means` are the tags of its intent, none for talk."""

    text: str
    voice: Voice
    means: tuple[str, ...]
    samples: Samples


@dataclass(frozen=True)
class Outcome:
    """What was made of a clip: the intents accepted, whether a stop was spotted, how long it took [s]."""

    clip: Clip
    words: tuple[str, ...]
    intents: tuple[tuple[str, ...], ...]
    stopped: bool
    latency: float
    busy: float
    duration: float

    @property
    def right(self) -> bool:
        return self.intents == (self.clip.means,)

    @property
    def wrong(self) -> bool:
        """Something else than was said would be done."""
        return any(intent != self.clip.means for intent in self.intents)


class Ear:
    """The whole path from sound to intents, for the things of the data file."""

    def __init__(self, objects: str) -> None:
        self._vocabulary = vocabulary_of(read_objects("tabletop", objects))
        self._phrases = phrases_about(self._vocabulary)
        self._recogniser = SphinxRecogniser()
        self._recogniser.learn(self._vocabulary)
        self._detector, self._spotter = SileroDetector(), SphinxStopSpotter()

    def _listener(self) -> Listener:
        """A listener that has heard nothing yet."""
        self._detector.reset()
        return Listener(AudioFormat(), Endpointer(self._detector), self._spotter)

    def over_own_voice(self, sound: Samples) -> tuple[bool, bool]:
        """Whether a stop is spotted in what is heard while the robot speaks, and whether it falls silent."""
        listener, spotted, silent = self._listener(), False, False
        for place in range(0, len(sound), CHUNK):
            spotted |= bool(listener.hear(pcm(sound[place : place + CHUNK]), True))
            silent |= listener.interrupted
        return spotted, silent

    def hear(self, clip: Clip, sound: Samples) -> Outcome:
        listener = self._listener()
        words, intents, stopped, latency = [], [], False, float("nan")
        ends = BEFORE + len(clip.samples) / RATE
        began, draft, heard, known = time.process_time(), None, None, 0.0
        for place in range(0, len(sound), CHUNK):
            since = time.process_time()
            events = listener.hear(pcm(sound[place : place + CHUNK]))
            for event in (*events, listener.paused):
                if isinstance(event, Utterance) and event is not draft:  # made out once, at a pause or at its end
                    draft, heard = event, self._recogniser.transcribe(event.samples, self._vocabulary)
                    known = (place + CHUNK) / RATE - ends + time.process_time() - since
            for event in events:
                if not isinstance(event, Utterance):
                    stopped = True
                    continue
                latency = max(known, (place + CHUNK) / RATE - ends)
                words.append(heard.words)
                if heard.accepted:
                    intents.append(tuple(sorted(self._phrases.intent(heard.words))))
        busy = time.process_time() - began
        return Outcome(clip, tuple(words), tuple(intents), stopped, latency, busy, len(sound) / RATE)


def corrections(items: Sequence[dict[str, Any]]) -> list[Clip]:
    """Each by three voices, the voices in turn."""
    return [
        Clip(item["say"], voice, tuple(sorted(item["means"])), spoken(item["say"], voice))
        for number, item in enumerate(items)
        for voice in (VOICES[(number + 3 * turn) % len(VOICES)] for turn in range(VOICES_EACH))
    ]


def talk(sentences: Sequence[str]) -> list[Clip]:
    return [
        Clip(text, VOICES[number % len(VOICES)], (), spoken(text, VOICES[number % len(VOICES)]))
        for number, text in enumerate(sentences)
    ]


def table(ear: Ear, said: Sequence[Clip], chatter: Sequence[Clip], seed: int) -> dict[str, list[Outcome]]:
    """Everything under every condition; the talk in a quiet room."""
    rng = np.random.default_rng(seed)
    others = [clip.samples for clip in chatter]
    outcomes = {}
    for name, (kind, decibels) in CONDITIONS.items():
        outcomes[name] = []
        for clip in said:
            noise = white(LONGEST, rng) if kind == "white" else babble(LONGEST, others, rng)
            outcomes[name].append(ear.hear(clip, placed(clip.samples, noise, decibels)))
    outcomes["talk"] = [ear.hear(clip, placed(clip.samples, white(LONGEST, rng), None)) for clip in chatter]
    return outcomes


def over_own_voice(ear: Ear) -> dict[str, Any]:
    """Shares of stops over the robot's voice, and of its answers alone: spotted; the robot fell silent."""
    answers = [spoken(text, OWN_VOICE) for text in ANSWERS]
    own = np.tile(np.concatenate(answers), 4)
    clips = [spoken(text, voice) for text in STOPS for voice in VOICES]
    starts = np.linspace(0, len(own) // 2, len(clips)).astype(int)
    sounds = {
        name: [placed(clip, own[at:], level, OWN_BEFORE) for clip, at in zip(clips, starts, strict=True)]
        for name, level in OVER_OWN_VOICE.items()
    }
    sounds["without a stop"] = answers
    return {
        name: np.mean([ear.over_own_voice(one) for one in group], axis=0).tolist() for name, group in sounds.items()
    }


def report(outcomes: dict[str, list[Outcome]]) -> dict[str, Any]:
    clean = outcomes["clean"]
    latencies = [outcome.latency for outcome in clean if np.isfinite(outcome.latency)]
    every = [outcome for group in outcomes.values() for outcome in group]
    programs = sorted({voice.program for voice in VOICES})
    return {
        "voices": sorted({str(outcome.clip.voice) for outcome in every}),
        "intents": {name: _shares(outcomes[name]) for name in CONDITIONS},
        "clean, by program": {p: _shares([o for o in clean if o.clip.voice.program == p]) for p in programs},
        "talk": {
            "clips": len(outcomes["talk"]),
            "committed": float(np.mean([outcome.wrong for outcome in outcomes["talk"]])),
            "stops spotted": float(np.mean([outcome.stopped for outcome in outcomes["talk"]])),
        },
        "stops spotted of those said": _spotted(clean),
        "latency s": {"median": float(np.median(latencies)), "p99": float(np.quantile(latencies, 0.99))},
        "real-time factor": sum(o.busy for o in every) / sum(o.duration for o in every),
    }


def _shares(outcomes: Sequence[Outcome]) -> dict[str, float]:
    return {
        "clips": len(outcomes),
        "right": float(np.mean([outcome.right for outcome in outcomes])) if outcomes else 0.0,
        "wrong": float(np.mean([outcome.wrong for outcome in outcomes])) if outcomes else 0.0,
    }


def _spotted(outcomes: Sequence[Outcome]) -> float:
    said = [outcome.stopped for outcome in outcomes if outcome.clip.means == ("cancel",)]
    return float(np.mean(said)) if said else 0.0


def main(arguments: list[str] | None = None, show: Callable[[str], None] = print) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=0, help="only so many corrections and sentences of talk")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    parser.add_argument("--misses", action="store_true", help="list what was not understood, or taken for a correction")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(arguments)
    if not voices_there():
        print(MISSING, file=sys.stderr)
        show(json.dumps({"voices": []}) if args.json else MISSING)
        return 0 if args.json else 1
    data = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    said = corrections(data["corrections"][: args.limit or None])
    chatter = talk(data["chatter"][: args.limit or None])
    ear = Ear(data["objects"])
    outcomes = table(ear, said, chatter, args.seed)
    figures = {**report(outcomes), "stops over the robot's voice": over_own_voice(ear)}
    show(json.dumps(figures, indent=None if args.json else 1))
    if args.misses:
        for name, group in outcomes.items():
            for miss in (outcome for outcome in group if outcome.wrong or (name != "talk" and not outcome.right)):
                show(
                    f"{name}: {miss.clip.text!r} by {miss.clip.voice}: {', '.join(map(repr, miss.words)) or 'nothing'}"
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
