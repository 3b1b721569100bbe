"""Time and memory to learn from a journal what was left unfinished: read whole, and by its end.

Each reader runs in a process of its own on one file; its memory is the most that was resident above what it had before
it opened the file. The file has as many records as asked, unbounded, in the layout with or without indices. Also: what
one append costs, and how long a node waits for appends while another process keeps the file locked.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from reports import print_report, report_parser

from llm_planner.corrections.resume import is_of_work, left_over
from llm_planner.database import transaction
from llm_planner.execution.journal import JournalFile, Record, RecordKind, read_journal, unfinished
from llm_planner.execution.journal_buffer import Journal

OF_A_COMMAND = 12  # records


def records(count: int) -> Iterator[tuple[float, str, str, str]]:
    """As of commands of four steps, each of which has ended well but the last."""
    from llm_planner import Session  # here, since the readers need none of it
    from llm_planner.execution.execution_state import start_execution
    from llm_planner.planning.planning import plan_program
    from llm_planner.planning.report import plan_record

    calls = ['pick("red block")', 'place_in("mug")', 'pick("blue block")', 'place_beside("mug", "left", 0.05)']
    with Session("tabletop", objects="red block, blue block, mug") as session:
        scene, skills = session.scene, session.library.signatures
        planned = plan_program("tidy up", "\n".join(calls), scene, skills)
    plan = plan_record(start_execution(planned.plan, planned.interpreter))
    for command in range(count // OF_A_COMMAND):
        name = f"{command:032x}"
        yield 1.0, "command", name, json.dumps({"command": "tidy up"})
        yield 2.0, "plan", name, json.dumps(plan)
        for step, call in enumerate(calls):
            for status in ("running", "done"):
                yield 3.0, "step", name, json.dumps({"step_id": str(step + 1), "step": call, "status": status})
        if command < count // OF_A_COMMAND - 1:
            yield 4.0, "outcome", name, json.dumps({"outcome": "done", "message": "", "kept": []})
            yield 4.0, "outcome", name, json.dumps({"code": "SUCCEEDED", "message": "Done.", "lost": False})


def write(path: Path, count: int) -> None:
    with closing(JournalFile(path)) as journal, transaction(journal._database):
        journal._database.executemany(
            "INSERT INTO record (time, kind, command_id, data) VALUES (?, ?, ?, ?)", records(count)
        )


def read_whole(path: Path) -> str:
    """As nodes did before: every record, three times over."""
    told = read_journal(path)
    return f"{len(unfinished(told))} {_left(told)}"


def read_end(path: Path) -> str:
    """As nodes do."""
    with closing(JournalFile(path)) as journal:
        return f"{len(journal.unfinished())} {_left(journal.tail(is_of_work))}"


def _left(told: tuple[Record, ...]) -> str:
    left = left_over(told)
    return f"{left.command_id} {len(left.done)} of {len(left.plan.steps)}"


READERS = {"read whole": read_whole, "read by its end": read_end}


def measured(reader: str, path: Path) -> dict[str, object]:
    """In this process."""
    before = _resident()
    begun = time.perf_counter()
    answer = READERS[reader](path)
    return {"ms": 1e3 * (time.perf_counter() - begun), "MB": _resident() - before, "answer": answer}


def _resident() -> float:
    """Most that was resident in this process [MB]; `resource` would count what its parent had before."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def apart(reader: str, path: Path) -> dict[str, object]:
    """In a process of its own."""
    command = [sys.executable, __file__, "--reader", reader, "--file", str(path)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def appends(path: Path, count: int) -> dict[str, float]:
    """Milliseconds of one append that is on the disk, and seconds that `count` of them wait for a locked file."""
    record = Record(1.0, RecordKind.STEP, "a", {"step_id": "1", "step": "go_home()", "status": "done"})
    journal = Journal(path)
    journal.unfinished()
    times = sorted(_timed(lambda: journal.append(record)) for _ in range(count))
    with closing(JournalFile(path)) as other, transaction(other._database):
        waited = sum(_timed(lambda: journal.append(record)) for _ in range(count))
    unwritten = journal.close()
    return {"append ms": 1e3 * times[count // 2], "waited locked s": waited, "unwritten": unwritten}


def _timed(work: object) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--records", type=int, default=240_000)
    parser.add_argument("--reader", choices=READERS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader:
        print(json.dumps(measured(options.reader, options.file)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.sqlite"
        write(path, options.records)
        report = {reader: apart(reader, path) for reader in READERS}
        if len({row["answer"] for row in report.values()}) != 1:
            raise SystemExit(f"the readers disagree: {report}")
        report["appends"] = appends(Path(folder) / "other.sqlite", 50)
        report["file MB"] = path.stat().st_size / 2**20
    print_report(report, options.json)


if __name__ == "__main__":
    main()
