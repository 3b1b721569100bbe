"""Command understanding: readings, their grounding, the vote over them, and questions to the person."""
