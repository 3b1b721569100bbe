"""The corrections by which readers are measured: complete, possible in their situations, and never read by the package.

Messages name a correction by its line, never by its words: half of them are kept from whoever writes readers.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import correction_cases
import correction_judge as judge
import pytest

from llm_planner.corrections.edits import AddRule, Adjust, Confirm, LiftRule
from llm_planner.errors import InputError
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import StepStatus
from llm_planner.scene.propositions import check_proposition, parse_proposition
from llm_planner.skills.library import (
    check_arguments,
    load_skills,
)

ROOT = Path(__file__).parents[2]

SITUATIONS = correction_cases.read_situations()
HALVES = {half: correction_cases.read_cases(path) for half, path in correction_cases.HALVES.items()}
CASES = [(f"{half} {line}", case) for half, cases in HALVES.items() for line, case in enumerate(cases, 1)]
LIBRARY = load_skills(learned=False)
NEEDS_ANSWER = {"table_asked", "rooms_asked", "table_confirm"}


class TestTheCorrections:
    def test_are_240_of_twelve_kinds_half_of_each_kept(self):
        kinds = {half: Counter(case.kind for case in cases) for half, cases in HALVES.items()}
        assert len(kinds["open"]) == 12
        assert kinds["open"] == kinds["kept"] == dict.fromkeys(kinds["open"], 10)

    def test_are_of_both_worlds_two_thirds_at_a_table(self):
        worlds = Counter(case.world for _, case in CASES)
        assert 150 <= worlds["tabletop"] <= 170
        assert worlds["tabletop"] + worlds["rooms"] == 240

    def test_are_all_said_in_other_words_and_in_every_situation(self):
        different = len({case.words.lower() for _, case in CASES})
        assert different == 240
        assert {case.situation for _, case in CASES} == set(SITUATIONS)

    def test_are_in_the_world_of_their_situation(self):
        mobile = {"tabletop": "arm", "rooms": "mobile"}
        assert [n for n, case in CASES if SITUATIONS[case.situation].scene.robot_kind != mobile[case.world]] == []

    def test_ask_for_steps_that_can_be_called(self):
        for number, case in CASES:
            situation = SITUATIONS[case.situation]
            for accepted in case.accepted:
                for step in judge.steps_after(accepted, situation):
                    manifest = LIBRARY.for_scene(situation.scene).find(step.skill).manifest
                    checked = check_arguments(manifest, step.arguments, situation.scene)
                    assert checked.keys() >= step.arguments.keys(), number

    def test_leave_finished_steps_alone(self):
        for number, case in CASES:
            situation = SITUATIONS[case.situation]
            ahead = {"", *(step.id for step in situation.ahead)}
            for operation in (operation for accepted in case.accepted for operation in accepted.operations):
                named = {getattr(operation, "step", ""), getattr(operation, "before", "")}
                assert named.union(getattr(operation, "steps", ())) <= ahead, number

    def test_adjust_numbers_that_the_step_has(self):
        for number, case in CASES:
            plan = SITUATIONS[case.situation].plan
            for operation in (operation for accepted in case.accepted for operation in accepted.operations):
                if isinstance(operation, Adjust) and not operation.is_of_motion:
                    step = next(step for step in plan.steps if step.id == operation.step)
                    assert isinstance(step.arguments[operation.quantity], float), number

    def test_ask_for_rules_about_what_is_there(self):
        for number, case in CASES:
            situation = SITUATIONS[case.situation]
            in_force = [constraint.formula for constraint in situation.plan.constraints]
            for operation in (operation for accepted in case.accepted for operation in accepted.operations):
                if isinstance(operation, AddRule | LiftRule):
                    formula = parse(operation.formula)
                    for name in formula.propositions:
                        check_proposition(parse_proposition(name), situation.scene)
                    assert (formula in in_force) == isinstance(operation, LiftRule), number

    def test_are_answers_only_where_something_was_asked(self):
        for number, case in CASES:
            if any(isinstance(operation, Confirm) for accepted in case.accepted for operation in accepted.operations):
                assert case.situation in NEEDS_ANSWER, number

    def test_nothing_in_the_package_reads_them(self):
        sources = [path.read_text(encoding="utf-8") for path in (ROOT / "llm_planner").rglob("*.py")]
        assert not any("corrections_open" in text or "corrections_kept" in text for text in sources)


class TestTheSituations:
    def test_questions_are_open_where_they_are_said_to_be(self):
        assert {name for name, situation in SITUATIONS.items() if situation.asked} == NEEDS_ANSWER

    def test_differ_in_what_is_held_under_way_and_seen(self):
        assert any(situation.running is None for situation in SITUATIONS.values())
        assert any(situation.scene.held for situation in SITUATIONS.values())
        assert any(situation.viewpoint.name == "facing" for situation in SITUATIONS.values())

    @pytest.mark.parametrize("name", SITUATIONS)
    def test_what_is_done_comes_before_what_is_under_way_and_that_before_the_rest(self, name):
        order = [StepStatus.DONE, StepStatus.RUNNING, StepStatus.PENDING]
        ranks = [order.index(step.status) for step in SITUATIONS[name].plan.steps]
        assert ranks == sorted(ranks)
        assert ranks.count(1) <= 1

    @pytest.mark.parametrize("name", SITUATIONS)
    def test_what_is_held_was_taken_by_a_step_that_is_done(self, name):
        situation = SITUATIONS[name]
        done = [step for step in situation.plan.steps if step.status is StepStatus.DONE]
        taken = done[-1].arguments["object"] if done and situation.skills[done[-1].skill].fills_gripper else ""
        assert situation.scene.held == taken
        assert set(situation.origins) == set(situation.scene.names)

    def test_a_file_with_an_edit_that_is_none_is_refused(self, tmp_path):
        path = tmp_path / "cases.jsonl"
        path.write_text('{"kind": "", "world": "", "words": "", "situation": "", "expected": {"operations": [{}]}}')
        with pytest.raises(InputError, match="None is not an operation; there are: hold, resume"):
            correction_cases.read_cases(path)
