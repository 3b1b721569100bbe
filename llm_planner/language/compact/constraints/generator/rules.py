"""What must not be, or must hold on the way: avoidance, precedence, response, waiting, limits."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.itineraries import Said, enumerated
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, joined, listed, node
from llm_planner.language.compact.grammar import Node

_NOT = "[never|never|never|do not|do not|don't|don't ever|you must not|you must never|you cannot|you can never|you may not|you"\
    " are not allowed to|you should never|you are never to|you shall not|do not ever|make sure you never|make sure that you"\
    " never|make sure not to|make sure to never|ensure that you never|be careful not to|you are forbidden to|refrain from ever"\
    " trying to|take care not to|at no time [may|should] you|you mustn't|you shouldn't|you can't|under no circumstances|in no"\
    " case|dont|please do not|please never|please don't|no matter what , do not|you better not|try not to|watch out not to"\
    "|you are prohibited to|always make sure not to|i don't want you to|you are not to]"  # fmt: skip
_SIZES = (0.45, 0.24, 0.14, 0.1, 0.05, 0.02)
_SOON = "[eventually|later|afterwards|in the future|at some point|sometime later|some time in the future|at least once in the"\
    " future|at some later point|sooner or later|at least once after|after that|at some time|after|later on|then|at least once"\
    " afterwards|subsequently|in the end|]"  # fmt: skip
_NEXT = "[immediately|immediately after|right after|right away|directly|straight away|at the next [step|time step|time instant"\
    "|instant|moment|time]|in the next [step|time step|instant|moment]|in the very next [step|time instant|instant]|at once"\
    "|immediately afterwards|directly after|straight after that|right after that|at the very next [step|time instant]|next"\
    "|instantly|without delay|on the next step|one step later|the next moment]"  # fmt: skip
_IF = "[if|if|whenever|whenever|every time|when|once|each time|any time|always when|always if|in case|as soon as|after]"
_IF_NOW = "[as soon as|whenever|if|when|once|the moment|every time|immediately after|right after|the instant|directly after"\
    "|always when]"  # fmt: skip


def _choice(who: Narrator, sizes: tuple[float, ...] = _SIZES) -> int:
    return int(who.rng.choice(len(sizes), p=sizes)) + 1


def _several(who: Narrator, draw: Callable[[], Act], count: int) -> list[Act]:
    found = [draw() for _ in range(count)]
    return found if len({act.node for act in found}) == count else found[:1]


def alike(who: Narrator, count: int) -> list[Act]:
    """Deeds that one verb does for: several places, or several things that may not be touched."""
    first = who.deed()
    if count == 1 or first.extra:
        return [first]
    again: Callable[[], Act] = {
        id(forms.PLACE): who.place if who.world == "bare" else lambda: who.room(forms.PLACE, "in_room"),
        id(forms.EVENT): who.event,
        id(forms.NEAR): who.nearby,
        id(forms.OVER): who.over,
        id(forms.HOLDING): who.holding,
        id(forms.MOVED): who.moved,
        id(forms.PERSON): who.place,
    }[id(first.forms)]
    found = [first, *(again() for _ in range(count - 1))]
    same = all(act.forms is first.forms for act in found) and len({act.node for act in found}) == count
    return found if same else [first]


def never(who: Narrator) -> Said:
    if who.world != "bare" and who.items and who.chance(0.25):
        return _never_any(who)
    acts = alike(who, _choice(who))
    return node("never", listed([act.node for act in acts])), _never(who, acts)


def _never_any(who: Narrator) -> Said:
    step, kinds = who.pick(
        (("moved", forms.MOVED), ("moved", forms.MOVED), ("holding", forms.HOLDING), ("near", forms.NEAR),
         ("over", forms.OVER))
    )  # fmt: skip
    thing, words = who.several("any")
    act = Act(node(step, thing), kinds, words)
    return node("never", listed([act.node])), _never(who, [act])


def _never(who: Narrator, acts: list[Act]) -> Phrase:
    first = acts[0]
    some = enumerated(who, acts, who.pick(("or", "or", "and"))) if len(acts) > 1 else first.thing
    whole = Act(first.node, first.forms, some, first.extra)
    slots = {"do": whole.say(who.rng, "do"), "g": whole.say(who.rng, "doing"), "l": some, "v": first.say(who.rng, "do")}
    if len(acts) > 1 and who.chance(0.15):
        words: list[object] = []
        for index, act in enumerate(acts):
            words += who.say("[and|,|, and]") if index else ()
            words += who.say("[never {do}|do not {do}|avoid {g}|don't {do}|stay away from {l}]" if act.forms in (forms.PLACE, forms.NEAR)
                             else "[never {do}|do not {do}|avoid {g}|don't {do}]",
                             do=act.say(who.rng, "do"), g=act.say(who.rng, "doing"), l=act.thing)  # fmt: skip
        return tuple(words)  # type: ignore[arg-type]
    draw = who.rng.random()
    if first.forms is forms.EVENT:
        return who.say(
            "[{l} [must|should|shall|may|can|will] never [happen|occur|hold|be true|be seen|be observed]|never [have|let|allow] {l}"
            " [happen|occur|be true|]|[it is|it's] never the case that {l} [happens|holds|is true|]|avoid {l}|{l} never"
            " [happens|occurs|holds|becomes true]|{l} [is|are] [always false|never true|forbidden|not allowed]|{l} does not ever"
            " [happen|hold]|no {l} [ever|]|there is never [a|] {l}|globally not {l}|always not {l}|at no time {l}|{l} is never"
            " [observed|seen|true|set|granted|active]|prevent {l} from [happening|ever happening]]", **slots
        )  # fmt: skip
    if first.forms in (forms.PLACE, forms.PERSON, forms.NEAR) and draw < 0.4:
        return who.say(
            "[[always|] [stay|keep] [away|well away|clear|far away|off] from {l} [at all times|at all costs|all the time|no matter"
            " what|]|[always|] [avoid|steer clear of|keep clear of|stay clear of|shun|keep off|bypass|stay out of|keep out of|give"
            " {l} a wide berth ,|circumvent] {l} [at all costs|at all times|always|]|you [must|should|have to|need to]"
            " [always|] [avoid|stay away from|keep away from|stay clear of|stay out of] {l} [at all times|at all costs|]|[avoid"
            "|without|no|refrain from|always avoid] {g}|{l} [is|are] [off limits|forbidden|prohibited|not allowed|a no-go area"
            "|out of bounds]|{l} [must|should] be avoided [at all times|at all costs|]|{l} [cannot|must not|should not|may not|can"
            " not] be [visited|entered|reached|approached] [at any time|ever|at all|]|{l} [must|should|may|can] never be"
            " [visited|entered|reached|approached]|you [can|may] [go|be] anywhere [but|except] {l}|go anywhere but [not|] {l}"
            "|[while|] [avoiding|staying away from|keeping away from|staying clear of|staying out of] {l}|without {g}|under no"
            " circumstances [approach|enter|go near] {l}|[make sure|ensure] [that|] {l} [is|are] never [visited|reached|entered]"
            "|keep your distance from {l}|[make sure|ensure] [you|to] [stay away from|avoid|keep clear of] {l}]", **slots
        )  # fmt: skip
    if first.forms in (forms.MOVED, forms.HOLDING) and draw < 0.25:
        return who.say(
            "[leave {l} [alone|where it is|in place|where they are|as it is|untouched|be]|{l} [must|should|has to|shall] [stay|remain]"
            " [where it is|in place|untouched|put|where they are]|hands off {l}|{l} [must|should|may] [not|never] be [moved|touched"
            "|disturbed]|keep {l} [where it is|in place]|keep your hands off {l}|let {l} stay where it is|{l} is not to be"
            " [moved|touched]]"
            if first.forms is forms.MOVED
            else "[{l} [must|should|may] [not|never] be [picked up|lifted|grabbed|taken|carried]|without {g}|never {v}]", **slots
        )  # fmt: skip
    if first.forms is forms.OVER and draw < 0.25:
        return who.say("[keep [the space above|the air above] {l} clear|stay out of the space above {l}|never have the [arm|hand"
                       "|gripper] [over|above] {l}|do not let the [arm|gripper|hand] [pass|go|move|get] over {l}]", **slots)  # fmt: skip
    return who.say(
        f"[{_NOT} {{do}} [at any time|ever|at all|at any point|]|{_NOT} {{do}}|{_NOT} {{do}}|without [ever|] {{g}}|avoid {{g}}|no {{g}}"
        "|{g} is [forbidden|not allowed|prohibited|not permitted|a no go|banned]|[always|] [avoid|refrain from] {g}|[be careful"
        "|careful] [not to {v}|to avoid {g}]|not {g}|it is [forbidden|prohibited|not allowed] to {do}]", **slots
    )  # fmt: skip


def not_before(who: Narrator) -> Said:
    """None of the first before the second."""
    if who.world == "table" and who.items and who.chance(0.45):
        step, kinds = who.pick((("moved", forms.MOVED), ("holding", forms.HOLDING)))
        thing, words = who.several("any")
        first = who.moved() if who.chance(0.7) else who.placed()
        late = Act(node(step, thing), kinds, words)
        acts, before, what = [late], first.node, None
    else:
        acts = alike(who, _choice(who, (0.75, 0.17, 0.08)))
        first, what = who.spot() if who.world == "bare" else who.condition(), None
        before = first.node
        if who.chance(0.15):
            other = who.spot() if who.world == "bare" else who.condition()
            if first.forms is other.forms and not first.extra and other.node != first.node:
                word, name = who.pick((("and", "both"), ("or", "either")))
                before = joined(name, [first.node, other.node])
                what = enumerated(who, [first, other], word)
    if who.items and who.world == "table" and who.chance(0.12):
        thing, words = who.several("each")
        first = Act(node("moved", thing), forms.MOVED, words)
        before, what = first.node, None
    one = acts[0]
    some = enumerated(who, acts, who.pick(("or", "and"))) if len(acts) > 1 else one.thing
    late = Act(one.node, one.forms, some, one.extra)
    early = Act(before, first.forms, what, first.extra) if what else first
    return node("not_before", listed([act.node for act in acts]), before), _precedence(who, late, early)


def _precedence(who: Narrator, late: Act, early: Act) -> Phrase:
    """A rule: nothing here says that either has to be done."""
    r = who.rng
    slots = {"do": late.say(r, "do"), "g": late.say(r, "doing"), "x": late.thing, "dn": early.say(r, "done"),
             "eg": early.say(r, "doing"), "ed": early.say(r, "do"), "un": early.say(r, "unseen"), "y": early.thing,
             "ln": late.say(r, "done")}  # fmt: skip
    return who.say(
        f"[{_NOT} {{do}} [until|before|unless|until|till|as long as you have not seen to it that] {{dn}}|{_NOT} {{do}} [until|before"
        "|unless|till] {dn}|{n} {do} before {eg}|{n} {do} without {eg} [first|before|]|only {do} [after|once|when|if] {dn}|{do} only"
        " [after|once|when|if] {dn}|you [can|may|are allowed to|are only allowed to] [only|] {do} [only after|only once|only when|but"
        " only after|only if|but only once] {dn}|you [can|may] only {do} [after|once] {dn}|[once|after|only after|when] {dn} [only"
        " then|only then|only then] [can you|may you|are you allowed to] {do}|[until|before|as long as] [{dn}|{un}] [,|]"
        " [do not|never|don't|you cannot|avoid to] {do}|{dn} [must have|has to be so] before {g}|[make sure|ensure] [that|] {dn} before"
        " {g}|make sure [you|to] {ed} [before|first , before] {g}|you [must|have to|should] {ed} before you [can|may] {do}|[avoid|no]"
        " {g} [until|before|unless|till] {dn}|{x} [is|are] [off limits|forbidden|not allowed|locked|out of bounds] [until|before|unless]"
        " {dn}|{x} [is|are] [not allowed|forbidden] as long as {un}|[do not|never|you cannot|you must not] {do} [while|when|as long as]"
        " {un}|{eg} [unlocks|opens up|permits|is required before] {x}|{n} {do} [first|too early] , [wait until|only after] {dn}|{do}"
        " [no earlier than|not earlier than|not before|but not before] {dn}|wait [until|till] {dn} before {g}|hold off {g} until {dn}"
        "|{dn} before you {do}|[stay away from|keep away from|avoid] {x} [until|before|unless|till] {dn}|{y} [must|has to] come before"
        " {x}|{g} requires that {dn} [first|before|]|[if|when] {un} , [do not|you cannot|never] {do}|first {ed} before you even"
        " [think of|consider] {g}|not {do} [until|before] {dn}|{g} is [only|] [allowed|permitted] only [after|once] {dn}|{g} is"
        " [forbidden|prohibited|not allowed] [until|before|unless] {dn}]",
        n=who.say(_NOT), **slots,
    )  # fmt: skip


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
        "[{s} [until|till|until|up until the moment] {d}|{s} as long as {u}|[do not|never|don't|you cannot|you must not|you may not]"
        " {lv} [until|before|unless|till] {d}|[until|till|before] {d} [,|] [{s}|[do not|never|you cannot] {lv}]|keep [going|moving|on|"
        "being] [on|in|at|inside] {x} [until|till] {d}|{x} [must|has to|should] [hold|be true|stay true|continue] [until|till] {d}|{x}"
        " [holds|stays true|remains true|is true] [until|till] {d}|you cannot go [anywhere|to any other place|to other places] from"
        " {x} [until|before|unless] {d}|you [can|may] [only|] leave {x} [after|once|only after|when] {d}|[do not|never] go [anywhere|any"
        " other place|elsewhere] from {x} before {d}|[once|after|when] {d} you [can|may] leave , otherwise {s}|you [can|may] leave"
        " [after|once] {d} [, otherwise|, until then] {s}|{d} releases {x}|wait [in|at] {x} for {y}|{x} until {y}|{x} [is|must be]"
        " maintained until {d}|[until|till] {d} , {x} [holds|must hold|must be true]|{x} does not stop [holding|] before {d}]",
        s=stay.say(r, "staying"), d=last.say(r, "done"), u=last.say(r, "unseen"), lv=stay.say(r, "leaving"), x=x, y=y,
    )  # fmt: skip


def _cause(who: Narrator) -> tuple[Node, Act]:
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
    why, cause = _cause(who)
    then, effect = _cause(who) if who.world == "bare" and who.chance(0.3) else _single(who)
    r = who.rng
    return node("responds", why, then), who.say(
        f"[{_IF} {{c}} [,|] [then|] [you must|you have to|you should|make sure to|make sure you|] {{do}} {_SOON}|{_IF} {{c}} [,|]"
        f" [then|] you [must|have to|should|need to|will] {_SOON} {{do}}|you [must|have to] {{do}} {_SOON} [once|if|whenever|after|when]"
        f" {{c}}|{_IF} {{c}} [,|] [then|] {{e}} {_SOON}|{_IF} {{c}} [,|] {{e}} must [also|] follow {_SOON}|{{x}} [is|must be] [always|"
        "eventually|later|] followed by {y} [later|eventually|at some point|]|every {x} is [eventually|sooner or later|finally|] followed"
        " by [a|an|] {y}|{cg} [means|implies|requires] [that|] you [must|have to] {do} [afterward|later|afterwards|eventually|]|{x} [always"
        " leads to|eventually leads to|leads to|triggers|causes|results in] {y} [eventually|later|in the future|]|you [can|may] {cd} but"
        " [you must|you have to|then] {do} [later|afterwards|eventually|at some point]|in response to {x} [,|] {do} [eventually|later|in the"
        " future]|it is always the case that if {c} [then|,] {e} [eventually|later|at some point]|always [if|when|once] {c} [,|then] ensure"
        " [that|] you {do} [at least once in the future|later|eventually]|globally , if {c} then eventually {e}|each {x} [must|should] be"
        " [answered|followed] by {y} [eventually|]|{do} [some time|at least once|sometime] after [you ever see|every time|] {c}|if {c} ,"
        " {y} [must|should|will|has to] [happen|occur|hold|be true|follow] [eventually|later|at some point|in the future]]",
        c=cause.say(r, "now"), do=effect.say(r, "do"), e=effect.say(r, "done"), x=cause.thing, y=effect.thing,
        cg=cause.say(r, "doing"), cd=cause.say(r, "do"),
    )  # fmt: skip


def _single(who: Narrator) -> tuple[Node, Act]:
    act = who.spot() if who.world == "bare" else who.errand() if who.world == "rooms" else who.placed()
    return act.node, act


def at_once(who: Narrator) -> Said:
    why, cause = _cause(who)
    then, effect = _cause(who) if who.world == "bare" and who.chance(0.3) else _single(who)
    r = who.rng
    return node("at_once", why, then), who.say(
        f"[{_IF} {{c}} [,|] [then|] [you must|you have to|you should|make sure you|] {{do}} {_NEXT}|you [must|have to|should] {_NEXT} {{do}}"
        f" [once|when|if|after|whenever] {{c}}|you [must|have to] {{do}} [immediately after|right after|directly after|as soon as|the moment]"
        f" {{c}}|{_IF_NOW} {{c}} [,|] [you must|] {_NEXT} {{do}}|{_IF} {{c}} [,|] [then|] {{e}} {_NEXT}|[immediately after|right after|directly"
        " after|as soon as] {c} [,|] [you must|you have to|] {do}|{do} [immediately after|right after|as soon as|the moment|directly after]"
        f" {{c}}|{{x}} [is|must be] [immediately|directly] followed by {{y}}|{{cg}} means you [must|have to] {{do}} {_NEXT}|{_IF} {{c}} [,|]"
        f" {{y}} [must|should|will|has to] [happen|occur|hold|be true|follow] {_NEXT}|globally , if {{c}} then {_NEXT} {{e}}|do not [go|move] to"
        " anywhere but {y} [once|after|when] {c}|you [can|may] {cd} but you [must|have to] {do} [as soon as you do|right after|immediately"
        f" after]|{{do}} {_NEXT} [whenever|if|every time|when|once] {{c}}|always if {{c}} [proceed to|] {{do}} {_NEXT}|it is always the case"
        f" that if {{c}} then {_NEXT} {{e}}|every {{x}} is [immediately|directly|instantly] followed by [a|] {{y}}|{_IF} {{c}} [make your way"
        " right to|go right to|go straight to|go directly to|head straight to] {y} [right after that|]|{c} implies that {e} in the next"
        " step]",
        c=cause.say(r, "now"), do=effect.say(r, "do"), e=effect.say(r, "done"), x=cause.thing, y=effect.thing,
        cg=cause.say(r, "doing"), cd=cause.say(r, "do"),
    )  # fmt: skip


def just_then(who: Narrator) -> Said:
    why, cause = _cause(who)
    then, effect = _cause(who) if who.chance(0.25) else _single(who)
    r = who.rng
    slots = {"c": cause.say(r, "now"), "do": effect.say(r, "do"), "e": effect.say(r, "done"), "x": cause.thing, "y": effect.thing,
             "cd": cause.say(r, "do"), "eg": effect.say(r, "doing"), "cg": cause.say(r, "doing"), "en": effect.say(r, "now")}  # fmt: skip
    return node("just_then", why, then), who.say(
        f"[{_NEXT} {{do}} if and only if {{c}}|if and only if {{c}} [,|] [you must|you should|] {{do}} {_NEXT}|[you must|you have to|] {{do}}"
        f" [immediately after|right after|as soon as|directly after] {{c}} and [you cannot|never|do not|you may not] [{{do}}|go to {{y}}] [at"
        f" any other time|otherwise|any other time|at other times]|{_IF} {{c}} [,|] [you must|you have to|] {{do}} [{_NEXT}|] and [you must|]"
        " [avoid|stay away from|keep away from] {y} [any other time|otherwise|at all other times|at any other time]|you must {cd} [right before|"
        "immediately before|directly before] [visiting|] {y} and [you must|] {do} [right after|immediately after|directly after] {cg}|you cannot"
        " {do} without {cg} [right before|immediately before] [that|] and you cannot {cd} without {eg} [right after|immediately after]"
        f" [that|]|{{e}} {_NEXT} [if and only if|exactly when|precisely when|just in case] {{c}}|[if|when] {{c}} [,|] {{do}} {_NEXT} [, and|and|.|]"
        " [if|when] {en} [,|] [make sure|then] {c} [right before|just before|one step before|immediately before] [that|]|{do} only right after"
        " {c} and always right after {c}|{e} only and always [one step|one time instant|one time step] after {c}|{x} and {y} [always|] [come|"
        "happen|are] [one after the other|together] , {x} [directly|immediately|right|one step] before {y}|{do} exactly [one step|one time"
        " step] after {c} [, never otherwise|and at no other time]|{e} if and only if {c} [in the previous step|one step before|just before]]",
        **slots,
    )  # fmt: skip


def never_after(who: Narrator) -> Said:
    why, cause = _cause(who)
    acts = alike(who, _choice(who, (0.75, 0.18, 0.07)))
    one = acts[0]
    some = enumerated(who, acts, who.pick(("or", "and"))) if len(acts) > 1 else one.thing
    late, r = Act(one.node, one.forms, some, one.extra), who.rng
    return node("never_after", why, listed([act.node for act in acts])), who.say(
        f"[{_NOT} {{do}} [again|] [once|after|as soon as|when|if|after] {{c}}|[once|after|if|when|as soon as|from the moment] {{c}} [,|] {{n}}"
        " {do} [again|afterwards|anymore|any more|ever again|from then on|after that|]|you [must|have to|should] [avoid|stay away from|keep"
        " away from] {x} [once|after|as soon as] {c}|[once|after|if] {c} [,|] [you have to|you must|] [avoid|stay away from|keep away from]"
        " {x} [at all costs|from then on|forever|afterwards|]|you [can|may] {do} before {c} but [never|not] [afterwards|after|afterward|after"
        " that]|[no {g} is allowed|any {g} is not allowed] after {c}|{g} is [not allowed|forbidden|prohibited] [once|after|as soon as] {c}|[if|once|when] {c}"
        " [you are not allowed to|you can no longer|you may no longer|you cannot|you can not] {do} [afterwards|after that|anymore|any"
        " more|again|]|{y} [prevents|rules out|excludes|forbids|locks|blocks] {x} [from then on|afterwards|from happening afterwards|for ever"
        "|from the next step on|]|{x} [is|are] [off limits|forbidden|not allowed|out of bounds|no longer allowed] [once|after|as soon as] {c}"
        "|no more {g} [after|once] {c}|{x} [must|may|should|can] [never|not] [happen|occur|be visited|be true|hold] [again|] [once|after] {c}"
        "|after {y} , never {x} [again|]|[after|once] {c} {x} [never happens|does not happen|must not happen|is never true|never holds]"
        " [again|any more|]|stop {g} [once|after|as soon as] {c}]",
        n=who.say(_NOT), do=late.say(r, "do"), g=late.say(r, "doing"), x=late.thing, c=cause.say(r, "now"), y=cause.thing,
    )  # fmt: skip


def whenever(who: Narrator) -> Said:
    """An invariant: while one thing is so, another is or is not."""
    why, cause = _cause(who)
    r = who.rng
    if who.world == "bare" and who.chance(0.45):
        then, effect = _cause(who)
        return node("whenever", why, then), who.say(
            "[[whenever|while|as long as|always when|when|if|every time] {c} [,|then|] {e} [must|has to|should|] [hold|be true|be so|too"
            "|at the same time|also|as well|]|{e} [whenever|while|as long as|always when] {c}|globally if {c} then {e}|it is always true that"
            " if {c} then {e}|always , {c} implies {e}|{x} always [comes with|implies|goes together with] {y}|during {x} , {y} [holds|must"
            " hold|is true]|{x} implies {y} at all times|{y} must [hold|be true] [whenever|while|during] {c}]",
            c=cause.say(r, "now"), e=effect.say(r, "now"), x=cause.thing, y=effect.thing,
        )  # fmt: skip
    act = {"bare": who.deed, "table": who.pick((who.nearby, who.over, who.holding))}.get(
        who.world, who.pick((who.place, who.nearby, who.holding)) if who.items else who.place
    )()
    if who.world == "bare" or act.node != why:
        return node("whenever", why, node("isnt", act.node)), who.say(
            f"[[while|whenever|as long as|when] {{c}} [,|] {_NOT} {{do}}|{_NOT} {{do}} [while|whenever|as long as|when|with] {{c}}|never {{do}}"
            " [while|when] {c}|no {g} [while|when|as long as] {c}|[avoid|stay away from|keep away from] {x} [while|whenever|as long as|when] {c}"
            "|[while|whenever|as long as|when] {c} [,|] [avoid|stay away from|keep away from|stay out of] {x}|{g} [while|when] {c} is"
            " [forbidden|not allowed]|{c} [excludes|rules out] {x} [at the same time|]|never {do} and {cd} at the same time]"
            if act.forms in (forms.PLACE, forms.NEAR, forms.PERSON) else
            f"[[while|whenever|as long as|when] {{c}} [,|] {_NOT} {{do}}|{_NOT} {{do}} [while|whenever|as long as|when|with] {{c}}|never {{do}}"
            " [while|when] {c}|no {g} [while|when|as long as] {c}|{g} [while|when] {c} is [forbidden|not allowed]]",
            c=cause.say(r, "now"), do=act.say(r, "do"), g=act.say(r, "doing"), x=act.thing, cd=cause.say(r, "do"),
        )  # fmt: skip
    return never(who)


def always(who: Narrator) -> Said:
    if who.world == "bare":
        acts = _several(who, who.spot, _choice(who, (0.7, 0.2, 0.1)))
        return node("always", listed([act.node for act in acts])), who.say(
            "[{x} [always|must always|should always] [holds|hold|is true|be true|stay true|is so]|always {x}|[always|at all times] [keep|"
            "maintain|have] {x} [true|]|{x} [at all times|all the time|for ever|in every step]|globally {x}|it is always the case that {x}"
            " [holds|is true|]|{x} must [hold|be true] [at all times|all the time|always|forever]|[make sure|ensure] [that|] {x} [always|]"
            " [holds|is true] [all the time|]|never [leave|stop|let go of] {x}|[stay|remain] [in|at] {x} [forever|all the time|the whole time"
            "|at all times|always]|{x} never [stops|ends|becomes false]]",
            x=enumerated(who, acts),
        )  # fmt: skip
    if who.world == "rooms" and who.chance(0.5):
        place = who.room(forms.PLACE, "in_room")
        return node("always", listed([place.node])), who.say(
            "[never leave {x}|[stay|remain] [in|inside] {x} [all the time|the whole time|at all times|always|]|do not leave {x}|always [stay"
            "|be] in {x}|you must not leave {x}]", x=place.thing)  # fmt: skip
    act = who.placed() if who.world == "table" else who.brought()
    return node("always", listed([act.node])), who.say(
        "[{s} [at all times|all the time|always|]|{n} [at all times|all the time]|[make sure|ensure] [that|] {n} [at all times|all the time"
        "|the whole time|always]|always {s}]", s=act.say(who.rng, "staying"), n=act.say(who.rng, "now"))  # fmt: skip


def distance(who: Narrator) -> Said:
    length = who.mark("quantity")
    if who.people and who.chance(0.4):
        name = who.name("person", who.people)
        thing, words = name.node, (name,)
    else:
        thing, words = who.thing(0.25)
    return node("always", listed([node("farther", thing, length.node)])), who.say(
        "[[always|] [keep|stay|remain] [at least|a minimum of|no less than|more than|] {q} [away|clear|distance|apart|off] [from|of] {x} [at"
        " all times|]|keep [a|the] [distance|gap|clearance|margin|safety distance] of [at least|] {q} [to|from|around] {x}|never [come|get|go|be"
        "|move] [closer|nearer] [to {x} than {q}|than {q} to {x}]|do not [come|get|go|move] [within|closer than] {q} [of|to] {x}|[while|]"
        " [keeping|staying] [at least|] {q} [away|clear|] from {x}|leave [at least|] {q} [between you and|around|of space around] {x}|{x} must"
        " be [at least|] {q} away [from you|] [at all times|]|stay {q} [away|] from {x}|[don't|never] [approach|go near] {x} [closer than|within]"
        " {q}|without [coming|getting|going] [closer than|within] {q} [to|of] {x}|maintain [at least|] {q} [from|to] {x}]",
        q=(length,), x=words,
    )  # fmt: skip


def speed(who: Narrator) -> Said:
    length = who.mark("quantity")
    return node("always", listed([node("slower", length.node)])), who.say(
        "[[never|do not|don't|you must not] [move|go|drive|be|travel] [faster|quicker] than {q} [/ s|per second|a second|per second]|[stay|keep|move"
        "|drive|go] [below|under|slower than|at less than|at no more than|at most] {q} [/ s|per second|a second]|[keep|hold] [the|your] speed"
        " [below|under|at most|to less than] {q} [/ s|per second|a second]|no faster than {q} [/ s|per second|a second]|[your|the] [speed|maximum"
        " speed] [must|should|is to] [stay|be|remain] [below|under|less than] {q} [/ s|per second|a second]|[the|your] [speed limit|top speed] is"
        " {q} [/ s|per second|a second]]", q=(length,))  # fmt: skip


def height(who: Narrator) -> Said:
    length = who.mark("quantity")
    thing, words = who.thing(0.2)
    return node("always", listed([node("lower", thing, length.node)])), who.say(
        "[[never|do not|don't] [lift|raise|carry|hold] {x} [higher|more|further up] than {q} [above the table|]|keep {x} [below|under|lower than] {q}"
        " [above the table|high|]|{x} must [stay|remain|be kept] [below|under|lower than] {q}|without [lifting|raising] {x} [above|higher than|over]"
        " {q}]", q=(length,), x=words)  # fmt: skip


def timed(who: Narrator) -> Said:
    time = who.mark("seconds")
    act = who.spot() if who.world == "bare" else who.errand() if who.world == "rooms" else who.placed()
    r = who.rng
    if act.forms is forms.PLACE and who.chance(0.4):
        return node("lasting", time.node, act.node), who.say(
            "[{s} for [at least|] {t}|[go to {x} and|] {s} for {t}|spend [at least|] {t} [in|at] {x}|{do} and [stay|remain|wait] [there|] [for|at"
            " least] {t}|wait [for|] {t} [in|at] {x}]", s=act.say(r, "staying"), t=(time,), x=act.thing, do=act.say(r, "do"))  # fmt: skip
    return node("within", time.node, act.node), who.say(
        "[{do} [within|in less than|in under|in at most|in no more than|in] [the next|] {t}|[within|in less than|in] [the next|] {t} [,|] {do}|{d} within"
        " [the next|] {t}|you [have|must|should] [to|] {do} [within|in less than|in] {t}|{do} [before {t} are over|before {t} have passed|no later than"
        " {t} from now]|take no [longer|more] than {t} to {do}|you have {t} to {do}]",
        do=act.say(r, "do"), d=act.say(r, "done"), t=(time,))  # fmt: skip
