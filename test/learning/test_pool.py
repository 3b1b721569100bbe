"""Work over cores: every job is done once, and what goes wrong is told with its job."""

import operator
import os
import signal
import subprocess
import sys

import pytest

from llm_planner.errors import InputError
from llm_planner.learning.pool import JobError, LocalPool

# Jobs are expressions, and the function is eval: a worker cannot import functions from here.
DIE_ONCE = "(p := __import__('pathlib').Path({path!r})).exists() or p.touch() or __import__('signal').raise_signal(9)"


def test_every_job_is_done_once_and_comes_with_its_position():
    assert sorted(LocalPool(2).results(abs, [-1, -2, -3, 4])) == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_jobs_come_as_they_are_done(tmp_path):
    """The first waits until it is told something, which happens after the second has come."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    results = LocalPool(2).results(eval, [f"open({str(pipe)!r}).read()", "6 * 7"])
    assert next(results) == (1, 42)
    pipe.write_text("go on")
    assert list(results) == [(0, "go on")]


def test_without_jobs_there_is_nothing_to_do():
    assert list(LocalPool(2).results(abs, [])) == []


def test_a_job_has_one_thread_and_the_caller_keeps_its_own():
    before = dict(os.environ)
    threads = "__import__('os').environ['OMP_NUM_THREADS']"
    assert list(LocalPool(1).results(eval, [threads])) == [(0, "1")]
    assert dict(os.environ) == before


def test_an_error_is_told_with_its_job():
    with pytest.raises(JobError, match=r"^ZeroDivisionError: division by zero \(in job 1 \('1 / 0'\)\)$") as caught:
        list(LocalPool(1).results(eval, ["1", "1 / 0", "2"]))
    assert "Traceback" in str(caught.value.__cause__)


def test_an_error_meant_for_the_user_is_told_as_it_is():
    job = "LocalPool(0)"
    message = r"^the number of processes must be at least 1, not 0 \(in job 0 "
    with pytest.raises(JobError, match=message):
        list(LocalPool(1).results(eval, [f"__import__({LocalPool.__module__!r}, fromlist=['']).{job}"]))


def test_long_jobs_are_named_briefly():
    with pytest.raises(JobError, match=r"in job 0 \('1 / 0      {100,}…\)"):
        list(LocalPool(1).results(eval, ["1 / 0" + 1000 * " "]))


def test_a_job_whose_worker_was_killed_is_done_by_another(tmp_path):
    job = DIE_ONCE.format(path=str(tmp_path / "died"))
    assert sorted(LocalPool(2).results(eval, [job, "6 * 7"])) == [(0, True), (1, 42)]


def test_a_job_that_kills_two_workers_is_given_up():
    message = (
        r"workers died 2 times, 1 jobs are left, the first is job 0 \(9\); if memory ran out, work with fewer processes"
    )
    with pytest.raises(JobError, match=message):
        list(LocalPool(1).results(signal.raise_signal, [9]))


def test_whoever_stops_asking_ends_the_workers():
    results = LocalPool(2).results(eval, ["__import__('os').getpid()", "__import__('time').sleep(1000)"])
    _, process = next(results)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_ctrl_c_ends_the_workers_at_once():
    script = (
        "from llm_planner.learning.pool import LocalPool\n"
        "if __name__ == '__main__':\n"
        '    told = \'print(__import__("os").getpid(), flush=True) or __import__("time").sleep(1000)\'\n'
        "    list(LocalPool(1).results(eval, [told]))\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as caller:
        worker = int(caller.stdout.readline())
        caller.send_signal(signal.SIGINT)
        _, said = caller.communicate()
    assert "KeyboardInterrupt" in said
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_a_pool_has_a_process():
    with pytest.raises(InputError, match="the number of processes must be at least 1, not 0"):
        LocalPool(0)


def test_what_cannot_be_handed_to_a_worker_is_a_fault_of_the_caller():
    with pytest.raises(Exception, match="pickle"):
        list(LocalPool(1).results(operator.methodcaller("upper"), [lambda: 1]))
