"""Parts of a command that hang together: an errand, and a rule about what it moves or where it leads."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.avoidance import NOT
from llm_planner.language.compact.constraints.generator.carrying import carrying, slowly
from llm_planner.language.compact.constraints.generator.endings import never_again
from llm_planner.language.compact.constraints.generator.itineraries import Said, visit_one
from llm_planner.language.compact.constraints.generator.narrator import ANY_COLOR, ANY_KIND, Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Name, listed, node


def delivery(who: Narrator) -> list[Said]:
    """Something to bring, and what holds for it on the way, until then, or from then on."""
    act = who.brought()
    errand = visit_one(who, act)
    who.last = act.node.children[0], act.thing
    if act.node.step == "both":
        who.last = act.node.children[0].children[0], act.thing
    draw = who.rng.random()
    if draw < 0.3:
        return [errand, _until_there(who, act)]
    if draw < 0.5:
        return [errand, _from_then_on(who, act)]
    before, who.again = who.again, 0.85
    rule = slowly(who) if who.chance(0.3) else never_again(who) if who.chance(0.2) else carrying(who)
    who.again = before
    return [rule, errand] if who.chance(0.1) else [errand, rule]


def _until_there(who: Narrator, act: Act) -> Said:
    """Nothing else before it has arrived."""
    step, kinds = who.pick((("moved", forms.MOVED), ("holding", forms.HOLDING)))
    rest = who.say("[anything else|any other [thing|object]|the others|everything else|the rest|any of the others]")
    none = who.say("[nothing else|no other [thing|object]|nothing but {x}]", x=act.thing)
    late, no_one = Act(act.node, kinds, rest), Act(act.node, kinds, none)
    spec = node("not_before", listed([node(step, node("any", node("others", ANY_KIND, ANY_COLOR)))]), act.node)
    return spec, who.say(
        "[[until|before|till] {d} [,|] [{n} {v}|{w}|you {w}]|{n} {v} [until|before|till] {d}|{w} [until|before|till] "
        "{d}|leave"
        " {x} [alone|where it is] until {d}]",
        d=who.say(
            "[it is there|it's there|it has arrived|that is done|it is [in place|delivered]|{d}]",
            d=_it_is_done(who, act),
        ),
        n=who.say(NOT), v=late.say(who.rng, "do"), w=no_one.say(who.rng, "do"), x=rest,
    )  # fmt: skip


def _from_then_on(who: Narrator, act: Act) -> Said:
    """It is left alone once it has arrived."""
    kinds = who.pick((forms.HOLDING, forms.MOVED))
    thing = act.node.children[0] if act.node.step == "is_in" else act.node.children[0].children[0]
    late = Act(node("holding", thing), kinds, who.say("[it|it|{x}]", x=act.thing))
    return node("never_after", act.node, listed([late.node])), who.say(
        "[[after that|afterwards|then|from then on|once that is done|once it is there|when that is done] [,|] {n} "
        "{v} [again|"
        "any more|]|{n} {v} [again|any more] [after that|afterwards|from then on]|after that [leave it [alone|there"
        "|where it "
        "is]]|[once|after] {d} [,|] {n} {v} [again|]]",
        n=who.say(NOT), v=late.say(who.rng, "do"), d=_it_is_done(who, act),
    )  # fmt: skip


def _it_is_done(who: Narrator, act: Act) -> tuple[str | Name, ...]:
    return Act(act.node, act.forms, who.say("[it|it|that]"), act.extra).say(who.rng, "done")


def tour(who: Narrator) -> list[Said]:
    """A place to go to, and what follows from having been there."""
    place = who.room(forms.PLACE, "in_room")
    errand = visit_one(who, place)
    other = who.errand()
    if who.chance(0.5):
        return [errand, (node("never_after", place.node, listed([place.node])), who.say(
            "[[never|do not|don't] [go|come] back [there|] [afterwards|after that|]|once you have been there [,|] "
            "{n} return|"
            "[after that|afterwards|then] [never|do not|don't] go there again|you [may|must] not return [there|] "
            "after that]",
            n=who.say(NOT),
        ))]  # fmt: skip
    return [errand, (node("responds", place.node, other.node), who.say(
        "[whenever|every time|each time|any time|once|when] you [are|have been|go|were] there [,|] [you must|you "
        "have to|]"
        " {do} [afterwards|later|after that|]", do=other.say(who.rng, "do"),
    ))]  # fmt: skip
