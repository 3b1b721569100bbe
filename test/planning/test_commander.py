"""A plan goes on only while somebody stands behind its command."""

from llm_planner.execution.supervision import REMEMBERED, CommandHeartbeat

QUIET = CommandHeartbeat(patience=4.0)


def test_a_command_that_is_spoken_of_goes_on():
    commander = QUIET.heard("a", 10.0, ended=False).heard("a", 13.0, ended=False)
    assert commander.why_stop("a", 16.9) == ""


def test_silence_ends_it():
    commander = QUIET.heard("a", 10.0, ended=False).heard("b", 14.0, ended=False)
    assert commander.why_stop("a", 14.1) == "the language planner fell silent"
    assert commander.why_stop("b", 14.1) == ""


def test_a_plan_whose_command_is_over_must_not_move_the_robot():
    assert QUIET.heard("a", 10.0, ended=True).why_stop("a", 10.0) == "its command is over"


def test_a_late_word_does_not_bring_an_ended_command_back():
    commander = QUIET.heard("a", 10.0, ended=True).heard("a", 10.1, ended=False)
    assert commander.why_stop("a", 10.2) == "its command is over"


def test_a_plan_sent_by_other_means_is_nobodys_to_give_up():
    assert QUIET.heard("a", 10.0, ended=False).why_stop("z", 99.0) == ""


def test_only_so_many_commands_are_remembered():
    commander = QUIET
    for number in range(3 * REMEMBERED):
        commander = commander.heard(str(number), float(number), ended=True)
    assert list(commander.commands) == [str(number) for number in range(2 * REMEMBERED, 3 * REMEMBERED)]
