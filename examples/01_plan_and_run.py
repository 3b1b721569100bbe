"""Plan a command, print the plan, execute it in simulation and print the resulting scene."""

from llm_planner import Session

with Session("tabletop", objects="red block, blue block, green bowl") as session:
    planned = session.plan("put the red block in the green bowl")
    for step in planned.plan.steps:
        print("step:", step.skill, dict(step.arguments))
    report = session.run("put the red block in the green bowl")
    print(report.outcome.value, "-", report.message)
    print("the red block is at", [round(value, 3) for value in session.scene.find("red block").position])
