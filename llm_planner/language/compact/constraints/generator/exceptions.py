"""Rules and errands for all but what is named: "touch nothing else", "visit every room except the lab"."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.avoidance import NOT
from llm_planner.language.compact.constraints.generator.itineraries import Said, enumerated
from llm_planner.language.compact.constraints.generator.narrator import ANY_COLOR, ANY_KIND, Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Name, Phrase, listed, node
from llm_planner.language.compact.grammar import Node

_BUT = "[but|except|except for|other than|besides|apart from|save for]"
_REST = (
    "[anything else|everything else|the others|the rest|the other [things|objects]|any other [thing|object]|any of the "
    "other [things|objects]|all the [others|other things]|all other [things|objects]|the others]"
)
_ALL = "[everything|all|all the [things|objects]|every [thing|object]|all of it]"
_ANY = "[anything|any [thing|object]|any of the [things|objects]]"


def nothing_else(who: Narrator) -> Said:
    """Hands off all the rest."""
    step = who.pick(("moved", "moved", "moved", "holding", "near"))
    kinds = {"moved": forms.MOVED, "holding": forms.HOLDING, "near": forms.NEAR}[step]
    kind, rest, none = _the_rest(who)
    act = Act(node("never"), kinds, rest)
    spec = node("never", listed([node(step, node("any", node("others", kind, ANY_COLOR)))]))
    do = Act(node("never"), kinds, none).say(who.rng, "do")
    be = who.say(kinds["be"])
    if step == "near":
        return spec, who.say(
            "[{n} {do}|[stay|keep] away from {x}|avoid {x}|without {g}|go near {none}]",
            n=who.say(NOT), do=act.say(who.rng, "do"), g=act.say(who.rng, "doing"), x=rest,
            none=none if kind.step == "any_kind" else None,
        )  # fmt: skip
    return spec, who.say(
        "[{n} {v}|{n} {v}|{v2}|{v2}|leave {x} [alone|where it is|where they are|be|in place|untouched|as it is]"
        "|leave {x} "
        "[alone|where it is|be]|{x} [must|may|should|shall] not be {be}|{x} [stays|stay|must stay|should stay|remains] "
        "[put|where it is|where they are|in place|untouched]|without {g}|{none} [may|must|should|can|is to|shall] be "
        "{be}"
        "|hands off {x}|let {x} [be|stay where it is]|keep your hands off {x}|{none} [gets|is] {be}]"
        if step == "moved"
        else "[{n} {v}|{n} {v}|{v2}|{none} [may|must|should|can] be {be}|without {g}]",
        n=who.say(NOT),
        v=act.say(who.rng, "do"),
        v2=do,
        g=act.say(who.rng, "doing"),
        x=rest,
        none=none,
        be=be,
    )


def _the_rest(who: Narrator) -> tuple[Node, Phrase, Phrase]:
    """The kind of thing, words for all others, and words for none of them."""
    if who.chance(0.7):
        return (
            ANY_KIND,
            who.say(_REST),
            who.say("[nothing else|nothing else|no other [thing|object]|none of the others]"),
        )
    kind = Name("kind", who.items[int(who.rng.integers(len(who.items)))].kind)
    one, many = (kind,), (Name("kind", kind.number, plural=True),)
    return (
        kind.node,
        who.say("[any other {o}|the other {m}|any of the other {m}|another {o}|all other {m}]", o=one, m=many),
        who.say("[no other {o}|none of the other {m}]", o=one, m=many),
    )


def only(who: Narrator) -> Said:
    """Only what is named may be touched."""
    step = who.pick(("moved", "moved", "holding", "near"))
    kinds = {"moved": forms.MOVED, "holding": forms.HOLDING, "near": forms.NEAR}[step]
    named = [_named(who) for _ in range(who.pick((1, 1, 2)))]
    words = enumerated(who, [Act(meant, kinds, said) for meant, said in named])
    if who.chance(0.3):  # "only the blocks"
        item = who.items[int(who.rng.integers(len(who.items)))]
        words = who.say("[the|the|the|] {x}", x=(Name("kind", item.kind, plural=True),))
    kind, any_one, no_one = ANY_KIND, who.say(_ANY), who.say("[nothing|nothing|no [thing|object]]")
    if who.chance(0.2):
        name = Name("kind", who.items[0].kind)
        kind = name.node
        any_one, no_one = who.say("[any|any other] {o}", o=(name,)), ("no", name)
    spec = node("never", listed([node(step, node("any", node("others", kind, ANY_COLOR)))]))
    r = who.rng
    none = Act(spec, kinds, (*no_one, *who.say(_BUT), *words)).say(r, "do")
    some = Act(spec, kinds, (*any_one, *who.say(_BUT), *words)).say(r, "do")
    this = Act(spec, kinds, words).say(r, "do")
    plain = kind.step == "any_kind"
    return spec, who.say(
        "[{none}|{none}|{n} {some}|{n} {some}|{no} {but} {x} [may|must|should|can|is to] be {be}|leave {all} {but} {x} "
        "[alone|where it is|in place]|{only}|{x} [is|are] the only [thing|things|object|one] [that|] you [may|can|are "
        "allowed to] {v}|{no} [may|must] be {be} {but} {x}|{all} {but} {x} is [taboo|off limits|not for you]|only "
        "{x} may be {be}]"
        if kinds is not forms.NEAR
        else "[{n} {some}|{n} {some}|stay away from {all} {but} {x}|avoid {all} {but} {x}|{none}]",
        none=none,
        some=some,
        n=who.say(NOT),
        no=no_one,
        but=who.say(_BUT),
        x=words,
        be=who.say(kinds["be"]),
        all=who.say(_ALL) if plain else None,
        only=who.say("[only {t}|you may only {t}|just {t}]", t=this) if plain else None,
        v=who.say("[touch|move|pick up|handle]") if plain else None,
    )


def _named(who: Narrator) -> tuple[Node, Phrase]:
    """A thing by its full name: what is named so is not among the others."""
    name = Name("object", who.items[int(who.rng.integers(len(who.items)))].name)
    return name.node, who.say("[the|the|the|] {x}", x=(name,))


def everywhere(who: Narrator) -> Said:
    """To every room, or every other."""
    if who.chance(0.2):
        act, name = who.family()
        many = (Name("kind", name.number, plural=True),)
        return node("visit", listed([act.node])), who.say(
            "[visit|go to|go into|stop in|check in at|pass through] [every {o}|each {o}|all [the|] {m}|all of the "
            "{m}|each of"
            " the {m}|both {m}|the {m}]", o=(name,), m=many,
        )  # fmt: skip
    step, verbs = who.pick(
        (
            ("in_room", "[visit|visit|go to|go into|pass through|stop in|drive through|tour|see|enter]"),
            ("looked", "[check|inspect|look around in|search|look into|scan]"),
        )
    )
    if who.chance(0.35):
        return node("visit", listed([node(step, node("every_room"))])), who.say(
            "{v} [every room|all rooms|all the rooms|each room|every single room|all of the rooms|each of the rooms"
            "|every "
            "one of the rooms] [in the building|once|at least once|]",
            v=who.say(verbs),
        )
    names = [who.room(forms.PLACE, "in_room") for _ in range(who.pick((1, 1, 2)))]
    return node("visit", listed([node(step, node("other_rooms"))])), who.say(
        "[{v} [every room|all rooms|all the rooms|each room|every one of the rooms|every other room] [{b}|but not] {x}|"
        "[go|drive|look] everywhere {b} {x}|with the exception of {x} , {v} [every room|all rooms]|{v} all the other "
        "rooms]",
        v=who.say(verbs),
        b=who.say(_BUT),
        x=enumerated(who, names),
    )


def nowhere_else(who: Narrator) -> Said:
    """No room but those that were named."""
    if who.chance(0.15):
        act, name = who.family(others=True)
        one, many = (name,), (Name("kind", name.number, plural=True),)
        return node("never", listed([act.node])), who.say(
            "[of [all|] the {m} [,|] only {x} may be [entered|visited]|[do not|don't|never] [enter|go into|go to"
            "|visit] any"
            " [other|] {o} {b} {x}|[stay out of|avoid|keep out of] [all|] [the|] [other|] {m} {b} {x}|[do not|don't"
            "|never]"
            " [enter|go into|visit] any other {o}|the only {o} you may [enter|visit] is {x}|[enter|visit] no {o} {b} "
            "{x}]",
            o=one, m=many, b=who.say(_BUT), x=who.room(forms.PLACE, "in_room").thing,
        )  # fmt: skip
    spec = node("never", listed([node("in_room", node("other_rooms"))]))
    if who.chance(0.5):
        return spec, who.say(
            "[go nowhere else|[do not|don't|never] [enter|go into|visit|go to] any other room|[stay|keep] out of "
            "[all|] "
            "[the other rooms|every other room|all other rooms]|no other room [may|must] be [entered|visited]|enter no "
            "other room|avoid [all other rooms|the other rooms|any other room]|without [entering|visiting] any other "
            "room|all other rooms are [off limits|forbidden]|visit no other rooms]"
        )
    names = [who.room(forms.PLACE, "in_room") for _ in range(who.pick((1, 2, 2, 3)))]
    return spec, who.say(
        "[[do not|don't|never] [enter|go into|visit|go to] any [room|other room|place] {b} {x}|[stay|keep] out of [all "
        "rooms|every room] {b} {x}|[enter|visit] [no room|no rooms|nothing] {b} {x}|[only|you may only] [enter|be "
        "in] {x}|"
        "no room {b} {x} [may|must] be [entered|visited]|all rooms {b} {x} are [off limits|forbidden|out of bounds]"
        "|avoid "
        "[all rooms|every room] {b} {x}|the only [room|rooms] you may enter [is|are] {x}|you [may|can] [go|be] "
        "nowhere {b} "
        "[in|] {x}]",
        b=who.say(_BUT),
        x=enumerated(who, names),
    )
