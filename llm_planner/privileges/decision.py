"""Whether a skill may be called, for a source of commands, under a policy: pure functions, and sentences for a person.

`check_call` is asked before every skill starts, with the scene of that moment. Before anything moves `check_foreseen`
is asked with the scene foreseen for it, and `check_ahead` about what a program may come to: it refuses what no later
scene could allow. What these two let pass is still asked about by `check_call`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llm_planner.errors import LlmPlannerError, QuestionError
from llm_planner.language.plain_text import plain_text, shortened
from llm_planner.plan.plan import PlanStep
from llm_planner.privileges.conditions import Situation
from llm_planner.privileges.outlook import Outlook
from llm_planner.privileges.policy import FALLBACKS, Policy, Possible, Verdict
from llm_planner.program.interpreter import SkillCall
from llm_planner.world.names import the
from llm_planner.world.scene import Scene

MAX_SHOWN = 80  # characters of a name or a call in a sentence for a person
_NEXT_STEPS = {
    Verdict.ASK: "an operator must be asked first",
    Verdict.REFUSE: "ask an operator",
    Verdict.STOP: "the robot stops; ask an operator",
}


@dataclass(frozen=True)
class Decision:
    """What becomes of a call, why, for a person ("" where it is allowed), and by which rule ("" for none)."""

    verdict: Verdict
    reason: str = ""
    rule: str = ""


class PrivilegeError(LlmPlannerError):
    """A call that its source may not make; `decision` says why, and whether the robot must stop."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        super().__init__(decision.reason)


def check_call(policy: Policy, source: str, call: SkillCall, scene: Scene) -> Decision:
    """Whether `call` may start now; its words ("left") are those of a person behind the robot."""
    values = {name: (value,) for name, value in call.arguments.items()}
    return _decide(policy, source, call.skill, values, Situation(scene))


def check_ahead(policy: Policy, source: str, skill: str, values: Mapping[str, Possible], scene: Scene) -> Decision:
    """Whether a call with these values may ever start after `scene`; as `check_call` where all of it is known."""
    return _decide(policy, source, skill, values, Situation(scene, ahead=True))


def check_foreseen(policy: Policy, source: str, call: SkillCall, outlook: Outlook) -> Decision:
    """As `check_call`, in the scene foreseen for that moment; what the forecast leaves open counts against the call."""
    values = {name: (value,) for name, value in call.arguments.items()}
    return _decide(policy, source, call.skill, values, Situation(outlook.scene, whereabouts=outlook.whereabouts))


def require(decision: Decision) -> None:
    """Raises QuestionError where an operator must be asked, PrivilegeError where the call may not be made."""
    if decision.verdict is Verdict.ASK:
        raise QuestionError(decision.reason)
    if decision.verdict is not Verdict.ALLOW:
        raise PrivilegeError(decision)


def _decide(policy: Policy, source: str, skill: str, values: Mapping[str, Possible], situation: Situation) -> Decision:
    """A rule that denies wins over all that allow; of several, the strictest."""
    if not policy.knows(source):
        known = ", ".join(policy.sources) or "none"
        reason = f"The policy {policy.name} knows no source of commands called {_shown(source)!r}, only: {known}"
        return Decision(Verdict.REFUSE, f"{reason}; {_NEXT_STEPS[Verdict.REFUSE]}.")
    deciding = [rule for rule in policy.rules if rule.applies(source, skill, values, situation)]
    denying = [rule for rule in deciding if not rule.allows]
    if denying:
        verdicts = [rule.otherwise or policy.fallback(source) for rule in denying]
        verdict = max(verdicts, key=FALLBACKS.index)
        rule = denying[verdicts.index(verdict)]
        call = f"{_spoken(skill, values)} ({rule})"
        reason = f"The policy {policy.name} does not let commands from {_shown(source)} use {call}"
        return Decision(verdict, f"{reason}; {_NEXT_STEPS[verdict]}.", str(rule))
    if deciding:
        return Decision(Verdict.ALLOW, rule=str(deciding[0]))
    verdict = policy.fallback(source)
    reason = f"No rule of the policy {policy.name} lets commands from {_shown(source)} use {_spoken(skill, values)}"
    return Decision(verdict, f"{reason}; {_NEXT_STEPS[verdict]}.")


def _spoken(skill: str, values: Mapping[str, Possible]) -> str:
    """A call in a sentence: "push on the vase"; the call itself where it is not about one object."""
    about = values.get("object", ())
    if len(about) == 1:
        return _shown(f"{skill} on {the(str(about[0]))}")
    given = {name: possible[0] for name, possible in values.items() if len(possible) == 1}
    return _shown(str(PlanStep("", skill, given, 0)) if len(given) == len(values) else skill)


def _shown(text: str) -> str:
    return shortened(plain_text(text), MAX_SHOWN)
