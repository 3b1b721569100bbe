"""Several plans for one command, merged into a tree that branches where they part (Tree-Planner, arXiv:2310.08582).

Walked against the live scene: a call that cannot start, or that has failed too often, is passed over for another branch
of the same node or of the nearest one above that has one. No model is asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from llm_planner.plan.choices import Call
from llm_planner.plan.plan import Goal
from llm_planner.world.scene import Scene

ROOT = 0
PATIENCE = 3  # times that a call may fail before another branch is tried


@dataclass(frozen=True)
class Step:
    """A call of a plan and the effects that it promises."""

    call: Call
    promises: tuple[Goal, ...] = ()


@dataclass(frozen=True)
class Node:
    """What the plans that begin with the same calls do next. The root has no `step`; `plans` counts those through here.

    `parent` is -1 for the root. `children` are in the order in which the plans were given.
    """

    step: Step | None
    parent: int
    plans: int
    children: Mapping[Call, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ActionTree:
    """Nodes by number, the root first."""

    nodes: tuple[Node, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every different call in it."""
        return tuple(dict.fromkeys(node.step.call for node in self.nodes if node.step is not None))

    def child(self, number: int, call: Call) -> int | None:
        """The node that the call leads to, None where no plan goes on so."""
        return self.nodes[number].children.get(call)

    def first(self, call: Call) -> int | None:
        """The first node that makes this call, None where no plan does."""
        return next((k for k, node in enumerate(self.nodes) if node.step is not None and node.step.call == call), None)

    def after(self, number: int, call: Call) -> int:
        """The node that a call leads to from another. Out of turn, plans go on from where they make that call; one
        that none makes leads nowhere."""
        child = self.child(number, call)
        found = child if child is not None else self.first(call)
        return number if found is None else found

    def branches(self, number: int) -> list[int]:
        """The nodes below one, those of most plans first."""
        return sorted(self.nodes[number].children.values(), key=lambda child: -self.nodes[child].plans)

    def is_done(self, number: int, scene: Scene) -> bool:
        """Whether the scene shows what the node promises, or what comes of it: a thing that was picked up to be put
        somewhere lies there."""
        step = self.nodes[number].step
        if step is None or not step.promises:
            return False
        if all(goal.holds(scene) for goal in step.promises):
            return True
        fills = any(goal.atom.predicate == "held" for goal in step.promises)
        return fills and any(self.is_done(child, scene) for child in self.branches(number))


def merged(plans: Iterable[Sequence[Step]]) -> ActionTree:
    """The tree of these plans."""
    nodes = [Node(None, -1, 0)]
    children: list[dict[Call, int]] = [{}]
    for plan in plans:
        number = ROOT
        for step in plan:
            if step.call not in children[number]:
                children[number][step.call] = len(nodes)
                nodes.append(Node(step, number, 0))
                children.append({})
            number = children[number][step.call]
            nodes[number] = replace(nodes[number], plans=nodes[number].plans + 1)
        nodes[ROOT] = replace(nodes[ROOT], plans=nodes[ROOT].plans + 1)
    return ActionTree(tuple(replace(node, children=below) for node, below in zip(nodes, children, strict=True)))


NO_PLANS = merged(())


@dataclass(frozen=True)
class Walk:
    """Where the walk through a tree is: below `node`, whose call has succeeded last. `failures` counts by node."""

    tree: ActionTree
    node: int = ROOT
    failures: Mapping[int, int] = field(default_factory=dict)

    def succeeded(self, number: int) -> Walk:
        """The walk after the call of node `number` has ended well."""
        return Walk(self.tree, number, self.failures)

    def failed(self, number: int) -> Walk:
        """The walk after the call of node `number` has failed."""
        return replace(self, failures=Counter(self.failures) + Counter([number]))

    def next(self, scene: Scene, can_start: Callable[[Call], bool]) -> int | None:
        """The node to carry out now, None where no branch is left.

        What the scene shows to be done is passed. Where nothing below can go on, the nearest node above that has
        another branch takes over.
        """
        node = self.node
        while node != -1:
            found = self._below(node, scene, can_start)
            if found is not None:
                return found
            node = self.tree.nodes[node].parent
        return None

    def _below(self, number: int, scene: Scene, can_start: Callable[[Call], bool]) -> int | None:
        for child in self.tree.branches(number):
            if self.failures.get(child, 0) >= PATIENCE:
                continue
            if self.tree.is_done(child, scene):
                found = self._below(child, scene, can_start)
                if found is not None:
                    return found
                continue
            step = self.tree.nodes[child].step
            if step is not None and can_start(step.call):
                return child
        return None
