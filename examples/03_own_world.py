"""Open your own worlds (examples/worlds): a laid table, and an office with three rooms."""

from pathlib import Path

from llm_planner import Session

WORLDS = Path(__file__).parent / "worlds"
for world, command in (
    ("kitchen_table.yaml", "put the red block on the white plate"),
    ("small_office.yaml", "bring the red mug to the office"),
):
    with Session(str(WORLDS / world)) as session:
        report = session.run(command)
        print(f"{world}: {report.outcome.value} - {report.message}")
