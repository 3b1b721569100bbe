"""`llm-planner memory`: list, explain, export or forget lessons from corrections; no node needs to run."""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import closing
from pathlib import Path

from rich.table import Table

from llm_planner.cli.answers import check_output, json_line
from llm_planner.cli.talk import add_namespace_argument
from llm_planner.cli.terminal import wide_console
from llm_planner.corrections.preferences.memory import PreferenceStore, lesson_json
from llm_planner.corrections.preferences.preference import Preference, State, day, explained, gist, meant
from llm_planner.errors import InputError
from llm_planner.text import plain_text

ACTIONS = ("list", "explain", "export", "forget")


def add_memory_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=ACTIONS,
        help="list (default); explain ID; export [FILE] as JSON; forget ID, WORDS or --all",
    )
    parser.add_argument("what", nargs="*", help="the id of a lesson, words that name some, or a file")
    parser.add_argument("--all", action="store_true", help="list also what is proposed or retired; forget everything")
    parser.add_argument("--yes", action="store_true", help="forget without asking")
    parser.add_argument(
        "--memory", default="", metavar="FILE", help="the memory (default: the nodes', in ROS's folder)"
    )
    add_namespace_argument(parser)


def run_memory(args: argparse.Namespace) -> int:
    """Perform one of `ACTIONS`."""
    from llm_planner.ros.journal_file import memory_path
    from llm_planner.ros.other_systems import own_domain

    path = memory_path(args.memory, args.namespace, own_domain())
    if not path.exists():
        if args.memory or args.action in ("explain", "forget"):
            raise InputError(f"there is no memory {path}: nothing was learned yet, or name its file with --memory")
        if args.action == "list":
            print(f"Nothing was learned yet ({path} is not there).")
            return 0
    with closing(PreferenceStore(path)) as store:
        code = {"list": _list, "explain": _explain, "export": _export, "forget": _forget}[args.action](args, store)
        for line in store.unreadable.values():
            print(line, file=sys.stderr)
    return code


def _list(args: argparse.Namespace, store: PreferenceStore) -> int:
    if args.what:
        raise InputError(f"`memory list` takes no {args.what[0]!r}; to see one lesson: llm-planner memory explain ID")
    lessons = [lesson for lesson in store.lessons() if args.all or lesson.state is State.LEARNED]
    if not lessons:
        print(f"Nothing is remembered in {store.path}.")
        return 0
    table = Table(box=None, pad_edge=False)
    for column in ("id", "uses", "failed"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("lesson", "for", "told", "state"):
        table.add_column(column)
    for lesson in lessons:
        numbers = (str(lesson.id), str(lesson.uses), str(lesson.failures))
        by = f" by {lesson.provenance.user}" if lesson.provenance.user else ""
        told = day(lesson.provenance.time, time.time()) + by
        table.add_row(*numbers, plain_text(gist(lesson)), lesson.scope.value, told, lesson.state.value)
    wide_console().print(table, markup=False)
    return 0


def _explain(args: argparse.Namespace, store: PreferenceStore) -> int:
    if len(args.what) != 1 or not args.what[0].isdigit():
        raise InputError(
            f"`memory explain` takes the id of one lesson, not {' '.join(args.what)!r}; see: {_see(store)}"
        )
    lesson = _find(store, int(args.what[0]))
    print("\n".join(explained(lesson, store.lessons(), time.time())))
    return 0


def _find(store: PreferenceStore, number: int) -> Preference:
    for lesson in store.lessons():
        if lesson.id == number:
            return lesson
    raise InputError(f"there is no lesson {number} in {store.path}; see: {_see(store)}")


def _see(store: PreferenceStore) -> str:
    return f"llm-planner memory --all --memory {store.path}"


def _export(args: argparse.Namespace, store: PreferenceStore) -> int:
    values = {"lessons": [lesson_json(lesson) for lesson in store.lessons()]}
    if len(args.what) > 1:
        raise InputError(f"`memory export` writes one file, not {len(args.what)}: {', '.join(args.what)}")
    if not args.what:
        print(json_line(values))
        return 0
    path = Path(args.what[0])
    check_output("memory export", path, ".json")
    path.write_text(json.dumps(values, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(values['lessons'])} lessons: {path}")
    return 0


def _forget(args: argparse.Namespace, store: PreferenceStore) -> int:
    lessons = _meant(args, store)
    for lesson in lessons:
        print(f"{lesson.id}  {plain_text(gist(lesson))}")
    if not args.yes:
        which = "it" if len(lessons) == 1 else f"all {len(lessons)}"
        print(f"Forget {which} for good? [y/N] ", end="", flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            print("Nothing was forgotten.")
            return 1
    store.forget(lesson.id for lesson in lessons)
    print(f"Forgotten: {len(lessons)}.")
    return 0


def _meant(args: argparse.Namespace, store: PreferenceStore) -> tuple[Preference, ...]:
    """Return the lessons to forget; raise InputError if there are none."""
    words = " ".join(args.what)
    if bool(words) == args.all:
        raise InputError("`memory forget` takes the id of a lesson, or words that name some, or --all")
    if args.all:
        found = store.lessons()
    elif words.isdigit():
        found = (_find(store, int(words)),)
    else:
        found = meant(store.lessons(), words)
    if not found:
        raise InputError(f"no lesson in {store.path} is about {words or 'anything'!r}; see: {_see(store)}")
    return found
