"""Programs for what the networks never learned to say: commands for newer skills and rewards, read by a small grammar.

A command is claimed only where every word of every clause is accounted for; all others are the networks' business.
`phrase_rules.RULES` is all that is covered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from llm_planner.language.compact.phrase_rules import RULES, Rule
from llm_planner.simulation.rooms.things import PERSON
from llm_planner.world.geometry import top
from llm_planner.world.places import DIRECTIONS, REGIONS
from llm_planner.world.predicates import BUTTON, DRAWER, STAIN
from llm_planner.world.scene import Scene

_POLITE = re.compile(r"^(?:(?:please|robot|could you|can you|now),? )+|,? please$")
_JOINTS = re.compile(r",? and then |,? then |,? and (?!#)|, (?!#)| (?=while )| (?=without )")
# Other words for the same, put in its place before clauses are read; fillers are left out.
_SAME = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"\b(?:right (?=next|up|against|between)|just |simply |carefully |gently |exactly |all the way )", ""),
        (r",? (?:carefully|gently)$", ""),
        (r"\bin reverse\b", "backwards"),
        (r"^(?:bring|get|put|move) (.*) by (?:sliding|pushing) (?:it|them)$", r"push \1"),
        (r"\bwithout taking your eyes off\b", "while facing"),
        (r",? but ", ", "),
        (r"\b(?:go (?:and|to) )?(?:re)?charge(?: yourself| (?:your|the) batter(?:y|ies))?\b", "dock"),
        (r"\b(?:backward|rearwards?)\b", "backwards"),
    )
)
_OWN = re.compile(r"\b((?:the )?(?:\w+ )?\w+)'s handle")  # as in "the mug's handle"
_BOTH = re.compile(r"\b(?:the two|both(?: the)?) (?P<kind>\w+?)s\b")
_IT, _PERSON = re.compile(r"\bit\b"), re.compile(r"\b(?:him|her|them)\b")
_NUMBERS = {word: k for k, word in enumerate(("one", "two", "three", "four", "five"), start=1)}
_FULL = ("full", "whole", "complete")
_PARTS = {
    "a quarter turn": 90.0, "a quarter of a turn": 90.0, "a quarter": 90.0, "half a turn": 180.0, "a half turn": 180.0,
    "halfway around": 180.0,
    **{f"a {full} {turn}": 360.0 for full in _FULL for turn in ("turn", "circle", "round")},
}  # fmt: skip
_TIMES = {"once": 1, "twice": 2, **{f"{word} times": k for word, k in _NUMBERS.items()}}
_LAPS = {
    f"{number} {lap}{plural}": 360.0 * k
    for word, k in {"a": 1, **_NUMBERS}.items()
    for number in (word, str(k))
    for lap, plural in (("lap", "s"), ("lap", ""), ("round", "s"), ("round", ""), ("turn", "s"), ("circle", "s"))
}
_TURNS = {**_LAPS, **{said: 360.0 * times for said, times in _TIMES.items()}, **_PARTS}
_SIDES = {**{name: name for name in DIRECTIONS}, "back": "bottom", "forward": "top"}
_BESIDE, _RING = (
    0.6,
    0.95,
)  # [m] from the outside of a thing to the middle of a base that stands there, or goes round it
_FURNITURE = (DRAWER, BUTTON, STAIN, "sponge")
_APART, _FOLLOWING = 1.0, 60.0  # [m] behind somebody, and [s] for which, where nobody says so
_WAY = "(?P<way> clockwise| counter-?clockwise| anti-?clockwise| to the left| to the right)?"
_TIMES_SAID = "|".join(sorted(_TURNS, key=len, reverse=True))
_SLOTS = {
    "x": r"(?P<x>#\d+)", "y": r"(?P<y>#\d+)", "z": r"(?P<z>#\d+)", "goal": r"(?P<goal>[#@]\d+)",
    "angle": rf"(?:by )?(?:(?P<degrees>\d+) ?(?:degrees?|°)|(?P<part>{'|'.join(_PARTS)})){_WAY}",
    "length": r"(?P<length>\d+(?:\.\d+)?) ?(?P<unit>cm|m|centimet(?:re|er)s?|met(?:re|er)s?)",
    "turns": rf"(?P<times>{_TIMES_SAID}|){_WAY}", "times": f"(?P<times>{_TIMES_SAID})", "way": _WAY,
    "seconds": r"(?P<number>\d+|a|one|two|three|half a) ?(?P<time>s|seconds?|min|minutes?)",
    "place": rf"(?P<place>{'|'.join(REGIONS)})(?: of the table)?", "side": f"(?P<side>{'|'.join(_SIDES)})",
}  # fmt: skip


def write_by_phrases(command: str, scene: Scene) -> str:
    """The policy program for a command that the grammar covers; "" where a word is left, or the networks know it."""
    text = re.sub(r"\s+", " ", command.lower().strip().rstrip(".!"))
    writer = _Writer(scene)
    clauses = [clause for clause in _JOINTS.split(writer.marked(_POLITE.sub("", text))) if clause]
    understood = bool(clauses) and all(writer.read(clause.strip()) for clause in clauses)
    return writer.program() if understood and writer.new else ""


class _Writer:
    """Reads the clauses of one command, in their order."""

    def __init__(self, scene: Scene) -> None:
        self.new = False
        self._scene = scene
        self._kind = scene.robot_kind
        rooms = scene.building.names if scene.building else ()
        marks = {**{f"#{k}": name for k, name in enumerate(scene.names)}, **{f"@{k}": r for k, r in enumerate(rooms)}}
        self._names = dict(sorted(marks.items(), key=lambda one: len(one[1]), reverse=True))
        kinds = Counter(item.kind for item in scene.objects)
        self._only = {f"#{k}": item.kind for k, item in enumerate(scene.objects) if kinds[item.kind] == 1}
        self._calls: list[str] = []
        self._lines: list[str] = []
        self._spoken_of: list[str] = []  # the marks of what was acted on
        self._person = ""  # and of who was last spoken of
        self._tool = ""  # what was wiped with, still in the hand

    def marked(self, text: str) -> str:
        """The text with #0, #1 ... in place of things and @0 ... of rooms, with or without an article."""
        for pattern, plain in _SAME:
            text = pattern.sub(plain, text)
        text = _OWN.sub(r"the handle of \1", text)
        for mark, name in (*self._names.items(), *self._only.items()):
            text = re.sub(rf"\b(?:the |a |an )?{re.escape(name.lower())}\b", mark, text)
        return _BOTH.sub(self._pair, text)

    def _pair(self, said: re.Match[str]) -> str:
        """ "the two bowls" by their marks, where there are two."""
        marks = [mark for mark, name in self._names.items() if mark[0] == "#" and name.split()[-1] == said["kind"]]
        return " and ".join(sorted(marks)) if len(marks) == 2 else said[0]

    def program(self) -> str:
        self._close()
        return "\n".join(self._calls)

    def read(self, clause: str) -> bool:
        """Whether the clause is understood; what it asks for is then written."""
        if self._person:
            clause = _PERSON.sub(self._person, clause)
        # "It" is what was last spoken of that the clause can mean: a drawer is closed, not the block put into it.
        meant = [*(_IT.sub(mark, clause) for mark in reversed(self._spoken_of)), clause]
        found = [pair for one in meant for pair in self._matches(one)] or self._meant_by_kind(clause)
        for rule, match in sorted(found, key=lambda pair: bool(pair[0].where)):  # the checks of the plan last
            fields = self._fields(match)
            if "{tool}" in rule.call:
                fields["tool"] = self._take(str(fields.get("y", "")))
            if rule.call:
                self._close()
                self._put_tool_down(rule)
                self._calls.append(rule.call.format(**fields))
            self._lines += [line.format(**fields) for line in rule.lines]
            self._remember(match.groupdict())
            self.new = self.new or rule.new or self._is_furniture(match)
            return True
        return False

    def _meant_by_kind(self, clause: str) -> list[tuple[Rule, re.Match[str]]]:
        """ "It" before anything was spoken of is the one thing of whose kind alone the clause can be said."""
        if not _IT.search(clause) or clause.startswith("push"):  # whatever lies about can be pushed
            return []
        read = [list(self._matches(_IT.sub(mark, clause))) for mark in self._names]
        meant = [pairs for pairs in read if any(rule.kinds for rule, _ in pairs)]
        return meant[0] if len(meant) == 1 else []

    def _is_furniture(self, match: re.Match[str]) -> bool:
        """Whether it speaks of a thing that the networks do not know."""
        marks = [mark for slot, mark in match.groupdict().items() if slot in ("x", "y", "z") and mark]
        return any(self._scene.find(self._names[mark]).kind in _FURNITURE for mark in marks)

    def _put_tool_down(self, rule: Rule) -> None:
        """Where it lay: what comes after wiping needs the hand."""
        if self._tool and "wipe(" not in rule.call:
            x, y, _ = self._scene.find(self._tool).position
            self._calls.append(f"place_at(point({x:.3f}, {y:.3f}))")
            self._tool = ""

    def _remember(self, said: Mapping[str, str | None]) -> None:
        acted_on = said.get("x")
        self._spoken_of += [acted_on] if acted_on else []
        marks = [said.get(slot) or "" for slot in ("x", "y", "z", "goal")]
        people = [mark for mark in marks if mark.startswith("#") and self._is_person(mark)]
        self._person = people[-1] if people else self._person

    def _is_person(self, mark: str) -> bool:
        return self._scene.find(self._names[mark]).kind == PERSON

    def _matches(self, clause: str) -> Iterator[tuple[Rule, re.Match[str]]]:
        for rule in RULES[self._kind]:
            for phrase in rule.phrases:
                pattern = re.sub("<([a-z]+)>", lambda slot: _SLOTS[slot[1]], phrase)
                match = re.fullmatch(pattern, clause)
                if match and self._is_said_of(rule, match):
                    yield rule, match

    def _is_said_of(self, rule: Rule, match: re.Match[str]) -> bool:
        there = not rule.where or any(item.kind == rule.where for item in self._scene.objects)
        kind = not rule.kinds or self._scene.find(self._names[match["x"]]).kind in rule.kinds
        # What is only to be kept on the way belongs to something that is to be reached.
        alone = bool(rule.lines) and not self._lines and all(line.startswith("keep") for line in rule.lines)
        return there and kind and not alone

    def _fields(self, match: re.Match[str]) -> dict[str, object]:
        """What the slots of a phrase say, by their names."""
        said = match.groupdict()
        things = {slot: self._names[said[slot]] for slot in ("x", "y", "z", "goal") if said.get(slot)}
        fields: dict[str, object] = dict(things)
        fields["last"] = self._names[self._spoken_of[-1]] if self._spoken_of else ""
        if said.get("degrees") or said.get("part"):
            fields["angle"] = _signed(float(said["degrees"] or _PARTS.get(said["part"] or "", 0.0)), said["way"])
        if said.get("length"):
            fields["length"] = float(said["length"]) * (0.01 if said["unit"].startswith("c") else 1.0)
        if "times" in said:
            fields["turns"] = _signed(_TURNS.get(said["times"], 360.0), said["way"])
        fields["seconds"] = _seconds(said.get("number"), said.get("time"))
        fields["place"], fields["side"] = said.get("place"), _SIDES.get(said.get("side") or "")
        return fields | self._measured(things, fields)

    def _measured(self, things: Mapping[str, str], fields: Mapping[str, object]) -> dict[str, object]:
        """What the scene adds: heights and distances of the things that are named."""
        items = {slot: self._scene.find(name) for slot, name in things.items() if name in self._scene.names}
        measured: dict[str, object] = {"apart": fields.get("length", _APART)}
        if "x" in items:
            radius = max(items["x"].size[:2]) / 2
            measured |= {"beside": round(radius + _BESIDE, 2), "ring": round(radius + _RING, 2)}
        if "y" in items and "length" in fields:
            measured["above"] = top(items["y"]) + float(str(fields["length"]))
        if "x" in items and "y" in items:
            (ax, ay, _), (bx, by, _) = items["x"].position, items["y"].position
            measured["middle"] = f"({(ax + bx) / 2:.2f}, {(ay + by) / 2:.2f})"
        return measured

    def _take(self, named: str) -> str:
        """The call that takes what was named to wipe with, or a sponge, where it is not in the hand already."""
        sponges = [item.name for item in self._scene.objects if item.kind == "sponge"]
        wanted = named or next(iter(sponges), "")
        if not wanted or wanted in (self._scene.held, self._tool):
            return ""
        self._tool = wanted
        return f'pick("{wanted}")\n'

    def _close(self) -> None:
        """The lines so far become one call."""
        if self._lines:
            skill = "achieve" if self._kind == "arm" else "manoeuvre"
            self._calls.append(f'{skill}("{"; ".join(self._lines)}")')
            self._lines = []


def _seconds(number: str | None, unit: str | None) -> float:
    """How long somebody is followed [s]."""
    if not number or not unit:
        return _FOLLOWING
    count = 0.5 if number == "half a" else 1 if number == "a" else _NUMBERS.get(number) or float(number)
    return count * (60.0 if unit.startswith("min") else 1.0)


def _signed(angle: float, way: str | None) -> float:
    """Counter-clockwise, seen from above, where nobody says which way."""
    return -angle if (way or "").strip() in ("clockwise", "to the right") else angle
