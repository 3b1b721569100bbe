"""From drawn pictures to a skill that sees, on a small scale."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from llm_planner.errors import InputError
from llm_planner.learning.cases import draw_case
from llm_planner.learning.evaluating import try_one
from llm_planner.learning.improving import examine
from llm_planner.learning.report import read_report
from llm_planner.learning.sight_data import (
    LAYOUTS,
    SIGHT_SPEC,
    Album,
    Drawn,
    Shown,
    collected_album,
    draw_pictures,
    joined_albums,
    lay_out,
    pictures,
    read_album,
    write_album,
)
from llm_planner.learning.sight_training import Questions, train_sight
from llm_planner.learning.skill_training import SIGHT_OBJECTIVE, train_sight_skill
from llm_planner.learning.training_task import open_training_task
from llm_planner.scene.geometry import bottom, top
from llm_planner.share import share_folder
from llm_planner.skills.arm import blind
from llm_planner.skills.library import read_skill
from llm_planner.skills.sight_network import (
    BINS,
    CELL_COLUMNS,
    CELL_ROWS,
    COLUMNS,
    NUMBERS,
    ROWS,
    X_MIN,
    Y_MIN,
    SightSpec,
)

SMALL = SightSpec(("block", "bowl"), ("", "red", "blue"), width=8, dilations=(1,))


@pytest.fixture
def make_task(tmp_path):
    """Of the shipped manifest, in a library of one's own, with so little patience that its trials soon end."""

    def make(steps=2):
        for name in ("pick", "pick_by_sight"):
            (tmp_path / "skills" / name).mkdir(parents=True, exist_ok=True)
            for file in ("skill.yaml", "skill.py"):
                shutil.copy(share_folder("skills") / name / file, tmp_path / "skills" / name)
        task = open_training_task(tmp_path / "skills", tmp_path / "work", "pick_by_sight")
        task = replace(task, manifest=replace(task.manifest, timeout=0.5))
        return task.with_amounts(1, steps)

    return make


@pytest.fixture
def squares():
    """Pictures of a red or a blue square, which is a block to be taken in its middle."""

    def make(count=12) -> Album:
        rng, drawn = np.random.default_rng(0), []
        for index in range(count):
            picture = np.full((ROWS, COLUMNS, 3), (214, 181, 139), np.uint8)
            color, (row, column) = ("red", "blue")[index % 2], (rng.integers(20, 100), rng.integers(20, 180))
            picture[row - 5 : row + 5, column - 5 : column + 5] = (200, 30, 30) if color == "red" else (30, 60, 200)
            grasp = (X_MIN + 0.005 * row, Y_MIN + 0.005 * column, 0.0, 0.02, 0.04, 0.07)
            drawn.append(Drawn(picture, (Shown("block", color, grasp),), (("block", color),)))
        return collected_album(drawn, SMALL)

    return make


def test_a_drawn_case_shows_every_thing_that_can_be_taken():
    drawn = list(draw_pictures("pick", [3]))
    assert len(drawn) == LAYOUTS
    case = draw_case("pick", 3)
    for one in drawn:
        assert one.picture.shape == (ROWS, COLUMNS, 3)
        assert sorted(kind for kind, _ in one.words) == sorted(item.kind for item in case.objects)
        assert {(thing.kind, thing.color) for thing in one.things} <= set(one.words)
        assert all(0.2 < thing.grasp[0] < 0.8 and 0.0 < thing.grasp[4] <= thing.grasp[5] for thing in one.things)
    assert (drawn[0].picture != drawn[1].picture).any()


def test_towers_are_built():
    case = next(case for seed in range(50) if (case := draw_case("pick", seed)).towers)
    scene = lay_out(case, np.random.default_rng(0))
    below, above = (scene.find(name) for name in case.towers[0][:2])
    assert bottom(above) == pytest.approx(top(below))
    assert above.position[:2] == below.position[:2]


def test_an_album_is_kept_and_joined(squares, tmp_path):
    album = squares(2)
    write_album(tmp_path / "album.npz", album)
    read = read_album(tmp_path / "album.npz")
    both = joined_albums([album, read])
    assert (both.pictures == np.concatenate([album.pictures] * 2)).all()
    assert both.shown[:, 0].tolist() == both.there[:, 0].tolist() == [0, 1, 2, 3]


def test_pictures_that_cannot_be_read_are_told(tmp_path):
    (tmp_path / "album.npz").write_bytes(b"no pictures")
    with pytest.raises(
        InputError, match=r"album.npz: no pictures that can be read .*; delete it, they are drawn again"
    ):
        read_album(tmp_path / "album.npz")
    with pytest.raises(InputError, match="there are no pictures to learn from, or nothing in them can be taken"):
        joined_albums([])


class Saying(nn.Module):
    """Says of every picture that a red block is to be taken in one cell, closing in one direction."""

    def __init__(self, row: int, column: int, direction: int, numbers: list[float]) -> None:
        super().__init__()
        self.nothing = nn.Parameter(torch.zeros(len(SMALL.kinds) + len(SMALL.colors)))
        self._out = torch.zeros((SMALL.outputs, CELL_ROWS, CELL_COLUMNS))
        self._out[direction, row, column] = 10.0
        self._out[len(SMALL.kinds) * BINS + len(SMALL.colors) :][: len(NUMBERS), row, column] = torch.tensor(numbers)

    def forward(self, tables):
        return self._out.expand(len(tables), -1, -1, -1)


def test_what_is_right_costs_least():
    """A block in the middle of the cell (10, 20), with the fingers closing along the third of the directions."""
    picture = np.zeros((ROWS, COLUMNS, 3), np.uint8)
    grasp = (X_MIN + 0.02 * 10.5, Y_MIN + 0.02 * 20.5, 3 * np.pi / BINS, 0.02, 0.04, 0.07)
    album = collected_album([Drawn(picture, (Shown("block", "red", grasp),), (("block", "red"),))], SMALL)

    def cost(*said):
        return float(Questions(SMALL, album, 0).loss(Saying(*said), 0).detach())

    right = cost(10, 20, 3, [0.0, 0.0, 1.0, 2.0, 3.5])
    assert right < cost(11, 20, 3, [0.0, 0.0, 1.0, 2.0, 3.5])
    assert right < cost(10, 20, 4, [0.0, 0.0, 1.0, 2.0, 3.5])
    assert right < cost(10, 20, 3, [0.1, 0.0, 1.0, 2.0, 3.5])
    assert right < cost(10, 20, 3, [0.0, 0.0, 1.0, 1.9, 3.5])


def test_a_training_that_was_killed_ends_in_the_same_weights(squares, tmp_path):
    whole = train_sight(SMALL, squares(2), 0, 2, checkpoint_every=1)

    def killed(step, loss):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_sight(SMALL, squares(2), 0, 2, tmp_path / "checkpoint", killed, checkpoint_every=1)
    resumed = train_sight(SMALL, squares(2), 0, 2, tmp_path / "checkpoint", checkpoint_every=1)
    assert all((whole.weights[name] == resumed.weights[name]).all() for name in whole.weights)


def test_a_skill_that_sees_is_taught_and_examined(make_task, here):
    task, done = make_task(), []
    album = pictures(task, 0, here, done.append)
    assert len(album) == LAYOUTS
    drawn = sorted(task.pictures.iterdir())
    written = [path.stat().st_mtime_ns for path in drawn]
    pictures(task, 0, here, done.append)
    assert [path.stat().st_mtime_ns for path in drawn] == written  # not drawn again
    assert done == [1, 1]

    train_sight_skill(task, 0, album, lambda step, loss: None)
    report = examine(task, 1, 0, here, done.append)
    assert report == read_report(task.folder)
    assert (report.trained.objective, report.trained.recordings) == (SIGHT_OBJECTIVE, LAYOUTS)
    assert report.evaluated.plain.seeds == (900_000_000, 900_000_000)
    assert "A look takes" in (task.folder / "report.md").read_text()
    assert task.policy.stat().st_size < 1_000_000


def test_its_demonstrator_is_tried_where_that_is_asked(make_task):
    assert try_one(make_task(), 900_000_000, perturbed=False, scripted=True).succeeded


def test_it_is_in_the_library_where_there_are_a_camera_and_weights(make_task):
    task = make_task()

    def names(camera):
        paths = task.skills.glob("*/skill.yaml")
        return sorted(skill.name for path in paths if (skill := read_skill(path, camera=camera)) is not None)

    def camera(observation):
        raise AssertionError("nobody has asked for a picture yet")

    assert names(camera) == ["pick"]
    train_sight_skill(task, 0, collected_album(draw_pictures("pick", [0]), SIGHT_SPEC), lambda step, loss: None)
    assert names(blind) == ["pick"]
    assert names(camera) == ["pick", "pick_by_sight"]
