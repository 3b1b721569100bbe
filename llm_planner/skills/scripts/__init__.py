"""Scripts that several shipped skills share; those of one skill are in its `skill.py`."""
