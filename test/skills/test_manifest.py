import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_planner.errors import InputError
from llm_planner.programs.signatures import REQUIRED
from llm_planner.skills.library import load_skills
from llm_planner.skills.manifest import Manifest, ServerContract, SkillFile, manifest_of
from llm_planner.strict_yaml import parse_file

PATH = Path("skills/place_beside/skill.yaml")
GOOD: dict[str, Any] = {
    "name": "place_beside",
    "description": "Put it next to another thing.",
    "timeout": 20.0,
    "parameters": [
        {"name": "object", "type": "object", "description": "the other thing"},
        {"name": "direction", "type": "direction", "default": "left", "description": "the side"},
        {
            "name": "distance", "type": "number", "unit": "m", "minimum": 0.02, "maximum": 0.3, "default": 0.04,
            "description": "the gap",
        },
    ],
    "preconditions": [{"atom": "holding()", "otherwise": "nothing is held, so {object} gets no neighbour"}],
    "effects": ["beside(held, object, direction, distance)"],
}  # fmt: skip


SERVER = {"kind": "http", "url": "http://robot:8093/act", "timeout": 2.0, "instruction": "put it by the {object}"}
POLICY = {"world": "pick", "observe": ["hand"], "goal": [], "episodes": 1, "steps": 1}


def parse(**changes: Any) -> Manifest:
    return parse_text(yaml.safe_dump({**GOOD, **changes}), PATH)


def parse_text(text: str, path: Path) -> Manifest:
    return parse_file(text, path, SkillFile, lambda content: manifest_of(content, path))


def parameter(**changes: Any) -> list[dict[str, Any]]:
    return [{"name": "distance", "type": "number", "description": "the gap", **changes}]


def test_a_manifest_gives_the_signature_that_programs_are_checked_against() -> None:
    signature = parse().signature

    assert str(signature) == "place_beside(object, direction='left', distance=0.04)"
    assert signature.is_skill
    assert [p.type for p in signature.parameters] == ["object", "direction", "number"]
    assert signature.parameters[0].default is REQUIRED
    assert (signature.parameters[2].minimum, signature.parameters[2].maximum) == (0.02, 0.3)
    assert [str(atom) for atom in signature.effects] == ["beside(held, object, direction, distance)"]


def test_the_library_holds_exactly_the_documented_skills() -> None:
    assert sorted(skill.name for skill in load_skills()) == sorted(
        ["pick", "place_on", "place_in", "place_beside", "place_at", "place_offset", "push", "open_gripper",
         "close_gripper", "go_home", "go_to", "pick_up", "drop_off", "look", "wait", "achieve", "manoeuvre",
         "open_drawer", "close_drawer", "press", "wipe", "reach", "stack", "sweep", "tip", "follow", "dock", "approach"]
    )  # fmt: skip


def test_every_shipped_skill_describes_itself_and_its_parameters() -> None:
    for skill in load_skills():
        assert skill.manifest.description.endswith(".")
        assert all(parameter.description for parameter in skill.manifest.parameters)
        assert 0 < skill.manifest.timeout <= (90 if skill.manifest.robot == "arm" else 900)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"color": "red"}, "color is unknown; the keys are: name, description"),
        ({"name": "place"}, "name is 'place' but the folder is 'place_beside'; make them agree"),
        ({"robot": "boat"}, "robot is 'boat'; choose one of: arm, mobile"),
        ({"timeout": -1}, "timeout must be greater than 0, not '-1'"),
        ({"parameters": parameter(type="colour")}, r"parameters\[1\].type is 'colour'; choose one of: object, point"),
        ({"parameters": parameter() + parameter()}, "parameters have the same name twice: distance, distance"),
        ({"parameters": parameter(type="direction", minimum=1)}, r"parameters\[1\] has bounds but is a direction"),
        ({"parameters": parameter(minimum=2, maximum=1)}, "minimum is 2, above the maximum, 1"),
        ({"parameters": parameter(maximum=1, default=2)}, "default must be a number within its bounds"),
        ({"parameters": parameter(default=True)}, "default must be a number or a text, not 'true'"),
        ({"parameters": parameter(default=float("nan"))}, "default must be .*number.*not '.nan'"),
        ({"parameters": parameter(default=float("inf"))}, "default must be .*number.*not '.inf'"),
        ({"parameters": parameter(type="direction", default="up")}, "is 'up'; a direction's default may be: top, left"),
        ({"parameters": parameter(type="object", default="mug")}, "a object's default may be: none, since it must"),
        ({"preconditions": [{"atom": "holding()", "otherwise": "no {color}"}]}, r"otherwise names \{color\}; it may"),
        ({"preconditions": [{"atom": "flying()", "otherwise": "no"}]}, "preconditions.*'flying\\(\\)' uses the"),
        ({"effects": ["on(held, table)"]}, "effects.*'on\\(held, table\\)' names 'table'; an atom may name: object"),
    ],
)
def test_a_wrong_manifest_says_file_key_value_and_choices(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"place_beside/skill\.yaml.*: .*{message}"):
        parse(**changes)


def test_a_default_may_be_negative_where_there_is_no_minimum() -> None:
    (one,) = parse(preconditions=[], effects=[], parameters=parameter(default=-3)).parameters
    assert one.default == -3


@pytest.mark.parametrize("name", ["objects", "len", "tell", "for", "wave-at"])
def test_a_name_that_programs_cannot_call_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}/skill\.yaml, line .: name '{name}' (already has|is not a)"):
        parse_text(yaml.safe_dump({**GOOD, "name": name}), Path("skills") / name / "skill.yaml")


def moved_by(folder: Path, code: bool = False, **mover: Any) -> Manifest:
    """The manifest with this mover, in a folder that holds the recording `motion.json`, and a skill.py with `code`."""
    (folder / "place_beside").mkdir()
    motion = {"frame": "object", "dt": 0.05, "moments": [[0.0, 0.0, 0.1, 0.0, 0.0]]}
    (folder / "place_beside" / "motion.json").write_text(json.dumps(motion))
    if code:
        (folder / "place_beside" / "skill.py").write_text("def move(arm, arguments):\n    yield from ()\n")
    return parse_text(yaml.safe_dump({**GOOD, **mover}), folder / "place_beside" / "skill.yaml")


def test_a_skill_is_moved_by_its_code_a_recording_or_a_server(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()
    scripted = moved_by(tmp_path / "a", code=True)
    recorded = moved_by(tmp_path / "b", recording="motion.json")
    served = moved_by(tmp_path / "c", server={**SERVER, "image": True})

    assert [manifest.mover for manifest in (scripted, recorded, served)] == ["script", "recording", "server"]
    assert scripted.signature == recorded.signature == served.signature
    assert recorded.recording == tmp_path / "b" / "place_beside" / "motion.json"
    assert served.server == ServerContract(**SERVER, image=True)


@pytest.mark.parametrize(
    ("mover", "message"),
    [
        ({}, r"a skill is moved by a skill\.py beside, a recording or a server; there is none of them"),
        ({"code": True, "server": SERVER}, r"there is server and a skill\.py"),
        ({"recording": "motion.json", "server": SERVER}, "there is recording and server"),
        ({"recording": "motion.json", "policy": POLICY}, "has policy and recording; a policy is learned from a skill"),
        ({"server": SERVER, "robot": "mobile"}, "a server moves an arm; a mobile robot needs a skill"),
        ({"recording": "other.json"}, "recording is 'other.json', which is not a file in the folder .*/place_beside"),
        ({"recording": "../motion.json"}, r"recording is '\.\./motion\.json', which is not a file in the folder"),
        ({"server": {**SERVER, "kind": "lerobot"}}, "server.kind is 'lerobot'; choose one of: http"),
        ({"server": {**SERVER, "url": "ftp://robot/act"}}, "server.url is 'ftp://robot/act'; write one such as"),
        ({"server": {**SERVER, "url": "http://robot:many/"}}, "server.url is 'http://robot:many/'"),
        ({"server": {**SERVER, "url": "http:///act"}}, "server.url is 'http:///act'"),
        ({"server": {**SERVER, "url": "http://robot/a b"}}, "server.url is 'http://robot/a b'"),
        ({"server": {**SERVER, "timeout": 0}}, "server.timeout must be greater than 0, not '0'"),
        ({"server": {**SERVER, "instruction": "put {it} down"}}, r"instruction names \{it\}; it may name: object, dir"),
        ({"server": {**SERVER, "instruction": "{object.__class__}"}}, r"instruction names \{object\.__class__\}"),
        ({"server": {**SERVER, "instruction": "{distance:.2f}"}}, r"instruction names \{distance:\.2f\}"),
        ({"server": {**SERVER, "instruction": "to the {object"}}, "'to the {object', which has a stray brace"),
    ],
)  # fmt: skip
def test_a_wrong_mover_is_refused_with_a_reason(tmp_path: Path, mover: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"place_beside/skill\.yaml.*: .*{message}"):
        moved_by(tmp_path, **mover)


def test_a_library_is_read_from_any_folder(tmp_path: Path) -> None:
    folder = tmp_path / "place_beside"
    folder.mkdir()
    (folder / "skill.yaml").write_text(yaml.safe_dump(GOOD))
    (folder / "skill.py").write_text("def move(arm, arguments):\n    yield from ()\n")

    library = load_skills(tmp_path)

    assert library.find("place_beside").manifest.code == folder / "skill.py"
    with pytest.raises(InputError, match="there is no skill 'pack'; the skills are: achieve, approach"):
        library.find("pack")


def test_an_empty_folder_is_no_library(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no skill; a skill is a folder with a skill\.yaml"):
        load_skills(tmp_path)
