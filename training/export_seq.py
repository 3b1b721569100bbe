"""Write a trained network as it ships: bytes with a scale a row.

    python -m training.export_seq RUN FOLDER
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from safetensors.numpy import load_file, save_file

from llm_planner.language.embedded.network import quantised


def export(run: Path, folder: Path, pieces: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    weights: dict = {}
    for name, matrix in load_file(run / "network.safetensors").items():
        matrix = matrix[:160] if name == "places.weight" else matrix
        weights |= quantised(name, matrix)
    save_file(weights, folder / "network.safetensors")
    shutil.copy(run / "symbols.json", folder)
    lines = pieces.read_text(encoding="utf-8").split("\n")[:30522]
    (folder / "pieces.txt").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
