"""Network of the embedded model: a sentence encoder and a decoder that writes symbols of a result and copies words.

`WordPieces` splits text like BERT's uncased tokenizer (Wu et al., arXiv:1609.08144). The encoder is a fine-tuned
all-MiniLM-L6-v2 (Wang et al., arXiv:2002.10957). The decoder points at the words that it copies (Vinyals et al.,
arXiv:1506.03134). `training/train.py` trains the network; here it runs in numpy, in single precision.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.forms import WORD, Derivation, Forms, Symbol

Array = NDArray[np.float32]
HEADS = 12
MOST_SYMBOLS = 96
BEAM = 4
IMPROBABLE = 6.0  # log-probability by which a result may fall behind the best
_WORDS = "words.weight"  # stays quantised, because a sentence needs few of its rows
SCALE = ".scale"  # suffix of the row scales of a quantised matrix
UNKNOWN, FIRST, BETWEEN = "[UNK]", "[CLS]", "[SEP]"
LONGEST = 100  # characters of a word; longer ones are unknown
_PART = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Piece:
    """Number of a word piece in the vocabulary, and the characters of the text that it covers."""

    number: int
    begin: int
    end: int


@dataclass(frozen=True)
class WordPieces:
    """Greedy longest-match tokenizer with a vocabulary of pieces and their numbers."""

    numbers: Mapping[str, int]

    @classmethod
    def of(cls, pieces: Sequence[str]) -> WordPieces:
        """Create a tokenizer from the pieces in the order of their numbers."""
        return cls({piece: number for number, piece in enumerate(pieces)})

    def split(self, text: str) -> list[Piece]:
        """Return the pieces of the text in order."""
        found: list[Piece] = []
        for part in _PART.finditer(text):
            for word, begin in _letters(part[0], part.start()):
                found += self._word(word, begin, part.end())
        return found

    def _word(self, word: str, begin: int, stop: int) -> list[Piece]:
        found: list[Piece] = []
        at = 0
        while at < len(word) <= LONGEST:
            end = next(
                (end for end in range(len(word), at, -1) if ("##" if at else "") + word[at:end] in self.numbers), at
            )
            if end == at:
                break
            number = self.numbers[("##" if at else "") + word[at:end]]
            found.append(Piece(number, begin + at, min(begin + end, stop)))
            at = end
        return found if at == len(word) else [Piece(self.numbers[UNKNOWN], begin, min(begin + len(word), stop))]


def _letters(part: str, begin: int) -> list[tuple[str, int]]:
    """Lower-case a part and strip accents; ideographs and underscores become words of their own, as in BERT."""
    if part.isascii() and "_" not in part:
        return [(part.lower(), begin)]
    found: list[tuple[str, int]] = []
    for place, letter in enumerate(part, begin):
        plain = "".join(
            one for one in unicodedata.normalize("NFD", letter.lower()) if unicodedata.category(one) != "Mn"
        )
        alone = letter == "_" or "\u3400" <= letter <= "\u9fff"
        if alone or not found or found[-1][0][-1:] == "_" or "\u3400" <= found[-1][0][-1:] <= "\u9fff":
            found.append((plain, place))
        else:
            found[-1] = (found[-1][0] + plain, found[-1][1])
    return [(word, place) for word, place in found if word]


@dataclass(frozen=True)
class Source:
    """Input of the encoder: the numbers of word pieces and their segments (0 for task and scene, 1 for the words).

    `firsts` and `lasts` are the indices of the first and last piece of each of the person's words.
    """

    pieces: tuple[int, ...]
    segments: tuple[int, ...]
    firsts: tuple[int, ...]
    lasts: tuple[int, ...]


def source_of(pieces: WordPieces, line: str, words: str) -> Source:
    """Encode the `line` about the task and the scene, and the words, as word pieces."""
    before = [pieces.numbers[FIRST], *(one.number for one in pieces.split(line))]
    before.append(pieces.numbers[BETWEEN])
    said = pieces.split(words)
    firsts, lasts = [], []
    for word in WORD.finditer(words):
        inside = [n for n, piece in enumerate(said) if piece.begin < word.end() and piece.end > word.start()]
        firsts.append(len(before) + (inside[0] if inside else 0))  # words of marks alone have no piece
        lasts.append(len(before) + (inside[-1] if inside else 0))
    numbers = (*before, *(one.number for one in said), pieces.numbers[BETWEEN])
    segments = (0,) * len(before) + (1,) * (len(said) + 1)
    return Source(numbers, segments, tuple(firsts), tuple(lasts))


@dataclass(frozen=True)
class Hypothesis:
    """Complete result: its symbols and the log-probability of each among those that the grammar allows."""

    symbols: tuple[Symbol, ...]
    log_probabilities: tuple[float, ...]

    @property
    def probability(self) -> float:
        """Probability of the whole result."""
        return float(np.exp(sum(self.log_probabilities)))


class Network:
    """Encoder and decoder with `quantised` weights by name; `symbols` is the vocabulary of results."""

    def __init__(self, weights: Mapping[str, NDArray[np.generic]], symbols: Sequence[str], pieces: WordPieces) -> None:
        self.pieces = pieces
        self._symbols = tuple(symbols)
        self._numbers = {symbol: number for number, symbol in enumerate(symbols)}
        self._words, self._word_scale = weights[_WORDS], weights[f"{_WORDS}{SCALE}"].astype(np.float32)
        self._w = dequantised(weights, without=(_WORDS,))
        self._encoder = sum(name.endswith("attention.q.weight") and name.startswith("encoder") for name in self._w)
        self._decoder = sum(name.endswith("self_attention.q.weight") for name in self._w)

    def read(self, source: Source, forms: Forms, beam: int = BEAM) -> list[Hypothesis]:
        """Return the most probable results that the grammar `forms` allows, the best first."""
        memory = self._encoded(source)
        decoding = _Decoding(self, memory, source)
        return list(decoding.search(Derivation(forms, len(source.firsts)), beam))

    def _encoded(self, source: Source) -> Array:
        numbers = np.asarray(source.pieces)
        x = self._words[numbers].astype(np.float32) * self._word_scale[numbers][:, None]
        x = x + self._w["places.weight"][: len(numbers)] + self._w["segments.weight"][np.asarray(source.segments)]
        x = self.normalised(x, "norm", 1e-12)
        for n in range(self._encoder):
            name = f"encoder.{n}"
            keys, values = self.keys_and_values(f"{name}.attention", x[None])
            attended = self.attended(f"{name}.attention", x[None], keys, values)[0]
            x = self.normalised(x + attended, f"{name}.norm1", 1e-12)
            x = self.normalised(x + self._feed_forward(name, x), f"{name}.norm2", 1e-12)
        return x

    def linear(self, name: str, x: Array) -> Array:
        """Apply a linear layer."""
        return np.asarray(x @ self._w[f"{name}.weight"].T + self._w[f"{name}.bias"], np.float32)

    def normalised(self, x: Array, name: str, epsilon: float = 1e-5) -> Array:
        """Apply layer normalisation."""
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(-1, keepdims=True) + epsilon)
        return np.asarray(centred / spread * self._w[f"{name}.weight"] + self._w[f"{name}.bias"], np.float32)

    def _feed_forward(self, name: str, x: Array) -> Array:
        return self.linear(f"{name}.outer", _gelu(self.linear(f"{name}.inner", x)))

    def keys_and_values(self, name: str, memory: Array) -> tuple[Array, Array]:
        """Return the keys and values of attention, each of shape (rows, places, width)."""
        return self.linear(f"{name}.k", memory), self.linear(f"{name}.v", memory)

    def attended(self, name: str, x: Array, keys: Array, values: Array) -> Array:
        """Return the output of attention of `x`, both of shape (rows, steps, width)."""
        queries = self.linear(f"{name}.q", x)
        q, k, v = (one.reshape(*one.shape[:2], HEADS, -1).transpose(0, 2, 1, 3) for one in (queries, keys, values))
        found = _softmax(q @ k.transpose(0, 1, 3, 2) * np.float32(q.shape[-1] ** -0.5)) @ v
        return self.linear(f"{name}.o", found.transpose(0, 2, 1, 3).reshape(x.shape))


class _Decoding:
    """Beam search over one encoded source."""

    def __init__(self, network: Network, memory: Array, source: Source) -> None:
        self._net, self._source = network, source
        self._memory = memory
        self._layers = [f"decoder.{n}" for n in range(network._decoder)]
        self._cross = [network.keys_and_values(f"{name}.cross_attention", memory[None]) for name in self._layers]
        self._begins, self._ends = memory[list(source.firsts)], memory[list(source.lasts)]

    def search(self, start: Derivation, beam: int) -> Iterator[Hypothesis]:
        """Yield complete results, the most probable first."""
        net = self._net
        size = len(net._symbols)
        states, done = [start], list[tuple[float, Hypothesis]]()
        written: list[tuple[Symbol, ...]] = [()]
        raw: list[tuple[float, ...]] = [()]
        scores = np.zeros(1)
        inputs, copied = [size + 2], [-1]
        caches: list[tuple[Array, Array] | None] = [None] * len(self._layers)
        for step in range(MOST_SYMBOLS):
            logs, caches = self._step(inputs, copied, step, caches)
            options: list[tuple[float, int, Symbol, Derivation, float]] = []
            for row, state in enumerate(states):
                allowed = state.allowed()
                places = [self._numbers(symbol)[0] for symbol in allowed]
                values = logs[row, places]
                values = values - np.logaddexp.reduce(values)  # normalised over the allowed symbols
                for place in np.argsort(-values)[:beam]:
                    symbol = list(allowed)[int(place)]
                    value = float(values[place])
                    options.append((float(scores[row]) + value, row, symbol, allowed[symbol], value))
            options.sort(key=lambda option: -option[0])
            kept: list[tuple[float, int, Symbol, Derivation, float]] = []
            for option in options[: 2 * beam]:
                score, row, symbol, _, value = option
                if symbol == "<stop>":
                    done.append((score, Hypothesis((*written[row], symbol), (*raw[row], value))))
                elif len(kept) < beam:
                    kept.append(option)
            done = sorted(done, key=lambda one: -one[0])[:beam]
            least = done[-1][0] if len(done) == beam else -np.inf
            if done:
                least = max(least, done[0][0] - IMPROBABLE)
            kept = [option for option in kept if option[0] > least]  # longer results are never more probable
            if not kept:
                break
            rows = [option[1] for option in kept]
            caches = [(cache[0][rows], cache[1][rows]) for cache in caches if cache is not None]
            written = [(*written[row], symbol) for _, row, symbol, _, _ in kept]
            raw = [(*raw[row], value) for _, row, _, _, value in kept]
            states, scores = [option[3] for option in kept], np.array([option[0] for option in kept])
            _, inputs, copied = map(list, zip(*(self._numbers(option[2]) for option in kept), strict=True))
        yield from (found for _, found in done)

    def _numbers(self, symbol: Symbol) -> tuple[int, int, int]:
        """Return the place of a symbol in the output, its row as an input, and the piece that it copies (-1: none)."""
        if isinstance(symbol, str):
            number = self._net._numbers[symbol]
            return number, number, -1
        size, is_end, word = len(self._net._symbols), symbol[0] == "end", symbol[1]
        firsts, lasts = self._source.firsts, self._source.lasts
        return size + word + is_end * len(firsts), size + is_end, (lasts if is_end else firsts)[word]

    def _step(
        self, inputs: Sequence[int], copied: Sequence[int], step: int, caches: Sequence[tuple[Array, Array] | None]
    ) -> tuple[Array, list[tuple[Array, Array] | None]]:
        """Return the log-probabilities (rows, symbols and pointers) of the next symbol, and the key-value caches."""
        net = self._net
        x = net._w["symbols.weight"][list(inputs)] + net._w["steps.weight"][step]
        x = x + np.where(np.asarray(copied)[:, None] >= 0, self._memory[list(copied)], 0.0)
        x = np.asarray(x[:, None, :], np.float32)
        kept: list[tuple[Array, Array] | None] = []
        for name, cache, (keys, values) in zip(self._layers, caches, self._cross, strict=True):
            y = net.normalised(x, f"{name}.norm1")
            new = net.keys_and_values(f"{name}.self_attention", y)
            held = new if cache is None else tuple(np.concatenate(pair, 1) for pair in zip(cache, new, strict=True))
            kept.append((held[0], held[1]))
            x = x + net.attended(f"{name}.self_attention", y, *kept[-1])  # type: ignore[misc]
            x = x + net.attended(f"{name}.cross_attention", net.normalised(x, f"{name}.norm2"), keys, values)
            x = x + net._feed_forward(name, net.normalised(x, f"{name}.norm3"))
        x = net.normalised(x, "last")[:, 0]
        scale = np.float32(x.shape[-1] ** -0.5)
        logits = np.concatenate(
            [
                net.linear("out", x),
                net.linear("begins", x) @ self._begins.T * scale,
                net.linear("ends", x) @ self._ends.T * scale,
            ],
            -1,
        )
        logits -= logits.max(-1, keepdims=True)
        return np.asarray(logits - np.log(np.exp(logits).sum(-1, keepdims=True)), np.float32), kept


def dequantised(weights: Mapping[str, NDArray[np.generic]], without: Sequence[str] = ()) -> dict[str, Array]:
    """Return all arrays in single precision, except those named in `without`."""
    found: dict[str, Array] = {}
    for name in weights:
        if name not in without and not name.endswith(SCALE):
            scale = weights.get(f"{name}{SCALE}")
            matrix = weights[name].astype(np.float32)
            found[name] = matrix if scale is None else matrix * scale.astype(np.float32)[:, None]
    return found


def load_network(folder: Path) -> Network:
    """Load `network.safetensors`, `symbols.json` and `pieces.txt`; raise LanguageModelError if one is missing."""
    from safetensors.numpy import load_file

    try:
        weights = load_file(folder / "network.safetensors")
        symbols = json.loads((folder / "symbols.json").read_text(encoding="utf-8"))
        pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise LanguageModelError(
            f"the embedded language model is incomplete: {error}; install llm_planner again, or name another model"
        ) from error
    return Network(weights, symbols, WordPieces.of(pieces))


def _softmax(x: Array) -> Array:
    weights = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True), np.float32)


# Quotient of polynomials in x², lowest power first: erf(x) / x within 4e-8 for |x| <= 4, from a least-squares fit with
# weights that level the largest errors (Lawson). `scipy.special` takes 0.15 s to import.
_ABOVE: Array = np.array((1.12837889, 0.197999423, 0.0525806819, 0.00392756938, 0.000237826979), np.float32)
_BELOW: Array = np.array(
    (1.0, 0.508802588, 0.116211048, 0.0151269724, 0.0011359402, 2.3092358e-05, -1.06555941e-07), np.float32
)


def erf(x: Array) -> Array:
    """Return the error function of `x` in single precision, within 5e-7."""
    inside = np.clip(x, np.float32(-4.0), np.float32(4.0))
    squared = inside * inside
    above, below = (_polynomial(coefficients, squared) for coefficients in (_ABOVE, _BELOW))
    above *= inside
    above /= below
    return above


def _polynomial(coefficients: Array, x: Array) -> Array:
    found = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        found *= x
        found += coefficient
    return found


def _gelu(x: Array) -> Array:
    found: Array = 0.5 * x * (1.0 + erf(x * np.float32(2**-0.5)))
    return found
