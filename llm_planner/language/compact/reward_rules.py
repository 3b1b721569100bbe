"""Which clauses ask for what, as reward programs: the grammar of the compact writer, a phrase and its lines each.

In a phrase `<x>`, `<y>`, `<z>` are things, `<goal>` is a thing or a room, `<angle>`, `<length>`, `<turns>`, `<place>`
and `<side>` what their names say; the rest is a regular expression over lower-case words. In the lines the same stand
in braces, and besides them `above` (that length above the top of y), `beside` and `ring` (how far a base stands from x,
and keeps going round it), `middle` (the point between x and y) and `last` (what was acted on before).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A clause of a command: the phrases that say it, the skill call that comes first, if any, and its lines.

    `new`: no other skill does this; a command all of whose clauses others do is left to them.
    """

    phrases: tuple[str, ...]
    lines: tuple[str, ...] = ()
    call: str = ""
    new: bool = True


_PUSH = "(?:push|slide|shove|move)"
_ARM = (
    Rule((r"(?:turn|rotate) <x> <angle>",), ("reach(turned('{x}') == {angle:g})",)),
    Rule(
        (r"(?:knock|tip|push) <x> over", r"(?:knock|tip) over <x>", r"(?:lay|tip) <x> (?:down )?on its side"),
        ("reach(tilt('{x}') >= 80)",),
    ),
    Rule(
        (r"(?:turn|point) the handle of <x> (?:towards?|to|at) <y>",
         r"(?:turn|point) <x>'s handle (?:towards?|to|at) <y>"),
        ("reach(facing('{x}', '{y}') <= 8)", "reach(tilt('{x}') <= 8)"),
    ),
    Rule(
        (r"(?:turn|point) the handle of <x> away from <y>", r"(?:turn|point) <x>'s handle away from <y>"),
        ("reach(facing('{x}', '{y}') >= 172)", "reach(tilt('{x}') <= 8)"),
    ),
    Rule(
        (rf"{_PUSH} <x> (?:up )?against <y>", rf"{_PUSH} <x> (?:to|towards) <y> until they touch",
         rf"{_PUSH} <x> and <y> together"),
        ("reach(gap('{x}', '{y}') <= 0.003)",),
    ),
    Rule(
        (rf"(?:{_PUSH}|bring) <x> into line with <y> and <z>", r"line <x> up with <y> and <z>"),
        ("reach(off_line('{x}', '{y}', '{z}') <= 0.012)",),
    ),
    Rule((rf"{_PUSH} <x> (?:to within|within|to) <length> of <y>",), ("reach(gap('{x}', '{y}') <= {length:g})",)),
    Rule((rf"{_PUSH} <x> (?:in)?to (?:the )?<place>",), ("reach(distance('{x}', '{place}') <= 0.02)",), new=False),
    Rule((rf"{_PUSH} <x> (?:by )?<length> (?:to the )?<side>",), ("reach(progress('{x}', '{side}') >= {length:g})",),
         new=False),
    Rule(
        (r"without (?:touching|moving|bumping into) <y>",),
        ("keep(moved('{y}') <= 0.01)", "keep(gap('{last}', '{y}') >= 0.01)"),
    ),
    Rule((r"pick up <x>", r"pick <x> up", r"lift <x>", r"take <x>"), call='pick("{x}")', new=False),
    Rule((r"tilt <x> <angle>",), ("reach(tilt('{x}') == {angle:g})", "reach(height('{x}') >= 0.1)")),
    Rule(
        (r"hold <x> level <length> above <y>", r"hold <x> <length> above <y>"),
        ("reach(height('{x}') == {above:.3f})", "reach(distance('{x}', '{y}') <= 0.02)", "keep(tilt('{x}') <= 5)"),
    ),
)  # fmt: skip
_MOBILE = (
    Rule((r"(?:face|turn to|turn towards?|look at) <x>",), ("reach(facing('robot', '{x}') <= 8)",)),
    Rule((r"turn your back (?:to|on) <x>", r"turn away from <x>"), ("reach(facing('robot', '{x}') >= 170)",)),
    Rule(
        (r"(?:spin|turn)(?: around)? <turns>(?: on the spot)?",),
        ("reach(turned('robot') == {turns:g})", "keep(moved('robot') <= 0.1)"),
    ),
    Rule(
        (r"(?:drive|go|move) (?:around|round) <x> ?<turns>", r"circle <x> ?<turns>"),
        ("reach(circled('robot', '{x}') == {turns:g})", "keep(distance('robot', '{x}') <= {ring:g})"),
    ),
    Rule(
        (r"(?:drive|go|back up) backwards to <x>", r"(?:drive|go) to <x> backwards", r"back up to <x>"),
        ("reach(distance('robot', '{x}') <= {beside:g})", "reach(facing('robot', '{x}') >= 170)"),
    ),
    Rule((r"(?:stand|drive|go) between <x> and <y>",), ("reach(distance('robot', {middle}) <= 0.1)",)),
    Rule((r"(?:back|move|drive) away from <x> to <length>",), ("reach(distance('robot', '{x}') >= {length:g})",)),
    Rule((r"while (?:facing|looking at) <x>", r"while you (?:face|look at) <x>"),
         ("reach(facing('robot', '{x}') <= 15)", "keep(facing('robot', '{x}') <= 15)")),
    Rule((r"(?:go|drive) to <goal>",), call='go_to("{goal}")', new=False),
    Rule((r"(?:pick up|take|fetch|get) <x>",), call='go_to("{x}")\npick_up("{x}")', new=False),
    Rule((r"(?:bring|take) <x> to <goal>",), call='go_to("{x}")\npick_up("{x}")\ngo_to("{goal}")', new=False),
)  # fmt: skip
RULES: Mapping[str, tuple[Rule, ...]] = {"arm": _ARM, "mobile": _MOBILE}
