"""What an answer makes of the question with which a command ended."""

from __future__ import annotations

import pytest

from llm_planner.corrections.command_planner import Asked, Meant, meant_by
from llm_planner.errors import LlmPlannerError, ProposalError, QuestionError
from llm_planner.language.embedded.model import EmbeddedModel
from llm_planner.language.embedded.reader import TermReading
from llm_planner.planning.planning import plan_command
from llm_planner.simulation.worlds import open_world, read_objects
from llm_planner.skills.library import load_skills
from training.results import parse_result

WHICH = Asked("put the mug in the bowl", "Which mug do you mean: the blue mug or the green mug?")
PROPOSED = Asked("put the mug somewhere nice", "Or shall I do this: 1 go_home()? (yes / no)", proposed=True)


@pytest.fixture(scope="module")
def scene():
    things = read_objects("tabletop", "blue mug, green mug, red block, green bowl")
    return open_world("tabletop", 13, things, None).scene()


@pytest.mark.parametrize("answer", ["the blue one", "blue", "The blue mug, please."])
def test_a_name_completes_the_command(scene, answer):
    assert meant_by(answer, WHICH, scene) == Meant("put the blue mug in the bowl")


@pytest.mark.parametrize(
    ("command", "question", "answer", "meant"),
    [
        ("put the vase away", "I do not know what “vase” is here.", "the red block", "put the red block away"),
        ("hide the green one", "Which green object do you mean: the green mug or the green bowl?", "mug",
         "hide the green mug"),
    ],
)  # fmt: skip
def test_what_was_unclear_is_what_the_name_stands_for(scene, command, question, answer, meant):
    assert meant_by(answer, Asked(command, question), scene) == Meant(meant)


@pytest.mark.parametrize("words", ["put the red block on the left side", "the red block", "the yellow one", "wave"])
def test_other_words_are_a_command(scene, words):
    assert meant_by(words, WHICH, scene) == Meant(words)
    assert meant_by(words, None, scene) == Meant(words)


def test_a_yes_has_done_what_was_proposed_and_a_no_asks_for_other_words(scene):
    assert meant_by("yes", PROPOSED, scene) == Meant(PROPOSED.command, guessed=True)
    assert meant_by("yes", WHICH, scene) == Meant("yes")
    with pytest.raises(QuestionError, match="other words"):
        meant_by("no", PROPOSED, scene)


class Dictated:
    def __init__(self, result, probability):
        self._reading = TermReading(parse_result(result), probability, ((0, 100),))

    def read(self, task, situation, words):
        return (self._reading,)


def test_what_the_embedded_model_is_not_sure_of_is_proposed_with_its_steps_and_done_after_a_yes(scene):
    model = EmbeddedModel(Dictated('put("red block", in("green bowl"))', 0.4))
    skills = load_skills(learned=False).for_scene(scene).signatures
    with pytest.raises(ProposalError, match=r'Or shall I do this: 1 pick\("red block"\), .* \(yes / no\)$') as asked:
        plan_command("mumble", scene, skills, model)
    meant = meant_by("yes", Meant("mumble").asked(asked.value), scene)
    plan = plan_command(meant.command, scene, skills, meant.model(model)).plan
    assert [step.skill for step in plan.steps] == ["pick", "place_in"]


def test_what_is_hardly_probable_is_not_proposed(scene):
    model = EmbeddedModel(Dictated('put("red block", in("green bowl"))', 0.2))
    with pytest.raises(LlmPlannerError) as asked:
        plan_command("mumble", scene, load_skills(learned=False).for_scene(scene).signatures, model)
    assert not isinstance(asked.value, ProposalError)
