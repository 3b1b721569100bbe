"""How often a language model writes the right program for everyday sentences that it was never trained on.

A program is right when, over several random layouts of the objects, it leads to the same goals as one of the accepted
programs. Where it is not right, asking is better than moving wrongly, so the two are counted apart.

    python benchmarks/bench_language.py [--model embedded] [--layouts 3] [--file FILE] [--json] [--show]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from llm_planner.errors import LlmPlannerError, QuestionError
from llm_planner.language.embedded.model import EmbeddedModel
from llm_planner.language.embedded.reader import load_reader
from llm_planner.language.factory import open_model
from llm_planner.language.model import LanguageModel, ProgramRequest
from llm_planner.language.program_synthesis import write_program
from llm_planner.plans.unroll import look_ahead
from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.scene.places import viewpoint
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject
from llm_planner.skills.library import SkillLibrary, load_skills

SENTENCES = Path(__file__).parent / "data" / "everyday_sentences.yaml"
SIZES = {
    "basket": (0.2, 0.2, 0.1),
    "bowl": (0.13, 0.13, 0.05),
    "plate": (0.16, 0.16, 0.02),
    "mug": (0.08, 0.08, 0.09),
    "vase": (0.07, 0.07, 0.14),
}
LAYOUTS_TRIED = 60
VIEW = viewpoint("behind")


@dataclass(frozen=True)
class Verdict:
    """What became of one sentence: "right", "question" (asked where it need not have), or "wrong"."""

    say: str
    verdict: str
    answer: str
    confidence: float | None  # None where the model gives none
    seconds: float


def random_scene(listing: str, seed: int) -> Scene:
    """The listed objects at random places, far enough apart for every relation to be clear."""
    rng = np.random.default_rng(seed)
    cells = rng.permutation([(x, y) for x in (0.32, 0.45, 0.58) for y in np.linspace(-0.33, 0.33, 5)])
    objects: list[SceneObject] = []
    for text, (x, y) in zip(listing.split(","), cells, strict=False):
        *color, kind = text.split()
        same = sum(o.kind == kind and o.color == " ".join(color) for o in objects)
        name = " ".join([*color, kind]) + (f" {same + 1}" if same else "")
        size = SIZES.get(kind, (0.04, 0.04, 0.04))
        where = (float(x + rng.uniform(-0.02, 0.02)), float(y + rng.uniform(-0.03, 0.03)), size[2] / 2)
        objects.append(SceneObject(name, kind, " ".join(color), where, IDENTITY, size))
    return Scene(0.0, tuple(objects))


def outcome_of(program: str, scene: Scene, library: SkillLibrary) -> Counter[str]:
    """The goals that a program comes to, and its steps that have none; raises what the checker raises."""
    checked = check_program(program, library.signatures, scene)
    forecast = look_ahead(Interpreter(checked, VIEW), scene, VIEW, rehearse=True)
    goals = Counter(
        str(goal) for goal in forecast.goals if not goal.holds(scene)
    )  # what is so already need not be done
    return goals + Counter(
        step.skill for step in forecast.steps if step.skill in ("go_home", "open_gripper", "close_gripper")
    )


def expected_outcomes(right: object, scene: Scene, library: SkillLibrary) -> list[Counter[str]]:
    """Outcomes of the accepted programs over this scene; [] where the scene does not allow any of them."""
    outcomes = []
    for program in right if isinstance(right, list) else []:
        if program != "question":
            try:
                outcomes.append(outcome_of(program, scene, library))
            except LlmPlannerError:
                continue
    return outcomes


def judge(row: dict, listing: str, model: LanguageModel, library: SkillLibrary, layouts: int) -> Verdict:
    """The verdict on one sentence: right only if it is right in every layout."""
    asks = row["right"] == "question" or "question" in row["right"]
    seen: list[Verdict] = []
    for seed in range(LAYOUTS_TRIED):
        scene = random_scene(listing, seed)
        expected = expected_outcomes(row["right"], scene, library)
        if not expected and not asks:
            continue
        seen.append(_judge_once(row["say"], scene, model, library, expected, asks))
        if len(seen) == layouts or seen[-1].verdict != "right":
            return seen[-1]
    if not seen:
        raise SystemExit(f"no layout of {listing} allows any accepted program of {row['say']!r}: mend the data")
    return seen[-1]


def _judge_once(
    say: str, scene: Scene, model: LanguageModel, library: SkillLibrary, expected: list[Counter[str]], asks: bool
) -> Verdict:
    began = time.process_time()
    try:
        synthesis = write_program(ProgramRequest(say, scene, skills=tuple(library.signatures)), model)
    except (QuestionError, LlmPlannerError) as error:
        confidence = model.write_program(ProgramRequest(say, scene)).confidence
        return Verdict(say, "right" if asks else "question", str(error), confidence, time.process_time() - began)
    seconds = time.process_time() - began
    text = synthesis.program.text
    try:
        right = outcome_of(text, scene, library) in expected
    except LlmPlannerError as error:  # stopped by the rehearsal, before anything moves: the person is asked
        return Verdict(say, "right" if asks else "question", f"{text}# {error}", synthesis.confidence, seconds)
    return Verdict(say, "right" if right else "wrong", text, synthesis.confidence, seconds)


def main(arguments: list[str] | None = None) -> dict:
    """Run and print; returns the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="embedded")
    parser.add_argument(
        "--weights", type=Path, help="a folder of embedded weights to measure in place of the shipped ones"
    )
    parser.add_argument("--layouts", type=int, default=3)
    parser.add_argument("--file", type=Path, default=SENTENCES)
    parser.add_argument("--limit", type=int, default=0, help="only the first so many sentences")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--show", action="store_true", help="print what was not right")
    args = parser.parse_args(arguments)
    model = EmbeddedModel(load_reader(args.weights)) if args.weights else open_model(args.model)
    library = load_skills()
    rows = [(row, group["scene"]) for group in yaml.safe_load(args.file.read_text()) for row in group["sentences"]]
    verdicts = [judge(row, scene, model, library, args.layouts) for row, scene in rows[: args.limit or None]]
    figures = summary(verdicts)
    if args.show:
        for verdict in verdicts:
            if verdict.verdict != "right":
                sure = "-" if verdict.confidence is None else f"{verdict.confidence:.2f}"
                print(
                    f"{verdict.verdict.upper():9} {sure:4} {verdict.say}\n    "
                    + verdict.answer.strip().replace("\n", "\n    ")
                )
    print(json.dumps(figures) if args.json else "\n".join(f"{name:36} {value}" for name, value in figures.items()))
    return figures


def summary(verdicts: list[Verdict]) -> dict:
    count = Counter(verdict.verdict for verdict in verdicts)
    missed = count["question"] + count["wrong"]
    return {
        "sentences": len(verdicts),
        "right": count["right"],
        "right share": round(count["right"] / len(verdicts), 3),
        "not right, asked": count["question"],
        "not right, moved wrongly": count["wrong"],
        "share of misses that are questions": round(count["question"] / missed, 3) if missed else 1.0,
        "CPU ms a sentence, median": round(1e3 * statistics.median(v.seconds for v in verdicts), 1),
    }


if __name__ == "__main__":
    main()
