"""Any OpenAI-compatible server (OpenAI, vLLM, Ollama, llama.cpp) as a language model, through the `openai` client."""

from __future__ import annotations
