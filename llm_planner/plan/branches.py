"""Another way to the same end: the branch of an action tree that is taken when a step has failed (arXiv:2310.08582)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce

from llm_planner.plan.action_tree import ROOT, ActionTree, Walk
from llm_planner.plan.choices import Call, can_start
from llm_planner.plan.plan import Goal, goals_of
from llm_planner.plan.prediction import predict
from llm_planner.plan.unroll import lying
from llm_planner.program.signatures import Signature
from llm_planner.world.scene import Scene


def next_step(walk: Walk, scene: Scene, skills: Sequence[Signature], barred: Collection[Call] = ()) -> int | None:
    """The node of the tree to carry out in the scene as it is, none of the `barred` calls; None where no branch is
    left."""
    table = {skill.name: skill for skill in skills}

    def startable(call: Call) -> bool:
        return call not in barred and call.skill in table and can_start(call, table[call.skill], scene)

    return walk.next(scene, startable)


def other_branch(
    tree: ActionTree,
    goals: Sequence[Goal],
    done: Iterable[Call],
    failed: Collection[Call],
    scene: Scene,
    skills: Sequence[Signature],
) -> tuple[Call, ...]:
    """The calls that lead from `scene` to all `goals` by another branch than the one that `failed`; () for none.

    `done` are the calls that have succeeded, in order. What has failed is put off: it does not come next, but perhaps
    it goes better once other things have been done. Scenes on the way are predicted.
    """
    table = {skill.name: skill for skill in skills}
    node, origins = reduce(tree.after, done, ROOT), dict(lying(scene))
    calls: list[Call] = []
    while len(calls) < len(tree.nodes) and not all(goal.holds(scene) for goal in goals):
        number = next_step(Walk(tree, node), scene, skills, () if calls else failed)
        if number is None:
            return ()
        step = tree.nodes[number].step
        assert step is not None  # the root is never next
        calls.append(step.call)
        skill = table[step.call.skill]
        scene = predict(scene, goals_of(skill, "", step.call.values(skill), scene, origins))
        node, origins = number, {**origins, **lying(scene)}
    return tuple(calls) if all(goal.holds(scene) for goal in goals) else ()
