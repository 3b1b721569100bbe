"""Skills that raise, start or give what is no motion: they have failed, and whoever runs them goes on."""

from __future__ import annotations

import pytest

from llm_planner.skills.contract import SkillError, SkillErrorCode, SkillResult
from llm_planner.skills.library import started


class Raising:
    """A skill, and its run, whose hooks do what they are given."""

    name = "spin"

    def __init__(self, start=lambda: None, step=lambda: SkillResult(SkillErrorCode.SUCCEEDED), phase=lambda: "spin"):
        self._start, self._step, self._phase = start, step, phase

    def start(self, arguments, observation):
        self._start()
        return self

    def step(self, observation):
        return self._step()

    @property
    def phase(self):
        return self._phase()


def fault():
    return {}["a key"]


def refusal():
    raise SkillError(SkillErrorCode.NO_GRASP, "nothing is there")


def test_a_skill_that_raises_fails_with_the_place_in_its_code():
    outcome = started("spin", Raising(step=fault), {}, None).step(None)
    assert outcome.code is SkillErrorCode.SKILL_FAULT
    assert "the skill spin failed by a fault of its own: KeyError: 'a key' (test_fault_containment.py, line" in (
        outcome.message
    )


def test_one_that_raises_at_its_start_refuses_with_the_fault():
    with pytest.raises(SkillError, match="the skill spin failed by a fault") as raised:
        started("spin", Raising(start=fault), {}, None)
    assert raised.value.code is SkillErrorCode.SKILL_FAULT


def test_what_a_skill_refuses_keeps_its_code():
    with pytest.raises(SkillError, match="nothing is there") as raised:
        started("spin", Raising(start=refusal), {}, None)
    assert raised.value.code is SkillErrorCode.NO_GRASP
    assert started("spin", Raising(step=refusal), {}, None).step(None).code is SkillErrorCode.NO_GRASP


@pytest.mark.parametrize("gives", [None, "done", 0])
def test_what_is_neither_a_motion_nor_a_result_is_a_fault(gives):
    outcome = started("spin", Raising(step=lambda: gives), {}, None).step(None)
    assert outcome.code is SkillErrorCode.SKILL_FAULT
    assert "instead of a MotionReference or a SkillResult" in outcome.message


def test_a_phase_that_cannot_be_told_is_unknown():
    assert started("spin", Raising(phase=fault), {}, None).phase == "?"
    assert started("spin", Raising(), {}, None).phase == "spin"


def leaving():
    raise SystemExit(3)


def interrupted():
    raise KeyboardInterrupt


def test_a_skill_that_exits_has_failed():
    outcome = started("spin", Raising(step=leaving), {}, None).step(None)
    assert outcome.code is SkillErrorCode.SKILL_FAULT
    assert "SystemExit: 3" in outcome.message
    with pytest.raises(SkillError, match="the skill spin failed by a fault of its own: SystemExit: 3"):
        started("spin", Raising(start=leaving), {}, None)
    assert started("spin", Raising(phase=leaving), {}, None).phase == "?"


def test_an_interrupt_passes():
    with pytest.raises(KeyboardInterrupt):
        started("spin", Raising(start=interrupted), {}, None)
    with pytest.raises(KeyboardInterrupt):
        started("spin", Raising(step=interrupted), {}, None).step(None)
    with pytest.raises(KeyboardInterrupt):
        _ = started("spin", Raising(phase=interrupted), {}, None).phase
