"""Decisions on whether a source of commands may call a skill under a policy: pure functions with reasons for a person.

`check_call` runs before every skill start, with the scene of that moment. Before anything moves, `review_plan` judges
each step of a plan in its predicted scene, and `review_program` every call that the program can make: it refuses those
that no later scene could allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from llm_planner.errors import InputError, LlmPlannerError, QuestionError
from llm_planner.plans.plan import Goal, Plan, PlanStep, goals_of, in_base_words
from llm_planner.plans.prediction import predict
from llm_planner.plans.privileges.conditions import ROBOT, Situation
from llm_planner.plans.privileges.policy import FALLBACKS, Policy, Possible, Verdict
from llm_planner.plans.trace import foresee_motion
from llm_planner.plans.unroll import lying
from llm_planner.programs.checker import CheckedProgram
from llm_planner.programs.interpreter import SkillCall
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument, Point, Type
from llm_planner.scene.names import the
from llm_planner.scene.places import ANY_SIDE, BEHIND, Rectangle, Viewpoint
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.text import plain_text, shortened

LEEWAY = 0.05  # [m] error of a predicted position, along x and along y


@dataclass(frozen=True)
class Outlook:
    """Predicted scene, with the area in which each moved object may be.

    Attributes:
        whereabouts: Area of each object that will have moved by then, and of `ROBOT` [m].
        origins: Position of each object when it last lay on its own [m, base frame].
    """

    scene: Scene
    whereabouts: Mapping[str, Rectangle] = field(default_factory=dict)
    origins: Mapping[str, Vector3] = field(default_factory=dict)

    def after(self, skill: Signature, values: Mapping[str, Argument]) -> Outlook:
        """Return the outlook after the call has done what it promises. `values` are in base words."""
        origins = {**self.origins, **lying(self.scene)}
        goals = goals_of(skill, "", values, self.scene, origins)
        try:
            scene = foresee_motion(skill, values, self.scene, origins, every_point=False).after
        except InputError:  # no way: the robot's position afterwards is unknown
            scene = replace(predict(self.scene, goals), robot=None)
        moved = {item.name: item.position for item in scene.objects if item not in self.scene.objects}
        if scene.robot is not None and scene.robot != self.scene.robot:
            moved[ROBOT] = scene.robot.position
        parts = [part for part in (_left_open(goal, scene) for goal in goals) if part is not None]
        places = {name: _part(position, parts) for name, position in moved.items()}
        return Outlook(scene, {**self.whereabouts, **places}, origins)


def _part(position: Vector3, left_open: list[Rectangle]) -> Rectangle:
    """Return the area around a predicted position; it covers the gripper that has put an object down, too."""
    x, y = position[:2]
    near = Rectangle(x - LEEWAY, x + LEEWAY, y - LEEWAY, y + LEEWAY)
    return next((part for part in left_open if part.contains(x, y)), near)


def _left_open(goal: Goal, after: Scene) -> Rectangle | None:
    """Return the area in which an object may end up if the call leaves its place open."""
    match [goal.atom.predicate, *(goal.values.get(name) for name in goal.atom.arguments[1:])]:
        case ["at", str(place)]:
            return after.region(place).area
        case ["beside", str(other), str(side), _] if side == ANY_SIDE and other in after.names:
            (x, y, _), (px, py, _) = after.find(other).position, after.find(goal.held_at_start).position
            reach = max(abs(px - x), abs(py - y)) + LEEWAY
            return Rectangle(x - reach, x + reach, y - reach, y + reach)
    return None


MAX_SHOWN = 80  # characters of a name or a call in a message
_NEXT_STEPS = {
    Verdict.ASK: "an operator must be asked first",
    Verdict.REFUSE: "ask an operator",
    Verdict.STOP: "the robot stops; ask an operator",
}


@dataclass(frozen=True)
class Decision:
    """Verdict on a call, its `reason` for a person ("" if allowed), and the deciding `rule` ("" for none)."""

    verdict: Verdict
    reason: str = ""
    rule: str = ""


class PrivilegeError(LlmPlannerError):
    """Error of a call that its source may not make."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        super().__init__(decision.reason)


def check_call(policy: Policy, source: str, call: SkillCall, scene: Scene) -> Decision:
    """Decide whether `call` may start now; its words ("left") are as seen from behind the robot."""
    values = {name: (value,) for name, value in call.arguments.items()}
    return _decide(policy, source, call.skill, values, Situation(scene))


def check_ahead(policy: Policy, source: str, skill: str, values: Mapping[str, Possible], scene: Scene) -> Decision:
    """Decide whether such a call may ever start after `scene`; like `check_call` if all values are known."""
    return _decide(policy, source, skill, values, Situation(scene, ahead=True))


def require(decision: Decision) -> None:
    """Raise QuestionError if an operator must be asked, PrivilegeError if the call is denied."""
    if decision.verdict is Verdict.ASK:
        raise QuestionError(decision.reason)
    if decision.verdict is not Verdict.ALLOW:
        raise PrivilegeError(decision)


def _decide(policy: Policy, source: str, skill: str, values: Mapping[str, Possible], situation: Situation) -> Decision:
    """Apply the policy: a rule that denies overrides all that allow; of several, the strictest decides."""
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
    """Describe a call in a sentence: "push on the vase", or the call itself if it has no single object."""
    about = values.get("object", ())
    if len(about) == 1:
        return _shown(f"{skill} on {the(str(about[0]))}")
    given = {name: possible[0] for name, possible in values.items() if len(possible) == 1}
    return _shown(str(PlanStep("", skill, given, 0)) if len(given) == len(values) else skill)


def _shown(text: str) -> str:
    return shortened(plain_text(text), MAX_SHOWN)


def review_program(
    policy: Policy, source: str, program: CheckedProgram, scene: Scene, viewpoint: Viewpoint = BEHIND
) -> None:
    """Check every call of a program, in all its branches; raises as `require`.

    Arguments that are unknown until the program runs are checked at the call.
    """
    for call in program.calls:
        skill = program.skills[call.skill]
        values = {name: _possible(skill, name, given, viewpoint) for name, given in call.arguments}
        require(check_ahead(policy, source, call.skill, values, scene))


def review_plan(
    policy: Policy,
    source: str,
    plan: Plan,
    skills: Mapping[str, Signature],
    scene: Scene,
    viewpoint: Viewpoint = BEHIND,
) -> None:
    """Check every step of a plan that begins in `scene`, each in its predicted scene; raises as `require`.

    What the forecast leaves open counts against the call.
    """
    outlook = Outlook(scene)
    for step in plan.steps:
        skill = skills[step.skill]
        values = in_base_words(skill, step.arguments, viewpoint)
        situation = Situation(outlook.scene, whereabouts=outlook.whereabouts)
        possible = {name: (value,) for name, value in values.items()}
        require(_decide(policy, source, step.skill, possible, situation))
        outlook = outlook.after(skill, values)


def _possible(skill: Signature, name: str, given: Type, viewpoint: Viewpoint) -> Possible:
    """Return the values that an argument may have, as seen from behind the robot; empty if unknown."""
    literals = sorted(given.literals or (), key=repr)
    plain = [(value.x, value.y, value.z) if isinstance(value, Point) else value for value in literals]
    return tuple(in_base_words(skill, {name: value}, viewpoint)[name] for value in plain)
