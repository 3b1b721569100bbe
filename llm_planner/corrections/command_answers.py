"""Answers to the question with which a command ended: "the blue one", "yes"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from llm_planner.corrections.references import answered
from llm_planner.corrections.reflexes import plain_words, read_reflex
from llm_planner.errors import LlmPlannerError, ProposalError, QuestionError
from llm_planner.language.correction_requests import Intent
from llm_planner.language.grounding.lifting import lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.language.grounding.resolution import Reference, Resolver
from llm_planner.language.model import LanguageModel
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene

_NOUN = re.compile(r"^ ones?\b")  # of "the green one"
_QUOTED = re.compile("“([^”]+)”")


@dataclass(frozen=True)
class Asked:
    """An open question, the `command` that it is about, and whether a yes has that done as it was `proposed`."""

    command: str
    question: str
    proposed: bool = False


@dataclass(frozen=True)
class Meant:
    """The command that was meant, and whether the model's best guess at it is what the person wants."""

    command: str
    guessed: bool = False

    def model(self, model: LanguageModel) -> LanguageModel:
        """What is to read the command."""
        return model.guess or model if self.guessed else model

    def asked(self, error: LlmPlannerError) -> Asked | None:
        """The question that is open after the command ended so, None where it ended otherwise."""
        is_question = isinstance(error, QuestionError)
        return Asked(self.command, str(error), isinstance(error, ProposalError)) if is_question else None


def meant_by(words: str, asked: Asked | None, scene: Scene, viewpoint: Viewpoint = BEHIND) -> Meant:
    """Return what `words` ask for while the question is open: themselves, or the command that they complete.

    Raises QuestionError after a no, for other words.
    """
    if asked is None:
        return Meant(words)
    reflex = read_reflex(words, asked=True)
    intent = reflex.intent if reflex is not None else None
    if asked.proposed and intent is Intent.YES:
        return Meant(asked.command, guessed=True)
    if asked.proposed and intent is Intent.NO:
        raise QuestionError("Nothing is done. Please say it in other words.")
    rooms, said = scene.building.names if scene.building else (), plain_words(words)
    names = [room for room in rooms if said.removeprefix("the ").removeprefix("in the ") == room]
    found = names or [item.name for item in answered(words, scene, viewpoint)]
    if len(found) > 1:
        found = [name for name in found if name in asked.question]
    return Meant(_completed(asked, found[0], scene) or words if len(found) == 1 else words)


def _completed(asked: Asked, name: str, scene: Scene) -> str:
    """The command with the name for what was unclear in it; "" where that is not found."""
    command = asked.command
    for unclear in _QUOTED.findall(asked.question):
        if unclear in command and unclear != command:
            return command.replace(unclear, name, 1)
    resolver = Resolver(command, scene)
    lifted = lift(command, scene_phrases(scene))
    for number, word in enumerate(lifted):
        if word.segment not in ("color", "kind") or word.plural:
            continue
        after = lifted[number + 1 : number + 2] if word.segment == "color" else []
        (last,) = after if after and after[0].segment == "kind" and not after[0].plural else (word,)
        color, kind = (one.name if one.segment == entry else "" for one, entry in ((word, "color"), (last, "kind")))
        fitting = [item.name for item in resolver.matching(Reference(kind=kind, color=color))]
        if len(fitting) > 1 and name in fitting:
            return f"{command[: word.start]}{name}{_NOUN.sub('', command[last.end :])}"
    return ""
