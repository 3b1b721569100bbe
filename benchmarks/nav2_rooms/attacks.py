"""What goes wrong between a plan and nav2: a hostile server, a server that dies, words while it drives."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from math import dist

from nav2_rooms.simulator_node import rooms_of
from nav2_rooms.system import MOVING, System

from llm_planner.ros.client import CommandResult, SystemUnreachableError
from llm_planner.scene.free_space import shortest_route
from llm_planner.scene.scene import Building, Scene
from llm_planner.simulation.worlds import open_world

LONG = 150.0  # [s] of wall time for a command
SLOW = 0.4  # [m/s] bound of the rule of speed
AT_REST = 2.0  # [s] of the robot's time from the answer to a stop

Reading = tuple[list[tuple[str, str]], list[tuple[str, str]], str]


@dataclass(frozen=True)
class Stage:
    """A building, and what is said in it: `far` is the room with the longest way, `closed` one beside the way.

    `between` is a room on the way that can be avoided, "" if there is none.
    """

    seed: int
    scene: Scene
    far: str
    between: str
    closed: str

    @property
    def commands(self) -> dict[str, Reading]:
        """Readings of the commands by their words."""
        goal = [(f"visit the {self.far}", f"F in(robot, {self.far})")]
        program = f'go_to("{self.far}")'
        around, here = self.between or self.closed, self.scene.robot_room
        slow = (f"never faster than {SLOW} m/s", f"G speed(robot) < {SLOW}")
        return {
            self.plain: (goal, [], program),
            self.back: ([(self.back, f"F in(robot, {here})")], [], f'go_to("{here}")'),
            self.kept_out: (goal, [(f"never enter the {self.closed}", f"G !in(robot, {self.closed})")], program),
            self.around: (goal, [(f"avoid the {around}", f"G !in(robot, {around})")], program),
            self.slow: (goal, [slow], program),
        }

    @property
    def plain(self) -> str:
        return f"visit the {self.far}"

    @property
    def back(self) -> str:
        return f"go back to the {self.scene.robot_room}"

    @property
    def kept_out(self) -> str:
        return f"visit the {self.far}, but never enter the {self.closed}"

    @property
    def around(self) -> str:
        return f"visit the {self.far}, but avoid the {self.between or self.closed}"

    @property
    def slow(self) -> str:
        return f"visit the {self.far}, but never faster than {SLOW} m/s"


def stage_of(seed: int) -> Stage:
    """Return what is said in the building of a seed."""
    scene = open_world("rooms", seed, rooms=rooms_of(seed)).scene()
    building, here = scene.building, scene.robot.position[:2]
    ways = {
        room.name: shortest_route(building, here, room.area.center).rooms
        for room in building.rooms
        if room.name != scene.robot_room
    }
    avoidable = {far: [one for one in way[1:-1] if _leads(building, way[0], far, one)] for far, way in ways.items()}
    far = max(ways, key=lambda name: (bool(avoidable[name]), len(ways[name])))
    beside = [
        name for name in ways if name not in ways[far] and name in set(building.neighbours(scene.robot_room))
    ] or [name for name in ways if name not in ways[far]]
    return Stage(seed, scene, far, next(iter(avoidable[far]), ""), beside[0])


def _leads(building: Building, start: str, goal: str, without: str) -> bool:
    """Return whether doors lead from a room to another one without a third."""
    waiting, seen = deque([start]), {start, without}
    while waiting:
        for name in building.neighbours(waiting.popleft()):
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return False


@dataclass(frozen=True)
class Shown:
    """What an attack led to: what was wrong, in words, and what the person was told; rooms and times for the table."""

    wrong: tuple[str, ...]
    told: str
    figures: dict[str, float]


def _told(result: CommandResult | None) -> str:
    return "it did not end" if result is None else result.message or "done"


def _must_fail(result: CommandResult | None, *words: str) -> list[str]:
    """Return what is wrong with the end of a command that cannot be carried out."""
    if result is None:
        return ["the command did not end"]
    wrong = ["it was called done"] if result.succeeded else []
    return wrong + [f"the reason lacks {word!r}" for word in words if word not in result.message]


def _must_arrive(system: System, room: str, result: CommandResult | None) -> list[str]:
    wrong = [] if result is not None and result.succeeded else [f"it failed: {_told(result)}"]
    return wrong + ([] if system.scene.robot_room == room else [f"it is in the {system.scene.robot_room}"])


def _travelled(system: System, since: int) -> float:
    """Return how far the base has driven since a number of states [m]."""
    points = [one[1:3] for one in system.motions[since:]]
    return sum(dist(a, b) for a, b in pairwise(points))


def _resting(system: System, since: int) -> tuple[list[str], dict[str, float]]:
    """Return what is wrong if the base does not come to rest and stay there after a number of states."""
    began = system.motions[since - 1][0]
    system.wait(lambda: system.motions[-1][0] > began + AT_REST + 2.0, 30.0)
    moving = [one[0] - began for one in system.motions[since:] if one[3] > MOVING]
    last = max(moving, default=0.0)
    figures = {"rest_after_s": round(last, 2), "rest_after_m": round(_travelled(system, since), 2)}
    return ([f"it still moved {last:.1f} s later"] if last > AT_REST else []), figures


def refused(system: System, stage: Stage) -> Shown:
    system.mode("refuse")
    result = system.finish(system.client.submit(stage.plain), LONG)
    return Shown(tuple(_must_fail(result, "nav2 refuses the goal")), _told(result), {})


def aborted(system: System, stage: Stage) -> Shown:
    system.mode("abort")
    result = system.finish(system.client.submit(stage.plain), LONG)
    return Shown(tuple(_must_fail(result, "the controller made no progress")), _told(result), {})


def lying(system: System, stage: Stage) -> Shown:
    """Success is reported, and nothing has moved."""
    system.mode("lie")
    result = system.finish(system.client.submit(stage.plain), LONG)
    return Shown(tuple(_must_fail(result)), _told(result), {"metres": round(_travelled(system, 0), 2)})


def killed(system: System, stage: Stage) -> Shown:
    """The server dies while the base drives; it is started again 0.5 s later, as by nav2's lifecycle manager."""
    submission = system.client.submit(stage.plain)
    if not system.moves(submission):
        return Shown(("it did not drive",), _told(submission.result), {})
    system.processes.process("nav2").send_signal(signal.SIGKILL)
    began = system.motions[-1][0]
    system.wait(lambda: system.motions[-1][0] > began + 1.0, 30.0)
    slow = min(one[3] for one in system.motions if one[0] > began)
    result = system.finish(submission, LONG)
    wrong = [] if slow < MOVING else ["it never stood after the death of nav2"]
    if result is None or (result.succeeded and system.scene.robot_room != stage.far):
        wrong.append("the command did not end, or was called done where it was not")
    system.rest()
    again = system.finish(system.client.submit(stage.back), LONG)
    return Shown((*wrong, *_must_arrive(system, stage.scene.robot_room, again)), _told(result), {})


def astray(system: System, stage: Stage) -> Shown:
    """It drives to a room that a rule closes, through the mask."""
    submission = system.client.submit(stage.kept_out)
    if not system.moves(submission):
        return Shown(("it did not drive",), _told(submission.result), {})
    x, y = stage.scene.building.find(stage.closed).area.center
    system.mode(f"astray {x} {y}")
    result = system.finish(submission, LONG)
    inside = [one for one in system.motions if stage.scene.building.room_at(*one[1:3]) == stage.closed]
    wrong = _must_fail(result)
    wrong += [f"it was in the {stage.closed} for {inside[-1][0] - inside[0][0]:.1f} s"] if inside else []
    moved, _ = _resting(system, len(system.motions))
    return Shown((*wrong, *moved), _told(result), {"entered": float(bool(inside))})


def late(system: System, stage: Stage) -> Shown:
    """Every answer is 4 s late; the goals still lead there."""
    system.mode("late")
    result = system.finish(system.client.submit(stage.plain), LONG)
    return Shown(tuple(_must_arrive(system, stage.far, result)), _told(result), {})


def stopped_before_a_late_answer(system: System, stage: Stage) -> Shown:
    """A stop comes before the server has answered: what it accepts later must not move the base."""
    system.mode("late")
    submission = system.client.submit(stage.plain)
    system.client.spin_for(3.0)
    if submission.is_done or system.speed > MOVING:
        return Shown(("it was not waiting for nav2",), "", {})
    system.client.stop("a test")
    since, began = len(system.motions), system.motions[-1][0]
    system.wait(lambda: system.motions[-1][0] > began + 25.0, 60.0)
    result = system.finish(submission, 30.0)
    metres = _travelled(system, since)
    wrong = [f"after the stop it drove {metres:.2f} m"] if metres > 0.02 else []
    return Shown((*wrong, *_must_fail(result)), _told(result), {"metres": round(metres, 3)})


def stopped(system: System, stage: Stage) -> Shown:
    submission = system.client.submit(stage.plain)
    if not system.moves(submission):
        return Shown(("it did not drive",), _told(submission.result), {})
    since = len(system.motions)
    system.client.stop("a test")
    wrong, figures = _resting(system, since)
    result = system.finish(submission, 30.0)
    return Shown((*wrong, *_must_fail(result)), _told(result), figures)


def deaf(system: System, stage: Stage) -> Shown:
    """The server takes the cancellation and drives on: nobody can stop it over nav2, but it must be said."""
    submission = system.client.submit(stage.plain)
    if not system.moves(submission):
        return Shown(("it did not drive",), _told(submission.result), {})
    system.mode("deaf")
    try:
        system.client.stop("a test")
    except SystemUnreachableError as error:
        return Shown((), str(error), {})
    wrong = () if system.speed < MOVING else ("the stop was called done while the base drove on",)
    return Shown(wrong, "stopped", {})


def corrected(system: System, stage: Stage) -> Shown:
    """ "No, the ...": another room, while it drives."""
    submission = system.client.submit(stage.plain)
    if not system.moves(submission):
        return Shown(("it did not drive",), _told(submission.result), {})
    answer = system.client.correct(f"no, the {stage.closed}")
    result = system.finish(submission, LONG)
    return Shown(tuple(_must_arrive(system, stage.closed, result)), f"{answer.message} / {_told(result)}", {})


def rule_given(system: System, stage: Stage) -> Shown:
    """A room on the way is closed while it drives: it takes another way, or stops and says so."""
    return _with_rule(system, stage, stage.plain, f"never enter the {stage.between}")


def rule_lifted(system: System, stage: Stage) -> Shown:
    """A rule is taken back while it drives; it arrives by one way or the other."""
    submission = system.client.submit(stage.around)
    if not system.moves(submission):
        return Shown(("it did not drive",), _told(submission.result), {})
    answer = system.client.correct(f"you may enter the {stage.between or stage.closed}")
    result = system.finish(submission, LONG)
    return Shown(tuple(_must_arrive(system, stage.far, result)), f"{answer.message} / {_told(result)}", {})


def _with_rule(system: System, stage: Stage, command: str, rule: str) -> Shown:
    if not stage.between:
        return Shown((), "no room on the way can be avoided here", {"left_out": 1.0})
    submission = system.client.submit(command)
    if not system.moves(submission):
        return Shown(("it did not drive",), _told(submission.result), {})
    answer = system.client.correct(rule)
    since = len(system.motions)
    was = system.scene.robot_room
    result = system.finish(submission, LONG)
    rooms = {stage.scene.building.room_at(*one[1:3]) for one in system.motions[since:]}
    wrong = [f"it entered the {stage.between}"] if stage.between in rooms and was != stage.between else []
    wrong += [] if result is not None else ["the command did not end"]
    return Shown(tuple(wrong), f"{answer.outcome.value}: {answer.message} / {_told(result)}", {})


def slower(system: System, stage: Stage) -> Shown:
    """A rule of speed is kept from the first metre."""
    result = system.finish(system.client.submit(stage.slow), 3 * LONG)
    fastest = max(one[4] for one in system.motions)
    wrong = [f"it drove at {fastest:.2f} m/s"] if fastest > SLOW else []
    return Shown((*wrong, *_must_arrive(system, stage.far, result)), _told(result), {"fastest": round(fastest, 2)})


def heedless(system: System, stage: Stage) -> Shown:
    """The server ignores the limit: the rule breaks at once, and then the base has to stand."""
    system.mode("ignore_speed")
    result = system.finish(system.client.submit(stage.slow), LONG)
    moved, figures = _resting(system, len(system.motions))
    metres = _travelled(system, 0)
    wrong = [f"it drove {metres:.1f} m"] if metres > 2.0 else []
    return Shown((*_must_fail(result), *wrong, *moved), _told(result), {"metres": round(metres, 2), **figures})


Attack = Callable[[System, Stage], Shown]
ATTACKS: dict[str, Attack] = {
    one.__name__: one
    for one in (
        refused, aborted, lying, killed, astray, late, stopped_before_a_late_answer, stopped, deaf, corrected,
        rule_given, rule_lifted, slower, heedless,
    )
}  # fmt: skip


def run_attack(system: System, name: str, stage: Stage) -> Shown:
    """Lay out the building, attack, and leave an honest nav2 and a base at rest behind."""
    system.mode("")
    system.reset(stage.seed)
    try:
        return ATTACKS[name](system, stage)
    except SystemUnreachableError as error:
        return Shown((f"the system did not answer: {error}",), "", {})
    finally:
        system.mode("")
        _calm(system)


def _calm(system: System) -> None:
    with suppress(SystemUnreachableError):
        system.client.stop("the attack is over")
    system.rest()
