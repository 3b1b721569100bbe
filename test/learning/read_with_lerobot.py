"""Not a test: run where lerobot is installed, it writes what lerobot reads in data sets, for a test to compare.

python read_with_lerobot.py OUT FOLDER...    writes OUT/0.npz for the first folder, OUT/1.npz for the second
"""

import sys
from pathlib import Path

import numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset

WINDOWS = {"observation.state": [-0.1, 0.0], "action": [0.0, 0.1, 0.2, 0.3]}

out, *folders = sys.argv[1:]
for number, folder in enumerate(folders):
    data = LeRobotDataset("local/test", root=folder, delta_timestamps=WINDOWS)
    frames = [data[index] for index in range(len(data))]
    numbers = {name: np.stack([np.asarray(frame[name]) for frame in frames]) for name in frames[0] if name != "task"}
    numbers["task"] = np.array([frame["task"] for frame in frames])
    numbers["mean of action"] = data.meta.stats["action"]["mean"]
    numbers["episodes"] = np.array([data.num_episodes])
    part = LeRobotDataset("local/test", root=folder, episodes=[1], delta_timestamps=WINDOWS)
    numbers["second episode"] = np.stack([np.asarray(part[index]["action"]) for index in range(len(part))])
    np.savez(Path(out) / f"{number}.npz", **numbers)
