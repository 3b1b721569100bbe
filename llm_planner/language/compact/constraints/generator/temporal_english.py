"""Temporal English over bare propositions that no pattern has words for: "either always a or eventually b"."""

from __future__ import annotations

from llm_planner.language.compact.constraints.generator.itineraries import Said
from llm_planner.language.compact.constraints.generator.narrator import Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, listed, node
from llm_planner.language.compact.grammar import Node

_UNARY = {
    "f_finally": "[eventually {a}|{a} eventually|at some point {a}|sooner or later {a}|finally {a}|it will "
    "[eventually|] be the case"
    " that {a}|eventually , {a}|{a} at some point|some time {a}|in the future {a}|there will be a [time|moment] when "
    "{a}]",
    "f_globally": "[always {a}|{a} always|globally {a}|at all times {a}|it is always the case that {a}|{a} at all "
    "times|globally , {a}"
    "|in every [step|state] {a}|{a} for ever|at every [moment|point] {a}|it always holds that {a}|invariantly {a}]",
    "f_next": "[in the next [step|state|moment] {a}|next {a}|{a} in the next [step|state|moment]|{a} next|one step "
    "later {a}|at the next"
    " [step|time step|instant] {a}|{a} at the next step]",
    "f_not": "[it is not the case that {a}|not {a}|it is not true that {a}|it never happens that {a}|it is false "
    "that {a}]",
}
_BINARY = {
    "f_and": "[{a} and {b}|both {a} and {b}|{a} and also {b}|{a} , and {b}|{a} as well as {b}|{a} and at the same "
    "time {b}]",
    "f_or": "[either {a} or {b}|{a} or {b}|{a} or else {b}|{a} , or {b}|at least one of {a} or {b}|either {a} , or "
    "{b}]",
    "f_implies": "[if {a} then {b}|{a} implies [that|] {b}|if {a} , {b}|{b} if {a}|{a} means that {b}|when {a} then "
    "{b}|provided that {a}"
    " , {b}|if it is the case that {a} then {b}]",
    "f_iff": "[{a} if and only if {b}|{a} exactly when {b}|{a} is equivalent to {b}|{a} just in case {b}|{a} iff {b}]",
    "f_until": "[{a} until {b}|until {b} , {a}|{a} [holds|] until {b} [holds|]|{a} up to the point where {b}|{a} as "
    "long as {b} has not"
    " [happened|come true]|{a} till {b}]",
}
_CLAUSE = "[{x}|{x}|{x}|{x} [holds|is true|happens|occurs|is the case]|{x} holds|{x} is true]"
_NOT_CLAUSE = "[not {x}|{x} [does not hold|is false|is not true|does not happen|is not the case|doesn't hold]|no {x}]"


def formula(who: Narrator) -> Said:
    """A random formula of up to three temporal operators."""
    form, words = _form(who, int(who.rng.choice([1, 2, 3], p=[0.3, 0.5, 0.2])), "ROOT")
    return pattern(form), words


def _form(who: Narrator, depth: int, above: str) -> tuple[Node, Phrase]:
    draw = who.rng.random()
    if depth == 0 or (above != "ROOT" and draw < 0.2):
        return _clause(who)
    if draw < 0.6 and above not in ("f_not", "f_until"):
        names = [name for name in _UNARY if name != above and not (name == "f_not" and above == "ROOT")]
        name = who.pick(names if who.chance(0.3) else [n for n in names if n != "f_not"])
        inner, words = _form(who, depth - 1, name)
        return node(name, inner), who.say(_UNARY[name], a=words)
    name = who.pick(("f_and", "f_or", "f_or", "f_implies", "f_implies", "f_iff", "f_until", "f_until"))
    one, first = _form(who, depth - 1, name)
    two, second = _form(who, depth - 1, name)
    return _merged(node(name, one, two)), who.say(_BINARY[name], a=first, b=second)


def _clause(who: Narrator) -> tuple[Node, Phrase]:
    draw = who.rng.random()
    name = who.name("prop", 9)
    if draw < 0.7:
        return node("holds", name.node), who.say(_CLAUSE, x=(name,))
    if draw < 0.88:
        return node("holds", node("isnt", name.node)), who.say(_NOT_CLAUSE, x=(name,))
    other = who.name("prop", 9)
    word, step = who.pick((("and", "both"), ("or", "either")))
    lead: tuple[str, ...] = (step,) if who.chance(0.4) else ()
    return node("holds", node(step, name.node, other.node)), (*lead, name, word, other)


def _merged(form: Node) -> Node:
    """Connectives of states are states: one tree for one meaning."""
    steps = {"f_and": "both", "f_or": "either"}
    if form.step in steps and all(child.step == "holds" for child in form.children):
        return node("holds", node(steps[str(form.step)], *(child.children[0] for child in form.children)))
    if form.step == "f_not" and form.children[0].step == "holds":
        return node("holds", node("isnt", form.children[0].children[0]))
    return form


def pattern(form: Node) -> Node:
    """The SPEC: a pattern where the formula is that of one."""
    shape = _shape(form)
    found = {
        "F.": "visit",
        "GF.": "patrol",
        "G.": "always",
        "G!": "never",
        "U..": "stay_until",
        "U!.": "not_before",
        "Gi.F.": "responds",
        "Gi.X.": "at_once",
        "Ge.X.": "just_then",
        "Gi..": "whenever",
        "Gi.!": "whenever",
        "U.!": "stay_until",
        "F!": "visit",
        "Gi!.": "whenever",
        "Gi!F.": "responds",
        "Gi!X.": "at_once",
        "Gi.F!": "responds",
        "Gi.X!": "at_once",
    }.get(shape)
    if found is None:
        return node("formula", form)
    leaves = _leaves(form)
    if found == "never" or found == "not_before":
        leaves[0] = leaves[0].children[0]
    if found in ("visit", "patrol", "always", "never"):
        return node(found, listed(leaves))
    return node(found, listed(leaves[:1]), leaves[1]) if found == "not_before" else node(found, *leaves)


_SIGNS = {
    "f_finally": "F",
    "f_globally": "G",
    "f_next": "X",
    "f_until": "U",
    "f_implies": "i",
    "f_iff": "e",
    "f_and": "&",
    "f_or": "|",
    "f_not": "n",
}


def _shape(form: Node) -> str:
    if form.step == "holds":
        return "!" if form.children[0].step == "isnt" else "."
    return _SIGNS[str(form.step)] + "".join(_shape(child) for child in form.children)


def _leaves(form: Node) -> list[Node]:
    if form.step == "holds":
        return [form.children[0]]
    return [leaf for child in form.children for leaf in _leaves(child)]
