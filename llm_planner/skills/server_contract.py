"""What a manifest says of the server that moves a skill: where it is, what it is shown and what it is told.

server:
  kind: http                        # see llm_planner.skills.remote.message for what is said over it
  url: http://localhost:8093/act
  timeout: 2.0                      # [s] of real time until an answer comes too late
  image: false                      # whether it is shown what the camera sees
  instruction: pick up the {object} # a sentence; {fields} stand for the arguments
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from llm_planner.errors import InputError
from llm_planner.redaction import redacted
from llm_planner.skills.manifest_table import Table

KINDS = ("http",)
SCHEMES = ("http", "https")
_KEYS = ("kind", "url", "timeout", "image", "instruction")


@dataclass(frozen=True)
class ServerContract:
    """`timeout` is in s of real time; `image` is whether the server is shown the camera's picture."""

    url: str
    timeout: float
    instruction: str
    image: bool = False
    kind: str = "http"

    @property
    def shown_url(self) -> str:
        """The address as people may see it, without credentials."""
        return redacted(self.url)


def parse_server(path: Path, entry: object, parameters: Collection[str]) -> ServerContract:
    """The section `server` of the manifest at `path`; raises InputError that names key, value and choices."""
    table = Table(path, "the server", entry, _KEYS)
    kind = table.text("kind")
    if kind not in KINDS:
        raise InputError(f"{path}: kind of the server is {kind!r}; the kinds are: {', '.join(KINDS)}")
    return ServerContract(
        _url(path, table.text("url")),
        table.positive("timeout"),
        table.sentence("instruction", parameters),
        table.flag("image"),
        kind,
    )


def _url(path: Path, url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0 and url.isascii()
        good = good and url.isprintable() and " " not in url
    except ValueError:  # a port that is no number, a bracket left open
        good = False
    if not good:
        raise InputError(f"{path}: url of the server is {redacted(url)!r}; write one such as http://localhost:8093/act")
    return url
