"""`skills`, `demonstrate`, `train`, `evaluate`, `improve`: what they show, and what they cannot do is said at once."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from llm_planner.cli.learning_options import resumable
from llm_planner.cli.main import main


def test_skills_are_listed(capsys):
    assert main(["skills"]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "arm" in rows["pick"]
    assert "mobile" in rows["pick_up"]
    assert "…" not in "".join(rows.values())


def test_skills_are_listed_for_programs(capsys):
    assert main(["skills", "--json"]) == 0
    table = {row["name"]: row for row in json.loads(capsys.readouterr().out)["skills"]}
    assert (table["go_home"]["robot"], table["go_home"]["moves"]) == ("arm", "script")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Folder with three skills of one's own: one works, one cannot be loaded, one has a faulty plan."""
    monkeypatch.chdir(tmp_path)
    for name in ("works", "broken", "unforeseen"):
        assert main(["new", "skill", name, "--folder", "own"]) == 0
    (tmp_path / "own/broken/skill.py").write_text("import sys\n\nsys.exit()\n", encoding="utf-8")
    code = tmp_path / "own/unforeseen/skill.py"
    code.write_text(code.read_text(encoding="utf-8").replace("hover_over(call)", "3"), encoding="utf-8")
    return tmp_path / "own"


def test_a_skill_that_cannot_be_loaded_is_listed_with_its_error(own, capsys):
    capsys.readouterr()
    assert main(["skills", "--skills", "own"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^broken +broken", out, re.MULTILINE)
    assert "broken: own/broken/skill.py, line 3: it cannot be imported: SystemExit" in out
    assert re.search(r"^works +arm +script", out, re.MULTILINE)


def test_skills_are_checked(own, capsys):
    capsys.readouterr()
    assert main(["skills", "--skills", "own", "--check"]) == 1
    out = capsys.readouterr().out
    assert re.search(r'^works: passed: works\(".*"\) was done in simulation in \d+\.\d s$', out, re.MULTILINE)
    assert re.search(
        r"^unforeseen: failed with .*: the plan of the skill unforeseen returned 3 instead", out, re.MULTILINE
    )


def test_checks_are_given_for_programs(own, capsys):
    capsys.readouterr()
    assert main(["skills", "--skills", "own", "--check", "--json"]) == 1
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["skills"]}
    assert (rows["works"]["check"]["passed"], rows["unforeseen"]["check"]["passed"]) == (True, False)
    assert "SystemExit" in rows["broken"]["error"]
    assert "check" not in rows["broken"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["train", "juggle"], r"has no skill 'juggle'; those with a policy: .*pick"),
        (["train", "go_home"], "go_home has no policy to learn: its skill.yaml has no section 'policy'"),
        (["train", "pick", "--skills", "nowhere"], "--skills: nowhere holds no skill; a skill is a folder"),
        (["train", "pick", "--steps", "0"], "--steps must be at least 1, not 0"),
        (["train", "pick", "--steps", "7"], "is there already, and was not trained so; --anew replaces it, --skills"),
        (["train", "pick", "--trials", "10001"], "--trials must be 1 to 10000, not 10001"),
        (["demonstrate", "pick", "--episodes", "0"], "--episodes must be 1 to 1000000, not 0"),
        (["demonstrate", "pick", "--seed", "-1"], "--seed must be 0 to 899, not -1"),
        (["demonstrate", "pick", "--processes", "0"], "the number of processes must be at least 1, not 0"),
        (["evaluate", "pick", "--episodes", "0"], "--episodes must be 1 to 10000, not 0"),
        (["train", "pick", "--work", "/dev/null/work"], "--work: /dev/null is not a folder; name another"),
        (["demonstrate", "pick", "--work", "/dev/null/work"], "--work: /dev/null is not a folder; name another"),
        (["improve", "pick", "--from", "rollouts", "--work", "/dev/null"], "--work: /dev/null is not a folder"),
        (["improve", "pick_by_sight", "--from", "rollouts"], "pick_by_sight sees where to act, .* --episodes 1200"),
        (["improve", "pick", "--from", "rollouts", "--episodes", "0"], "--episodes must be 1 to 10000, not 0"),
    ],
)
def test_what_cannot_be_is_said(capsys, monkeypatch, tmp_path, given, message):
    monkeypatch.chdir(tmp_path)
    assert main(given) == 1
    said = capsys.readouterr().err

    assert re.search(message, said)


@pytest.mark.parametrize(
    "given", [["train", "reach"], ["evaluate", "reach"], ["improve", "reach", "--from", "rollouts"]]
)
def test_a_library_that_cannot_be_written_is_told_before_any_work(capsys, monkeypatch, tmp_path, given):
    refused = (lambda path, mode: path.name != "reach",)
    monkeypatch.setattr("llm_planner.cli.answers.check_folder.__defaults__", refused)
    assert main([*given, "--work", str(tmp_path)]) == 1
    assert "reach cannot be written, permission is denied" in capsys.readouterr().err


def test_without_pyarrow_nothing_is_demonstrated(tmp_path):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from llm_planner.cli.main import main\n"
        f"sys.exit(main(['demonstrate', 'pick', '--work', {str(tmp_path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "pip install 'llm_planner[learn]'" in done.stderr


def test_without_torch_nothing_is_trained(tmp_path):
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pathlib import Path\n"
        "from llm_planner.share import share_folder\n"
        "from llm_planner.learning.training_task import open_training_task\n"
        "from llm_planner.learning.skill_training import train_skill\n"
        f"task = open_training_task(share_folder('skills'), Path({str(tmp_path)!r}), 'pick')\n"
        "train_skill(task, 0, 'flow', [], print)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert "InputError: policies are trained with torch, which is not installed; pip install torch" in done.stderr


def test_one_who_interrupts_hears_how_to_go_on_and_not_anew(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["llm-planner", "train", "pick", "--anew", "--work", "my work"])
    with pytest.raises(KeyboardInterrupt), resumable():
        raise KeyboardInterrupt
    assert "this goes on from there: llm-planner train pick --work 'my work'\n" in capsys.readouterr().err
