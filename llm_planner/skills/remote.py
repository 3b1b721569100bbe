"""Skills that a policy server moves: the server receives observations and answers with actions of the hand.

While a request is under way the hand executes the rest of the previous response, then holds still. A new response is
cut to start at the current pose. A late, malformed or unsafe response moves nothing. A thread handles the connection,
so a caller waits only as long as it chooses.

POST {"skill": "pick", "instruction": "pick up the red block", "arguments": {"object": "red block"}, "time": 12.3,
      "state": {"hand": [x, y, z, yaw], "width": 0.08, "qpos": [...]},
      "scene": {"held": "", "objects": [{"name", "kind", "color", "position", "orientation", "size", "state"}, ...]},
      "image": "..."}                                      camera picture, PNG in base64, if the manifest declares it
200  {"actions": [[x, y, z, yaw, width, done], ...], "dt": 0.1}

Units are metres, radians and seconds in the base frame. The hand points down; action k is its target (k + 1) dt after
the request. `done` is 1 where the policy considers the skill complete; later actions are ignored.
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
from typing import TYPE_CHECKING, Any

from llm_planner.http_client import redirect_of, warn_of_cleartext
from llm_planner.robots.motion import Observation
from llm_planner.scene.names import worded
from llm_planner.skills.arm import NO_PICTURE, SLOWER, Arm, Camera, Picture, Script, blind, seen
from llm_planner.skills.contract import Arguments, SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import HandPose, grip_of, wrap
from llm_planner.skills.manifest import ServerContract
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.recorded import WIDEST, Achieved, check_way, is_number, timed, until_shown
from llm_planner.skills.skill_code import Mover
from llm_planner.text import secrets_of_url, server_text

if TYPE_CHECKING:
    import httpx2


ACTIONS_MAX, DT_MAX = 200, 1.0  # [s]
NEARLY = 0.01  # [m] tolerance of widths, which are then clipped to the range of the fingers


class AnswerError(Exception):
    """Unusable response; the message gives the reason."""


@dataclass(frozen=True)
class Actions:
    """Targets of the hand and finger widths [m], one every `dt` s; `done` if the skill ends with the last."""

    grips: tuple[HandPose, ...]
    widths: tuple[float, ...]
    dt: float
    done: bool


def question(
    skill: str, contract: ServerContract, arguments: Arguments, seen: Observation, picture: bytes
) -> dict[str, Any]:
    """Build the body of a request; `picture` is a PNG file, empty to send none."""
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
    """Parse a response up to its first action that is done; raises AnswerError if it is malformed."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"its answer is not JSON: {error}") from error
    if not isinstance(answer, dict) or not isinstance(answer.get("actions"), list) or "dt" not in answer:
        raise AnswerError('its answer is not {"actions": [[x, y, z, yaw, width, done], ...], "dt": 0.1}')
    actions, dt = answer["actions"], answer["dt"]
    if not is_number(dt) or not 0.0 < dt <= DT_MAX:
        raise AnswerError(f"dt in its answer is {dt!r}, not above 0 and at most {DT_MAX:g} s")
    if not 0 < len(actions) <= ACTIONS_MAX:
        raise AnswerError(f"its answer has {len(actions)} actions, not 1 to {ACTIONS_MAX}")
    for number, row in enumerate(actions):
        _check(number, row)
    last = next((number for number, row in enumerate(actions) if row[5] > 0.5), len(actions) - 1)
    kept = actions[: last + 1]
    widths = tuple(min(max(float(row[4]), 0.0), WIDEST) for row in kept)
    return Actions(tuple(HandPose(*map(float, row[:4])) for row in kept), widths, float(dt), actions[last][5] > 0.5)


def _check(number: int, row: object) -> None:
    if not isinstance(row, list) or len(row) != 6 or not all(map(is_number, row)):
        raise AnswerError(f"action {number} of its answer is {str(row)[:120]}, not six finite numbers")
    if not -NEARLY <= row[4] <= WIDEST + NEARLY:
        raise AnswerError(f"the width of action {number} is {row[4]:g} m; the fingers open from 0 to {WIDEST:g} m")


ANSWER_MAX = 1_000_000  # [bytes]

Clock = Callable[[], float]  # [s] of real time


class Pending:
    """Request under way, due by `deadline` [s] on the clock."""

    def __init__(self, contract: ServerContract, clock: Clock) -> None:
        self.future: Future[Actions] = Future()
        self.deadline = clock() + contract.timeout
        self._contract, self._clock = contract, clock

    def is_over(self, patience: float = 0.0) -> bool:
        """Return whether a response has arrived or is too late, after waiting up to `patience` [s]."""
        wait([self.future], patience)
        return self.future.done() or self._clock() > self.deadline

    def actions(self) -> Actions:
        """Return the response; raises SkillError (TIMEOUT, CONTROLLER_FAULT) if there is none."""
        if not self.future.done():
            raise too_late(self._contract)
        return self.future.result()


class PolicyLink:
    """Connection of one run to its server; opens on the first request."""

    def __init__(self, contract: ServerContract, clock: Clock = time.monotonic) -> None:
        self._contract, self._clock = contract, clock
        self._lock = threading.Lock()
        self._closed = False
        self._client: httpx2.Client | None = None

    def ask(self, question: Mapping[str, Any]) -> Pending:
        """Send a request without waiting for the response."""
        pending = Pending(self._contract, self._clock)
        threading.Thread(target=self._work, args=(pending, question), daemon=True).start()
        return pending

    def close(self) -> None:
        """Close the connection and abort a request under way."""
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
        except Exception as error:  # a server's data can break the client in any way
            message = f"{where} broke off: {type(error).__name__}: {self._brief(str(error))}"
            pending.future.set_exception(_fault(message))

    def _answer(self, pending: Pending, body: bytes) -> bytes:
        """Return the response body, read in pieces because a trickling server never hits the read timeout."""
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
            if self._client is None:  # connects directly, without the proxies of the environment
                self._client = httpx2.Client(timeout=self._contract.timeout, trust_env=False)
            return self._client

    def _brief(self, text: str) -> str:
        return server_text(text, 300, secrets_of_url(self._contract.url))


def too_late(contract: ServerContract) -> SkillError:
    message = f"the policy server {contract.shown_url} did not answer within {contract.timeout:g} s"
    return SkillError(SkillErrorCode.TIMEOUT, message)


def _fault(message: str) -> SkillError:
    return SkillError(SkillErrorCode.CONTROLLER_FAULT, message)


def png_of(picture: Picture) -> bytes:
    """Encode a picture (height, width, 3), RGB, as PNG (ISO/IEC 15948)."""
    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)  # filter type 0: none
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 1)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


JUMP, JUMP_TURN = 0.15, 0.6  # [m], [rad] between consecutive actions: larger steps are rejected
FOLLOWED = 0.5  # share of a response after which the next request is sent
WAIT = 0.02  # [s] real time that an idle step waits for a response


def asking(
    skill: str, contract: ServerContract, achieved: Achieved, camera: Camera = blind,
    connect: Callable[[ServerContract], PolicyLink] = PolicyLink,
) -> Mover:  # fmt: skip
    """Return the script that follows the server until it is done and the scene shows what is to be `achieved`.

    The script raises SkillError for a server that fails (TIMEOUT, CONTROLLER_FAULT), a path out of reach (UNREACHABLE)
    or into a zone (NO_FREE_SPACE), an end without the effect (EFFECT_MISSING), or missing pictures.
    """

    def ask(arm: Arm, arguments: Arguments) -> Script:
        if contract.image:
            yield from seen(arm, camera, skill)  # before the first request
        link = connect(contract)
        try:
            yield from _Conversation(arm, lambda: link.ask(asked(arm, arguments))).until_done()
        finally:
            link.close()
        yield from until_shown(arm, arguments, achieved, "the policy server's motion")

    def asked(arm: Arm, arguments: Arguments) -> Mapping[str, Any]:
        picture = camera(arm.observation) if contract.image else NO_PICTURE
        if contract.image and not picture.size:
            raise SkillError(SkillErrorCode.CONTROLLER_FAULT, f"{skill} sees nothing any more: the camera fell silent")
        return question(skill, contract, arguments, arm.observation, png_of(picture) if picture.size else b"")

    return ask


class _Conversation:
    """Alternates requests and motion; one request is always under way or just answered."""

    def __init__(self, arm: Arm, ask: Callable[[], Pending]) -> None:
        self._arm, self._ask = arm, ask
        self._answer = ask()
        self._moved = 0.0  # [s] that the hand has moved since the last request

    def until_done(self) -> Script:
        """Follow responses to the end of one that is done."""
        done = False
        while not done:
            while not self._answer.is_over(WAIT):
                yield self._arm.hold()
            actions = self._ahead(self._answer.actions())
            yield from self._follow(actions)
            done = actions.done

    def _ahead(self, actions: Actions) -> Actions:
        """Cut a response to what lies ahead of the moving hand; raises SkillError for an unsafe path."""
        hand = self._arm.hand
        passed = min(int(self._moved / actions.dt), len(actions.grips) - 1)
        first = min(range(passed + 1), key=lambda k: _apart(hand, actions.grips[k])[0])
        grips = actions.grips[first:]
        for start, end in pairwise([hand, *grips]):
            way, turn = _apart(start, end)
            if way > JUMP or turn > JUMP_TURN:
                message = f"the policy server's actions jump by {way:.2f} m and {turn:.2f} rad; nothing moves by them"
                raise SkillError(SkillErrorCode.CONTROLLER_FAULT, message)
        check_way(grips, self._arm.shape, self._arm.observation.zones, "the policy server")
        return replace(actions, grips=grips, widths=actions.widths[first:])

    def _follow(self, actions: Actions) -> Script:
        """Move until the next response or the end of this one, and send the next request on the way."""
        arm, began, asked = self._arm, self._arm.observation.time, math.inf
        limit = SLOWER * arm.observation.path_speed
        poses, widths = timed([arm.hand, *actions.grips], [arm.width, *actions.widths], actions.dt, limit)
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


def _apart(a: HandPose, b: HandPose) -> tuple[float, float]:
    return math.dist((a.x, a.y, a.z), (b.x, b.y, b.z)), abs(wrap(b.yaw - a.yaw))
