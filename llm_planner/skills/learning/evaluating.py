"""How often a skill succeeds, left alone or shoved in the middle: by what the simulator's scene shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from llm_planner.simulation.world import World
from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.contract import Argument, Observation, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.episode import Episode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.learned.decision import Decision
from llm_planner.skills.learned.loading import decision_of, shows_effects
from llm_planner.skills.learning.cases import Case
from llm_planner.skills.learning.demonstrating import begin, named_in
from llm_planner.skills.learning.shoves import FORCE_TIME, release_hand, shove_hand, shove_thing
from llm_planner.skills.library import CheckedSkill, SkillLibrary

SHOVED_AFTER = (0.3, 3.0)  # [s]
AT_ONCE = 1.0  # [s]


@dataclass(frozen=True)
class Trial:
    """How one episode went. `done` is what the scene shows, `result` what the skill said, `seconds` simulated;
    `valid` is false where no skill could do it: what came before failed, it was refused before anything moved, or the
    shove left the thing where the demonstrator cannot take it either."""

    seed: int
    done: bool
    result: SkillResult
    seconds: float
    shoved: str = ""
    valid: bool = True

    @property
    def succeeded(self) -> bool:
        """The scene shows the effects, and the skill said that it had succeeded."""
        return self.done and self.result.code is SkillErrorCode.SUCCEEDED


def evaluate(
    skill: CheckedSkill, case: Case, library: SkillLibrary, seed: int, perturbed: bool,
    watch: Callable[[Observation], None] = lambda observation: None,
) -> Trial:  # fmt: skip
    """One episode of `skill` in the world of `case`; `library` does what is to be done before.

    `watch` is shown what the skill sees, and how it ended.
    """
    rng = np.random.default_rng((seed, 3))
    world = World(seed, case.objects)
    episode = Episode(world)
    reached = begin(case, episode, library, rng)
    if reached.code is not SkillErrorCode.SUCCEEDED:
        return Trial(seed, False, reached, world.time, valid=False)
    began = episode.observe()
    try:
        run = skill.start(case.arguments, began)
    except SkillError as refusal:  # nothing has moved: there is no room, or nothing to take hold of
        return Trial(seed, False, SkillResult(refusal.code, str(refusal)), 0.0, valid=False)
    shove = Shove(world, case.arguments, rng, began) if perturbed else None
    result = _ran(episode, run, shove, watch)
    ended = episode.observe()
    watch(ended)
    done = shows_effects(skill.manifest, case.arguments, began, ended)
    trial = Trial(seed, done, result, world.time - began.time, shove.told if shove else "")
    if trial.succeeded or shove is None or shove.left is None:
        return trial
    decision = decision_of(skill.manifest, ArmSettings(), case.arguments, began)
    return replace(trial, valid=goes_on(decision, began, shove.left))


def goes_on(decision: Decision, began: Observation, left: Observation) -> bool:
    """Whether the demonstrator goes on, which saw how it began, from what a shove left."""
    try:
        decision.aim(began)
        decision.aim(left)
    except SkillError:
        return False
    return True


def _ran(episode: Episode, run: SkillRun, shove: Shove | None, watch: Callable[[Observation], None]) -> SkillResult:
    result = None
    while result is None:
        observation = episode.observe()
        if shove:
            shove.see(observation)
        watch(observation)
        result = episode.advance(run, observation)
    if shove:
        shove.end(episode.observe())
    episode.settle()
    return result


class Shove:
    """Once in an episode the hand is shoved, or a thing that the skill is about is moved.

    `left` is what was seen a moment after that: what goes wrong later is the skill's own doing.
    """

    def __init__(
        self, world: World, arguments: Mapping[str, Argument], rng: np.random.Generator, began: Observation
    ) -> None:
        self._world, self._rng = world, rng
        self._names = named_in(world.scene(), arguments)
        self._time = began.time + rng.uniform(*SHOVED_AFTER)
        self._until = math.inf
        self.told = ""
        self.left: Observation | None = None

    def see(self, observation: Observation) -> None:
        """Begin or end it as the time has come."""
        time = observation.time
        if not self.told and time >= self._time:
            if self._rng.random() < 0.5 and shove_thing(self._world, self._names, self._rng):
                self.told = "thing"
            else:
                self.told, self._until = "hand", time + FORCE_TIME
                shove_hand(self._world, self._rng)
        elif time >= self._until:
            self._until = math.inf
            release_hand(self._world)
        if self.told and self.left is None and time >= self._time + AT_ONCE:
            self.left = observation

    def end(self, observation: Observation) -> None:
        """The skill ended, and this is what was seen then."""
        release_hand(self._world)
        if self.told and self.left is None:
            self.left = observation
