"""Preferences of a model among next steps: a price for each option, 0 for the most likely one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from llm_planner.language.model import ChoiceRequest, LanguageModel, Usage
from llm_planner.planning.choices import ROOT, ActionTree, Call
from llm_planner.scene.scene import Scene

OTHER_ORDER = 2.0  # [nats] price of a call that the sampled plans make, but not next
NEVER_PLANNED = 5.0  # [nats] price of a call that the sampled plans never make
QUESTIONS = 40  # most questions to a model for one plan


class StepPrior(Protocol):
    """Log-probabilities of next calls as prices: how much less likely than the likeliest option [nats].

    A `position` is all that the prices depend on; search paths that meet at one position and scene merge. `eager` marks
    expensive questions: only options that keep the constraints are priced.
    """

    @property
    def eager(self) -> bool: ...

    @property
    def start(self) -> Hashable: ...

    def prices(self, position: Hashable, calls: Sequence[Call], scene: Scene) -> Sequence[float]: ...

    def after(self, position: Hashable, call: Call) -> Hashable: ...


@dataclass(frozen=True)
class Uniform:
    """Prior without preferences: the plan with the least travel wins."""

    eager: bool = True
    start: Hashable = None

    def prices(self, position: Hashable, calls: Sequence[Call], scene: Scene) -> Sequence[float]:
        return [0.0] * len(calls)

    def after(self, position: Hashable, call: Call) -> Hashable:
        return position


@dataclass(frozen=True)
class TreePrior:
    """Prior of sampled plans with back-off: calls that they make next, calls at another time, and any other call."""

    tree: ActionTree
    eager: bool = False
    start: Hashable = ROOT

    def prices(self, position: Hashable, calls: Sequence[Call], scene: Scene) -> Sequence[float]:
        node = self.tree.nodes[_number(position)]
        likeliest = max((self.tree.nodes[child].plans for child in node.children.values()), default=1)
        planned = frozenset(self.tree.calls)
        prices = []
        for call in calls:
            if call in node.children:
                prices.append(math.log(likeliest / self.tree.nodes[node.children[call]].plans))
            else:
                prices.append(OTHER_ORDER if call in planned else NEVER_PLANNED)
        return prices

    def after(self, position: Hashable, call: Call) -> Hashable:
        return self.tree.after(_number(position), call)


def _number(position: Hashable) -> int:
    assert isinstance(position, int)  # number of a tree's node, from `start` or `after`
    return position


@dataclass
class ModelPrior:
    """Prior of a language model that chooses among the options; raises LanguageModelError as the model does.

    Answers are cached. After `questions` questions it has no preference any more. `usage` is the cost so far.
    """

    model: LanguageModel
    command: str
    rules: tuple[str, ...] = ()
    questions: int = QUESTIONS
    eager: bool = True
    start: Hashable = ()
    usage: Usage = field(default_factory=Usage)
    _asked: dict[tuple[Hashable, tuple[str, ...]], tuple[float, ...]] = field(default_factory=dict)

    def prices(self, position: Hashable, calls: Sequence[Call], scene: Scene) -> Sequence[float]:
        if len(calls) < 2:
            return [0.0] * len(calls)
        options = tuple(str(call) for call in calls)
        if (position, options) not in self._asked:
            if len(self._asked) >= self.questions:
                return [0.0] * len(calls)
            assert isinstance(position, tuple)  # the steps so far
            reply = self.model.choose(ChoiceRequest(self.command, scene, position, options, self.rules))
            self.usage = self.usage + reply.usage
            best = max(reply.log_probabilities)
            self._asked[position, options] = tuple(best - value for value in reply.log_probabilities)
        return self._asked[position, options]

    def after(self, position: Hashable, call: Call) -> Hashable:
        assert isinstance(position, tuple)
        return (*position, str(call))
