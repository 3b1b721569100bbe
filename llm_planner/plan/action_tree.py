"""Several plans for one command, merged into a tree that branches where they part (Tree-Planner, arXiv:2310.08582).

Walked against the live scene: a call whose preconditions fail, or that failed when it was tried, is passed over for
another branch of the same node, or of the nearest node above it that has one. No model is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from llm_planner.plan.choices import Call

ROOT = 0


@dataclass(frozen=True)
class Node:
    """What the plans that begin with the same calls do next. `parent` is -1 for the root; `plans` counts them."""

    call: Call | None
    parent: int
    plans: int
    ends: int = 0  # plans that end here
    children: Mapping[Call, int] = field(default_factory=dict)  # in the order in which the plans were given


@dataclass(frozen=True)
class ActionTree:
    """Nodes by number; the first is the root. The first plan given is the model's best and is preferred."""

    nodes: tuple[Node, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every different call in it."""
        return tuple(dict.fromkeys(node.call for node in self.nodes if node.call is not None))

    def child(self, number: int, call: Call) -> int | None:
        """The node that the call leads to, None where no plan goes on so."""
        return self.nodes[number].children.get(call)

    def first(self, call: Call) -> int | None:
        """The first node that makes this call, None where no plan does."""
        return next((k for k, node in enumerate(self.nodes) if node.call == call), None)

    def path(self, number: int) -> tuple[Call, ...]:
        """The calls from the root down to a node."""
        calls: list[Call] = []
        while number != ROOT:
            node = self.nodes[number]
            assert node.call is not None  # only the root has none
            calls.append(node.call)
            number = node.parent
        return tuple(reversed(calls))


def merged(plans: Iterable[Sequence[Call]]) -> ActionTree:
    """The tree of these plans."""
    parents, calls = [-1], list[Call | None]([None])
    counts, ends, children = [0], [0], [dict[Call, int]()]
    for plan in plans:
        number = ROOT
        counts[ROOT] += 1
        for call in plan:
            if call not in children[number]:
                children[number][call] = len(calls)
                parents.append(number)
                calls.append(call)
                counts.append(0)
                ends.append(0)
                children.append({})
            number = children[number][call]
            counts[number] += 1
        ends[number] += 1
    return ActionTree(tuple(map(Node, calls, parents, counts, ends, children)))


@dataclass(frozen=True)
class Walk:
    """Where the walk through a tree is: the `node` whose call succeeded last, and the calls that `failed` since.

    `done` are the calls that succeeded, in order.
    """

    tree: ActionTree
    node: int = ROOT
    done: tuple[Call, ...] = ()
    failed: frozenset[tuple[int, Call]] = frozenset()

    @property
    def at_end(self) -> bool:
        """Whether some plan ends here."""
        return self.tree.nodes[self.node].ends > 0

    def succeeded(self, number: int) -> Walk:
        """The walk after the call of node `number` has ended well."""
        call = self.tree.nodes[number].call
        assert call is not None  # the root is no step
        return Walk(self.tree, number, (*self.done, call), self.failed)

    def failed_at(self, number: int) -> Walk:
        """The walk after the call of node `number` has failed: that branch is not tried again from its parent."""
        node = self.tree.nodes[number]
        assert node.call is not None  # the root is no step
        return Walk(self.tree, self.node, self.done, self.failed | {(node.parent, node.call)})

    def next(self, can_start: Callable[[Call], bool], is_done: Callable[[Call], bool]) -> tuple[Walk, int | None]:
        """The next node to carry out and the walk that it is taken from; None where no branch is left.

        Branches most plans agree on come first. Where none of a node's calls can start, its parent's others are tried
        and so on up; what the scene shows to be done already (`is_done`) is passed without being repeated.
        """
        node = self.node
        while node != -1:
            found = self._below(node, can_start, is_done)
            if found is not None:
                return Walk(self.tree, self.tree.nodes[found].parent, self.done, self.failed), found
            node = self.tree.nodes[node].parent
        return self, None

    def _below(self, node: int, can_start: Callable[[Call], bool], is_done: Callable[[Call], bool]) -> int | None:
        children = sorted(self.tree.nodes[node].children.items(), key=lambda item: -self.tree.nodes[item[1]].plans)
        for call, number in children:
            if (node, call) in self.failed:
                continue
            if is_done(call):
                found = self._below(number, can_start, is_done)
                if found is not None:
                    return found
            elif can_start(call):
                return number
        return None
