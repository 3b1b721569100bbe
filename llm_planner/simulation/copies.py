"""Copies of a scene to try things out in."""

from __future__ import annotations

from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import World
from llm_planner.world.scene import Scene


def copy_of(scene: Scene) -> World | RoomsWorld:
    """A world at time 0 with everything where `scene` says; raises InputError for what cannot be copied."""
    world = RoomsWorld(0, ()) if scene.building else World(0, ())
    world.lay_out(scene)
    return world
