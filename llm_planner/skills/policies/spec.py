"""What a policy is made of: the sizes that its weights, its data and whatever is composed with it must agree on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from llm_planner.errors import InputError

OBJECTIVES = ("flow", "regression")
TIME_FREQUENCIES = 8  # sines and cosines that tell the network the time of the flow


@dataclass(frozen=True)
class PolicySpec:
    """Sizes of a policy. A chunk is `horizon` actions, of which `n_action_steps` are carried out before the next one.

    `objective` is what it was trained for: "flow" (rectified flow, arXiv:2209.03003, 2210.02747) or "regression", the
    same network fitted to the mean of what was shown, which is what a flow gives in one step from no noise.
    """

    observation_dim: int
    goal_dim: int
    action_dim: int
    n_obs_steps: int = 2
    horizon: int = 16
    n_action_steps: int = 4
    width: int = 192
    depth: int = 3
    objective: str = "flow"

    def __post_init__(self) -> None:
        for name in ("observation_dim", "action_dim", "n_obs_steps", "horizon", "n_action_steps", "width", "depth"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise InputError(f"{name} of a policy must be a whole number above 0, not {value!r}")
        if type(self.goal_dim) is not int or self.goal_dim < 0:
            raise InputError(f"goal_dim of a policy must be a whole number, 0 or more, not {self.goal_dim!r}")
        if self.n_action_steps > self.horizon:
            raise InputError(f"n_action_steps ({self.n_action_steps}) must not exceed the horizon ({self.horizon})")
        if self.objective not in OBJECTIVES:
            raise InputError(f"objective is {self.objective!r}; the objectives are: {', '.join(OBJECTIVES)}")

    @property
    def chunk_dim(self) -> int:
        """Numbers in a chunk."""
        return self.horizon * self.action_dim

    @property
    def condition_dim(self) -> int:
        """Numbers that tell the network what is seen, what is wanted, and whether anything is."""
        return self.n_obs_steps * self.observation_dim + self.goal_dim + 1

    @property
    def input_dim(self) -> int:
        return self.chunk_dim + 2 * TIME_FREQUENCIES + self.condition_dim

    def to_table(self) -> dict[str, Any]:
        """As plain values, for a file."""
        return asdict(self)


def spec_from_table(table: Mapping[str, Any]) -> PolicySpec:
    """The inverse of `to_table`; raises InputError for keys that a spec has not, or that are missing."""
    names = {field.name for field in fields(PolicySpec)}
    wrong = sorted(names ^ set(table), key=str)
    if wrong:
        raise InputError(f"a policy's sizes must be {', '.join(sorted(names))}; {wrong[0]!r} is missing or unknown")
    return PolicySpec(**table)
