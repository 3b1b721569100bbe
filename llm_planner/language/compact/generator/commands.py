"""Whole commands: one request, several in a row, conditional ones, and those that must be answered with a question."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner.language.compact.generator import actions, arrangements, lexicon
from llm_planner.language.compact.generator.anaphora import mentioned_again
from llm_planner.language.compact.generator.conditions import condition
from llm_planner.language.compact.generator.questions import question
from llm_planner.language.compact.generator.references import Said, Speaker, leaf, program, statements
from llm_planner.language.compact.generator.scenes import Thing
from llm_planner.language.compact.generator.surface import Fragment, chance, fill
from llm_planner.language.compact.generator.targets import target
from llm_planner.language.compact.grammar import Node

SINGLE: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (0.275, actions.put_one),
    (0.19, actions.put_group),
    (0.02, actions.put_into_it),
    (0.015, actions.push_group),
    (0.02, actions.take_out),
    (0.02, arrangements.deal),
    (0.07, actions.pick_one),
    (0.02, actions.place_held),
    (0.07, actions.push_one),
    (0.05, actions.shift_one),
    (0.08, arrangements.tower),
    (0.06, arrangements.match_colors),
    (0.05, arrangements.arrange),
    (0.03, arrangements.swap),
    (0.03, actions.gripper),
)


def command(speaker: Speaker) -> Said:
    """A derivation of ROOT and the words for it."""
    if chance(speaker.rng, 0.015):  # thinks better of it
        sorry = speaker.pick(
            ("actually no, just", "no wait,", "hmm no,", "actually,", "scratch that,", "forget that,", "no,")
        )
        node, words = single(speaker)
        return program([node]), fill("{a}. {s} {b}", a=single(speaker)[1], s=sorry, b=words)
    draw = speaker.rng.random()
    if draw < 0.56:
        node, words = single(speaker)
        return program([node]), words
    if draw < 0.77:
        return _several(speaker)
    if draw < 0.81:
        return mentioned_again(speaker)
    if draw < 0.86:
        return _conditional(speaker)
    return question(speaker, single)


def single(speaker: Speaker) -> Said:
    weights = [weight for weight, _ in SINGLE]
    return SINGLE[int(speaker.rng.choice(len(SINGLE), p=weights))][1](speaker)


def _several(speaker: Speaker) -> Said:
    """Two to four requests, "first ... then ... and finally ..."."""
    if chance(speaker.rng, 0.3):
        return _elliptical(speaker)
    count = int(speaker.rng.choice([2, 3, 4], p=[0.68, 0.25, 0.07]))
    said = [_short(speaker) for _ in range(count)]
    if chance(speaker.rng, 0.1):
        said[-1] = actions.gripper(speaker)
    template = speaker.pick(("{a0}", "{a0}", "first {a0}", "first of all {a0}", "start by: {a0}"))
    for i in range(1, count):
        last = i == count - 1
        joint = (" and then ", ", then ", " then ", " and ", ", and ", ". then ", ", after that ", ". ",
                 ", afterwards ", "; ",
                 ". after that ", ", and then ", ". next ", " and after that ", ", next ")  # fmt: skip
        final = (" and finally ", ", finally ", ". lastly ", ". finally ") if last and count > 2 else ()
        template += speaker.pick(joint + final) + f"{{a{i}}}"
    if count == 2 and chance(speaker.rng, 0.08):
        reverse = speaker.pick(
            ("before you {a1}, {a0}", "before that {a0}: {a1}", "after you {a0}, {a1}", "once you {a0}, {a1}")
        )
        template = template if reverse.startswith("before that") else reverse
    slots = {f"a{i}": words for i, (_, words) in enumerate(said)}
    return program([node for node, _ in said]), fill(template, **slots)


def _short(speaker: Speaker) -> Said:
    """A request short enough to be one of several."""
    draw = speaker.rng.random()
    if draw < 0.66:
        return actions.put_one(speaker)
    if draw < 0.76:
        return actions.put_group(speaker)
    return single(speaker)


def _elliptical(speaker: Speaker) -> Said:
    """Parallel requests with the verb said once: "put the red block in the bowl and the mug on the plate"."""
    count = int(speaker.rng.choice([2, 3], p=[0.75, 0.25]))
    parts: list[Said] = []
    moved: tuple[Thing, ...] = ()
    nodes: list[Node] = []
    for index in range(count):
        (item, words), thing = speaker.one("mover", other_than=moved)
        if index and chance(speaker.rng, 0.3):
            item, words = speaker.one_of_kind(thing) if chance(speaker.rng, 0.6) else speaker.by_color(thing)
        moved += (thing,)
        if chance(speaker.rng, 0.1):
            items, words = speaker.group()
            goal, where = target(speaker, allow_offset=False)
            nodes.append(actions.for_each(items, goal))
            parts.append((items, fill("{o} {t}", o=words, t=where)))
            continue
        goal, where = target(speaker, moved, allow_offset=False)
        nodes.append(leaf("put", item, goal))
        if goal.step == "at" and chance(speaker.rng, 0.25):
            where = (Fragment(where[0].text.split(" the ", 1)[-1]),)  # "orange block, top left corner"
            words = fill("{o},", o=words) if chance(speaker.rng, 0.5) else words
        parts.append(
            (
                item,
                fill(speaker.pick(("{o} {t}", "{o} {t}", "{o} goes {t}") if index else ("{o} {t}",)), o=words, t=where),
            )
        )
    verb = speaker.pick((*lexicon.PUT[:10], "i want", "i need", "i'd like", ""))
    joint = speaker.pick((" and ", ", ", " and then ", ", and ", ", then ", " and also ", " plus ", ". ", "; ", " "))
    template = (verb + " " if verb else "") + joint.join(f"{{p{i}}}" for i in range(count))
    slots = {f"p{i}": words for i, (_, words) in enumerate(parts)}
    return program(nodes), fill(template, **slots)


def _conditional(speaker: Speaker) -> Said:
    test, words = condition(speaker)
    action, done = _short(speaker)
    if chance(speaker.rng, 0.3):
        other, instead = _short(speaker)
        template = speaker.pick(("if {c}, {a}, otherwise {b}", "if {c} then {a} else {b}", "if {c} {a} otherwise {b}",
                                 "if {c}, {a}. if not, {b}"))  # fmt: skip
        node = leaf("when_else", test, statements([action]), statements([other]))
        return program([node]), fill(template, c=words, a=done, b=instead)
    template = speaker.pick(("if {c}, {a}", "if {c} then {a}", "if {c} {a}", "when {c}, {a}", "{a} if {c}",
                             "in case {c}, {a}",
                             "{a} but only if {c}", "only if {c} {a}", "{a} provided that {c}"))  # fmt: skip
    return program([leaf("when", test, statements([action]))]), fill(template, c=words, a=done)
