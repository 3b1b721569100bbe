"""Where to go: places in any order, in sequence, strictly in order, again and again, so or so many times."""

from __future__ import annotations

from itertools import pairwise

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Name, Phrase, joined, listed, node
from llm_planner.language.compact.grammar import Node

Said = tuple[Node, Phrase]  # a SPEC and the words for it
_SIZES = (0.22, 0.27, 0.21, 0.16, 0.11, 0.03)  # of lists of one to six
_SOME_SIZES = (0.0, 0.36, 0.27, 0.2, 0.14, 0.03)
_THEN = (
    "[then|and then|, then|, and then|after that|and after that|, after that|afterwards|then afterwards|next|, next"
    "|and next|followed by|and afterwards|, followed by|subsequently|and subsequently|later|and later|and only"
    " afterwards]"
)
_LINK = (
    "[then|and then|, then|, and then|after that|and after that|, after that|afterwards|next|and next|subsequently|and"
    " afterwards|later|sometime later|and sometime later|and eventually]"
)
_LAST = "[then|and then|finally|and finally|, and finally|lastly|and lastly|, finally|at last|at the end|in the end]"
_MUST = (
    "[you must|you have to|you should|you need to|you are to|i want you to|the robot [must|should|has to]|be sure to"
    "|make sure to|make sure you|make sure that you|ensure that you|ensure you|please|remember to|||||||||]"
)
_ANY_ORDER = (
    "[in any order|in an arbitrary order|in arbitrary order|in no particular order|in no specific order|in whatever"
    " order|regardless of order|in any sequence|the order does not matter|in the order you like|, any order"
    " will do|no matter the order|in random order|but it can be done in any order|without any order]"
)


def places(who: Narrator, sizes: tuple[float, ...] = _SIZES) -> list[Act]:
    count = int(who.rng.choice(len(sizes), p=sizes)) + 1
    if who.world != "bare" and count > 3 and who.chance(0.7):
        count -= 2  # commands to a robot name fewer places than puzzles do
    acts = [who.spot() if who.world == "bare" else who.place() for _ in range(count)]
    return acts if len({act.node for act in acts}) == len(acts) else acts[:1]


def enumerated(who: Narrator, acts: list[Act], last: str = "and") -> Phrase:
    """ "a, b and c", with or without its commas."""
    comma = who.chance(0.45)
    words = list(acts[0].thing)
    style = who.rng.random()
    for index, act in enumerate(acts[1:], start=2):
        if index == len(acts) and style < 0.85:
            words += [","] if comma and len(acts) > 2 and who.chance(0.4) else []
            words.append(last)
        elif style > 0.93:
            words.append(last)
        elif comma or style >= 0.85:
            words += [","] if comma else []
        words += act.thing
    return tuple(words)


def visit(who: Narrator) -> Said:
    acts = places(who)
    if len(acts) in (2, 3) and who.chance(0.1):
        any_of_them = joined("either", [act.node for act in acts])
        return node("visit", listed([any_of_them])), who.say(
            "[{v} [either|] {l}|{v} [one|at least one|any one] of {l}|{v} [either of|any of] {l} [, it does not "
            "matter which|]|you can"
            " choose to {v} {l} , one is enough]",
            v=_verb(who, acts[0]),
            l=enumerated(who, acts, "or"),
        )
    spec = node("visit", listed([act.node for act in acts]))
    some = enumerated(who, acts)
    first, verb = acts[0], _verb(who, acts[0])
    if len(acts) == 1:
        return spec, who.say(
            f"[{_MUST} {{do}}|{_MUST} {{do}} [at some point|sometime|eventually|at least once|some time|in the end"
            f"|once or"
            " more|at least one time|at any time|one or more times|at some time]|[eventually|at some point|sometime"
            "|in the"
            " end|finally] {do}|{x} [must|should|has to|needs to] be [visited|reached] [at some point|at least once|]"
            "|[make sure|ensure] [that|] {x} [is|gets] [visited|reached]|do not forget {doing}|never fail to {do}"
            "|you cannot [finish|stop|be done] without {doing}|you will end up [in|at] {x} at some point]",
            do=first.say(who.rng, "do"),
            doing=first.say(who.rng, "doing"),
            x=first.thing,
        )
    draw = who.rng.random()
    if draw < 0.12:
        link = who.pick(("and", ",", ", and", "", "also", "as well as", "and also"))
        words = _chained(who, acts, link, "and" if link in ("", ",") else link)
        return spec, (*words, *(who.say(_ANY_ORDER) if who.chance(0.35) else ()))
    if draw < 0.16 and len(acts) == 2:
        a, b = acts
        return spec, who.say(
            "[{v} {a} then {b} or {v} {b} then {a}|either {v} {a} first or {v} {b} first , but {v} both|{v} one of "
            "{l} and"
            " then the other [one|]|{v} {a} before or after {v} {b}]",
            v=verb,
            a=a.thing,
            b=b.thing,
            l=some,
        )
    return spec, who.say(
        f"[{_MUST} {{v}} {{l}}|{_MUST} {{v}} {{l}} {_ANY_ORDER}|{_MUST} {{v}} {{l}} {_ANY_ORDER}|{_MUST} {{v}} [all "
        f"of|each of"
        "|all|every one of|both|all locations|all the places|the following [places|locations|rooms|] :|the following"
        " [locations|places]|places|locations|the locations] {l}|[make sure|ensure|see to it] [that|] {l} [are|get] "
        "[all|each"
        "|]"
        " [visited|reached|seen] [at some point|at least once|eventually|]|[eventually|at some point|sometime|at "
        "some time|in"
        " the end|along the way|on your way] {v} {l}|{v} {l} [at some point|sometime|eventually|at least once|at "
        "least one"
        " time each|once or more]|do not [stop|finish|end] [until|before] {l} [are|have been] [all|] visited|{l} "
        "[must|should"
        f"|have to|need to] [all|each|] be [visited|reached] [{_ANY_ORDER}|]|{_ANY_ORDER} {{v}} {{l}}|[your task is"
        f"|the task"
        " is|your job is|the goal is] to {v} {l}|you can [choose|pick] the order but {v} {l}]",
        v=verb,
        l=some,
    )


def sequence(who: Narrator) -> Said:
    acts = places(who, _SOME_SIZES)
    if who.world == "rooms" and who.chance(0.4):
        acts = [who.errand() for _ in range(int(who.rng.integers(2, 5)))]
        acts = acts if len({act.node for act in acts}) == len(acts) else acts[:1]
    if len(acts) == 1:
        return visit_one(who, acts[0])
    spec = node("sequence", listed([act.node for act in acts]))
    draw = who.rng.random()
    first = who.say("[first|first|start by|begin by|to begin|||||||||||]")
    only_places = all(act.forms is acts[0].forms for act in acts) and "over" not in acts[0].forms["do"]
    if not only_places or draw < 0.45:
        link = who.say(_LINK)
        one_link = who.chance(0.35)
        words = list(acts[0].say(who.rng, "doing" if first and first[-1] == "by" else "do"))
        for index, act in enumerate(acts[1:], start=2):
            last = index == len(acts) and len(acts) > 2 and who.chance(0.4)
            words += who.say(_LAST) if last else (link if one_link else who.say(_LINK))
            words += act.say(who.rng, "do")
        return spec, (*first, *words)
    verb = _verb(who, acts[0])
    if draw < 0.72:
        link, one_link = who.say(_THEN), who.chance(0.5)
        words = [*(first if not first or first[-1] != "by" else ()), *verb, *acts[0].thing]
        for index, act in enumerate(acts[1:], start=2):
            words += (
                who.say(_LAST)
                if index == len(acts) and len(acts) > 2 and who.chance(0.3)
                else (link if one_link else who.say(_THEN))
            )
            words += act.thing
        return spec, tuple(words)
    if draw < 0.86:
        return spec, who.say(
            "[{m} {v} {l} [one after another|one after the other|consecutively|successively|in sequence|sequentially"
            "|in turn"
            "|one by one|in a row|in succession|, each after the one before|, each one after the previous one]|in "
            "[some|this]"
            " sequence {v} {l}|[eventually|] {v} {l} where each [must be|is] followed by the next|{v} {l} in this "
            "order ,"
            " [other places in between are fine|you may go elsewhere in between|with other [places|locations] in "
            "between"
            " allowed|there may be others in between]|{v} {l} in this order but [you can|you may] visit other places in"
            " between]",
            m=who.say(_MUST),
            v=verb,
            l=enumerated(who, acts),
        )
    if draw < 0.93:
        return spec, _each_after(who, acts)
    words = [*verb, *acts[0].thing]
    for before, act in pairwise(acts):
        words += who.say(
            "[and|,|] [then|] {do} [after|once|when] {done}|[and|,|] [after|once] {done} [,|] {do}|[and|,] [once|as "
            "soon as]"
            " you have been [to|at] {p} [,|] [move on|proceed|continue] to {x}",
            do=act.say(who.rng, "do"),
            done=before.say(who.rng, "done"),
            p=before.thing,
            x=act.thing,
        )
    return spec, tuple(words)


def _each_after(who: Narrator, acts: list[Act]) -> Phrase:
    """ "b after a and c after b" """
    words: list[str | Name] = []
    head = (
        who.say(
            "[visit|go to|make sure to visit|] {l} [, |] [make sure to go to|with|where you visit|going to|]",
            l=enumerated(who, acts),
        )
        if who.chance(0.4)
        else ()
    )
    words += head
    for index in range(1, len(acts)):
        seen = acts[:index] if who.chance(0.4) else acts[index - 1 : index]
        words += who.say("[and|,|]") if words else ()
        template = (
            "{x} after {l}"
            if head
            else "{do} [at least once|sometime|some time|] after [visiting|going to|you have been to|you visited] [both"
            "|all of|] {l}"
        )
        words += who.say(template, x=acts[index].thing, do=acts[index].say(who.rng, "do"), l=enumerated(who, seen))
    return tuple(words)


def visit_one(who: Narrator, act: Act) -> Said:
    """One errand."""
    if act.forms is forms.BROUGHT and who.chance(0.12):
        return node("visit", listed([act.node])), who.say(
            "[bring|take|get|carry|move|transport] {x} from {z} [to|to|into] {y}",
            x=act.thing,
            y=act.extra,
            z=who.room(forms.PLACE, "in_room").thing,
        )
    if who.chance(0.25) and (words := _wanted(who, act)):
        return node("visit", listed([act.node])), words
    return node("visit", listed([act.node])), who.say(f"{_MUST} {{do}}", do=act.say(who.rng, "do"))


_WANTED = {
    id(forms.BROUGHT): (
        "[{x} [to|into] {y}|{x} [goes|belongs|should go] [to|in|into] {y}|{x} [has|needs|must] [to|] [go|get"
        "|be brought]"
        " to {y}|{x} [has to|must|should|needs to] [be|end up] in {y}|i [want|need|would like|'d like] {x} in {y}|[make"
        " sure|see to it] [that|] {x} [ends up|gets|is] [in|to] {y}|{x} is [needed|wanted] in {y}|{y} needs {x}]"
    ),
    id(forms.HANDED): (
        "[{y} [gets|needs|wants|should get|should have|must have|has to get|would like|is waiting for] [his|her"
        "|] {x}|{x}"
        " [goes|is] [to|for] {y}|i want {y} to [have|get] {x}|[make sure|see to it] [that|] {y} [gets|has] {x}]"
    ),
    id(forms.PLACE): (
        "[i [need|want] you in {x}|your next stop is {x}|{x} is [your next stop|where you should go|next]"
        "|you [are needed"
        "|are wanted] in {x}|off to {x}|{x} [please|next]|come [over|] to {x}|get yourself to {x}|show up in {x}]"
    ),
    id(forms.LOOKED): (
        "[see [if|whether] [everything is fine|all is well] in {x}|have a look [in|at] {x}"
        "|i need {x} [inspected|checked"
        "|searched]|{x} needs [checking|an inspection]|go and [check|inspect] {x}|take a look [in|at] {x}]"
    ),
}


def _wanted(who: Narrator, act: Act) -> Phrase:
    """What the person wants to be so; nothing where there are no other words for it."""
    template = _WANTED.get(id(act.forms), "")
    return who.say(template, x=act.thing, y=act.extra) if template and who.world == "rooms" else ()


def inspections(who: Narrator) -> Said:
    """Several rooms to look around in."""
    acts = [who.room(forms.LOOKED, "looked") for _ in range(who.pick((2, 2, 2, 3)))]
    if len({act.node for act in acts}) < len(acts):
        return visit_one(who, acts[0])
    verb = who.say(
        "[look around in|inspect|check|search|scan|look into|check on|take a look around in|survey|have a look in]"
    )
    if who.chance(0.5):
        return node("visit", listed([act.node for act in acts])), (*verb, *enumerated(who, acts))
    words = [*verb, *acts[0].thing]
    for act in acts[1:]:
        words += who.say("[then|and then|and after that|, then|after that|and afterwards|followed by|next] [in|]")
        words += act.thing
    return node("sequence", listed([act.node for act in acts])), tuple(words)


def patrol(who: Narrator) -> Said:
    acts = places(who)
    spec = node("patrol", listed([act.node for act in acts]))
    return spec, who.say(
        "[{m} keep [on|] {vg} {l} [forever|indefinitely|infinitely often|over and over|again and again|repeatedly|an "
        "infinite"
        " number of times|all the time|without stopping|in any order|in no particular order|]|[continue|go on] [to "
        "{v}|{vg}]"
        " {l} [forever|without end|indefinitely|repeatedly|]|[never|do not [ever|]|don't ever|you may never] [stop"
        "|cease|quit]"
        " {vg} {l} [in any order|]|{m} {v} {l} [an infinite number of times|infinitely often|infinitely|forever|over "
        "and over"
        " [again|]|again and again|repeatedly|indefinitely|endlessly|endless times|infinitely many times|time and "
        "again|all the"
        " time|on and on|regularly|without end|with no end|continually|infinite times|continuously|with no limit]"
        "|[patrol"
        "|frequent|monitor|cycle through|make rounds through|guard] {l} [repeatedly|forever|infinitely|all the time"
        "|continuously|endlessly|indefinitely|]|[repeatedly|continuously|continually|endlessly|forever|always keep"
        "|perpetually]"
        " [{v}|{vg}] {l}|[keep [going|moving] back and forth between|keep [alternating|moving|going] between|go "
        "around between]"
        " {l}|[make sure|ensure] [that|] {l} [is|are] [visited|reached] [infinitely often|again and again|infinitely"
        "|repeatedly|over and over|forever]|at any [point|moment|time] [in time|] [you must|make sure you|ensure "
        "that you"
        " will] [{v}] {l} [again|at least once|] [in the future|later|afterwards|after]|always [come back|return] to "
        "{l} [again"
        "|later|]|you are not allowed to [stop|cease] {vg} {l}|you [must|should] always eventually {v} {l} [again|]"
        "|it must"
        " always be possible that you [later|] {v} {l} again|no matter what , [always|] {v} {l} again [and again|]]",
        m=who.say(_MUST),
        v=_verb(who, acts[0]),
        vg=_gerund(who, acts[0]),
        l=enumerated(who, acts),
    )


def _verb(who: Narrator, act: Act) -> Phrase:
    """A verb of going that fits before several places at once."""
    if who.world == "bare" and act.forms["staying"].startswith("[keep {x}"):
        return who.say("[see|observe|visit|do|reach|achieve|have]")
    return who.say(
        "[visit|visit|visit|visit|go to|go to|go to|reach|head to|move to|travel to|make your way to|stop "
        "by|make a round through|take a tour of|do a round of|walk"
        " to|stop at|explore|navigate to|proceed to|enter|see|drive to|get to|find|drop by|tour]"
    )


def _gerund(who: Narrator, act: Act) -> Phrase:
    if who.world == "bare" and act.forms["staying"].startswith("[keep {x}"):
        return who.say("[seeing|observing|visiting|doing|reaching|having]")
    return who.say(
        "[visiting|visiting|visiting|going to|going to|reaching|heading to|moving to|traveling to"
        "|returning to|coming"
        " back to|walking to|stopping at|exploring|entering|going back to]"
    )


def _chained(who: Narrator, acts: list[Act], link: str, last: str) -> Phrase:
    words = list(acts[0].say(who.rng, "do"))
    verb = _verb(who, acts[0]) if who.chance(0.5) else None
    if verb:
        words = [*verb, *acts[0].thing]
    for index, act in enumerate(acts[1:], start=2):
        words += (last if index == len(acts) and who.chance(0.7) else link).split()
        words += (*verb, *act.thing) if verb else act.say(who.rng, "do")
    return tuple(words)
