import pytest

from llm_planner.skills.contract import SkillErrorCode, SkillResult

REPORT = "about 1.5 kg more than expected hangs from the hand, since 12 s"


def test_a_failure_that_the_robot_may_be_to_blame_for_names_what_it_reports() -> None:
    result = SkillResult(SkillErrorCode.OBJECT_LOST, "the mug slipped").with_report(REPORT)

    assert result.code is SkillErrorCode.OBJECT_LOST
    assert result.message == f"the mug slipped; the robot reports: {REPORT}"


@pytest.mark.parametrize("code", [SkillErrorCode.SUCCEEDED, SkillErrorCode.CANCELED, SkillErrorCode.UNREACHABLE])
def test_any_other_result_stays_as_it_is(code: SkillErrorCode) -> None:
    assert SkillResult(code, "so it is").with_report(REPORT) == SkillResult(code, "so it is")


def test_without_a_report_nothing_is_added() -> None:
    lost = SkillResult(SkillErrorCode.OBJECT_LOST, "the mug slipped")

    assert lost.with_report("") == lost
