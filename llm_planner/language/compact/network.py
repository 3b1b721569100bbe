"""The compact model's network, in torch, for training only; `inference.py` runs the same weights in numpy.

A transformer (arXiv:1706.03762, pre-norm) encodes words and scene entries together; a decoder expands the grammar's
symbols one by one. Its output is one softmax over productions and pointers (arXiv:1506.03134) to input positions. How
well a typed word fits a name of the scene enters as a bias on the encoder's attention, so that copying a name does not
depend on having seen it in training.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from llm_planner.language.compact.grammar import Grammar
from llm_planner.language.compact.words import BUCKETS

MAX_POSITION = 80


@dataclass(frozen=True)
class NetworkSize:
    """Widths and depths; stored with the weights."""

    width: int = 128
    heads: int = 4
    hidden: int = 384
    encoder_layers: int = 3
    decoder_layers: int = 3


class Attention(nn.Module):
    """Multi-head attention with an additive bias on its logits."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor, memory: Tensor, bias: Tensor) -> Tensor:
        """x (B, T, width), memory (B, S, width), bias broadcastable to (B, heads, T, S)."""
        q, k, v = self._split(self.query(x)), self._split(self.key(memory)), self._split(self.value(memory))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        out: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return out

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)


class FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.outer(F.relu(self.inner(x)))
        return out


class EncoderLayer(nn.Module):
    def __init__(self, size: NetworkSize) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.attention = Attention(size.width, size.heads)
        self.feed = FeedForward(size.width, size.hidden)
        self.match_scale = nn.Parameter(torch.linspace(0.0, 3.0, size.heads))

    def forward(self, x: Tensor, padding: Tensor, match: Tensor, drop: float) -> Tensor:
        bias = padding[:, None, None, :] + self.match_scale[:, None, None] * match[:, None]
        y = self.norm1(x)
        x = x + F.dropout(self.attention(y, y, bias), drop, self.training)
        return x + F.dropout(self.feed(self.norm2(x)), drop, self.training)


class DecoderLayer(nn.Module):
    def __init__(self, size: NetworkSize) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(size.width) for _ in range(3))
        self.attention, self.cross = Attention(size.width, size.heads), Attention(size.width, size.heads)
        self.feed = FeedForward(size.width, size.hidden)

    def forward(self, x: Tensor, memory: Tensor, causal: Tensor, padding: Tensor, drop: float) -> Tensor:
        y = self.norm1(x)
        x = x + F.dropout(self.attention(y, y, causal), drop, self.training)
        x = x + F.dropout(self.cross(self.norm2(x), memory, padding[:, None, None, :]), drop, self.training)
        return x + F.dropout(self.feed(self.norm3(x)), drop, self.training)


class Network(nn.Module):
    """Scores for every step of a derivation, given the steps before it."""

    def __init__(self, grammar: Grammar, size: NetworkSize = NetworkSize(), dropout: float = 0.1) -> None:
        super().__init__()
        productions = len(grammar.productions)
        self.dropout = dropout
        self.grams = nn.EmbeddingBag(BUCKETS, size.width, mode="mean")
        self.segment = nn.Embedding(len(grammar.segments), size.width)
        self.position = nn.Embedding(MAX_POSITION, size.width)
        self.encoder = nn.ModuleList(EncoderLayer(size) for _ in range(size.encoder_layers))
        self.encoded = nn.LayerNorm(size.width)
        self.previous = nn.Embedding(productions + 1, size.width)  # the last one starts a derivation
        self.pointed = nn.Linear(size.width, size.width)
        self.symbol = nn.Embedding(len(grammar.symbols), size.width)
        self.loops = nn.Embedding(grammar.max_loops + 1, size.width)
        self.step = nn.Embedding(grammar.max_steps, size.width)
        self.decoder = nn.ModuleList(DecoderLayer(size) for _ in range(size.decoder_layers))
        self.decoded = nn.LayerNorm(size.width)
        self.production = nn.Linear(size.width, productions)
        self.point_query, self.point_key = nn.Linear(size.width, size.width), nn.Linear(size.width, size.width)
        for module in (self.grams, self.segment, self.position, self.previous, self.symbol, self.loops, self.step):
            nn.init.normal_(module.weight, std=0.5 if module is self.grams else 0.1)

    def encode(
        self, grams: Tensor, offsets: Tensor, segment: Tensor, position: Tensor, match: Tensor, padding: Tensor
    ) -> Tensor:
        """Memory (B, S, width) from flattened n-grams; padding (B, S) is 0 or -inf."""
        x = self.grams(grams, offsets).view(*segment.shape, -1) + self.segment(segment) + self.position(position)
        for layer in self.encoder:
            x = layer(x, padding, match, self.dropout)
        memory: Tensor = self.encoded(x)
        return memory

    def decode(
        self, memory: Tensor, padding: Tensor, previous: Tensor, pointed: Tensor, symbol: Tensor, loops: Tensor
    ) -> Tensor:
        """Logits (B, T, productions + S); previous (B, T) productions, pointed (B, T) positions or -1."""
        index = pointed.clamp(min=0)[..., None].expand(-1, -1, memory.shape[-1])
        copied = self.pointed(memory.gather(1, index)) * (pointed >= 0)[..., None]
        steps = torch.arange(previous.shape[1])
        x = self.previous(previous) + copied + self.symbol(symbol) + self.loops(loops) + self.step(steps)
        causal = torch.full((len(steps), len(steps)), float("-inf")).triu(1)
        for layer in self.decoder:
            x = layer(x, memory, causal, padding, self.dropout)
        x = self.decoded(x)
        points = self.point_query(x) @ self.point_key(memory).transpose(1, 2) / memory.shape[-1] ** 0.5
        return torch.cat([self.production(x), points], dim=-1)
