"""Editors check files by the JSON Schema that `llm-planner schema` prints."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from llm_planner.cli.main import main
from llm_planner.cli.new import FORMATS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", FORMATS)
def test_the_schema_accepts_the_example_and_no_unknown_key(capsys, kind):
    assert main(["schema", kind]) == 0
    schema = json.loads(capsys.readouterr().out)
    place = ROOT / FORMATS[kind][2]
    texts = [path.read_text(encoding="utf-8") for path in (place.glob(f"*/{kind}.yaml") if place.is_dir() else [place])]
    examples = [
        example for example in map(yaml.safe_load, texts) if not {"like", "arm"} & set(example)
    ]  # shorter formats
    assert examples
    for example in examples:
        jsonschema.validate(example, schema)
        with pytest.raises(jsonschema.ValidationError, match="unexpected"):
            jsonschema.validate({**example, "misspelt": 1}, schema)


def test_every_key_of_a_robot_file_is_described(capsys):
    assert main(["schema", "robot"]) == 0
    schema = json.loads(capsys.readouterr().out)
    keys = {
        f"{table['title']}.{key}": value
        for table in (schema, *schema["$defs"].values())
        for key, value in table["properties"].items()
    }
    assert {"JointEntry.velocity", "HandEntry.turn", "ArmEntry.reach"} <= set(keys)
    assert [key for key, value in keys.items() if not value.get("description")] == []
