"""A network of few weights, none of them learned, and a table to speak of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from llm_planner.language.correction_requests import REQUESTS
from llm_planner.language.embedded.command_forms import COMMANDS, RULES
from llm_planner.language.embedded.network import BETWEEN, FIRST, HEADS, MOST_SYMBOLS, UNKNOWN, Network, WordPieces
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject
from training.results import quantised, vocabulary

WIDTH, INNER = 2 * HEADS, 3 * HEADS
PIECES = (UNKNOWN, FIRST, BETWEEN, "put", "the", "red", "blue", "block", "##s", "in", "bowl", "5", "cm", ",", ";", ":")
SYMBOLS = vocabulary([COMMANDS, RULES, REQUESTS])
THINGS = (("red block", "block", "red"), ("blue block", "block", "blue"), ("green bowl", "bowl", "green"),
          ("mug", "mug", ""), ("vase", "vase", ""), ("top drawer", "drawer", ""))  # fmt: skip
Weights = dict[str, NDArray[np.generic]]


def weights_of(seed: int) -> Weights:
    """Drawn at random, under the names that the training gives them."""
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "words.weight": (len(PIECES), WIDTH), "places.weight": (160, WIDTH), "segments.weight": (2, WIDTH),
        "symbols.weight": (len(SYMBOLS) + 3, WIDTH), "steps.weight": (MOST_SYMBOLS, WIDTH),
        "out.weight": (len(SYMBOLS), WIDTH), "begins.weight": (WIDTH, WIDTH), "ends.weight": (WIDTH, WIDTH),
    }  # fmt: skip
    blocks = {"encoder.0": ("attention",), "decoder.0": ("self_attention", "cross_attention")}
    for block, attentions in blocks.items():
        shapes |= {f"{block}.{name}.{part}.weight": (WIDTH, WIDTH) for name in attentions for part in "qkvo"}
        shapes |= {f"{block}.inner.weight": (INNER, WIDTH), f"{block}.outer.weight": (WIDTH, INNER)}
    found: Weights = {}
    for name, shape in shapes.items():
        found |= quantised(name, random.normal(0.0, 0.3, shape).astype(np.float32))
        if "." in name.removesuffix(".weight") or name.split(".")[0] in ("out", "begins", "ends"):
            found[name.replace(".weight", ".bias")] = np.zeros(shape[0], np.float16)
    norms = ["norm", "last", *(f"{block}.norm{n}" for block in blocks for n in (1, 2, 3))]
    found |= {f"{norm}.weight": np.ones(WIDTH, np.float16) for norm in norms}
    return found | {f"{norm}.bias": np.zeros(WIDTH, np.float16) for norm in norms}


@pytest.fixture(scope="session")
def drawn_weights() -> Callable[[int], Weights]:
    return weights_of


@pytest.fixture(scope="session")
def drawn_network() -> Callable[[int], Network]:
    """Makes one from a seed."""
    return lambda seed: Network(weights_of(seed), SYMBOLS, WordPieces.of(PIECES))


@pytest.fixture(scope="session")
def table() -> Scene:
    return Scene(0.0, tuple(SceneObject(name, kind, color, (0.0, 0.0, 0.0), IDENTITY, (0.04, 0.04, 0.04))
                            for name, kind, color in THINGS))  # fmt: skip
