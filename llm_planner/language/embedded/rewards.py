"""The skill calls of statements that are reached by search: turning, aligning, following, docking."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from llm_planner.errors import QuestionError
from llm_planner.language.embedded.amounts import amount
from llm_planner.language.embedded.terms import Value, Words
from llm_planner.world.scene import Scene

_BESIDE, _RING = 0.6, 0.95  # [m] from the outside of a thing to a base that stands there, or goes round it
_APART, _FOLLOWING = 1.0, 60.0  # [m] behind somebody, and [s] for which, where nobody says so
_TURNS = {"half": 180.0, "quarter": 90.0, "once": 360.0, "twice": 720.0, "thrice": 1080.0}
_NUMBERS = {"a": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0}
_LINES: Mapping[str, tuple[str, ...]] = {
    "turn": ("reach(turned('{x}') == {angle:g})",),
    "lift": ("reach(height('{x}') == {length:g})",),
    "lean": ("reach(tilt('{x}') == {angle:g})", "reach(height('{x}') >= 0.1)"),
    "touch": ("reach(gap('{x}', '{y}') <= 0.003)",),
    "apart": ("reach(gap('{x}', '{y}') == {length:g})",),
    "align": ("reach(off_line('{x}', '{y}', '{z}') <= 0.012)",),
    "handle_towards": ("reach(facing('{x}', '{y}') <= 8)", "reach(tilt('{x}') <= 8)"),
    "handle_away": ("reach(facing('{x}', '{y}') >= 172)", "reach(tilt('{x}') <= 8)"),
    "face": ("reach(facing('robot', '{x}') <= 8)",),
    "turn_away": ("reach(facing('robot', '{x}') >= 170)",),
    "spin": ("reach(turned('robot') == {angle:g})", "keep(moved('robot') <= 0.1)"),
    "circle_around": ("reach(circled('robot', '{x}') == {angle:g})", "keep(distance('robot', '{x}') <= {ring:g})"),
    "back_up_to": ("reach(distance('robot', '{x}') <= {beside:g})", "reach(facing('robot', '{x}') >= 170)"),
    "stand_between": ("reach(distance('robot', {middle}) <= 0.1)",),
    "stand_off": ("reach(distance('robot', '{x}') == {length:g})",),
}
_ARM = frozenset(("turn", "lift", "lean", "touch", "apart", "align", "handle_towards", "handle_away"))


def reward_calls(name: str, names: Sequence[str], parts: Mapping[str, list[Value]], scene: Scene) -> list[str]:
    """Write the calls; raise QuestionError where an amount cannot be read or nothing to dock at is there."""
    if name == "dock":
        docks = list(names) or [item.name for item in scene.objects if item.kind == "dock"]
        if not docks:
            raise QuestionError("I see nothing here to charge at. Where should I go?")
        return [f'dock("{docks[0]}")']
    if name == "follow":
        apart = _amount(parts, "apart", _APART)
        return [f'go_to("{names[0]}")', f'follow("{names[0]}", {_amount(parts, "for", _FOLLOWING):g}, {apart:g})']
    if other := [one for one in names if one not in scene.names]:
        raise QuestionError(f"“{other[0]}” is no thing that I could do that with. Which thing do you mean?")
    fields: dict[str, object] = dict(zip("xyz", names, strict=False))
    fields["length"] = _amount(parts, "LENGTH", 0.0)
    fields["angle"] = _angle(parts)
    if names:
        radius = max(scene.find(names[0]).size[:2]) / 2
        fields |= {"beside": round(radius + _BESIDE, 2), "ring": round(radius + _RING, 2)}
    if len(names) > 1:
        (ax, ay, _), (bx, by, _) = (scene.find(one).position for one in names[:2])
        fields["middle"] = f"({(ax + bx) / 2:.2f}, {(ay + by) / 2:.2f})"
    skill = "achieve" if name in _ARM else "manoeuvre"
    text = "; ".join(_LINES[name]).format(**fields)
    return [*([f'pick("{names[0]}")'] if name == "lift" else []), f'{skill}("{text}")']


def _amount(parts: Mapping[str, list[Value]], slot: str, unsaid: float) -> float:
    """Metres or seconds."""
    return amount(parts[slot][0], "quantity", "seconds") if slot in parts else unsaid


def _angle(parts: Mapping[str, list[Value]]) -> float:
    """Degrees, counter-clockwise seen from above, a whole turn where nobody says how far."""
    sign = -1.0 if "WAY" in parts and str(parts["WAY"][0]) == "right" else 1.0
    if "ANGLE" not in parts:
        return sign * 360.0
    said = parts["ANGLE"][0]
    assert isinstance(said, Words)
    number = re.search(r"\d+(?:\.\d+)?", said.text)
    words = said.text.split()
    shares = [_TURNS[word] for word in words if word in _TURNS]
    counts = [_NUMBERS[word] for word in words if word in _NUMBERS]
    if number is not None:
        return sign * float(number[0]) * (1.0 if "degree" in said.text or "°" in said.text else 360.0)
    if not shares and not counts:
        raise QuestionError(f"I do not know how far to turn by “{said.text}”. Please say how many degrees.")
    return sign * (shares[0] if shares else counts[0] * 360.0)
