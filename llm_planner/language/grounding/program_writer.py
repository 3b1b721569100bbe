"""Writes a derivation out as a policy program, resolving descriptions ("the red one") against the scene."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from llm_planner.errors import QuestionError
from llm_planner.language.grounding.descriptions import Entries, Grounding
from llm_planner.language.grounding.naming import PEOPLE
from llm_planner.language.grounding.tree import Node, Pointer
from llm_planner.language.grounding.words import Word
from llm_planner.world.names import the
from llm_planner.world.predicates import FIXED_KINDS, FURNITURE, STAIN
from llm_planner.world.scene import Scene

LITTLE, USUAL, MUCH = 0.05, 0.1, 0.2  # [m] "a little", no amount given, "a lot"


def render_program(tree: Node, words: list[Word], scene: Scene, entries: Entries) -> str:
    """The program that `tree` (of production `program`) stands for.

    Raises `QuestionError` where the words name something that is not in the scene, or more than one thing.
    """
    writer = _Writer(Grounding(words, scene, entries), scene.held)
    writer.statements(tree.children[0])
    return "\n".join(writer.lines) + "\n"


def is_simple(node: Node) -> bool:
    """Whether an object reference means the same before and after something was picked up."""
    return isinstance(node.step, Pointer) or node.step in ("the", "item", "outer")


@dataclass
class _Writer:
    ground: Grounding
    held: str  # what the hand has before the first line
    lines: list[str] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)  # loop variables, outermost first
    depth: int = 0
    used: set[str] = field(default_factory=set)

    # statements

    def statements(self, node: Node) -> None:
        self.statement(node.children[0])
        if node.step == "more":
            self.statements(node.children[1])

    def statement(self, node: Node) -> None:
        writers: dict[str, Callable[..., None]] = {
            "put": self._put,
            "pick": lambda item: self._line(f"pick({self._movable(item)})"),
            "place": self._place,
            "push": self._push,
            "open": lambda: self._line("open_gripper()"),
            "close": lambda: self._line("close_gripper()"),
            "home": lambda: self._line("go_home()"),
            "each": self._each,
            "tower": self._tower,
            "deal_in": lambda items, places: self._deal(items, places, "place_in"),
            "deal_on": lambda items, places: self._deal(items, places, "place_on"),
            "row": self._row,
            "circle": self._circle,
            "swap": self._swap,
            "when": self._when,
            "when_else": self._when,
            "skill": self._skill,
            "go": lambda place: self._line(f"go_to({_quoted(str(place.step))})"),
            "bring": self._bring,
            "repeat": self._repeat,
            "check": self._check,
            "wipe": self._wipe,
            "lines": lambda *lines: self._indented(*(str(line.step) for line in lines), deeper=0),
        }
        writers[str(node.step)](*node.children)

    def _bring(self, item: Node, place: Node) -> None:
        """Fetch a thing, unless the robot carries it already, and put it down there."""
        thing = self._movable(item)
        if thing != _quoted(self.held) or any(" = " not in line for line in self.lines):
            self._line(f"go_to({thing})")
            self._line(f"pick_up({thing})")
        self._line(f"go_to({_quoted(str(place.step))})")
        self._line("drop_off()")

    def _repeat(self, times: Node, body: Node) -> None:
        self._line(f"for {self._fresh('time')} in range({times.step}):")
        self._block(body)

    def _check(self, condition: Node) -> None:
        """Says whether it is so, in a building after a look at the room."""
        if condition.step == "room_is":
            self._line(f"go_to({_quoted(str(condition.children[1].step))})")
            self._line("look()")
        self._line(f"if {self.condition(condition)}:")
        self._indented('tell("Yes, that is so.")')
        self._line("else:")
        self._indented('tell("No, that is not so.")')

    def _wipe(self, item: Node | None = None) -> None:
        """With the sponge, which goes back to where it lay; where nothing is said it is every stain."""
        stains = [thing.name for thing in self.ground.scene.objects if thing.kind == STAIN]
        sponges = [thing.name for thing in self.ground.scene.objects if thing.kind == "sponge"]
        if item is None and not stains:
            raise QuestionError("I see no stain here. What should I wipe?")
        marks = [self.object(item)] if item is not None else list(map(_quoted, stains))
        takes = bool(sponges) and self.held not in sponges
        spot = self._fresh("spot") if takes else ""
        if takes:
            self._line(f"{spot} = position({_quoted(sponges[0])})")
            self._line(f"pick({_quoted(sponges[0])})")
        for mark in marks:
            self._line(f"wipe({mark})")
        if takes:
            self._line(f"place_at({spot})")

    def _skill(self, name: Node, item: Node, place: Node | None = None) -> None:
        """A call as it stands."""
        if name.step == "wipe":
            self._wipe(item)
            return
        where = [] if place is None else [self.region(place)]
        self._line(f"{name.step}({', '.join((self.object(item), *where))})")

    def _put(self, item: Node, target: Node) -> None:
        thing = self._movable(item)
        call = self._call_of_target(target)  # settles where before the object leaves its place
        self._take(thing)
        self._line(call)

    def _movable(self, node: Node) -> str:
        """As `object`; raises `QuestionError` for a piece of furniture, which the networks know nothing of."""
        text = self.object(node)
        fixed = [item for item in self.ground.scene.objects if item.kind in FURNITURE and _quoted(item.name) == text]
        if fixed:
            raise QuestionError(f"I cannot move {the(fixed[0].name)} from its place. What should I do with it?")
        return text

    def _take(self, thing: str) -> None:
        """Picks it up before it is put somewhere, unless it is in the hand and nothing has been done yet."""
        if thing != _quoted(self.held) or any(" = " not in line for line in self.lines):
            self._line(f"pick({thing})")

    def _place(self, target: Node) -> None:
        self._line(self._call_of_target(target))

    def _call_of_target(self, node: Node) -> str:
        step, children = node.step, node.children
        if step in ("on", "in", "near", "beside"):
            base = self._settled(children[0])
            if step in ("on", "in"):
                return f"place_{step}({base})"
            side = "" if step == "near" else f", {self.direction(children[1])}"
            gap = "" if children[-1].step == "usual" else f", distance={self.amount(children[-1])}"
            return f"place_beside({base}{side}{gap})"
        if step == "at":
            return f"place_at({self.region(children[0])})"
        if step == "between":
            middle = f"midpoint({self.object(children[0])}, {self.object(children[1])})"
            return f"place_at({self._settled_text('spot', middle)})"
        return f"place_offset({self.direction(children[0])}, {self.amount(children[1])})"

    def _settled(self, node: Node) -> str:
        text = self.object(node)
        return text if is_simple(node) else self._settled_text("target", text)

    def _settled_text(self, stem: str, text: str) -> str:
        name = self._fresh(stem)
        self._line(f"{name} = {text}")
        return name

    def _push(self, item: Node, direction: Node, amount: Node) -> None:
        self._line(f"push({self._movable(item)}, {self.direction(direction)}, {self.amount(amount)})")

    def _each(self, items: Node, body: Node) -> None:
        text = self.set(_without_targets(items, body))
        variable = self._fresh(self._noun(items))
        self._line(f"for {variable} in {text}:")
        self.loops.append(variable)
        there = self._already_there(body)
        if there:
            self._indented(f"if not {there}:")
            self.depth += 1
        self._block(body)
        self.depth -= 1 if there else 0
        self.loops.pop()

    def _already_there(self, body: Node) -> str:
        """The test that spares what is already where it shall be: a thing in a full corner may be out of reach."""
        put = body.children[0]
        if body.step != "last" or put.step != "put" or put.children[0].step not in ("item", "outer"):
            return ""
        item, target = self.object(put.children[0]), put.children[1]
        if target.step == "at":
            return f"is_at({item}, {self.region(target.children[0])})"
        if target.step == "in" and is_simple(target.children[0]):
            return f"is_in({item}, {self.object(target.children[0])})"
        return ""

    def _tower(self, items: Node) -> None:
        if items.step in ("pair", "triple", "four"):  # a list of names reads best as the steps it stands for
            named = [self.object(child) for child in items.children]
            for below, above in itertools.pairwise(named):
                self._take(above)
                self._line(f"place_on({below})")
            return
        below, above = self._fresh("below"), self._fresh(self._noun(items))
        self._line(f"for {below}, {above} in pairs({self.set(items)}):")
        self._indented(f"pick({above})", f"place_on({below})")

    def _deal(self, items: Node, places: Node, skill: str) -> None:
        """One thing to each place, for as long as there are both."""
        item, place = self._fresh(self._noun(items)), self._fresh(self._noun(places))
        self._line(f"for {item}, {place} in zip({self.set(items)}, {self.set(places)}):")
        self._indented(f"pick({item})", f"{skill}({place})")

    def _row(self, items: Node, axis: Node, gap: Node) -> None:
        wide = "" if gap.step == "usual" else f", gap={self.amount(gap)} + max([width(each) for each in {{0}}])"
        self._arrange(items, f'line_points(len({{0}}), "{axis.step}"{wide})')

    def _circle(self, items: Node) -> None:
        self._arrange(items, "circle_points(len({0}))")

    def _arrange(self, items: Node, points: str) -> None:
        chosen, variable, spot = self._fresh("chosen"), self._fresh(self._noun(items)), self._fresh("spot")
        self._line(f"{chosen} = {self.set(items)}")
        self._line(f"for {variable}, {spot} in zip({chosen}, {points.format(chosen)}):")
        self._indented(f"pick({variable})", f"place_at({spot})")

    def _swap(self, first: Node, second: Node) -> None:
        one, other = self.object(first), self.object(second)
        here, there = self._fresh("here"), self._fresh("there")
        self._line(f"{here} = position({one})")
        self._line(f"{there} = position({other})")
        self._line(f"pick({one})")
        self._line('place_at("middle")')
        self._line(f"pick({other})")
        self._line(f"place_at({here})")
        self._line(f"pick({one})")
        self._line(f"place_at({there})")

    def _when(self, condition: Node, body: Node, otherwise: Node | None = None) -> None:
        self._line(f"if {self.condition(condition)}:")
        self._block(body)
        if otherwise is not None:
            self._line("else:")
            self._block(otherwise)

    # expressions

    def object(self, node: Node) -> str:
        step, children = node.step, node.children
        if isinstance(step, Pointer):
            return _quoted(self.ground.entries.objects[step.index])
        if step == "the" and children[1].step == "same_color":
            return f"{self._objects(*children)}[0]"
        if step == "the":
            return _quoted(self.ground.the(*children))
        if step in ("item", "outer"):
            return self._loop(1 if step == "item" else 2)
        if step == "atop":
            return f"contents({self.object(children[0])})[0]"
        items = self.set(children[0])
        if step == "first":
            return f"{items}[0]"
        if step in ("closest", "farthest"):
            return f"{step}({items}, to={self.object(children[1])})"
        if step == "closest_to_place":
            return f"closest({items}, to={self.region(children[1])})"
        if step in ("largest", "smallest"):
            return f"{step}({items})"
        if step == "nth":
            return f"from_side({items}, {self.direction(children[1])})[{int(str(children[2].step)[1:]) - 1}]"
        return f"on_side({items}, {self.direction(children[1])}, of={self.object(children[2])})[0]"

    def _loop(self, depth: int) -> str:
        """The variable of the loop around, or of the one around that."""
        if len(self.loops) < depth:
            raise QuestionError("I do not see which thing that is about. Please name it.")
        return self.loops[-depth]

    def set(self, node: Node) -> str:
        step, children = node.step, node.children
        if step == "objects":
            return self._objects(*children)
        if step == "except":
            return self._filtered(self.set(children[0]), "{} != " + self.object(children[1]))
        if step == "not_color":
            return self._filtered(
                self._objects(children[0], Node("any_color")), "color({}) != " + _quoted(self.ground.color(children[1]))
            )
        if step == "not_kind":
            return self._filtered("objects()", "kind({}) != " + _quoted(self.ground.kind(children[0])))
        if step in ("pair", "triple", "four"):
            return "[" + ", ".join(self.object(child) for child in children) + "]"
        if step == "in_room":
            return self._filtered(self.set(children[0]), "room_of({}) == " + _quoted(str(children[1].step)))
        if step == "people":
            kinds = sorted(PEOPLE & {item.kind for item in self.ground.scene.objects})
            return f"objects({_quoted(kinds[0])})" if kinds else "[]"
        if step == "loads":  # what can be carried away
            fixed = ", ".join(map(_quoted, sorted(FIXED_KINDS & {item.kind for item in self.ground.scene.objects})))
            return self._filtered("objects()", "kind({}) not in [" + fixed + "]") if fixed else "objects()"
        if step == "take":
            return f"{self.set(children[1])}[:{str(children[0].step)[1:]}]"
        if step == "side_all":
            return f"on_side({self.set(children[0])}, {self.direction(children[1])}, of={self.object(children[2])})"
        if step == "contents":
            return f"contents({self.object(children[0])})"
        return self._filtered(self.set(children[0]), "is_at({}, " + self.region(children[1]) + ")")

    def _objects(self, kind: Node, color: Node) -> str:
        if color.step != "same_color":
            self.ground.any(kind, color)
        arguments = [] if kind.step == "any_kind" else [_quoted(self.ground.kind(kind))]
        if color.step == "same_color":
            arguments.append(f"color=color({self._loop(1)})")
        elif color.step != "any_color":
            arguments.append(f"color={_quoted(self.ground.color(color))}")
        return f"objects({', '.join(arguments)})"

    def _existing(self, items: Node) -> str:
        """A set that may be empty: asking whether there is any must not itself be a question."""
        try:
            return self.set(items)
        except QuestionError:
            return "[]"

    def condition(self, node: Node) -> str:
        step, children = node.step, node.children
        if step == "not":
            return f"not {self.condition(children[0])}"
        if step in ("and", "or"):
            return f" {step} ".join(f"({self.condition(child)})" for child in children)
        if step == "room_is":
            return f"room_of({self.object(children[0])}) == {_quoted(str(children[1].step))}"
        if step == "is_open":
            return f"is_open({self.object(children[0])})"
        if step == "empty":
            return f"is_clear({self.object(children[0])})"
        if step == "exists":
            return f"len({self._existing(children[0])}) > 0"
        if step == "is_at":
            return f"is_at({self.object(children[0])}, {self.region(children[1])})"
        return f"{step}({self.object(children[0])}, {self.object(children[1])})"

    def direction(self, node: Node) -> str:
        return _quoted(str(node.step))

    def region(self, node: Node) -> str:
        return _quoted(str(node.step).replace("_", " "))

    def amount(self, node: Node) -> str:
        if isinstance(node.step, Pointer):
            return f"{self.ground.words[node.step.index].metres:.3g}"
        return str({"little": LITTLE, "usual": USUAL, "much": MUCH}[node.step])

    # text

    def _noun(self, items: Node) -> str:
        """A readable loop variable: the kind of the things in the set."""
        if items.step in ("objects", "not_color") and isinstance(items.children[0].step, Pointer):
            kind = self.ground.noun(items.children[0])
            return kind if kind.isascii() and kind.isidentifier() else "item"
        inner = [child for child in items.children if child.step in ("objects", "not_color", "except", "take")]
        return self._noun(inner[0]) if inner else "item"

    def _fresh(self, stem: str) -> str:
        stem = f"this_{stem}" if stem in _TAKEN else stem
        name, count = stem, 2
        while name in self.used:
            name, count = f"{stem}_{count}", count + 1
        self.used.add(name)
        return name

    def _filtered(self, items: str, condition: str) -> str:
        return f"[each for each in {items} if {condition.format('each')}]"

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _indented(self, *texts: str, deeper: int = 1) -> None:
        self.depth += deeper
        for text in texts:
            self._line(text)
        self.depth -= deeper

    def _block(self, body: Node) -> None:
        self.depth += 1
        self.statements(body)
        self.depth -= 1


_TAKEN = frozenset(
    [
        "color",
        "kind",
        "height",
        "width",
        "push",
        "pick",
        "point",
        "line",
        "held",
        "for",
        "if",
        "in",
        "is",
        "not",
        "and",
        "or",
        "each",
        "pairs",
        "objects",
    ]
)


def _without_targets(items: Node, body: Node) -> Node:
    """ "Everything into the bowl" does not mean the bowl itself."""
    first = body.children[0]
    if first.step != "put" or first.children[1].step not in ("on", "in", "near", "beside"):
        return items
    target = first.children[1].children[0]
    return Node("except", (items, target)) if target.step == "the" and _may_contain(items, target) else items


def _may_contain(items: Node, target: Node) -> bool:
    if items.step == "not_kind":
        return items.children[0] != target.children[0]
    if items.step == "except":
        return items.children[1] != target and _may_contain(items.children[0], target)
    if items.step not in ("objects", "not_color"):
        return False
    kind = items.children[0]
    return kind.step == "any_kind" or kind == target.children[0]


def _quoted(text: str) -> str:
    """A string literal that no name can break out of."""
    return json.dumps(text, ensure_ascii=False)
