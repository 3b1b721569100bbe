"""Whatever was edited before anything came of it, taking it back gives the plan as it was, bit for bit."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_planner.corrections.draft import EditError
from llm_planner.corrections.editing import edited
from llm_planner.corrections.edits import AddRule, Adjust, Change, Edit, Hold, Insert, Move, Rebind, Remove, Shift, Undo
from llm_planner.execution.execution_state import Execution
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import load_skills

ERRANDS = [("1", "2"), ("3", "4"), ("5", "6")]
PLAN = (
    'pick("red block")\nplace_in("green bowl")\npick("blue block")\nplace_at("left side")\n'
    'pick("green block")\nplace_in("red bowl")\n'
)
THINGS = st.sampled_from(["red block", "green block", "blue block"])
BOWLS = st.sampled_from(["red bowl", "green bowl", "blue bowl"])
EDITS = st.one_of(
    st.sampled_from(ERRANDS).map(lambda errand: tuple(Remove(step) for step in errand)),
    st.permutations(ERRANDS).map(lambda order: (Move(order[0], order[1][0]),)),
    st.sampled_from(ERRANDS).map(lambda errand: (Move(errand),)),
    THINGS.map(lambda thing: (Rebind("1", "object", thing),)),
    BOWLS.map(lambda bowl: (Rebind("2", "object", bowl),)),
    st.tuples(THINGS, BOWLS).map(lambda to: (Insert("pick", {"object": to[0]}), Insert("place_in", {"object": to[1]}))),
    st.floats(0.2, 3.0).map(lambda factor: (Adjust("speed", Change.SCALE, factor),)),
    st.floats(0.0, 0.1).map(lambda height: (Adjust("height", Change.SHIFT, height),)),
    st.tuples(*[st.floats(-0.04, 0.04)] * 3).map(lambda offset: (Shift(offset),)),
    THINGS.map(lambda thing: (AddRule(f"G !in({thing}, blue bowl)", f"keep the {thing} out"),)),
)


@pytest.fixture(scope="session")
def skills():
    """Those of an arm."""
    return {skill.name: skill for skill in load_skills().for_scene(Scene(0.0, ())).signatures}


def plan_of(state: Execution):
    """All that a person could see of it, and all that moves the robot."""
    return state.plan, state.manner, state.interpreter.program.text, state.queue, state.wanted, state.goals


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=st.lists(EDITS, min_size=1, max_size=6))
def test_edits_that_are_all_taken_back_leave_the_plan_as_it_was(play, wanted):
    told = play(PLAN)
    told.observe()
    state = edited(told.state, Edit((Hold(),))).state
    states = [state]
    for operations in wanted:
        try:
            state = edited(state, Edit(operations, version=state.version)).state
        except EditError:
            continue
        states.append(state)
    while len(states) > 1:
        states.pop()
        state = edited(state, Edit((Undo(),), version=state.version)).state
        assert plan_of(state) == plan_of(states[-1])
    with pytest.raises(EditError, match="there is nothing to take back"):
        edited(state, Edit((Undo(),), version=state.version))
