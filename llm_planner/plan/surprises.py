"""What a skill call may lead to besides what it promises, as far as it can be imagined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from llm_planner.plan.plan import Goal
from llm_planner.plan.shoving import DOUBTFUL, pushed, pushed_by, shoved
from llm_planner.plan.watch import Watch
from llm_planner.world.geometry import half_extents
from llm_planner.world.places import region
from llm_planner.world.propositions import Moment
from llm_planner.world.scene import Scene, Vector3


@dataclass(frozen=True)
class Course:
    """The scenes of one way a call may go, the last is the one after it; `succeeds` is the skill's own word."""

    scenes: tuple[Scene, ...]
    succeeds: bool = True


def surprises(course: Course, goals: tuple[Goal, ...], watch: Watch) -> Iterator[Course]:
    """Other ways than `course`, which keeps the `goals`: elsewhere, with more shoved, failed on the way, with a thing
    dropped."""
    yield from _elsewhere(course, goals)
    yield from _shoving(course, goals)
    for index in _changes(course, watch):
        yield Course(course.scenes[: index + 1], succeeds=False)
        if course.scenes[index].held:
            dropped = _dropped(course.scenes[index])
            yield Course((*course.scenes[: index + 1], dropped), succeeds=False)


def _changes(course: Course, watch: Watch) -> Iterator[int]:
    """The first scene and each that some constraint sees differently, but not the last: there it has succeeded."""
    before = None
    for index, scene in enumerate(course.scenes[:-1]):
        watch = watch.read(Moment(scene, watch.origins))
        if watch.trace[-1] != before:
            yield index
        before = watch.trace[-1]


def _elsewhere(course: Course, goals: tuple[Goal, ...]) -> Iterator[Course]:
    """The thing that is put, or swept, into a region may come to lie anywhere in it."""
    for goal in goals:
        place = goal.values.get(goal.atom.arguments[1]) if goal.atom.predicate == "at" else None
        if isinstance(place, str):
            *way, after = course.scenes
            area, item = region(place).area, after.find(str(goal.argument(0)))
            reach = max(half_extents(item)[:2])
            for x in (area.x_min + reach, area.x_max - reach):
                for y in (area.y_min + reach, area.y_max - reach):
                    yield Course((*way, _placed(after, item.name, (x, y, item.position[2]))))


def _shoving(course: Course, goals: tuple[Goal, ...]) -> Iterator[Course]:
    """A push may take along what is only near its way."""
    for goal in goals:
        if name := pushed_by(goal):
            before, *_, after = course.scenes
            doubtful = pushed(before, name, after.find(name).position, DOUBTFUL)
            more = set(shoved(before, doubtful, name)).difference(shoved(before, after, name))
            if more:
                farther = tuple(doubtful.find(it.name) if it.name in more else it for it in after.objects)
                yield Course((*course.scenes[:-1], replace(after, objects=farther)))


def _dropped(scene: Scene) -> Scene:
    item = scene.find(scene.held)
    x, y, _ = item.position
    return replace(_placed(scene, item.name, (x, y, half_extents(item)[2])), held="")


def _placed(scene: Scene, name: str, position: Vector3) -> Scene:
    objects = tuple(replace(item, position=position) if item.name == name else item for item in scene.objects)
    return replace(scene, objects=objects)
