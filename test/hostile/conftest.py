"""The gates that everything hostile has to come through, each as a function from what is given to what came through.

A gate raises LlmPlannerError for what it keeps out. The table has two blocks, a bowl and a vase; the policy lets
commands from the topic do anything but touch the vase, and only the operator may.
"""

from __future__ import annotations

import contextlib
import io
import json

import pytest

from llm_planner.cli.main import main
from llm_planner.errors import InputError
from llm_planner.language.factory import open_model
from llm_planner.language.model import ProgramReply, Reading, ReadingReply
from llm_planner.ltl.parser import parse
from llm_planner.planning.planning import plan_command, plan_program
from llm_planner.plans.plan import in_base_words
from llm_planner.plans.privileges.decision import check_call, require, review_plan, review_program
from llm_planner.plans.privileges.policy import parse_policy
from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Finished, Interpreter, SkillCall
from llm_planner.scene.places import BEHIND
from llm_planner.scene.propositions import check_proposition, parse_proposition
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject
from llm_planner.skills.library import load_skills
from llm_planner.skills.manifest import read_manifest

THINGS = {"red block": (0.55, 0.25), "blue block": (0.35, -0.25), "bowl": (0.45, 0.0), "vase": (0.5, -0.3)}
POLICY = """
sources: {topic: refuse, cli: ask, operator: refuse}
rules:
- {name: everyday, allow: any, from: any}
- {name: the vase is the operator's, deny: [pick, push], from: [topic, cli], where: {object: {kind: vase}}}
- {name: nothing is put on the vase, deny: [place_on, place_in, place_beside], from: any, where: {object: vase}}
- {name: pushes are short, deny: push, from: any, where: {distance: {at_least: 0.2}}}
- {name: not in the corner, deny: place_at, from: any, where: {place: {region: top left corner}}}
"""


class Obedient:
    """A model that has been taken in: whatever it is told, it answers `reply`."""

    name = "obedient"
    chooses = False
    is_large = False
    guess = None

    def __init__(self, reply):
        self.reply = reply

    def read_command(self, request):
        return ReadingReply((Reading(task=request.command),) * request.samples)

    def write_program(self, request):
        return self.reply


def thing(name, x, y, kind=""):
    size = (0.13, 0.13, 0.05) if name == "bowl" else (0.04, 0.04, 0.04)
    return SceneObject(name, kind or name.split()[-1] if name.strip() else "", "", (x, y, size[2] / 2), IDENTITY, size)


@pytest.fixture(scope="session")
def skills():
    return load_skills().signatures


@pytest.fixture(scope="session")
def table():
    """The table, with further things on it, as {name: kind}."""

    def make(more):
        placed = [thing(name, *place) for name, place in THINGS.items()]
        added = [thing(name, 0.3 + 0.06 * k, 0.35, kind) for k, (name, kind) in enumerate((more or {}).items())]
        return Scene(0.0, (*placed, *added))

    return make


@pytest.fixture(scope="session")
def policy_of():
    """The operators' policy, in which another source stands where commands from the topic do."""
    return lambda source, skills: parse_policy(POLICY.replace("topic", source), "lab.yaml", skills)


@pytest.fixture(scope="session")
def obedient():
    """Makes a model that writes this program, whatever it is told."""
    return lambda program: Obedient(ProgramReply(program=program))


@pytest.fixture(scope="session")
def gates(skills, table, tmp_path_factory):
    """Every gate by its name; each gives the skill calls, or the value, that came through."""
    library = {skill.name: skill for skill in skills}
    operators = parse_policy(POLICY, "lab.yaml", skills)

    def program(case):
        scene = table(case.get("things"))
        interpreter = Interpreter(check_program(case["given"], skills, scene))
        return list(iter(lambda: interpreter.advance(scene), Finished()))

    def privileged(case):
        """As a program runs: checked, reviewed, planned, and every call asked about when it starts."""
        scene, source = table(case.get("things")), case.get("source", "topic")
        program = check_program(case["given"], skills, scene)
        review_program(operators, source, program, scene)
        review_plan(operators, source, plan_program("", case["given"], scene, skills).plan, library, scene)
        interpreter, through = Interpreter(program), []
        while isinstance(call := interpreter.advance(scene), SkillCall):
            require(check_call(operators, source, call, scene))
            through.append((call.skill, *call.arguments.values()))
        return through

    def start(case):
        """One call at the moment it starts, whoever asked for it."""
        skill, arguments = case["given"]["skill"], case["given"].get("arguments", {})
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()}
        call = SkillCall(skill, in_base_words(library[skill], values, BEHIND) if skill in library else values, 1)
        require(check_call(operators, case.get("source", "topic"), call, table(case.get("things"))))
        return call

    def command(case):
        """Words that a model obeys by writing the program `obeys`, for a source of commands."""
        scene = table(case.get("things"))
        model = Obedient(ProgramReply(program=case.get("obeys", ""), question=case.get("asks", "")))
        planned = plan_command(case["given"], scene, skills, model)
        return privileged({**case, "given": planned.plan.program})

    def formula(case):
        read = parse(case["given"])
        for text in read.propositions:
            check_proposition(parse_proposition(text), table(case.get("things")))
        return read

    def file(case, name, read):
        path = tmp_path_factory.mktemp("hostile") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(case["given"], encoding="utf-8")
        return read(path)

    def manifest(case):
        folder = tmp_path_factory.mktemp("hostile") / "wave"
        folder.mkdir()
        (folder / "skill.yaml").write_text(case["given"], encoding="utf-8")
        (folder / "skill.py").write_text("def move(arm, arguments):\n    yield from ()\n", encoding="utf-8")
        return read_manifest(folder / "skill.yaml")

    def batch(case):
        """One line of a batch for a model that knows one command; what it prints must be one line too."""
        folder, shown = tmp_path_factory.mktemp("hostile"), io.StringIO()
        (folder / "script.yaml").write_text("go home: go_home()", encoding="utf-8")
        (folder / "batch.txt").write_bytes(case["given"].encode("utf-8", "surrogateescape"))
        model = ["--model", "scripted", "--model-script", str(folder / "script.yaml")]
        with contextlib.redirect_stdout(shown):
            main(["plan", "--batch", str(folder / "batch.txt"), *model])
        (answered,) = map(json.loads, shown.getvalue().splitlines())
        if answered["outcome"] != "done":
            raise InputError(answered["message"])
        return answered["steps"]

    return {
        "batch": batch,
        "program": program,
        "privileged": privileged,
        "start": start,
        "command": command,
        "formula": formula,
        "policy": lambda case: parse_policy(case["given"], "lab.yaml", skills),
        "script": lambda case: file(case, "script.yaml", lambda path: open_model("scripted", path)),
        "manifest": manifest,
    }
