"""Requests that an open question is about, and what an answer makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_planner.correction.requests import Intent, Request

Requests = tuple[Request, ...]
_NAMES = ("thing", "instead_of", "target", "about")  # slots that hold names


@dataclass(frozen=True)
class Pending:
    """`choices` are the requests that each option of the question stands for; `fill` makes them of the name that an
    answer says, None where a name is no answer."""

    choices: tuple[Requests, ...] = ()
    fill: Callable[[str], Requests] | None = None


def pending_of(requests: Requests, which: int, words: str, names: Sequence[str]) -> Pending | None:
    """What a question completes that was asked because `words` of request number `which` were unclear.

    Args:
        requests: all that was asked for.
        which: number of the request that could not be carried out.
        words: its unclear words; "" where it names no thing at all.
        names: what each option of the question puts in their place.

    Returns:
        None where a name would not complete the request.
    """

    def fill(name: str) -> Requests:
        done = _filled(requests[which], words, name)
        return (*requests[:which], done, *requests[which + 1 :])

    if _filled(requests[which], words, "?") == requests[which]:
        return None
    return Pending(tuple(map(fill, names)), fill)


def _filled(request: Request, words: str, name: str) -> Request:
    if not words:
        lacks_thing = request.intent is Intent.OTHER_THING and not request.thing
        return replace(request, thing=name, negated=False, text="") if lacks_thing else request
    found: dict[str, Any] = {slot: name for slot in _NAMES if getattr(request, slot) == words}
    if not found and words in request.text:
        found = {"text": request.text.replace(words, name)}
    return replace(request, **found)
