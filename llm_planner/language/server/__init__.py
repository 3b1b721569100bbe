"""Language model on any OpenAI-compatible server (OpenAI, vLLM, Ollama, llama.cpp), through the `openai` client."""
