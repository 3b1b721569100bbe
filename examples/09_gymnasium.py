"""Use worlds and skills as a Gymnasium environment: each action is one skill call."""

import gymnasium

import llm_planner.gym_env  # noqa: F401 - registers the environment

env = gymnasium.make(
    "llm_planner/Skills-v0",
    objects="red block, green bowl",
    calls=('pick("red block")', 'place_in("green bowl")', "go_home()"),
    goal="in(red block, green bowl)",
)
observation, _ = env.reset(seed=3)
for action in (0, 1):
    observation, reward, terminated, _, info = env.step(action)
    print("action", action, "reward", reward, "terminated", terminated, "succeeded", info["succeeded"])
