"""Pictures and videos, drawn here without a screen."""

import subprocess
import sys
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

from llm_planner.errors import InputError, SimulationError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.collada import ColoredMesh
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.looks import lathe, object_meshes, simplified
from llm_planner.simulation.objects import COLORS, KINDS, ObjectSpec, object_color, parse_objects
from llm_planner.simulation.offscreen import check_gl_setting, open_gl_context
from llm_planner.simulation.renderers import SceneRenderer, write_picture, write_video

PANDA = arm_model("panda")

OBJECTS = parse_objects("red block, blue bowl, mug")


def scene(y: float) -> Scene:
    block = SceneObject("red block", "block", "red", (0.4, y, 0.02), (0.0, 0.0, 0.0, 1.0), (0.04, 0.04, 0.04))
    return Scene(0.0, (block,))


def red_column(picture: np.ndarray) -> float:
    """Mean image column of the red pixels."""
    red, green, blue = picture.astype(int).transpose(2, 0, 1)
    _, columns = np.nonzero((red > 100) & (red > 2 * green) & (red > 2 * blue))
    assert len(columns) > 20
    return float(columns.mean())


def test_what_lies_to_the_left_is_drawn_to_the_left():
    with SceneRenderer(OBJECTS, 320, 240) as renderer:
        left, right = (renderer.render(PANDA.home, 0.08, scene(y)) for y in (0.25, -0.25))
    assert left.shape == (240, 320, 3)
    assert left.dtype == np.uint8
    assert red_column(left) < red_column(right) - 30


def test_the_arm_is_drawn_where_the_joints_say():
    with SceneRenderer(OBJECTS, 320, 240) as renderer:
        home, turned = (renderer.render([q, *PANDA.home[1:]], 0.08, scene(0.0)) for q in (0.0, 1.0))
    assert (home != turned).any(axis=2).mean() > 0.05


def test_a_renderer_ignores_objects_it_was_not_told_of():
    stranger = SceneObject("vase", "vase", "", (0.5, 0.2, 0.06), (0.0, 0.0, 0.0, 1.0), (0.06, 0.06, 0.12))
    with SceneRenderer(OBJECTS, 64, 48) as renderer:
        pictures = [renderer.render(PANDA.home, 0.08, Scene(0.0, items)) for items in ((), (stranger,))]
    assert (pictures[0] == pictures[1]).all()


def test_without_any_off_screen_opengl_it_says_why_and_what_to_install():
    with pytest.raises(SimulationError, match=r"no off-screen OpenGL works here \(nogl: .*nogl.*apt-get install"):
        open_gl_context(64, 48, backends=("nogl",))


def test_a_setting_of_opengl_that_nothing_can_use_is_told_with_the_valid_ones():
    with pytest.raises(SimulationError, match="MUJOCO_GL is 'nonsense'; set it to one of: egl, osmesa, or unset it"):
        check_gl_setting("nonsense")
    for setting in ("", "egl", "OSMesa", "glfw", "off"):
        check_gl_setting(setting)


def test_a_file_that_cannot_be_written_is_told_and_the_encoder_is_silent(tmp_path: Path, capfd):
    picture = np.zeros((48, 64, 3), np.uint8)
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(SimulationError, match=r"a\.png cannot be written: .*File exists"):
        write_picture(tmp_path / "file" / "a.png", picture)
    with pytest.raises(SimulationError, match=r"a\.none cannot be written: "):
        write_video(tmp_path / "a.none", [picture] * 3)  # no such container
    assert capfd.readouterr().err == ""


WITHOUT_ROOM = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from llm_planner.errors import SimulationError
from llm_planner.simulation.renderers import write_picture
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # no file may grow, as on a full disk
try:
    write_picture(Path(sys.argv[1]), np.zeros((48, 64, 3), np.uint8))
except SimulationError as error:
    print(error)
"""


def test_a_disk_without_room_is_told(tmp_path: Path):
    command = [sys.executable, "-c", WITHOUT_ROOM, str(tmp_path / "a.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "a.png cannot be written: the encoder left it empty; is the disk full?" in done.stdout
    assert done.stderr == ""


def test_a_video_can_be_decoded_again(tmp_path: Path):
    frames = [np.full((48, 64, 3), level, dtype=np.uint8) for level in range(0, 250, 10)]
    path = tmp_path / "deep" / "film.mp4"
    write_video(path, frames, fps=25)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert count == len(frames)
    assert seconds == pytest.approx(1.0, abs=0.05)
    report = subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path)], capture_output=True, text=True, check=False
    ).stderr
    assert "h264" in report
    assert "yuv420p" in report


def test_a_picture_is_kept_exactly(tmp_path: Path):
    picture = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    write_picture(tmp_path / "a.png", picture)
    ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
    decode = [ffmpeg, "-i", str(tmp_path / "a.png"), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    pixels = subprocess.run(decode, capture_output=True, check=True).stdout
    assert (np.frombuffer(pixels, dtype=np.uint8).reshape(48, 64, 3) == picture).all()


def test_a_video_without_frames_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"nothing to write to .*film\.mp4"):
        write_video(tmp_path / "film.mp4", [])


def test_frames_of_different_sizes_are_refused(tmp_path: Path):
    frames = [np.zeros((48, 64, 3), np.uint8), np.zeros((48, 32, 3), np.uint8)]
    with pytest.raises(InputError, match=r"is \(48, 32, 3\), the first was \(48, 64, 3\)"):
        write_video(tmp_path / "film.mp4", frames)


def test_slivers_of_a_mesh_collapse():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.001, 0.0, 0.0]])
    mesh = ColoredMesh(corners, np.array([[0, 1, 2], [0, 3, 2]], dtype=np.int32), (1.0, 0.5, 0.0))
    assert len(simplified(mesh, 0.01).faces) == 1


def test_a_lathed_shape_faces_outward():
    vertices, faces = lathe([(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(np.pi, rel=0.01)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if object_meshes(kind)])
def test_smooth_shapes_are_as_large_as_what_collides(kind: str):
    vertices = np.concatenate([vertices for vertices, _ in object_meshes(kind)])
    assert vertices.max(axis=0) - vertices.min(axis=0) == pytest.approx(KINDS[kind].size, abs=0.008)


def test_colours_are_those_of_the_words():
    assert object_color(ObjectSpec("red mug", "mug", "red")) == COLORS["red"]
    assert object_color(ObjectSpec("mug", "mug", "")) not in COLORS.values()
