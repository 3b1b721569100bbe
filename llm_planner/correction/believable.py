"""What a network has read is believed only where plain words do not speak against it: negation, numbers, "let go"."""

from __future__ import annotations

import re

from llm_planner.plan.edits import Adjust, Change, Edit, Move, Remove, Resume

_NOT = r"\b(?:don'?t|do not|never|not to|please not|no need to)\s+(?:\w+ly\s+|you\s+|ever\s+)?"
_NOT_LEFT_OUT = re.compile(rf"{_NOT}(?:skip|forget|leave out|leave off|omit|remove|drop|ignore|miss|lose)\b")
_NOT_FIRST = re.compile(rf"{_NOT}(?!bother)\w+\b.*\b(?:first|next|last|now|later|before|after)\b")
_LET_GO = re.compile(r"\b(?:let (?:it |that |the \w+ |him |her )?go|let loose|release|drop|open)\b")
_BARE_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:[.,]\d+)?(?!\s*(?:%|per|[a-z°]))(?![\w.,])")
_NEGATIVE = re.compile(r"(?:^|\s)[-−]\s?\d")


def believable(words: str, edit: Edit) -> bool:
    """Whether the edit may be what the words ask for; else the person is to say it otherwise."""
    plain = words.lower().replace("’", "'")
    return not any(_speaks_against(plain, operation) for operation in edit.operations)


def _speaks_against(plain: str, operation: object) -> bool:
    match operation:
        case Remove():
            return _NOT_LEFT_OUT.search(plain) is not None
        case Move():
            return _NOT_FIRST.search(plain) is not None
        case Resume():
            return _LET_GO.search(plain) is not None
        case Adjust(change=Change.SET):
            return (_BARE_NUMBER.search(plain) or _NEGATIVE.search(plain)) is not None
        case _:
            return _NEGATIVE.search(plain) is not None
