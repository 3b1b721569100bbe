"""Files named on the command line are looked at before anything moves."""

import os
from pathlib import Path

import pytest

from llm_planner.cli.answers import check_folder, check_output
from llm_planner.cli.planning_options import read_program
from llm_planner.errors import InputError


def test_an_output_must_end_in_its_suffix(tmp_path):
    with pytest.raises(InputError, match=r"--video writes a \.mp4 file, but .*film\.avi does not end in \.mp4"):
        check_output("--video", tmp_path / "film.avi", ".mp4")


def test_the_folder_of_an_output_must_exist(tmp_path):
    with pytest.raises(InputError, match=r"--picture: there is no folder .*nowhere; make it first"):
        check_output("--picture", tmp_path / "nowhere" / "a.png", ".png")


def test_an_output_may_not_be_a_folder(tmp_path):
    (tmp_path / "a.png").mkdir()
    with pytest.raises(InputError, match=r"--picture: .*a\.png is not a regular file"):
        check_output("--picture", tmp_path / "a.png", ".png")


def test_an_output_must_be_permitted(tmp_path):
    (tmp_path / "old.png").write_bytes(b"old")
    for name, asked in (("new.png", tmp_path), ("old.png", tmp_path / "old.png")):
        with pytest.raises(InputError, match=rf"{name} cannot be written, permission is denied"):
            check_output("--picture", tmp_path / name, ".png", lambda path, mode, asked=asked: path != asked)


def test_a_folder_to_write_into_need_not_be_there_yet(tmp_path):
    check_folder("--work", tmp_path / "new" / "newer")
    check_folder("--work", Path("runs/of nobody yet"))


def test_a_folder_to_write_into_is_looked_at_where_it_begins(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match=r"--work: .*file is not a folder; name another"):
        check_folder("--work", tmp_path / "file" / "new")
    with pytest.raises(InputError, match=r"--work: .*new cannot be written, permission is denied"):
        check_folder("--work", tmp_path / "new", lambda path, mode: path != tmp_path)


def test_a_good_output_may_exist_already(tmp_path):
    (tmp_path / "a.PNG").write_bytes(b"old")
    check_output("--picture", tmp_path / "a.PNG", ".png")
    check_output("--picture", tmp_path / "new.png", ".png")


def test_a_program_is_read(tmp_path):
    (tmp_path / "p.py").write_text("go_home()\n", encoding="utf-8")
    assert read_program(tmp_path / "p.py") == "go_home()\n"


def test_what_is_no_regular_file_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path):
        with pytest.raises(InputError, match="cannot be read: it is not a regular file"):
            read_program(path)


def test_a_missing_program_is_told(tmp_path):
    with pytest.raises(InputError, match=r"none\.py cannot be read: .*No such file"):
        read_program(tmp_path / "none.py")
    with pytest.raises(InputError, match=r"cannot be read: .*embedded null"):
        read_program(Path("a\0b"))


def test_a_program_must_be_utf8(tmp_path):
    (tmp_path / "p.py").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="it is not UTF-8 text"):
        read_program(tmp_path / "p.py")


def test_a_program_that_is_too_long_is_not_read_to_its_end(tmp_path):
    (tmp_path / "p.py").write_text("#" * 10_001)
    with pytest.raises(InputError, match="is longer than 10000 characters"):
        read_program(tmp_path / "p.py")
