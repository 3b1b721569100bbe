"""Validation and wording of object and room names.

Names come from perception, which may have read them off a sign. Programs, formulas, prompts and policies refer to
objects by name, so planning rejects scenes in which a name could be mistaken for a command, for markup or for another
name. Names of people begin with a capital letter and take no article.
"""

from __future__ import annotations

import re
import unicodedata

from llm_planner.errors import InputError
from llm_planner.scene.places import ANY_SIDE, REGIONS
from llm_planner.scene.scene import Scene

MAX_CHARACTERS = 40
MAX_WORDS = 6
RESERVED = ("robot", "anything", "held", ANY_SIDE, *REGIONS)  # these have another meaning
_WITH_ARTICLE = re.compile(r"the \{(\w+)\}")
_NAME = re.compile(r"\w+(?:[ '-]\w+)*")
_LOOK_ALIKE = str.maketrans("аеорсухіјѕԁѵοανκρτυιεβ", "aeopcyxijsdvoavkptuieb")  # Cyrillic and Greek for Latin
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")  # scripts with letters that look alike


def the(name: str) -> str:
    """Return the name with its article as used in a sentence: the red block, the lab, Anna."""
    return name if name[:1].isupper() or name.startswith("the ") else f"the {name}"


def worded(template: str, /, *names: object, **values: object) -> str:
    """Fill in the template's fields. In "the {object}" the article is dropped for names that take none."""
    known = {**values, **{str(index): name for index, name in enumerate(names)}}

    def fitting(field: re.Match[str]) -> str:
        name = str(known[field[1]])
        return field[0] if the(name) != name else f"{{{field[1]}}}"

    return _WITH_ARTICLE.sub(fitting, template).format(*names, **values)


def check_names(scene: Scene) -> None:
    """Check the names of objects and rooms. Raises InputError for one that could be mistaken for something else."""
    seen: dict[str, str] = {}
    for name in (*scene.names, *(scene.building.names if scene.building else ())):
        _check_name(name)
        looks = unicodedata.normalize("NFKC", name).casefold().translate(_LOOK_ALIKE)
        if looks in seen:
            raise _wrong(name, f"which looks like the name of another, {seen[looks]!a}")
        seen[looks] = name


def _check_name(name: str) -> None:
    if len(name) > MAX_CHARACTERS or len(name.split()) > MAX_WORDS:
        raise _wrong(name, f"which is longer than {MAX_WORDS} words or {MAX_CHARACTERS} characters")
    if not _NAME.fullmatch(name):
        raise _wrong(name, "but names are words of letters and digits with one space, - or ' between them")
    if name in RESERVED:
        raise _wrong(name, "which means something else already")
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in name if letter.isalpha()}
    if len(scripts.intersection(_SCRIPTS)) > 1:
        raise _wrong(name, "which mixes letters of several scripts that look alike")


def _wrong(name: str, problem: str) -> InputError:
    shown = name if len(name) <= MAX_CHARACTERS else f"{name[: MAX_CHARACTERS - 1]}…"
    return InputError(f"something in the scene is called {shown!a}, {problem}; mend what names the things there")
