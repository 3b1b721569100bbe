"""Policy files: safetensors in half precision with the sizes as metadata, so loading executes no code."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.learned.velocity_field import (
    Array,
    NetworkField,
    Normaliser,
    PolicySpec,
    check_tensors,
    spec_from_table,
)

_PARTS = ("mean", "scale")
Tensor = TypeVar("Tensor")  # numpy or torch


def save_policy(path: Path, field: NetworkField, notes: Mapping[str, object] | None = None) -> None:
    """Write a policy to `path` atomically, with `notes` in the metadata."""
    tensors: dict[str, Any] = {name: value.astype(np.float16) for name, value in field.weights.items()}
    metadata = {"spec": json.dumps(asdict(field.spec)), "notes": json.dumps(dict(notes or {}), sort_keys=True)}
    write_tensors(path, tensors | normaliser_tensors(field.normalisers), metadata)


def load_policy(path: Path) -> NetworkField:
    """Load a policy; raises InputError if the file is invalid."""
    tensors, metadata = read_tensors(path)
    try:
        spec = read_spec(metadata, "spec")
        field = NetworkField(spec, tensors, **read_normalisers(tensors, spec))
        refuse_unknown(tensors, (*field.weights, *normaliser_tensors(field.normalisers)))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return field


def read_notes(path: Path) -> dict[str, Any]:
    """Return the notes of `save_policy`, {} if there are none; raises InputError for an unreadable file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            notes = json.loads((file.metadata() or {}).get("notes", "{}"))
    except (OSError, SafetensorError, ValueError) as error:
        raise InputError(f"{path}: its notes cannot be read: {error}") from error
    return notes if isinstance(notes, dict) else {}


def write_tensors(path: Path, tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file atomically; equal content gives equal bytes."""
    from safetensors.numpy import save

    write_atomically(path, _in_order(save(dict(tensors), dict(metadata))))


def _in_order(content: bytes) -> bytes:
    """Sort the metadata, whose order the library leaves to chance."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text = text.ljust(-(-len(text) // 8) * 8)  # tensors start at aligned offsets
    return len(text).to_bytes(8, "little") + text + content[end:]


def read_tensors(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """Return tensors in single precision and metadata; raises InputError if the file is not safetensors."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            tensors = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
            return tensors, file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path}: cannot be read as safetensors: {error}") from error


def refuse_unknown(tensors: Mapping[str, Array], known: Collection[str]) -> None:
    """Raise InputError naming a tensor that is not in `known`."""
    unknown = sorted(set(tensors) - set(known))
    if unknown:
        raise InputError(f"{unknown[0]!r} is not a known tensor; the known ones are: {', '.join(sorted(known))}")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file atomically: a reader sees the old or the new content, even after a power failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # makes the rename durable
    finally:
        os.close(folder)


def read_spec(metadata: Mapping[str, str], key: str) -> PolicySpec:
    """Return the policy sizes under `key`; raises InputError if there are none."""
    try:
        return spec_from_table(PolicySpec, json.loads(metadata[key]))
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(f"its metadata has no sizes of a policy under {key!r}: {error}") from error


def normaliser_tensors(normalisers: Mapping[str, Normaliser]) -> dict[str, Array]:
    """Return normalisers as tensors for a file: the inverse of `read_normalisers`."""
    return {f"{name}.{part}": getattr(normaliser, part) for name, normaliser in normalisers.items() for part in _PARTS}


def read_normalisers(tensors: Mapping[str, Array], spec: PolicySpec) -> dict[str, Normaliser]:
    """Return the normalisers of observations, goals and actions; raises InputError if one is missing or misshapen."""
    sizes = {"observations": spec.observation_dim, "goals": spec.goal_dim, "actions": spec.action_dim}
    check_tensors(tensors, {f"{name}.{part}": (size,) for name, size in sizes.items() for part in _PARTS})
    for name in sizes:
        if not (tensors[f"{name}.scale"] > 0).all():
            raise InputError(f"{name}.scale must be above 0 throughout")
    return {name: Normaliser(tensors[f"{name}.mean"], tensors[f"{name}.scale"]) for name in sizes}


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the entries whose names start with `prefix`, without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
