"""Grammar of the results for commands and rules: program statements, patterns of rules and goals, and references.

The patterns are those of Dwyer, Avrunin and Corbett (ICSE 1999); `specification` writes their formulas. Objects, rooms,
people and amounts are always the person's words. Code resolves them in the scene, so that unseen names can be read, and
names without a referent lead to a question.
"""

from __future__ import annotations

from llm_planner.language.embedded.forms import Forms
from llm_planner.scene import places

DIRECTIONS = ("left", "right", "top", "bottom")
REGIONS = tuple(name.replace(" ", "_") for name in places.REGIONS)
_STATEMENTS: dict[str, tuple[str, ...]] = {
    "put": ("OBJECT", "TARGET"),
    "pick": ("OBJECT",),
    "place": ("TARGET",),  # the held object
    "push": ("OBJECT", "DIRECTION", "AMOUNT?"),
    "open_gripper": (),
    "close_gripper": (),
    "go_home": (),
    "each": ("SET", "STATEMENT+"),  # `item` is the loop variable, `outer` that of the enclosing loop
    "tower": ("SET",),
    "deal_in": ("SET", "SET"),
    "deal_on": ("SET", "SET"),
    "row": ("SET", "AXIS", "AMOUNT?"),
    "circle": ("SET",),
    "swap": ("OBJECT", "OBJECT"),
    "when": ("CONDITION", "STATEMENT+"),
    "when_else": ("CONDITION", "BLOCK", "BLOCK"),
    "repeat": ("COUNT", "STATEMENT+"),
    "check": ("CONDITION",),  # reports whether it holds; looks at a room first
    # in a building
    "go": ("NAME",),  # to a room, a person or an object
    "bring": ("OBJECT", "NAME"),  # to a room or a person
    "look": ("ROOM?",),
    "wait": ("TIME?",),
}
SKILLS = {  # statements that are skill calls
    "open_drawer": ("OBJECT",),
    "close_drawer": ("OBJECT",),
    "press": ("OBJECT",),
    "wipe": ("OBJECT?",),
    "tip": ("OBJECT",),
    "reach": ("OBJECT",),
    "sweep": ("OBJECT", "REGION"),
}
REWARDS = {  # achieved by search over a motion model
    "turn": ("NAME", "ANGLE", "WAY?"),
    "lift": ("NAME", "LENGTH"),
    "lean": ("NAME", "ANGLE"),
    "touch": ("NAME", "NAME"),
    "apart": ("NAME", "NAME", "LENGTH"),
    "align": ("NAME", "NAME", "NAME"),
    "handle_towards": ("NAME", "NAME"),
    "handle_away": ("NAME", "NAME"),
    "dock": ("NAME?",),
    "follow": ("NAME", "for=TIME?", "apart=LENGTH?"),
    "face": ("NAME",),
    "turn_away": ("NAME",),
    "spin": ("ANGLE", "WAY?"),
    "circle_around": ("NAME", "ANGLE?", "WAY?"),
    "back_up_to": ("NAME",),
    "stand_between": ("NAME", "NAME"),
    "stand_off": ("NAME", "LENGTH"),
}
SPECIFICATIONS = {
    "visit": ("STATE+",),  # in any order
    "sequence": ("STATE+",),  # each after the previous one
    "ordered": ("STATE+",),  # as `sequence`, and none before the previous one
    "strictly": ("STATE+",),  # as `ordered`, and each but the last only once until then
    "patrol": ("STATE+",),  # again and again
    "never": ("STATE+",),
    "always": ("STATE+",),
    "at_least": ("COUNT", "STATE"),
    "at_most": ("COUNT", "STATE"),
    "exactly": ("COUNT", "STATE"),
    "at_least_steps": ("COUNT", "STATE"),  # counts moments at which it holds; the three above count how often it begins
    "at_most_steps": ("COUNT", "STATE"),
    "exactly_steps": ("COUNT", "STATE"),
    "only_after": ("STATE", "STATE+"),  # none of the later states before the first
    "stay_until": ("STATE", "STATE"),
    "responds": ("STATE", "STATE"),  # every first state is followed by the second
    "at_once": ("STATE", "STATE"),  # ... at the next change
    "just_then": ("STATE", "STATE"),  # ... at the next change, and at no other time
    "never_after": ("STATE", "STATE+"),
    "whenever": ("STATE", "STATE"),  # the second state holds while the first holds
    "within": ("TIME", "STATE"),
    "lasting": ("TIME", "STATE"),
    "from_now": ("TIME", "STATE"),  # holds for this time from the start
    "finish": ("STATE",),  # holds at the end: from some moment on
    "initially": ("STATE",),  # holds at the first moment
    "next": ("STATE",),  # holds at the second moment
    # scopes (Dwyer et al.): the rule holds only within them
    "before": ("STATE", "SPECIFICATION"),  # until the first moment of the state
    "after": ("STATE", "SPECIFICATION"),  # from the first moment of the state on
    "between": ("STATE", "STATE", "SPECIFICATION"),  # from each moment of the first state to the next of the second
}
_ASK: dict[str, tuple[str, ...]] = {
    "unclear": (),  # not a command, or an incomplete one
    "cannot": (),  # not possible for the robot, or with a condition that it cannot check
}
_TABLE: dict[str, dict[str, tuple[str, ...]]] = {
    "STATEMENT": {**_STATEMENTS, **SKILLS, **REWARDS},
    "SPECIFICATION": SPECIFICATIONS,
    "ASK": _ASK,
    "BLOCK": {"do": ("STATEMENT+",)},
    "TARGET": {
        "in": ("OBJECT",),
        "on": ("OBJECT",),
        "near": ("OBJECT", "AMOUNT?"),
        "beside": ("OBJECT", "DIRECTION", "AMOUNT?"),
        "at": ("REGION",),
        "between": ("OBJECT", "OBJECT"),
        "offset": ("DIRECTION", "AMOUNT?"),
    },
    "OBJECT": {
        "": ("WORDS",),
        "item": (),
        "outer": (),
        "any": ("SET",),
        "closest": ("SET", "OBJECT"),
        "farthest": ("SET", "OBJECT"),
        "closest_to": ("SET", "REGION"),
        "largest": ("SET",),
        "smallest": ("SET",),
        "nth": ("SET", "DIRECTION", "NUMBER"),
        "side": ("SET", "DIRECTION", "OBJECT"),
        "atop": ("OBJECT",),
        "same_color": ("WORDS",),  # the object of that kind with the colour of the loop variable
    },
    "SET": {
        "": ("WORDS",),
        "all": (),
        "except": ("SET", "OBJECT+"),
        "not_color": ("SET", "WORDS"),
        "not_kind": ("WORDS",),
        "list": ("OBJECT+",),
        "take": ("NUMBER", "SET"),
        "side_all": ("SET", "DIRECTION", "OBJECT"),
        "contents": ("OBJECT",),
        "at_place": ("SET", "REGION"),
        "in_room": ("SET", "ROOM"),
        "people": (),
    },
    "CONDITION": {
        "empty": ("OBJECT",),
        "is_in": ("OBJECT", "OBJECT"),
        "is_on": ("OBJECT", "OBJECT"),
        "is_at": ("OBJECT", "REGION"),
        "is_open": ("OBJECT",),
        "exists": ("SET",),
        "not": ("CONDITION",),
        "and": ("CONDITION", "CONDITION"),
        "or": ("CONDITION", "CONDITION"),
    },
    "STATE": {
        "and": ("STATE", "STATE"),
        "or": ("STATE", "STATE"),
        "not": ("STATE",),
        "iff": ("STATE", "STATE"),  # both or neither
        "implies": ("STATE", "STATE"),
        "next": ("STATE",),  # operators of temporal logic, for what no pattern expresses
        "eventually": ("STATE",),
        "globally": ("STATE",),
        "until": ("STATE", "STATE"),
        "unless": ("STATE", "STATE"),  # weak until
        "holds": ("WORDS",),  # a bare proposition: "p", "door_open"
        "in": ("ROOM",),
        "looked": ("ROOM",),
        "waited": ("ROOM",),
        "near": ("THING",),
        "over": ("THING",),
        "holding": ("THING",),
        "holding_any": (),
        "moved": ("THING",),
        "is_in": ("THING", "NAME"),
        "is_on": ("THING", "NAME"),
        "beside": ("THING", "NAME"),
        "is_at": ("THING", "REGION"),
        "farther": ("THING", "LENGTH"),
        "slower": ("SPEED?",),
        "lower": ("THING", "LENGTH"),
    },
    "THING": {"": ("WORDS",), "each": ("GROUP",), "any": ("GROUP",), "anyone": ()},
    "GROUP": {"": ("WORDS",), "others": ("WORDS?",), "things": ()},  # others: not named in the command
    "ROOM": {"": ("WORDS",), "every_room": (), "other_rooms": (), "rooms_of": ("WORDS",)},  # "any aisle"
    "NAME": {"": ("WORDS",)},
    "LENGTH": {"": ("WORDS",)},
    "SPEED": {"": ("WORDS",)},
    "TIME": {"": ("WORDS",)},
    "ANGLE": {"": ("WORDS",)},
    "AMOUNT": {"": ("WORDS",), "little": (), "much": ()},
    "COUNT": {"": ("WORDS",), "n0": (), "n1": (), "n2": (), "n3": ()},
    "NUMBER": {f"n{number}": () for number in range(1, 7)},
    "DIRECTION": dict.fromkeys(DIRECTIONS, ()),
    "WAY": {"left": (), "right": ()},
    "AXIS": {"horizontal": (), "vertical": ()},
    "REGION": dict.fromkeys(REGIONS, ()),
}
COMMANDS = Forms(_TABLE, ("STATEMENT", "SPECIFICATION"), ("ASK",))
RULES = Forms(_TABLE, ("SPECIFICATION",), ("ASK",))
