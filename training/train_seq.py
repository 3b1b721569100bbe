"""Train the network on samples that are drawn as it learns; run again to go on where it stopped."""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from llm_planner.language.embedded.derivation import symbols_of, vocabulary
from llm_planner.language.embedded.forms import WORD
from llm_planner.language.embedded.terms import parse_result
from llm_planner.language.embedded.wordpieces import WordPieces
from training.generate import FORMS, Generator, Sample, draw_all
from training.seq import Network, pretrained
from training.templates import read_book

TASKS = ("command", "rule", "correction")


class Encoder:
    def __init__(self, pieces: WordPieces, symbols: tuple[str, ...]) -> None:
        self.pieces, self.numbers = pieces, {symbol: n for n, symbol in enumerate(symbols)}

    def source(self, task: str, line: str, words: str):
        first = [p.number for p in self.pieces.split(f"{task}; {line}")]
        said = self.pieces.split(words)
        before = [self.pieces.numbers["[CLS]"], *first, self.pieces.numbers["[SEP]"]]
        tokens = [*before, *(p.number for p in said), self.pieces.numbers["[SEP]"]]
        segments = [0] * len(before) + [1] * (len(said) + 1)
        firsts, lasts = [], []
        for word in WORD.finditer(words):
            inside = [n for n, p in enumerate(said) if p.begin < word.end() and p.end > word.start()]
            firsts.append(len(before) + inside[0])
            lasts.append(len(before) + inside[-1])
        return tokens, segments, firsts, lasts

    def sample(self, sample: Sample):
        tokens, segments, firsts, lasts = self.source(sample.task, sample.situation.line(sample.words), sample.words)
        symbols = symbols_of(parse_result(sample.result), sample.words)
        return tokens, segments, firsts, lasts, symbols


def batch_of(rows, numbers):
    size = len(numbers)
    most = max(len(r[0]) for r in rows)
    words = max(len(r[2]) for r in rows)
    steps = max(len(r[4]) for r in rows)
    zeros = lambda *shape: torch.zeros(*shape, dtype=torch.long)
    b = {"tokens": zeros(len(rows), most), "segments": zeros(len(rows), most), "firsts": zeros(len(rows), words),
         "lasts": zeros(len(rows), words), "inputs": zeros(len(rows), steps), "copied": zeros(len(rows), steps) - 1}
    mask, there = torch.zeros(len(rows), most, dtype=torch.bool), torch.zeros(len(rows), words, dtype=torch.bool)
    labels = torch.full((len(rows), steps), -100)
    for n, (tokens, segments, firsts, lasts, symbols) in enumerate(rows):
        b["tokens"][n, : len(tokens)] = torch.tensor(tokens)
        b["segments"][n, : len(tokens)] = torch.tensor(segments)
        b["firsts"][n, : len(firsts)] = torch.tensor(firsts)
        b["lasts"][n, : len(lasts)] = torch.tensor(lasts)
        mask[n, : len(tokens)] = True
        there[n, : len(firsts)] = True
        inputs, copied, wanted = [size + 2], [-1], []
        for symbol in symbols:
            if isinstance(symbol, tuple):
                begin = symbol[0] == "begin"
                wanted.append(size + symbol[1] + (0 if begin else words))
                inputs.append(size + (0 if begin else 1))
                copied.append((firsts if begin else lasts)[symbol[1]])
            else:
                wanted.append(numbers[symbol])
                inputs.append(numbers[symbol])
                copied.append(-1)
        b["inputs"][n, : len(wanted)] = torch.tensor(inputs[:-1])
        b["copied"][n, : len(wanted)] = torch.tensor(copied[:-1])
        labels[n, : len(wanted)] = torch.tensor(wanted)
    return {**b, "mask": mask, "words": there}, labels


@torch.no_grad()
def accuracy(network, encoder, samples, kind):
    network.eval()
    loss = count = 0
    right = {}
    for start in range(0, len(samples), 64):
        some = samples[start : start + 64]
        batch, labels = batch_of([encoder.sample(one) for one in some], encoder.numbers)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=kind == "bf16"):
            logits = network(batch)
        loss += float(torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum"))
        count += int((labels >= 0).sum())
        exact = ((logits.argmax(-1) == labels) | (labels < 0)).all(1).tolist()
        for one, ok in zip(some, exact, strict=True):
            right.setdefault(one.task, []).append(ok)
    network.train()
    return {"loss": round(loss / count, 4), **{task: round(sum(r) / len(r), 3) for task, r in right.items()}}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--chunk", type=int, default=20000)
    parser.add_argument("--rate", type=float, default=6e-4)
    parser.add_argument("--encoder-rate", type=float, default=2e-4)
    parser.add_argument("--kind", default="bf16")
    parser.add_argument("--init", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed)
    o.run.mkdir(parents=True, exist_ok=True)
    symbols = vocabulary(list(FORMS.values()))
    (o.run / "symbols.json").write_text(json.dumps(symbols))
    pieces = WordPieces.of((o.model / "vocab.txt").read_text(encoding="utf-8").split("\n")[:30522])
    encoder = Encoder(pieces, symbols)
    network = Network(len(symbols))
    with torch.no_grad():
        pretrained(network, o.model)
        if o.init:
            network.load_state_dict(load_file(o.init))
    network.words.weight.requires_grad_(False)
    inner = [p for n, p in network.named_parameters() if p.requires_grad and n.split(".")[0] in ("encoder", "places", "segments", "norm")]
    outer = [p for n, p in network.named_parameters() if p.requires_grad and n.split(".")[0] not in ("encoder", "places", "segments", "norm")]
    optimiser = torch.optim.AdamW([{"params": inner, "rate": o.encoder_rate}, {"params": outer, "rate": o.rate}], betas=(0.9, 0.98), weight_decay=0.01)
    book = read_book()
    checks = {"wordings": draw_all(Generator(book, 1001, kept=True), 600), "hands": draw_all(Generator(book, 1002, hands="held_out"), 600)}
    log = (o.run / "log.jsonl").open("a")
    began, seen, steps, chunk = time.monotonic(), 0, 0, 0
    rng = random.Random(o.seed)
    spent = 0.0
    while spent < o.minutes:
        chunk += 1
        try:
            book = read_book()
        except Exception as error:  # a template file that is being written
            print("templates", error, flush=True)
        rows = [encoder.sample(one) for one in draw_all(Generator(book, 100000 * o.seed + chunk), o.chunk)]
        rows.sort(key=lambda row: len(row[0]) + len(row[4]) + rng.random() * 6)
        batches = [rows[n : n + o.batch] for n in range(0, len(rows), o.batch)]
        rng.shuffle(batches)
        losses = []
        for rows_of in batches:
            spent = (time.monotonic() - began) / 60
            if spent > o.minutes:
                break
            share = min(1.0, spent / o.minutes)
            factor = min(1.0, (steps + 1) / 400) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share)))
            for group in optimiser.param_groups:
                group["lr"] = group["rate"] * factor
            batch, labels = batch_of(rows_of, encoder.numbers)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=o.kind == "bf16"):
                logits = network(batch)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([*inner, *outer], 1.0)
            optimiser.step()
            losses.append(float(loss.detach()))
            steps += 1
            seen += len(rows_of)
            if steps % 50 == 0:
                print(f"{steps} steps, {seen} samples, {seen / 60 / spent:.0f}/s, loss {sum(losses[-50:]) / len(losses[-50:]):.4f}", flush=True)
        found = {name: accuracy(network, encoder, some, o.kind) for name, some in checks.items()}
        line = {"minutes": round(spent, 1), "seen": seen, "train": round(sum(losses) / max(1, len(losses)), 4), **found}
        print(json.dumps(line), flush=True)
        log.write(json.dumps(line) + "\n")
        log.flush()
        save_file(network.state_dict(), o.run / "part.safetensors")
        (o.run / "part.safetensors").replace(o.run / "network.safetensors")


if __name__ == "__main__":
    main()
