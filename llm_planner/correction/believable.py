"""What a network has read is believed only where plain words do not speak against it: negation, exceptions, conditions,
questions, numbers."""

from __future__ import annotations

import re

from llm_planner.plan.edits import (
    AddRule,
    Adjust,
    Cancel,
    Change,
    Edit,
    Forget,
    Insert,
    LiftRule,
    Move,
    Rebind,
    Remember,
    Remove,
    Replace,
    Resume,
    Shift,
    Undo,
)

_NOT = r"\b(?:don'?t|do not|never|not to|please not|no need to)\s+(?:\w+ly\s+|you\s+|ever\s+)?"
_NOT_LEFT_OUT = re.compile(rf"{_NOT}(?:skip|forget|leave out|leave off|omit|remove|drop|ignore|miss|lose)\b")
_NOT_FIRST = re.compile(rf"{_NOT}(?!bother)\w+\b.*\b(?:first|next|last|now|later|before|after)\b")
_LET_GO = re.compile(r"\b(?:let (?:it |that |the \w+ |him |her )?go|let loose|release|drop|open)\b")
_BARE_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:[.,]\d+)?(?!\s*(?:%|per|[a-z°]))(?![\w.,])")
_ALL_BUT = re.compile(r"\b(?:except|apart from|other than|besides|only|(?:everything|nothing|anything|all) but)\b")
_POLITE = (
    r"you (?:can|could|like|want|would|please|don't mind|may|wish)|possible|it(?:'s| is) (?:ok|fine|al|possible|not)"
)
_IF = re.compile(rf"(?:^|[,;.] ?)(?:and |but |so )?if (?!(?:{_POLITE}|need be|i may|that's (?:ok|fine)))")
_LATER = re.compile(r"\b(?:when|once|after) (?:you're|you are|that's|that is|this is) (?:done|finished|over)\b")
_ASKED = re.compile(
    r"(?:so |hey )?(?:were you|was it|are you going to|did you|have you already|do you know|is the) [^,.;]*"
)
_SEVERAL = re.compile(r"\b(?:twice|(?:two|three|four|five|\d+) times)\b(?! (?:as|the)\b)")
_NO_CLOSER = re.compile(r"(?:\b(?:no|not|never|nowhere)|n't) (?:\w+ )?(?:any )?(?:closer|nearer)\b")
_IN_ORDER = re.compile(r"\border\b")
_FROM_THE_START = re.compile(
    r"\b(?:start|begin)(?:ing)? (?:all )?(?:over|afresh|anew|from (?:scratch|the (?:start|beginning|top)))"
)
_GIVES_UP = re.compile(
    r"\b(?:stop|cancel|abort|halt|freeze|enough|quit|forget|drop|scrap|call|leave|nothing|give up|abandon|finish|"
    r"finished|done|over|end|no more|never ?mind|pack|knock|bin|ditch|kill|off|switch|shut|not (?:any|do)|"
    r"don'?t|do not)\b"
)
_NEGATIVE = re.compile(r"(?:^|\s)(?:[-−]\s?|minus )\d")
_LEAVES_OUT = re.compile(
    r"\b(?:skip|leave|left|without|drop|forget|not|no|only|just|except|but|rest|never|bother|need|needs|done|already|cancel|"
    r"out|ignore|omit|miss|enough|lose|scrap|pass|ditch|bin|stay|stays|alone|later|other|instead|nothing|off|exclude|spare)\b|n't\b"
)
_FORGETS = re.compile(
    r"\b(?:forget|forgotten|unlearn|erase|delete|wipe|clear|scrap|drop|lose|reset|disregard|ignore|never ?mind|"
    r"no longer|not|remove|cancel|ditch|bin|out of your)\b|n't\b"
)
_TALK = re.compile(
    r"\b(?:hate|(?:don'?t|do not) (?:much |really )?like|by the way|(?:is|are) (?:mine|yours|hers|his|ours)|"
    r"(?:swap|exchange|switch) .*\b(?:and|with|for))\b"
)
_TAGGED = re.compile(r"you (?:chose|picked|took|have|had|are|were|did|know)\b.*, ?(?:right|yes|correct|\w+n't you)\W*")
_IN_HAND = re.compile(r"\b(?:keep|hold)\b.*\b(?:in (?:your|the) (?:hand|gripper)|on to)\b")
_NOT_SLOWER = re.compile(r"(?:\b(?:no longer|cancel|forget|stop|enough|undo|lift|not)|n't)\b.*\b(?:slow|gentl|careful)")
_OF_ANOTHER = re.compile(r"\bwith the (?:next|second|third|last|other)\b")
_AS_WELL = re.compile(r"\b(?:too|as well|also)\W*$|^(?:and )?also the\b")
_OF_SOME = re.compile(r"\b(?:only the|with (?:(?:the|my|any|every) (?!arm|hand|gripper)|(?!this|less|us)\w+s\b))")
_A_STEP = re.compile(r"\bstep (?:number )?\w+\b")
_QUESTION = re.compile(
    r"(?:and |so |but |hey )*(?:what|which|where|who|whose) "
    r"(?!about|if|i |you (?:should|need|have|want)|we |a )\w+[^,.;?!]*"
)
_ASKS_FIRST = re.compile(r"\bask (?:me|us|first|before)\b")
_NOT_AGAIN = re.compile(r"\b(?:don'?t|do not|never)\b.*\bagain\b")
_SAID_BY_OTHERS = re.compile(r"\b(?:my|our|the) \w+ (?:said|told|says|thinks|thought)\b")
_WAITS = re.compile(r"\bwait\b")
_WORDS = re.compile(r"[a-z]{2}")


def believable(words: str, edit: Edit) -> bool:
    """Whether the edit may be what the words ask for; else the person is to say it otherwise."""
    plain = words.lower().replace("’", "'")
    return not any(_speaks_against(plain, operation, edit.about) for operation in edit.operations)


def _speaks_against(plain: str, operation: object, about: str) -> bool:
    if not isinstance(operation, AddRule | LiftRule) and (_IF.search(plain) or _ASKED.fullmatch(plain.strip(" ?!."))):
        return True
    if _TAGGED.fullmatch(plain) or _QUESTION.fullmatch(plain.strip(" ?!.")):
        return True
    match operation:
        case AddRule(formula=formula) if "!holding" in formula:
            return _IN_HAND.search(plain) is not None
        case Adjust("speed", Change.SCALE, value) if value < 1.0 and _NOT_SLOWER.search(plain):
            return True
        case Adjust(step="") if _OF_ANOTHER.search(plain) or (_OF_SOME.search(plain) and not about):
            return True
        case Move() | Rebind() if _AS_WELL.search(plain):
            return True
        case Rebind() | Insert() | Move() if _TALK.search(plain) or _SAID_BY_OTHERS.search(plain):
            return True
        case Insert(skill=skill) if _WAITS.search(plain) and not skill.startswith("wait"):
            return True
        case Insert() | Remember() if _NOT_AGAIN.search(plain) or _ASKS_FIRST.search(plain):
            return True
        case Remove():
            contrary = any(reason.search(plain) for reason in (_NOT_LEFT_OUT, _ALL_BUT, _SEVERAL, _A_STEP))
            return contrary or _LEAVES_OUT.search(plain) is None
        case Forget():
            return _FORGETS.search(plain) is None
        case Move():
            return any(reason.search(plain) for reason in (_NOT_FIRST, _SEVERAL))
        case Rebind() | Insert() | Replace() if _SEVERAL.search(plain):
            return True
        case Undo():
            return _IN_ORDER.search(plain) is not None or _WORDS.search(plain) is None
        case Cancel():
            return _GIVES_UP.search(plain) is None
        case Resume():
            return any(reason.search(plain) for reason in (_LET_GO, _FROM_THE_START))
        case Adjust() | Shift() if _LATER.search(plain) or _NO_CLOSER.search(plain):
            return True
        case Adjust(change=Change.SET):
            return (_BARE_NUMBER.search(plain) or _NEGATIVE.search(plain)) is not None
        case _:
            return _NEGATIVE.search(plain) is not None
