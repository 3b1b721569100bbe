"""Entry point of `llm-planner COMMAND`; imports only the module of the given command, so help is instant."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import errno
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from llm_planner import __version__
from llm_planner.cli.answers import INTERRUPTED
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.text import redacted

COMMANDS = {
    "demo": "carry a sentence out in the simulator, and film it",
    "up": "start the nodes and keep them running until interrupted",
    "say": "send a command to a running system and follow it to its result",
    "correct": "tell a robot at work what to do otherwise: slower, a bit to the left, no, the blue one",
    "stop": "stop the robot of a running system, now",
    "runs": "list the recorded runs, with what was said in each; recover those that were cut off",
    "replay": "play a recorded run as ROS topics in a domain of its own, and print what happened as it did",
    "why": "explain a step of a recorded run: what was understood, what decided it, what was foreseen, what happened",
    "convert": "write a recorded run as a LeRobot data set, with video and language",
    "plan": "check a command and show its plan; nothing moves",
    "run": "plan and carry a command out in this process, faster than real time",
    "constraint": "show what a sentence means as a rule that the robot keeps: formula, words, examples, picture",
    "edit": "show what a correction would change of a plan, and whether it may; nothing moves",
    "listen": "tell a robot at work by the microphone or a WAV file what to do otherwise; or only show what was heard",
    "mcp": "give other agents tools for the robot (Model Context Protocol): preview, command, correct, stop",
    "memory": "list what was learned from corrections; explain, export or forget it",
    "new": "write a skill, a world or a robot of your own that runs as it is, to go on from",
    "robot": "list the arms that there are, or check the description of one",
    "schema": "print the JSON Schema of a kind of file, for editors",
    "skills": "list the skills: how each moves, and how well those do that were learned",
    "demonstrate": "have a skill's script demonstrate it, as data to learn from",
    "train": "train a skill's policy on its demonstrations, and measure it",
    "evaluate": "measure how often a learned skill succeeds, left alone and shoved",
    "improve": "let a learned skill learn from corrections or from its own rollouts",
    "secure": "make keys and permissions for SROS 2, so that no stranger moves the robot",
    "doctor": "check the installation, and say how to mend what is missing",
}
_MODULES = {  # of this package: the commands that share one; every other command has one of its own name
    "system": ("demo", "up"),
    "talk": ("say", "correct", "stop", "listen"),
    "recordings": ("runs", "replay", "why", "convert"),
    "planning": ("plan", "run", "edit"),
    "learning": ("demonstrate", "train", "evaluate", "improve"),
    "new": ("new", "schema"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; print an error as one paragraph on standard error."""
    _print_whatever_comes()
    try:
        try:
            return _dispatch(list(sys.argv[1:] if arguments is None else arguments))
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, so that a failure still sets the exit status
    except LlmPlannerError as error:
        _complain(f"llm-planner: {error}")
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except OSError as error:
        if not _output_is_lost(error):
            return _fault(error)
    except Exception as error:
        return _fault(error)
    return 1


def _print_whatever_comes() -> None:
    """Print characters that the terminal's encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _output_is_lost(error: OSError) -> bool:
    """Return whether the output has no reader (as under `head`) or no space; if so, discard further output."""
    if error.errno not in (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF) or error.filename is not None:
        return False
    if error.errno != errno.EPIPE:
        _complain(f"llm-planner: the output cannot be written: {error.strerror}")
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


def _fault(error: Exception) -> int:
    if os.environ.get("LLM_PLANNER_DEBUG"):
        raise error
    _complain(
        f"llm-planner: a fault of this program, not of yours: {type(error).__name__}: {error}. "
        "Please report it, with what LLM_PLANNER_DEBUG=1 shows when you run the same again."
    )
    return 1


def _complain(text: str) -> None:
    with contextlib.suppress(OSError):  # standard error may be closed
        print(redacted(text), file=sys.stderr)


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if arguments[0] in ("-V", "--version"):
        print(f"llm-planner {__version__}")
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        raise InputError(_unknown(name))
    parser, run = command(name)
    options = parser.parse_args(rest)
    if (getattr(options, "robot", None) or "").startswith("menagerie:"):
        from llm_planner.cli.new_robot import fetched_robot

        options.robot = fetched_robot(options.robot)
    return run(options)


def command(name: str, **options: Any) -> tuple[argparse.ArgumentParser, Callable[[argparse.Namespace], int]]:
    """Return the parser of a command's arguments, made with these `options`, and the function that runs it."""
    home = next((module for module, names in _MODULES.items() if name in names), name)
    module = importlib.import_module(f"llm_planner.cli.{home}")
    description = f"{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}."
    parser = argparse.ArgumentParser(prog=f"llm-planner {name}", description=description, **options)
    getattr(module, f"add_{name}_arguments")(parser)
    run: Callable[[argparse.Namespace], int] = getattr(module, f"run_{name}")
    return parser, run


def _help() -> str:
    width = max(map(len, COMMANDS)) + 2
    listing = "\n".join(f"  {name:<{width}}{text}" for name, text in COMMANDS.items())
    return (
        "Command a robot in plain language.\n\n"
        f"usage: llm-planner COMMAND [options]\n\n{listing}\n\n"
        "`llm-planner COMMAND --help` tells what a command takes."
    )


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, COMMANDS, n=1)
    if close:
        return f"there is no command {name!r}; did you mean {close[0]!r}? The commands are: {', '.join(COMMANDS)}."
    return (
        f"there is no command {name!r}; the commands are: {', '.join(COMMANDS)}. "
        f'To tell the robot something: llm-planner say "{name} …"'
    )


if __name__ == "__main__":
    raise SystemExit(main())
