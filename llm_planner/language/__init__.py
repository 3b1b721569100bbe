"""Language models behind one seam: the embedded one, OpenAI-compatible servers, and a scripted one."""

from __future__ import annotations
