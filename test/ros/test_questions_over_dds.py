"""Questions to a robot at work are answered by the nodes, and asking changes nothing."""

from __future__ import annotations

from llm_planner.corrections.edits import Outcome

COMMAND = "put the red block in the green bowl"


def test_it_says_what_it_does_why_and_what_words_would_change_and_goes_on(fresh):
    running = fresh.start(COMMAND)
    ask = fresh.client.correct
    doing, why, supposed = ask("what are you doing?"), ask("why?"), ask("what would happen if I said slower?")
    assert {doing.outcome, why.outcome, supposed.outcome} == {Outcome.NOTHING}
    assert 'I do step 1 of 2, pick("red block")' in doing.message
    assert 'next: place_in("green bowl")' in doing.message
    assert f"because you said “{COMMAND}”" in why.message
    assert supposed.message == "“slower” would change: ~ speed 1 -> 0.5 of the full speed. All stays as it is"
    assert fresh.finish(running).succeeded
    assert not fresh.plan.edits
    assert 'place_in("green bowl") is in the plan because you said' in ask("why did you do that?").message
