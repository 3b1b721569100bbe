"""Who may use the console: its names, its own page, its token."""

from __future__ import annotations

import pytest

from llm_planner.console.access import COOKIE, Access

LOCAL = Access.to("127.0.0.1")


@pytest.mark.parametrize("host", ["127.0.0.1:8090", "localhost:8090", "[::1]:8090"])
def test_on_loopback_its_own_page_needs_no_token(host):
    assert LOCAL.token == ""
    assert LOCAL.refusal({"Host": host, "Origin": f"http://{host}"}, must_have_origin=True) == ""
    assert LOCAL.refusal({"Host": host}, must_have_origin=False) == ""


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"Host": "evil.example:8090", "Origin": "http://evil.example:8090"}, "does not answer to the name"),
        ({"Host": "127.0.0.1:8090", "Origin": "http://evil.example"}, "are refused"),
        ({"Host": "127.0.0.1:8090", "Origin": "http://127.0.0.1:9999"}, "are refused"),
        ({"Host": "127.0.0.1:8090", "Origin": "null"}, "are refused"),
        ({"Host": "127.0.0.1:8090"}, "are refused"),
        ({}, "does not answer to the name"),
        ({"Host": "[::1", "Origin": "http://[::1"}, "does not answer to the name"),
    ],
)
def test_another_page_or_name_is_refused(headers, why):
    assert why in LOCAL.refusal(headers, must_have_origin=True)


def test_beside_loopback_a_token_is_drawn_and_needed():
    drawn = Access.to("192.168.1.5")
    assert len(drawn.token) >= 32
    assert drawn.token != Access.to("192.168.1.5").token
    request = {"Host": "192.168.1.5:8090", "Origin": "http://192.168.1.5:8090"}
    assert "the token is missing" in drawn.refusal(request, must_have_origin=True)
    assert drawn.refusal({**request, "Cookie": f"{COOKIE}={drawn.token}"}, must_have_origin=True) == ""


@pytest.mark.parametrize(
    "cookie", ["", f"{COOKIE}=guess", f"{COOKIE}=", "other=a_secret", "\x00=;;", f"{COOKIE}=a_secre"]
)
def test_a_wrong_token_is_refused(cookie):
    access = Access.to("0.0.0.0", token="a_secret")
    request = {"Host": "10.0.0.7:8090", "Origin": "http://10.0.0.7:8090", "Cookie": cookie}
    assert "the token is missing or wrong" in access.refusal(request, must_have_origin=True)


def test_where_it_listens_everywhere_it_answers_to_addresses_and_to_names_it_was_given():
    access = Access.to("0.0.0.0", names=("robot.lab",), token="a_secret")
    shown = {"Cookie": f"{COOKIE}=a_secret"}
    for host in ("10.0.0.7:8090", "robot.lab:8090"):
        assert access.refusal({"Host": host, "Origin": f"http://{host}", **shown}, must_have_origin=True) == ""
    assert "names" in access.refusal({"Host": "evil.example", **shown}, must_have_origin=False)


def test_the_token_is_not_in_its_text():
    assert "a_secret" not in repr(Access.to("0.0.0.0", token="a_secret"))
