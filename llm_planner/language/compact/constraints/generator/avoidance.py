"""What must never be: places to keep out of, things to leave alone, and how several are named at once."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.itineraries import Said, enumerated
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, listed, node
from llm_planner.language.compact.grammar import Node

NOT = (
    "[never|never|never|do not|do not|don't|don't ever|you must not|you must never|you cannot|you can never|you may "
    "not|you"
    " are not allowed to|you should never|you are never to|you shall not|do not ever|make sure you never|make sure "
    "that you"
    " never|make sure not to|make sure to never|ensure that you never|be careful not to|you are forbidden to|refrain "
    "from ever"
    " trying to|take care not to|at no time [may|should] you|you mustn't|you shouldn't|you can't|under no "
    "circumstances|in no"
    " case|dont|please do not|please never|please don't|no matter what , do not|you better not|try not to|watch out "
    "not to"
    "|you are prohibited to|always make sure not to|i don't want you to|you are not to|never ever|you aren't allowed "
    "to|i"
    " never want you to|you will not|you won't|you do not|you don't|you never|whatever you do , [do not|don't|never]"
    "|do not"
    " even think [of|about] it : never]"
)

_SIZES = (0.45, 0.24, 0.14, 0.1, 0.05, 0.02)


def choice(who: Narrator, sizes: tuple[float, ...] = _SIZES) -> int:
    return int(who.rng.choice(len(sizes), p=sizes)) + 1


def several(who: Narrator, draw: Callable[[], Act], count: int) -> list[Act]:
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
    acts = alike(who, choice(who))
    return node("never", listed([act.node for act in acts])), _never(who, acts)


def _nothing_there(who: Narrator) -> Said:
    """A place where nothing, or nothing of a kind, may be put."""
    thing, words = who.several("any")
    if who.world == "rooms":
        room = who.room(forms.PLACE, "in_room")
        step, where, base, at = "is_in", room.node.children[0], room.thing, "[in|into]"
    else:
        where, base = who.base()
        step, at = who.pick((("is_in", "[in|into]"), ("is_on", "[on|onto|on top of]")))
    everything = thing == node("any", node("these", node("any_kind"), node("any_color")))
    return node("never", listed([node(step, thing, where)])), who.say(
        f"[nothing [may|must|should|can] be [put|placed|left] {at} {{y}}|[put|place|leave] nothing {at} {{y}}|{NOT} "
        f"[put|place|"
        f"leave] {{x}} {at} {{y}}|nothing [goes|belongs] {at} {{y}}|keep {{y}} [empty|free|clear]]"
        if everything
        else f"[{NOT} [put|place|leave|drop] {{x}} {at} {{y}}|without [putting|placing] {{x}} {at} {{y}}|no [putting"
        f"|placing] "
        f"{{x}} {at} {{y}}]",
        x=words,
        y=base,
    )


def _never_any(who: Narrator) -> Said:
    if who.chance(0.25):
        return _nothing_there(who)
    step, kinds = who.pick(
        (
            ("moved", forms.MOVED),
            ("moved", forms.MOVED),
            ("holding", forms.HOLDING),
            ("near", forms.NEAR),
            ("over", forms.OVER),
        )
    )
    thing, words = who.several("any")
    act = Act(holding(step, thing), kinds, words)
    return node("never", listed([act.node])), _never(who, [act])


def holding(step: str, thing: Node) -> Node:
    """To hold anything at all is a state of its own."""
    anything = node("any", node("these", node("any_kind"), node("any_color")))
    return node("holding_any") if step == "holding" and thing == anything else node(step, thing)


PASSIVE = (
    "[must not|may not|should not|cannot|can't|mustn't|is not to|isn't to|are not to|shall not|must never|may never"
    "|should "
    "never|is never to|can never|shouldn't|is not allowed to|does not have to]"
)


def _never(who: Narrator, acts: list[Act]) -> Phrase:
    first = acts[0]
    if who.world != "bare" and first.node.step in ("is_in", "is_on", "is_beside", "is_at") and who.chance(0.5):
        return who.say(
            f"[{{x}} {PASSIVE} [end up|be|go|land|lie] [in|inside|on] {{y}}|{{x}} {PASSIVE} be {{be}}|[under no "
            f"circumstances|in"
            " no case] [may|should|must] {x} [end up|be] [in|inside|on] {y}|[keep|leave] {x} [out of|away from|off] "
            "{y}|{x} "
            "[stays|must stay|should stay|has to stay] out of {y}|{x} does not [belong|go] [in|into|on] {y}|[never"
            "|don't] let "
            "{x} [end up|get|go|be] [in|into|on] {y}|without [putting|leaving] {x} [in|on] {y}]"
            if first.node.step == "is_in"
            else f"[{{x}} {PASSIVE} be {{be}}|{{x}} must never be {{be}}|{NOT} {{do}}]",
            x=first.thing,
            y=first.extra,
            be=who.say(first.forms["be"], y=first.extra),
            do=first.say(who.rng, "do"),
        )
    some = enumerated(who, acts, who.pick(("or", "or", "and"))) if len(acts) > 1 else first.thing
    whole = Act(first.node, first.forms, some, first.extra)
    if who.world != "bare" and len(acts) == 1 and who.chance(0.05):
        again = Act(first.node, first.forms, who.say("[it|it|that]"), first.extra)
        return who.say(
            "[careful with|watch|mind|look out for|be careful with|about] {l} [:|,|!|.|! !] {n} {do}",
            l=first.thing,
            n=who.say(NOT),
            do=again.say(who.rng, "do"),
        )
    slots = {"do": whole.say(who.rng, "do"), "g": whole.say(who.rng, "doing"), "l": some, "v": first.say(who.rng, "do")}
    if len(acts) > 1 and who.world == "bare" and who.chance(0.15):  # in a scene these are several rules
        words: list[object] = []
        for index, act in enumerate(acts):
            words += who.say("[and|,|, and]") if index else ()
            words += who.say(
                "[never {do}|do not {do}|avoid {g}|don't {do}|stay away from {l}]"
                if act.forms in (forms.PLACE, forms.NEAR)
                else "[never {do}|do not {do}|avoid {g}|don't {do}]",
                do=act.say(who.rng, "do"),
                g=act.say(who.rng, "doing"),
                l=act.thing,
            )
        return tuple(words)  # type: ignore[arg-type]
    draw = who.rng.random()
    if who.world != "bare" and first.forms is not forms.HANDED and who.chance(0.14):
        return who.say(
            f"[{{l}} {PASSIVE} be {{be}}|{{l}} {PASSIVE} be {{be}}|without {{l}} being {{be}}|no {{v}}|not {{v}}"
            f"|{{g}} is "
            "[taboo|a no - go|off the table|out of the question]|never {g}|without ever {g}|i do not want [you to {do}"
            "|{l} to "
            "be {be}]|[see to it|make sure] that {l} [is|are] not {be}]",
            be=who.say(first.forms["be"], y=first.extra),
            **slots,
        )
    if first.forms is forms.EVENT:
        return who.say(
            "[{l} [must|should|shall|may|can|will] never [happen|occur|hold|be true|be seen|be observed]|never [have"
            "|let|allow] {l}"
            " [happen|occur|be true|]|[it is|it's] never the case that {l} [happens|holds|is true|]|avoid {l}|{l} never"
            " [happens|occurs|holds|becomes true]|{l} [is|are] [always false|never true|forbidden|not allowed]|{l} "
            "does not ever"
            " [happen|hold]|no {l} [ever|]|there is never [a|] {l}|globally not {l}|always not {l}|at no time {l}"
            "|{l} is never"
            " [observed|seen|true|set|granted|active]|prevent {l} from [happening|ever happening]]",
            **slots,
        )
    if first.forms in (forms.PLACE, forms.PERSON, forms.NEAR) and draw < 0.4:
        return who.say(
            "[[always|] [stay|keep] [away|well away|clear|far away|off] from {l} [at all times|at all costs|all the "
            "time|no matter"
            " what|]|[always|] [avoid|steer clear of|keep clear of|stay clear of|shun|keep off|bypass|stay out of"
            "|keep out of|give"
            " {l} a wide berth ,|circumvent] {l} [at all costs|at all times|always|]|you [must|should|have to|need to]"
            " [always|] [avoid|stay away from|keep away from|stay clear of|stay out of] {l} [at all times|at all "
            "costs|]|[avoid"
            "|without|no|refrain from|always avoid] {g}|{l} [is|are] [off limits|forbidden|prohibited|not allowed|a "
            "no - go area"
            "|out of bounds]|{l} [must|should] be avoided [at all times|at all costs|]|{l} [cannot|must not|should "
            "not|may not|can"
            " not] be [visited|entered|reached|approached] [at any time|ever|at all|]|{l} [must|should|may|can] "
            "never be"
            " [visited|entered|reached|approached]|you [can|may] [go|be] [anywhere|everywhere|wherever you like] "
            "[but|except|but not] [in|to|into|] {l}|go anywhere but "
            "[not|] {l}"
            "|[while|] [avoiding|staying away from|keeping away from|staying clear of|staying out of] {l}|without "
            "{g}|under no"
            " circumstances [approach|enter|go near] {l}|[make sure|ensure] [that|] {l} [is|are] never [visited"
            "|reached|entered]"
            "|keep your distance from {l}|no {l}|not {l}|never {l}|{l} [is|are] [taboo|a no - go|a no go|closed|off "
            "- limits|restricted"
            "|not for you]"
            "|not a step [into|in] {l}|[nobody|no one] [enters|goes into|goes near|visits] {l}|[stay|keep] [well"
            "|far] away from {l}|[stay|keep] out of {l}|[stay|keep] off "
            "{l}|do not "
            "[come|get|go] [too|] close to {l}|[never|do not] [get|come] near {l}|[make sure|ensure] [you|to] [stay "
            "away from|avoid|keep clear of] {l}]",
            **slots,
        )
    if first.forms in (forms.MOVED, forms.HOLDING) and draw < 0.25:
        return who.say(
            "[you [can|may] [touch|move|use|play with|take|do what you like with] [everything|anything|all things] "
            "[but|except"
            "|other than] {l}|no touching {l}|no touch {l}|leave {l} [alone|where it is|be|alone]|{l} [has|have] to "
            "stay [exactly|] where [it is|they are]|hands off {l}|{l} "
            "[stays|stay|remains] [put|where it is|where "
            "they are|in "
            "place]|that is my {l} . [don't|do not|never] [touch|move] it|{l} [is|are] [hot|fragile|wet|full|mine"
            "|expensive|delicate|dirty|not "
            "yours] [,|.|!|, so] [don't|do not|never] [touch|move] [it|them]|don't you [dare|] touch {l}|{l} is not to "
            "be touched|"
            "leave {l} [alone|where it is|in place|where they are|as it is|untouched|be]|{l} [must|should|has to"
            "|shall] [stay|remain]"
            " [where it is|in place|untouched|put|where they are]|hands off {l}|{l} [must|should|may] [not|never] be "
            "[moved|touched"
            "|disturbed]|keep {l} [where it is|in place]|keep your hands off {l}|let {l} stay where it is|{l} is not "
            "to be"
            " [moved|touched]]"
            if first.forms is forms.MOVED
            else "[{l} [must|should|may] [not|never] be [picked up|lifted|grabbed|taken|carried]|without {g}|never "
            "{v}]",
            **slots,
        )
    if first.forms is forms.OVER and draw < 0.25:
        return who.say(
            "[keep [the space above|the air above] {l} clear|stay out of the space above {l}|never have "
            "the [arm|hand"
            "|gripper] [over|above] {l}|do not let the [arm|gripper|hand] [pass|go|move|get] over {l}]",
            **slots,
        )
    return who.say(
        f"[{NOT} {{do}} [at any time|ever|at all|at any point|]|{NOT} {{do}}|{NOT} {{do}}|without [ever|] {{g}}"
        f"|avoid {{g}}|no {{g}}"
        "|{g} is [forbidden|not allowed|prohibited|not permitted|a no go|banned]|[always|] [avoid|refrain from] {g}"
        "|[be careful"
        "|careful] [not to {v}|to avoid {g}]|not {g}|it is [forbidden|prohibited|not allowed] to {do}]",
        **slots,
    )
