"""What must be so while something is carried, or somewhere: "never carry the mug into the lab", "slow in the hall"."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator import acts as forms
from llm_planner.language.compact.constraints.generator import motion
from llm_planner.language.compact.constraints.generator.acts import Act
from llm_planner.language.compact.constraints.generator.avoidance import NOT, holding
from llm_planner.language.compact.constraints.generator.itineraries import Said, enumerated
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, node
from llm_planner.language.compact.grammar import Node

_WHILE = "[while|while|whenever|when|as long as|any time|if|every time|always when|during the time]"
_CARRIED = (
    "[you are [carrying|holding|transporting] {x}|you [carry|hold|have|transport] {x} [with you|in your [hand|hands"
    "|gripper|arm]|]|you've got {x} [with you|]|carrying {x}|holding {x}|transporting {x}|you have {x} on board|{x} is"
    " [being carried|in your [hand|hands|gripper]|with you|on board|held]|you're [carrying|holding] {x}|you are moving"
    " {x}]"
)
_WITH = "with {x} [in your [hand|hands|gripper]|in hand|on board|]"
_PASSIVE = "[must|may|shall|should|can] [not|never] be|[is|are] [never|not] to be|[can't|mustn't|cannot|isn't to] be"


def carrying(who: Narrator) -> Said:
    """Keeping away from a place with something in hand."""
    load, words = _load(who)
    here = who.nearby() if who.world == "table" or who.chance(0.25) else who.room(forms.PLACE, "in_room")
    if who.world == "table" and who.chance(0.5):
        here = who.over()
    if here.forms in (forms.PLACE, forms.NEAR) and who.chance(0.2):
        here = _either(who, here)
    if here.forms is forms.PLACE and who.chance(0.5):
        return _rule(load, node("isnt", here.node)), _into(who, words, here)
    held = who.say(_CARRIED, x=words)
    r = who.rng
    return _rule(load, node("isnt", here.node)), who.say(
        f"[{_WHILE} {{h}} [,|] {{n}} {{do}}|{_WHILE} {{h}} [,|] {{n}} {{do}}|{{n}} {{do}} {_WHILE} {{h}}|{{n}} {{do}} "
        f"{_WHILE} {{h}}|{_WITH} [,|] {{n}} {{do}}|{{n}} {{do}} {_WITH}|{_WHILE} {{h}} [,|] [stay|keep] [away|clear] "
        f"[from|of] {{p}}|{_WHILE} {{h}} [,|] [avoid|stay out of|keep out of|keep away from|stay away from] {{p}}|"
        f"[avoid|stay out of|keep out of|keep away from|stay away from] {{p}} {_WHILE} {{h}}|[avoid|keep away from|"
        f"stay away from] {{p}} {_WITH}|{_WITH} [,|] [avoid|keep away from|stay away from|keep out of] {{p}}|no {{g}} "
        f"{_WHILE} {{h}}|{{g}} is [forbidden|not allowed] {_WHILE} {{h}}|{_WHILE} {{h}} you [do not|don't|never] "
        f"{{do}}]"
        if here.forms is not forms.OVER
        else f"[{_WHILE} {{h}} [,|] {{n}} {{do}}|{{n}} {{do}} {_WHILE} {{h}}|{_WITH} [,|] {{n}} {{do}}|{{n}} {{do}} "
        f"{_WITH}|no {{g}} {_WHILE} {{h}}|{{n}} [carry|lift|move|pass|hold] {{x}} [over|above|across] {{p}}|"
        f"{{x}} {_PASSIVE} [carried|lifted|moved|passed|held] [over|above] {{p}}]",
        h=held,
        n=who.say(f"[{NOT}|never|you never]"),
        do=here.say(r, "do"),
        g=here.say(r, "doing"),
        p=here.thing,
        x=words,
    )


def _either(who: Narrator, here: Act) -> Act:
    """One place or another."""
    there = who.nearby() if here.forms is forms.NEAR else who.room(forms.PLACE, "in_room")
    if there.node == here.node:
        return here
    return Act(node("either", here.node, there.node), here.forms, enumerated(who, [here, there], "or"))


def _into(who: Narrator, words: Phrase, here: Act) -> Phrase:
    return who.say(
        f"[{NOT} [carry|take|bring|transport|move|haul] {{x}} [into|into|to|through|in|inside|past] {{p}}|[never|do "
        f"not|"
        f"don't] [enter|go into|go to|visit|be in|go through] {{p}} {_WITH}|[never|do not|don't] [enter|go into|visit] "
        f"{{p}} [while|when] {{h}}|no [carrying|taking|bringing] {{x}} [into|to|through|in] {{p}}|{{x}} {_PASSIVE} "
        "[carried|taken|brought|transported] [into|to|through] {p}|{p} is [off limits|forbidden|out of bounds|taboo] "
        "[while|when|as long as] {h}|without [carrying|taking|bringing] {x} [into|to|through] {p}|[you|it] [must|may"
        "|can]"
        " only [enter|go into|visit] {p} without {x}|never [carrying|taking] {x} [into|through|to] {p}|[you are] not "
        "to "
        "[carry|take|bring] {x} [into|through|to] {p}]",
        x=words,
        p=here.thing,
        h=who.say(_CARRIED, x=words),
    )


def empty_handed(who: Narrator) -> Said:
    """A room in which nothing may be carried."""
    here = who.room(forms.PLACE, "in_room")
    return _rule(node("holding_any"), node("isnt", here.node)), who.say(
        f"[{NOT} [carry|take|bring|transport|have|hold] [anything|something|any object|a thing|any thing|any objects] "
        "[into|into|to|through|in|inside] {p}|[enter|visit|go into] {p} [only|only ever|always|just] [empty - handed"
        "|empty "
        "handed|with empty hands|with nothing in your [hand|hands|gripper]|without carrying anything]|[never|do not|"
        "don't] [enter|visit|go into|go to|be in] {p} [with|while|when] [anything in your [hand|hands]|you are "
        "carrying "
        "[something|anything]|carrying [something|anything]|holding [something|anything]]|nothing [may|must|can|should|"
        "shall] be [carried|taken|brought] [into|to|through] {p}|nothing [gets|is] [carried|taken|brought] [into|to] "
        "{p}|no [carrying|taking|bringing] [anything|things] [into|to|in] {p}|be empty - handed "
        "[whenever|when|while] you are in {p}|only [enter|go into|visit] {p} [empty - handed|empty handed"
        "|with empty hands]|in {p} you [must|may] "
        "not [hold|carry] anything|[hold|carry] nothing [in|while you are in|inside] {p}|do not have anything in your "
        "[hand|hands|gripper] [in|when you enter] {p}|never [carrying|bringing] anything into {p}|put everything down "
        "before you [enter|go into] {p}]",
        p=here.thing,
    )


def only_with(who: Narrator) -> Said:
    """A room that may be entered only with something in hand."""
    here = who.room(forms.PLACE, "in_room")
    load, words = who.thing()
    return node("whenever", here.node, node("holding", load)), who.say(
        f"[[only|you may only|you can only|just|you may] [enter|go into|go to|visit|be in|stay in] {{p}} [{_WITH}|if "
        f"{{h}}|[when|while] "
        f"{{h}}]|"
        "[enter|visit|go into] {p} only [if {h}|[when|while] {h}|with {x}]|[never|do not|don't|you may not] [enter|go "
        "into|go to|visit|be in] {p} [without {x}|without [carrying|holding|having] {x} [in your hand|with you|]"
        "|unless "
        "{h}|if you [are not|aren't] [carrying|holding] {x}|unless you have {x} [with you|]]|whenever you are in {p} "
        "you "
        "[must|have to|should] [be|] [carrying|holding|carry|hold|have] {x}|{p} [may|can] only be [entered|visited] "
        "[with {x}|if {h}]|no [entering|visiting] {p} without {x}|without {x} [,|] [stay out of|keep out of|avoid|do "
        "not "
        "enter] {p}|[carry|have|hold] {x} [whenever|when|while|as long as] you are in {p}]",
        p=here.thing,
        x=words,
        h=who.say(_CARRIED, x=words),
    )


def slowly(who: Narrator) -> Said:
    """A speed that must not be exceeded while something is so."""
    limit, slow = motion.slower(who)
    load, words = _load(who)
    held = who.say(f"[{_WHILE} {_CARRIED}|{_WITH}]", x=words)
    cause = load if load.step in ("holding_any", "holding") else node("holding", load)
    if who.world == "rooms" and who.chance(0.45):
        here = who.nearby() if who.chance(0.4) else who.room(forms.PLACE, "in_room")
        cause = here.node
        held = who.say(
            "[[when|while|whenever|if|as long as] {n}|near {p}|close to {p}|around {p}|[if|when] you [come|get] [near|"
            "close to] {p}]"
            if here.forms is forms.NEAR
            else "[[when|while|whenever|if|as long as] {n}|in {p}|inside {p}|in {p}]",
            n=here.say(who.rng, "now"),
            p=here.thing,
        )
    return node("whenever", cause, limit), who.say(
        "[{h} [,|] {s}|{s} {h}|{h} [,|] {s}|{full} {s} [when|while] you carry it]",
        full=who.say("{x} is [full|fragile|hot|heavy|open|delicate] [,|.|!|! !|, so]", x=words)
        if cause.step == "holding"
        else None,
        h=held,
        s=slow,
    )


def _load(who: Narrator) -> tuple[Node, Phrase]:
    """What is carried."""
    if who.chance(0.2):
        thing, words = who.several("any")
        return holding("holding", thing), words
    thing, words = who.thing()
    return thing, words


def _rule(load: Node, then: Node) -> Node:
    return node("whenever", load if load.step in ("holding_any", "holding") else node("holding", load), then)
