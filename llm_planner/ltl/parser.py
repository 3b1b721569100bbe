"""Parser of formulas, from infix or prefix notation.

    binds tightest     ! X N F G
                       U W R M      right-associative: a U b U c is a U (b U c)
                       &
                       |
                       ->           right-associative
    binds weakest      <->          right-associative

`F[0,10]`, `G[2,5]` and `U[0,10]` take a window in seconds from now. Alternative spellings: && || => <=> ~ [] <> ¬ ∧ ∨ →
↔ □ ◇. Errors point at the token that could not be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from llm_planner.errors import InputError
from llm_planner.ltl import formula as build
from llm_planner.ltl.formula import (
    ASSOCIATIVE,
    BINARY,
    FALSE,
    MAX_DEPTH,
    PREFIX_SPELLING,
    PROPOSITION,
    RESERVED,
    TRUE,
    UNARY,
    Formula,
    Window,
    spelt,
    window_of,
)

MAX_TEXT = 20_000  # characters
END = "end"
NAME = "name"
_SYMBOLS = {  # spelling (longest first): operator
    "<->": "<->", "<=>": "<->", "->": "->", "=>": "->", "&&": "&", "||": "|", "[]": "G", "<>": "F",
    "&": "&", "|": "|", "!": "!", "~": "!", "(": "(", ")": ")",
    "¬": "!", "∧": "&", "∨": "|", "→": "->", "↔": "<->", "□": "G", "◇": "F",
}  # fmt: skip
_MISWRITTEN = re.compile(r"[<>]=|(?<=[<>])\s*-|=(?!>)")  # invalid comparisons that people write
_WORD = re.compile(r"[^\W\d]\w*")
_SPACE = re.compile(r"\s*")
_WINDOW = re.compile(r"\s*\[\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*,\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*\]")
_WINDOWED = ("F", "G", "U")
_ADVICE = {
    "and": "write & for and", "or": "write | for or", "not": "write ! for not", "implies": "write -> for implies",
    "until": "write U for until", "always": "write G for always", "eventually": "write F for eventually",
    "next": "write X for next", "never": "write G ! for never", "1": "write true", "0": "write false",
    "<=": "comparisons are written with < or >: speed(robot) < 0.2",
    ">=": "comparisons are written with < or >: distance(robot, vase) > 0.3",
    "=": "comparisons are written with < or >: speed(robot) < 0.2",
    "-": "a number is not negative: distances, speeds and heights never are, as in distance(robot, vase) > 0.3",
    ">": "a comparison needs a number: distance(robot, vase) > 0.3",
    "<": "a comparison needs a number: speed(robot) < 0.2",
    ",": "a comma only separates arguments: write in(robot, lab), without a space before ( and closed by )",
    "[": "a window is two times in seconds after F, G or U: F[0,10] a",
}  # fmt: skip
_RUN_TOGETHER = re.compile(r"[XNFG]{2,}")


class FormulaError(InputError):
    """Error in the text of a formula; `position` is the index of the character where parsing failed."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


@dataclass(frozen=True)
class Token:
    """Token: an operator, a parenthesis, a NAME or the END. `text` is as found, or a proposition in normal form."""

    kind: str
    text: str
    position: int
    window: Window | None = None


def tokens(text: str) -> list[Token]:
    """Split a formula into tokens, with END last. Raises FormulaError at the first character that starts no token."""
    if len(text) > MAX_TEXT:
        message = f"the formula has {len(text)} characters; at most {MAX_TEXT} are read; give its parts separately"
        raise FormulaError(message, MAX_TEXT)
    found: list[Token] = []
    position = _skip(text, 0)
    while position < len(text):
        token, position = _token(text, position)
        found.append(token)
        position = _skip(text, position)
    return [*found, Token(END, "the end", position)]


def _skip(text: str, position: int) -> int:
    return _SPACE.match(text, position).end()  # type: ignore[union-attr] # no space also matches


def _token(text: str, position: int) -> tuple[Token, int]:
    word = _WORD.match(text, position)
    if word and word[0] not in RESERVED:
        return _name(text, position)
    symbol = word[0] if word else next((s for s in _SYMBOLS if text.startswith(s, position)), "")
    if not symbol:
        raise error_at(text, _unknown(text, position), "a proposition or an operator")
    kind, end = _SYMBOLS.get(symbol, symbol), position + len(symbol)
    if window := _WINDOW.match(text, end) if kind in _WINDOWED else None:
        return Token(kind, symbol, position, _window(text, window)), window.end()
    return Token(kind, symbol, position), end


def _unknown(text: str, position: int) -> Token:
    """Return the text that starts no token: one character, or a whole miswritten comparison."""
    for start in (position, position + 1):
        if match := _MISWRITTEN.match(text, start):
            return Token(found := match[0].strip(), found, match.end() - len(found))
    return Token(text[position], text[position], position)


def _window(text: str, match: re.Match[str]) -> Window:
    try:
        return window_of((float(match[1]), float(match[2])))
    except InputError as error:
        raise pointing(text, text.index("[", match.start()), str(error)) from error


def _name(text: str, position: int) -> tuple[Token, int]:
    match = PROPOSITION.match(text, position)
    assert match is not None  # a word begins here
    try:
        return Token(NAME, spelt(match), position), match.end()
    except InputError as error:
        raise pointing(text, position, str(error)) from error


def error_at(text: str, token: Token, expected: str, before: Token | None = None) -> FormulaError:
    """Return an error that states what `token` is, what was expected and what to do; `before` precedes it."""
    found = token.text if token.kind == END else repr(token.text)
    return pointing(text, token.position, f"found {found}, expected {expected}", _advice(token, before))


def _advice(token: Token, before: Token | None) -> str:
    for word in (token.text, before.text if before else ""):
        if word.lower() in _ADVICE:
            return _ADVICE[word.lower()]
        if _RUN_TOGETHER.fullmatch(word):
            return f"write a space between operators: {' '.join(word)}"
    if before and before.kind == NAME and token.kind == "(":
        return (
            f'write {before.text}(argument, ...) without a space, with no ( ) < > & | ! " in the argument, and close it'
        )
    if token.kind == END:
        return "complete the formula, for example G !a or F (a & F b)"
    return "for example: G !a, F (a & F b), !a U b, G (a -> X b)"


def pointing(text: str, position: int, problem: str, advice: str = "") -> FormulaError:
    """Return an error with the problem, the surrounding text with a caret below the position, and the advice."""
    first = max(0, position - 50)
    part = re.sub(r"\s", " ", text[first : position + 30])
    lines = [f"cannot read the formula at character {position + 1}: {problem}", f"  {part}"]
    lines.append(f"  {' ' * (position - first)}^")
    return FormulaError("\n".join([*lines, advice] if advice else lines), position)


__all__ = ["FormulaError", "parse", "parse_prefix"]

MAX_NESTING = 2 * MAX_DEPTH  # of parentheses and operators, before simplification
_CONSTANTS = {"true": TRUE, "false": FALSE}
_OPERAND = "a proposition, true, false, ( or one of ! X N F G"
_OPERATOR = "one of & | -> <-> U W R M, ) or the end"


def parse(text: str) -> Formula:
    """Parse a formula in infix notation. Raises FormulaError that shows the position and what could stand there."""
    return _Infix(text).formula()


def parse_prefix(text: str) -> Formula:
    """Parse a formula in Lang2LTL's prefix notation (arXiv 2302.11649): `& F a G i b X c`. Raises FormulaError."""
    words = [_prefix_token(token) for token in tokens(text)]
    _check_arity(text, words)
    stack: list[Formula] = []
    for token in reversed(words[:-1]):
        count = _arity(token)
        operands = [stack.pop() for _ in range(count)]
        stack.append(_built(text, token, operands) if count else _leaf(token))
    return stack[0]


def _prefix_token(token: Token) -> Token:
    operators = {spelling: operator for operator, spelling in PREFIX_SPELLING.items()}
    return Token(operators[token.text], token.text, token.position) if token.text in operators else token


def _arity(token: Token) -> int:
    return 2 if token.kind in BINARY else 1 if token.kind in UNARY else 0


def _check_arity(text: str, words: list[Token]) -> None:
    """Check that every operator has its operands and that nothing is left over."""
    missing = 1
    for before, token in zip([None, *words], words, strict=False):
        if token.kind == END and missing:
            raise error_at(text, token, f"{missing} more operand{'s' if missing > 1 else ''}", before)
        if token.kind in ("(", ")"):
            raise error_at(text, token, "no parentheses in prefix notation", before)
        if token.kind != END and not missing:
            raise error_at(text, token, "the end: the formula is already complete", before)
        missing += _arity(token) - 1


def _leaf(token: Token) -> Formula:
    return _CONSTANTS[token.kind] if token.kind in _CONSTANTS else build.atom(token.text)


def _built(text: str, token: Token, operands: list[Formula]) -> Formula:
    """Apply the operator. Errors of its constructor about limits and windows receive the position in the text."""
    try:
        if token.window:
            return build.CONSTRUCTORS[token.kind](*operands, within=token.window)
        return build.CONSTRUCTORS[token.kind](*operands)
    except InputError as error:
        raise pointing(text, token.position, str(error)) from error


class _Infix:
    """Precedence climbing over the tokens of one text."""

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
        """Parse operands joined by operators that bind at least as strongly as `weakest`."""
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
            return _leaf(token)
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
