"""Who is compared: our policies and lerobot's, trained from the same demonstrations, the weights kept in a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from llm_planner.skills.learned.weights_file import load_policy, save_policy, write_atomically
from meta_world import our_policy, peer_policy
from meta_world.episodes import Episode
from meta_world.rollouts import ChunkPolicy


class Contender(Protocol):
    """Trains into a file, and acts from it. `name` is shown; `weights` names the file, which several may share."""

    name: str
    weights: str
    tasks: Sequence[str]
    episodes: int  # it is judged on at most; the rest would take days
    chunks: int  # its latency is measured on

    def train(self, shown: Sequence[Episode], path: Path) -> dict[str, float]:
        """What it took."""
        ...

    def load(self, path: Path) -> ChunkPolicy: ...


@dataclass(frozen=True)
class Ours:
    """Our network, trained for `objective`; from noise of `deviation` to a chunk in `flow_steps`."""

    name: str
    objective: str
    flow_steps: int
    deviation: float
    tasks: Sequence[str]
    steps: int
    episodes: int = 1_000_000
    chunks: int = 1000

    @property
    def weights(self) -> str:
        return f"ours-{self.objective}-{self.steps}-steps.safetensors"

    def train(self, shown: Sequence[Episode], path: Path) -> dict[str, float]:
        network, taken = our_policy.train(shown, self.objective, self.steps)
        save_policy(path, network)
        return taken | {"parameters": float(sum(value.size for value in network.weights.values()))}

    def load(self, path: Path) -> ChunkPolicy:
        return our_policy.policy(load_policy(path), self.flow_steps, self.deviation)


@dataclass(frozen=True)
class Peers:
    """lerobot's DiffusionPolicy with `changed` of its defaults; trained for `steps`, or less where `seconds` end it."""

    name: str
    weights: str
    tasks: Sequence[str]
    steps: int
    seconds: float
    episodes: int
    chunks: int
    changed: dict[str, Any] = field(default_factory=dict)

    def train(self, shown: Sequence[Episode], path: Path) -> dict[str, float]:
        settings = peer_policy.PeerSettings(self.changed, self.steps)
        peer, taken = peer_policy.train_peer(shown, settings, self.seconds)
        peer_policy.save_peer(path, peer)
        return taken | {"parameters": float(peer.parameters)}

    def load(self, path: Path) -> ChunkPolicy:
        return peer_policy.load_peer(path, self.changed)


def trained(contender: Contender, task: str, folder: Path, shown: Sequence[Episode]) -> ChunkPolicy:
    """From the folder, or trained now and kept there, with what that took beside it."""
    path = folder / f"{task}-{contender.weights}"
    if not path.exists():
        taken = contender.train(shown, path)
        write_atomically(path.with_suffix(".json"), json.dumps(taken).encode())
    return contender.load(path)


def training_facts(contender: Contender, task: str, folder: Path) -> dict[str, float]:
    """Steps, CPU seconds and parameters."""
    facts: dict[str, float] = json.loads((folder / f"{task}-{contender.weights}").with_suffix(".json").read_text())
    return facts


def played_file(contender: Contender, task: str, folder: Path) -> Path:
    """Where the episodes that it has played are kept."""
    name = contender.name.replace(" ", "-").replace(",", "")
    return folder / f"{task}-{Path(contender.weights).stem}-{name}-played.json"
