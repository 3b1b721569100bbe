"""Which call comes next, by vote of sampled programs: those that go on with it, else those that make it at all."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

ELSEWHERE = 0.1  # of a vote, where a program makes the call at another time
SAME_SKILL = 0.3  # of a vote, where the program's call has variables: it may mean this one
NEVER = 0.01  # of a vote for every option, so that none is impossible

_CALL = re.compile(r"\s*(\w+)\((.*)\)\s*")
_LITERAL = re.compile(r'(?:"[^"]*"|[-+]?\d+(?:\.\d+)?)(?:\s*,\s*(?:\w+=)?(?:"[^"]*"|[-+]?\d+(?:\.\d+)?))*')


def option_log_probabilities(
    programs: Sequence[str], steps: Sequence[str], options: Sequence[str]
) -> tuple[float, ...]:
    """Log-probabilities of the `options` after `steps`; they sum to one."""
    plans = [_calls(program) for program in programs]
    votes = [NEVER + sum(_vote(plan, steps, option) for plan in plans) for option in options]
    return tuple(math.log(vote / sum(votes)) for vote in votes)


def _calls(program: str) -> list[str]:
    """Its calls, line by line, in the order of the text; a loop's once."""
    return [line.strip() for line in program.splitlines() if _CALL.fullmatch(line)]


def _vote(plan: Sequence[str], steps: Sequence[str], option: str) -> float:
    at = 0
    for step in steps:
        at += at < len(plan) and _fits(plan[at], step) > 0
    following = _fits(plan[at], option) if at < len(plan) else 0.0
    return max(following, ELSEWHERE * max((_fits(call, option) for call in plan), default=0.0))


def _fits(call: str, option: str) -> float:
    """1 for the same call, less where the program's call leaves open what it is about."""
    if _bare(call) == _bare(option):
        return 1.0
    mine, other = _CALL.fullmatch(call), _CALL.fullmatch(option)
    if mine is None or other is None or mine[1] != other[1] or not mine[2] or _LITERAL.fullmatch(mine[2]):
        return 0.0
    return SAME_SKILL


def _bare(text: str) -> str:
    return re.sub(r'["\s]', "", text)
