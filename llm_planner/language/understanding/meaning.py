"""What formulas mean in one scene: whether two say the same there, and whether some cannot be kept together."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.errors import InputError
from llm_planner.language.understanding.independent import independent
from llm_planner.temporal.alphabet import Alphabet
from llm_planner.temporal.decide import equivalent, smallest_conflict
from llm_planner.temporal.formula import TRUE, Formula, atom, conj, finally_, until
from llm_planner.temporal.substitution import rebuilt, substituted
from llm_planner.world.occurring import alphabet_of
from llm_planner.world.scene import Scene


class Meanings:
    """Decides over the letters that can occur in `scene`; with `bare` propositions over all letters."""

    def __init__(self, scene: Scene, bare: bool = False) -> None:
        self._scene, self._bare = scene, bare

    def same(self, f: Formula, g: Formula) -> bool:
        """Whether they are proved equivalent; what is too large to decide is not."""
        return f is g or self._equal(*_without_common(f, g)) or self._equal(f, g)

    def conflict(self, formulas: Sequence[Formula]) -> tuple[int, ...]:
        """Indices of fewest formulas that cannot be kept together in this scene; () where all can."""
        listed, alphabet = self._decidable([_weaker(f) for f in formulas])
        return smallest_conflict(listed, alphabet)

    def _equal(self, f: Formula, g: Formula) -> bool:
        (first, second), alphabet = self._decidable(_opaque(f, g))
        if first is second:
            return True
        try:
            return equivalent(first, second, alphabet)
        except InputError:
            return False

    def _decidable(self, formulas: Sequence[Formula]) -> tuple[list[Formula], Alphabet]:
        if self._bare:
            return list(formulas), Alphabet(tuple({name for f in formulas for name in f.propositions}))
        listed, groups = independent(formulas, self._scene)
        names = {name for f in listed for name in f.propositions}
        occurring = alphabet_of(names, self._scene)
        known = (tuple(name for name in group if name in names) for group in groups)
        return listed, Alphabet(occurring.propositions, (*occurring.exclusive, *(g for g in known if len(g) > 1)))


def _without_common(f: Formula, g: Formula) -> tuple[Formula, Formula]:
    """Both without the conjuncts that they share: if the rests say the same, so do they."""
    mine, other = (set(h.operands) if h.operator == "&" else {h} for h in (f, g))
    return conj(*(mine - other)), conj(*(other - mine))


def _opaque(*formulas: Formula) -> list[Formula]:
    """Each part that counts seconds is a proposition of its own: equal where it is written alike."""
    numbers: dict[Formula, int] = {}

    def plain(part: Formula) -> Formula:
        return part if part.window is None else atom(f"timed_{numbers.setdefault(part, len(numbers))}")

    return [substituted(f, plain) for f in formulas]


def _weaker(f: Formula) -> Formula:
    """What it demands without counting seconds: nothing that can be kept becomes impossible by it."""
    if not f.timed:
        return f
    if f.operator in ("!", "->", "<->"):
        return _opaque(f)[0]
    parts = [_weaker(g) for g in f.operands]
    if f.window is None:
        return rebuilt(f, parts)
    if f.operator == "G":
        return parts[0] if f.window[0] == 0 else TRUE
    return finally_(parts[0]) if f.operator == "F" else until(parts[0], parts[1])
