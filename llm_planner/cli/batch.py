"""`--batch FILE`: read one command per line and print one JSON object per line, in order, even after failures."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from llm_planner.cli.answer import INTERRUPTED, Answer, json_line, terminated_as_interrupted
from llm_planner.errors import InputError, LlmPlannerError

if TYPE_CHECKING:
    from llm_planner.plans.plan import Outcome


STANDARD_INPUT = Path("-")
MAX_LINE = 100_000  # [bytes] longer lines are skipped and answered with an error

Line = str | InputError  # the command, or why it is unreadable


def add_batch_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--batch", type=Path, metavar="FILE", help="one command a line (- is standard input), one JSON object a line"
    )


def check_alone(args: argparse.Namespace, *options: str) -> None:
    """Raise InputError if a command or one of these options is given besides `--batch`."""
    given = [option for option in options if getattr(args, option.removeprefix("--").replace("-", "_"))]
    if args.text or given:
        what = given[0] if given else "the command"
        raise InputError(f"--batch takes its commands from {args.batch}; leave {what} out, or --batch")


def answer_batch(path: Path, make: Callable[[str], Answer], failed: Callable[[str, Exception], Answer]) -> int:
    """Answer every line of a file as soon as it is read; an interrupt (Ctrl-C, SIGTERM) ends the batch.

    Args:
        path: Text file; `-` for standard input.
        make: Makes the answer to a command.
        failed: Makes the answer for a command that raised an exception.

    Returns:
        Exit status: 0 if all answers are `done`, 130 after an interrupt, else 1.

    Raises:
        InputError: The file cannot be read.
    """
    all_done = True
    with _opened(path) as file:
        for number, line in enumerate(_lines(file), start=1):
            try:
                made = _made(line, make, failed)
            except KeyboardInterrupt:
                _print(failed(str(line), InputError("interrupted")), number)
                return INTERRUPTED
            _print(made, number)
            all_done = all_done and made.outcome.value == "done"
    return 0 if all_done else 1


def _made(line: Line, make: Callable[[str], Answer], failed: Callable[[str, Exception], Answer]) -> Answer:
    if isinstance(line, InputError):
        return failed("", line)
    try:
        with terminated_as_interrupted(), contextlib.redirect_stdout(sys.stderr):  # libraries may print
            return make(line)
    except Exception as error:  # the lines after this one must still be answered
        return failed(line, error)


def _print(made: Answer, number: int) -> None:
    value: dict[str, Any] = {"line": number, **made.to_json()}
    print(json_line(value), flush=True)


def told(error: Exception) -> tuple[Outcome, str]:
    """Return the outcome and the message for a command that raised `error`."""
    from llm_planner.planning.planning import outcome_of
    from llm_planner.plans.plan import Outcome

    if isinstance(error, LlmPlannerError):
        return outcome_of(error)
    return Outcome.FAILED, f"a fault of this program, not of yours: {type(error).__name__}: {error}"


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"--batch: {path} cannot be read: {error.strerror}; give a text file, or - to type") from error
    with file:
        yield file


def _lines(file: IO[bytes]) -> Iterator[Line]:
    while line := file.readline(MAX_LINE):
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            yield InputError(f"the line is longer than {MAX_LINE} bytes; give the command in fewer words")
            continue
        try:
            yield line.decode("utf-8-sig").rstrip("\r\n")
        except UnicodeDecodeError as error:
            yield InputError(f"the line is not UTF-8 text ({error.reason}); save the file as UTF-8")
