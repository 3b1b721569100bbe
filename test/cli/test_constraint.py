"""`llm-planner constraint`: what a sentence means, as text, as JSON and as a picture."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from reference_semantics import holds

from llm_planner.cli.constraint import ConstraintReport, explain, prefix_text, requested_propositions, story
from llm_planner.cli.main import main
from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import Outcome

SCRIPT = """
visit the kitchen and then the lab, never enter the office before the lab:
  readings:
    - - constraints:
          - formula: F (in(robot, kitchen) & F in(robot, lab))
            words: visit the kitchen and then the lab
            goal: true
          - {formula: "!in(robot, office) W in(robot, lab)", words: never enter the office before the lab}
tidy up but spare the vase:
  readings:
    - - task: tidy up
        constraints: [{formula: "G !near(robot, vase)", words: but spare the vase}]
tidy up: {}
a until b, at most once c:
  readings:
    - - constraints: [{formula: a U b, words: a until b}, {formula: "F[0,10] c", words: at most once c}]
visit all:
  readings:
    - - constraints: [{formula: F a & F b & F c & F d & F e, words: visit all}]
which one: {readings: [[{question: "Which vase\\e[2J?"}]]}
"""
VISIT = "visit the kitchen and then the lab, never enter the office before the lab"


@pytest.fixture
def constraint(tmp_path, capsys):
    """Runs the command with a scripted model: exit status, what it printed, and what it complained of."""
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")

    def run(*arguments):
        model = ["--model", "scripted", "--model-script", str(tmp_path / "script.yaml")]
        status = main(["constraint", *arguments, *model])
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return run


def test_a_person_reads_formula_words_and_examples(constraint):
    status, out, _ = constraint(VISIT, "--world", "rooms")
    assert status == 0
    told = " ".join(out.split())
    assert "goal 1 “visit the kitchen and then the lab” formula F (in(robot, kitchen) & F in(robot, lab))" in told
    assert "that is the robot does not enter the office before it has been in the lab" in told
    assert "kept by 1. the robot is in the kitchen; 2. the robot is in the lab" in told
    assert "broken by 1. the robot is in the office" in told
    assert "all together" in told
    assert "3 of 5 readings asked for, by meaning: 3" in told


def test_json_has_every_key_and_traces_that_do_what_they_say(constraint):
    status, out, _ = constraint(VISIT, "--world", "rooms", "--json")
    report = json.loads(out)
    assert (status, report["outcome"], report["sentence"], report["question"]) == (0, "done", VISIT, "")
    assert [item["goal"] for item in report["constraints"]] == [True, False]
    for item in (report, *report["constraints"]):
        formula = parse(item["formula"])
        assert holds(formula, [frozenset(letter) for letter in item["satisfying"]])
        assert not holds(formula, [frozenset(letter) for letter in item["violating"]])
        assert item["prefix"]
        assert item["read_back"]
    assert report["vote"] == {
        "wanted": 5,
        "asked": 3,
        "without_meaning": 0,
        "readings": [{"count": 3, "task": "", "formula": report["formula"]}],
    }
    assert report["confidence"] == 1.0
    assert report["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "requests": 0}
    assert set(report) == set(ConstraintReport("", Outcome.FAILED, "").to_json())


def test_the_task_is_told_apart_from_its_constraints(constraint):
    report = json.loads(constraint("tidy up but spare the vase", "--objects", "vase, mug", "--json")[1])
    assert (report["task"], report["formula"]) == ("tidy up", "G !near(robot, vase)")


def test_a_sentence_without_constraints_is_just_a_task(constraint):
    status, out, _ = constraint("tidy up")
    assert status == 0
    assert "task tidy up Nothing in this is a constraint." in " ".join(out.split())
    report = json.loads(constraint("tidy up", "--json")[1])
    assert (report["formula"], report["constraints"], report["violating"]) == ("true", [], [])


def test_bare_propositions_need_no_scene_and_seconds_are_left_out_of_examples(constraint):
    report = json.loads(constraint("a until b, at most once c", "--propositions", "a,b,c", "--json")[1])
    assert parse(report["formula"]) is parse("F[0,10] c & (a U b)")
    assert report["satisfying"] == [["b", "c"]]
    assert report["violating"] == [[]]


def test_a_question_is_an_answer_in_plain_text(constraint):
    status, out, _ = constraint("which one", "--json")
    report = json.loads(out)
    assert (status, report["outcome"], report["question"], report["formula"]) == (1, "question", "Which vase?", None)
    assert "question: Which vase?" in constraint("which one")[1]


@pytest.mark.parametrize("sentence", ["?", VISIT])
def test_a_wrong_model_is_told_before_the_sentence_is_read(sentence, capsys):
    assert main(["constraint", sentence, "--model", "gpt"]) == 1
    assert "there is no language model 'gpt'" in capsys.readouterr().out


def test_what_the_model_does_not_know_is_a_failure(constraint):
    status, out, _ = constraint("fly", "--json")
    assert (status, json.loads(out)["outcome"]) == (1, "failed")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--samples", "0"], "--samples must be 1 to 50, not 0"),
        (["--samples", "51"], "--samples must be 1 to 50, not 51"),
        (["--propositions", " , "], "--propositions names nothing in ' , '; name some, for instance: a, b, c"),
        (["--propositions", "a, b c"], "'b c' cannot name a proposition"),
        (["--picture", "x.jpg"], "--picture writes a .svg file, but x.jpg does not end in .svg"),
        (["--world", "moon"], "there is no world 'moon'"),
        (["--propositions", "a", "--world", "tabletop"], "--propositions stands in place of a scene, and --world desc"),
        (["--propositions", "a", "--seed", "0"], "and --seed describes one: leave out one of the two"),
        (["--propositions", "a", "--objects", "mug"], "and --objects describes one: leave out one of the two"),
    ],
)
def test_a_wrong_option_is_told(options, message, constraint):
    status, out, _ = constraint("tidy up", *options, "--json")
    report = json.loads(out)
    assert (status, report["outcome"]) == (1, "refused")
    assert message in report["message"]


def test_the_picture_is_drawn(constraint, tmp_path):
    assert constraint(VISIT, "--world", "rooms", "--picture", str(tmp_path / "seen.svg"))[0] == 0
    root = ElementTree.parse(tmp_path / "seen.svg").getroot()
    assert root.tag.endswith("svg")
    assert "in kitchen" in "".join(root.itertext())


def test_a_picture_that_cannot_be_drawn_takes_nothing_from_the_answer(constraint, tmp_path):
    path = tmp_path / "seen.svg"
    status, out, err = constraint("visit all", "--propositions", "a,b,c,d,e", "--json", "--picture", str(path))
    assert (status, json.loads(out)["outcome"]) == (0, "done")
    assert "the picture could not be drawn: the automaton has 32 states" in err
    assert not path.exists()


def test_a_batch_of_sentences(constraint, tmp_path):
    (tmp_path / "batch.txt").write_text("tidy up\n\nwhich one\n", encoding="utf-8")
    status, out, _ = constraint("--batch", str(tmp_path / "batch.txt"))
    answers = [json.loads(line) for line in out.splitlines()]
    assert [(item["line"], item["outcome"]) for item in answers] == [(1, "done"), (2, "question"), (3, "question")]
    assert status == 1


def test_propositions_are_listed_with_commas_outside_of_parentheses():
    assert requested_propositions("a, in( robot,lab ) ,a") == ("a", "in(robot, lab)")
    assert requested_propositions(None) == ()
    with pytest.raises(InputError, match="--propositions names nothing in ''; name some"):
        requested_propositions("")


def test_a_story_tells_moment_after_moment():
    trace = (frozenset({"holding(mug)", "in(robot, lab)"}), frozenset())
    assert story(trace) == "1. the robot holds the mug and the robot is in the lab; 2. nothing of this is so"


def test_what_always_holds_is_broken_by_nothing():
    explained = explain(parse("a | !a"), Alphabet(("a",)))
    assert (explained.violating, len(explained.satisfying)) == ((), 1)


def test_an_example_that_is_too_long_to_find_is_left_out():
    names = [f"a{k}" for k in range(14)]
    missing = explain(parse(f"!({' & '.join(f'F {a}' for a in names)})"), Alphabet(tuple(names)))
    assert (missing.satisfying, missing.violating) == ((), (frozenset(names),))


def test_of_many_constraints_the_one_broken_soonest_is_the_example():
    names = [f"a{k}" for k in range(14)]
    explained = explain(parse(" & ".join(f"F {a}" for a in names)), Alphabet(tuple(names)))
    assert (explained.satisfying, explained.violating) == ((frozenset(names),), (frozenset(),))


def test_a_proposition_called_as_an_operator_has_no_prefix():
    assert prefix_text(parse("F e")) == ""
    assert prefix_text(parse("a -> b")) == "i a b"


def test_every_key_is_documented():
    documented = (Path(__file__).parents[2] / "docs" / "reference" / "json_format.md").read_text(encoding="utf-8")
    for key in ConstraintReport("", Outcome.FAILED, "").to_json():
        assert f"`{key}`" in documented.partition("## `constraint`")[2]
