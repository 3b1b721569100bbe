"""Not a test: run where lerobot is installed, it saves a small DiffusionPolicy with its processors, untrained.

python make_tiny_policy.py FOLDER
"""

import sys

import torch
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.diffusion.modeling_diffusion import DiffusionPolicy
from lerobot.policies.factory import make_pre_post_processors

LEAST, MOST = [0.42, -0.02, 0.25, -0.1, 0.0], [0.48, 0.02, 0.32, 0.1, 0.08]  # of actions: close around a place

torch.manual_seed(0)
config = DiffusionConfig(
    input_features={
        "observation.state": PolicyFeature(FeatureType.STATE, (5,)),
        "observation.environment_state": PolicyFeature(FeatureType.ENV, (4,)),
    },
    output_features={"action": PolicyFeature(FeatureType.ACTION, (5,))},
    down_dims=(16, 32),
    diffusion_step_embed_dim=16,
    num_inference_steps=2,
    device="cpu",
)
one = {"min": torch.full((5,), -1.0), "max": torch.ones(5)}
statistics = {
    "observation.state": one,
    "observation.environment_state": {name: values[:4] for name, values in one.items()},
    "action": {"min": torch.tensor(LEAST), "max": torch.tensor(MOST)},
}
before, after = make_pre_post_processors(config, dataset_stats=statistics)
for part in (DiffusionPolicy(config), before, after):
    part.save_pretrained(sys.argv[1])
