"""Who may use the console: the names that it answers to, the page that may speak to it, and the token.

A web page of somebody else can let a browser send requests to this machine. The browser states where they come from
(`Origin`) and what they are for (`Host`), so both are checked, on loopback too.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from llm_planner.http_client import LOOPBACK, is_loopback

COOKIE = "llm_planner_console"


@dataclass(frozen=True)
class Access:
    """Conditions of a request.

    Attributes:
        host: Address that the server is bound to.
        names: Further names or addresses by which people reach it.
        token: Secret that a browser shows; "" if none is needed, which only loopback allows.
    """

    host: str
    names: tuple[str, ...] = ()
    token: str = field(default="", repr=False)

    @classmethod
    def to(cls, host: str, names: tuple[str, ...] = (), token: str = "") -> Access:
        """Return the access to a server on `host`; a token is drawn where one is needed and none is given."""
        return cls(host, names, token or ("" if is_loopback(host) else secrets.token_urlsafe(24)))

    def refusal(self, headers: Mapping[str, str], must_have_origin: bool) -> str:
        """Return why a request is refused; "" if it may pass.

        Args:
            headers: Of the request, by name.
            must_have_origin: Whether the request acts, as a WebSocket does; a page is fetched without an origin.
        """
        host, origin = headers.get("Host", ""), headers.get("Origin", "")
        if not self._is_ours(host):
            return f"this console does not answer to the name {host[:80]!r}; add it to the parameter names"
        if origin or must_have_origin:
            parts = urlsplit(origin)
            if parts.scheme not in ("http", "https") or parts.netloc != host:
                return f"requests of the page {origin[:80]!r} are refused; open the console's own page"
        if self.token and not self.shows_token(headers):
            return "the token is missing or wrong; open the address that the console printed"
        return ""

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if self.host in ("0.0.0.0", "::") and _is_address(name):
            return True  # a page of somebody else cannot make the browser send a numeric address that is not ours
        return name in (self.host, *self.names, *(LOOPBACK if is_loopback(self.host) else ()))

    def shows_token(self, headers: Mapping[str, str]) -> bool:
        """Return whether the cookie of a request has the token."""
        try:
            cookie = SimpleCookie(headers.get("Cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and self.is_token(cookie.value)

    def is_token(self, said: str) -> bool:
        """Compare a text with the token, in a time that tells nothing."""
        return hmac.compare_digest(said.encode(), self.token.encode())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
