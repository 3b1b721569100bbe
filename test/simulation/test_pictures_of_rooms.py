"""What is drawn of a building."""

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.cli.film import Recorder, write_film
from llm_planner.scene.geometry import upright_pose
from llm_planner.simulation.renderers import BUILDING_SIZE, SceneRenderer, drawn, make_renderer
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.worlds import open_world

pytestmark = pytest.mark.usefixtures("off_screen")


@pytest.fixture(scope="module")
def scene():
    return open_world("rooms", 3, parse_things("red toolbox, Anna")).scene()


@pytest.fixture(scope="module")
def renderer(scene):
    with make_renderer(scene) as renderer:
        yield renderer


def test_the_picture_has_the_size_that_suits_a_building_and_shows_all_of_it(renderer, scene):
    picture = renderer.render((), 0.0, scene)
    assert picture.shape == (BUILDING_SIZE[1], BUILDING_SIZE[0], 3)
    background = picture[0, 0].astype(int)
    edges = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]]).astype(int)
    assert np.abs(edges - background).max() < 12, "nothing is cut off"
    assert (np.abs(picture.astype(int) - background).max(axis=2) > 12).mean() > 0.3


def test_rooms_have_colours_of_their_own(renderer, scene):
    picture = renderer.render((), 0.0, scene).reshape(-1, 3) // 8
    _, counts = np.unique(picture, axis=0, return_counts=True)
    assert (counts > 2000).sum() >= len(scene.building.rooms) - 2


def test_the_robot_is_drawn_where_it_is(renderer, scene):
    pictures = [
        renderer.render((), 0.0, replace(scene, robot=upright_pose(*scene.building.find(room).area.center, 0.0)))
        for room in ("hall", "lobby")
    ]
    _, columns = np.nonzero((pictures[0] != pictures[1]).any(axis=2))
    assert np.ptp(columns) > 100


def test_things_that_are_not_in_the_scene_are_not_drawn(renderer, scene):
    empty, full = (renderer.render((), 0.0, replace(scene, objects=items)) for items in ((), scene.objects))
    assert (empty != full).any(axis=2).sum() > 200


def test_another_building_needs_another_renderer(scene):
    assert drawn(scene) == drawn(replace(scene, held="red toolbox", time=5.0))
    assert drawn(scene) != drawn(open_world("rooms", 4, parse_things("red toolbox, Anna")).scene())


def test_a_table_is_drawn_by_the_renderer_of_tables():
    with make_renderer(open_world("tabletop").scene(), (64, 48)) as renderer:
        assert isinstance(renderer, SceneRenderer)
        assert (renderer.width, renderer.height) == (64, 48)


def test_a_film_of_a_mobile_robot_needs_no_joint_states(scene, tmp_path):
    recorder = Recorder(lambda: 7.0)
    for k in range(10):
        recorder.on_scene(replace(scene, time=0.05 * k, speed=0.1 * k))
    assert 4 <= len(recorder.frames) <= 6
    assert recorder.moved_at == 7.0
    write_film(recorder.frames, tmp_path / "film.mp4", tmp_path / "last.png")
    assert (tmp_path / "film.mp4").stat().st_size > 1000
    assert (tmp_path / "last.png").stat().st_size > 1000


def test_the_way_that_the_robot_has_come_is_a_line(renderer, scene):
    hall, lobby = ((*scene.building.find(room).area.center, 0.03) for room in ("hall", "lobby"))
    without, with_way = (renderer.render((), 0.0, scene, way) for way in ((), (hall, lobby)))
    _, columns = np.nonzero((without != with_way).any(axis=2))
    assert np.ptp(columns) > 100
