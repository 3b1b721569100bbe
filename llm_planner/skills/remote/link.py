"""The way to a policy server and back, in a thread of its own: whoever asks never waits longer than it wants to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

from llm_planner.language.plain_text import server_text
from llm_planner.language.server.client import redirect_of, warn_of_cleartext
from llm_planner.redaction import secrets_of_url
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.remote.message import Actions, AnswerError, read_answer
from llm_planner.skills.server_contract import ServerContract

if TYPE_CHECKING:
    import httpx2

ANSWER_MAX = 1_000_000  # bytes

Clock = Callable[[], float]  # [s] of real time


class Pending:
    """A question on its way, which has to be answered by `deadline` [s] on the clock."""

    def __init__(self, contract: ServerContract, clock: Clock) -> None:
        self.future: Future[Actions] = Future()
        self.deadline = clock() + contract.timeout
        self._contract, self._clock = contract, clock

    def is_over(self, patience: float = 0.0) -> bool:
        """Whether there is an answer or it is too late for one, after waiting for it for up to `patience` [s]."""
        wait([self.future], patience)
        return self.future.done() or self._clock() > self.deadline

    def actions(self) -> Actions:
        """What was answered; raises SkillError (TIMEOUT, CONTROLLER_FAULT) saying why there is nothing."""
        if not self.future.done():
            raise too_late(self._contract)
        return self.future.result()


class PolicyLink:
    """One run's connection to its server; nothing is opened before the first question."""

    def __init__(self, contract: ServerContract, clock: Clock = time.monotonic) -> None:
        self._contract, self._clock = contract, clock
        self._lock = threading.Lock()
        self._closed = False
        self._client: httpx2.Client | None = None

    def ask(self, question: Mapping[str, Any]) -> Pending:
        """Send the question; returns at once."""
        pending = Pending(self._contract, self._clock)
        threading.Thread(target=self._work, args=(pending, question), daemon=True).start()
        return pending

    def close(self) -> None:
        """Hang up; a question that is on its way ends too."""
        with self._lock:
            self._closed = True
            if self._client is not None:
                self._client.close()

    def _work(self, pending: Pending, question: Mapping[str, Any]) -> None:
        import httpx2

        where = f"the policy server {self._contract.shown_url}"
        try:
            pending.future.set_result(read_answer(self._answer(pending, json.dumps(question).encode())))
        except SkillError as failure:
            pending.future.set_exception(failure)
        except AnswerError as error:
            pending.future.set_exception(_fault(f"{where} cannot be followed: {self._brief(str(error))}"))
        except httpx2.TimeoutException:
            pending.future.set_exception(too_late(self._contract))
        except httpx2.ConnectError:
            message = f"{where} cannot be reached; is it running, and is the url in skill.yaml right?"
            pending.future.set_exception(_fault(message))
        except Exception as error:  # what a server sends can break the client in any way
            message = f"{where} broke off: {type(error).__name__}: {self._brief(str(error))}"
            pending.future.set_exception(_fault(message))

    def _answer(self, pending: Pending, body: bytes) -> bytes:
        """The answer's bytes; in pieces, since a server that sends one now and then keeps every single read alive."""
        url, answer = self._contract.url, bytearray()
        headers = {"Content-Type": "application/json"}
        with self._open().stream("POST", url, content=body, headers=headers) as response:
            for piece in response.iter_bytes():
                answer += piece
                if self._clock() > pending.deadline:
                    raise too_late(self._contract)
                if len(answer) > ANSWER_MAX:
                    raise AnswerError(f"its answer is longer than {ANSWER_MAX} bytes")
            elsewhere = redirect_of(response.status_code, response.headers, secrets_of_url(url))
            if elsewhere:
                raise AnswerError(f"it {elsewhere} as its url in skill.yaml")
            if response.status_code != 200:
                told = self._brief(answer.decode("utf-8", "replace"))
                raise AnswerError(f"it answered with status {response.status_code}: {told}")
        return bytes(answer)

    def _open(self) -> httpx2.Client:
        import httpx2

        if secrets_of_url(self._contract.url):
            warn_of_cleartext(self._contract.url)
        with self._lock:
            if self._closed:
                raise AnswerError("nobody listens any more")
            if self._client is None:  # asked directly, whatever proxies the environment has for the rest of the world
                self._client = httpx2.Client(timeout=self._contract.timeout, trust_env=False)
            return self._client

    def _brief(self, text: str) -> str:
        return server_text(text, 300, secrets_of_url(self._contract.url))


def too_late(contract: ServerContract) -> SkillError:
    """It did not answer in time."""
    message = f"the policy server {contract.shown_url} did not answer within {contract.timeout:g} s"
    return SkillError(SkillErrorCode.TIMEOUT, message)


def _fault(message: str) -> SkillError:
    return SkillError(SkillErrorCode.CONTROLLER_FAULT, message)
