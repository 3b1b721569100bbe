"""Trains a network of the compact model on samples that are drawn as it goes: `llm-planner train-language`."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from llm_planner.language.compact.encoding import Sample
from llm_planner.language.compact.grammar import START, Grammar, Pointer
from llm_planner.language.compact.network import Network, NetworkSize

POOL = 8  # batches drawn together and sorted by length, so that a batch holds little padding


@dataclass(frozen=True)
class TrainingSettings:
    """One training run; the same settings and seed give the same data in the same order."""

    steps: int = 10_000
    batch: int = 128
    learning_rate: float = 1.2e-3
    warmup: int = 400
    seed: int = 0
    dropout: float = 0.1


Draw = Callable[[np.random.Generator], Sample]


def _nothing_more(folder: Path) -> None:
    """The weights are all there is."""


@dataclass(frozen=True)
class Lesson:
    """What one network learns from `draw`; its weights ship in `home`, where `finish` adds what else goes there."""

    grammar: Grammar
    size: NetworkSize
    draw: Draw
    home: Path
    finish: Callable[[Path], None] = _nothing_more


@dataclass(frozen=True)
class Batch:
    """B examples padded to S input positions and T steps; `legal` (B, T, productions + S), `target` (B, T) or -1."""

    grams: Tensor
    offsets: Tensor
    segment: Tensor
    position: Tensor
    match: Tensor
    padding: Tensor
    previous: Tensor
    pointed: Tensor
    symbol: Tensor
    loops: Tensor
    legal: Tensor
    target: Tensor


def collate(samples: list[Sample]) -> Batch:
    """Pads and stacks samples of one grammar."""
    grammar = samples[0].item.grammar
    size, steps = max(sample.item.length for sample in samples), max(len(sample.steps) for sample in samples)
    count, wide = len(samples), len(grammar.productions)
    grams: list[int] = []
    offsets: list[int] = []
    segment, position = np.zeros((count, size), np.int64), np.zeros((count, size), np.int64)
    match, padding = np.zeros((count, size, size), np.float32), np.full((count, size), -np.inf, np.float32)
    rows = {name: np.zeros((count, steps), np.int64) for name in ("previous", "symbol", "loops")}
    pointed, target = np.full((count, steps), -1, np.int64), np.full((count, steps), -1, np.int64)
    legal = np.ones((count, steps, wide + size), bool)
    for b, sample in enumerate(samples):
        item, n = sample.item, sample.item.length
        for position_grams in item.grams + ((0,),) * (size - n):
            offsets.append(len(grams))
            grams.extend(position_grams)
        segment[b, :n], position[b, :n], match[b, :n, :n], padding[b, :n] = item.segment, item.position, item.match, 0.0
        stack, last, at = START, wide, -1
        for t, step in enumerate(sample.steps):
            symbol, loops = stack[-1]
            rows["previous"][b, t], rows["symbol"][b, t], rows["loops"][b, t] = (
                last,
                grammar.symbol_index[symbol],
                min(loops, grammar.max_loops),
            )
            pointed[b, t], target[b, t] = at, item.choice(step)
            legal[b, t] = False
            legal[b, t, : wide + n] = item.legal(symbol, loops)
            stack = grammar.advance(stack, step)
            last, at = (wide, item.locate(step)) if isinstance(step, Pointer) else (grammar.production_index[step], -1)
    arrays = (
        segment,
        position,
        match,
        padding,
        rows["previous"],
        pointed,
        rows["symbol"],
        rows["loops"],
        legal,
        target,
    )
    return Batch(torch.tensor(grams), torch.tensor(offsets), *(torch.from_numpy(array) for array in arrays))


def log_probabilities(network: Network, batch: Batch) -> Tensor:
    """Log-probability (B, T) of every target step; 0 where padded."""
    memory = network.encode(batch.grams, batch.offsets, batch.segment, batch.position, batch.match, batch.padding)
    logits = network.decode(memory, batch.padding, batch.previous, batch.pointed, batch.symbol, batch.loops)
    scores = logits.masked_fill(~batch.legal, -1e9).log_softmax(-1)
    chosen = scores.gather(-1, batch.target.clamp(min=0)[..., None])[..., 0]
    return chosen * (batch.target >= 0)


class ExampleStream(IterableDataset[Batch]):
    """Endless batches from one seed."""

    def __init__(self, settings: TrainingSettings, draw: Draw) -> None:
        self.settings, self.draw = settings, draw

    def __iter__(self) -> Iterator[Batch]:
        torch.set_num_threads(1)
        worker = get_worker_info()
        rng = np.random.default_rng([self.settings.seed, 0 if worker is None else worker.id])
        while True:
            pool = [self.draw(rng) for _ in range(self.settings.batch * POOL)]
            pool.sort(key=lambda sample: sample.item.length + len(sample.steps))
            for start in rng.permutation(POOL):
                yield collate(pool[start * self.settings.batch : (start + 1) * self.settings.batch])


def learning_rate(step: int, settings: TrainingSettings) -> float:
    """Linear warm-up, then a cosine down to nothing."""
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / settings.warmup
    done = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
    return settings.learning_rate * 0.5 * (1 + math.cos(math.pi * done))


def train(
    lesson: Lesson,
    settings: TrainingSettings,
    folder: Path,
    start: Path | None = None,
    report: Callable[[int, float, float], None] = lambda step, loss, exact: None,
) -> None:
    """Train and write `weights.safetensors` and `report.json` to `folder`; `start` continues from other weights.

    `report(step, loss, exact)` is called now and then: loss in nats a command, exact the share of commands whose every
    step the network would choose.
    """
    torch.manual_seed(settings.seed)
    network = Network(lesson.grammar, lesson.size, settings.dropout)
    if start is not None:
        network.load_state_dict({name: value.float() for name, value in load_file(start).items()})
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=0.01, fused=True)
    began = time.monotonic()
    batches = iter(DataLoader(ExampleStream(settings, lesson.draw), batch_size=None, num_workers=1, prefetch_factor=16))
    loss_sum = 0.0
    for step in range(settings.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, settings)
        network.train()
        loss = -log_probabilities(network, next(batches)).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        loss_sum += loss.item()
        if (step + 1) % 100 == 0:
            report(step + 1, loss_sum / 100, exact_share(network, lesson.draw, settings.seed + 1, 256))
            loss_sum = 0.0
        if (step + 1) % 500 == 0 or step + 1 == settings.steps:
            _save(network, lesson, settings, folder, step + 1, time.monotonic() - began)


def exact_share(network: Network, draw: Draw, seed: int, count: int) -> float:
    """Share of fresh examples for which every step is the most probable one."""
    network.eval()
    rng = np.random.default_rng([seed, 99])
    with torch.no_grad():
        scores = [log_probabilities(network, collate([draw(rng) for _ in range(64)])) for _ in range(count // 64)]
    return float(np.mean([(row.sum(-1) > math.log(0.5)).float().mean().item() for row in scores]))


def _save(
    network: Network, lesson: Lesson, settings: TrainingSettings, folder: Path, step: int, seconds: float
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / "weights.part"
    save_file({name: value.half().contiguous() for name, value in network.state_dict().items()}, unfinished)
    unfinished.replace(folder / "weights.safetensors")  # whoever reads meanwhile finds all of the old or of the new
    facts = {"size": asdict(lesson.size), "training": asdict(settings), "step": step, "seconds": round(seconds)}
    facts["exact"] = exact_share(network, lesson.draw, settings.seed + 1, 1024)
    (folder / "report.json").write_text(json.dumps(facts, indent=1) + "\n")
