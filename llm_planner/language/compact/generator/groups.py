"""References to a set by what it leaves out, how many it takes, or where it lies: "all the blocks but the red one"."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.references import ANY_KIND, Said, Speaker, leaf
from llm_planner.language.compact.generator.surface import chance, fill
from llm_planner.language.compact.grammar import Node


def related_group(speaker: Speaker) -> Said:
    """A set, named by what it leaves out, how many it takes, or where it lies."""
    choices: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
        (0.3, _except),
        (0.12, _not_color),
        (0.08, _not_kind),
        (0.22, _listed),
        (0.12, _take),
        (0.08, _side_all),
        (0.08, _at_place),
    )
    weights = [weight for weight, _ in choices]
    return choices[int(speaker.rng.choice(len(choices), p=weights))][1](speaker)


def _except(speaker: Speaker) -> Said:
    items, words = speaker.group()
    kind = items.children[0]
    inside = [t for t in speaker.things if kind == ANY_KIND or speaker.kind_node(t.kind) == kind]
    thing = inside[int(speaker.rng.integers(len(inside)))]
    plain = kind == ANY_KIND or chance(speaker.rng, 0.4)
    other, left_out = speaker.describe(thing) if plain else speaker.one_of_kind(thing)
    if chance(speaker.rng, 0.15):
        tail = speaker.pick(
            ("{g} but leave {o}", "{g} but keep {o} where it is", "{g} but leave {o} alone", "{g}, not {o}")
        )
        return leaf("except", items, other), fill(tail, g=words, o=left_out)
    but = speaker.pick(("except", "but", "except for", "other than", "apart from", "besides", "not including",
                        "excluding",
                        "but not", "aside from", "with the exception of", "save for"))  # fmt: skip
    rest = [t for t in inside if t != thing]
    if rest and chance(speaker.rng, 0.2):
        last = rest[int(speaker.rng.integers(len(rest)))]
        one, two = speaker.describe(thing), speaker.describe(last)
        if last.kind == thing.kind and kind != ANY_KIND and chance(speaker.rng, 0.6):
            one = speaker.by_color(thing)
            two = speaker.one_of_kind(last) if chance(speaker.rng, 0.5) else speaker.by_color(last)
        node = leaf("except", leaf("except", items, one[0]), two[0])
        if kind == ANY_KIND and chance(speaker.rng, 0.3):
            template = speaker.pick(("everything that is not {o} or {p}", "everything that's not {o} and not {p}"))
            return node, fill(template, o=one[1], p=two[1])
        return node, fill("{g} {b} {o} and {p}", g=words, b=but, o=one[1], p=two[1])
    return leaf("except", items, other), fill("{g} {b} {o}", g=words, b=but, o=left_out)


def _not_color(speaker: Speaker) -> Said:
    colored = [t for t in speaker.things if t.color]
    if not colored:
        return speaker.group()
    thing = colored[int(speaker.rng.integers(len(colored)))]
    noun = speaker.plural(thing.kind)[1]
    color = speaker.color_word(thing.color)
    templates = ("all the {n} that are not {c}", "the {n} that aren't {c}", "every non-{c} {n}", "the non {c} {n}",
                 "all {n} which are not {c}", "any {n} that are not {c}",
                 "the {n} that are any color but {c}")  # fmt: skip
    node = leaf("not_color", speaker.kind_node(thing.kind), speaker.color_node(thing.color))
    return node, fill(speaker.pick(templates), n=noun, c=color)


def _not_kind(speaker: Speaker) -> Said:
    kind = speaker.pick(speaker.kinds)
    noun, nouns = speaker.kind_word(kind), speaker.plural(kind)[1]
    templates = ("everything that is not a {n}", "everything that isn't a {n}", "all things that are not {m}",
                 "all the non-{n} things",
                 "anything that's not a {n}", "whatever is not a {n}", "everything but the {m}",
                 "everything except the {m}",
                 "all objects other than {m}", "everything which isn't a {n}")  # fmt: skip
    return leaf("not_kind", speaker.kind_node(kind)), fill(speaker.pick(templates), n=noun, m=nouns)


def _listed(speaker: Speaker) -> Said:
    count = min(int(speaker.rng.choice([2, 3, 4], p=[0.65, 0.27, 0.08])), len(speaker.things))
    if count < 2:
        return speaker.group()
    movers = [t for t in speaker.things if t.role == "mover"]
    pool = movers if len(movers) >= count else list(speaker.things)
    chosen = [pool[int(i)] for i in speaker.rng.choice(len(pool), count, replace=False)]
    same = {t.kind for t in chosen}
    if len(same) == 1 and all(t.color and t.name not in speaker.specials for t in chosen) and chance(speaker.rng, 0.55):
        return _colors_of_one_kind(speaker, [t.color for t in chosen], chosen[0].kind)
    said = [speaker.describe(t) for t in chosen]
    node = leaf({2: "pair", 3: "triple", 4: "four"}[count], *(node for node, _ in said))
    slots = {f"o{i}": words for i, (_, words) in enumerate(said)}
    return node, fill(_enumeration(speaker, count), **slots)


def _enumeration(speaker: Speaker, count: int) -> str:
    comma = speaker.pick((", ", " and ", ", "))
    head = comma.join(f"{{o{i}}}" for i in range(count - 1))
    return head + speaker.pick((" and ", " and ", ", and ", " as well as ")) + f"{{o{count - 1}}}"


def _colors_of_one_kind(speaker: Speaker, colors: list[str], kind: str) -> Said:
    """ "the red, green and blue blocks"."""
    words = {f"o{i}": speaker.color_word(color) for i, color in enumerate(colors)}
    noun = speaker.plural(kind, one=chance(speaker.rng, 0.4))[1]
    listed = _enumeration(speaker, len(colors))
    listed = listed.replace(" {o", " the {o") if chance(speaker.rng, 0.4) else listed
    node = leaf({2: "pair", 3: "triple", 4: "four"}[len(colors)],
                *(leaf("the", speaker.kind_node(kind), speaker.color_node(color)) for color in colors))  # fmt: skip
    return node, fill("the " + listed + " {n}", n=noun, **words)


def _take(speaker: Speaker) -> Said:
    kinds = [k for k in speaker.kinds if sum(t.kind == k for t in speaker.things) > 1]
    if not kinds:
        return speaker.group()
    items, noun = speaker.plural(str(speaker.rng.choice(kinds)))
    count = int(speaker.rng.integers(2, 6))
    word = lexicon.COUNTS[count - 1] if chance(speaker.rng, 0.7) else str(count)
    templates = (
        "{k} {n}",
        "{k} of the {n}",
        "any {k} {n}",
        "any {k} of the {n}",
        "just {k} {n}",
        "only {k} of the {n}",
    )
    if count == 2 and chance(speaker.rng, 0.1):
        word = "a couple of"
    return leaf("take", Node(f"n{count}"), items), fill(
        speaker.pick(templates[:1] if " " in word else templates), k=word, n=noun
    )


def _side_all(speaker: Speaker) -> Said:
    items, words = speaker.group()
    direction, where = speaker.direction(lexicon.SIDE_OF)
    (other, of), _ = speaker.one()
    template = speaker.pick(("{g} {d} {o}", "{g} that are {d} {o}", "{g} which are {d} {o}", "{g} lying {d} {o}"))
    return leaf("side_all", items, direction, other), fill(template, g=words, d=where, o=of)


def _at_place(speaker: Speaker) -> Said:
    if chance(speaker.rng, 0.5):
        noun = speaker.pick(("things", "objects", "blocks", "items", "stuff"))
        (other, words), thing = speaker.one("container")
        where = speaker.pick(lexicon.IN if thing.role == "container" else lexicon.ON)
        template = speaker.pick(("the {n} {w} {o}", "all the {n} {w} {o}", "everything {w} {o}", "the contents of {o}"))
        return leaf("contents", other), fill(template, n=noun, w=where, o=words)
    items, words = speaker.group()
    place, spot = speaker.region()
    at = speaker.pick(("on the ", "in the ", "at the ")) + spot[0].text.split(" the ", 1)[-1]
    return leaf("at_place", items, place), fill("{g} {w}", g=words, w=at)
