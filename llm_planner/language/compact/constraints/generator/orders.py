"""Strict orders: none before the one before it; and each only once until the next."""

from __future__ import annotations

from itertools import pairwise

from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.itineraries import (
    _MUST,
    _SOME_SIZES,
    Said,
    _verb,
    enumerated,
    places,
)
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, Piece, listed, node

_AVOID = (
    "[without {vg}|while avoiding|while staying away from|but avoid|while not {vg}|but keep avoiding|but do not {v}|but"
    " not through|and avoid|but stay away from|but don't {v}|avoiding|while keeping away from|without passing through"
    "|and do not {v}|but never {v}]"
)
_STRICT_ORDER = (
    "[in that order|in exactly this order|in that exact order|in this exact order|in that specific order|in this"
    " specific order|in strict order|in this strict order|in that strict order|strictly in this order|strictly in "
    "that order"
    "|in the given order|in this order , without skipping any [of them|one of them]|in this order without skipping "
    "any|in"
    " order|in the order given|in that exact sequence|in the right order|in this fixed order|in exactly that sequence]"
)

_NO_SKIPPING = (
    "[make sure not to visit [any of them|places|locations] out of [turn|order|sequence]|do not skip [ahead|any"
    "]|no jumping ahead|out of [order|sequence] visits are not [allowed|permitted]|without visiting later ones first"
    "|do not"
    " visit [a later one|later ones|the next|the latter|any later place] before [an earlier one|the earlier ones|the "
    "one before"
    "|the former]|but [avoid|keep avoiding] [the later ones|later places|those that come later] [when|while] "
    "[heading to"
    "|you go to] [the earlier ones|earlier places]|none may be visited before the one before it|never visit the "
    "successor"
    " before the predecessor|ensure not to [visit|go to] [any|] [location|place]s out of turn]"
)
_ONCE = (
    "[visit each [of them|place|location|landmark|one|] only once|each only once|you can only visit each"
    " [place|location|landmark|of them] once|no revisiting [is allowed|]|without revisiting any [of them|of those"
    "|place|one]"
    "|do not [revisit|go back to|return to] [any of them|any|a place that you have [been to|visited]|previous"
    " [places|locations]|any [place|location]|previously visited [places|locations]|any of the [places|locations]]"
    "|never"
    " [return|go back] to a [place|location|previous location] you have [been to|visited|left]|repeated visits are not"
    " [allowed|permitted]|once you leave [a place|any location|one] you [cannot|must not|may not] [return|go back] "
    "[to it|]"
    "|visit all [locations|places|of them] [exactly|only|] once|[while|] [only|] visiting each [location|place|of "
    "them] only"
    " once|without returning to [any|previous|earlier] [place|places|locations]|each [place|location|one] [exactly"
    "|only] one"
    " time|without going back to [any|a previous] [place|location]|each must be visited exactly once|no place may be "
    "visited"
    " twice|along the path never return to a previous [place|location]]"
)


def ordered(who: Narrator) -> Said:
    acts = places(who, _SOME_SIZES)
    if len(acts) == 1:
        return node("visit", listed([acts[0].node])), who.say(f"{_MUST} {{do}}", do=acts[0].say(who.rng, "do"))
    return node("ordered", listed([act.node for act in acts])), _in_order(who, acts)


def in_that_order(who: Narrator) -> Said:
    """Places in the order in which they are named, as one asks for it in a building."""
    acts = places(who, _SOME_SIZES)
    if len(acts) == 1:
        return node("visit", listed([acts[0].node])), who.say(f"{_MUST} {{do}}", do=acts[0].say(who.rng, "do"))
    return node("ordered", listed([act.node for act in acts])), who.say(
        f"[{_MUST} {{v}} {{l}} {_STRICT_ORDER}|{_MUST} {{v}} {{l}} {_STRICT_ORDER}|{_STRICT_ORDER} [,|] {{v}} {{l}}"
        f"|{{l}} [,|]"
        f" {_STRICT_ORDER}|the order is {{l}}|[only|] {_STRICT_ORDER} : {{l}}]",
        v=_verb(who, acts[0]),
        l=enumerated(who, acts),
    )


def _in_order(who: Narrator, acts: list[Act]) -> Phrase:
    verb, some, draw = _verb(who, acts[0]), enumerated(who, acts), who.rng.random()
    if draw < 0.2:
        return who.say(
            f"[{_MUST} {{v}} {{l}} {_STRICT_ORDER}|{_MUST} {{v}} {{l}} {_STRICT_ORDER} [, |and|] {_NO_SKIPPING}"
            f"|{_MUST} {{v}}"
            f" {{l}} [in this order|in order|one by one] [, |and|but|] {_NO_SKIPPING}|{_STRICT_ORDER} [,|] {{v}} "
            f"{{l}}|{{v}} {{l}}"
            f" {_STRICT_ORDER} [,|] once [the predecessor|one] is visited you must visit the [successor|next]|do not "
            f"visit [the"
            " successor|a successor] without visiting the predecessor in the following [strict|] order [:|] {l}|the "
            "[strict|only"
            "|required] order is {l}]",
            v=verb,
            l=some,
        )
    if draw < 0.36:
        return _avoiding(who, acts, "")
    if draw < 0.5:
        return _backwards(who, acts)
    if draw < 0.62:
        return _forwards(who, acts)
    if draw < 0.74:
        return _negated(who, acts)
    if draw < 0.84:
        return _first_things_first(who, acts)
    return _pairs(who, acts)


def _avoiding(who: Narrator, acts: list[Act], once: str) -> Phrase:
    """ "go to a avoiding b and c, then to b avoiding c, finally to c"; `once` is said with each but the last."""
    words: list[object] = []
    full = who.chance(0.4)  # names all that come later, or only the next
    avoid = who.pick(("", "", _AVOID))
    for index, act in enumerate(acts):
        if index:
            words += who.say("[then|and then|, then|, and then|and only then|after that|and|,|once you are there ,]")
            words += who.say("[finally|lastly|eventually|]") if index == len(acts) - 1 else ()
        elif who.chance(0.2):
            words.append("first")
        words += act.say(who.rng, "do")
        words += who.say(once) if once and index < len(acts) - 1 else ()
        rest = acts[index + 1 :] if full else acts[index + 1 : index + 2]
        if rest:
            template = avoid or _AVOID
            words += who.say(
                template, v=_verb(who, act), vg=who.say("[visiting|going to|passing|passing through|entering]")
            )
            words += enumerated(who, rest, who.pick(("and", "or", "or")))
    return tuple(words)  # type: ignore[arg-type]


def _backwards(who: Narrator, acts: list[Act]) -> Phrase:
    """ "visit c but only after b, and b only after a" """
    words = list(
        who.say(
            "[{m} {do}|{m} {do} [,|] but only after {before}|{m} {do} only after {before}]",
            m=who.say(_MUST),
            do=acts[-1].say(who.rng, "do"),
            before=who.say(
                "[{g}|you have been to {x}|{d}|{g}]",
                g=acts[-2].say(who.rng, "doing"),
                x=acts[-2].thing,
                d=acts[-2].say(who.rng, "done"),
            ),
        )
    )
    started = "after" in words
    pairs = list(pairwise(acts))[::-1]
    for before, after in pairs[1:] if started else pairs:
        slots = {"do": after.say(who.rng, "do"), "dn": before.say(who.rng, "done"), "g": before.say(who.rng, "doing")}
        words += who.say(
            "[and|,|but|in turn|before that|, and|and in turn|] [[only|] {do} [but|] only after [{g}|{dn}]|do not "
            "{do} [until"
            "|before|unless] {dn}|only {do} [after|once|when|if] {dn}|{do} only [if|after|once] {dn}|don't {do} "
            "before {g}|never"
            " {do} before {dn}|you cannot {do} [before|until] {dn}|do not {do} without {g} [first|before|]]",
            **slots,
        )
    return tuple(words)


def _forwards(who: Narrator, acts: list[Act]) -> Phrase:
    """ "go to a and only then to b" """
    words = list(who.say("[{m}|first|] {do} [first|]", m=who.say(_MUST), do=acts[0].say(who.rng, "do")))
    one = who.say(
        "[and only then|only then|only after that|and only after that|, and only then|and then only|but only then"
        "|and after that only|, only then|and no earlier]"
    )
    for index, act in enumerate(acts[1:], start=1):
        if who.chance(0.3):
            seen = acts[:index] if who.chance(0.5) else acts[index - 1 : index]
            words += who.say(
                "[and|,] [then|] {do} [but|] only [after|once|if] [[you have visited|you have been to|visiting|you "
                "visited] [both"
                "|all of|] {l}|{l} [is|are] [both|all|] visited]",
                do=act.say(who.rng, "do"),
                l=enumerated(who, seen),
            )
        else:
            words += (*one, *act.say(who.rng, "do"))
    return tuple(words)


def _negated(who: Narrator, acts: list[Act]) -> Phrase:
    """ "go to b but do not go to b until you go to a", "visit a then b, but not b before a" """
    pairs = list(pairwise(acts))
    back = who.chance(0.5)
    chain: list[Piece] = []
    for before, after in pairs[::-1] if back else pairs:
        chain += who.say("[and|,|, and|]") if chain else ()
        chain += who.say(
            "[do not|don't|never|you must not|you cannot|you may not] {do} [until|before|unless|if not] {dn}"
            if who.chance(0.75)
            else "[do not|don't|never] {do} [before {g}|without {g} first|without having visited {x}]",
            do=after.say(who.rng, "do"),
            dn=before.say(who.rng, "done"),
            g=before.say(who.rng, "doing"),
            x=before.thing,
        )
    ending = acts[-1].say(who.rng, "do")
    verb, some = _verb(who, acts[0]), enumerated(who, acts)
    return who.say(
        "[{m} {do} [but|and|,|, but] {c}|{m} {v} {l} [but|and|, but|,] {c}|{c} [and|,|and then|] [finally|] {do}|{c}"
        "|{v} {l}"
        " while ensuring [that|] you {c}]"
        if len(acts) > 2
        else "[{m} {do} [but|and|, but] {c}|{m} {v} {l} [but|and|, but|,] {c}|{c} [and then|, then|but] [finally|] "
        "{do}]",
        m=who.say(_MUST),
        do=ending,
        c=tuple(chain),
        v=verb,
        l=some,
    )


def _first_things_first(who: Narrator, acts: list[Act]) -> Phrase:
    """ "visit a before b and c, then b before c" """
    words: list[object] = []
    full = who.chance(0.5)
    for index, act in enumerate(acts[:-1]):
        rest = acts[index + 1 :] if full else acts[index + 1 : index + 2]
        words += who.say("[then|and|, then|,|and then]") if index else who.say("[you must|you have to|]")
        words += who.say(
            "[{do} [first|] before [visiting|you visit|going to|you go to] [any of|] {l}|before [visiting|going to] "
            "{l} [,|] {do}"
            "|{do} first before [visiting|you go to] {l}]",
            do=act.say(who.rng, "do"),
            l=enumerated(who, rest, who.pick(("and", "or"))),
        )
    if who.chance(0.5):
        words += who.say("[and|,|] [finally|lastly|then] {do}", do=acts[-1].say(who.rng, "do"))
    return tuple(words)  # type: ignore[arg-type]


def _pairs(who: Narrator, acts: list[Act]) -> Phrase:
    """ "visit a, b and c where b does not come before a" """
    words = list(
        who.say(
            "{v} {l} [where|, where|such that|so that|but|with|,|and make sure that|and]",
            v=_verb(who, acts[0]),
            l=enumerated(who, acts),
        )
    )
    for index, (before, after) in enumerate(pairwise(acts)):
        words += who.say("[and|,|]") if index else ()
        words += who.say(
            "[{a} [comes|goes|is visited|must come|is] [strictly|] before {b}|{b} [comes|is visited] only after {a}"
            "|{b} [does not"
            " come|is not visited|must not come|does not precede|never comes] before {a}|{b} only after {a}|not {b} "
            "before {a}"
            "|never {b} before {a}|{b} not before {a}]",
            a=before.thing,
            b=after.thing,
        )
    return tuple(words)


def strictly(who: Narrator) -> Said:
    acts = places(who, _SOME_SIZES)
    if len(acts) == 1:
        return node("visit", listed([acts[0].node])), who.say(f"{_MUST} {{do}}", do=acts[0].say(who.rng, "do"))
    return node("strictly", listed([act.node for act in acts])), _once_each(who, acts)


def _once_each(who: Narrator, acts: list[Act]) -> Phrase:
    draw, verb, some = who.rng.random(), _verb(who, acts[0]), enumerated(who, acts)
    sep = who.say("[,|and|but||||.|;]")
    if draw < 0.3:
        return (*_in_order(who, acts), *sep, *who.say(_ONCE))
    if draw < 0.45:
        return who.say(
            f"[{_MUST} {{v}} {{l}} {_STRICT_ORDER} [,|and|but|] {_ONCE}|{_MUST} {{v}} [each of|] {{l}} [exactly|only"
            f"|just] once"
            f" {_STRICT_ORDER}|{{v}} {{l}} in this order without skipping or revisiting any [one of them|of them]"
            f"|{{v}} {{l}} [in"
            " this order|] [,|] without skipping any [of them|] [and|,] do not revisit any [one|] of them [once"
            "|after] you have been"
            " there|{v} {l} [once|only once|exactly once] each , in [that|this] [exact|] order]",
            v=verb,
            l=some,
        )
    if draw < 0.65:
        once = who.pick(("[once|only once|exactly once|one time|just once|a single time]",) * 2 + ("",))
        words = _avoiding(who, acts, once)
        return words if once else (*words, *sep, *who.say(_ONCE))
    if draw < 0.8:
        return _never_back(who, acts)
    words_: list[object] = []
    link = who.say("[then|and then|and only then|followed by|, then|only then]")
    for index, act in enumerate(acts):
        last = index == len(acts) - 1
        if index:
            words_ += who.say("[finally|and finally|then|and then]") if last and who.chance(0.4) else link
        words_ += act.say(who.rng, "do") if who.chance(0.6) or not index else act.thing
        words_ += who.say("[once|only once|exactly once|just once]") if not last and who.chance(0.25) else ()
    return (*words_, *sep, *who.say(_ONCE))  # type: ignore[arg-type]


def _never_back(who: Narrator, acts: list[Act]) -> Phrase:
    """ "visit a, then b without returning to a, then c without returning to b" """
    words = list(who.say("[first|only|] {do} [first|once|]", do=acts[0].say(who.rng, "do")))
    full, ahead = who.chance(0.4), who.chance(0.3)
    link = who.say("[and only then|then|and then|only then|, then|, and then|and]")
    for index, act in enumerate(acts[1:], start=1):
        later = acts[index:]
        if ahead and index < len(acts):
            words += who.say("[without|while not] [visiting|going to] {l}", l=enumerated(who, later, "or"))
        seen = acts[:index] if full else acts[index - 1 : index]
        words += (*link, *act.say(who.rng, "do"))
        words += who.say(
            "[without [returning to|revisiting|going back to|visiting|going to] {l} [again|]|and do not [visit {l} "
            "again|revisit"
            " {l}|return to {l}|go back to {l}]|while avoiding {l}|but do not [revisit|return to|go back to] {l}|and "
            "never [visit"
            " {l} again|return to {l}]|but never [go back to|revisit] {l}]",
            l=enumerated(who, seen, who.pick(("or", "and"))),
        )
    return tuple(words)
