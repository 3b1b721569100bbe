"""What holds all the time, and measured limits: distance, speed, height, time."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator import motion
from llm_planner.language.compact.constraints.generator.avoidance import NOT, choice, several
from llm_planner.language.compact.constraints.generator.itineraries import Said, enumerated
from llm_planner.language.compact.constraints.generator.narrator import ANYONE, Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Name, Phrase, listed, node
from llm_planner.language.compact.grammar import Node


def always(who: Narrator) -> Said:
    if who.world == "bare":
        acts = several(who, who.spot, choice(who, (0.7, 0.2, 0.1)))
        return node("always", listed([act.node for act in acts])), who.say(
            "[{x} [always|must always|should always] [holds|hold|is true|be true|stay true|is so]|always {x}|[always"
            "|at all times] [keep|"
            "maintain|have] {x} [true|]|{x} [at all times|all the time|for ever|in every step]|globally {x}|it is "
            "always the case that {x}"
            " [holds|is true|]|{x} must [hold|be true] [at all times|all the time|always|forever]|[make sure|ensure] "
            "[that|] {x} [always|]"
            " [holds|is true] [all the time|]|never [leave|stop|let go of] {x}|[stay|remain] [in|at] {x} [forever"
            "|all the time|the whole time"
            "|at all times|always]|{x} never [stops|ends|becomes false]]",
            x=enumerated(who, acts),
        )
    if who.world == "rooms" and who.chance(0.5):
        place = who.room(forms.PLACE, "in_room")
        return node("always", listed([place.node])), who.say(
            "[never leave {x}|[stay|remain] [in|inside] {x} [all the time|the whole time|at all times|always|]|do "
            "not leave {x}|always [stay"
            "|be] in {x}|you must not leave {x}]",
            x=place.thing,
        )
    act = who.placed() if who.world == "table" else who.brought()
    return node("always", listed([act.node])), who.say(
        "[{s} [at all times|all the time|always|]|{n} [at all times|all the time]|[make sure|ensure] [that|] {n} [at "
        "all times|all the time"
        "|the whole time|always]|always {s}]",
        s=act.say(who.rng, "staying"),
        n=act.say(who.rng, "now"),
    )


def _somebody(who: Narrator) -> tuple[Node, Phrase]:
    name = who.name("person", who.people)
    return name.node, (name,)


def distance(who: Narrator) -> Said:
    length = who.mark("quantity")
    words: Phrase
    if who.people and who.chance(0.45):
        if who.chance(0.2):
            thing, words = node("anyone"), who.say(ANYONE)
        else:
            name = who.name("person", who.people)
            thing, words = name.node, (name,)
    else:
        thing, words = who.thing(0.25)
    things = [thing]
    if who.chance(0.12):
        other, more = who.thing() if not who.people or who.chance(0.4) else _somebody(who)
        if other != thing and thing.step != "any":
            things, words = [thing, other], (*words, *who.say("[and|and|and|or|, and]"), *more)
    return node("always", listed([node("farther", one, length.node) for one in things])), who.say(
        "[[{x} is [busy|sick|contagious|shy|dangerous|fragile|nervous] [, so|so|, please|:] [keep|stay] [at least|] "
        "{q} [away|] from "
        "[him|her|it|them]|{q} [away|distance|clearance|] from {x}|at least {q} from {x}|stay [further|farther|more] "
        "than {q} [away"
        "|] from "
        "{x}|[keep|stay] more than {q} [away|] from {x}|[hold|keep] a distance of [over|more than|at least|no less "
        "than] {q}"
        " [from|to] {x}|[maintain|keep] a clearance of [no less than|at least|] {q} [to|from] {x}|be [no closer"
        "|never closer]"
        " than {q} to {x}|never within {q} of {x}|[keep|stay] {q} off {x}|{x} needs [at least|] {q} of [space|room|"
        "clearance]]|[always|] [keep|stay|remain] [at least|a minimum of|no less than|more than|] {q} [away|clear"
        "|distance"
        "|apart|off] [from|of] {x} [at"
        " all times|]|keep [a|the] [distance|gap|clearance|margin|safety distance] of [at least|] {q} [to|from"
        "|around] {x}|never [come|get|go|be"
        "|move] [closer|nearer] [to {x} than {q}|than {q} to {x}]|do not [come|get|go|move] [within|closer than] {q} "
        "[of|to] {x}|[while|]"
        " [keeping|staying] [at least|] {q} [away|clear|] from {x}|leave [at least|] {q} [between you and|around|of "
        "space around] {x}|{x} must"
        " be [at least|] {q} away [from you|] [at all times|]|stay {q} [away|] from {x}|[don't|never] [approach|go "
        "near] {x} [closer than|within]"
        " {q}|without [coming|getting|going] [closer than|within] {q} [to|of] {x}|maintain [at least|] {q} [from|to] "
        "{x}]",
        q=(length,),
        x=words,
    )


def speed(who: Narrator) -> Said:
    meant, words = motion.slower(who)
    return node("always", listed([meant])), who.say(
        "[{s}|{s}|{s}|{s} [at all times|all the time|always|throughout]]", s=words
    )


def height(who: Narrator) -> Said:
    length = who.mark("quantity")
    thing, words = who.thing(0.2)
    return node("always", listed([node("lower", thing, length.node)])), who.say(
        "[[do not|don't|never] [go|move|rise|fly] higher than {q} with {x}|{x} [must|may|should] not be [lifted"
        "|raised|carried] [above|higher than|over|more than] {q}|[do not|don't"
        "|never] [lift"
        "|raise] {x} [above|over] {q}|[never|do not|don't] [lift|raise|carry|hold] {x} [higher|more|further up] than "
        "{q} [above the table|]|keep "
        "{x} [below|under|lower than] {q}"
        " [above the table|high|]|{x} must [stay|remain|be kept] [below|under|lower than] {q}|without [lifting"
        "|raising] {x} [above|higher than|over]"
        " {q}]",
        q=(length,),
        x=words,
    )


def timed(who: Narrator) -> Said:
    time = who.mark("seconds")
    if who.world != "bare" and who.chance(0.3):
        return _for_now(who, time)
    act = who.spot() if who.world == "bare" else who.errand() if who.world == "rooms" else who.placed()
    r = who.rng
    if act.forms is forms.PLACE and who.chance(0.4):
        return node("lasting", time.node, act.node), who.say(
            "[{s} for [at least|] {t}|[go to {x} and|] {s} for {t}|spend [at least|] {t} [in|at] {x}|{do} and [stay"
            "|remain|wait] [there|] [for|at"
            " least] {t}|wait [for|] {t} [in|at] {x}]",
            s=act.say(r, "staying"),
            t=(time,),
            x=act.thing,
            do=act.say(r, "do"),
        )
    return node("within", time.node, act.node), who.say(
        "[{do} [within|in less than|in under|in at most|in no more than|in] [the next|] {t}|[within|in less than|in] "
        "[the next|] {t} [,|] {do}|{d} within"
        " [the next|] {t}|you [have|must|should] [to|] {do} [within|in less than|in] {t}|{do} [before {t} are over"
        "|before {t} have passed|no later than"
        " {t} from now]|take no [longer|more] than {t} to {do}|you have {t} to {do}]",
        do=act.say(r, "do"),
        d=act.say(r, "done"),
        t=(time,),
    )


def _for_now(who: Narrator, time: Name) -> Said:
    """What does not hold yet, or holds only for a while."""
    if who.world == "rooms" and who.chance(0.35):
        place = who.room(forms.PLACE, "in_room")
        return node("from_now", time.node, place.node), who.say(
            "[[stay|remain|wait|be] in {x} [for|during] the [first|next] {t}|[for|during] the [first|next] {t} [,|] "
            "[stay|remain"
            "|wait] in {x}|do not leave {x} [for|during|in] the [first|next] {t}|do not leave {x} before {t} have "
            "passed]",
            x=place.thing,
            t=(time,),
        )
    act = who.deed()
    while act.node.step == "holding_any" or (act.node.children and act.node.children[0].step == "any"):
        act = who.deed()
    return node("from_now", time.node, node("isnt", act.node)), who.say(
        "[for [the next|the first|] {t} [,|] {n} {do}|[for|during] the next {t} [,|] {x} is [off limits|forbidden]"
        "|for the next {t} "
        "[nobody|no one] [enters|goes into|visits] {x}|{n} {do} [for|during|in] the [next|first] {t}|{n} {do} before "
        "{t} [have "
        "passed|are over]|wait {t} before {g}|no {g} [for|during|in] the [next|first] {t}|[during|in] the [next"
        "|first] {t} {n} "
        "{do}]",
        t=(time,),
        n=who.say(NOT),
        do=act.say(who.rng, "do"),
        g=act.say(who.rng, "doing"),
        x=act.noun,
    )
