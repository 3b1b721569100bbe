"""Movements of the shipped skills: what several `skill.py` have in common."""
