"""Language model on any OpenAI-compatible server (OpenAI, vLLM, Ollama, llama.cpp), through the `openai` client."""

from __future__ import annotations
