"""Skills that a policy server moves: it is shown what is seen and says where the hand goes next.

While a question is on its way the hand follows what is left of the answer before, then holds still. What came of it by
then is left out of the new answer. Nothing moves by an answer that is late, broken, or leads where the hand may not be.

The way to a policy server and back, in a thread of its own: whoever asks never waits longer than it wants to.

What a policy server is asked and what it answers, as JSON.

POST {"skill": "pick", "instruction": "pick up the red block", "arguments": {"object": "red block"}, "time": 12.3,
      "state": {"hand": [x, y, z, yaw], "width": 0.08, "qpos": [...]},
      "scene": {"held": "", "objects": [{"name", "kind", "color", "position", "orientation", "size", "state"}, ...]},
      "image": "..."}                                      the camera's picture, PNG in base64, where it is declared
200  {"actions": [[x, y, z, yaw, width, done], ...], "dt": 0.1}

Metres, radians and seconds in the base frame; a hand points down, and action k is where it is to be (k + 1) dt after it
was asked. `done` is 1 where the policy takes itself for done; what comes after that is not heard.

Pictures as PNG (ISO/IEC 15948), for whoever is shown them over a network.

Skills that a policy server moves: what is said to it, how long it is waited for, and what is done with its word.
"""

from __future__ import annotations

import base64
import json
import math
import struct
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from llm_planner.http_client import redirect_of, warn_of_cleartext
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import Observation
from llm_planner.scene.names import worded
from llm_planner.skills.arm import NO_PICTURE, SLOWER, Arm, Camera, Picture, Script, blind, seen
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import OPENING_MAX, Grip, grip_of, wrap
from llm_planner.skills.manifest import ServerContract
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.recorded import Achieved, check_way, timed, until_shown
from llm_planner.skills.scripts import ScriptFunction
from llm_planner.text import secrets_of_url, server_text

if TYPE_CHECKING:
    import httpx2


ACTIONS_MAX, DT_MAX = 200, 1.0  # [s]
HUGE = 1e6
NEARLY = 0.01  # [m] that a width may be beyond what the fingers can, and is taken for that


class AnswerError(Exception):
    """An answer cannot be used; the message says what is wrong with it."""


@dataclass(frozen=True)
class Actions:
    """Where the hand is to be each `dt` s and how far apart its fingertips [m]; `done` when it has been at the last."""

    grips: tuple[Grip, ...]
    widths: tuple[float, ...]
    dt: float
    done: bool


def question(
    skill: str, contract: ServerContract, arguments: Mapping[str, Argument], seen: Observation, picture: bytes
) -> dict[str, Any]:
    """What the server is asked; `picture` is a PNG, empty where it is not to see one."""
    hand = grip_of(seen.T_base_gripper)
    asked: dict[str, Any] = {
        "skill": skill,
        "instruction": worded(contract.instruction, **arguments),
        "arguments": dict(arguments),
        "time": seen.time,
        "state": {
            "hand": [hand.x, hand.y, hand.z, hand.yaw],
            "width": float(seen.gripper_width),
            "qpos": list(map(float, seen.qpos)),
        },
        "scene": {"held": seen.scene.held, "objects": [asdict(item) for item in seen.scene.objects]},
    }
    return asked | ({"image": base64.b64encode(picture).decode("ascii")} if picture else {})


def read_answer(body: bytes) -> Actions:
    """The actions in an answer, up to the first that is done; raises AnswerError for anything else."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"its answer is no JSON: {error}") from error
    if not isinstance(answer, dict) or not isinstance(answer.get("actions"), list) or "dt" not in answer:
        raise AnswerError('its answer is not {"actions": [[x, y, z, yaw, width, done], ...], "dt": 0.1}')
    actions, dt = answer["actions"], answer["dt"]
    if not _is_number(dt) or not 0.0 < dt <= DT_MAX:
        raise AnswerError(f"dt in its answer is {dt!r}, not above 0 and at most {DT_MAX:g} s")
    if not 0 < len(actions) <= ACTIONS_MAX:
        raise AnswerError(f"its answer has {len(actions)} actions, not 1 to {ACTIONS_MAX}")
    for number, row in enumerate(actions):
        _check(number, row)
    last = next((number for number, row in enumerate(actions) if row[5] > 0.5), len(actions) - 1)
    kept = actions[: last + 1]
    widths = tuple(min(max(float(row[4]), 0.0), OPENING_MAX) for row in kept)
    return Actions(tuple(Grip(*map(float, row[:4])) for row in kept), widths, float(dt), actions[last][5] > 0.5)


def _check(number: int, row: object) -> None:
    if not isinstance(row, list) or len(row) != 6 or not all(map(_is_number, row)):
        raise AnswerError(f"action {number} of its answer is {str(row)[:120]}, not six finite numbers")
    if not -NEARLY <= row[4] <= OPENING_MAX + NEARLY:
        raise AnswerError(f"the width of action {number} is {row[4]:g} m; the fingers open from 0 to {OPENING_MAX:g} m")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and abs(value) < HUGE  # neither infinite nor NaN, which is never less


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


def png_of(picture: Picture) -> bytes:
    """Of (height, width, 3) bytes, red green blue."""
    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)  # each as it is: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 1)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


JUMP, JUMP_TURN = 0.15, 0.6  # [m], [rad] from one action to the next that no policy means
FOLLOWED = 0.5  # share of an answer after which the next one is asked for
WAIT = 0.02  # [s] of real time that a step waits for an answer where there is nothing else to do


class Answer(Protocol):
    """A question on its way; see `remote.link.Pending`."""

    def is_over(self, patience: float = 0.0) -> bool: ...
    def actions(self) -> Actions: ...


class Link(Protocol):
    """A connection to a server; see `remote.link.PolicyLink`."""

    def ask(self, question: Mapping[str, Any]) -> Answer: ...
    def close(self) -> None: ...


def asking(
    skill: str, contract: ServerContract, achieved: Achieved, camera: Camera = blind,
    connect: Callable[[ServerContract], Link] = PolicyLink,
) -> ScriptFunction:  # fmt: skip
    """The script that moves as the server says, until it says that it is done and the scene shows what is `achieved`.

    Raises SkillError for a server that fails (TIMEOUT, CONTROLLER_FAULT), a way out of reach (UNREACHABLE) or into a
    zone (NO_FREE_SPACE), an end without the effect (EFFECT_MISSING), and a picture that nobody takes.
    """

    def ask(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
        if contract.image:
            yield from seen(arm, camera, skill)  # before anybody is asked
        link = connect(contract)
        try:
            yield from _Conversation(arm, lambda: link.ask(asked(arm, arguments))).until_done()
        finally:
            link.close()
        yield from until_shown(arm, arguments, achieved, "the policy server's motion")

    def asked(arm: Arm, arguments: Mapping[str, Argument]) -> Mapping[str, Any]:
        picture = camera(arm.observation) if contract.image else NO_PICTURE
        if contract.image and not picture.size:
            raise SkillError(SkillErrorCode.CONTROLLER_FAULT, f"{skill} sees nothing any more: the camera fell silent")
        return question(skill, contract, arguments, arm.observation, png_of(picture) if picture.size else b"")

    return ask


class _Conversation:
    """Questions, and what the hand does between them. One is always on its way, or has just been answered."""

    def __init__(self, arm: Arm, ask: Callable[[], Answer]) -> None:
        self._arm, self._ask = arm, ask
        self._answer = ask()
        self._moved = 0.0  # [s] that the hand has moved since that was asked

    def until_done(self) -> Script:
        """Up to the end of an answer that is done."""
        done = False
        while not done:
            while not self._answer.is_over(WAIT):
                yield self._arm.hold()
            actions = self._ahead(self._answer.actions())
            yield from self._follow(actions)
            done = actions.done

    def _ahead(self, actions: Actions) -> Actions:
        """What is left of an answer that was asked for while the hand moved; raises SkillError where it may not go."""
        hand = self._hand
        passed = min(int(self._moved / actions.dt), len(actions.grips) - 1)
        first = min(range(passed + 1), key=lambda k: _apart(hand, actions.grips[k])[0])
        grips = actions.grips[first:]
        for start, end in pairwise([hand, *grips]):
            way, turn = _apart(start, end)
            if way > JUMP or turn > JUMP_TURN:
                message = f"the policy server's actions jump by {way:.2f} m and {turn:.2f} rad; nothing moves by them"
                raise SkillError(SkillErrorCode.CONTROLLER_FAULT, message)
        check_way(grips, self._arm.observation.zones, "the policy server")
        return replace(actions, grips=grips, widths=actions.widths[first:])

    def _follow(self, actions: Actions) -> Script:
        """Up to the next answer, or to the end; on the way the next question is asked."""
        arm, began, asked = self._arm, self._arm.observation.time, math.inf
        limit = SLOWER * arm.observation.path_speed
        poses, widths = timed([self._hand, *actions.grips], [arm.width, *actions.widths], actions.dt, limit)
        arm.grip = actions.grips[-1]
        enough = FOLLOWED * PATH_DT * len(poses)
        for reference in arm.follow("follow", poses, widths, stop_early=True):
            yield reference
            now = arm.observation.time
            if math.isinf(asked) and not actions.done and now - began >= enough:
                self._answer, asked = self._ask(), now
            self._moved = max(0.0, now - asked)
            if math.isfinite(asked) and self._answer.is_over():
                return
        if math.isinf(asked) and not actions.done:
            self._answer = self._ask()

    @property
    def _hand(self) -> Grip:
        return grip_of(self._arm.observation.T_base_gripper)


def _apart(a: Grip, b: Grip) -> tuple[float, float]:
    """[m], [rad]."""
    return math.dist((a.x, a.y, a.z), (b.x, b.y, b.z)), abs(wrap(b.yaw - a.yaw))
