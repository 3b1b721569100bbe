"""Policy server for skills, with a policy that LeRobot trained (diffusion, act, pi0, smolvla, ...).

python examples/lerobot_policy_server.py CHECKPOINT --see observation.state=hand,width,qpos

It runs on a machine with lerobot (written for 0.4.4), which need not be the robot's. CHECKPOINT is a folder that
lerobot saved, with its processors. An action of the policy contains x, y, z [m] and yaw [rad] of the downward-pointing
hand in the base frame, the width between the fingertips [m] and optionally, as sixth number, whether the skill is done.
Each --see fills a feature of the observation with the listed parts, in this order:

    hand             x, y, z [m] and yaw [rad]
    width            distance between the fingertips [m]
    qpos             positions of the arm's joints [rad]
    thing:PARAMETER  x, y, z [m] and yaw [rad] of the object that the skill's parameter names

All image features receive the camera's picture; the task is the skill's instruction. LeRobot's own policy server is not
used, because it receives pickles, which can run arbitrary code.
"""

import argparse
import base64
import io
import math
from pathlib import Path

import numpy as np
import torch
from lerobot.configs.policies import PreTrainedConfig
from lerobot.policies.factory import get_policy_class, make_pre_post_processors
from lerobot.utils.control_utils import predict_action
from policy_server import server_of


class Served:
    """Policy that answers requests; `seen` maps each feature that is not an image to its parts."""

    def __init__(self, checkpoint, seen, fps, device):
        config = PreTrainedConfig.from_pretrained(checkpoint)
        config.device = device
        self.policy = get_policy_class(config.type).from_pretrained(checkpoint, config=config)
        self.policy.eval()
        override = {"preprocessor_overrides": {"device_processor": {"device": device}}}
        self.before, self.after = make_pre_post_processors(config, pretrained_path=str(checkpoint), **override)
        self.config, self.seen, self.dt, self.device = config, seen, 1 / fps, torch.device(device)
        numbers = config.output_features["action"].shape[0]
        if numbers not in (5, 6):
            raise SystemExit(f"the policy's actions have {numbers} numbers, not x, y, z, yaw, width and perhaps done")
        wanted = [name for name in config.input_features if name not in (*config.image_features, *seen)]
        if wanted:
            raise SystemExit(f"say with --see what the policy is shown as {wanted[0]}")

    def act(self, question):
        """Return the next actions; the policy is reset first, so it depends on the newest observation only."""
        self.policy.reset()
        rows = [self._next(question) for _ in range(getattr(self.config, "n_action_steps", 1))]
        return {"actions": [[*row, 0][:6] for row in rows], "dt": self.dt}

    def _next(self, question):
        action = predict_action(
            self._observation(question), self.policy, self.device, self.before, self.after, use_amp=False,
            task=question["instruction"],
        )  # fmt: skip
        return action.squeeze(0).tolist()

    def _observation(self, question):
        found = {name: np.array(_numbers(parts, question), np.float32) for name, parts in self.seen.items()}
        for name, values in found.items():
            size = self.config.input_features[name].shape[0]
            if len(values) != size:
                raise ValueError(f"{name} is shown {len(values)} numbers, and the policy knows {size}")
        for name, feature in self.config.image_features.items():
            found[name] = _picture(question, feature.shape)
        return found


def _numbers(parts, question):
    state, numbers = question["state"], []
    for part in parts:
        if part.startswith("thing:"):
            named = question["arguments"][part.removeprefix("thing:")]
            item = next(item for item in question["scene"]["objects"] if item["name"] == named)
            x, y, z, w = item["orientation"]
            numbers += [*item["position"], math.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z))]
        else:
            numbers += state[part] if part != "width" else [state["width"]]
    return numbers


def _picture(question, shape):
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(question["image"]))).convert("RGB")
    return np.asarray(picture.resize((shape[2], shape[1])))


def _seen(text):
    name, _, parts = text.partition("=")
    known = ("hand", "width", "qpos")
    for part in parts.split(","):
        if part not in known and not part.startswith("thing:"):
            raise argparse.ArgumentTypeError(f"{part!r} cannot be seen; {', '.join(known)} and thing:PARAMETER can")
    return name, parts.split(",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--see", type=_seen, action="append", default=[], metavar="FEATURE=PART,PART,...")
    parser.add_argument("--fps", type=float, default=10.0, help="actions a second that the policy was trained on")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--host", default="localhost", help="the address to listen at (default: this machine's own)")
    parser.add_argument("--port", type=int, default=8093, help="0 for any that is free")
    arguments = parser.parse_args()
    served = Served(arguments.checkpoint, dict(arguments.see), arguments.fps, arguments.device)
    server = server_of(served.act, arguments.host, arguments.port)
    print(f"http://{arguments.host}:{server.server_port}/act; end with Ctrl-C", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
