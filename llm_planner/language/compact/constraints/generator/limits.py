"""What holds all the time, and measured limits: distance, speed, height, time."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.avoidance import choice, several
from llm_planner.language.compact.constraints.generator.itineraries import Said, enumerated
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, listed, node


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


def distance(who: Narrator) -> Said:
    length = who.mark("quantity")
    words: Phrase
    if who.people and who.chance(0.4):
        name = who.name("person", who.people)
        thing, words = name.node, (name,)
    else:
        thing, words = who.thing(0.25)
    return node("always", listed([node("farther", thing, length.node)])), who.say(
        "[[always|] [keep|stay|remain] [at least|a minimum of|no less than|more than|] {q} [away|clear|distance"
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
    length = who.mark("quantity")
    return node("always", listed([node("slower", length.node)])), who.say(
        "[[never|do not|don't|you must not] [move|go|drive|be|travel] [faster|quicker] than {q} [/ s|per second|a "
        "second|per second]|[stay|keep|move"
        "|drive|go] [below|under|slower than|at less than|at no more than|at most] {q} [/ s|per second|a second]"
        "|[keep|hold] [the|your] speed"
        " [below|under|at most|to less than] {q} [/ s|per second|a second]|no faster than {q} [/ s|per second|a "
        "second]|[your|the] [speed|maximum"
        " speed] [must|should|is to] [stay|be|remain] [below|under|less than] {q} [/ s|per second|a second]|[the"
        "|your] [speed limit|top speed] is"
        " {q} [/ s|per second|a second]]",
        q=(length,),
    )


def height(who: Narrator) -> Said:
    length = who.mark("quantity")
    thing, words = who.thing(0.2)
    return node("always", listed([node("lower", thing, length.node)])), who.say(
        "[[never|do not|don't] [lift|raise|carry|hold] {x} [higher|more|further up] than {q} [above the table|]|keep "
        "{x} [below|under|lower than] {q}"
        " [above the table|high|]|{x} must [stay|remain|be kept] [below|under|lower than] {q}|without [lifting"
        "|raising] {x} [above|higher than|over]"
        " {q}]",
        q=(length,),
        x=words,
    )


def timed(who: Narrator) -> Said:
    time = who.mark("seconds")
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
