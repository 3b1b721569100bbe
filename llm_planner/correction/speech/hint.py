"""What a recogniser of all English is told beforehand, so that it writes the names of things as they are written."""

from __future__ import annotations

from llm_planner.correction.speech.vocabulary import Vocabulary

MOST_CHARACTERS = 600  # whisper reads 224 tokens, the last ones


def hint(vocabulary: Vocabulary) -> str:
    """A sentence with the names of things, places and skills."""
    names = [*vocabulary.answers, *vocabulary.objects, *vocabulary.colors, *vocabulary.places]
    skills = [skill.replace("_", " ") for skill in vocabulary.skills]
    said = f"A person corrects a robot: slower, a bit to the left, no, the other one, undo that. {', '.join(names)}."
    return said[:MOST_CHARACTERS] if not skills else f"{said} {', '.join(skills)}."[:MOST_CHARACTERS]
