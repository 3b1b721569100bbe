"""Text to formula, infix or prefix.

    binds tightest     ! X N F G
                       U W R M      group to the right: a U b U c is a U (b U c)
                       &
                       |
                       ->           groups to the right
    binds weakest      <->          groups to the right

`F[0,10]`, `G[2,5]` and `U[0,10]` take a window in seconds from now. Also read: && || => <=> ~ [] <> ¬ ∧ ∨ → ↔ □ ◇.
"""

from __future__ import annotations

from llm_planner.errors import InputError
from llm_planner.temporal import formula as build
from llm_planner.temporal.formula import FALSE, MAX_DEPTH, TRUE, Formula
from llm_planner.temporal.lexer import END, NAME, FormulaError, Token, error_at, pointing, tokens
from llm_planner.temporal.printer import ASSOCIATIVE, BINARY, PREFIX_SPELLING, UNARY

__all__ = ["FormulaError", "parse", "parse_prefix"]

MAX_NESTING = 2 * MAX_DEPTH  # parentheses and operators within each other, before anything is simplified
_CONSTANTS = {"true": TRUE, "false": FALSE}
_OPERAND = "a proposition, true, false, ( or one of ! X N F G"
_OPERATOR = "one of & | -> <-> U W R M, ) or the end"


def parse(text: str) -> Formula:
    """A formula in infix; raises FormulaError that points at the place and says what could stand there."""
    return _Infix(text).formula()


def parse_prefix(text: str) -> Formula:
    """A formula in prefix, as in Lang2LTL's data (arXiv 2302.11649): `& F a G i b X c`; raises FormulaError."""
    words = [_prefix_token(token) for token in tokens(text)]
    _check_arity(text, words)
    stack: list[Formula] = []
    for token in reversed(words[:-1]):
        count = _arity(token)
        operands = [stack.pop() for _ in range(count)]
        stack.append(_built(text, token, operands) if count else _leaf(text, token))
    return stack[0]


def _prefix_token(token: Token) -> Token:
    operators = {spelling: operator for operator, spelling in PREFIX_SPELLING.items()}
    return Token(operators[token.text], token.text, token.position) if token.text in operators else token


def _arity(token: Token) -> int:
    return 2 if token.kind in BINARY else 1 if token.kind in UNARY else 0


def _check_arity(text: str, words: list[Token]) -> None:
    """Every operator has its operands, and nothing is left over."""
    missing = 1
    for before, token in zip([None, *words], words, strict=False):
        if token.kind == END and missing:
            raise error_at(text, token, f"{missing} more operand{'s' if missing > 1 else ''}", before)
        if token.kind in ("(", ")"):
            raise error_at(text, token, "no parentheses in prefix notation", before)
        if token.kind != END and not missing:
            raise error_at(text, token, "the end: the formula is already complete", before)
        missing += _arity(token) - 1


def _leaf(text: str, token: Token) -> Formula:
    return _CONSTANTS[token.kind] if token.kind in _CONSTANTS else build.atom(token.text)


def _built(text: str, token: Token, operands: list[Formula]) -> Formula:
    """The operator applied; limits and windows are checked by the constructors, the place is added here."""
    try:
        if token.window:
            return build.CONSTRUCTORS[token.kind](*operands, within=token.window)
        return build.CONSTRUCTORS[token.kind](*operands)
    except InputError as error:
        raise pointing(text, token.position, str(error)) from error


class _Infix:
    """Precedence climbing over the words of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tokens(text)
        self.index = 0
        self.nesting = 0

    @property
    def token(self) -> Token:
        return self.words[self.index]

    @property
    def before(self) -> Token | None:
        return self.words[self.index - 1] if self.index else None

    def take(self) -> Token:
        token = self.token
        self.index += 1
        return token

    def formula(self) -> Formula:
        result = self.expression(min(BINARY.values()))
        if self.token.kind != END:
            raise error_at(self.text, self.token, _OPERATOR, self.before)
        return result

    def expression(self, weakest: int) -> Formula:
        """Operands joined by operators that bind at least as strongly as `weakest`."""
        self.enter()
        left = self.operand()
        while BINARY.get(self.token.kind, 0) >= weakest:
            operator = self.take()
            strength = BINARY[operator.kind]
            operands = [left, self.expression(strength + (operator.kind in ASSOCIATIVE))]
            while operator.kind in ASSOCIATIVE and self.token.kind == operator.kind:
                self.take()
                operands.append(self.expression(strength + 1))
            left = _built(self.text, operator, operands)
        self.nesting -= 1
        return left

    def operand(self) -> Formula:
        token = self.take()
        if token.kind == NAME or token.kind in _CONSTANTS:
            return _leaf(self.text, token)
        if token.kind in UNARY:
            self.enter()
            result = _built(self.text, token, [self.operand()])
            self.nesting -= 1
            return result
        if token.kind == "(":
            return self.parenthesised(token)
        self.index -= 1
        raise error_at(self.text, token, _OPERAND, self.before)

    def parenthesised(self, opening: Token) -> Formula:
        result = self.expression(min(BINARY.values()))
        if self.token.kind != ")":
            expected = f"one of & | -> <-> U W R M, or the ) that closes character {opening.position + 1}"
            raise error_at(self.text, self.token, expected, self.before)
        self.take()
        return result

    def enter(self) -> None:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            problem = f"more than {MAX_NESTING} operators and parentheses within each other"
            raise pointing(self.text, self.token.position, problem, "give the parts as several formulas")
