"""Answers to the question that a command ended with: "the blue one", "yes"."""

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

_NOUN = re.compile(r"^ ones?\b")  # in "the green one"
_QUOTED = re.compile("“([^”]+)”")


@dataclass(frozen=True)
class Asked:
    """Open question about `command`; if `proposed`, a yes confirms the proposed reading of the command."""

    command: str
    question: str
    proposed: bool = False


@dataclass(frozen=True)
class Meant:
    """Command that the person means; if `guessed`, the person wants the model's best guess of its meaning."""

    command: str
    guessed: bool = False

    def model(self, model: LanguageModel) -> LanguageModel:
        """Return the language model that reads the command."""
        return model.guess or model if self.guessed else model

    def asked(self, error: LlmPlannerError) -> Asked | None:
        """Return the question that is open after the command ended with `error`, None if it is not a question."""
        is_question = isinstance(error, QuestionError)
        return Asked(self.command, str(error), isinstance(error, ProposalError)) if is_question else None


def meant_by(words: str, asked: Asked | None, scene: Scene, viewpoint: Viewpoint = BEHIND) -> Meant:
    """Return the command that `words` mean while a question is open: a new command, or the completed old one.

    Raises QuestionError after a no, to ask for other words.
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
    """Substitute the name for the unclear words of the command; return "" if they are not found."""
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
