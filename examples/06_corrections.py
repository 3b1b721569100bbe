"""Correct the robot while it moves: the edit is checked before it takes effect."""

from llm_planner import Session

with Session("tabletop", objects="red block, blue block, green bowl") as session:
    said = iter(["slower", "no, the blue one"])

    def watch(state) -> None:
        step = state.run.step if state.run else None
        if step is not None and state.phase.value == "running":
            words = next(said, None)
            if words:
                print("person:", words)
                session.correct(words)

    report = session.run("put the red block in the green bowl", on_change=watch)
    for reply in session.replies:
        print("robot:", reply)
    print(report.outcome.value, [(step.skill, *step.arguments.values()) for step in report.plan.steps])
