"""A policy in a file: safetensors, in half precision, with its sizes as metadata. Nothing in it can run."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.field import NetworkField, weight_shapes
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.skills.policies.spec import spec_from_table

_NORMALISERS = ("observations", "goals", "actions")
_PARTS = ("mean", "scale")


def save_policy(path: Path, field: NetworkField, notes: Mapping[str, object] | None = None) -> None:
    """Write it to `path`, whole or not at all; `notes` are kept beside the sizes."""
    from safetensors.numpy import save

    tensors: dict[str, Any] = {name: value.astype(np.float16) for name, value in field.weights.items()}
    for name in _NORMALISERS:
        tensors |= normaliser_tensors(name, getattr(field, name))
    metadata = {"spec": json.dumps(field.spec.to_table()), "notes": json.dumps(dict(notes or {}), sort_keys=True)}
    write_whole(path, save(tensors, metadata))


def load_policy(path: Path) -> NetworkField:
    """The policy in `path`; raises InputError that says what is wrong with the file."""
    tensors, metadata = read_tensors(path)
    try:
        spec = spec_from_table(json.loads(metadata["spec"]))
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(f"{path}: its metadata has no sizes of a policy: {error}") from error
    sizes = dict(zip(_NORMALISERS, (spec.observation_dim, spec.goal_dim, spec.action_dim), strict=True))
    try:
        normalisers = {name: read_normaliser(tensors, name, size) for name, size in sizes.items()}
        refuse_unknown(tensors, {*weight_shapes(spec), *(f"{name}.{part}" for name in sizes for part in _PARTS)})
        return NetworkField(spec, tensors, **normalisers)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def read_tensors(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """What a safetensors file holds, in single precision, and its metadata; raises InputError where it is none."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            tensors = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
            return tensors, file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path}: cannot be read as safetensors: {error}") from error


def refuse_unknown(tensors: Mapping[str, Array], known: Collection[str]) -> None:
    """Raises InputError naming a tensor that means nothing here: the file is not what it says."""
    unknown = sorted(set(tensors) - set(known))
    if unknown:
        raise InputError(f"{unknown[0]!r} is no tensor of it; it holds: {', '.join(sorted(known))}")


def write_whole(path: Path, content: bytes) -> None:
    """A reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def normaliser_tensors(name: str, normaliser: Normaliser) -> dict[str, Array]:
    """As they are kept in a file; `read_normaliser` is the inverse."""
    return {f"{name}.mean": normaliser.mean, f"{name}.scale": normaliser.scale}


def read_normaliser(tensors: Mapping[str, Array], name: str, size: int) -> Normaliser:
    """Raises InputError where it is missing, of another size than `size`, or cannot normalise."""
    values = []
    for part in _PARTS:
        value = tensors.get(f"{name}.{part}")
        if value is None or value.shape != (size,) or not np.isfinite(value).all():
            raise InputError(f"{name}.{part} must be {size} finite numbers")
        values.append(value)
    if not (values[1] > 0).all():
        raise InputError(f"{name}.scale must be above 0 throughout")
    return Normaliser(values[0], values[1])
