"""Bounds that keep any program, however hostile, small in time and memory. Real programs stay far below all of them."""

MAX_PROGRAM_CHARACTERS = 10_000
MAX_COMMAND_CHARACTERS = 2_000
MAX_NESTING = 40  # depth of the syntax tree; with MAX_CALL_DEPTH it keeps us clear of Python's own recursion limit
MAX_BRACKETS = 30  # nested brackets, counted before the text is parsed
MAX_CALL_DEPTH = 8  # functions calling functions
MAX_NUMBER = 1e9  # magnitude of any number; metres and counts need no more, and products stay small
MAX_ITEMS = 1_000  # in a list or tuple
MAX_TEXT = 1_000  # characters in a string
MAX_VALUE_SIZE = 5_000  # parts of a nested list, counted through
MAX_EVALUATIONS = 50_000  # nodes evaluated between two skill calls
MAX_TOTAL_EVALUATIONS = 400_000  # and in the whole program
MAX_SKILL_CALLS = 200  # in one program
MAX_CHECKS = 50_000  # nodes the checker visits
