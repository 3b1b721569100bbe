"""Monitor a rule in linear temporal logic over finite traces: parse it, step the monitor, read the verdicts."""

from llm_planner import Monitor, parse_ltl

rule = parse_ltl("G(open -> F closed)")  # whenever the drawer is open, it is closed later
monitor = Monitor(rule)
for second, letter in enumerate(({}, {"open"}, {"open"}, {"closed"})):
    verdict = monitor.observe(frozenset(letter), time=float(second))
    print(sorted(letter), "->", verdict.value, "| kept if the run ends now:", monitor.accepts)
