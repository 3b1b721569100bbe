"""What must wait for something else: not before, stay until, never after."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.avoidance import NOT, PASSIVE, alike, choice, holding
from llm_planner.language.compact.constraints.generator.endings import never_again, no_return
from llm_planner.language.compact.constraints.generator.itineraries import Said, enumerated
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, joined, listed, node
from llm_planner.language.compact.constraints.generator.responses import (
    trigger,
)


def not_before(who: Narrator) -> Said:
    """None of the first before the second."""
    if who.world != "bare" and who.items and who.chance(0.45 if who.world == "table" else 0.15):
        step, kinds = who.pick((("moved", forms.MOVED), ("holding", forms.HOLDING)))
        thing, words = who.several("any")
        first = who.condition() if who.world == "rooms" else who.moved() if who.chance(0.4) else who.placed()
        late = Act(holding(step, thing), kinds, words)
        acts, before, what = [late], first.node, None
    else:
        acts = alike(who, choice(who, (0.75, 0.17, 0.08)))
        first, what = who.spot() if who.world == "bare" else who.condition(), None
        before = first.node
        if who.chance(0.15):
            other = who.spot() if who.world == "bare" else who.condition()
            if first.forms is other.forms and not first.extra and other.node != first.node:
                word, name = who.pick((("and", "both"), ("or", "either")))
                before = joined(name, [first.node, other.node])
                what = enumerated(who, [first, other], word)
    if who.items and who.world == "table" and who.chance(0.2):
        thing, words = who.several("each")
        first = Act(node("moved", thing), forms.MOVED, words)
        if who.chance(0.6):
            base, where = who.base()
            step, kinds = who.pick((("is_in", forms.INSIDE), ("is_in", forms.INSIDE), ("is_on", forms.UPON)))
            first = Act(node(step, thing, base), kinds, words, where)
        before, what = first.node, None
    one = acts[0]
    if who.world != "bare" and one.node.children[:1] == before.children[:1] and one.node.children:
        return not_before(who)  # "do not touch it before you touch it" is nothing that people say
    some = enumerated(who, acts, who.pick(("or", "and"))) if len(acts) > 1 else one.thing
    late = Act(one.node, one.forms, some, one.extra)
    early = Act(before, first.forms, what, first.extra) if what else first
    return node("not_before", listed([act.node for act in acts]), before), _precedence(who, late, early)


def _precedence(who: Narrator, late: Act, early: Act) -> Phrase:
    """A rule: nothing here says that either has to be done."""
    r = who.rng
    slots = {
        "do": late.say(r, "do"),
        "g": late.say(r, "doing"),
        "x": late.noun,
        "dn": early.say(r, "done"),
        "eg": early.say(r, "doing"),
        "ed": early.say(r, "do"),
        "un": early.say(r, "unseen"),
        "y": early.noun,
        "ln": late.say(r, "done"),
        "be": who.say(late.forms["be"], y=late.extra),
        "l": late.thing,
    }
    if who.world != "bare" and early.forms is forms.HOLDING:  # "unless you hold it" is another rule
        return who.say(
            "[{n} {do} [until|before|till] {dn}|{n} {do} before {eg}|{n} {do} without [first|having first] {eg}|only "
            "{do} [after"
            "|once] {dn}|{do} only [after|once] {dn}|[until|before|till] {dn} [,|] {n} {do}|{x} [is|are] [off limits"
            "|forbidden|"
            "taboo] [until|before] {dn}|wait [until|till] {dn} before {g}|no {g} [until|before|till] {dn}|you [can"
            "|may] only {do}"
            " [after|once] {dn}|first {ed} , until then {n} {do}|[make sure|ensure] {dn} before {g}|leave {l} [alone"
            "|where it is]"
            " until {dn}|do not {do} [before|until] {eg}|{dn} before you {do}]"
            if late.forms in (forms.HOLDING, forms.MOVED)
            else "[{n} {do} [until|before|till] {dn}|{n} {do} [until|before|till] {dn}|{n} {do} before {eg}|{n} {do} "
            "without first"
            " {eg}|only {do} [after|once] {dn}|{do} only [after|once] {dn}|[until|before|till] {dn} [,|] {n} {do}"
            "|{x} [is|are] "
            "[off limits|forbidden|taboo] [until|before] {dn}|wait [until|till] {dn} before {g}|no {g} [until|before"
            "|till] {dn}|"
            "you [can|may] only {do} [after|once] {dn}|first {ed} , until then {n} {do}|[make sure|ensure] {dn} "
            "before {g}]",
            n=who.say(NOT),
            **slots,
        )
    if who.world != "bare" and late.forms in (forms.HOLDING, forms.MOVED) and who.chance(0.3):
        return who.say(
            "[leave {l} [alone|where it is|where they are|be|in place|untouched|as it is] [until|till|unless|before"
            "|until] {dn}"
            "|{l} [stays|stay|must stay|should stay|remains] [where it is|put|where they are|untouched|in place] "
            "[until|till] "
            "{dn}|hands off {l} [until|till|before|unless] {dn}|keep your hands off {l} [until|till] {dn}|[until"
            "|before|till] "
            "{dn} [,|] [leave {l} [alone|where it is|be]|hands off {l}|{l} [stays|stay] [put|where it is|where they "
            "are]]|let {l}"
            " [be|stay where it is] [until|till] {dn}|don't [mess|bother] with {l} [until|till|before] {dn}]",
            **slots,
        )
    if who.world != "bare" and late.forms is not forms.HANDED and who.chance(0.25):
        return who.say(
            f"[{{l}} {PASSIVE} be {{be}} [until|before|unless|till] {{dn}}|{{l}} {PASSIVE} be {{be}} [until|before] "
            f"{{dn}}|{{l}} "
            "[may|can] [only|] be {be} [only|] [after|once|when|as soon as|only after|only once] {dn}|[until|before"
            "|unless] "
            f"{{dn}} [,|] {{l}} {PASSIVE} be {{be}}|only [after|once|when] {{dn}} [may|can] {{l}} be {{be}}|only "
            f"[after|once|when]"
            " {dn} [are you allowed to|may you|can you] {do}|no {g} without [first|] {eg} [first|]|no {g} [until"
            "|before|unless] "
            "{dn}|not {be} before {dn}|{dn} comes first , [only then|then] {do}]",
            **slots,
        )
    if who.world != "bare" and who.chance(0.12):
        return who.say(
            "[in order to {do} you [first|] [must|have to|need to] {ed}|[first|] {ed} , [only|] then you may {do}"
            "|before you {do} "
            "[,|] you [must|have to|need to|should] {ed} [first|]|before {g} [,|] you [must|have to"
            "|should] {ed}|"
            "you [must|have to|need to] {ed} [first|] before you {do}|{ed} [first|] , until then [do not|never"
            "|don't] {do}|{y} "
            "comes first [;|,|:|.] [until then|until {dn}|before that] [you do not|do not|don't] {do}|{y} first [!|:"
            "|,|.] [do "
            "not|don't] {do} [before|until] [{dn}|that]|[if|unless|as long as] {un} , [no|stay away from|do not go "
            "to] {x}|"
            "first {ed} , [before that|until then] {x} is [off limits|forbidden|taboo]]",
            **slots,
        )
    if late.forms is forms.MOVED and early.forms in (forms.MOVED, forms.HOLDING) and who.chance(0.3):
        return who.say(
            "[[make sure|ensure|see] [that|] {dn} before {ln}|{y} [must|should|has to|needs to] [come|go|be moved|be "
            "done|be handled] before {x}"
            "|[move|do|handle|take care of|deal with] {y} before {x}|{y} before {x}|{x} [comes|goes|must come|must "
            "be moved] [only|] after"
            " {y}|{x} only after {y}|[do|move] {x} [last|later] , after {y}|{y} first , {x} [only|] [after that"
            "|afterwards|later]|{x} has to"
            " wait [for|until after] {y}]",
            **{**slots, "x": late.thing, "y": early.thing},
        )
    return who.say(
        f"[{NOT} {{do}} [until|before|unless|until|till|as long as you have not seen to it that] {{dn}}|{NOT} "
        f"{{do}} [until|before"
        "|unless|till] {dn}|{n} {do} before {eg}|{n} {do} without {eg} [first|before|]|only {do} [after|once|when"
        "|if] {dn}|{do} only"
        " [after|once|when|if] {dn}|you [can|may|are allowed to|are only allowed to] [only|] {do} [only after|only "
        "once|only when|but"
        " only after|only if|but only once] {dn}|you [can|may] only {do} [after|once] {dn}|[once|after|only after"
        "|when] {dn} [only"
        " then|only then|only then] [can you|may you|are you allowed to] {do}|[until|before|as long as] [{dn}|{un}] "
        "[,|]"
        " [do not|never|don't|you cannot|avoid to] {do}|[make sure|ensure] [that|] {dn} before"
        " {g}|make sure [you|to] {ed} [before|first , before] {g}|you [must|have to|should] {ed} before you [can"
        "|may] {do}|[avoid|no]"
        " {g} [until|before|unless|till] {dn}|{x} [is|are] [off limits|forbidden|not allowed|locked|out of bounds] "
        "[until|before|unless]"
        " {dn}|{x} [is|are] [not allowed|forbidden] as long as {un}|[do not|never|you cannot|you must not] {do} "
        "[while|when|as long as]"
        " {un}|{eg} [unlocks|opens up|permits|is required before] {x}|{n} {do} [first|too early] , [wait until|only "
        "after] {dn}|{do}"
        " [no earlier than|not earlier than|not before|but not before] {dn}|wait [until|till] {dn} before {g}|hold "
        "off {g} until {dn}"
        "|{dn} before you {do}|[stay away from|keep away from|avoid] {x} [until|before|unless|till] {dn}|{y} [must"
        "|has to] come before"
        " {x}|{g} requires that {dn} [first|before|]|[if|when] {un} , [do not|you cannot|never] {do}|first {ed} "
        "before you even"
        " [think of|consider] {g}|not {do} [until|before] {dn}|{g} is [only|] [allowed|permitted] only [after|once] "
        "{dn}|{g} is"
        " [forbidden|prohibited|not allowed] [until|before|unless] {dn}]",
        n=who.say(NOT),
        **slots,
    )


def stay_until(who: Narrator) -> Said:
    stay, until = (
        who.spot() if who.world == "bare" else who.place(),
        who.spot() if who.world == "bare" else who.condition(),
    )
    hold, done = stay.node, until.node
    x, y, last = stay.thing, until.thing, until
    if who.world == "bare" and who.chance(0.3):
        other = who.spot()
        if other.forms is until.forms and other.node not in (done, hold):
            word, name = who.pick((("and", "both"), ("or", "either")))
            done, y = joined(name, [done, other.node]), enumerated(who, [until, other], word)
            last = Act(done, until.forms, y)
    r = who.rng
    return node("stay_until", hold, done), who.say(
        "[{s} [until|till|until|up until the moment] {d}|{s} as long as {u}|[do not|never|don't|you cannot|you must "
        "not|you may not]"
        " {lv} [until|before|unless|till] {d}|[until|till|before] {d} [,|] [{s}|[do not|never|you cannot] {lv}]|keep "
        "[going|moving|on|"
        "being] [on|in|at|inside] {x} [until|till] {d}|{x} [must|has to|should] [hold|be true|stay true|continue] "
        "[until|till] {d}|{x}"
        " [holds|stays true|remains true|is true] [until|till] {d}|you cannot go [anywhere|to any other place|to "
        "other places] from"
        " {x} [until|before|unless] {d}|you [can|may] [only|] leave {x} [after|once|only after|when] {d}|[do not"
        "|never] go [anywhere|any"
        " other place|elsewhere] from {x} before {d}|[once|after|when] {d} you [can|may] leave , otherwise {s}|you "
        "[can|may] leave"
        " [after|once] {d} [, otherwise|, until then] {s}|{d} releases {x}|wait [in|at] {x} for {y}|{x} until {y}"
        "|{x} [is|must be]"
        " maintained until {d}|[until|till] {d} , {x} [holds|must hold|must be true]|{x} does not stop [holding|] "
        "before {d}]",
        s=stay.say(r, "staying"),
        d=last.say(r, "done"),
        u=last.say(r, "unseen"),
        lv=stay.say(r, "leaving"),
        x=x,
        y=y,
    )


def never_after(who: Narrator) -> Said:
    if who.world == "rooms" and who.chance(0.2):
        return no_return(who)
    if who.world != "bare" and who.items and who.chance(0.35):
        return never_again(who)
    why, cause = trigger(who)
    acts = alike(who, choice(who, (0.75, 0.18, 0.07)))
    one = acts[0]
    some = enumerated(who, acts, who.pick(("or", "and"))) if len(acts) > 1 else one.thing
    late, r = Act(one.node, one.forms, some, one.extra), who.rng
    return node("never_after", why, listed([act.node for act in acts])), who.say(
        f"[{NOT} {{do}} [again|] [once|after|as soon as|when|if|after] {{c}}|[once|after|if|when|as soon as|from "
        f"the moment] {{c}} [,|] {{n}}"
        " {do} [again|afterwards|anymore|any more|ever again|from then on|after that|]|you [must|have to|should] "
        "[avoid|stay away from|keep"
        " away from] {x} [once|after|as soon as] {c}|[once|after|if] {c} [,|] [you have to|you must|] [avoid|stay "
        "away from|keep away from]"
        " {x} [at all costs|from then on|forever|afterwards|]|you [can|may] {do} before {c} but [never|not] "
        "[afterwards|after|afterward|after"
        " that]|[no {g} is allowed|any {g} is not allowed] after {c}|{g} is [not allowed|forbidden|prohibited] [once"
        "|after|as soon as] {c}|[if|once|when] {c}"
        " [you are not allowed to|you can no longer|you may no longer|you cannot|you can not] {do} [afterwards|after "
        "that|anymore|any"
        " more|again|]|{y} [prevents|rules out|excludes|forbids|locks|blocks] {x} [from then on|afterwards|from "
        "happening afterwards|for ever"
        "|from the next step on|]|{x} [is|are] [off limits|forbidden|not allowed|out of bounds|no longer allowed] "
        "[once|after|as soon as] {c}"
        "|no more {g} [after|once] {c}|{x} [must|may|should|can] [never|not] [happen|occur|be visited|be true|hold] "
        "[again|] [once|after] {c}"
        "|after {y} , never {x} [again|]|[after|once] {c} {x} [never happens|does not happen|must not happen|is "
        "never true|never holds]"
        " [again|any more|]|stop {g} [once|after|as soon as] {c}]",
        n=who.say(NOT),
        do=late.say(r, "do"),
        g=late.say(r, "doing"),
        x=late.noun,
        c=cause.say(r, "now"),
        y=cause.noun,
    )
