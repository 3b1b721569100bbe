"""Thousands of small buildings and formulas: what is decoded obeys, is as short as can be, and is refused only rightly.

Plans are judged independently: by full scenes along the whole way and the semantics of formulas over finite traces.
"""

from itertools import groupby
from math import inf

import numpy as np
import pytest
from optimal_plans import optimal_length
from reference_semantics import holds

from llm_planner.execution.supervision import zones_of_step
from llm_planner.execution.watch import watch_for
from llm_planner.ltl.formula import Constraint, conj, disj, finally_, globally, implies, neg, next_, until, weak_until
from llm_planner.ltl.formula import atom as proposition
from llm_planner.ltl.monitor import Monitor
from llm_planner.planning.search.decode import Verdict, decode_plan
from llm_planner.plans.plan import goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.trace import foresee_motion, letter
from llm_planner.scene.propositions import Moment, parse_proposition

NAMES = ("kitchen", "lab", "office", "hall", "archive", "canteen")


def random_formula(rng, names, depth):
    if depth == 0 or rng.random() < 0.2:
        literal = proposition(str(rng.choice(names)))
        return neg(literal) if rng.random() < 0.4 else literal
    f, g = (random_formula(rng, names, depth - 1) for _ in range(2))
    unary = [finally_, globally, next_, neg]
    binary = [conj, disj, implies, until, weak_until]
    return unary[rng.integers(4)](f) if rng.random() < 0.5 else binary[rng.integers(5)](f, g)


def sensible_formulas(rng, names):
    """What people ask for: visits, order, places to stay away from, deliveries."""
    a, b, c = (proposition(str(name)) for name in rng.permutation(names)[:3])
    kinds = [
        finally_(a), finally_(conj(a, finally_(b))), weak_until(neg(a), b), globally(neg(c)),
        globally(implies(a, finally_(b))),        conj(finally_(a), finally_(b)), finally_(conj(b, next_(finally_(a)))),
    ]  # fmt: skip
    return [kinds[k] for k in rng.integers(len(kinds), size=rng.integers(1, 4))]


def moments_of(calls, scene, skills, constraints):
    """The whole way, by full scenes, round what the rules forbid by then."""
    table = {skill.name: skill for skill in skills}
    origins = {item.name: item.position for item in scene.objects}
    watch, seen = watch_for(constraints, scene).see(scene), [Moment(scene, origins)]
    for call in calls:
        skill = table[call.skill]
        lay = {item.name: item.position for item in scene.objects}
        goals = goals_of(skill, "", call.values(skill), scene, lay)
        zones = zones_of_step(watch, scene, predict(scene, goals))
        passage = foresee_motion(skill, call.values(skill), scene, lay, zones=zones)
        seen += passage.moments(origins)
        watch, scene = watch.foresee(passage.moments(origins)), passage.scenes[-1]
    return seen


def trace_of(moments, formula):
    """The changes of the formula's propositions."""
    items = [parse_proposition(name) for name in formula.propositions]
    return tuple(seen for seen, _ in groupby(letter(moment, items) for moment in moments))


def judge(scene, skills, formulas):
    constraints = [Constraint(f, str(f)) for f in formulas]
    decoded = decode_plan(scene, skills, constraints, caution=0.0)
    best = optimal_length(scene, skills, constraints)
    if decoded.verdict is Verdict.PLAN:
        moments = moments_of(decoded.calls, scene, skills, constraints)
        for f in formulas:
            trace = trace_of(moments, f)
            assert holds(f, trace), f"{f} is broken by {[str(c) for c in decoded.calls]}: {trace}"
            monitor = Monitor(f)
            for time, one in enumerate(trace):
                assert not monitor.observe(one, time).lost
        assert decoded.metres == pytest.approx(best, abs=0.2)
    else:
        assert decoded.verdict is Verdict.IMPOSSIBLE
        assert decoded.reason.startswith("No plan of my skills can satisfy this, because ")
        assert best == inf or optimal_length(scene, skills, constraints, drop_anywhere=True) == inf
    return decoded


@pytest.mark.parametrize("seed", range(150))
def test_random_formulas_over_rooms(driving, draw, seed):
    rng = np.random.default_rng(seed)
    names = [f"in(robot, {room})" for room in rng.permutation(NAMES)[:3]]
    judge(draw(rng), driving, [random_formula(rng, names, 3) for _ in range(rng.integers(1, 4))])


@pytest.mark.parametrize("seed", range(60))
def test_errands_with_rules(driving, draw, seed):
    rng = np.random.default_rng(1000 + seed)
    rooms = [f"in(robot, {room})" for room in rng.permutation(NAMES)[:3]]
    errands = [
        f"in(parcel, {rng.choice(NAMES)})",
        "holding(parcel)",
        "near(robot, Anna)",
        f"did(look, {rng.choice(NAMES)})",
    ]
    judge(draw(rng, ("parcel", "Anna")), driving, sensible_formulas(rng, [*rooms, *errands]))
