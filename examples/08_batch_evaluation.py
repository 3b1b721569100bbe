"""Measure the success rate of a command over several layouts; the final scene decides on success."""

from llm_planner import Outcome, Session

LAYOUTS = range(5)
done = 0
for seed in LAYOUTS:
    with Session("tabletop", objects="red block, blue block, mug", seed=seed) as session:
        report = session.run("stack the red block on the blue block")
        done += report.outcome is Outcome.DONE
        print(f"seed {seed}: {report.outcome.value} in {report.duration:.1f} s of simulated time")
print(f"{done} of {len(LAYOUTS)} layouts")
