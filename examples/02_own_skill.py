"""Add your own skill (examples/skills/point_at) to the shipped ones and use it in a policy program.

`llm-planner new skill NAME` creates such a folder.
"""

from pathlib import Path

from llm_planner import Session

with Session("tabletop", objects="red block, mug", skills=Path(__file__).parent / "skills") as session:
    report = session.run_program('point_at("mug")\npick("red block")')
    print(report.outcome.value, "-", [step.skill for step in report.plan.steps])
