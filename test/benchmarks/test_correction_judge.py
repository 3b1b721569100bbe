"""How readers of corrections are judged and measured: by what an edit does, not by how it is written.

Messages name a correction by its line, never by its words: half of them are kept from whoever writes readers.
"""

from __future__ import annotations

import bench_corrections as bench
import correction_cases
import correction_judge as judge
import pytest

from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Change,
    Clarify,
    Confirm,
    Edit,
    Hold,
    Insert,
    Level,
    LiftRule,
    Move,
    Rebind,
    Remember,
    Remove,
    Replace,
    Resume,
    Shift,
)
from llm_planner.errors import InputError
from llm_planner.language.correction_requests import Frame, Scope

SITUATIONS = correction_cases.read_situations()
HALVES = {half: correction_cases.read_cases(path) for half, path in correction_cases.HALVES.items()}
CASES = [(f"{half} {line}", case) for half, cases in HALVES.items() for line, case in enumerate(cases, 1)]


def case_of(*accepted: Edit, situation: str = "table_fresh"):
    return correction_cases.Case("kind", "tabletop", "words", situation, accepted)


def edit(*operations, scope: Scope = Scope.ONCE, about: str = "") -> Edit:
    return Edit(operations, scope=scope, about=about)


def right(answer: Edit, *accepted: Edit, situation: str = "table_fresh") -> bool:
    return judge.exact_right(answer, case_of(*accepted), SITUATIONS[situation])


class TestTheJudge:
    def test_takes_every_accepted_edit(self):
        for number, case in CASES:
            for accepted in case.accepted:
                assert judge.exact_right(accepted, case, SITUATIONS[case.situation]), number
                assert judge.level_right(accepted, case), number

    def test_compares_levels_by_the_first_operation(self):
        wanted = case_of(edit(Hold()), edit(Shift((0, 0.1, 0))))
        assert judge.level_right(edit(Resume()), wanted)
        assert judge.level_right(edit(Shift((1, 0, 0)), Hold()), wanted)
        assert not judge.level_right(edit(Adjust("speed", Change.SCALE, 0.5)), wanted)
        assert judge.level_right(edit(), case_of(edit()))
        assert edit(Hold()).level is Level.REFLEX

    def test_numbers_may_be_a_little_off(self):
        wanted = edit(Adjust("speed", Change.SCALE, 4 / 3))
        assert right(edit(Adjust("speed", Change.SCALE, 1.333)), wanted)
        assert not right(edit(Adjust("speed", Change.SCALE, 1.25)), wanted)
        assert right(edit(Shift((0.0, 0.0255, 0.0))), edit(Shift((0.0, 0.025, 0.0))))
        assert not right(edit(Shift((0.0, -0.025, 0.0))), edit(Shift((0.0, 0.025, 0.0))))

    def test_words_must_be_the_same(self):
        wanted = edit(Shift((0.1, 0.0, 0.0)))
        assert not right(edit(Shift((0.1, 0.0, 0.0), Frame.ROBOT)), wanted)
        assert not right(edit(Rebind("1", "object", "red bowl")), edit(Rebind("1", "object", "blue block")))

    def test_other_operations_keep_their_order(self):
        slower, left = Adjust("speed", Change.SCALE, 0.5), Shift((0.0, 0.1, 0.0))
        assert right(edit(slower, left), edit(slower, left))
        assert not right(edit(left, slower), edit(slower, left))
        assert not right(edit(slower), edit(slower, left))

    def test_steps_may_be_changed_in_any_order_with_the_same_result(self):
        put = Insert("place_at", {"place": (0.4, 0.1, 0.0)}, before="3")
        take = Insert("pick", {"object": "vase"}, before="3")
        assert right(edit(Remove("3"), put, Remove("4")), edit(put, Remove("3"), Remove("4")))
        assert right(edit(Remove("4"), put, take), edit(put, take, Remove("4")))
        assert not right(edit(take, put), edit(put, take))

    def test_moves_are_the_same_that_leave_the_same_order(self):
        wanted = edit(Move(("5", "6"), before="3"))
        assert right(edit(Move(("3", "4"))), wanted)
        assert right(edit(Move(("5",), before="3"), Move(("6",), before="3")), wanted)
        assert not right(edit(Move(("5", "6"), before="1")), wanted)

    def test_what_is_not_said_of_a_skill_has_its_default(self):
        wanted = edit(Replace("2", "place_beside", {"object": "vase"}))
        assert right(
            edit(Replace("2", "place_beside", {"object": "vase", "direction": "any", "distance": 0.04})), wanted
        )
        assert not right(edit(Replace("2", "place_beside", {"object": "vase", "direction": "left"})), wanted)

    def test_the_height_of_a_point_on_the_table_says_nothing(self):
        wanted = edit(Insert("place_at", {"place": (0.4, 0.1, 0.0)}, before="3"))
        assert right(edit(Insert("place_at", {"place": (0.4, 0.1, 0.02)}, before="3")), wanted)
        assert not right(edit(Insert("place_at", {"place": (0.5, 0.1, 0.0)}, before="3")), wanted)

    def test_a_new_step_is_another_than_one_that_is_kept(self):
        assert not right(
            edit(Replace("2", "place_in", {"object": "blue bowl"})), edit(Rebind("2", "object", "blue bowl"))
        )

    def test_steps_that_are_not_there_are_wrong(self):
        wanted = edit(Remove("3"))
        assert not right(edit(Remove("77")), wanted)
        assert not right(edit(Insert("pick", {"object": "mug"}, before="77")), wanted)
        with pytest.raises(InputError, match="no step is called '77'; the steps are: 1, 2, 3, 4, 5, 6"):
            judge.steps_after(edit(Remove("77")), SITUATIONS["table_fresh"])

    def test_rules_are_proved_equivalent_and_their_words_not_compared(self):
        wanted = edit(AddRule("G !near(robot, vase)", "keep away"))
        assert right(edit(AddRule("!F near(robot, vase)", "")), wanted)
        assert not right(edit(AddRule("G !over(robot, vase)", "keep away")), wanted)
        assert not right(edit(LiftRule("G !near(robot, vase)")), wanted)
        assert not right(edit(AddRule("G (", "")), wanted)

    def test_a_question_is_right_whatever_its_words(self):
        assert right(edit(Clarify("Which?", ("a", "b"))), edit(Clarify("")))
        assert not right(edit(), edit(Clarify("")))

    def test_yes_is_not_no(self):
        assert not right(edit(Confirm(False)), edit(Confirm(True)))

    def test_what_is_to_be_remembered_is_judged_where_there_is_something(self):
        slower = Adjust("speed", Change.SCALE, 0.5)
        wanted = edit(slower, scope=Scope.ALWAYS, about="mug")
        assert not right(edit(slower, about="mug"), wanted)
        assert not right(edit(slower, scope=Scope.ALWAYS), wanted)
        assert right(edit(Remember(Scope.TASK), scope=Scope.TASK), edit(Remember(Scope.TASK)))


class TestTheBenchmark:
    def test_a_perfect_reader_is_right_everywhere(self, capsys):
        by_words = {case.words: case.accepted[-1] for _, case in CASES}
        figures = bench.main(["--json"], lambda words, situation: by_words[words])
        assert capsys.readouterr().out.startswith("{")
        for half in HALVES:
            assert figures[half]["exact"]["share"] == figures[half]["level"]["share"] == 1.0
            assert figures[half]["exact"]["of"] == 120

    def test_a_reader_that_hears_nothing_is_right_about_chatter_only(self, capsys):
        figures = bench.main([], lambda words, situation: edit())
        silent = sum(edit() in case.accepted for _, case in CASES)
        assert sum(round(120 * figures[half]["exact"]["share"]) for half in HALVES) == silent < 15
        assert "reflex" in capsys.readouterr().out

    def test_misses_that_are_questions_are_told_apart(self):
        for answer, asked in ((Clarify("Pardon?"), True), (Hold(), False)):
            figures = bench.main(["--halves", "open"], lambda words, situation, one=answer: edit(one))["open"]
            assert (figures["misses that are questions"] > 0) is asked

    def test_kept_words_are_never_shown(self, capsys):
        bench.main(["--show"], lambda words, situation: edit(Hold()))
        shown = {line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()}
        missed = [case.words for case in HALVES["open"] if edit(Hold()) not in case.accepted]
        assert shown.issuperset(missed)
        assert [number for number, case in CASES if number.startswith("kept") and case.words in shown] == []
