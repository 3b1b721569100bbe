"""Several things in one breath: brought together, one or the other, this one first."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.itineraries import _MUST, Said
from llm_planner.language.compact.constraints.generator.narrator import ANY_COLOR, ANY_KIND, Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Name, Phrase, listed, node
from llm_planner.language.compact.grammar import Node

_BRING = "[bring|take|deliver|carry|move|get|put|transport]"


def brought_together(who: Narrator) -> Said:
    """Two things, or all of a kind, to one place."""
    if who.people and who.chance(0.2):
        name = who.name("person", who.people)
        (one, x), (two, y) = who.thing(), who.thing()
        states = [node("both", node("holding", thing), node("near", name.node)) for thing in dict.fromkeys((one, two))]
        return node("visit", listed(states)), who.say(
            "{m} [bring|take|give|hand|deliver] [{x} and {y} to {p}|{p} {x} and {y}|both {x} and {y} to {p}]",
            m=who.say(_MUST), x=x, y=y, p=(name,),
        )  # fmt: skip
    room = who.room(forms.PLACE, "in_room")
    things, words, both = _several(who)
    where = room.node.children[0]
    return node("visit", listed([node("is_in", thing, where) for thing in things])), who.say(
        f"[{{m}} {_BRING} {{x}} [to|to|into|in|over to] {{r}}|{{m}} {_BRING} {{x}} [to|to|into] {{r}}|{{x}} {both} "
        f"[be|end up] "
        f"in {{r}}|{{x}} {both} [go|be brought|be taken] to {{r}}|i [want|need] {{x}} in {{r}}|[make sure|see to it] "
        f"[that|] "
        "{x} [are|get|end up] in {r}]",
        m=who.say(_MUST), x=words, r=room.thing,
    )  # fmt: skip


def _several(who: Narrator) -> tuple[list[Node], Phrase, str]:
    if who.chance(0.35):
        thing, words = who.several("each")
        return [thing], words, "[must|have to|should|need to]"
    (one, x), (two, y) = who.thing(), who.thing()
    lead = who.say("[both|||]")
    return list(dict.fromkeys((one, two))), (*lead, *x, "and", *y), "[both|] [must|have to|should|need to]"


def either_of(who: Narrator) -> Said:
    """One errand or the other."""
    a, b = who.errand(), who.errand()
    if a.node == b.node:
        return node("visit", listed([a.node])), a.say(who.rng, "do")
    return node("visit", listed([node("either", a.node, b.node)])), who.say(
        "{m} [either {a} or {b}|{a} or {b}|either {a} , or {b}|{a} , or else {b}|{a} or , if you prefer , {b}]",
        m=who.say(_MUST), a=a.say(who.rng, "do"), b=b.say(who.rng, "do"),
    )  # fmt: skip


def elided_order(who: Narrator) -> Said:
    """ "see Anna before Ben", "pick up the mug before the parcel" """
    draws = [lambda: who.room(forms.PLACE, "in_room"), lambda: who.room(forms.LOOKED, "looked"), who.holding]
    draw = who.pick(draws)
    a, b = draw(), draw()
    if who.people > 1 and who.chance(0.3):
        one, two = who.name("person", who.people), who.name("person", who.people)
        a, b = (Act(node("near", name.node), forms.PERSON, (name,)) for name in (one, two))
    if a.node == b.node or "holding_any" in (a.node.step, b.node.step):
        return node("visit", listed([a.node])), a.say(who.rng, "do")
    return node("ordered", listed([a.node, b.node])), who.say(
        "{m} [{a} before {y}|{a} [first|] and [only then|then] {y}|{b} , but only after {x}|{b} [only|] after {x}"
        "|{a} first ,"
        " {y} second|{a} first and {y} [second|after that|later]]",
        m=who.say("[|||you must|please]"), a=a.say(who.rng, "do"), b=b.say(who.rng, "do"), x=a.thing, y=b.thing,
    )  # fmt: skip


def first_in(who: Narrator) -> Said:
    """Nothing goes somewhere before one thing is there."""
    item = Name("object", who.items[int(who.rng.integers(len(who.items)))].name)
    x = who.say("[the|the|that] {x}", x=(item,))
    if who.world == "rooms":
        place = who.room(forms.PLACE, "in_room")
        step, where, base, into = "is_in", place.node.children[0], place.thing, "[in|into|to]"
    else:
        where, base = who.base()
        step, into = who.pick((("is_in", "[in|into]"), ("is_in", "[in|into]"), ("is_on", "on")))
    kind: Node = ANY_KIND
    none, some = who.say("[nothing|nothing|nothing else|no other [thing|object]]"), who.say("[anything|anything else]")
    if who.chance(0.4):
        name = Name("kind", who.items[0].kind)
        kind, none, some = name.node, who.say("[no|no other] {o}", o=(name,)), who.say("[any|any other] {o}", o=(name,))
    rest = node("any", node("others", kind, ANY_COLOR))
    spec = node("not_before", listed([node(step, rest, where)]), node(step, item.node, where))
    return spec, who.say(
        f"[{{n}} [goes|may go|must go|should go] {into} {{y}} before {{x}}|{{n}} [may|must|should] be [put|placed"
        f"|brought] "
        f"{into} {{y}} [before|until] {{x}} is [in it|on it|there]|{{x}} [must|has to|should] be the first [one"
        f"|thing] {into} "
        f"{{y}}|[do not|don't|never] [put|place|bring] {{s}} {into} {{y}} [before|until] {{x}} is [in it|on it|there"
        f"|{into} "
        f"{{y}}]|{{x}} [must|has to|should] [go|be put] {into} {{y}} first|{{x}} goes {into} {{y}} before {{s}}]",
        n=none, s=some, x=x, y=base,
    )  # fmt: skip
