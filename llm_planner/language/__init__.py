"""Language models behind one seam: OpenAI-compatible servers, the compact model, and a scripted one."""
