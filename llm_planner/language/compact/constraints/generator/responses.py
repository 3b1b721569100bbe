"""What follows from something: later, at once, just then, or as long as it lasts."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.avoidance import NOT, never
from llm_planner.language.compact.constraints.generator.itineraries import Said, enumerated
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, joined, node
from llm_planner.language.compact.grammar import Node

_SOON = (
    "[eventually|later|afterwards|in the future|at some point|sometime later|some time in the future|at least once "
    "in the"
    " future|at some later point|sooner or later|at least once after|after that|at some time|after|later on|then|at "
    "least once"
    " afterwards|subsequently|in the end|]"
)

_NEXT = (
    "[immediately|immediately after|right after|right away|directly|straight away|at the next [step|time step|time "
    "instant"
    "|instant|moment|time]|in the next [step|time step|instant|moment]|in the very next [step|time instant|instant]"
    "|at once"
    "|immediately afterwards|directly after|straight after that|right after that|at the very next [step|time "
    "instant]|next"
    "|instantly|without delay|on the next step|one step later|the next moment]"
)

_IF = "[if|if|whenever|whenever|every time|when|once|each time|any time|always when|always if|in case|as soon as|after]"

_IF_NOW = (
    "[as soon as|whenever|if|when|once|the moment|every time|immediately after|right after|the instant|directly after"
    "|always when]"
)


def single(who: Narrator) -> tuple[Node, Act]:
    act = who.spot() if who.world == "bare" else who.errand() if who.world == "rooms" else who.placed()
    return act.node, act


def trigger(who: Narrator) -> tuple[Node, Act]:
    """What sets a rule off: one state, or two joined by "and" or "or"."""
    first = who.spot() if who.world == "bare" else who.condition()
    if not who.chance(0.22):
        return first.node, first
    other = who.spot() if who.world == "bare" else who.condition()
    if other.node == first.node or first.extra or other.forms is not first.forms:
        return first.node, first
    word, name = who.pick((("and", "both"), ("or", "either")))
    meant = joined(name, [first.node, other.node])
    return meant, Act(meant, first.forms, enumerated(who, [first, other], word), first.extra)


def responds(who: Narrator) -> Said:
    why, cause = trigger(who)
    before, who.again = who.again, 0.5
    then, effect = trigger(who) if who.world == "bare" and who.chance(0.3) else single(who)
    who.again = before
    if who.world != "bare" and effect.extra and who.chance(0.45):
        return node("responds", why, then), _gone_to(who, cause, effect)
    return node("responds", why, then), who.say(
        f"[[always|you must always|the robot must always|you have to always] {{do}} after {{cg}}|{_IF} {{c}} [,|] "
        f"[then|] [you "
        f"must|you have to|you should|make sure to|make sure you|] {{do}} {_SOON}"
        f"|{_IF} {{c}} [,|]"
        f" [then|] you [must|have to|should|need to|will] {_SOON} {{do}}|you [must|have to] {{do}} {_SOON} [once|if"
        f"|whenever|after|when]"
        f" {{c}}|{_IF} {{c}} [,|] [then|] {{e}} {_SOON}|{_IF} {{c}} [,|] {{e}} must [also|] follow {_SOON}|{{x}} [is"
        f"|must be] [always|"
        "eventually|later|] followed by {y} [later|eventually|at some point|]|every {x} is [eventually|sooner or "
        "later|finally|] followed"
        " by [a|an|] {y}|{cg} [means|implies|requires] [that|] you [must|have to] {do} [afterward|later|afterwards"
        "|eventually|]|{x} [always"
        " leads to|eventually leads to|leads to|triggers|causes|results in] {y} [eventually|later|in the future|]"
        "|you [can|may] {cd} but"
        " [you must|you have to|then] {do} [later|afterwards|eventually|at some point]|in response to {x} [,|] {do} "
        "[eventually|later|in the"
        " future]|it is always the case that if {c} [then|,] {e} [eventually|later|at some point]|always [if|when"
        "|once] {c} [,|then] ensure"
        " [that|] you {do} [at least once in the future|later|eventually]|globally , if {c} then eventually {e}|each "
        "{x} [must|should] be"
        " [answered|followed] by {y} [eventually|]|{do} [some time|at least once|sometime] after [you ever see|every "
        "time|] {c}|if {c} ,"
        " {y} [must|should|will|has to] [happen|occur|hold|be true|follow] [eventually|later|at some point|in the "
        "future]]",
        **_slots(who, cause, effect),
    )


def _slots(who: Narrator, cause: Act, effect: Act) -> dict[str, Phrase | None]:
    """What templates of a cause and its effect speak of."""
    r = who.rng
    return {
        "c": cause.say(r, "now"),
        "do": effect.say(r, "do"),
        "e": effect.say(r, "done"),
        "x": cause.noun,
        "y": effect.noun,
        "cg": cause.say(r, "doing"),
        "cd": cause.say(r, "do"),
    }


_GOES_IN = (
    "|[once|when|if|as soon as|whenever] {c} [,|] {x} [has to|must|should|needs to] go [in|into|to|there|in there] {y}"
    " [as well|too|afterwards|later|]]"
)


def _gone_to(who: Narrator, cause: Act, effect: Act) -> Phrase:
    """What a thing has to be done with: "if you pick up the mug, it has to go in the bowl"."""
    return who.say(
        f"[{_IF} {{c}} [,|] {{x}} [has to|must|should|needs to] be {{be}} {_SOON}|{_IF} {{c}} [,|] {{x}} [has to"
        f"|must|should] be"
        " {be} [as well|too|later|afterwards|]"
        + (_GOES_IN if effect.node.step == "is_in" else "]"),
        c=cause.say(who.rng, "now" if who.chance(0.5) else "done"),
        x=effect.thing,
        y=effect.extra,
        be=who.say(effect.forms["be"], y=effect.extra),
    )  # fmt: skip


def at_once(who: Narrator) -> Said:
    why, cause = trigger(who)
    then, effect = trigger(who) if who.world == "bare" and who.chance(0.3) else single(who)
    return node("at_once", why, then), who.say(
        f"[{_IF} {{c}} [,|] [then|] [you must|you have to|you should|make sure you|] {{do}} {_NEXT}|you [must|have "
        f"to|should] {_NEXT} {{do}}"
        f" [once|when|if|after|whenever] {{c}}|you [must|have to] {{do}} [immediately after|right after|directly "
        f"after|as soon as|the moment]"
        f" {{c}}|{_IF_NOW} {{c}} [,|] [you must|] {_NEXT} {{do}}|{_IF} {{c}} [,|] [then|] {{e}} {_NEXT}|[immediately "
        f"after|right after|directly"
        " after|as soon as] {c} [,|] [you must|you have to|] {do}|{do} [immediately after|right after|as soon as|the "
        "moment|directly after]"
        f" {{c}}|{{x}} [is|must be] [immediately|directly] followed by {{y}}|{{cg}} means you [must|have to] {{do}} "
        f"{_NEXT}|{_IF} {{c}} [,|]"
        f" {{y}} [must|should|will|has to] [happen|occur|hold|be true|follow] {_NEXT}|globally , if {{c}} then "
        f"{_NEXT} {{e}}|do not [go|move] to"
        " anywhere but {y} [once|after|when] {c}|you [can|may] {cd} but you [must|have to] {do} [as soon as you do"
        "|right after|immediately"
        f" after]|{{do}} {_NEXT} [whenever|if|every time|when|once] {{c}}|always if {{c}} [proceed to|] {{do}} "
        f"{_NEXT}|it is always the case"
        f" that if {{c}} then {_NEXT} {{e}}|every {{x}} is [immediately|directly|instantly] followed by [a|] {{y}}"
        f"|{_IF} {{c}} [make your way"
        " right to|go right to|go straight to|go directly to|head straight to] {y} [right after that|]|{c} implies "
        "that {e} in the next"
        " step]",
        **_slots(who, cause, effect),
    )


def just_then(who: Narrator) -> Said:
    why, cause = trigger(who)
    then, effect = trigger(who) if who.chance(0.25) else single(who)
    r = who.rng
    slots = {
        "c": cause.say(r, "now"),
        "do": effect.say(r, "do"),
        "e": effect.say(r, "done"),
        "x": cause.noun,
        "y": effect.noun,
        "cd": cause.say(r, "do"),
        "eg": effect.say(r, "doing"),
        "cg": cause.say(r, "doing"),
        "en": effect.say(r, "now"),
    }
    return node("just_then", why, then), who.say(
        f"[{_NEXT} {{do}} if and only if {{c}}|if and only if {{c}} [,|] [you must|you should|] {{do}} {_NEXT}|[you "
        f"must|you have to|] {{do}}"
        f" [immediately after|right after|as soon as|directly after] {{c}} and [you cannot|never|do not|you may not] "
        f"[{{do}}|go to {{y}}] [at"
        f" any other time|otherwise|any other time|at other times]|{_IF} {{c}} [,|] [you must|you have to|] {{do}} "
        f"[{_NEXT}|] and [you must|]"
        " [avoid|stay away from|keep away from] {y} [any other time|otherwise|at all other times|at any other time]"
        "|you must {cd} [right before|"
        "immediately before|directly before] [visiting|] {y} and [you must|] {do} [right after|immediately after"
        "|directly after] {cg}|you cannot"
        " {do} without {cg} [right before|immediately before] [that|] and you cannot {cd} without {eg} [right after"
        "|immediately after]"
        f" [that|]|{{e}} {_NEXT} [if and only if|exactly when|precisely when|just in case] {{c}}|[if|when] {{c}} [,"
        f"|] {{do}} {_NEXT} [, and|and|.|]"
        " [if|when] {en} [,|] [make sure|then] {c} [right before|just before|one step before|immediately before] "
        "[that|]|{do} only right after"
        " {c} and always right after {c}|{e} only and always [one step|one time instant|one time step] after {c}|{x} "
        "and {y} [always|] [come|"
        "happen|are] [one after the other|together] , {x} [directly|immediately|right|one step] before {y}|{do} "
        "exactly [one step|one time"
        " step] after {c} [, never otherwise|and at no other time]|{e} if and only if {c} [in the previous step|one "
        "step before|just before]]",
        **slots,
    )


def whenever(who: Narrator) -> Said:
    """An invariant: while one thing is so, another is or is not."""
    why, cause = trigger(who)
    r = who.rng
    if who.world == "bare" and who.chance(0.45):
        then, effect = trigger(who)
        return node("whenever", why, then), who.say(
            "[[whenever|while|as long as|always when|when|if|every time] {c} [,|then|] {e} [must|has to|should|] "
            "[hold|be true|be so|too"
            "|at the same time|also|as well|]|{e} [whenever|while|as long as|always when] {c}|globally if {c} then "
            "{e}|it is always true that"
            " if {c} then {e}|always , {c} implies {e}|{x} always [comes with|implies|goes together with] {y}|during "
            "{x} , {y} [holds|must"
            " hold|is true]|{x} implies {y} at all times|{y} must [hold|be true] [whenever|while|during] {c}]",
            c=cause.say(r, "now"),
            e=effect.say(r, "now"),
            x=cause.thing,
            y=effect.thing,
        )
    if who.world == "bare" and who.chance(0.4):
        banned = who.event()
        return node("whenever", why, node("isnt", banned.node)), who.say(
            "[[the|] {x} [never|must not|cannot|does not|must never|may not|should never] [happen|occur|hold|ring"
            "|start|come on|be on|be true"
            "|be given|sound|be set|appear|happens|occurs|rings|holds] [when|while|whenever|if|as long as] {c}|[when"
            "|while|whenever|if|as long"
            " as] {c} [,|then|] [there is|there must be|] no {x}|no {x} [when|while|whenever|as long as] {c}|{x} and "
            "{y} [never|must not|cannot]"
            " [happen|hold|occur|be true] [at the same time|together|at once]|never both {x} and {y}]",
            x=banned.thing,
            c=cause.say(r, "now"),
            y=cause.thing,
        )
    act = {"bare": who.deed, "table": who.pick((who.nearby, who.over, who.holding))}.get(
        who.world, who.pick((who.place, who.nearby, who.holding)) if who.items else who.place
    )()
    if who.world == "bare" or act.node != why:
        return node("whenever", why, node("isnt", act.node)), who.say(
            f"[[while|whenever|as long as|when] {{c}} [,|] {NOT} {{do}}|{NOT} {{do}} [while|whenever|as long as"
            f"|when|with] {{c}}|never {{do}}"
            " [while|when] {c}|no {g} [while|when|as long as] {c}|[avoid|stay away from|keep away from] {x} [while"
            "|whenever|as long as|when] {c}"
            "|[while|whenever|as long as|when] {c} [,|] [avoid|stay away from|keep away from|stay out of] {x}|{g} "
            "[while|when] {c} is"
            " [forbidden|not allowed]|{c} [excludes|rules out] {x} [at the same time|]|never {do} and {cd} at the "
            "same time]"
            if act.forms in (forms.PLACE, forms.NEAR, forms.PERSON)
            else f"[[while|whenever|as long as|when] {{c}} [,|] {NOT} {{do}}|{NOT} {{do}} [while|whenever|as long as"
            f"|when|with] {{c}}|never {{do}}"
            " [while|when] {c}|no {g} [while|when|as long as] {c}|{g} [while|when] {c} is [forbidden|not allowed]]",
            c=cause.say(r, "now"),
            do=act.say(r, "do"),
            g=act.say(r, "doing"),
            x=act.thing,
            cd=cause.say(r, "do"),
        )
    return never(who)
