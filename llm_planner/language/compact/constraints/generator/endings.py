"""How a tour begins and ends, and errands of several steps with one thing."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.avoidance import NOT
from llm_planner.language.compact.constraints.generator.itineraries import _MUST, Said
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, listed, node
from llm_planner.language.compact.grammar import Node

_TOUR = "[your|the] [tour|trip|day|round|route|journey|run|path|way|mission|patrol|plan|shift|work]"
_IT = "[it|it|it|it|that|this]"


def finish(who: Narrator) -> Said:
    """Where the robot is at the end."""
    if who.world == "table":
        act = who.placed()
        return node("finish", act.node), who.say(
            "[[in the end|at the end|finally] {n}|{n} [in the end|at the end|when you are done]|{n} at the end]",
            n=act.say(who.rng, "now"),
        )
    if who.people and who.chance(0.12):
        act = who.nearby()
        while act.node.children[0].step == "anyone" or act.node.children[0].step == "any":
            act = who.nearby()
        words = who.say("[with|near|close to|next to] {x}", x=act.thing)
    else:
        act = who.room(forms.PLACE, "in_room")
        words = who.say("[in|at|inside|in|in] {x}", x=act.thing)
    return node("finish", act.node), who.say(
        "[[finish|end|end up|finish up|end up|park|conclude|wrap up] {w}|[finish|end|conclude] {w}|[finish|end] "
        "[up|]"
        f" {{w}}|[finish|end|conclude] {_TOUR} {{w}}|ending [up|] {{w}}|finishing [up|] {{w}}|stopping {{w}}|[be"
        f"|stay|stand|"
        "wait|remain|park|stop] {w} [at the end|in the end|when you are [done|finished]|once you are [done|finished]|"
        "finally]|[at the end|in the end|finally|when you are [done|finished]|once [everything|all] is done|when all "
        "is "
        f"done] [,|] [be|stay|stand|wait|remain|park] {{w}}|{_TOUR} [must|should|has to] [end|finish|stop] {{w}}"
        f"|your [last|"
        "final] [stop|place|position|destination] [is|must be|should be] {x}|{x} [must|should|has to] be [your|the] "
        "[last|"
        "final] [stop|place|one|destination]|you [must|should|have to|need to] [end up|finish|be|end] {w} [at the "
        "end|]|"
        "{do} and stay there|{do} [at the end|last] and [stay|remain] there|[make|have] {x} [your|the] last stop"
        "|with {x} "
        "as [your|the] [last|final] [stop|destination]|[wind|finish] up {w}|i want you {w} at the end|[come|go|get] "
        "to rest "
        "{w}|end up back {w}|[finish|end] back {w}|be back {w} [at the end|when you are done|in the end]]",
        w=words,
        x=act.thing,
        do=act.say(who.rng, "do"),
    )


def fetch(who: Narrator) -> Said:
    """To take something and carry it somewhere, and perhaps to go on from there."""
    thing, words = who.thing()
    start = who.say("[from {r}|in {r}]", r=who.room(forms.PLACE, "in_room").thing) if who.chance(0.25) else ()
    first = Act(node("holding", thing), forms.HOLDING, words)
    states: list[Node] = [first.node]
    said = who.say(
        "[pick up {x} {s}|pick {x} up {s}|fetch {x} {s}|get {x} {s}|grab {x} {s}|collect {x} {s}|take {x} {s}]",
        x=words, s=start,
    )  # fmt: skip
    if not start and who.chance(0.2):
        place = who.room(forms.PLACE, "in_room")
        states = [place.node, *states]
        said = (*place.say(who.rng, "do"), *who.say("[and|,|, then|and then|, and] [there|]"), *said)
    draw = who.rng.random()
    link = who.say("[and|and then|, then|then|, and|,|and afterwards|and]")
    if draw < 0.75:
        more, target = _brought_it(who, thing)
        states.append(more)
        said = (*said, *link, *target)
    if draw > 0.6:
        place = who.place()
        link = who.say("[, then|and then|then|and after that|, and then|, after that|afterwards|and finally|and]")
        said, states = (*said, *link, *place.say(who.rng, "do")), [*states, place.node]
    return node("sequence", listed(states)), (*who.say(_MUST), *said)


def _brought_it(who: Narrator, thing: Node) -> tuple[Node, Phrase]:
    if who.people and who.chance(0.45):
        name = who.name("person", who.people)
        meant = node("both", node("holding", thing), node("near", name.node))
        return meant, who.say(
            f"[[bring|take|deliver|carry|hand|give] {_IT} to {{y}}|hand {_IT} over to {{y}}|[bring|give] {{y}} {_IT}]",
            y=(name,),
        )
    room = who.room(forms.PLACE, "in_room")
    return node("is_in", thing, room.node.children[0]), who.say(
        f"[[bring|take|deliver|carry|move|drop] {_IT} [to|to|into|in|off in|off at|over to] {{y}}|[put|drop|leave"
        f"|place] "
        f"{_IT} [in|in|into|at] {{y}}]",
        y=room.thing,
    )


def handed_round(who: Narrator) -> Said:
    """ "Anna gets the mug first, Ben gets the parcel after that" """
    found = []
    for _ in range(2):
        thing, words = who.thing()
        name = who.name("person", who.people)
        found.append((node("both", node("holding", thing), node("near", name.node)), words, name))
    (one, x, a), (two, y, b) = found
    if one == two or a == b:
        return node("visit", listed([one])), who.say("{a} gets {x}", a=(a,), x=x)
    ordered = who.chance(0.6)
    return node("sequence" if ordered else "visit", listed([one, two])), who.say(
        "[{a} gets {x} first [,|.|and|] {b} gets {y} [after that|next|afterwards|second|then]|[first|] bring {x} to "
        "{a} [,"
        "|and|] [then|after that] [bring|] {y} to {b}|give {a} {x} [and|,] then [give|] {b} {y}|{x} goes to {a} "
        "first [,"
        "|and] then {y} [goes|] to {b}|bring {a} {x} and then bring {b} {y}]"
        if ordered
        else "[{a} gets {x} and {b} gets {y}|bring {x} to {a} and {y} to {b}|give {a} {x} and {b} {y}|bring {a} {x} "
            "and "
        "bring {b} {y}|deliver {x} to {a} and [deliver|] {y} to {b}]",
        a=(a,), b=(b,), x=x, y=y,
    )  # fmt: skip


def there_and_back(who: Narrator) -> Said:
    """To go back is to go after the errand before it."""
    errands = [who.errand() for _ in range(who.pick((1, 1, 2)))]
    home = who.room(forms.PLACE, "in_room")
    if len({act.node for act in (*errands, home)}) <= len(errands):
        return node("visit", listed([errands[0].node])), errands[0].say(who.rng, "do")
    words = errands[0].say(who.rng, "do")
    for act in errands[1:]:
        words = (*words, *who.say("[, then|then|and then|, and then|and after that]"), *act.say(who.rng, "do"))
    return node("sequence", listed([*(act.node for act in errands), home.node])), (*who.say(_MUST), *words, *who.say(
        "[[and|and|and then|, then|then|, and|afterwards|and afterwards] [come back|return|go back|drive back|head "
        "back|come"
        " home|get back] [to|to|into] {x}|[return|come back|go back] to {x} [after that|afterwards|when that is done]]",
        x=home.thing,
    ))  # fmt: skip


def chain(who: Narrator) -> Said:
    """ "the lab before the office and the office before the hall" """
    acts = [who.room(forms.PLACE, "in_room") for _ in range(3)]
    if len({act.node for act in acts}) < len(acts):
        return there_and_back(who)
    a, b, c = acts
    return node("ordered", listed([act.node for act in acts])), who.say(
        "[[visit|go to|you must visit|you have to go to] {a} before {b} and {b} before {c}|[visit|go to] {a} before "
        "{b} and {c}"
        " [after|only after] {b}|{a} [comes|must be visited|goes] before {b} [,|and] {b} [comes|goes|] before {c}"
        "|[visit|go to]"
        " {c} after {b} and {b} after {a}]",
        a=a.thing, b=b.thing, c=c.thing,
    )  # fmt: skip


def one_before_another(who: Narrator) -> Said:
    """An errand and what comes after it."""
    if who.chance(0.1):
        return chain(who)
    first = who.errand()
    second = who.errand() if who.chance(0.4) else who.place()
    if first.node == second.node:
        return node("visit", listed([first.node])), first.say(who.rng, "do")
    r = who.rng
    return node("ordered", listed([first.node, second.node])), who.say(
        "[{b} [at some point|] , but not [before|until] {dn}|{b} , but only [after|once] {dn}|{a} before {g}|{a} "
        "before you {b}|before {g} [,|] {a}|before you {b} [,|] {a}|i want you to {a} before {g}"
        "|{b} [,|] but {a} [first|before that|beforehand]|{b} [,|] but first {a}|{a} first [,|] [and|] [then|only "
        "then] {b}|"
        "{a} and only then {b}|{b} [,|] but only after {h}|[do|] {a} first and {b} [second|later|after that]]",
        a=first.say(r, "do"),
        b=second.say(r, "do"),
        g=second.say(r, "doing"),
        h=first.say(r, "doing"),
        dn=first.say(r, "done"),
    )


def never_again(who: Narrator) -> Said:
    """What was put somewhere, or was picked up once, is not to be taken again."""
    act = who.brought() if who.world == "rooms" else who.placed()
    if act.forms is forms.HANDED or who.chance(0.25):
        act = who.holding()
    if act.node.step == "holding_any":
        return never_again(who)
    thing = act.node.children[0]
    kinds = who.pick((forms.HOLDING, forms.HOLDING, forms.MOVED))  # what may not be touched again is not taken up
    late = Act(node("holding", thing), kinds, act.thing)
    again = Act(late.node, kinds, who.say("[it|it|it|that]"))
    done, r = Act(act.node, act.forms, who.say("[it|it|that]"), act.extra), who.rng
    return node("never_after", act.node, listed([late.node])), who.say(
        "[[once|after|when|as soon as|if] {d} [,|] {n} {v} [again|any more|anymore|ever again|a second time"
        "|afterwards|]|"
        "{n} {w} [again|any more|] [once|after|as soon as|when] {e}|[once|after|when] {d} [,|] it [is not to|must "
        "not|may "
        "not|must never|is never to|should not] be {be} [again|any more|anymore|]|[once|when] {d} [,|] [leave it "
        "[alone|there"
        "|where it is]|it stays [there|where it is|put]]]"
        if act.forms is not forms.HOLDING
        else "[[once|after|when] {d} [once|] [,|] {n} {v} [again|a second time]|{n} {w} [again|a second time] [once"
            "|after] "
        "{e}|[once|after] you have [put|set] {x} down [,|] {n} {v} [again|a second time]]",
        d=act.say(r, "done"), e=done.say(r, "done"), n=who.say(NOT), v=again.say(r, "do"), w=late.say(r, "do"),
        be=who.say(kinds["be"]), x=act.thing,
    )  # fmt: skip


def no_return(who: Narrator) -> Said:
    """Where one has been, one does not go again."""
    act = who.place() if who.chance(0.7) or not who.items else who.nearby()
    while act.node.children[0].step in ("any", "anyone"):
        act = who.nearby()
    r = who.rng
    there = (
        "[there|there|near them|near [him|her|it]|to [him|her|it]]" if act.forms is not forms.PLACE else "[there|to it]"
    )
    return node("never_after", act.node, listed([act.node])), who.say(
        "[[after|once|when] {d} [once|] [,|] {n} [go|come|be|get] [back|] {there} [again|]|after [leaving|having left] "
        "{x} [,|] {n} [go|come] back [{there}|]|once you [have left|leave] {x} [,|] {n} [return|go back] [{there}|]|"
        "{n} [go back|return|come back] to {x} [after|once] [{d}|you [have left|left] it]|{n} {v} [again|a second "
        "time] "
        "[after|once] {d}|[after|once] {d} {x} is [off limits|forbidden] [from then on|for good|]|no [going back"
        "|returning] to"
        " {x} [once you have left it|after you left it|]|once you've been {there} , {x} is [off limits|forbidden]|do "
        "not go "
        "back to {x} once you have been there]",
        d=act.say(r, "done"), n=who.say(NOT), x=act.thing, v=act.say(r, "do"), there=who.say(there),
    )  # fmt: skip
