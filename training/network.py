"""The network while it is trained: a pretrained sentence encoder, and a decoder that writes results and copies words.

`llm_planner/language/embedded/network.py` runs the same network in numpy; the names of the weights are these.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, ENCODER_LAYERS, ENCODER_INNER = 384, 12, 6, 1536
DECODER_LAYERS, DECODER_INNER = 3, 1024
PIECES, PLACES, STEPS = 30522, 512, 128
_NEVER = -1e4  # added to what must not be attended to or chosen


class Dropout(nn.Module):
    """One mask for all places of a sentence, which is cheap to draw (Gal and Ghahramani, arXiv:1512.05287)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        """Drop features of (rows, places, width)."""
        if not self.training:
            return x
        kept = torch.rand(x.shape[0], 1, x.shape[2]) >= self.share
        return x * (kept.to(x.dtype) / (1 - self.share))


class Attention(nn.Module):
    """Attention of several heads, written out: on short sentences that is faster than torch's own on a CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None, causal: bool = False) -> Tensor:
        """Look up (rows, places, width) in the memory; `mask` is added to the scores."""

        def heads(t: Tensor) -> Tensor:
            return t.view(t.shape[0], t.shape[1], HEADS, -1).transpose(1, 2)

        q, k, v = heads(self.q(x)), heads(self.k(memory)), heads(self.v(memory))
        scores = (q @ k.transpose(2, 3)).float() * (WIDTH // HEADS) ** -0.5
        if causal:
            scores = scores + torch.full(scores.shape[2:], _NEVER).triu(1)
        if mask is not None:
            scores = scores + mask
        found = scores.softmax(-1).to(v.dtype) @ v
        return self.o(found.transpose(1, 2).reshape(x.shape))


class EncoderLayer(nn.Module):
    """A layer of BERT."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.attention = Attention()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
        self.inner, self.outer = nn.Linear(WIDTH, ENCODER_INNER), nn.Linear(ENCODER_INNER, WIDTH)
        self.drop = Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Encode further."""
        x = self.norm1(x + self.drop(self.attention(x, x, mask)))
        return self.norm2(x + self.drop(self.outer(functional.gelu(self.inner(x)))))


class DecoderLayer(nn.Module):
    """Looks at what was written and at what was said; normalises first."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.self_attention, self.cross_attention = Attention(), Attention()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.inner, self.outer = nn.Linear(WIDTH, DECODER_INNER), nn.Linear(DECODER_INNER, WIDTH)
        self.drop = Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """Decode further."""
        y = self.norm1(x)
        x = x + self.drop(self.self_attention(y, y, None, causal=True))
        x = x + self.drop(self.cross_attention(self.norm2(x), memory, mask))
        return x + self.drop(self.outer(functional.gelu(self.inner(self.norm3(x)))))


class Network(nn.Module):
    """Encoder and decoder.

    Args:
        symbols: how many symbols results have.
        dropout: share of features that are dropped in training.
    """

    def __init__(self, symbols: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(PIECES, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.segments, self.norm = nn.Embedding(2, WIDTH), nn.LayerNorm(WIDTH, 1e-12)
        self.encoder = nn.ModuleList(EncoderLayer(dropout) for _ in range(ENCODER_LAYERS))
        self.symbols = nn.Embedding(symbols + 3, WIDTH)  # the last three: a copy begins, a copy ends, the start
        self.steps = nn.Embedding(STEPS, WIDTH)
        self.decoder = nn.ModuleList(DecoderLayer(dropout) for _ in range(DECODER_LAYERS))
        self.last, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, symbols)
        self.begins, self.ends = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.drop = Dropout(dropout)
        nn.init.normal_(self.symbols.weight, std=0.05)
        nn.init.normal_(self.steps.weight, std=0.05)

    def encode(self, tokens: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Encode (rows, places) of numbers of word pieces."""
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1])) + self.segments(segments)
        x = self.drop(self.norm(x))
        for layer in self.encoder:
            x = layer(x, mask[:, None, None, :])
        return x

    def forward(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return logits (rows, steps, symbols + words as begins + words as ends)."""
        mask = torch.where(batch["mask"], 0.0, _NEVER)
        memory = self.encode(batch["tokens"], batch["segments"], mask)
        rows = torch.arange(memory.shape[0])[:, None]
        begins, ends = memory[rows, batch["firsts"]], memory[rows, batch["lasts"]]
        x = self.symbols(batch["inputs"]) + self.steps(torch.arange(batch["inputs"].shape[1]))
        x = self.drop(x + memory[rows, batch["copied"]] * (batch["copied"] >= 0)[..., None])
        for layer in self.decoder:
            x = layer(x, memory, mask[:, None, None, :])
        x = self.last(x)
        none = torch.where(batch["words"], 0.0, _NEVER)[:, None, :]
        logits = [
            self.out(x).float(),
            (self.begins(x) @ begins.transpose(1, 2)).float() * WIDTH**-0.5 + none,
            (self.ends(x) @ ends.transpose(1, 2)).float() * WIDTH**-0.5 + none,
        ]
        return torch.cat(logits, -1)


@torch.no_grad()
def take_pretrained(network: Network, folder: Path) -> None:
    """Take the encoder's weights from the folder of all-MiniLM-L6-v2."""
    found = load_file(folder / "model.safetensors")
    names = {
        "words.weight": "embeddings.word_embeddings.weight", "places.weight": "embeddings.position_embeddings.weight",
        "segments.weight": "embeddings.token_type_embeddings.weight", "norm.weight": "embeddings.LayerNorm.weight",
        "norm.bias": "embeddings.LayerNorm.bias",
    }  # fmt: skip
    for n in range(ENCODER_LAYERS):
        for ours, theirs in (("attention.q", "attention.self.query"), ("attention.k", "attention.self.key"),
                             ("attention.v", "attention.self.value"), ("attention.o", "attention.output.dense"),
                             ("norm1", "attention.output.LayerNorm"), ("inner", "intermediate.dense"),
                             ("outer", "output.dense"), ("norm2", "output.LayerNorm")):  # fmt: skip
            for part in ("weight", "bias"):
                names[f"encoder.{n}.{ours}.{part}"] = f"encoder.layer.{n}.{theirs}.{part}"
    state = network.state_dict()
    for ours, theirs in names.items():
        state[ours].copy_(found[theirs])
