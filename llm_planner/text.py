"""Redaction of secrets, and cleaning of text for terminals, logs and the journal.

Redaction removes strings that look like secrets (credentials in a URL, `Authorization` headers, bearer tokens, query
parameters with keys) and known values: those that the caller passes, and those of environment variables whose names
mark them as secret (`OPENAI_API_KEY`, `HF_TOKEN`, ...). Cleaning removes escape sequences and control characters.
"""

from __future__ import annotations

import base64
import functools
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

REDACTED = "[redacted]"
LEAST = 6  # [characters] shorter values are words ("none", "key"); redacting them would garble the text
_NAMES = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
_SCHEME = r"(?:Bearer|Basic|Digest|Token|Negotiate)"
_FORMS = (
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/?#\"'<>]*@", re.IGNORECASE), rf"\1{REDACTED}@"),
    (
        re.compile(rf"(\b(?:Proxy-)?Authorization[\"']?\s*[:=]\s*[\"']?)(?:{_SCHEME}\s+)?[^\s\"',;<>]+", re.IGNORECASE),
        rf"\1{REDACTED}",
    ),
    (re.compile(r"(\bBearer\s+)(?=[A-Za-z._~+/=-]*[0-9])[\w.~+/=-]{8,}", re.IGNORECASE), rf"\1{REDACTED}"),
    (
        re.compile(
            r"([?&;](?:[a-z0-9]+[_-])*(?:key|apikey|token|secret|password|passwd|sig|signature)=)[^\s&;#\"'<>]+",
            re.IGNORECASE,
        ),
        rf"\1{REDACTED}",
    ),
)


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace every secret in `text`: the given `secrets`, keys in the environment, and strings that look like one."""
    return _without(text, _values((*secrets, *_keys_in(os.environ))))


def redacted_data(data: Any, secrets: Iterable[str] = ()) -> Any:
    """Redact every text in nested mappings, lists and tuples; tuples become lists, other values stay unchanged."""
    return _data_without(data, _values((*secrets, *_keys_in(os.environ))))


def _values(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Compile a pattern for `secrets`, longest first because one may contain another; None if there are none."""
    values = {value for value in secrets if len(value) >= LEAST}
    return re.compile("|".join(map(re.escape, sorted(values, key=len, reverse=True)))) if values else None


def _without(text: str, values: re.Pattern[str] | None) -> str:
    if values is not None:
        text = values.sub(REDACTED, text)
    for form, replacement in _FORMS:
        text = form.sub(replacement, text)
    return text


def _data_without(data: Any, values: re.Pattern[str] | None) -> Any:
    if isinstance(data, str):
        return _without(data, values)
    if isinstance(data, Mapping):
        return {_data_without(key, values): _data_without(value, values) for key, value in data.items()}
    return [_data_without(value, values) for value in data] if isinstance(data, (list, tuple)) else data


@functools.lru_cache(maxsize=64)
def secrets_of_url(url: str) -> tuple[str, ...]:
    """Return the password in `url` and the credentials in HTTP basic authentication form; () if it has none."""
    try:
        parts = urlsplit(url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
    except ValueError:  # not a URL, so nothing can be sent there
        return ()
    if not (user or password):
        return ()
    basic = base64.b64encode(f"{user}:{password}".encode()).decode()
    spellings = {password or user, quote(password or user, safe=""), parts.password or parts.username or ""}
    return (*sorted(spellings - {""}), basic)


def _keys_in(environment: Mapping[str, str]) -> list[str]:
    return [value for name, value in environment.items() if _NAMES.search(name)]


MOST_READ = 200_000  # [characters] of a server's text that are processed for a message
# ECMA-48: control sequences (colours, cursor), strings up to their terminator (titles, links), other escapes.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)


def plain_text(text: str) -> str:
    """Remove escape sequences and control characters from `text`, and collapse white space."""
    visible = "".join(c for c in _ESCAPES.sub("", text) if c.isprintable() or c.isspace())
    return " ".join(visible.split())


def shortened(text: str, length: int) -> str:
    """Cut `text` to `length` characters; an ellipsis marks the cut."""
    return text if len(text) <= length else text[: length - 1] + "…"


def server_text(text: str, length: int, secrets: Iterable[str] = ()) -> str:
    """Return a server's text as one redacted line of at most `length` characters."""
    return shortened(redacted(plain_text(text[:MOST_READ]), secrets), length)


def in_one_sentence(reasons: Iterable[str]) -> str:
    """Join the reasons with semicolons; add a full stop unless they end in a question or exclamation mark."""
    joined = "; ".join(reason.strip().rstrip(".") for reason in reasons)
    return joined if joined.endswith(("?", "!")) else f"{joined}."
