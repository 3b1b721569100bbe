"""Scripts of the shipped skills, which their `skill.py` files import as `move`."""
