"""Picture of an automaton as SVG, with one labelled edge per pair of states.

States stand in a row in the order in which they are reached. Edges ahead are arcs above it, edges back are arcs below,
and the height of an arc grows with its span. Accepting states have a double ring, the doomed state is grey.

A label is a short condition for all letters along the edge: `kitchen & !lab`. Letters that cannot occur are
don't-cares, so "in the kitchen and not in the lab" becomes "in the kitchen". Conditions come from prime implicants
(Quine 1952, McCluskey 1956) and a greedy cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import combinations, islice
from textwrap import wrap

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Branch, Letter, Transition
from llm_planner.ltl.automaton import Automaton

MAX_EXACT = 7  # propositions; beyond, the paths of the decision tree are not simplified
MAX_PATHS = 1000  # per edge, for readability
ALWAYS = "always"

Cube = frozenset[tuple[str, bool]]  # conjunction of propositions, each with whether it holds


def conditions(automaton: Automaton, state: int) -> dict[int, tuple[Cube, ...]]:
    """Return a condition (a disjunction of cubes) for each successor of `state`.

    Raises InputError for a condition of more than `MAX_PATHS` cubes.
    """
    paths = list(islice(_paths(automaton.transitions[state], frozenset()), MAX_PATHS + 1))
    if len(paths) > MAX_PATHS:
        raise InputError(f"an edge would need more than {MAX_PATHS} conditions; draw the formula in smaller parts")
    targets = dict.fromkeys(target for _, target in paths)
    names = sorted({name for cube, _ in paths for name, _ in cube})
    if len(names) > MAX_EXACT:
        return {target: tuple(cube for cube, other in paths if other == target) for target in targets}
    alphabet = automaton.alphabet.restricted(names)
    after = {letter: automaton.step(state, letter) for letter in alphabet.letters}
    every_letter = {frozenset(chosen) for size in range(len(names) + 1) for chosen in combinations(names, size)}
    impossible = every_letter - after.keys()
    return {
        target: _fewest({letter for letter in after if after[letter] == target}, impossible, names)
        for target in targets
    }


def condition_text(cubes: Iterable[Cube]) -> str:
    """Write the cubes as text, the shortest first."""
    terms = sorted(map(sorted, cubes), key=lambda term: (len(term), [(not yes, name) for name, yes in term]))
    return " | ".join(
        " & ".join(f"{'' if yes else '!'}{short_name(name)}" for name, yes in term) or ALWAYS for term in terms
    )


def short_name(proposition: str) -> str:
    """Shorten a proposition by omitting the robot: `in(robot, lab)` becomes `in lab`."""
    predicate, _, rest = proposition.partition("(")
    arguments = rest.partition(")")[0]
    if not arguments.startswith("robot"):
        return proposition
    about = arguments.removeprefix("robot").removeprefix(",").strip()
    return f"{predicate} {about}{rest.partition(')')[2]}".replace("  ", " ").strip()


def _paths(branch: Transition, taken: Cube) -> Iterator[tuple[Cube, int]]:
    if isinstance(branch, Branch):
        yield from _paths(branch.low, taken | {(branch.proposition, False)})
        yield from _paths(branch.high, taken | {(branch.proposition, True)})
    else:
        yield taken, branch


def _fewest(wanted: set[Letter], free: set[Letter], names: list[str]) -> tuple[Cube, ...]:
    """Return few, short cubes that cover all of `wanted` and otherwise only `free` letters.

    Of two such cubes the one with more positive literals is more informative: `kitchen` says more than `!lab`.
    """

    def cubes(letters: set[Letter]) -> set[Cube]:
        return {frozenset((name, name in letter) for name in names) for letter in letters}

    primes, left = _primes(cubes(wanted | free)), cubes(wanted)
    chosen: list[Cube] = []
    while left:
        best = max(primes, key=lambda c: (sum(c <= letter for letter in left), -len(c), sum(yes for _, yes in c)))
        chosen.append(best)
        left = {letter for letter in left if not best <= letter}
    return tuple(chosen)


def _primes(cubes: set[Cube]) -> list[Cube]:
    primes: list[Cube] = []
    while cubes:
        merged: set[Cube] = set()
        absorbed: set[Cube] = set()
        for cube in cubes:
            for name, yes in cube:
                rest = cube - {(name, yes)}
                if rest | {(name, not yes)} in cubes:
                    merged.add(rest)
                    absorbed.add(cube)
        primes.extend(sorted(cubes - absorbed, key=sorted))
        cubes = merged
    return primes


MAX_STATES = 16  # for readability
RADIUS = 26.0  # [px] of a state
LETTER, LINE = 7.3, 16.0  # [px] character width and line height of labels
LINE_LENGTH = 26  # characters after which a label breaks at the next operator
_MARGIN = 24.0  # [px]
_INK, _FAINT, _DONE = "#1f2933", "#9aa5b1", "#1b7f4d"
_STYLE = f"""
  text {{ font: 12px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: {_INK}; text-anchor: middle; }}
  .title {{ font: 600 15px "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; text-anchor: start; }}
  .legend {{ font: 12px "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; fill: #616e7c; text-anchor: start; }}
  .state {{ fill: #ffffff; stroke: {_INK}; stroke-width: 1.6; }}
  .accepting {{ fill: #e9f7ef; stroke: {_DONE}; }}
  .doomed {{ fill: #e4e7eb; stroke: {_FAINT}; stroke-dasharray: 4 3; }}
  .edge {{ fill: none; stroke: {_INK}; stroke-width: 1.4; }}
  .lost {{ stroke: {_FAINT}; }}
  .number {{ font-size: 14px; }}
  .faint {{ fill: #7b8794; }}
"""
_MARKER = (
    '<marker id="{0}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M 0 1 L 10 5 L 0 9 z" fill="{1}"/></marker>'
)
_LEGEND = "double ring: it may end here · grey: the sentence is broken for good"


def automaton_svg(automaton: Automaton, title: str) -> str:
    """Draw the automaton as SVG text, with `title` (the sentence or the formula) above it.

    Raises InputError for more than `MAX_STATES` states, or a condition of more than `MAX_PATHS` cubes.
    """
    count = len(automaton.transitions)
    if count > MAX_STATES:
        raise InputError(
            f"the automaton has {count} states, and a picture shows at most {MAX_STATES}; "
            "give the parts of the sentence on their own"
        )
    row = sorted(range(count), key=lambda state: (state not in automaton.live, state))
    labels = {
        (state, target): broken(condition_text(cubes))
        for state in row
        if state == 0 or state in automaton.live  # edges out of doomed states are omitted
        for target, cubes in conditions(automaton, state).items()
    }
    column = max(4 * RADIUS, *(LETTER * len(line) + RADIUS for lines in labels.values() for line in lines))
    level = max(2 * RADIUS, *(LINE * len(lines) + 14 for lines in labels.values()))  # [px] between labels of arcs
    spans = [row.index(target) - row.index(state) for state, target in labels]
    width = max(2 * _MARGIN + column * count + RADIUS, 460.0)
    heading = wrap(title, max(20, int((width - 2 * _MARGIN) / 8.6))) or [""]
    top = _MARGIN + 21 * len(heading)
    middle = top + level * max(0, *spans) + 2 * RADIUS
    bottom = middle + level * (1 - min(0, *spans)) + 2 * RADIUS
    across = {state: _MARGIN + RADIUS + column * (place + 0.5) for place, state in enumerate(row)}
    curves, texts = list[str](), list[str]()
    for ((state, target), lines), span in zip(labels.items(), spans, strict=True):
        lost = target not in automaton.live
        x, y = (across[state] + across[target]) / 2, middle - level * span if span > 0 else middle + level * (1 - span)
        curves.append(_arc(across[state], across[target], middle, y, lost))
        texts += _label(x, y, lines, "faint" if lost else "")
    entry = _path(f"M {across[0] - 2 * RADIUS:.1f} {middle:.1f} H {across[0] - RADIUS - 3:.1f}", False)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{bottom + 2 * _MARGIN:.0f}" '
        f'viewBox="0 0 {width:.0f} {bottom + 2 * _MARGIN:.0f}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f"<defs>{_MARKER.format('arrow', _INK)}{_MARKER.format('faint-arrow', _FAINT)}</defs>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *(_text(_MARGIN, _MARGIN + 8 + 21 * k, line, "title") for k, line in enumerate(heading)),
        entry,
        *curves,
        *texts,
        *(part for state in row for part in _state(automaton, state, across[state], middle)),
        _text(_MARGIN, bottom + _MARGIN + 12, _LEGEND, "legend"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def broken(text: str) -> tuple[str, ...]:
    """Break a label into lines: each alternative starts one, and long alternatives continue on the next."""
    if len(text) <= LINE_LENGTH:
        return (text,)
    lines: list[str] = []
    for number, term in enumerate(text.split(" | ")):
        lines.append("| " if number else "")
        for part, literal in enumerate(term.split(" & ")):
            word = f"& {literal}" if part else literal
            if part and len(lines[-1]) + len(word) > LINE_LENGTH:
                lines.append(word)
            else:
                lines[-1] = f"{lines[-1].rstrip()} {word}".strip()
    return tuple(lines)


def _arc(start: float, end: float, middle: float, apex: float, lost: bool) -> str:
    """Draw an edge between two states of the row as a parabola through `apex`, or as a loop below its state."""
    aside = 0.5 * RADIUS if end >= start else -0.5 * RADIUS
    edge = middle + (0.9 if apex > middle else -0.9) * RADIUS
    return _path(
        f"M {start + aside:.1f} {edge:.1f} Q {(start + end) / 2:.1f} {2 * apex - edge:.1f}, "
        f"{end - aside:.1f} {edge + (3 if apex > middle else -3):.1f}",
        lost,
    )


def _path(curve: str, lost: bool) -> str:
    marker, kind = ("faint-arrow", "edge lost") if lost else ("arrow", "edge")
    return f'<path class="{kind}" marker-end="url(#{marker})" d="{curve}"/>'


def _label(x: float, y: float, lines: tuple[str, ...], kind: str) -> Iterator[str]:
    """Write a label centred at a point, on white so that no curve crosses it."""
    width, height = LETTER * max(map(len, lines)) + 4, LINE * len(lines)
    where = f'x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}"'
    yield f'<rect class="label" {where} fill="#ffffff"/>'
    yield from (_text(x, y - height / 2 + LINE * (k + 1) - 4, line, kind) for k, line in enumerate(lines))


def _state(automaton: Automaton, state: int, x: float, y: float) -> Iterator[str]:
    doomed, accepting = state not in automaton.live, state in automaton.accepting
    kind = "state doomed" if doomed else "state accepting" if accepting else "state"
    for radius in (RADIUS, RADIUS - 5) if accepting else (RADIUS,):
        yield f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'
    yield _text(x, y + 5, str(state), "number faint" if doomed else "number")


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
