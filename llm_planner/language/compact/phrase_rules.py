"""Which clauses ask for which skill or reward program: a grammar of phrases, each with its call or its lines.

In a phrase `<x>`, `<y>`, `<z>` are things, `<goal>` is a thing or a room, `<angle>`, `<length>`, `<turns>`, `<times>`,
`<way>`, `<place>` and `<side>` what their names say; the rest is a regular expression over lower-case words. In the
lines the same stand in braces, and besides them `above` (that length above the top of y), `beside` and `ring` (how far
a base stands from x, and keeps going round it), `middle` (the point between x and y) and `last` (what was acted on
before) and `tool` (the call that takes y, or the sponge, where it is not in the hand). `<seconds>` is for how long;
`apart` and `seconds` are how far behind x, and for how long, where nobody says it as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A clause of a command: the phrases that say it, the skill call that comes first, if any, and its lines.

    `new`: the networks do not know it; a command all of whose clauses they know is left to them. With `kinds` it is
    said of such things only; `where` says of which kind there must be a thing.
    """

    phrases: tuple[str, ...]
    lines: tuple[str, ...] = ()
    call: str = ""
    new: bool = True
    kinds: tuple[str, ...] = ()
    where: str = ""


_TURN = "(?:turn|rotate|twist|swivel|spin|swing)"
_PUSH = "(?:push|slide|shove|nudge|move)"
_AT = "(?:towards?|to|at)"
_BE = "(?:should|must|has to|is to|shall)"  # what is to be so is said of the thing instead of the robot
_LOOK = "(?:point|face|look)"
_HANDLE = f"{_LOOK}(?: {_AT})?"
_SEE = "(?:facing|looking at|watching)"
_ALWAYS = "(?:always |all the time )?"
_TALL = ("mug", "vase")
_ABOVE = "(?: (?:above|over) the table| high| up)?"
_ARM = (
    Rule((rf"{_TURN} <x>(?: around| round)? <angle>", r"give <x> <angle>"), ("reach(turned('{x}') == {angle:g})",)),
    Rule(
        (r"(?:knock|tip|push) <x> over", r"(?:knock|tip) over <x>", r"(?:topple|overturn|upset)(?: over)? <x>",
         r"(?:make|let) <x> (?:fall|tip|topple)(?: over| down)?",
         r"(?:lay|tip|turn|put|push|knock) <x> (?:down )?(?:over )?on(?:to)? its side"),
        ("reach(tilt('{x}') >= 80)",),
        kinds=_TALL,
    ),
    Rule(
        (rf"(?:{_TURN}|point) the handle of <x>(?: around| round)? {_AT} <y>",
         rf"(?:make|let|have) the handle of <x> {_HANDLE} <y>", rf"the handle of <x> {_BE} {_HANDLE} <y>",
         rf"turn <x> (?:so that|until) (?:its handle|the handle) {_LOOK}(?:e?s)(?: {_AT})? <y>"),
        ("reach(facing('{x}', '{y}') <= 8)", "reach(tilt('{x}') <= 8)"),
    ),
    Rule(
        (rf"(?:{_TURN}|point) the handle of <x>(?: around| round)? away from <y>",
         rf"(?:make|let|have) the handle of <x> {_LOOK} away from <y>",
         rf"the handle of <x> {_BE} {_LOOK} away from <y>"),
        ("reach(facing('{x}', '{y}') >= 172)", "reach(tilt('{x}') <= 8)"),
    ),
    Rule(
        (rf"{_PUSH} <x> (?:up )?(?:against|into contact with|next to) <y>", r"close the gap between <x> and <y>",
         rf"{_PUSH} <x> {_AT} <y> until (?:they|both|it) touch(?:es(?: it)?)?", rf"{_PUSH} <x> until it touches <y>",
         rf"{_PUSH} <x> and <y> (?:together|next to each other|towards? each other)"
         r"(?:,? (?:so that|until) (?:they|both) touch)?",
         rf"{_PUSH} <x> and <y> (?:so that|until) (?:they|both) touch",
         r"(?:make|let) <x> touch <y>", r"(?:make|let) <x> and <y> touch",
         rf"<x> {_BE} touch <y>", rf"<x> and <y> {_BE} touch"),
        ("reach(gap('{x}', '{y}') <= 0.003)",),
    ),
    Rule(
        (rf"(?:{_PUSH}|bring|put) <x> (?:in|into|into one) line with <y> and <z>",
         rf"(?:{_PUSH}|bring|put) <x> (?:on|onto|on to) the line (?:through|between) <y> and <z>",
         r"(?:line|align) <x>(?: up)? with <y> and <z>"),
        ("reach(off_line('{x}', '{y}', '{z}') <= 0.012)",),
    ),
    Rule((rf"{_PUSH} <x> (?:to )?within <length> of <y>",), ("reach(gap('{x}', '{y}') <= {length:g})",)),
    Rule(
        (rf"{_PUSH} <x> to <length> (?:of|from) <y>", rf"{_PUSH} <x> until it is <length> (?:away )?from <y>",
         rf"{_PUSH} <x> until <length> are left between it and <y>"),
        ("reach(gap('{x}', '{y}') == {length:g})",),
    ),
    Rule(
        (rf"{_PUSH} <x> away from <y> until (?:it is|there (?:is|are)) <length> (?:away|between them)",),
        ("reach(gap('{x}', '{y}') >= {length:g})",),
    ),
    Rule((rf"{_PUSH} <x> (?:in)?to (?:the )?<place>",), ("reach(distance('{x}', '{place}') <= 0.02)",), new=False),
    Rule((rf"{_PUSH} <x> (?:by )?<length> (?:to the )?<side>",), ("reach(progress('{x}', '{side}') >= {length:g})",),
         new=False),
    Rule(
        (r"without (?:touching|moving|bumping into|hitting) <y>", r"leave <y> (?:alone|where it is)",),
        ("keep(moved('{y}') <= 0.01)", "keep(gap('{last}', '{y}') >= 0.01)"),
    ),
    Rule((r"(?:lift|raise) <x>(?: up)? (?:to )?<length>" + _ABOVE, r"pick up <x> and hold it <length>" + _ABOVE),
         ("reach(height('{x}') == {length:g})",), call='pick("{x}")'),
    Rule((r"pick up <x>", r"pick <x> up", r"(?:lift|take|grab|grasp)(?: up)? <x>"), call='pick("{x}")', new=False),
    Rule((r"(?:tilt|tip|lean) <x>(?: over| to the side)? (?:to )?<angle>",),
         ("reach(tilt('{x}') == {angle:g})", "reach(height('{x}') >= 0.1)")),
    Rule((r"(?:open|pull open|pull out) <x>", r"(?:pull|slide|draw) <x> (?:open|out)"), call='open_drawer("{x}")',
         kinds=("drawer",)),
    Rule((r"(?:close|shut) <x>(?: again)?", r"(?:push|slide|press) <x> (?:shut|closed|in|back|back in)"),
         call='close_drawer("{x}")', kinds=("drawer",)),
    Rule((r"(?:press|push|hit|tap|click)(?: down| on)? <x>(?: down)?",), call='press("{x}")', kinds=("button",)),
    Rule((r"(?:turn|switch) on <x>", r"(?:turn|switch) <x> on"), call='press("{x}")', kinds=("button",)),
    # Said of other things, the checks of the plan tell what those are not.
    Rule((r"press(?: down| on)? <x>(?: down)?",), call='press("{x}")', where="button"),
    Rule((r"open <x>",), call='open_drawer("{x}")', where="drawer"),
    Rule((r"(?:close|shut) <x>",), call='close_drawer("{x}")', where="drawer"),
    Rule((r"(?:wipe|clean|mop|rub|scrub)(?: up| off| away| out)? <x>(?: up| off| away)?(?: off the table)?"
          r"(?: (?:with|using) <y>)?", r"remove <x>(?: from the table)?(?: with <y>)?"),
         call='{tool}wipe("{x}")', kinds=("stain",)),
    Rule((r"(?:wipe|clean|mop)(?: up| off)? <x>",), call='{tool}wipe("{x}")', where="stain"),
    Rule((r"(?:wipe|clean|mop)(?: up| off| down)? the table(?: clean)?",),
         call='{tool}for stain in objects("stain"):\n    wipe(stain)', where="stain"),
    Rule((r"(?:tip|topple) <x>",), call='tip("{x}")', kinds=_TALL),
    Rule((r"sweep <x> (?:in)?to (?:the )?<place>", r"sweep <x> over to (?:the )?<place>"),
         call='sweep("{x}", "{place}")'),
    Rule((r"(?:reach|go|hover|move)(?: your hand)?(?: to)? (?:over|above) <x>",
          r"(?:hold|bring|put|move) (?:your|the) (?:hand|gripper|fingers) (?:over|above) <x>", r"reach for <x>"),
         call='reach("{x}")'),
    Rule((r"(?:put|place|drop|lay) <x> (?:in|into|inside)(?: of)? <y>",),
         call='pick("{x}")\nplace_in("{y}")', new=False),
    Rule((r"(?:put|place|lay|set) <x> (?:on|onto|on top of) <y>", r"stack <x> (?:on|onto|on top of) <y>"),
         call='pick("{x}")\nplace_on("{y}")', new=False),
    Rule((r"(?:put|place|lay|set|move|bring) <x> (?:in|at|on|to) (?:the )?<place>",),
         call='pick("{x}")\nplace_at("{place}")', new=False),
    Rule(
        (r"hold <x> (?:level )?<length> (?:above|over) <y>",),
        ("reach(height('{x}') == {above:.3f})", "reach(distance('{x}', '{y}') <= 0.02)", "keep(tilt('{x}') <= 5)"),
    ),
)  # fmt: skip
_DRIVE, _STAY = "(?:drive|go|move|come)", "(?:stand|stop|wait|park)"
_BEHIND = "(?:(?: at| from| keeping)?(?: a distance of)? <length>(?: behind)?)?(?: for <seconds>)?"
_MOBILE = (
    Rule(
        (r"<x>(?: (?:at|in|into|with|and) <y>)?", r"go and <x>", r"(?:go|drive|come) to <x> and <y>",
         r"(?:return|go back|drive back|back|back up|park|reverse) (?:to|at|in|into) (?:your )?<x>"),
        call='dock("{x}")',
        kinds=("dock",),
    ),
    Rule((rf"(?:follow|go after|walk behind|stay behind|accompany) <x>(?: around)?{_BEHIND}",),
         call='go_to("{x}")\nfollow("{x}", {seconds:g}, {apart:g})'),
    Rule((rf"(?:face|turn {_AT}|turn to face|look {_AT}|facing|looking at) <x>",),
         ("reach(facing('robot', '{x}') <= 8)",)),
    Rule((r"turn your back (?:to|on|towards?) <x>", r"(?:turn|face|look) away from <x>"),
         ("reach(facing('robot', '{x}') >= 170)",)),
    Rule(
        (r"(?:spin|turn|rotate|do|make)(?: around| round)? <turns>(?: on the spot| in place| where you are)?",),
        ("reach(turned('robot') == {turns:g})", "keep(moved('robot') <= 0.1)"),
    ),
    Rule((r"(?:spin|turn|rotate)(?: around| round)? <angle>(?: on the spot| in place)?",),
         ("reach(turned('robot') == {angle:g})", "keep(moved('robot') <= 0.1)")),
    Rule(
        (rf"{_DRIVE} (?:around|round) <x> ?<turns>", rf"(?:{_DRIVE}|do|make|run) <times> (?:around|round|of) <x><way>",
         r"circle(?: around)? <x> ?<turns>"),
        ("reach(circled('robot', '{x}') == {turns:g})", "keep(distance('robot', '{x}') <= {ring:g})"),
    ),
    Rule(
        (rf"(?:drive|go|come|move|back up) backwards {_AT} <x>", rf"{_DRIVE} {_AT} <x> backwards",
         rf"(?:back up|reverse)(?: up)? {_AT} <x>", r"approach <x> (?:backwards|in reverse)"),
        ("reach(distance('robot', '{x}') <= {beside:g})", "reach(facing('robot', '{x}') >= 170)"),
    ),
    Rule((rf"(?:{_STAY}|put yourself|{_DRIVE}) (?:halfway |midway |in the middle )?(?:in )?between <x> and <y>",),
         ("reach(distance('robot', {middle}) <= 0.1)",)),
    Rule((rf"{_STAY} <length> (?:away )?from <x>",),
         ("reach(distance('robot', '{x}') == {length:g})",)),
    Rule((rf"(?:back|{_DRIVE}|withdraw|retreat)(?: back)?(?: away)? from <x> (?:to|until you are) <length>(?: away)?",),
         ("reach(distance('robot', '{x}') >= {length:g})",)),
    Rule((rf"while {_SEE} <x>", r"while you (?:face|look at|watch) <x>", rf"{_ALWAYS}{_SEE} <x>",
          rf"(?:always )?keep(?:ing)? (?:{_SEE}|your eyes on) <x>"),
         ("reach(facing('robot', '{x}') <= 15)", "keep(facing('robot', '{x}') <= 15)")),
    Rule((r"(?:go|drive) to <goal>",), call='go_to("{goal}")', new=False),
    Rule((r"(?:pick up|take|fetch|get) <x>",), call='go_to("{x}")\npick_up("{x}")', new=False),
    Rule((r"(?:bring|take) <x> to <goal>",), call='go_to("{x}")\npick_up("{x}")\ngo_to("{goal}")', new=False),
)  # fmt: skip
RULES: Mapping[str, tuple[Rule, ...]] = {"arm": _ARM, "mobile": _MOBILE}
