"""How often: at least, at most or exactly so many times."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.itineraries import _MUST, Said
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, node
from llm_planner.language.compact.grammar import Node


def counted(who: Narrator) -> Said:
    """At least, at most, or exactly so many times."""
    if who.world == "table":
        act, kind = who.holding(), "at_most"
    else:
        act = who.spot() if who.world == "bare" or who.chance(0.75) else who.deed()
        kind = who.pick(("at_least", "at_most", "exactly"))
    if kind == "at_most" and who.world != "bare" and who.chance(0.2):
        return _once(who, act)
    do, doing, x = act.say(who.rng, "do"), act.say(who.rng, "doing"), act.thing
    say = {"at_least": _at_least, "at_most": _at_most, "exactly": _exactly}[kind]
    low = 2 if kind == "at_least" else 1
    count, times, value = count_words(who, low)
    shift, template = say(who)
    if shift == "below" and value == 1:
        shift, template = "", "never {do} more than {t}" if kind == "at_most" else template
        return node("at_most", count, act.node), who.say("{do} at most {t}", do=do, t=times)
    if shift:
        count = node(shift, count)
    return node(kind, count, act.node), who.say(
        template, do=do, doing=doing, x=x, t=times, m=who.say(_MUST), be=who.say(act.forms["be"], y=act.extra)
    )


def _once(who: Narrator, act: Act) -> Said:
    """At most once."""
    return node("at_most", node("n1"), act.node), who.say(
        "[do not {do} a second time|don't {do} a second time|never {do} twice|you [may|can] {do} once , [only once"
        "|not more"
        "|and only once|but not twice]|you [get|have] [one|only one|a single] [try|go|attempt] with {x} [: don't "
        "pick it up "
        "more than once|]|[do not|don't|never] {do} more than [once|one time|a single time]|{x} [must|may] not be "
        "{be} [twice"
        "|more than once|a second time]|{do} [only once|once at most|no more than once|once , no more]|you may {do} "
        "[only|just]"
        " once]",
        do=act.say(who.rng, "do"),
        x=act.thing,
        be=who.say(act.forms["be"], y=act.extra),
    )


def count_words(who: Narrator, low: int = 1) -> tuple[Node, Phrase, int]:
    """A count, the words for so many times, and its value (2 stands for what is above)."""
    draw = who.rng.random()
    if draw < 0.25 and low <= 1:
        return node("n1"), who.say("[once|once|once|one time|one time|a single time|one single time]"), 1
    if draw < 0.5:
        return node("n2"), who.say("[twice|twice|twice|two times]"), 2
    if draw < 0.53:
        return node("n3"), ("thrice",), 2
    mark = who.mark("number")
    return mark.node, who.say("{n} [times|times|times|times|different times|separate times|times]", n=(mark,)), 2


def _at_least(who: Narrator) -> tuple[str, str]:
    if who.chance(0.12):
        return "above", who.pick(("{do} more [often|] than {t}", "{m} {do} more than {t}", "{do} over {t}"))
    return "", (
        "[{m} {do} [at least|no less than|not less than|a minimum of|no fewer than|at the very least|minimum] {t} "
        "[or more|]|[{do}"
        " {t} or more|{do} {t} at [least|minimum]]|you [cannot|can not|must not|should not|may not] {do} [less"
        "|fewer] than {t}"
        "|never {do} [less|fewer] than {t}|[{doing}] [less|fewer] than {t} is not [allowed|enough|permitted]|{x} "
        "[must|should|has"
        " to|needs to] be {be} [at least|no less than] {t}|[make sure|ensure] [that|] {x} is [visited"
        "|reached] at"
        " least {t}|at least {t} [you must|you have to|] {do}|you [need|have] to {do} {t} or more]"
    )


def _at_most(who: Narrator) -> tuple[str, str]:
    if who.chance(0.15):
        return "below", (
            "[{m} {do} [less|fewer] than {t}|you [can|may] {do} [less|fewer] than {t}|{x} must be {be} [less"
            "|fewer] than {t}"
            "|never {do} {t} or more]"
        )
    return "", (
        "[{m} {do} [at most|no more than|not more than|a maximum of|maximum|up to|at the very most] {t}|{do} {t} at "
        "[most|the"
        " most|maximum]|[never|do not [ever|]|don't|you [cannot|can not|must not|should not|may not|can never] [ever"
        "|]] {do}"
        " more [often|] than {t}|you [can|may|are allowed to] [only|] {do} [at most|no more than|up to|but no more "
        "than|only]"
        " {t}|[{doing}] more than {t} is [not allowed|prohibited|forbidden|not permitted]|{x} [must|should|can|may] "
        "[be {be}"
        "|be {be}] [at most|no more than] {t}|{x} [must|should|may|can] not be {be} more than {t}|do "
        "not {do}"
        " again [after|once] you have [been there|done so|done that|visited it|been to it] {t}|avoid {doing} more "
        "than {t}"
        "|after {t} do not {do} again|you [can|may] {do} but [only|] {t} at most]"
    )


def _exactly(who: Narrator) -> tuple[str, str]:
    return "", (
        "[{m} {do} [exactly|precisely|just|only|exactly|strictly] {t} [, no more and no less|no more no less|not "
        "more and not"
        " less|]|{do} {t} [exactly|and no more|only|, no more no less|and only {t}|, not more , not less]|[exactly"
        "|precisely]"
        " {t} {do}|{x} [must|should|has to|needs to] be {be} [exactly|precisely|just] {t}|[make sure"
        "|ensure]"
        " [that|] {x} is [visited|reached] [exactly|precisely] {t}|[{doing}] [exactly|precisely] {t} is [required"
        "|needed]|the"
        " number of [visits to|times you visit] {x} must be [exactly|] {t}|{do} {t} , neither more nor less]"
    )
