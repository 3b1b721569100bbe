"""Writer of policy programs from statements, including reward programs for turning, aligning, following and so on."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from llm_planner.errors import QuestionError
from llm_planner.language.embedded.command_forms import COMMANDS, REWARDS
from llm_planner.language.embedded.expressions import Expressions, amount, count_of, is_simple, quoted, words_of
from llm_planner.language.embedded.forms import Term, Value, Words
from llm_planner.language.grounding.resolution import Resolver
from llm_planner.scene.free_space import free_spot
from llm_planner.scene.geometry import half_extents
from llm_planner.scene.names import the
from llm_planner.scene.predicates import DRAWER, FURNITURE, STAIN, TABLE_KIND
from llm_planner.scene.scene import Scene

_BESIDE, _RING = 0.6, 0.95  # [m] from the surface of an object to a base beside it, and to one that circles it
_APART, _FOLLOWING = 1.0, 60.0  # default distance [m] and time [s] of following a person
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
    """Write the calls of a statement in `REWARDS`.

    Args:
        name: Name of the statement.
        names: Names of its objects, people or rooms.
        parts: Values of its slots, by key or symbol.
        scene: Scene of the objects.

    Raises:
        QuestionError: An amount cannot be read, an object is not in the scene, or there is not a dock.
    """
    if name == "dock":
        docks = list(names) or [item.name for item in scene.objects if item.kind == "dock"]
        if not docks:
            raise QuestionError("I see nothing here to charge at. Where should I go?")
        return [f'dock("{docks[0]}")']
    if name == "follow":
        apart = _amount(parts, "apart", _APART)
        return [f'go_to("{names[0]}")', f'follow("{names[0]}", {_amount(parts, "for", _FOLLOWING):g}, {apart:g})']
    if other := [one for one in names if one not in scene.names]:
        raise QuestionError(f"“{other[0]}” is not a thing that I could do that with. Which thing do you mean?")
    if len({*names}) < len(names):
        raise QuestionError(f"What else is {the(names[0])} to do that with?")
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
    """Return the amount of a slot [m] or [s], or `unsaid`."""
    return amount(parts[slot][0], "quantity", "seconds") if slot in parts else unsaid


def _angle(parts: Mapping[str, list[Value]]) -> float:
    """Return the angle [deg], counter-clockwise seen from above; a full turn by default."""
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


USUAL = "0.1"  # [m] default length of a push or shift
WAITING = 60.0  # [s] default time of a wait
MOST_TIMES = 20  # repetitions of a block
_TAKEN = frozenset((
    "color", "kind", "height", "width", "push", "pick", "point", "line", "held", "for", "if", "in", "is", "not", "and",
    "or", "each", "pairs", "objects",
))  # fmt: skip


def program(statements: Sequence[Term], here: Resolver) -> str:
    """Write the program of statements; raise QuestionError if words fit nothing in the scene, or several objects."""
    writer = _Writer(here, Expressions(here))
    writer.block(statements)
    return "\n".join(writer.lines) + "\n"


@dataclass
class _Writer:
    here: Resolver
    expressions: Expressions
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    used: set[str] = field(default_factory=set)

    def block(self, statements: Sequence[Value], deeper: int = 0) -> None:
        self.depth += deeper
        for value in statements:
            self.statement(value)
        self.depth -= deeper

    def statement(self, value: Value) -> None:
        write = self.expressions.write
        self.expressions.taken.clear()
        match value:
            case Term("put", (item, target)):
                others = target.arguments if isinstance(target, Term) else ()
                places = [self.here.refer(one.text) for one in others if isinstance(one, Words)]
                # in "the red one in the red bowl" the red one is not the bowl
                thing = self._movable(item, [one.name for one in places if one.entry == "object"])
                call = self._placing(target)  # determines the place before the object moves
                self._open(call)
                self._take("pick", thing)
                self._add(call)
            case Term("pick", (item,)):
                self._add(f"pick({self._movable(item)})")
            case Term("place", (target,)):
                self._add(self._placing(target))
            case Term("push", (item, direction, *far)):
                self._add(f"push({self._movable(item)}, {write('DIRECTION', direction)}, {self._length(far)})")
            case Term("each", (items, *body)):
                self._each(items, body)
            case Term("tower", (Term("list", items),)):  # most readable as its steps
                for below, above in pairwise([write("OBJECT", item) for item in items]):
                    self._take("pick", above)
                    self._add(f"place_on({below})")
            case Term("tower", (items,)):
                below, above = self._fresh("below"), self._fresh(self._noun(items))
                self._add(f"for {below}, {above} in pairs({write('SET', items)}):")
                self._add(f"pick({above})", f"place_on({below})", deeper=1)
            case Term("deal_in" | "deal_on" as deal, (items, places)):  # until either runs out
                one, other = self._fresh(self._noun(items)), self._fresh(self._noun(places))
                self._add(f"for {one}, {other} in zip({write('SET', items)}, {write('SET', places)}):")
                self._add(f"pick({one})", f"{deal.replace('deal', 'place')}({other})", deeper=1)
            case Term("row", (items, axis, *gap)):
                wide = f", gap={self._length(gap)} + max([width(each) for each in {{0}}])" if gap else ""
                self._arrange(items, f"line_points(len({{0}}), {write('AXIS', axis)}{wide})")
            case Term("circle", (items,)):
                self._arrange(items, "circle_points(len({0}))")
            case Term("swap", (first, second)):
                one, other = write("OBJECT", first), write("OBJECT", second)
                self._swap(  # "the first block" may change once one has moved
                    one if is_simple(first) else self._assigned("one", one),
                    other if is_simple(second) else self._assigned("other", other),
                )
            case Term("when", (condition, *body)):
                self._add(f"if {write('CONDITION', condition)}:")
                self.block(body, deeper=1)
            case Term("when_else", (condition, Term("do", body), Term("do", otherwise))):
                self._add(f"if {write('CONDITION', condition)}:")
                self.block(body, deeper=1)
                self._add("else:")
                self.block(otherwise, deeper=1)
            case Term("repeat", (count, *body)):
                times = count_of(count)
                if not 1 <= times <= MOST_TIMES:
                    raise QuestionError(
                        f"I can do a thing 1 to {MOST_TIMES} times, not {times}. How often do you mean?"
                    )
                self._add(f"for {self._fresh('time')} in range({times}):")
                self.block(body, deeper=1)
            case Term("check", (condition,)):
                self._check(condition)
            case Term("go", (place,)) if self.here.scene.base is not None:
                self._add(f"approach({quoted(self.here.name(words_of(place)))})")
            case Term("go" | "bring" | "look") if self.here.scene.building is None:
                raise QuestionError("I stand at a table and cannot go anywhere. What should I do here?")
            case Term("go_home") if self.here.scene.building is not None:
                raise QuestionError("I have no place of my own in this building. Where should I go?")
            case Term("go", (place,)):
                self._add(f"go_to({quoted(self.here.name(words_of(place)))})")
            case Term("bring", (item, place)):
                thing, where = self._movable(item), self.here.name(words_of(place))
                if there := self._lying_in(where, thing):
                    self._add(f"tell({quoted(f'There is no need: {the(there)} is in {the(where)} already.')})")
                else:
                    self._take("pick_up", thing)
                    self._add(f"go_to({quoted(where)})", "drop_off()")
            case Term("look", rooms):
                self._add(*(f"go_to({quoted(self.here.room(words_of(room)))})" for room in rooms), "look()")
            case Term("wait", time):
                self._add(f"wait({amount(time[0], 'seconds') if time else WAITING:g})")
            case Term("wipe", items):
                # words for nothing here are not marks: "I have slopped my tea, wipe it up" means the stains
                spilt = [one for one in items if isinstance(one, Words) and self.here.refer(one.text).unknown]
                self._wipe([write("OBJECT", item) for item in items if item not in spilt])
            case Term(name) if name in REWARDS:
                parts = COMMANDS.filled("STATEMENT", value)
                names: list[str] = []
                for said in parts.get("NAME", ()):
                    names.append(self.here.name(words_of(said), without=names))
                self._add(*reward_calls(name, names, parts, self.here.scene))
            case _:
                self._add(write("STATEMENT", value))  # a skill

    def _movable(self, value: Value, without: Collection[str] = ()) -> str:
        """Write an object that can be moved, not one of `without`; raise QuestionError for furniture."""
        text = self.expressions.object(value, without)
        fixed = [item.name for item in self.here.scene.objects if item.kind in FURNITURE and quoted(item.name) == text]
        if fixed:
            raise QuestionError(f"I cannot move {the(fixed[0])} from its place. What should I do with it?")
        return text

    def _take(self, skill: str, thing: str) -> None:
        """Write the pick-up of an object, with the drive of a base, unless it is held and nothing has been done yet."""
        if thing != quoted(self.here.scene.held) or any(" = " not in line for line in self.lines):
            self._add(*([f"go_to({thing})"] if skill == "pick_up" else []), f"{skill}({thing})")

    def _lying_in(self, room: str, thing: str) -> str:
        """Return the object's name if it lies in the room and no earlier line may move it, else ""."""
        scene = self.here.scene
        if scene.building is None or any(thing in line or line.lstrip().startswith("for ") for line in self.lines):
            return ""
        rooms = ((item.name, scene.building.room_at(*item.position[:2])) for item in scene.objects)
        return next((name for name, at in rooms if quoted(name) == thing and at == room and name != scene.held), "")

    def _open(self, call: str) -> None:
        """Write the opening of the drawer that `call` puts an object in, unless an earlier line has opened it."""
        for item in self.here.scene.objects:
            if item.kind == DRAWER and call == f"place_in({quoted(item.name)})":
                lines = [line.strip() for line in self.lines if line.endswith(f"_drawer({quoted(item.name)})")]
                if not lines or lines[-1].startswith("close"):
                    self._add(f"if not is_open({quoted(item.name)}):")
                    self._add(f"open_drawer({quoted(item.name)})", deeper=1)

    def _placing(self, target: Value) -> str:
        """Write the call that puts down the held object."""
        assert isinstance(target, Term), target
        first, *rest = target.arguments
        write = self.expressions.write
        match target.name:
            case "at":
                return f"place_at({write('REGION', first)})"
            case "offset":
                return f"place_offset({write('DIRECTION', first)}, {self._length(rest)})"
            case "between":
                middle = f"midpoint({write('OBJECT', first)}, {write('OBJECT', rest[0])})"
                return f"place_at({self._assigned('spot', middle)})"
        base = write("OBJECT", first)
        base = base if is_simple(first) else self._assigned("target", base)  # it may change after the object moves
        if base in [quoted(item.name) for item in self.here.scene.objects if item.kind == TABLE_KIND]:
            return f"place_on({base})"  # whatever is in, at or near a table is on it
        if target.name in ("on", "in"):
            return f"place_{target.name}({base})"
        if target.name == "near" and not rest and self.here.follows("(?:away|far|further) from", words_of(first)):
            raise QuestionError(f"How far from “{words_of(first)}”, and on which side of it, should I put that?")
        side = f", {write('DIRECTION', rest.pop(0))}" if target.name == "beside" else ""
        return f"place_beside({base}{side}{f', distance={self._length(rest)}' if rest else ''})"

    def _assigned(self, stem: str, text: str) -> str:
        name = self._fresh(stem)
        self._add(f"{name} = {text}")
        return name

    def _each(self, items: Value, body: Sequence[Value]) -> None:
        """Write a loop; raise QuestionError if it puts one thing of an outer loop into several, one after the other."""
        match body:
            case (Term("put", (Term("outer"), Term("in" | "on", (Term("item"),)))),):
                raise QuestionError(f"Which of “{words_of(items)}” is meant for each of the things?")
        match body[0]:  # "everything into the bowl" excludes the bowl
            case Term("put", (_, Term("on" | "in" | "near" | "beside", (target, *_)))) if self.expressions.may_contain(
                items, target
            ):
                items = Term("except", (items, target))
        text, variable = self.expressions.set(items), self._fresh(self._noun(items))
        self._add(f"for {variable} in {text}:")
        self.expressions.loops.append(variable)
        tests = []
        match body:  # what has no match in colour stays
            case (Term("put", (Term("item"), Term(_, (Term("same_color", (like,)), *_)))),):
                tests.append(f"len({self.expressions.of_same_color(like)}) > 0")
        if there := self._already_there(body):
            tests.append(f"not {there}")
        if tests:
            self._add(f"if {' and '.join(tests)}:", deeper=1)
        self.block(body, deeper=2 if tests else 1)
        self.expressions.loops.pop()

    def _already_there(self, body: Sequence[Value]) -> str:
        """Write a test that skips objects already in place, since an object in a full corner may be unreachable."""
        match body:
            case (Term("put", (Term("item" | "outer") as item, Term("at", (place,)))),):
                return self.expressions.write("CONDITION", Term("is_at", (item, place)))
            case (Term("put", (Term("item" | "outer") as item, Term("in", (target,)))),) if is_simple(target):
                return f"is_in({self.expressions.object(item)}, {self.expressions.object(target)})"
            case (Term("bring", (Term("item" | "outer") as item, place)),) if room := self.expressions.room(place):
                return f"room_of({self.expressions.object(item)}) == {quoted(room)}"
        return ""

    def _arrange(self, items: Value, points: str) -> None:
        chosen, variable, spot = self._fresh("chosen"), self._fresh(self._noun(items)), self._fresh("spot")
        self._add(f"{chosen} = {self.expressions.set(items)}")
        self._add(f"for {variable}, {spot} in zip({chosen}, {points.format(chosen)}):")
        self._add(f"pick({variable})", f"place_at({spot})", deeper=1)

    def _swap(self, one: str, other: str) -> None:
        """Write an exchange by way of a free spot, or of the middle if the first is not an object's name."""
        here, there = self._assigned("here", f"position({one})"), self._assigned("there", f"position({other})")
        aside, scene = quoted("middle"), self.here.scene
        for item in scene.objects:
            if quoted(item.name) == one:
                x, y = free_spot(scene, scene.workspace, scene.workspace.center, max(half_extents(item)[:2]))
                aside = f"point({x:.2f}, {y:.2f})"
        self._add(f"pick({one})", f"place_at({aside})", f"pick({other})", f"place_at({here})")
        self._add(f"pick({one})", f"place_at({there})")

    def _check(self, condition: Value) -> None:
        """Write a look at the rooms of a condition and a report whether it holds."""
        for room in dict.fromkeys(self._rooms_in(condition)):
            self._add(f"go_to({quoted(room)})", "look()")
        self._add(f"if {self.expressions.write('CONDITION', condition)}:")
        self._add('tell("Yes, that is so.")', deeper=1)
        self._add("else:")
        self._add('tell("No, that is not so.")', deeper=1)

    def _rooms_in(self, condition: Value) -> list[str]:
        if not isinstance(condition, Term):
            return [room] if (room := self.expressions.room(condition)) else []
        return [room for one in condition.arguments for room in self._rooms_in(one)]

    def _wipe(self, marks: list[str]) -> None:
        """Write the wiping of marks, by default all stains, with the sponge, which is then put back."""
        stains, sponges = (
            [quoted(item.name) for item in self.here.scene.objects if item.kind == kind] for kind in (STAIN, "sponge")
        )
        if not marks and not stains:
            raise QuestionError("I see no stain here. What should I wipe?")
        wiping = [f"wipe({mark})" for mark in marks or stains]
        if not sponges or quoted(self.here.scene.held) in sponges:
            self._add(*wiping)
            return
        spot = self._assigned("spot", f"position({sponges[0]})")
        self._add(f"pick({sponges[0]})", *wiping, f"place_at({spot})")

    # text

    def _length(self, far: Sequence[Value]) -> str:
        return self.expressions.write("AMOUNT", far[0]) if far else USUAL

    def _noun(self, items: Value) -> str:
        """Name a loop variable after the kind of the objects in the set."""
        match items:
            case Words():
                noun = self.expressions.kind(items).split(" ")[-1]
                return noun if noun.isascii() and noun.isidentifier() else "item"
            case Term("not_color" | "except" | "side_all" | "at_place" | "in_room", (inner, *_)):
                return self._noun(inner)
            case Term("take", (_, inner)):
                return self._noun(inner)
        return "item"

    def _fresh(self, stem: str) -> str:
        stem = f"this_{stem}" if stem in _TAKEN else stem
        name, count = stem, 2
        while name in self.used:
            name, count = f"{stem}_{count}", count + 1
        self.used.add(name)
        return name

    def _add(self, *lines: str, deeper: int = 0) -> None:
        self.lines += ["    " * (self.depth + deeper) + line for line in lines]
