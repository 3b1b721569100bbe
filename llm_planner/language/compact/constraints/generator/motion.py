"""Limits of the motion, and when they hold: "under 0.1 m/s until the mug is in the bowl", "wait 20 s, then go"."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.itineraries import Said, visit_one
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Name, Phrase, joined, listed, node
from llm_planner.language.compact.grammar import Node

Told = tuple[Node | None, Phrase]

_SLOW = (
    "[slowly|slow|gently|gentle|carefully|easy|nice and [slow|easy]|slow and steady|steady|easy does it|go easy|no rush"
    "|no hurry|no racing|take it [easy|slow]|take your time|be careful|be gentle|creep|crawl|slow mode]"
)
_MOVE = "[move|go|drive|travel|creep|crawl|roll|run|proceed|work|operate|move around|get going]"
_NOT = (
    "[never|do not|don't|you must not|you may not|you should not|please don't|you cannot|must never|the robot may not]"
)
_MOST = "[under|below|at most|at no more than|no faster than|slower than|at less than|not above|within|at up to|at]"
SLOWER = (  # {v} is the speed
    f"[{_MOVE} {_MOST} {{v}}|{_NOT} [{_MOVE}|be] [faster|quicker|more] than {{v}}|{_NOT} [exceed|go [over|above|beyond]"
    "|surpass|go past|top|get above|move above|move at more than] {v}|[keep|stay|remain|be] [under|below|slower than|at"
    " most at|at or below|at less than|within|beneath|no faster than] {v}|[keep|hold|limit|cap|restrict] [it|the speed"
    "|your speed|your pace|the pace|the velocity|things|speed] [under|below|to [less than|at most|no more than|]|at"
    " [most|]|beneath] {v}|[no|not] [faster|quicker|speedier] than {v}|[nothing|not|never|no speed] [above|over|beyond"
    "|more than] {v}|[at most|max|maximum|max .|no more than|up to|not more than|under|below] {v}|{v}"
    " [max|maximum|at most|tops|at the most|or less|or slower|and no more|is the limit|is the maximum|is fast enough"
    f"|limit]|[the|your|its] [speed|velocity|pace|top speed|arm speed] [must|has to|should|shall|is to"
    f"|may] [stay|remain"
    "|be|be kept] [under|below|at most|less than|within|beneath] {v}|[the|your|its] [speed|velocity] [must|may|should"
    "|shall] [not|never] [exceed|be [above|over|more than]|rise above|go [above|over]] {v}|[the|your|] [speed limit|"
    f"maximum speed|top speed|max speed] [is|:|of|] {{v}}|slow down to [under|below|less than|at most|] {{v}}|{_SLOW}"
    f" [,|:|-|and|, so] [{_MOST}|no faster than|below|under|at most|not above|nothing above|max|stay under|keep below"
    f"|] {{v}}|{_SLOW} , {{v}} [max|at most|tops|or less]|do it [under|below|at less than|at most at|slower than] {{v}}"
    f"|{_MOVE} [slowly|gently|carefully|calmly] , [at most|under|below|max|no faster than] {{v}}]"
)
_FARTHER = (  # {q} from {x}
    "[[keep|stay|remain|be|hold] [at least|a minimum of|no less than|more than|over|] {q} [away|clear"
    "|distance|apart|off|]"
    " from {x}|[keep|maintain|hold|leave] [a|the] [distance|gap|clearance|margin|space] of [at least|] {q} [to|from|"
    f"around] {{x}}|{_NOT} [come|get|go|be|move] [closer|nearer] [to {{x}} than {{q}}"
    f"|than {{q}} to {{x}}]|{_NOT} [come|get"
    "|go|move|be] [within|closer than] {q} [of|to] {x}|[leave|keep] [at least|] {q} between you and {x}"
    "|[keep|hold] {x} "
    "[at least|] {q} away [from you|]|[stay|keep] {q} [clear|off] [of|] {x}|no closer than {q} to {x}|{x} [needs|gets] "
    "[at least|] {q} of [space|room|clearance]]"
)
_UNTIL = (  # {l} is the limit, {d} that the event has come, {u} that it has not, {g} its gerund, {e} its imperative
    "[{l} [,|] [until|until|until|until|till|up until|up to the moment [when|]|right up until"
    "|at least until|til] {d}|[until"
    "|until|till|up until|before] {d} [,|:|] {l}|{l} [before|before] {d}|{l} before {g}"
    "|{l} before you {e}|before you {e}"
    " [,|] {l}|before {g} [,|] {l}|{l} [as long as|while|when] {u}|[as long as|while] {u} [,|] {l}"
    "|{l} until you {e}|until"
    " {d} [it is|it's|the rule is] : {l}|{l} until {d} [, then you may speed up"
    "|, after that as you like|, then [do as you"
    " like|never mind]|]|{l} [for|] as long as it takes to {e}|{l} until after {d}]"
)


def slower(who: Narrator) -> tuple[Node, Phrase]:
    """A limit of the speed."""
    speed = who.mark("speed")
    return node("slower", speed.node), who.say(SLOWER, v=(speed,))


def until(who: Narrator) -> Said:
    """What holds up to an event."""
    meant, limit = _limit(who)
    event = _event(who)
    return node("stay_until", meant, event.node), _said_until(who, limit, event)


def after(who: Narrator) -> Said:
    """What holds from an event on."""
    meant, limit = _limit(who)
    event = _event(who)
    return node("never_after", event.node, listed([node("isnt", meant)])), who.say(
        "[[after|once|as soon as|from the moment|after|once] {d} [,|] {l} [from then on|]|{l} [after|once"
        "|as soon as|from"
        " the moment|from when] {d}|after {g} [,|] {l}|{l} after {g}|when {d} , from then on {l}"
        "|{l} from the time {d}]",
        l=limit, d=event.say(who.rng, "done"), g=event.say(who.rng, "doing"),
    )  # fmt: skip


def at_first(who: Narrator) -> Said:
    """What holds for so many seconds."""
    meant, limit = _limit(who)
    time = who.mark("seconds")
    return node("from_now", time.node, meant), who.say(
        "[[for|during|in|within] the [first|next|coming|] {t} [,|:|] {l}|{l} [for|during|in] the [first"
        "|next|coming] {t}"
        "|{l} for {t} [from now|]|{l} until {t} [have passed|are over|are up]|for {t} [,|] {l}]",
        l=limit, t=(time,),
    )  # fmt: skip


def as_long_as(who: Narrator) -> Said:
    """What holds while something else does."""
    meant, limit = _limit(who)
    state = who.condition() if who.chance(0.6) else who.nearby() if who.chance(0.6) else who.holding()
    return node("whenever", state.node, meant), who.say(
        "[[while|when|whenever|as long as|any time|if|for as long as] {n} [,|:|] {l}|{l} [while|when"
        "|whenever|as long as"
        "|any time|if] {n}]",
        l=limit, n=state.say(who.rng, "now"),
    )  # fmt: skip


def errand_until(who: Narrator) -> list[Told]:
    """An errand, or a task at the table, and a limit that holds until it is done."""
    act = who.placed() if who.world == "table" else who.errand()
    errand: Told = (None, act.say(who.rng, "do")) if who.world == "table" else visit_one(who, act)
    meant, limit = _limit(who)
    spec = node("stay_until", meant, act.node)
    there = who.say(
        "[until|till|before|up until] [you are there|you're there|you get there|you have arrived|you arrive|you have"
        " reached it|that is done|you are done|that's done|it is done|then|you have done [so|that|it]]"
        if act.forms in (forms.PLACE, forms.PERSON)
        else "[until|till|before|up until] [that is done|that's done|you are done|it is done|you have done [so|that|it]"
        "|this is done|that has happened|you have it there|it is [there|in place|in there|on there"
        "|where it belongs]|then]"
        if act.forms in (forms.BROUGHT, forms.INSIDE, forms.UPON)
        else "[until|till|before|up until] [that is done|that's done|you are done|it is done|you have done [so|that|it]"
        "|this is done]",
    )
    words = who.say("[{l} {t}|{t} [,|] {l}]", l=limit, t=there)
    return [errand, (spec, words if who.chance(0.75) else _said_until(who, limit, act))]


def wait_first(who: Narrator) -> list[Said]:
    """So many seconds in which an errand is not yet done, then the errand."""
    time, act = who.mark("seconds"), who.errand()
    return [
        (node("from_now", time.node, node("isnt", act.node)), _wait_words(who, time)),
        (node("visit", listed([act.node])), who.say("[|||only then|afterwards] {do}", do=act.say(who.rng, "do"))),
    ]


def wait(who: Narrator) -> Said:
    """Nothing is taken up for so many seconds: what comes then is a task at the table."""
    time = who.mark("seconds")
    return node("from_now", time.node, node("isnt", node("holding_any"))), _wait_words(who, time)


def wait_there(who: Narrator) -> list[Said]:
    """A place to go to, and to stay at for so long: the other order of the same words."""
    place, time = who.place(), who.mark("seconds")
    return [
        visit_one(who, place),
        (
            node("lasting", time.node, place.node),
            who.say("[then|] [wait|stay|remain|stand still|pause|hold still] [there|] [for|] {t} [there|]", t=(time,)),
        ),
    ]


def _wait_words(who: Narrator, time: Name) -> Phrase:
    """To do nothing for so long."""
    return who.say(
        "[[first|] wait [for|] [about|] {t}|[first|] wait [for|] {t}|[first|] hold on [for|] {t}|pause [for"
        "|] {t}|[first|]"
        " hold still for {t}|stand still for {t}|do nothing for [the first|the next|] {t}|give it {t}"
        "|let {t} pass|stay put"
        " for {t}|rest [for|] {t}|count {t}|stand by for {t}|hang on [for|] {t}|idle for {t}|wait {t} first]",
        t=(time,),
    )  # fmt: skip


def set_down(who: Narrator) -> Said:
    """No longer to hold something."""
    thing, words = who.thing()
    return node("visit", listed([node("isnt", node("holding", thing))])), who.say(
        "[[put|set|lay|place] {x} down [now|here|somewhere|on the floor|wherever you are|gently|]|[put|set"
        "|lay] down {x}"
        " [now|here|somewhere|gently|]|[let go of|release|drop] {x} [now|here|]|stop [holding|carrying]"
        " {x}|[free|empty] your [hand|gripper] of {x}|hold {x} no longer]",
        x=words,
    )  # fmt: skip


def _said_until(who: Narrator, limit: Phrase, event: Act) -> Phrase:
    r = who.rng
    return who.say(
        _UNTIL,
        l=limit,
        d=event.say(r, "done"),
        u=event.say(r, "unseen"),
        g=event.say(r, "doing"),
        e=event.say(r, "do"),
    )


def _limit(who: Narrator) -> tuple[Node, Phrase]:
    """Of the speed mostly, or of a distance, or now and then of both."""
    if who.chance(0.62):
        return slower(who)
    meant, words = _farther(who)
    if who.chance(0.15):
        other, more = slower(who)
        return joined("both", [meant, other]), (*words, *who.say("[and|, and|,]"), *more)
    return meant, words


def _farther(who: Narrator) -> tuple[Node, Phrase]:
    length = who.mark("quantity")
    if who.people and who.chance(0.45):
        name = who.name("person", who.people)
        thing, words = name.node, who.say("{x}", x=(name,))
    else:
        thing, words = who.thing()
    return node("farther", thing, length.node), who.say(_FARTHER, q=(length,), x=words)


def _event(who: Narrator) -> Act:
    """What may come about; at the table, several things now and then."""
    if who.world != "table" or not who.chance(0.15):
        return who.condition()
    thing, words = who.several("each")
    base, where = who.base()
    step, kinds = who.pick((("is_in", forms.INSIDE), ("is_on", forms.UPON)))
    return Act(node(step, thing, base), kinds, words, where)
