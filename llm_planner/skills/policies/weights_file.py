"""A policy in a file: safetensors, in half precision, with its sizes as metadata. Nothing in it can run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.field import NetworkField
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.skills.policies.spec import spec_from_table

_NORMALISERS = ("observations", "goals", "actions")


def save_policy(path: Path, field: NetworkField, notes: Mapping[str, object] | None = None) -> None:
    """Write it to `path`, whole or not at all; `notes` are kept beside the sizes."""
    from safetensors.numpy import save

    tensors = {name: value.astype(np.float16) for name, value in field.weights.items()}
    for name in _NORMALISERS:
        normaliser = getattr(field, name)
        tensors[f"{name}.mean"], tensors[f"{name}.scale"] = normaliser.mean, normaliser.scale
    metadata = {"spec": json.dumps(field.spec.to_table()), "notes": json.dumps(dict(notes or {}), sort_keys=True)}
    write_whole(path, save(tensors, metadata))


def load_policy(path: Path) -> NetworkField:
    """The policy in `path`; raises InputError that says what is wrong with the file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path}: cannot be read as safetensors: {error}") from error
    try:
        spec = spec_from_table(json.loads(metadata["spec"]))
    except (KeyError, ValueError, InputError) as error:
        raise InputError(f"{path}: its metadata has no sizes of a policy: {error}") from error
    sizes = dict(zip(_NORMALISERS, (spec.observation_dim, spec.goal_dim, spec.action_dim), strict=True))
    try:
        normalisers = {name: _normaliser(tensors, name, size) for name, size in sizes.items()}
        return NetworkField(spec, tensors, **normalisers)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def write_whole(path: Path, content: bytes) -> None:
    """A reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def _normaliser(tensors: Mapping[str, Array], name: str, size: int) -> Normaliser:
    values = []
    for part in ("mean", "scale"):
        value = tensors.get(f"{name}.{part}")
        if value is None or value.shape != (size,) or not np.isfinite(value).all():
            raise InputError(f"{name}.{part} must be {size} finite numbers")
        values.append(value)
    if not (values[1] > 0).all():
        raise InputError(f"{name}.scale must be above 0 throughout")
    return Normaliser(values[0], values[1])
