"""What can happen on the way to a policy server and back; whoever asks hears of it, and never waits."""

import itertools
import socket
from collections.abc import Callable
from typing import Any

import pytest

from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.manifest import ServerContract
from llm_planner.skills.remote import ANSWER_MAX, Pending, PolicyLink

STAY = {"actions": [[0.5, 0.0, 0.2, 0.1, 0.08, 0]], "dt": 0.1}
SOON = 20.0  # [s] that a test waits for what comes at once


def contract(url: str, timeout: float = SOON) -> ServerContract:
    return ServerContract(kind="http", url=url, timeout=timeout, instruction="do it")


@pytest.fixture
def link() -> Any:
    """Makes links that are closed with the test."""
    made: list[PolicyLink] = []

    def make(url: str, timeout: float = SOON, **clock: Callable[[], float]) -> PolicyLink:
        made.append(PolicyLink(contract(url, timeout), **clock))
        return made[-1]

    yield make
    for each in made:
        each.close()


def failure(pending: Pending) -> SkillError:
    assert pending.is_over(SOON)
    with pytest.raises(SkillError) as caught:  # each message is compared where this is called
        pending.actions()
    return caught.value


def test_a_question_is_answered_and_the_connection_used_again(servers: Any, link: Any) -> None:
    to = link(servers.serve(lambda question: STAY))
    for number in range(2):
        pending = to.ask({"number": number})
        assert pending.is_over(SOON)
        assert pending.actions().grips[0].x == 0.5
    assert [question["number"] for question in servers.asked] == [0, 1]


def test_asking_does_not_wait_for_the_answer(servers: Any, link: Any) -> None:
    def answer(question: Any) -> Any:
        servers.hold.wait()
        return STAY

    pending = link(servers.serve(answer)).ask({})
    assert not pending.is_over(0.0)  # the server is held until below
    servers.hold.set()
    assert pending.is_over(SOON)
    assert pending.actions().dt == 0.1


def test_an_answer_that_is_late_is_not_waited_for(servers: Any, link: Any) -> None:
    def answer(question: Any) -> Any:
        servers.hold.wait()
        return STAY

    now = [0.0]
    url = servers.serve(answer)
    pending = link(url, 2.0, clock=lambda: now[0]).ask({})
    assert not pending.is_over()
    now[0] = 2.1
    assert pending.is_over()
    with pytest.raises(SkillError, match=f"the policy server {url} did not answer within 2 s") as late:
        pending.actions()
    assert late.value.code is SkillErrorCode.TIMEOUT


def test_a_server_that_never_answers_lets_the_thread_go(servers: Any, link: Any) -> None:
    def answer(question: Any) -> Any:
        servers.hold.wait()
        return STAY

    pending = link(servers.serve(answer), 0.05, clock=lambda: 0.0).ask(
        {}
    )  # the client's own time is up, not the clock's
    assert "did not answer within 0.05 s" in str(failure(pending))


def test_a_server_that_sends_a_byte_now_and_then_is_late_too(servers: Any, link: Any, reply: Any) -> None:
    ticks = itertools.count(step=3.0)
    pending = link(servers.serve(lambda question: reply([b" "] * 3)), 2.0, clock=lambda: next(ticks)).ask({})
    assert failure(pending).code is SkillErrorCode.TIMEOUT


def test_a_server_that_is_not_there_is_told(link: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/act"
        error = failure(link(url).ask({}))
    assert error.code is SkillErrorCode.CONTROLLER_FAULT
    assert str(error) == (
        f"the policy server {url} cannot be reached; is it running, and is the url in skill.yaml right?"
    )


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"out of memory", 500, "cannot be followed: it answered with status 500: out of memory"),
        (b"", 302, "cannot be followed: it redirects (302) to another address, which is not followed"),
        (b"<html>", 200, "cannot be followed: its answer is not JSON"),
        (b'{"actions": [[NaN, 0, 0, 0, 0, 0]], "dt": 0.1}', 200, "not six finite numbers"),
        (b" " * (ANSWER_MAX + 1), 200, f"cannot be followed: its answer is longer than {ANSWER_MAX} bytes"),
    ],
)
def test_an_answer_that_is_of_no_use_is_told(
    servers: Any, link: Any, reply: Any, body: bytes, status: int, message: str
) -> None:
    error = failure(link(servers.serve(lambda question: reply(body, status))).ask({}))
    assert error.code is SkillErrorCode.CONTROLLER_FAULT
    assert message in str(error)


def test_a_server_that_speaks_something_else_is_told(link: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        pending = link(f"http://127.0.0.1:{server.getsockname()[1]}/act").ask({})
        connection, _ = server.accept()
        with connection:
            connection.recv(100_000)
            connection.sendall(b"SSH-2.0-policy\r\n\r\n")
        assert " broke off: RemoteProtocolError: " in str(failure(pending))


def test_who_has_hung_up_asks_nothing(servers: Any, link: Any) -> None:
    to = link(servers.serve(lambda question: STAY))
    to.close()
    assert "nobody listens any more" in str(failure(to.ask({})))
    assert servers.asked == []


def test_credentials_of_a_server_are_sent_to_it_and_shown_to_nobody(servers: Any, link: Any, reply: Any) -> None:
    url = servers.serve(lambda question: reply(b"no: corr3ct-horse", status=401))
    told = str(failure(link(url.replace("http://", "http://robot:corr3ct-horse@")).ask({})))
    assert "http://[redacted]@127.0.0.1" in told
    assert "corr3ct" not in told


def test_a_redirect_is_not_followed(servers: Any, link: Any, reply: Any) -> None:
    elsewhere = servers.serve(lambda question: STAY)
    url = servers.serve(lambda question: reply(b"", status=307, headers={"Location": elsewhere}))
    told = str(failure(link(url).ask({})))
    assert f"redirects (307) to {elsewhere}, which is not followed" in told
    assert len(servers.asked) == 1
