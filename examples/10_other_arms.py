"""Move other arms: shipped ones by name, your own by its folder (docs/tutorials/own_robot.md)."""

from llm_planner import Session, load_robot

for name in ("ur5e", "xarm7"):
    robot = load_robot(name)
    print(f"{name}: {robot.nq} joints, reaches {robot.shape.table_range[1]:.2f} m near the table")
    with Session("tabletop", objects="red block, blue block, green bowl", robot=name) as session:
        report = session.run("put the red block in the green bowl")
        print(f"{name}: {report.outcome.value} - {report.message}")
