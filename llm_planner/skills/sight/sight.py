"""What is read off a picture: where a thing that words name is to be taken, and how."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.aim import Aim
from llm_planner.skills.gripper_shape import OPENING_MAX, TIP, Grip, comfortable_yaw
from llm_planner.skills.policies.weights_file import read_tensors, refuse_unknown, write_tensors
from llm_planner.skills.reach import into_reach
from llm_planner.skills.sight.network import CELL_ROWS, Likely, SightNetwork
from llm_planner.skills.sight.spec import BINS, LENGTH, spec_from_table
from llm_planner.skills.sight.table_view import CELL, ROWS, X_MIN, Y_MIN, Image, laid_out

SIDE = CELL * ROWS / CELL_ROWS  # [m] of a cell of the network
NARROWEST = 0.004  # [m] thinner than what there is to take


@dataclass(frozen=True)
class Glimpse:
    """The `aim` of a pick, with the numbers opening and width [m], and how sure it is that the thing is in the picture
    at all."""

    aim: Aim
    sure: float


def glimpse(network: SightNetwork, picture: Image, kind: str, color: str) -> Glimpse:
    """Where the thing of that kind and colour is to be taken, by a picture of the overview camera.

    Raises InputError for words that the network has not learned.
    """
    likely = network.likely(laid_out(picture), kind, color)
    return Glimpse(_aim(likely), 1.0 - likely.nowhere)


def _aim(likely: Likely) -> Aim:
    bin_, row, column = (int(i) for i in np.unravel_index(int(likely.places.argmax()), likely.places.shape))
    dx, dy, z, width, opening = (LENGTH * likely.numbers[:, row, column]).tolist()
    x, y = X_MIN + (row + 0.5) * SIDE + dx, Y_MIN + (column + 0.5) * SIDE + dy
    near = likely.places[[(bin_ + k) % BINS for k in (-1, 0, 1)], row, column]
    yaw = (bin_ + float(near[2] - near[0]) / max(float(near.sum()), 1e-9)) * math.pi / BINS
    grip = into_reach(Grip(x, y, max(z, TIP + 0.001), comfortable_yaw(x, y, yaw)))
    width = max(width, NARROWEST)
    return Aim(grip, {"opening": min(max(opening, width), OPENING_MAX), "width": width})


def save_sight(path: Path, network: SightNetwork, notes: Mapping[str, object]) -> None:
    """Write it to `path`, whole or not at all, in half precision; `notes` are kept beside the sizes."""
    tensors = {name: value.astype(np.float16) for name, value in network.weights.items()}
    metadata = {"sight": json.dumps(network.spec.to_table()), "notes": json.dumps(dict(notes), sort_keys=True)}
    write_tensors(path, tensors, metadata)  # type: ignore[arg-type]  # which takes any precision


def load_sight(path: Path) -> SightNetwork:
    """The network in `path`; raises InputError that says what is wrong with the file."""
    tensors, metadata = read_tensors(path)
    try:
        network = SightNetwork(spec_from_table(json.loads(metadata["sight"])), tensors)
        refuse_unknown(tensors, tuple(network.weights))
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(f"{path}: no weights of sight: {error}") from error
    return network
