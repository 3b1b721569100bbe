"""The program as the shell starts it, where its output cannot go or cannot be shown."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "llm_planner.cli.main"]
ASCII = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C.UTF-8"}


def shell(line, env=None):
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line, *PROGRAM], capture_output=True, text=True, timeout=120, env=env
    )


def test_where_only_ascii_can_be_shown_other_characters_are_escaped():
    done = shell('"$0" "$@" plan --viewpoint 雪 "hebe die Tür"', ASCII)
    assert (done.returncode, done.stderr) == (1, "")
    assert "\\u96ea" in done.stdout


def test_words_in_an_unknown_encoding_are_escaped_too():
    done = shell("\"$0\" \"$@\" plan --viewpoint $'\\xff' 'lift it'", {**ASCII, "PYTHONUTF8": "0", "LC_ALL": "C"})
    assert (done.returncode, done.stderr) == (1, "")
    assert "\\udcff" in done.stdout


def test_json_for_an_ascii_terminal_is_json():
    done = shell('"$0" "$@" plan --json --viewpoint 雪 "hebe die Tür"', ASCII)
    assert json.loads(done.stdout)["command"] == "hebe die Tür"
    assert done.stdout.isascii()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", ["--help", "plan --json ''", "plan ''"])
def test_a_full_disk_ends_it_without_a_traceback(arguments):
    done = shell(f'"$0" "$@" {arguments} >/dev/full')
    assert (done.returncode, done.stderr) == (1, "llm-planner: the output cannot be written: No space left on device\n")


def test_a_reader_that_has_gone_ends_it_quietly():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        done = subprocess.run([*PROGRAM, "--help"], stdout=gone, stderr=subprocess.PIPE, timeout=120)
    assert (done.returncode, done.stderr) == (1, b"")
