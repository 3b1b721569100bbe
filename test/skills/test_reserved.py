"""Skills at a shared table: they begin on the arm's own side, reserve the strip if they need it, and leave it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from llm_planner.control.zone_reservation import zones_of
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Pose, Scene
from llm_planner.scene.shared_table import SharedTable, Station
from llm_planner.skills.contract import SkillError, SkillErrorCode, SkillResult
from llm_planner.skills.reserved import ReservedSkill

STRIP = "left and right"
TABLE = SharedTable((Station("left", "panda", 0.0, 0.42), Station("right", "panda", 0.0, -0.42)))
IN_THE_STRIP = Pose((0.45, -0.40, 0.2), (1.0, 0.0, 0.0, 0.0))
BLOCKED = SkillResult(SkillErrorCode.NO_FREE_SPACE, "no way")
DONE = SkillResult(SkillErrorCode.SUCCEEDED)


@dataclass
class Strips:
    """The reservations of the left arm, granted by hand."""

    held: frozenset[str] = frozenset()
    wanted: tuple[str, ...] = ()
    strips: dict[str, str] = field(default_factory=lambda: {STRIP: "right"})

    @property
    def zones(self):
        return zones_of(TABLE.boundaries("left"), self.held)

    def want(self, strips) -> None:
        self.wanted = tuple(strips)


class Needy:
    """Skill that finds its way only if the strip is not among the zones."""

    name = "needy"
    phase = "work"
    refuses = False

    def start(self, arguments, observation: Observation):
        if self.refuses and any("strip" in zone.name for zone in observation.zones):
            raise SkillError(BLOCKED.code, BLOCKED.message)
        return self

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        return BLOCKED if any("strip" in zone.name for zone in observation.zones) else DONE


def observation(time: float, held: str = "", hand: Pose = IN_THE_STRIP) -> Observation:
    scene = Scene(time, (), held, hand)
    return Observation(time, scene, (0.0,) * 7, hand, 0.08)


@pytest.mark.parametrize("refuses", [False, True])
def test_a_skill_that_finds_no_way_waits_for_the_strip_and_begins_again(refuses):
    strips, skill = Strips(), Needy()
    skill.refuses = refuses
    run = ReservedSkill(skill, strips).start({}, observation(0.0, "mug"))
    still = run.step(observation(0.1, "mug"))
    assert strips.wanted == (STRIP,)
    assert isinstance(still, MotionReference)
    assert [pose.position for pose in still.poses] == [pytest.approx(IN_THE_STRIP.position)]
    assert still.gripper_width < 0.08, "what the hand holds is not let go"
    strips.held = frozenset({STRIP})
    assert run.step(observation(0.2, "mug")) == DONE


def test_the_hand_leaves_the_strip_before_the_skill_ends_unless_it_holds_something():
    strips = Strips(held=frozenset({STRIP}))
    run = ReservedSkill(Needy(), strips).start({}, observation(0.0))
    assert strips.wanted == (STRIP,), "what the arm has is kept while the skill runs"
    leaving = run.step(observation(0.1))
    assert isinstance(leaving, MotionReference)
    assert run.phase == "leave the strip"
    assert strips.wanted == ()
    strips.held = frozenset()
    assert run.step(observation(0.2)) == DONE
    strips.held = frozenset({STRIP})
    holding = ReservedSkill(Needy(), strips).start({}, observation(0.0, "mug"))
    assert holding.step(observation(0.1, "mug")) == DONE


def test_a_strip_that_is_not_got_in_time_is_a_failure_that_names_the_other_arm():
    run = ReservedSkill(Needy(), Strips(), patience=5.0).start({}, observation(0.0))
    run.step(observation(0.1))
    assert isinstance(run.step(observation(5.0)), MotionReference)
    result = run.step(observation(5.3))
    assert result.code is SkillErrorCode.NO_FREE_SPACE
    assert "needy needs the strip towards right, and did not get it within 5 s" in result.message


def test_a_skill_that_cannot_begin_again_ends_as_it_was_blocked():
    class OnlyOnce(Needy):
        def start(self, arguments, observation):
            if not any("strip" in zone.name for zone in observation.zones):
                raise SkillError(SkillErrorCode.PRECONDITION_FAILED, "the gripper holds nothing")
            return self

    strips = Strips()
    run = ReservedSkill(OnlyOnce(), strips).start({}, observation(0.0, "mug"))
    run.step(observation(0.1, "mug"))
    strips.held = frozenset({STRIP})
    assert run.step(replace(observation(0.2), scene=Scene(0.2, (), "mug", IN_THE_STRIP))) == BLOCKED
