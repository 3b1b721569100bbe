"""Well-formed replies of a large model that say something else than the words do not pass, and good ones do."""

import bench_adversarial_replies as bench
import pytest

SITUATIONS = bench.correction_cases.read_situations()
CASES = bench.read_cases()
SOME = [case for kind in ("program", "reading", "edit") for case in [one for one in CASES if one.kind == kind][::6]]


def test_there_are_enough_of_each_kind():
    wrong = [case.kind for case in CASES if case.wrong]
    assert (wrong.count("program"), wrong.count("reading"), wrong.count("edit")) >= (25, 20, 15)
    assert sum(not case.wrong for case in CASES) >= 30


@pytest.mark.parametrize("case", SOME, ids=[f"{case.kind}: {case.words} ({case.wrong or 'good'})" for case in SOME])
def test_only_good_replies_pass(case):
    verdict = bench.judged(case, SITUATIONS)
    assert verdict.is_right, verdict.message
