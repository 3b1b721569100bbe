"""Writes training data for the compact model: scenes, what a person might want there, and how they might say it."""
