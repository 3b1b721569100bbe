"""Language models behind one interface: the embedded model, OpenAI-compatible servers, and a scripted model."""
