"""Grounding of words in a scene: names, amounts and references."""
