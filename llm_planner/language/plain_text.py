"""Text as a person sees it: what a terminal would act on, and what nobody can see, is gone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llm_planner.redaction import redacted

MOST_READ = 200_000  # characters of a server's text that are looked at for a sentence about it
# ECMA-48: control sequences (colours, cursor), strings up to their terminator (titles, links), other escapes.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)


def plain_text(text: str) -> str:
    """`text` without escape sequences and control characters; words stay apart only where white space was."""
    visible = "".join(c for c in _ESCAPES.sub("", text) if c.isprintable() or c.isspace())
    return " ".join(visible.split())


def shortened(text: str, length: int) -> str:
    """At most `length` characters of `text`, with an ellipsis where it was cut."""
    return text if len(text) <= length else text[: length - 1] + "…"


def server_text(text: str, length: int, secrets: Iterable[str] = ()) -> str:
    """What a server said, as people may see it: one line without secrets, at most `length` characters."""
    return shortened(redacted(plain_text(text[:MOST_READ]), secrets), length)


def in_one_sentence(reasons: Iterable[str]) -> str:
    """The reasons, parted by semicolons, with a full stop where they do not end in a question or exclamation mark."""
    joined = "; ".join(reason.strip().rstrip(".") for reason in reasons)
    return joined if joined.endswith(("?", "!")) else f"{joined}."
