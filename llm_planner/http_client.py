"""HTTP client for OpenAI-compatible servers that follows no redirects and warns of keys sent in cleartext."""

from __future__ import annotations

import functools
import ipaddress
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from llm_planner.text import secrets_of_url, server_text

if TYPE_CHECKING:
    from openai import OpenAI


LOOPBACK = ("127.0.0.1", "localhost", "::1")  # names of this machine
NO_KEY = "none"  # placeholder for servers that need no key
LONGEST = 200  # [characters] of an address in a message


def open_client(base_url: str | None, api_key: str, timeout: float) -> OpenAI:
    """Create an OpenAI client without redirects and retries.

    Args:
        base_url: Address of the server; None for the default of the `openai` package.
        api_key: Key, or `NO_KEY`.
        timeout: Longest silence of the server [s].
    """
    from openai import DefaultHttpxClient, OpenAI

    if api_key != NO_KEY or secrets_of_url(base_url or ""):
        warn_of_cleartext(base_url or "")
    http = DefaultHttpxClient(follow_redirects=False, timeout=timeout)
    return OpenAI(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0, http_client=http)


def redirect_of(status: int, headers: Mapping[str, str], secrets: tuple[str, ...]) -> str:
    """Describe the redirect in a response; return "" if it is not a redirect."""
    if not 300 <= status < 400:
        return ""
    there = server_text(headers.get("location", ""), LONGEST, secrets) or "another address"
    return (
        f"redirects ({status}) to {there}, which is not followed: key and words would go there. If that is the right "
        "server, set its own address"
    )


@functools.lru_cache(maxsize=64)  # warn once per host
def _warn_once(host: str) -> None:
    logging.getLogger("llm_planner").warning(
        "the key for %s goes over the network in clear, since its address begins with http://: "
        "use https://, or a tunnel to a server on this machine",
        host,
    )


def warn_of_cleartext(url: str) -> None:
    """Warn once per host that a secret sent to `url` travels in cleartext; loopback is exempt."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return
    if parts.scheme == "http" and not is_loopback(host):
        _warn_once(host)


def is_loopback(host: str) -> bool:
    """Return whether `host`, a name or an address, is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
