"""On the pure part of the language the interpreter computes what Python computes."""

from hypothesis import given, settings
from hypothesis import strategies as st

numbers = st.integers(-50, 50).map(str)
texts = st.sampled_from(["''", "'a'", "'ab'", "'red block'"])


def binary(operands, operators):
    return st.tuples(operands, st.sampled_from(operators), operands).map(lambda t: f"({t[0]} {t[1]} {t[2]})")


def number_expressions(inner):
    return st.one_of(
        binary(inner, ["+", "-", "*", "/", "//", "%"]),
        inner.map(lambda x: f"(-{x})"),
        inner.map(lambda x: f"abs({x})"),
        st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"min([{t[0]}, {t[1]}])"),
        st.tuples(inner, truths(inner), inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.lists(inner, max_size=4).map(lambda xs: f"sum([{', '.join(xs)}])"),
        st.lists(inner, max_size=4).map(lambda xs: f"len([{', '.join(xs)}])"),
    )


def truths(operands):
    compared = binary(operands, ["<", "<=", ">", ">=", "==", "!="])
    return st.one_of(compared, compared.map(lambda x: f"(not {x})"), binary(compared, ["and", "or"]))


number = st.recursive(numbers, number_expressions, max_leaves=8)
lists = st.lists(number, max_size=5).map(lambda xs: f"[{', '.join(xs)}]")
bounds = st.one_of(st.just(""), st.integers(-6, 6).map(str))
list_expressions = st.one_of(
    lists,
    binary(lists, ["+"]),
    st.tuples(lists, st.integers(-1, 3)).map(lambda t: f"({t[0]} * {t[1]})"),
    st.tuples(lists, bounds, bounds).map(lambda t: f"{t[0]}[{t[1]}:{t[2]}]"),
    st.tuples(lists, number).map(lambda t: f"[x for x in {t[0]} if x < {t[1]}]"),
    lists.map(lambda x: f"[x * 2 + y for x in {x} for y in [0, 1]]"),
    lists.map(lambda x: f"list(reversed({x}))"),
    lists.map(lambda x: f"sorted({x}, reverse=True)"),
    lists.map(lambda x: f"[i * x for i, x in list(enumerate({x}))]"),
    st.tuples(lists, lists).map(lambda t: f"list(zip({t[0]}, {t[1]}))"),
    st.integers(-5, 20).map(lambda n: f"list(range({n}))"),
)
text_expressions = st.one_of(
    binary(texts, ["+"]),
    st.tuples(texts, bounds, bounds).map(lambda t: f"{t[0]}[{t[1]}:{t[2]}]"),
    st.tuples(texts, st.integers(-1, 3)).map(lambda t: f"({t[0]} * {t[1]})"),
)
membership = st.one_of(
    st.tuples(number, lists).map(lambda t: f"({t[0]} in {t[1]})"),
    st.tuples(texts, texts).map(lambda t: f"({t[0]} not in {t[1]})"),
)
indexing = st.tuples(lists, st.integers(-4, 4)).map(lambda t: f"{t[0]}[{t[1]}]")
chained = st.tuples(number, number, number).map(lambda t: f"({t[0]} < {t[1]} <= {t[2]})")
short_circuit = st.tuples(lists, number).map(lambda t: f"({t[0]} or {t[1]})")


def python(expression):
    """The value by Python itself: a test may do what the product must not."""
    try:
        return eval(expression)
    except (ZeroDivisionError, IndexError, ValueError):
        return "an error"


def ours(evaluate, expression):
    from llm_planner.programs.problems import ProgramError

    try:
        return evaluate(expression)
    except ProgramError:
        return "an error"


EVERYTHING = st.one_of(
    number, truths(number), list_expressions, text_expressions, membership, indexing, chained, short_circuit
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(EVERYTHING)
def test_an_expression_has_pythons_value(evaluate, expression):
    expected = python(expression)
    result = ours(evaluate, expression)
    assert result == expected
    assert type(result) is type(expected)
